/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides when the Calls received by a TCP leg are delivered.
 *
 * Calls are delivered in order, each when its memory is granted, the leg is not paused and fewer
 * than TCP_CALLS_MAX are in flight. While one must wait the stream is not read, so that later Calls
 * wait there.
 *
 * Exception: while a reverse Call is outstanding on an accepted leg, its Reply can be queued after
 * waiting Calls, and the server may answer none of these before it has the Reply. So the leg still
 * receives Calls, into up to TCP_PARKED_MAX_BYTES of buffers outside the budget, and parks them in
 * order: complete, in flight, and not delivered. A Call that does not fit stays in the stream, and
 * so does the Reply after it.
 *
 * The claim belongs to the first undelivered Call: the first parked one, else the one that is being
 * received.
 *
 * A long Call can be delivered before it is complete. From then on it is read to its end, even if
 * other Calls must wait: its memory is granted, and the target may be unable to accept other Calls
 * until this one is sent.
 *
 * A server's Calls never wait for memory (rx_call.h). A pause of a connecting leg stops its Replies
 * too.
 */
#ifndef RPCTCP_CALL_ADMISSION_H
#define RPCTCP_CALL_ADMISSION_H

#include "rpctcp/tcp_leg_priv.h"

/** call_admission_init - Initializes the admission; no Call waits. */
void call_admission_init(struct tcp_leg *leg);
/**
 * call_admission_reverse_call - Claims memory for a server's Call of at most @cap_bytes, without
 * waiting
 *
 * Returns false without memory. Call it before call_admission_begin().
 */
bool call_admission_reverse_call(struct tcp_leg *leg, uint32_t cap_bytes);
/**
 * call_admission_begin - Claims memory for a Call of up to @cap_bytes, or decides to park it.
 * Returns false, and blocks the stream, if the Call must wait.
 */
bool call_admission_begin(struct tcp_leg *leg, uint32_t cap_bytes);
/**
 * call_admission_grow - Enlarges the claim for the Call that is being received to @cap_bytes.
 * Returns false if that memory is not available now.
 */
bool call_admission_grow(struct tcp_leg *leg, uint32_t cap_bytes);
/**
 * call_admission_permits - Returns whether the Call that is being received has its memory and may
 * be delivered.
 */
bool call_admission_permits(const struct tcp_leg *leg);
/**
 * call_admission_deliver - Delivers @x, in flight and perhaps incomplete. call_admission_permits()
 * must be true.
 */
void call_admission_deliver(struct tcp_leg *leg, struct exchange *x);
/**
 * call_admission_partial_end - Unblocks or blocks the stream after a Call delivered in parts is
 * complete.
 */
void call_admission_partial_end(struct tcp_leg *leg);
/** call_admission_end - Delivers @x, which is complete and in flight, or parks it. */
void call_admission_end(struct tcp_leg *leg, struct exchange *x);
/**
 * call_admission_cancel - Releases the claim of the Call that is being received; it will not be
 * delivered.
 */
void call_admission_cancel(struct tcp_leg *leg);
/** call_admission_run_parked - Delivers parked Calls as far as allowed; only from the task. */
void call_admission_run_parked(struct tcp_leg *leg);
/** call_admission_drop - Drops the parked Calls. */
void call_admission_drop(struct tcp_leg *leg);
/**
 * call_admission_fini - Drops the parked Calls, and ends the connection's priority for memory; can
 * be called repeatedly.
 */
void call_admission_fini(struct tcp_leg *leg);

/** call_admission_pause - Stops or resumes the delivery. */
void call_admission_pause(struct tcp_leg *leg, bool paused);
/** call_admission_answered - Resumes the delivery if enough Calls were answered. */
void call_admission_answered(struct tcp_leg *leg);
/* The part of call_admission_reverse() for accepted legs. */
void call_admission_reverse_accepted(struct tcp_leg *leg);
/**
 * call_admission_reverse - Updates the state after a Call to the peer was added or removed;
 * accepted legs only.
 */
static inline void call_admission_reverse(struct tcp_leg *leg)
{
	if (!leg->conn.connector)
		call_admission_reverse_accepted(leg);
}

#endif

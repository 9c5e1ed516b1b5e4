/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the Calls that a TCP leg takes in may be passed on, and what becomes of the others.
 *
 * They are passed on in their order, each when it has its memory, the leg is not paused and fewer than
 * TCP_CALLS_MAX are in flight. As long as one must wait the stream is not read, so that it waits there.
 *
 * But for this: on an accepted leg, while a reverse Call is out, its Reply may stand behind Calls that wait, and
 * they may wait for what it brings about. So those are taken in all the same, up to TCP_PARKED_MAX_BYTES of
 * buffers outside the budget, and parked, in their order: complete, in flight, and not passed on. One that does
 * not fit stays in the stream, and the Reply behind it too.
 *
 * The claim is that of the first Call that has not been passed on: the first that is parked, else the one that
 * is being received.
 *
 * A long Call may be passed on before all of it is here. From then on it is read to its end, whatever keeps others from being
 * passed on: its memory is granted, and who was given its beginning may have no room for others until that has gone.
 *
 * A server's Calls wait for no memory (rx_call.h); a pause of a connecting leg holds its Replies too.
 */
#ifndef RPCTCP_CALL_ADMISSION_H
#define RPCTCP_CALL_ADMISSION_H

#include "rpctcp/tcp_leg_priv.h"

/** call_admission_init - no Call waits. */
void call_admission_init(struct tcp_leg *leg);
/** call_admission_reverse_call - whether a server's Call of at most @cap_bytes has its memory, or needs none; due before the next. */
bool call_admission_reverse_call(struct tcp_leg *leg, uint32_t cap_bytes);
/** call_admission_begin - whether a Call of at most @cap_bytes may be received; else the stream is blocked until another try. */
bool call_admission_begin(struct tcp_leg *leg, uint32_t cap_bytes);
/** call_admission_grow - whether the Call that is being received may have @cap_bytes after all. */
bool call_admission_grow(struct tcp_leg *leg, uint32_t cap_bytes);
/** call_admission_passes - whether the Call that is being received has its memory, and could be passed on now. */
bool call_admission_passes(const struct tcp_leg *leg);
/** call_admission_deliver - deliver @x, which is in flight, though only a part of its Call is here; call_admission_passes() is true. */
void call_admission_deliver(struct tcp_leg *leg, struct exchange *x);
/** call_admission_part_end - the Call that was delivered in parts is complete: others may have to wait. */
void call_admission_part_end(struct tcp_leg *leg);
/** call_admission_end - @x, with its Call, is complete and in flight: deliver it, or park it. */
void call_admission_end(struct tcp_leg *leg, struct exchange *x);
/** call_admission_cancel - the Call that is being received will not be delivered: release its claim. */
void call_admission_cancel(struct tcp_leg *leg);
/** call_admission_go_on - pass on what is parked and may be; from the task only. */
void call_admission_go_on(struct tcp_leg *leg);
/** call_admission_drop - let go of what is parked. */
void call_admission_drop(struct tcp_leg *leg);
/** call_admission_fini - that, and be urgent no longer; once is enough. */
void call_admission_fini(struct tcp_leg *leg);

/** call_admission_pause - pass nothing on, or go on. */
void call_admission_pause(struct tcp_leg *leg, bool paused);
/** call_admission_answered - Calls have been answered: there may be room for others. */
void call_admission_answered(struct tcp_leg *leg);
/* Of call_admission_reverse(). */
void call_admission_reverse_accepted(struct tcp_leg *leg);
/** call_admission_reverse - a Call to the peer has come into flight, or left it: a reverse one, if the leg was accepted. */
static inline void call_admission_reverse(struct tcp_leg *leg)
{
	if (!leg->conn.connector)
		call_admission_reverse_accepted(leg);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives the Calls of a TCP leg: checks each, claims its memory, and answers some of them
 * locally.
 *
 * A Call is checked before it gets memory, in the input or its prebuffer. A short Call is checked
 * when it is complete, and claims no more than it can need. A longer Call is checked when its first
 * TCP_BULK_BYTES have arrived: it claims its length, and the largest Reply that these bytes allow.
 * It is received in place, checked to its end when it is complete, and releases what it did not
 * need. A Call of several fragments has an unknown length: it claims REPLY_UNBOUNDED_BYTES, and can
 * be longer only if memory is available immediately.
 *
 * A client's long Call of one fragment is delivered in parts (leg_config.partial) if everything
 * about it is known (CALL_INFO_COMPLETE). It is in flight from then on: a leg that drains waits for
 * its end. If it is cut off, its client gets the Replies to earlier Calls. Then the leg closes, so
 * that the server's connection ends in the middle of the Call too.
 *
 * A server's Calls are few (TCP_REVERSE_CALLS_MAX) and do not wait for memory. Their Replies could
 * be queued after clients' Calls that wait for memory, and neither would ever continue. Short Calls
 * are not charged to the budget. Longer ones, and those with a longer Reply, get memory immediately
 * if enough is left (REVERSE_FREE_BYTES). Otherwise a long one is answered SYSTEM_ERR, and the
 * Reply to a short one is limited to REVERSE_FREE_BYTES.
 */
#ifndef RPCTCP_RX_CALL_H
#define RPCTCP_RX_CALL_H

#include "rpctcp/tcp_leg_priv.h"

/**
 * rx_call_init - Sets the maximum length of a Call, and of a Reply to one: it must be sent as one
 * fragment.
 */
void rx_call_init(struct tcp_leg *leg);
/** rx_call_fini - Frees what is held for the Call; can be called repeatedly. */
void rx_call_fini(struct tcp_leg *leg);

/** rx_call_prebuffer - RX_TYPE of a Call: prebuffers it. Closes the leg without memory. */
void rx_call_prebuffer(struct tcp_leg *leg);
/**
 * rx_call_begin - RX_BEGIN of Call @xid: checks it, then receives, answers or discards it, or
 * blocks the stream.
 */
void rx_call_begin(struct tcp_leg *leg, uint32_t xid);
/** rx_call_overflow - RX_OVERFLOW: gives the Call more memory, or answers it. */
void rx_call_overflow(struct tcp_leg *leg);
/** rx_call_grown - Delivers the part of the Call that has arrived, if allowed. */
void rx_call_grown(struct tcp_leg *leg);
/** rx_call_end - RX_END: delivers the complete Call, if allowed. */
void rx_call_end(struct tcp_leg *leg);
/**
 * rx_call_end_skipped - RX_END of a skipped record, which may have been a retransmission of a Call
 * in flight.
 */
void rx_call_end_skipped(struct tcp_leg *leg);
/** rx_call_skip - Discards the rest of the record, and frees what is held for it. */
void rx_call_skip(struct tcp_leg *leg);
/** rx_call_cut - Ends a Call whose rest will never arrive. */
void rx_call_cut(struct tcp_leg *leg);
/** rx_call_drain - Accepts no more Calls, not even one that has arrived in part. */
void rx_call_drain(struct tcp_leg *leg);

#endif

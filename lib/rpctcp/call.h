/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls to the TCP leg: the look at each, its claim, and what is answered here.
 *
 * A Call that is in the input from end to end is looked at before it takes any memory, so that it claims
 * no more than it can need. A longer one is received in place, for a claim by its length and the service's
 * limits, and looked at when it is complete.
 *
 * A server's Calls are few and small (TCP_REVERSE_*), and take nothing from the budget: their Replies may
 * stand behind clients' Calls that wait for it, and neither would ever go on.
 */
#ifndef RPCTCP_CALL_H
#define RPCTCP_CALL_H

#include "rpctcp/message.h"

#define TCP_REVERSE_CALLS_MAX 64u
#define TCP_REVERSE_MAX_BYTES (16u * 1024u) /* of a reverse Call, and of its Reply */

/** tcp_call_begin_whole - the record is a Call that is here from end to end. */
void tcp_call_begin_whole(struct tcp_messages *msgs, const uint8_t *msg, uint32_t len_bytes,
			  uint32_t xid);
/** tcp_call_begin - the record is a Call of which the head is here. */
void tcp_call_begin(struct tcp_messages *msgs, uint32_t xid);
/** tcp_call_overflow - it is longer than it may be. */
void tcp_call_overflow(struct tcp_messages *msgs, uint32_t xid);
/** tcp_call_end - it is complete: the owner gets it, if it passes. */
void tcp_call_end(struct tcp_messages *msgs);

#endif

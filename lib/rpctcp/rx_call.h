/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls to the TCP leg: the look at each, its claim, and what is answered here.
 *
 * A Call is looked at before it takes any memory, in the input or in what was gathered of it, so that it
 * claims no more than it can need: if it is here from end to end that is known. Of a longer one the first
 * TCP_BULK_BYTES are here: it claims its length, and the largest Reply that is left open by those. It is
 * received in place, looked at to its end when it is complete, and gives back what it need not have claimed.
 * One of several fragments whose length is not known is taken to be FACTS_UNBOUNDED_BYTES long, and
 * may be longer only if there is memory for that at once.
 *
 * A client's long Call of one fragment, of which all is known that will ever be (FACTS_WHOLE), is given up as it comes
 * (leg_config.partial). It is in flight from then on: a leg that drains waits for its end. If it is cut off its client gets the
 * Replies to the Calls before it, and then the leg closes, so that the server's connection ends in the middle of it too.
 *
 * A server's Calls are few (TCP_REVERSE_CALLS_MAX), and wait for no memory: their Replies may stand behind clients' Calls
 * that wait for it, and neither would ever go on. Short ones take nothing from the budget; longer ones, and those whose
 * Reply may be longer, have memory at once, where enough is left (REVERSE_FREE_BYTES). If there is none, a long one gets
 * SYSTEM_ERR, and a short one a Reply no longer than is free.
 */
#ifndef RPCTCP_RX_CALL_H
#define RPCTCP_RX_CALL_H

#include "rpctcp/message.h"

#define TCP_REVERSE_CALLS_MAX 64u

/** rx_call_init - how long a Call, and a Reply to one, may be: it must leave as one fragment. */
void rx_call_init(struct tcp_messages *msgs);
/** rx_call_head - the record is a Call of which the head is here: gather it; fails the leg without memory. */
void rx_call_head(struct tcp_messages *msgs);
/** rx_call_begin - the record is a Call of which enough is here to claim memory. */
void rx_call_begin(struct tcp_messages *msgs, const uint8_t *msg, uint32_t have_bytes,
		   uint32_t xid);
/** rx_call_overflow - it is longer than it may be. */
void rx_call_overflow(struct tcp_messages *msgs);
/** rx_call_grown - more of it is here: the owner gets what there is, if it may. */
void rx_call_grown(struct tcp_messages *msgs);
/** rx_call_cut - the rest of it will never come. */
void rx_call_cut(struct tcp_messages *msgs);
/** rx_call_end - it is complete: the owner gets it, if it passes. */
void rx_call_end(struct tcp_messages *msgs);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that a TCP leg receives: the look at each, its claim, and what is answered here.
 *
 * A Call is looked at before it takes any memory, in the input or in what was gathered of it, so that it
 * claims no more than it can need: if it is here from end to end that is known. Of a longer one the first
 * TCP_BULK_BYTES are here: it claims its length, and the largest Reply that is left open by those. It is
 * received in place, looked at to its end when it is complete, and gives back what it need not have claimed.
 * One of several fragments whose length is not known is taken to be FACTS_UNBOUNDED_BYTES long, and
 * may be longer only if there is memory for that at once.
 *
 * A client's long Call of one fragment, of which all is known that will ever be (FACTS_WHOLE), is delivered as it comes
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

#include "rpctcp/tcp_leg_priv.h"

/** rx_call_init - set how long a Call, and a Reply to one, may be: it must leave as one fragment. */
void rx_call_init(struct tcp_leg *leg);
/** rx_call_fini - let go of what is held for the Call; once is enough. */
void rx_call_fini(struct tcp_leg *leg);

/** rx_call_gather - RX_TYPE of a Call: set aside what comes of it; closes the leg without memory. */
void rx_call_gather(struct tcp_leg *leg);
/** rx_call_begin - RX_BEGIN of the Call @xid: look at it, and receive or answer or discard it, or have the stream wait. */
void rx_call_begin(struct tcp_leg *leg, uint32_t xid);
/** rx_call_overflow - RX_OVERFLOW: give it more memory, or answer it. */
void rx_call_overflow(struct tcp_leg *leg);
/** rx_call_grown - more of it is here: deliver what there is, if it may be. */
void rx_call_grown(struct tcp_leg *leg);
/** rx_call_end - RX_END: deliver it, if it may be. */
void rx_call_end(struct tcp_leg *leg);
/** rx_call_end_skipped - RX_END of a record that was skipped: it may have been a Call in flight that was sent again. */
void rx_call_end_skipped(struct tcp_leg *leg);
/** rx_call_skip - discard the rest of the record, and let go of what is held for it. */
void rx_call_skip(struct tcp_leg *leg);
/** rx_call_cut - the rest of the record will never come. */
void rx_call_cut(struct tcp_leg *leg);
/** rx_call_drain - take no further Call, not even one that has come in part. */
void rx_call_drain(struct tcp_leg *leg);

#endif

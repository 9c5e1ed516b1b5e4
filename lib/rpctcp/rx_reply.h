/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replies to a TCP leg's Calls: whose they are, whether they may be delivered, and reverse Calls that have none in time.
 *
 * Time limit for reverse Calls to a TCP client (D4.2-2): each fails for EXCHANGE_FAULT_LATE if the client has not begun to
 * answer it within reverse_timeout_us of when it came here, so that it gives its server's credit back. If nothing of it has been
 * sent yet, since the client reads slowly, it is not sent any more. A Reply that comes later matches no Call, and is discarded.
 */
#ifndef RPCTCP_RX_REPLY_H
#define RPCTCP_RX_REPLY_H

#include "rpctcp/tcp_leg_priv.h"

/** rx_reply_begin - the record is a Reply to @xid: receive it, or discard it. */
void rx_reply_begin(struct tcp_leg *leg, uint32_t xid);
/** rx_reply_overflow - RX_OVERFLOW: discard it; its Call fails. */
void rx_reply_overflow(struct tcp_leg *leg);
/** rx_reply_grown - more of it is here: deliver what there is, if it may be. */
void rx_reply_grown(struct tcp_leg *leg);
/** rx_reply_end - RX_END: deliver it, or a fault. */
void rx_reply_end(struct tcp_leg *leg);
/** rx_reply_skip - discard the rest of it. */
void rx_reply_skip(struct tcp_leg *leg);
/** rx_reply_fini - let go of the exchange whose Reply is being received; once is enough. */
void rx_reply_fini(struct tcp_leg *leg);

/** rx_reply_await - a Call to the peer has come into flight: set its time limit, if it is a reverse Call and has one. */
void rx_reply_await(struct tcp_leg *leg);
/** rx_reply_expired - TCP_DUE_REVERSE has passed: fail the Calls that are late, and set it for the next one. */
void rx_reply_expired(struct tcp_leg *leg);

#endif

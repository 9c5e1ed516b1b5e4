/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives the Replies to a TCP leg's Calls, and times out reverse Calls.
 *
 * Time limit for reverse Calls to a TCP client (D4.2-2): a Call fails with EXCHANGE_FAULT_LATE if
 * its Reply has not begun within reverse_timeout_us of its arrival. So its server gets the credit
 * back. If none of the Call has been sent, it is dropped from the queue. A later Reply matches no
 * Call and is discarded.
 */
#ifndef RPCTCP_RX_REPLY_H
#define RPCTCP_RX_REPLY_H

#include "rpctcp/tcp_leg_priv.h"

/** rx_reply_begin - Receives or discards the Reply to @xid. */
void rx_reply_begin(struct tcp_leg *leg, uint32_t xid);
/** rx_reply_overflow - RX_OVERFLOW: discards the Reply; its Call fails. */
void rx_reply_overflow(struct tcp_leg *leg);
/** rx_reply_grown - Delivers the part of the Reply that has arrived, if allowed. */
void rx_reply_grown(struct tcp_leg *leg);
/** rx_reply_end - RX_END: delivers the complete Reply, or a fault. */
void rx_reply_end(struct tcp_leg *leg);
/** rx_reply_skip - Discards the rest of the Reply. */
void rx_reply_skip(struct tcp_leg *leg);
/** rx_reply_fini - Drops the exchange whose Reply is being received; can be called repeatedly. */
void rx_reply_fini(struct tcp_leg *leg);

/**
 * rx_reply_await - Starts the time limit of the last Call added to inflight, if it is a reverse
 * Call.
 */
void rx_reply_await(struct tcp_leg *leg);
/**
 * rx_reply_expired - TCP_DUE_REVERSE has passed: fails late Calls and sets the deadline of the next
 * one.
 */
void rx_reply_expired(struct tcp_leg *leg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the socket of a TCP leg: how much per iteration, where it goes, how long to wait for more,
 * and what each record is.
 *
 * Input goes directly into the message that is being received, and after its end into staging,
 * which is valid within one callback only. Unconsumed input is saved as leftover, and nothing more
 * is read before it is consumed.
 *
 * If a read has filled all its space another one follows in the same iteration, so that one write
 * sends the results. Each connection has a limit per iteration, so that others do not wait for it.
 * A single message takes a single read.
 */
#ifndef RPCTCP_TCP_RX_H
#define RPCTCP_TCP_RX_H

#include "rpctcp/tcp_leg_priv.h"

/** tcp_rx_init - Initializes before the first byte. */
void tcp_rx_init(struct tcp_leg *leg);
/** tcp_rx_fini - Drops the leftover; can be called repeatedly. */
void tcp_rx_fini(struct tcp_leg *leg);
/** tcp_rx_ready - Reads and consumes input, up to the limit of an iteration. */
void tcp_rx_ready(struct tcp_leg *leg);
/** tcp_rx_resume - Consumes the leftover, and handles what is due without input. */
void tcp_rx_resume(struct tcp_leg *leg);

#endif

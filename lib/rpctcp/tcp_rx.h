/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a TCP leg reads of its socket: how much in a turn, where it goes, how long to wait for more, and what each record is.
 *
 * What is read goes straight into the message that is being received, and past its end into staging, which is good
 * within one callback only. What is not taken of that goes to the stash, and nothing more is read before it.
 *
 * A read that has filled all that it was given is followed by another one in the same turn, so that all that they bring
 * leaves by one write; but a connection has no more than its part of a turn, lest others wait for it. A single message
 * takes a single read.
 */
#ifndef RPCTCP_TCP_RX_H
#define RPCTCP_TCP_RX_H

#include "rpctcp/tcp_leg_priv.h"

/** tcp_rx_init - before the first byte. */
void tcp_rx_init(struct tcp_leg *leg);
/** tcp_rx_fini - drop the stash; once is enough. */
void tcp_rx_fini(struct tcp_leg *leg);
/** tcp_rx_ready - read what has come, as far as a turn goes, and take it. */
void tcp_rx_ready(struct tcp_leg *leg);
/** tcp_rx_resume - take what is in the stash, and what is due without input. */
void tcp_rx_resume(struct tcp_leg *leg);

#endif

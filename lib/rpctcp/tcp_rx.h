/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP leg's reads: what is read in a turn, where it goes, and how long to wait for more.
 *
 * What is read goes straight into the message that is being received, and past its end into staging, which is good
 * within one callback only. What the input does not take of that goes to the stash, and nothing more is read before it.
 *
 * A read that has filled all that it was given is followed by another one in the same turn, so that all that they bring
 * leaves by one write; but a connection has no more than its part of a turn, lest others wait for it. A single message
 * takes a single read.
 */
#ifndef RPCTCP_TCP_RX_H
#define RPCTCP_TCP_RX_H

#include "rpctcp/record_rx.h"

#define TCP_SCARCE_READ_BYTES (4u * 1024u) /* per read while the budget has waiters */

/** tcp_rx_ready - read what has come, as far as a turn goes, and take it. */
void tcp_rx_ready(struct record_rx *in);
/** tcp_rx_resume - take what is in the stash. */
void tcp_rx_resume(struct record_rx *in);
/** tcp_rx_discard - read once and throw away; true at the end of the stream or of the connection. */
bool tcp_rx_discard(struct record_rx *in);
/** tcp_rx_end_detail - what there is to be said, now that the stream has ended: "" between two records. */
const char *tcp_rx_end_detail(const struct record_rx *in);

#endif

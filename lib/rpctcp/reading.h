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
#ifndef RPCTCP_READING_H
#define RPCTCP_READING_H

#include "rpctcp/input.h"

#define TCP_SCARCE_READ_BYTES (4u * 1024u) /* per read while the budget has waiters */

/** tcp_reading_ready - read what has come, as far as a turn goes, and take it. */
void tcp_reading_ready(struct tcp_input *in);
/** tcp_reading_resume - take what is in the stash. */
void tcp_reading_resume(struct tcp_input *in);
/** tcp_reading_discard - read once and throw away; true at the end of the stream or of the connection. */
bool tcp_reading_discard(struct tcp_input *in);
/** tcp_reading_end_detail - what there is to be said, now that the stream has ended: "" between two records. */
const char *tcp_reading_end_detail(const struct tcp_input *in);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How TCP asks a quiet peer whether it is still there: the same for every socket of both rooms that have some.
 *
 * Connections that came at about the same time would be asked in one tick of the kernel's, which is as coarse as 2 s, and
 * of thousands of probes at once the host drops what its queues do not hold. So they are asked at times that differ; and
 * often, since those that were dropped are repeated together, each time fewer.
 *
 * How often a silent peer is asked ends nothing: that is for TCP_USER_TIMEOUT, in place of which the kernel would count
 * probes.
 */
#ifndef BASE_KEEPALIVE_H
#define BASE_KEEPALIVE_H

#include <stdbool.h>

/** keepalive_ask_s - the silence after which the peer at @fd is asked: half of @idle_s to all of it. */
unsigned keepalive_ask_s(unsigned idle_s, int fd);
/** keepalive_end_s - from the last word of the peer until it is given up, asked after @idle_s of silence at most. */
unsigned keepalive_end_s(unsigned idle_s);
/**
 * keepalive_tune - TCP_NODELAY, keepalive, and the bound on data and probes that nobody answers
 * @fd:     a TCP socket; one that listens hands all of it on to what it accepts
 * @idle_s: the longest silence before the peer is asked
 * @end_ms: how long data and probes may go unanswered
 *
 * Best effort: what the system lacks is left out.
 */
void keepalive_tune(int fd, unsigned idle_s, unsigned end_ms);
/** keepalive_spread - have a socket that was accepted ask at a time of its own. */
void keepalive_spread(int fd, unsigned idle_s);
/**
 * keepalive_says_silent - whether @err, of a connection that was up, says that nobody answers any more
 *
 * What the network said last, while TCP asked in vain, takes the place of ETIMEDOUT.
 */
bool keepalive_says_silent(int err);

#endif

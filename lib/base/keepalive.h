/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP keepalive settings shared by lib/stream and lib/fabric/iwarp.
 *
 * Connections opened at about the same time would be probed in one tick of the kernel's timer, which can be 2 s long. The
 * host drops probes that its queues cannot hold, if thousands are sent together. So each connection has a different idle
 * time. Probes are frequent, since dropped ones are repeated together, each time fewer.
 *
 * The number of probes does not end a connection: TCP_USER_TIMEOUT does, and it overrides the probe count.
 */
#ifndef BASE_KEEPALIVE_H
#define BASE_KEEPALIVE_H

#include <stdbool.h>

/** keepalive_ask_s - Returns the idle time before the first probe of @fd: half of @idle_s to all of it. */
unsigned keepalive_ask_s(unsigned idle_s, int fd);
/**
 * keepalive_end_s - Returns how long after its last segment a silent peer is closed, with at most @idle_s of idle time.
 */
unsigned keepalive_end_s(unsigned idle_s);
/**
 * keepalive_tune - Sets TCP_NODELAY, keepalive and TCP_USER_TIMEOUT
 * @fd:     a TCP socket; sockets accepted by a listener inherit the settings
 * @idle_s: longest idle time before the first probe
 * @end_ms: how long data and probes may stay unacknowledged
 *
 * Options that the system does not have are ignored.
 */
void keepalive_tune(int fd, unsigned idle_s, unsigned end_ms);
/** keepalive_spread - Sets an idle time of its own for an accepted socket. */
void keepalive_spread(int fd, unsigned idle_s);
/**
 * keepalive_says_silent - Returns whether @err, of an established connection, means that the peer stopped answering
 *
 * An ICMP error received while TCP retransmits in vain replaces ETIMEDOUT.
 */
bool keepalive_says_silent(int err);

#endif

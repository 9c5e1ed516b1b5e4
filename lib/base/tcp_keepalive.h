/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP keepalive settings shared by lib/stream and lib/fabric/iwarp.
 *
 * Connections opened at about the same time would be probed in one tick of the kernel's timer,
 * which can be 2 s long. The host drops probes that its queues cannot hold, if thousands are sent
 * together. So each connection has a different idle time. Probes are frequent, since dropped ones
 * are repeated together, each time fewer.
 *
 * The number of probes does not end a connection: TCP_USER_TIMEOUT does, and it overrides the probe
 * count.
 */
#ifndef BASE_TCP_KEEPALIVE_H
#define BASE_TCP_KEEPALIVE_H

#include <stdbool.h>

/**
 * tcp_keepalive_idle_s - Returns the idle time before the first probe of @fd: half of @idle_s to
 * all of it.
 */
unsigned tcp_keepalive_idle_s(unsigned idle_s, int fd);
/**
 * tcp_keepalive_dead_s - Returns how long after its last segment a silent peer is closed, with at
 * most @idle_s of idle time.
 */
unsigned tcp_keepalive_dead_s(unsigned idle_s);
/**
 * tcp_keepalive_set - Sets TCP_NODELAY, keepalive and TCP_USER_TIMEOUT
 * @fd:     a TCP socket; sockets accepted by a listener inherit the settings
 * @idle_s: longest idle time before the first probe
 * @end_ms: how long data and probes may stay unacknowledged
 *
 * Options that the system does not have are ignored.
 */
void tcp_keepalive_set(int fd, unsigned idle_s, unsigned end_ms);
/** tcp_keepalive_set_jitter - Sets an idle time of its own for an accepted socket. */
void tcp_keepalive_set_jitter(int fd, unsigned idle_s);
/**
 * tcp_keepalive_timed_out - Returns whether @err, of an established connection, means that the peer
 * stopped answering
 *
 * An ICMP error received while TCP retransmits in vain replaces ETIMEDOUT.
 */
bool tcp_keepalive_timed_out(int err);

#endif

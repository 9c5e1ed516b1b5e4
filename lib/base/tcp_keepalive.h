/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP keepalive settings shared by lib/stream and lib/fabric/iwarp.
 *
 * The kernel would probe all connections of the same age in one tick of its timer, and the host
 * drops probes that its queues cannot hold. So each connection has a different idle time. Probes
 * are frequent, because dropped ones must be repeated.
 *
 * TCP_USER_TIMEOUT ends a connection; it overrides the number of probes.
 */
#ifndef BASE_TCP_KEEPALIVE_H
#define BASE_TCP_KEEPALIVE_H

#include <stdbool.h>

/**
 * tcp_keepalive_idle_s - Returns the idle time in seconds before the first probe of @fd: between
 * half of @idle_s and @idle_s.
 */
unsigned tcp_keepalive_idle_s(unsigned idle_s, int fd);
/**
 * tcp_keepalive_dead_s - Returns how many seconds after the last segment of a silent peer its
 * connection closes. @idle_s: longest idle time before the first probe.
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
/**
 * tcp_keepalive_set_jitter - Gives an accepted socket its own idle time: tcp_keepalive_idle_s().
 */
void tcp_keepalive_set_jitter(int fd, unsigned idle_s);
/**
 * tcp_keepalive_timed_out - Returns whether @err, of an established connection, means that the peer
 * stopped answering
 *
 * True for ETIMEDOUT, and for the ICMP errors that Linux reports instead: EHOSTUNREACH and
 * ENETUNREACH.
 */
bool tcp_keepalive_timed_out(int err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that a server's answers to a spoofed client address are routed to this host. That is
 * required when the proxy connects to the server from the client's own address.
 */
#ifndef STREAM_RETURN_ROUTE_H
#define STREAM_RETURN_ROUTE_H

#include <sys/socket.h>

#include "base/compiler.h"

/**
 * return_route_check - Asks the kernel for the route of a TCP segment from @server to @client
 *
 * Both have ports and are of one family, IPv4 or IPv6. If the server is another host, the segment
 * is assumed to arrive on the interface of the route to the server. The kernel answers immediately.
 *
 * Returns 0 if the segment is delivered to this host, -EHOSTUNREACH if not, -ENETUNREACH if no
 * route to the server exists, or another negative errno if the kernel cannot be asked.
 */
int return_route_check(const struct sockaddr *server, const struct sockaddr *client) MUST_CHECK;

#endif

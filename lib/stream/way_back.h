/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether what a server sends to a client comes to the sockets of this host, as it must where the server is connected
 * to from the client's own address. The kernel's routes tell.
 */
#ifndef STREAM_WAY_BACK_H
#define STREAM_WAY_BACK_H

#include <sys/socket.h>

#include "base/compiler.h"

/**
 * way_back_find - ask the kernel for the route of a TCP segment from @server to @client
 *
 * Both have ports and are of one family, IPv4 or IPv6. Of a server elsewhere the segment is taken to come in where the
 * way to it goes out. Waits for nobody: the kernel answers at once.
 *
 * Returns 0 if the segment comes here, -EHOSTUNREACH if it does not, -ENETUNREACH if there is no way to the server, or
 * another negative errno where the kernel cannot be asked.
 */
int way_back_find(const struct sockaddr *server, const struct sockaddr *client) MUST_CHECK;

#endif

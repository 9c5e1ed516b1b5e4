/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates listening TCP sockets, or reuses inherited ones. */
#ifndef BASE_LISTEN_SOCKET_H
#define BASE_LISTEN_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"

/* Inherited listening sockets; owned by the caller. */
struct listen_sockets {
	size_t count;
	const int *fds;
};

/**
 * listen_socket_new - Creates an unbound socket for @addr
 * @addr: IPv4 or IPv6; [::] accepts IPv4 too
 *
 * Returns a non-blocking socket or a negative errno.
 */
int listen_socket_new(const struct sockaddr *addr) MUST_CHECK;
/**
 * listen_socket_find - Finds the inherited socket that listens on @addr
 * @have: can be NULL
 *
 * Returns a non-blocking duplicate that accepts from the same queue, -ENOENT if none, or another
 * negative errno.
 */
int listen_socket_find(const struct listen_sockets *have, const struct sockaddr *addr) MUST_CHECK;
/**
 * listen_socket_start - Binds @fd to @addr and listens
 * @fd:     owned by the caller, even on failure
 * @absent: NULL, or set to whether this host lacks the address: the socket then listens by
 *          IP_FREEBIND, and is reachable once the host has the address
 *
 * Returns 0 or a negative errno: -EADDRNOTAVAIL for an absent address if @absent is NULL.
 */
int listen_socket_start(int fd, const struct sockaddr *addr, int backlog, bool *absent) MUST_CHECK;
/**
 * listen_socket_has_host - Returns whether this host has the address, ignoring its port; true if
 * that is unknown.
 */
bool listen_socket_has_host(const struct sockaddr *addr);

#endif

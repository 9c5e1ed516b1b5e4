/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening TCP sockets: made, or gone on with where somebody has one already. */
#ifndef BASE_LISTEN_SOCKET_H
#define BASE_LISTEN_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"

/* Listening sockets that somebody else has: lent. */
struct listen_sockets {
	size_t count;
	const int *fds;
};

/**
 * listen_socket_new - a socket that is to listen at @addr, not bound yet
 * @addr: IPv4 or IPv6; [::] takes IPv4 too
 *
 * Returns it, non-blocking, or a negative errno.
 */
int listen_socket_new(const struct sockaddr *addr) MUST_CHECK;
/**
 * listen_socket_find - the socket among @have that listens at @addr already
 * @have: may be NULL
 *
 * Returns a duplicate of it, made non-blocking, which takes from the same queue; -ENOENT if there is none; or another
 * negative errno.
 */
int listen_socket_find(const struct listen_sockets *have, const struct sockaddr *addr) MUST_CHECK;
/**
 * listen_socket_start - bind it to @addr and listen
 * @fd: the caller's whatever is returned
 * @absent: NULL, or set where this host does not have the address: it listens all the same, and is connected to once
 *          the host has it (IP_FREEBIND)
 *
 * Returns 0 or a negative errno, -EADDRNOTAVAIL for an address that is not here if @absent is NULL.
 */
int listen_socket_start(int fd, const struct sockaddr *addr, int backlog, bool *absent) MUST_CHECK;
/** listen_socket_has_host - whether this host has the address (its port does not matter); true if that cannot be told. */
bool listen_socket_has_host(const struct sockaddr *addr);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the control socket listens. */
#ifndef DAEMON_CONTROL_CONTROL_SOCKET_H
#define DAEMON_CONTROL_CONTROL_SOCKET_H

#include <stddef.h>
#include <sys/un.h>

#include "base/compiler.h"

/**
 * control_socket_listen - make a socket at @path that root and the daemon's group may use, and listen on it
 * @addr:  set to its address
 * @error: gets a sentence with cause and cure on failure
 * @out:   a non-blocking descriptor, the caller's, who also unlinks the path
 *
 * A socket that nobody listens on is replaced. Returns 0, -ENAMETOOLONG, -EADDRINUSE if a daemon listens there, -EEXIST
 * if something else is there, or the errno of what failed.
 */
int control_socket_listen(const char *path, struct sockaddr_un *addr, char *error,
			  size_t error_bytes, int *out) MUST_CHECK;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Socket activation: listening sockets that systemd keeps open. They are the sockets of .socket
 * units, and sockets that the daemon has put into the descriptor store of its unit. A stored socket
 * keeps its queue of clients until the next start.
 *
 * systemd passes a name with each socket. For a socket of a .socket unit it is the name of the
 * service (FileDescriptorName=). For a stored socket it is the name of the service with
 * SOCKET_ACTIVATION_STORED appended; no service's name contains '@'. The daemon can remove only
 * stored sockets.
 */
#ifndef DAEMON_BASE_SOCKET_ACTIVATION_H
#define DAEMON_BASE_SOCKET_ACTIVATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/listen_socket.h"

#define SOCKET_ACTIVATION_STORED "@stored"

/* All zero: no sockets. */
struct socket_activation {
	size_t count;
	int *fds;
	char **names; /* of services */
	bool *stored;
};

/**
 * socket_activation_receive - Receives the sockets that systemd has passed; the caller closes them.
 * Returns 0 or a negative errno.
 */
int socket_activation_receive(struct socket_activation *fds) MUST_CHECK;
/** socket_activation_fini - Closes the sockets and empties @fds. */
void socket_activation_fini(struct socket_activation *fds);
/**
 * socket_activation_has - Returns whether a .socket unit has a socket for @service. Such a socket
 * listens even if the service does not.
 */
bool socket_activation_has(const struct socket_activation *fds, const char *service);
/**
 * socket_activation_close_stored - Closes the stored sockets; listeners that use them have
 * duplicates.
 */
void socket_activation_close_stored(struct socket_activation *fds);

/**
 * socket_activation_store - Puts the sockets of @service into the store; sockets already there are
 * not duplicated.
 */
void socket_activation_store(const char *service, const struct listen_sockets *sockets);
/** socket_activation_unstore - Removes the sockets of @service from the store. */
void socket_activation_unstore(const char *service);

#endif

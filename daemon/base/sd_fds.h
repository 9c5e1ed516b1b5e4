/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Socket activation: listening sockets that systemd holds. Those are the sockets of .socket units, and those that the
 * daemon has put into its unit's descriptor store, where they wait, with the clients in their queues, for the next
 * start.
 *
 * A socket of a .socket unit has the name of its service (FileDescriptorName=). A stored socket has SD_FDS_STORED after
 * that; no service's name contains that character. The daemon may remove only the stored ones.
 */
#ifndef DAEMON_BASE_SD_FDS_H
#define DAEMON_BASE_SD_FDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/listen_socket.h"

#define SD_FDS_STORED "@stored"

/* All zero: no sockets. */
struct sd_fds {
	size_t count;
	int *fds;
	char **names; /* of services */
	bool *stored;
};

/** sd_fds_take - Receives the sockets that systemd has passed; the caller closes them. Returns 0 or a negative errno. */
int sd_fds_take(struct sd_fds *fds) MUST_CHECK;
/** sd_fds_fini - Closes the sockets and empties @fds. */
void sd_fds_fini(struct sd_fds *fds);
/** sd_fds_is_held - Returns whether a .socket unit has a socket for @service, which then always listens. */
bool sd_fds_is_held(const struct sd_fds *fds, const char *service);
/** sd_fds_forget - Closes the stored sockets; listeners that use them have duplicates. */
void sd_fds_forget(struct sd_fds *fds);

/** sd_store - Puts the sockets of @service into the store; sockets already there are not duplicated. */
void sd_store(const char *service, const struct listen_sockets *sockets);
/** sd_unstore - Removes the sockets of @service from the store. */
void sd_unstore(const char *service);

#endif

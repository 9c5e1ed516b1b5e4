/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listening sockets that systemd holds: those of .socket units, and those that the daemon has put into its unit's
 * descriptor store, where they wait, with the clients in their queues, for the next start.
 *
 * A socket of a .socket unit has the name of its service (FileDescriptorName=). One in the store has SD_FDS_STORED
 * behind that, a character that no service's name has in it, since it is ours to take out again, and the other is not.
 */
#ifndef DAEMON_BASE_SD_FDS_H
#define DAEMON_BASE_SD_FDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/listen_socket.h"

#define SD_FDS_STORED "@stored"

/* All zero: none. */
struct sd_fds {
	size_t count;
	int *fds;
	char **names; /* of services */
	bool *stored;
};

/** sd_fds_take - what systemd has passed, from now on ours to close. Returns 0 or a negative errno. */
int sd_fds_take(struct sd_fds *fds) MUST_CHECK;
/** sd_fds_fini - close them, and none any more. */
void sd_fds_fini(struct sd_fds *fds);
/** sd_fds_is_held - whether a .socket unit has a socket for @service, which so listens whatever the daemon does. */
bool sd_fds_is_held(const struct sd_fds *fds, const char *service);
/** sd_fds_forget - close those that came from the store: whoever goes on with them has duplicates. */
void sd_fds_forget(struct sd_fds *fds);

/** sd_store - put the sockets of @service into the store; those that are in it stay there once. */
void sd_store(const char *service, const struct listen_sockets *sockets);
/** sd_unstore - take those of @service out of it. */
void sd_unstore(const char *service);

#endif

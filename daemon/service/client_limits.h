/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the connections of each client address. Does not lock. */
#ifndef DAEMON_SERVICE_CLIENT_LIMITS_H
#define DAEMON_SERVICE_CLIENT_LIMITS_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/hash_table.h"
#include "daemon/base/min_heap.h"

struct client_limit {
	struct hash_node node;
	struct in6_addr host;
	unsigned count;
	/* the client's connections; only for daemon/service/conn_limits.c */
	struct min_heap half_closed;
};

struct client_limits {
	struct hash_key key;
	struct hash_table index;
};

/** client_limits_init - Initializes empty counts. Returns 0 or -ENOMEM. */
int client_limits_init(struct client_limits *counts) MUST_CHECK;
/** client_limits_fini - Frees the counts; all must be 0. Accepts an all-zero @counts. */
void client_limits_fini(struct client_limits *counts);

/**
 * client_limits_add - Counts one more connection of @client, up to @most
 * @client: an IPv4 address and its v4-mapped form are the same; the port is ignored
 * @out:    pass it to client_limits_remove()
 *
 * Returns 0, -EDQUOT if @client already has @most, or -ENOMEM.
 */
int client_limits_add(struct client_limits *counts, const struct sockaddr *client, unsigned most,
		      struct client_limit **out) MUST_CHECK;
/**
 * client_limits_find - Returns the count of the address of @client; NULL if it has no connection.
 */
struct client_limit *client_limits_find(const struct client_limits *counts,
					const struct sockaddr *client);
/** client_limits_remove - Counts one connection less. */
void client_limits_remove(struct client_limits *counts, struct client_limit *count);
/** client_limits_addresses - Returns the number of addresses; for tests. */
size_t client_limits_addresses(const struct client_limits *counts);

#endif

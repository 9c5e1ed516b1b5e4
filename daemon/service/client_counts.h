/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the connections of each client address. Does not lock. */
#ifndef DAEMON_SERVICE_CLIENT_COUNTS_H
#define DAEMON_SERVICE_CLIENT_COUNTS_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/hash_table.h"
#include "daemon/base/min_heap.h"

struct client_count {
	struct hash_node node;
	struct in6_addr host;
	unsigned count;
	struct min_heap
		half_closed; /* owned by the caller: the client's connections (daemon/service/door.h) */
};

struct client_counts {
	struct hash_key key;
	struct hash_table index;
};

/** client_counts_init - Initializes empty counts. Returns 0 or -ENOMEM. */
int client_counts_init(struct client_counts *counts) MUST_CHECK;
/** client_counts_fini - Frees the counts; all must be 0. Accepts an all-zero @counts. */
void client_counts_fini(struct client_counts *counts);

/**
 * client_counts_add - Counts one more connection of @client, up to @most
 * @client: an IPv4 address and its v4-mapped form are the same; the port is ignored
 * @out:    pass it to client_counts_sub()
 *
 * Returns 0, -EDQUOT if @client already has @most, or -ENOMEM.
 */
int client_counts_add(struct client_counts *counts, const struct sockaddr *client, unsigned most,
		      struct client_count **out) MUST_CHECK;
/** client_counts_find - Returns the count of the address of @client; NULL if it has no connection. */
struct client_count *client_counts_find(const struct client_counts *counts,
					const struct sockaddr *client);
/** client_counts_sub - Counts one connection less. */
void client_counts_sub(struct client_counts *counts, struct client_count *count);
/** client_counts_entries - Returns the number of addresses; for tests. */
size_t client_counts_entries(const struct client_counts *counts);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* How many connections each client address has. It does not lock. */
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
		half_closed; /* the owner's: of the client's connections (daemon/service/door.h) */
};

struct client_counts {
	struct hash_key key;
	struct hash_table index;
};

/** client_counts_init - nobody is counted. Returns 0 or -ENOMEM. */
int client_counts_init(struct client_counts *counts) MUST_CHECK;
/** client_counts_fini - no count may be left; accepts one that is all zero. */
void client_counts_fini(struct client_counts *counts);

/**
 * client_counts_add - one more of @client, of which there may be @most
 * @client: an IPv4 address and its v4-mapped form are one; the port does not matter
 * @out:    what client_counts_sub() is to be given
 *
 * Returns 0, -EDQUOT if there are as many already, or -ENOMEM.
 */
int client_counts_add(struct client_counts *counts, const struct sockaddr *client, unsigned most,
		      struct client_count **out) MUST_CHECK;
/** client_counts_find - returns what is counted for the address of @client, or NULL if that is nothing. */
struct client_count *client_counts_find(const struct client_counts *counts,
					const struct sockaddr *client);
/** client_counts_sub - one less. */
void client_counts_sub(struct client_counts *counts, struct client_count *count);
/** client_counts_entries - how many addresses there are; for tests. */
size_t client_counts_entries(const struct client_counts *counts);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many connections each client address has.
 *
 * A table hashed by addresses that peers choose, so the hash has a secret. It does not lock.
 */
#ifndef DAEMON_SERVICE_CLIENT_COUNTS_H
#define DAEMON_SERVICE_CLIENT_COUNTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define CLIENT_COUNTS_SECRETS 5u

struct client_count;

struct client_counts {
	struct client_count **buckets;
	unsigned bits; /* 2^bits buckets */
	uint64_t secrets[CLIENT_COUNTS_SECRETS];
};

/** client_counts_init - a table for about @entries addresses. Returns 0 or -ENOMEM. */
int client_counts_init(struct client_counts *counts, unsigned entries) MUST_CHECK;
/** client_counts_fini - free it, whatever is in it; accepts one that is all zero. */
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
/** client_counts_sub - one less. */
void client_counts_sub(struct client_counts *counts, struct client_count *count);
/** client_counts_entries - how many addresses there are; for tests. */
size_t client_counts_entries(const struct client_counts *counts);

#endif

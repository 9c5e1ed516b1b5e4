// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/client_limits.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sockaddr.h"

int client_limits_init(struct client_limits *counts)
{
	hash_table_init(&counts->index);
	return hash_key_draw(&counts->key);
}

void client_limits_fini(struct client_limits *counts)
{
	assert(counts->index.count == 0);
	hash_table_fini(&counts->index);
}

static struct client_limit *find(const struct client_limits *counts, uint64_t hash,
				 const struct in6_addr *host)
{
	struct hash_node *node = hash_table_first(&counts->index, hash);

	for (; node; node = hash_table_next(node)) {
		struct client_limit *count = container_of(node, struct client_limit, node);

		if (!memcmp(&count->host, host, sizeof(*host)))
			return count;
	}
	return NULL;
}

struct client_limit *client_limits_find(const struct client_limits *counts,
					const struct sockaddr *client)
{
	struct in6_addr host;

	(void)sockaddr_host(client, &host);
	return find(counts, hash_bytes(&counts->key, 0, &host, sizeof(host)), &host);
}

int client_limits_add(struct client_limits *counts, const struct sockaddr *client, unsigned most,
		      struct client_limit **out)
{
	struct client_limit *count;
	struct in6_addr host;
	uint64_t hash;

	(void)sockaddr_host(client, &host);
	hash = hash_bytes(&counts->key, 0, &host, sizeof(host));
	count = find(counts, hash, &host);
	if (count && count->count >= most)
		return -EDQUOT;
	if (!count) {
		count = calloc(1, sizeof(*count));
		if (!count)
			return -ENOMEM;
		count->host = host;
		hash_table_add(&counts->index, &count->node, hash);
	}
	count->count++;
	*out = count;
	return 0;
}

void client_limits_remove(struct client_limits *counts, struct client_limit *count)
{
	if (--count->count)
		return;
	hash_table_remove(&counts->index, &count->node);
	free(count);
}

size_t client_limits_addresses(const struct client_limits *counts)
{
	return counts->index.count;
}

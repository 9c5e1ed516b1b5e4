// SPDX-License-Identifier: BSD-3-Clause
/* key->priv points to the table while the key is in it, else it is NULL. */
#include "fabric/iwarp/stag_table.h"

#include <errno.h>

/* STags are random. The upper 24 bits, the index, select the bucket. */
static uint64_t hash_of(uint32_t stag)
{
	return (uint64_t)stag << 24;
}

void stag_table_init(struct stag_table *keys, unsigned limit)
{
	hash_table_init(&keys->table);
	keys->limit = limit;
}

void stag_table_fini(struct stag_table *keys)
{
	struct hash_node *node;
	size_t at = 0;

	while ((node = hash_table_any(&keys->table, &at)))
		stag_table_remove(keys, container_of(node, struct fabric_key, node));
	hash_table_fini(&keys->table);
	stag_table_init(keys, keys->limit);
}

int stag_table_add(struct stag_table *keys, struct iwarp_random *random, struct fabric_key *key)
{
	uint32_t stag;

	if (keys->table.count >= keys->limit)
		return -ENOMEM;
	do {
		stag = (uint32_t)iwarp_random_next(random);
	} while (stag >> 8 == 0 || stag_table_find(keys, stag));
	key->rkey = stag;
	/* Not zero, and low enough that no length makes the offset wrap. */
	key->addr = (iwarp_random_next(random) >> 1) | 1u << 12;
	key->addr &= ~(uint64_t)0xfff;
	key->priv = keys;
	hash_table_add(&keys->table, &key->node, hash_of(stag));
	return 0;
}

struct fabric_key *stag_table_find(const struct stag_table *keys, uint32_t stag)
{
	struct hash_node *node = hash_table_first(&keys->table, hash_of(stag));

	return node ? container_of(node, struct fabric_key, node) : NULL;
}

bool stag_table_has(const struct fabric_key *key)
{
	return key->priv != NULL;
}

void stag_table_remove(struct stag_table *keys, struct fabric_key *key)
{
	if (!key->priv)
		return;
	hash_table_remove(&keys->table, &key->node);
	key->priv = NULL;
}

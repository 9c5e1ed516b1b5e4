// SPDX-License-Identifier: BSD-3-Clause
#include "base/hash_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST_BUCKETS 16u

int hash_key_draw(struct hash_key *key)
{
	if (getrandom(key, sizeof(*key), 0) != sizeof(*key))
		return -EAGAIN;
	key->words[1] |= 1;
	return 0;
}

uint64_t hash_bytes(const struct hash_key *key, uint64_t hash, const void *data, size_t len_bytes)
{
	const uint8_t *bytes = data;

	hash ^= key->words[0] + len_bytes;
	while (len_bytes) {
		size_t n = len_bytes < sizeof(uint64_t) ? len_bytes : sizeof(uint64_t);
		uint64_t word = 0;

		memcpy(&word, bytes, n);
		hash = (hash ^ word) * key->words[1];
		hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
		bytes += n;
		len_bytes -= n;
	}
	return hash;
}

void hash_table_fini(struct hash_table *table)
{
	if (table->buckets != &table->first)
		free(table->buckets);
	*table = (struct hash_table){0};
}

NOT_INLINE void hash_table_grow(struct hash_table *table)
{
	size_t before = table->mask + 1;
	struct hash_table bigger = *table;

	bigger.mask = (before == 1 ? FIRST_BUCKETS : 2 * before) - 1;
	bigger.buckets = calloc(bigger.mask + 1, sizeof(struct hash_node *));
	if (!bigger.buckets)
		return;
	for (size_t i = 0; i < before; i++) {
		struct hash_node *next;

		for (struct hash_node *node = table->buckets[i]; node; node = next) {
			struct hash_node **head = hash_table_bucket(&bigger, node->hash);

			next = node->next;
			node->next = *head;
			*head = node;
		}
	}
	if (table->buckets != &table->first)
		free(table->buckets);
	*table = bigger;
}

struct hash_node *hash_table_any(const struct hash_table *table, size_t *at)
{
	while (*at < table->mask && !table->buckets[*at])
		(*at)++;
	return table->buckets[*at];
}

// SPDX-License-Identifier: BSD-3-Clause
/* Things found by a hash. */
#include "daemon/base/hash_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST_BUCKETS 16u

int hash_key_draw(struct hash_key *key)
{
	if (getrandom(key, sizeof(*key), 0) != sizeof(*key))
		return -ENOMEM;
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

static struct hash_node **bucket_of(const struct hash_index *index, uint64_t hash)
{
	return &index->buckets[hash & (index->nbuckets - 1)];
}

int hash_index_init(struct hash_index *index)
{
	*index = (struct hash_index){.nbuckets = FIRST_BUCKETS};
	index->buckets = calloc(index->nbuckets, sizeof(struct hash_node *));
	return index->buckets ? 0 : -ENOMEM;
}

void hash_index_fini(struct hash_index *index)
{
	free(index->buckets);
	*index = (struct hash_index){0};
}

static void put(struct hash_index *index, struct hash_node *node)
{
	struct hash_node **head = bucket_of(index, node->hash);

	node->next = *head;
	*head = node;
}

static void grow(struct hash_index *index)
{
	struct hash_index bigger = {.nbuckets = index->nbuckets * 2, .count = index->count};

	bigger.buckets = calloc(bigger.nbuckets, sizeof(struct hash_node *));
	if (!bigger.buckets)
		return;
	for (size_t i = 0; i < index->nbuckets; i++) {
		struct hash_node *next;

		for (struct hash_node *node = index->buckets[i]; node; node = next) {
			next = node->next;
			put(&bigger, node);
		}
	}
	free(index->buckets);
	*index = bigger;
}

void hash_index_add(struct hash_index *index, struct hash_node *node, uint64_t hash)
{
	if (index->count >= index->nbuckets)
		grow(index);
	node->hash = hash;
	put(index, node);
	index->count++;
}

void hash_index_remove(struct hash_index *index, struct hash_node *node)
{
	struct hash_node **at = bucket_of(index, node->hash);

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	node->next = NULL;
	index->count--;
}

static struct hash_node *with_hash(struct hash_node *node, uint64_t hash)
{
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

struct hash_node *hash_index_first(const struct hash_index *index, uint64_t hash)
{
	return with_hash(*bucket_of(index, hash), hash);
}

struct hash_node *hash_index_next(const struct hash_node *node)
{
	return with_hash(node->next, node->hash);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash table: chained, with the node inside of each entry. It has twice as many buckets as entries. The upper half of a
 * hash chooses the bucket.
 *
 * Where a peer chooses what is hashed, hashes come from hash_bytes(), or from another function with a key that was drawn
 * at random, so that it cannot make long chains.
 */
#ifndef BASE_HASH_TABLE_H
#define BASE_HASH_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct hash_key {
	uint64_t words[2];
};

struct hash_node {
	struct hash_node *next;
	uint64_t hash;
};

struct hash_table {
	struct hash_node **buckets; /* `first`, or allocated */
	size_t mask;                /* how many there are, a power of two, less one */
	size_t count;               /* of nodes */
	struct hash_node *first;
};

/** hash_key_draw - draw a key at random. Returns 0 or -EAGAIN. */
int hash_key_draw(struct hash_key *key) MUST_CHECK;
/** hash_bytes - return the hash of @len_bytes at @data under @key, which goes on from @hash. */
uint64_t hash_bytes(const struct hash_key *key, uint64_t hash, const void *data, size_t len_bytes);
/** hash_number - return a hash of a number that no peer chooses; another one for each number. */
static inline uint64_t hash_number(uint64_t number)
{
	return number * 0x9e3779b97f4a7c15u; /* 2^64 by the golden ratio */
}

/** hash_table_init - set up an empty table; it must not be moved. It takes memory with the second entry. */
static inline void hash_table_init(struct hash_table *table)
{
	*table = (struct hash_table){.buckets = &table->first};
}
/** hash_table_fini - free the table itself; what is in it is the caller's. Accepts one that is all zero. */
void hash_table_fini(struct hash_table *table);

/** hash_table_bucket - return the head of the chain in which nodes with @hash are. */
static inline struct hash_node **hash_table_bucket(const struct hash_table *table, uint64_t hash)
{
	return &table->buckets[hash >> 32 & table->mask];
}

/** hash_table_grow - double the buckets; without memory for that the chains become longer. For hash_table_add() alone. */
void hash_table_grow(struct hash_table *table);

/** hash_table_add - enter @node under @hash; never fails. */
static inline void hash_table_add(struct hash_table *table, struct hash_node *node, uint64_t hash)
{
	struct hash_node **head = hash_table_bucket(table, hash);

	node->hash = hash;
	node->next = *head;
	*head = node;
	if (2 * table->count++ > table->mask)
		hash_table_grow(table);
}

/** hash_table_remove - take @node out; it must be in. */
static inline void hash_table_remove(struct hash_table *table, struct hash_node *node)
{
	struct hash_node **at = hash_table_bucket(table, node->hash);

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	table->count--;
}

/** hash_node_with - return @node or the first after it with @hash; NULL if there is none. */
static inline struct hash_node *hash_node_with(struct hash_node *node, uint64_t hash)
{
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

/** hash_table_first - return the node with @hash that was entered last; NULL if there is none. */
static inline struct hash_node *hash_table_first(const struct hash_table *table, uint64_t hash)
{
	return hash_node_with(*hash_table_bucket(table, hash), hash);
}

/** hash_table_next - return the next node with the same hash; NULL after the last. */
static inline struct hash_node *hash_table_next(const struct hash_node *node)
{
	return hash_node_with(node->next, node->hash);
}

/**
 * hash_table_any - return some node, or NULL if the table is empty
 * @at: 0 at first; those that remove each one that they get need no more steps than there are nodes and buckets
 */
struct hash_node *hash_table_any(const struct hash_table *table, size_t *at);

#endif

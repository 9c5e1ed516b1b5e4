/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash table with chaining and nodes embedded in the entries. It has twice as many buckets as
 * entries. The upper half of a hash selects the bucket.
 *
 * If a peer chooses what is hashed, use hash_bytes() or another function with a random key, so that
 * the peer cannot make long chains.
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
	struct hash_node **buckets; /* `first`, or allocated memory */
	size_t mask;                /* number of buckets, a power of two, minus one */
	size_t count;               /* number of nodes */
	struct hash_node *first;
};

/** hash_key_draw - Generates a random key. Returns 0 or -EAGAIN. */
int hash_key_draw(struct hash_key *key) MUST_CHECK;
/** hash_bytes - Returns the hash of @len_bytes at @data under @key, continued from @hash. */
uint64_t hash_bytes(const struct hash_key *key, uint64_t hash, const void *data, size_t len_bytes);
/**
 * hash_number - Returns a hash of a number that no peer chooses. Different numbers have different
 * hashes.
 */
static inline uint64_t hash_number(uint64_t number)
{
	return number * 0x9e3779b97f4a7c15u; /* 2^64 divided by the golden ratio */
}

/**
 * hash_table_init - Initializes an empty table, which must not be moved. It allocates memory for
 * the second entry.
 */
static inline void hash_table_init(struct hash_table *table)
{
	*table = (struct hash_table){.buckets = &table->first};
}
/**
 * hash_table_fini - Frees the table itself; the entries belong to the caller. Accepts an all-zero
 * table.
 */
void hash_table_fini(struct hash_table *table);

/** hash_table_bucket - Returns the head of the chain for @hash. */
static inline struct hash_node **hash_table_bucket(const struct hash_table *table, uint64_t hash)
{
	return &table->buckets[hash >> 32 & table->mask];
}

/**
 * hash_table_grow - Doubles the buckets. Without memory the chains grow longer. Only for
 * hash_table_add().
 */
void hash_table_grow(struct hash_table *table);

/** hash_table_add - Adds @node under @hash; never fails. */
static inline void hash_table_add(struct hash_table *table, struct hash_node *node, uint64_t hash)
{
	struct hash_node **head = hash_table_bucket(table, hash);

	node->hash = hash;
	node->next = *head;
	*head = node;
	if (2 * table->count++ > table->mask)
		hash_table_grow(table);
}

/** hash_table_remove - Removes @node, which must be in the table. */
static inline void hash_table_remove(struct hash_table *table, struct hash_node *node)
{
	struct hash_node **at = hash_table_bucket(table, node->hash);

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	table->count--;
}

/** hash_node_with - Returns @node or the first node after it with @hash; NULL if none. */
static inline struct hash_node *hash_node_with(struct hash_node *node, uint64_t hash)
{
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

/** hash_table_first - Returns the node with @hash that was added last; NULL if none. */
static inline struct hash_node *hash_table_first(const struct hash_table *table, uint64_t hash)
{
	return hash_node_with(*hash_table_bucket(table, hash), hash);
}

/** hash_table_next - Returns the next node with the same hash; NULL after the last. */
static inline struct hash_node *hash_table_next(const struct hash_node *node)
{
	return hash_node_with(node->next, node->hash);
}

/**
 * hash_table_any - Returns some node, or NULL if the table is empty
 * @at: 0 at first; removing every returned node takes no more steps than there are nodes and
 *      buckets
 */
struct hash_node *hash_table_any(const struct hash_table *table, size_t *at);

#endif

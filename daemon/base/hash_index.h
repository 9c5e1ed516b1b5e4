/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Things found by a hash: chained, grown by doubling, with the node inside of the thing.
 *
 * Hashes come from hash_bytes() with a key that was drawn at random, so that nobody who chooses what is
 * hashed can make long chains.
 */
#ifndef DAEMON_BASE_HASH_INDEX_H
#define DAEMON_BASE_HASH_INDEX_H

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

struct hash_index {
	struct hash_node **buckets;
	size_t nbuckets, count; /* nbuckets: a power of two */
};

/** hash_key_draw - a key at random. Returns 0 or -ENOMEM. */
int hash_key_draw(struct hash_key *key) MUST_CHECK;
/** hash_bytes - the hash of @len_bytes at @data under @key, which goes on from @hash. */
uint64_t hash_bytes(const struct hash_key *key, uint64_t hash, const void *data, size_t len_bytes);

/** hash_index_init - an empty one; hash_index_fini() is due if it returns 0. Returns 0 or -ENOMEM. */
int hash_index_init(struct hash_index *index) MUST_CHECK;
/** hash_index_fini - free the index itself; what is in it is the caller's. Accepts one that is all zero. */
void hash_index_fini(struct hash_index *index);
/** hash_index_add - enter @node under @hash; without memory to grow, chains only become longer. */
void hash_index_add(struct hash_index *index, struct hash_node *node, uint64_t hash);
/** hash_index_remove - take @node out; it must be in. */
void hash_index_remove(struct hash_index *index, struct hash_node *node);
/** hash_index_first - the node with @hash that was entered last; NULL if there is none. */
struct hash_node *hash_index_first(const struct hash_index *index, uint64_t hash);
/** hash_index_next - the next node with the same hash; NULL after the last. */
struct hash_node *hash_index_next(const struct hash_node *node);

#endif

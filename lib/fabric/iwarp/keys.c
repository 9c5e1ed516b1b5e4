// SPDX-License-Identifier: BSD-3-Clause
/* The keys that one connection has lent to its peer: a hash table that grows. */
#include "fabric/iwarp/keys.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_BUCKETS 16u

/* key->priv points to the table while the key is in it, and is NULL otherwise. */

void iwarp_keys_init(struct iwarp_keys *keys, unsigned limit)
{
	keys->buckets = NULL;
	keys->nbuckets = 0;
	keys->count = 0;
	keys->limit = limit;
}

void iwarp_keys_fini(struct iwarp_keys *keys)
{
	for (unsigned i = 0; i < keys->nbuckets; i++) {
		struct fabric_key *key;

		while ((key = TAILQ_FIRST(&keys->buckets[i])))
			iwarp_keys_remove(keys, key);
	}
	free(keys->buckets);
	iwarp_keys_init(keys, keys->limit);
}

static struct fabric_key_list *bucket_of(const struct iwarp_keys *keys, uint32_t stag)
{
	/* The index of an STag, which is random, is its upper 24 bits. */
	return &keys->buckets[(stag >> 8) & (keys->nbuckets - 1)];
}

static int keys_grow(struct iwarp_keys *keys)
{
	struct iwarp_keys old = *keys;
	unsigned nbuckets = old.nbuckets ? old.nbuckets * 2 : FIRST_BUCKETS;
	struct fabric_key_list *buckets = calloc(nbuckets, sizeof(*buckets));

	if (!buckets)
		return -ENOMEM;
	for (unsigned i = 0; i < nbuckets; i++)
		TAILQ_INIT(&buckets[i]);
	keys->buckets = buckets;
	keys->nbuckets = nbuckets;
	for (unsigned i = 0; i < old.nbuckets; i++) {
		struct fabric_key *key;

		while ((key = TAILQ_FIRST(&old.buckets[i]))) {
			TAILQ_REMOVE(&old.buckets[i], key, entry);
			TAILQ_INSERT_TAIL(bucket_of(keys, key->rkey), key, entry);
		}
	}
	free(old.buckets);
	return 0;
}

int iwarp_keys_add(struct iwarp_keys *keys, struct iwarp_random *random, struct fabric_key *key)
{
	uint32_t stag;

	if (keys->count >= keys->limit)
		return -ENOMEM;
	if (keys->count >= keys->nbuckets && keys_grow(keys) < 0)
		return -ENOMEM;
	do {
		stag = (uint32_t)iwarp_random_next(random);
	} while (stag >> 8 == 0 || iwarp_keys_find(keys, stag));
	key->rkey = stag;
	/* Not zero, and with room for any length before it would wrap. */
	key->addr = (iwarp_random_next(random) >> 1) | 1u << 12;
	key->addr &= ~(uint64_t)0xfff;
	key->priv = keys;
	TAILQ_INSERT_TAIL(bucket_of(keys, stag), key, entry);
	keys->count++;
	return 0;
}

struct fabric_key *iwarp_keys_find(const struct iwarp_keys *keys, uint32_t stag)
{
	struct fabric_key *key;

	if (!keys->nbuckets)
		return NULL;
	TAILQ_FOREACH(key, bucket_of(keys, stag), entry)
		if (key->rkey == stag)
			return key;
	return NULL;
}

bool iwarp_keys_has(const struct fabric_key *key)
{
	return key->priv != NULL;
}

void iwarp_keys_remove(struct iwarp_keys *keys, struct fabric_key *key)
{
	if (!key->priv)
		return;
	TAILQ_REMOVE(bucket_of(keys, key->rkey), key, entry);
	key->priv = NULL;
	keys->count--;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keys that one connection has lent to its peer, by STag.
 *
 * Each key gets an STag whose 24-bit index and 8-bit key byte are random, and a random tagged
 * offset to start at, so that what is left of an old key hits nothing.
 */
#ifndef FABRIC_IWARP_KEYS_H
#define FABRIC_IWARP_KEYS_H

#include "fabric/fabric.h"
#include "fabric/iwarp/random.h"

struct iwarp_keys {
	struct hash_table table; /* of key->node */
	unsigned limit;
};

/** iwarp_keys_init - an empty table for at most @limit keys; it must not be moved. */
void iwarp_keys_init(struct iwarp_keys *keys, unsigned limit);
/** iwarp_keys_fini - free the table; keys still in it are taken out, their owners still hold them. */
void iwarp_keys_fini(struct iwarp_keys *keys);
/** iwarp_keys_add - give @key its rkey and addr; returns 0, or -ENOMEM at the limit. */
int iwarp_keys_add(struct iwarp_keys *keys, struct iwarp_random *random,
		   struct fabric_key *key) MUST_CHECK;
/** iwarp_keys_find - the key with this STag, or NULL. */
struct fabric_key *iwarp_keys_find(const struct iwarp_keys *keys, uint32_t stag);
/** iwarp_keys_has - whether @key is still in the table: bound and not invalidated. */
bool iwarp_keys_has(const struct fabric_key *key);
/** iwarp_keys_remove - the peer cannot name it any more; does nothing if it is not in the table. */
void iwarp_keys_remove(struct iwarp_keys *keys, struct fabric_key *key);

#endif

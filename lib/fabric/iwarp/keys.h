/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * STag table: the keys by which one connection exposes memory to its peer.
 *
 * Each key gets an STag with a random 24-bit index and 8-bit key byte, and a random tagged offset.
 * So a stale STag or offset does not reach memory of a later key.
 */
#ifndef FABRIC_IWARP_KEYS_H
#define FABRIC_IWARP_KEYS_H

#include "fabric/fabric.h"
#include "fabric/iwarp/random.h"

struct iwarp_keys {
	struct hash_table table; /* of key->node */
	unsigned limit;
};

/** iwarp_keys_init - Initializes an empty table for at most @limit keys; it must not be moved. */
void iwarp_keys_init(struct iwarp_keys *keys, unsigned limit);
/** iwarp_keys_fini - Frees the table; removes keys still in it, which their owners still hold. */
void iwarp_keys_fini(struct iwarp_keys *keys);
/** iwarp_keys_add - Adds @key, and sets its rkey and addr. Returns 0, or -ENOMEM at the limit. */
int iwarp_keys_add(struct iwarp_keys *keys, struct iwarp_random *random,
		   struct fabric_key *key) MUST_CHECK;
/** iwarp_keys_find - Returns the key with this STag, or NULL. */
struct fabric_key *iwarp_keys_find(const struct iwarp_keys *keys, uint32_t stag);
/** iwarp_keys_has - Returns true while @key is in the table: bound and not invalidated. */
bool iwarp_keys_has(const struct fabric_key *key);
/**
 * iwarp_keys_remove - Removes @key, so that the peer can no longer use it; no effect if it is not
 * in the table.
 */
void iwarp_keys_remove(struct iwarp_keys *keys, struct fabric_key *key);

#endif

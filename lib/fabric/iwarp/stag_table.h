/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * STag table: the keys by which one connection exposes memory to its peer.
 *
 * Each key gets an STag with a random 24-bit index and 8-bit key byte, and a random tagged offset.
 * So a stale STag or offset does not reach memory of a later key.
 */
#ifndef FABRIC_IWARP_STAG_TABLE_H
#define FABRIC_IWARP_STAG_TABLE_H

#include "fabric/fabric.h"
#include "fabric/iwarp/random.h"

struct stag_table {
	struct hash_table table; /* of key->node */
	unsigned limit;
};

/** stag_table_init - Initializes an empty table for at most @limit keys; it must not be moved. */
void stag_table_init(struct stag_table *keys, unsigned limit);
/** stag_table_fini - Frees the table; removes keys still in it, which their owners still hold. */
void stag_table_fini(struct stag_table *keys);
/** stag_table_add - Adds @key, and sets its rkey and addr. Returns 0, or -ENOMEM at the limit. */
int stag_table_add(struct stag_table *keys, struct iwarp_random *random,
		   struct fabric_key *key) MUST_CHECK;
/** stag_table_find - Returns the key with this STag, or NULL. */
struct fabric_key *stag_table_find(const struct stag_table *keys, uint32_t stag);
/** stag_table_has - Returns true while @key is in the table: bound and not invalidated. */
bool stag_table_has(const struct fabric_key *key);
/**
 * stag_table_remove - Removes @key, so that the peer can no longer use it; no effect if it is not
 * in the table.
 */
void stag_table_remove(struct stag_table *keys, struct fabric_key *key);

#endif

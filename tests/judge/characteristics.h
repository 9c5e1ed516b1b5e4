/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses the bodies of the four operations on characteristics
 * (draft-dnoveck-nfsv4-rpcrdma-xcharext-00 section 5.2).
 */
#ifndef TESTS_JUDGE_CHARACTERISTICS_H
#define TESTS_JUDGE_CHARACTERISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/judge/cursor.h"

#define CHARACTERISTICS_KNOWN 4u /* the known ids are below this */

enum characteristic_id { RECEIVE_BYTES = 1, INVALIDATION, BACKWARD };
enum { BACKWARD_UNKNOWN, BACKWARD_NONE, BACKWARD_LIMITED, BACKWARD_GENERAL };

struct characteristic {
	uint32_t which;
	uint32_t value; /* of a known one */
};

struct characteristics {
	struct characteristic *list;
	unsigned count;
};

/* Some elements of a list before it: element N is bit N mod 32 of word N div 32. */
struct subset {
	const uint8_t *words;
	uint32_t count;
};

/**
 * characteristics_receive - Reads a counted list; release it with characteristics_fini(), even if
 * the cursor has gone bad.
 */
void characteristics_receive(struct cursor *c, struct characteristics *list);
void characteristics_fini(struct characteristics *list);
/**
 * characteristic_take - Reads one value; a known one that is invalid for its type makes the cursor
 * bad.
 */
struct characteristic characteristic_take(struct cursor *c);
struct subset subset_take(struct cursor *c);
bool subset_has(struct subset subset, unsigned n);

#endif

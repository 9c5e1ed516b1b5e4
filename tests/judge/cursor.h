/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads words from a byte buffer, one after the other. A read beyond the end marks the cursor as
 * bad and returns zero.
 */
#ifndef TESTS_JUDGE_CURSOR_H
#define TESTS_JUDGE_CURSOR_H

#include <stdbool.h>

#include "tests/judge/bytes.h"

struct cursor {
	const uint8_t *at;
	size_t left;
	bool bad;
};

/** cursor_skip - Returns the next @len bytes; NULL if there are fewer. */
static inline const uint8_t *cursor_skip(struct cursor *c, size_t len)
{
	const uint8_t *at = c->at;

	if (c->left < len) {
		c->bad = true;
		c->left = 0;
		return NULL;
	}
	c->at += len;
	c->left -= len;
	return at;
}

static inline uint32_t cursor_word(struct cursor *c)
{
	const uint8_t *at = cursor_skip(c, 4);

	return at ? get_be32(at) : 0;
}

/** cursor_bool - Reads a word that must be zero or one. */
static inline bool cursor_bool(struct cursor *c)
{
	uint32_t value = cursor_word(c);

	if (value > 1)
		c->bad = true;
	return value == 1;
}

/** cursor_opaque - Reads counted bytes and their padding; @data is the bytes alone. */
static inline void cursor_opaque(struct cursor *c, struct cursor *data)
{
	uint32_t len = cursor_word(c);
	const uint8_t *at = cursor_skip(c, len);

	*data = (struct cursor){at, at ? len : 0, false};
	cursor_skip(c, -len & 3);
}

#endif

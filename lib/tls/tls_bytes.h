/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes in a buffer that grows as needed and is freed when it is empty. */
#ifndef TLS_TLS_BYTES_H
#define TLS_TLS_BYTES_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/compiler.h"

struct tls_bytes {
	uint8_t *at;
	size_t start, end, size; /* bytes from start to end are filled */
};

static inline size_t tls_bytes_filled(const struct tls_bytes *bytes)
{
	return bytes->end - bytes->start;
}

/** tls_bytes_first - Returns the first byte; NULL if there is no buffer. */
static inline uint8_t *tls_bytes_first(const struct tls_bytes *bytes)
{
	return bytes->at ? bytes->at + bytes->start : NULL;
}

/** tls_bytes_fini - Frees the buffer, which is empty then and can be used again. */
static inline void tls_bytes_fini(struct tls_bytes *bytes)
{
	free(bytes->at);
	*bytes = (struct tls_bytes){.at = NULL};
}

/** tls_bytes_reserve - Makes place for @more bytes at the end. Returns 0 or -ENOMEM. */
static inline int MUST_CHECK tls_bytes_reserve(struct tls_bytes *bytes, size_t more)
{
	size_t filled = tls_bytes_filled(bytes);
	uint8_t *at;

	if (bytes->size - bytes->end >= more)
		return 0;
	if (bytes->start) {
		memmove(bytes->at, bytes->at + bytes->start, filled);
		bytes->start = 0;
		bytes->end = filled;
	}
	if (bytes->size - filled >= more)
		return 0;
	at = realloc(bytes->at, filled + more);
	if (!at)
		return -ENOMEM;
	bytes->at = at;
	bytes->size = filled + more;
	return 0;
}

/** tls_bytes_add - Appends a copy of @from. Returns 0 or -ENOMEM. */
static inline int MUST_CHECK tls_bytes_add(struct tls_bytes *bytes, const void *from, size_t length)
{
	int err = length ? tls_bytes_reserve(bytes, length) : 0;

	if (err || !length)
		return err;
	memcpy(bytes->at + bytes->end, from, length);
	bytes->end += length;
	return 0;
}

/** tls_bytes_consume - Removes @length bytes from the start, and frees an empty buffer. */
static inline void tls_bytes_consume(struct tls_bytes *bytes, size_t length)
{
	bytes->start += length;
	if (bytes->start == bytes->end)
		tls_bytes_fini(bytes);
}

#endif

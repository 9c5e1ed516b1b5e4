/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads XDR from a message that is scattered in memory, or of which only a part has arrived.
 *
 * The message is a list of entries in order. An entry without memory is a hole: its bytes are
 * elsewhere and are never read. Bytes after the last entry have not arrived yet:
 *
 *	| inline head |  hole: a read chunk  | inline tail |          RDMA_MSG
 *	| received    |                                    |          a prefix
 *
 * Skipping needs no bytes: holes and missing bytes are skipped like others, within the length of
 * the message. A read that needs them fails, and `stop` is the reason.
 *
 * While reads stay within one entry they cost the same as with struct xdr_reader. Words that span
 * entries are joined in the reader.
 */
#ifndef RPC_XDR_SG_H
#define RPC_XDR_SG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/xdr.h"

#define XDR_SG_MAX_READ_BYTES 32u /* per xdr_sg_get_bytes() */

struct xdr_sg_entry {
	const uint8_t *data; /* NULL: a hole */
	uint32_t len_bytes;
};

struct xdr_sg {
	const struct xdr_sg_entry *list;
	unsigned count;
	uint32_t len_bytes; /* of the whole message; the entries together are no longer */
};

/** xdr_sg_have_bytes - Returns how much of the message has arrived, including holes. */
uint32_t xdr_sg_have_bytes(const struct xdr_sg *msg);

enum xdr_sg_stop {
	XDR_SG_OK,
	XDR_SG_MISSING, /* bytes that have not arrived; `want_bytes` of the message are needed */
	XDR_SG_HOLE,    /* bytes in a hole */
	XDR_SG_END,     /* bytes after the end of the message */
};

struct xdr_sg_reader {
	const uint8_t *pos, *end; /* unread memory of the current entry */
	uint32_t end_offset;      /* of `end` in the message */
	uint32_t len_bytes;       /* of the message */
	uint32_t want_bytes;
	enum xdr_sg_stop stop; /* why a read failed, unless its value was invalid */
	const struct xdr_sg_entry *next, *last; /* entries after the current one */
	uint64_t next_offset;                   /* offset of the first of these in the message */
	uint8_t joined[XDR_SG_MAX_READ_BYTES];
};

/**
 * xdr_sg_reader_init - Starts reading @msg at @offset, at most its length; memory and list must
 * remain valid
 *
 * After a failed read only `stop` and the offset of the reader are valid.
 */
void xdr_sg_reader_init(struct xdr_sg_reader *reader, const struct xdr_sg *msg, uint32_t offset);

/** xdr_sg_reader_init_flat - Starts reading a complete message of @len_bytes at @data. */
void xdr_sg_reader_init_flat(struct xdr_sg_reader *reader, const uint8_t *data, uint32_t len_bytes);

/** xdr_sg_offset - Returns the reader's offset in the message. */
static inline uint32_t xdr_sg_offset(const struct xdr_sg_reader *reader)
{
	return reader->end_offset - (uint32_t)(reader->end - reader->pos);
}

/** xdr_sg_remaining_bytes - Returns how much of the message is left, arrived or not. */
static inline uint32_t xdr_sg_remaining_bytes(const struct xdr_sg_reader *reader)
{
	return reader->len_bytes - xdr_sg_offset(reader);
}

/* The slow paths of reading and skipping, at the end of an entry. */
const uint8_t *xdr_sg_get_slow(struct xdr_sg_reader *reader, uint32_t len_bytes) MUST_CHECK;
bool xdr_sg_skip_slow(struct xdr_sg_reader *reader, uint64_t len_bytes) MUST_CHECK;

/**
 * xdr_sg_get_bytes - Reads @len_bytes, at most XDR_SG_MAX_READ_BYTES, without padding
 *
 * Returns a pointer that is valid until the next read, or NULL.
 */
MUST_CHECK static inline const uint8_t *xdr_sg_get_bytes(struct xdr_sg_reader *reader,
							 uint32_t len_bytes)
{
	const uint8_t *at = reader->pos;

	if (len_bytes > (size_t)(reader->end - at))
		return xdr_sg_get_slow(reader, len_bytes);
	reader->pos += len_bytes;
	return at;
}

MUST_CHECK static inline bool xdr_sg_get_u32(struct xdr_sg_reader *reader, uint32_t *value)
{
	const uint8_t *at = xdr_sg_get_bytes(reader, sizeof(*value));

	if (!at)
		return false;
	*value = be32_get(at);
	return true;
}

/**
 * xdr_sg_get_bool - Reads a bool or the discriminator of optional data. Returns false also for
 * values above 1.
 */
MUST_CHECK static inline bool xdr_sg_get_bool(struct xdr_sg_reader *reader, bool *value)
{
	uint32_t word;

	if (!xdr_sg_get_u32(reader, &word) || word > 1)
		return false;
	*value = word;
	return true;
}

/** xdr_sg_skip - Skips @len_bytes, without padding. Returns false if the message ends before. */
MUST_CHECK static inline bool xdr_sg_skip(struct xdr_sg_reader *reader, uint64_t len_bytes)
{
	if (len_bytes > (size_t)(reader->end - reader->pos))
		return xdr_sg_skip_slow(reader, len_bytes);
	reader->pos += len_bytes;
	return true;
}

/**
 * xdr_sg_get_count - Reads the length word of a counted array
 * @max:      the largest count that the caller accepts
 * @min_each: minimum size of an element; the count is checked against the remaining bytes
 */
MUST_CHECK static inline bool xdr_sg_get_count(struct xdr_sg_reader *reader, uint32_t max,
					       uint32_t min_each, uint32_t *count)
{
	uint32_t n;

	if (!xdr_sg_get_u32(reader, &n) || n > max ||
	    (uint64_t)n * min_each > xdr_sg_remaining_bytes(reader))
		return false;
	*count = n;
	return true;
}

/**
 * xdr_sg_skip_opaque - Skips counted opaque data or a string with its padding. Sets @len_bytes
 * without padding.
 */
MUST_CHECK static inline bool xdr_sg_skip_opaque(struct xdr_sg_reader *reader, uint32_t max_bytes,
						 uint32_t *len_bytes)
{
	return xdr_sg_get_u32(reader, len_bytes) && *len_bytes <= max_bytes &&
	       xdr_sg_skip(reader, xdr_padded_bytes(*len_bytes));
}

#endif

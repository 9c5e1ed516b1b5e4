/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader of XDR over a message that is not one stretch of memory, or of which not all has come.
 *
 * The message is a list of pieces in order. A piece without memory is a hole: its bytes are somewhere else, and
 * are never read. What is behind the last piece has not come yet:
 *
 *	| inline head |  hole: a read chunk  | inline tail |          RDMA_MSG
 *	| what has come |                                  |          a prefix
 *
 * Moving past bytes takes no bytes: a hole, or what has not come, is skipped like anything else, within the
 * length of the message. A read that needs them fails, and `stop` says why.
 *
 * As long as what is read lies in one piece, reading costs what it does with struct xdr_reader. A word that lies
 * in two pieces is put together in the reader.
 */
#ifndef RPC_PIECES_H
#define RPC_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/xdr.h"

#define PIECES_MAX_READ_BYTES 32u /* by one pieces_get_bytes() */

struct rpc_piece {
	const uint8_t *data; /* NULL: a hole */
	uint32_t len_bytes;
};

struct rpc_pieces {
	const struct rpc_piece *list;
	unsigned count;
	uint32_t len_bytes; /* of the whole message; the pieces together are no longer */
};

/** rpc_pieces_have_bytes - how much of the message has come, holes included. */
uint32_t rpc_pieces_have_bytes(const struct rpc_pieces *msg);

enum pieces_stop {
	PIECES_GO,
	PIECES_LATER, /* bytes that have not come; `want_bytes` of the message are needed */
	PIECES_HOLE,  /* bytes in a hole */
	PIECES_END,   /* bytes behind the end of the message */
};

struct pieces_reader {
	const uint8_t *pos, *end; /* of the memory at hand, not read yet */
	uint32_t end_offset;      /* of `end` in the message */
	uint32_t len_bytes;       /* of the message */
	uint32_t want_bytes;
	enum pieces_stop stop;               /* why a read has failed, unless for its value */
	const struct rpc_piece *next, *last; /* pieces behind the one at hand */
	uint64_t next_offset;                /* of the first of these in the message */
	uint8_t joined[PIECES_MAX_READ_BYTES];
};

/**
 * pieces_reader_init - read @msg from @offset on, at most its length; memory and list must stay
 *
 * After a read has failed the reader is good for its `stop` and its offset only.
 */
void pieces_reader_init(struct pieces_reader *reader, const struct rpc_pieces *msg,
			uint32_t offset);

/** pieces_reader_init_whole - read @len_bytes at @data, which are all of the message. */
void pieces_reader_init_whole(struct pieces_reader *reader, const uint8_t *data,
			      uint32_t len_bytes);

/** pieces_offset - how far from the start of the message the reader is. */
static inline uint32_t pieces_offset(const struct pieces_reader *reader)
{
	return reader->end_offset - (uint32_t)(reader->end - reader->pos);
}

/** pieces_remaining_bytes - how much of the message is behind the reader, whether it has come or not. */
static inline uint32_t pieces_remaining_bytes(const struct pieces_reader *reader)
{
	return reader->len_bytes - pieces_offset(reader);
}

/* What reading and skipping do at the end of a piece. */
const uint8_t *pieces_get_far(struct pieces_reader *reader, uint32_t len_bytes) MUST_CHECK;
bool pieces_skip_far(struct pieces_reader *reader, uint64_t len_bytes) MUST_CHECK;

/**
 * pieces_get_bytes - the next @len_bytes, at most PIECES_MAX_READ_BYTES, without padding
 *
 * Returns where they are, good until the next read, or NULL.
 */
MUST_CHECK static inline const uint8_t *pieces_get_bytes(struct pieces_reader *reader,
							 uint32_t len_bytes)
{
	const uint8_t *at = reader->pos;

	if (len_bytes > (size_t)(reader->end - at))
		return pieces_get_far(reader, len_bytes);
	reader->pos += len_bytes;
	return at;
}

MUST_CHECK static inline bool pieces_get_u32(struct pieces_reader *reader, uint32_t *value)
{
	const uint8_t *at = pieces_get_bytes(reader, sizeof(*value));

	if (!at)
		return false;
	*value = be32_get(at);
	return true;
}

/** pieces_get_bool - a bool or the discriminator of optional data; false also for a word over 1. */
MUST_CHECK static inline bool pieces_get_bool(struct pieces_reader *reader, bool *value)
{
	uint32_t word;

	if (!pieces_get_u32(reader, &word) || word > 1)
		return false;
	*value = word;
	return true;
}

/** pieces_skip - move past @len_bytes, without padding; false if the message ends before. */
MUST_CHECK static inline bool pieces_skip(struct pieces_reader *reader, uint64_t len_bytes)
{
	if (len_bytes > (size_t)(reader->end - reader->pos))
		return pieces_skip_far(reader, len_bytes);
	reader->pos += len_bytes;
	return true;
}

/**
 * pieces_get_count - the length word of a counted array
 * @max:      the largest that the caller accepts
 * @min_each: the fewest bytes that an element takes; the count is held against what remains
 */
MUST_CHECK static inline bool pieces_get_count(struct pieces_reader *reader, uint32_t max,
					       uint32_t min_each, uint32_t *count)
{
	uint32_t n;

	if (!pieces_get_u32(reader, &n) || n > max ||
	    (uint64_t)n * min_each > pieces_remaining_bytes(reader))
		return false;
	*count = n;
	return true;
}

/** pieces_skip_opaque - counted opaque data or a string, with its padding; sets @len_bytes without it. */
MUST_CHECK static inline bool pieces_skip_opaque(struct pieces_reader *reader, uint32_t max_bytes,
						 uint32_t *len_bytes)
{
	return pieces_get_u32(reader, len_bytes) && *len_bytes <= max_bytes &&
	       pieces_skip(reader, xdr_padded_bytes(*len_bytes));
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XDR (RFC 4506): a reader over [pos, end) and a bounded writer with a sticky failure.
 *
 * Neither owns memory. A failed read changes neither the reader nor its outputs, so reads can be
 * chained with &&. A write that does not fit writes nothing, and all later writes fail too;
 * xdr_written_bytes() reports that at the end.
 */
#ifndef RPC_XDR_H
#define RPC_XDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/be_bytes.h"
#include "base/compiler.h"

#define XDR_UNIT_BYTES 4u

/** xdr_padded_bytes - Returns @len_bytes rounded up to the unit of XDR (RFC 4506 section 3). */
static inline uint64_t xdr_padded_bytes(uint64_t len_bytes)
{
	return (len_bytes + XDR_UNIT_BYTES - 1) & ~(uint64_t)(XDR_UNIT_BYTES - 1);
}

struct xdr_reader {
	const uint8_t *start, *pos, *end; /* start <= pos <= end */
};

/**
 * xdr_reader_init - Starts reading @len bytes at @data, which must remain valid until the last
 * read.
 */
static inline void xdr_reader_init(struct xdr_reader *reader, const uint8_t *data, size_t len)
{
	reader->start = data;
	reader->pos = data;
	reader->end = len ? data + len : data;
}

/** xdr_remaining_bytes - Returns the number of unread bytes. */
static inline size_t xdr_remaining_bytes(const struct xdr_reader *reader)
{
	return (size_t)(reader->end - reader->pos);
}

/** xdr_position_bytes - Returns the offset from the start. */
static inline size_t xdr_position_bytes(const struct xdr_reader *reader)
{
	return (size_t)(reader->pos - reader->start);
}

/**
 * xdr_skip - Skips @len_bytes, without padding. Returns false, and skips nothing, if there are
 * fewer.
 */
MUST_CHECK static inline bool xdr_skip(struct xdr_reader *reader, uint64_t len_bytes)
{
	if (len_bytes > xdr_remaining_bytes(reader))
		return false;
	if (len_bytes)
		reader->pos += len_bytes;
	return true;
}

MUST_CHECK static inline bool xdr_get_u32(struct xdr_reader *reader, uint32_t *value)
{
	if (xdr_remaining_bytes(reader) < sizeof(*value))
		return false;
	*value = be32_get(reader->pos);
	reader->pos += sizeof(*value);
	return true;
}

MUST_CHECK static inline bool xdr_get_u64(struct xdr_reader *reader, uint64_t *value)
{
	if (xdr_remaining_bytes(reader) < sizeof(*value))
		return false;
	*value = be64_get(reader->pos);
	reader->pos += sizeof(*value);
	return true;
}

/**
 * xdr_get_bool - Reads a bool or the discriminator of optional data. Returns false also for values
 * above 1.
 */
MUST_CHECK static inline bool xdr_get_bool(struct xdr_reader *reader, bool *value)
{
	if (xdr_remaining_bytes(reader) < sizeof(uint32_t) || be32_get(reader->pos) > 1)
		return false;
	*value = reader->pos[3];
	reader->pos += sizeof(uint32_t);
	return true;
}

/**
 * xdr_get_count - Reads the length word of a counted array
 * @max:      the largest count that the caller accepts
 * @min_each: minimum size of an element; the count is checked against the remaining bytes
 */
MUST_CHECK bool xdr_get_count(struct xdr_reader *reader, uint32_t max, size_t min_each,
			      uint32_t *count);

/**
 * xdr_get_fixed - Reads fixed-length opaque data and its padding
 * @data: set to a pointer into the reader's memory
 *
 * The values of pad bytes are ignored, here and below. The padding of a last item must be present.
 */
MUST_CHECK bool xdr_get_fixed(struct xdr_reader *reader, uint32_t len_bytes, const uint8_t **data);

/**
 * xdr_get_opaque - Reads counted opaque data or a string, with its padding
 * @max_bytes:        the longest that the caller accepts; UINT32_MAX: whatever the reader holds
 * @data, @len_bytes: set to a pointer into the reader's memory, and the length without padding
 */
MUST_CHECK bool xdr_get_opaque(struct xdr_reader *reader, uint32_t max_bytes, const uint8_t **data,
			       uint32_t *len_bytes);

/** xdr_skip_opaque - Skips counted opaque data. */
MUST_CHECK bool xdr_skip_opaque(struct xdr_reader *reader, uint32_t max_bytes);

struct xdr_writer {
	uint8_t *start, *pos, *end;
	bool failed;
};

/** xdr_writer_init - Starts writing into @capacity bytes at @to, owned by the caller. */
static inline void xdr_writer_init(struct xdr_writer *writer, uint8_t *to, size_t capacity)
{
	writer->start = to;
	writer->pos = to;
	writer->end = capacity ? to + capacity : to;
	writer->failed = false;
}

/**
 * xdr_reserve - Reserves @len_bytes, which the caller fills in
 *
 * Returns a pointer to them; NULL if they do not fit, or an earlier write failed.
 */
MUST_CHECK static inline uint8_t *xdr_reserve(struct xdr_writer *writer, uint64_t len_bytes)
{
	uint8_t *to = writer->pos;

	if (writer->failed || len_bytes > (size_t)(writer->end - writer->pos)) {
		writer->failed = true;
		return NULL;
	}
	if (len_bytes)
		writer->pos += len_bytes;
	return to;
}

static inline void xdr_put_u32(struct xdr_writer *writer, uint32_t value)
{
	uint8_t *to = xdr_reserve(writer, sizeof(value));

	if (to)
		be32_put(to, value);
}

static inline void xdr_put_u64(struct xdr_writer *writer, uint64_t value)
{
	uint8_t *to = xdr_reserve(writer, sizeof(value));

	if (to)
		be64_put(to, value);
}

static inline void xdr_put_bool(struct xdr_writer *writer, bool value)
{
	xdr_put_u32(writer, value);
}

/** xdr_put_fixed - Writes fixed-length opaque data, and zeros up to the unit. */
void xdr_put_fixed(struct xdr_writer *writer, const uint8_t *data, uint32_t len_bytes);

/** xdr_put_opaque - Writes a length word, the data, and zeros up to the unit; all or nothing. */
void xdr_put_opaque(struct xdr_writer *writer, const uint8_t *data, uint32_t len_bytes);

/** xdr_written_bytes - Returns the number of bytes written, or 0 if anything did not fit. */
static inline size_t xdr_written_bytes(const struct xdr_writer *writer)
{
	return writer->failed ? 0 : (size_t)(writer->pos - writer->start);
}

#endif

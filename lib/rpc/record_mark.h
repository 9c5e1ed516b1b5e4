/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Record marking (RFC 5531 section 11): RPC messages on a stream. A record is one message, sent as
 * one or more fragments, each after a mark:
 *
 *	+---+-----------------+-------------------------------+
 *	| L | length, 31 bits | `length` bytes of the message |   L: last fragment of the record
 *	+---+-----------------+-------------------------------+
 *
 * The parser removes the marks from the stream and reports where the message's bytes begin and end.
 * It never copies these bytes, so the caller can receive them anywhere, from its input or directly
 * from the socket, and reports them by record_consume():
 *
 *	while ((status = record_next(&parser, in, len, &used)) == RECORD_BODY) {
 *		consume up to parser.fragment_left_bytes of what follows `used`
 *		record_consume(&parser, consumed);
 *	}
 */
#ifndef RPC_RECORD_MARK_H
#define RPC_RECORD_MARK_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/xdr.h"

#define RECORD_MARK_BYTES          4u
#define RECORD_MAX_FRAGMENT_BYTES  0x7fffffffu
#define RECORD_LAST_FRAGMENT       0x80000000u
#define RECORD_MAX_EMPTY_FRAGMENTS 8u /* per record: they carry nothing and cost work */

enum record_status {
	RECORD_MORE = 0,  /* the input is used up inside or before a mark */
	RECORD_BODY,      /* the next fragment_left_bytes belong to the message */
	RECORD_END,       /* the record is complete; reported once */
	RECORD_TOO_BIG,   /* the fragments announced so far are more than max_bytes; final */
	RECORD_TOO_EMPTY, /* more than RECORD_MAX_EMPTY_FRAGMENTS; final */
};

struct record_parser {
	uint32_t max_bytes;
	uint32_t record_bytes;        /* sum of the fragments announced so far, at most max_bytes */
	uint32_t fragment_left_bytes; /* of the current fragment, not received yet */
	uint32_t mark;                /* the last mark, or the received part of it */
	unsigned mark_bytes;          /* received bytes of the mark */
	unsigned empty_fragments;
	bool last;    /* the current fragment is the last: record_bytes is the record's length */
	bool started; /* a byte of this record was received */
	enum record_status failure; /* RECORD_TOO_… once it was returned; else RECORD_MORE */
};

/** record_parser_init - Initializes the parser; no record may be longer than @max_bytes. */
void record_parser_init(struct record_parser *parser, uint32_t max_bytes);

/* The slow path of record_next(): a mark is expected, or the parser has failed. */
enum record_status record_next_mark(struct record_parser *parser, const uint8_t *in,
				    size_t len_bytes, size_t *used_bytes) MUST_CHECK;
/*
 * The fast path of record_next(): starts a record whose first mark is complete and says that it has
 * one fragment. Returns false for any other record.
 */
static inline bool record_begin_whole(struct record_parser *parser, const uint8_t *in,
				      size_t len_bytes)
{
	uint32_t mark, len;

	if (len_bytes < RECORD_MARK_BYTES || parser->started || parser->failure)
		return false;
	mark = be32_get(in);
	len = mark & RECORD_MAX_FRAGMENT_BYTES;
	if (len == mark || len == 0 || len > parser->max_bytes)
		return false;
	parser->mark = mark;
	parser->record_bytes = parser->fragment_left_bytes = len;
	parser->empty_fragments = 0;
	parser->started = parser->last = true;
	return true;
}

/**
 * record_next - Consumes marks up to the next event
 * @in, @len_bytes: received and not consumed yet; can be empty
 * @used_bytes:     set to the number of bytes of marks
 *
 * After RECORD_BODY call record_consume(); otherwise the same is returned again. After RECORD_END,
 * `last` is set and record_bytes is the record's length until the next call with input.
 */
MUST_CHECK static inline enum record_status
record_next(struct record_parser *parser, const uint8_t *in, size_t len_bytes, size_t *used_bytes)
{
	*used_bytes = 0;
	if (parser->fragment_left_bytes > 0)
		return RECORD_BODY;
	if (parser->last && parser->started) {
		parser->started = false;
		return RECORD_END;
	}
	if (record_begin_whole(parser, in, len_bytes)) {
		*used_bytes = RECORD_MARK_BYTES;
		return RECORD_BODY;
	}
	return record_next_mark(parser, in, len_bytes, used_bytes);
}

/**
 * record_consume - Records that @bytes of the message, at most fragment_left_bytes, were received.
 */
static inline void record_consume(struct record_parser *parser, uint32_t bytes)
{
	assert(bytes <= parser->fragment_left_bytes);
	parser->fragment_left_bytes -= bytes;
}

/**
 * record_is_idle - Returns whether the stream can end here: no byte of an unfinished record was
 * received.
 */
bool record_is_idle(const struct record_parser *parser);

/** record_mark_encode - Encodes the mark of a record of one fragment. */
void record_mark_encode(uint8_t to[RECORD_MARK_BYTES], uint32_t len_bytes);

#endif

// SPDX-License-Identifier: BSD-3-Clause
#include "rpc/record_mark.h"

#include <assert.h>

void record_parser_init(struct record_parser *parser, uint32_t max_bytes)
{
	*parser = (struct record_parser){.max_bytes = max_bytes};
}

/* Handles a complete mark. */
static enum record_status begin_fragment(struct record_parser *parser)
{
	uint32_t len = parser->mark & RECORD_MAX_FRAGMENT_BYTES;

	bool last = parser->mark & RECORD_LAST_FRAGMENT;

	/*
	 * A failure leaves no fragment, and `last` unset: record_next() then asks for marks, and
	 * fails again.
	 */
	if (len > parser->max_bytes - parser->record_bytes)
		return parser->failure = RECORD_TOO_BIG;
	/* The last fragment can be empty in any record, since it ends the work. */
	if (len == 0 && !last && ++parser->empty_fragments > RECORD_MAX_EMPTY_FRAGMENTS)
		return parser->failure = RECORD_TOO_EMPTY;
	parser->last = last;
	parser->mark_bytes = 0;
	parser->record_bytes += len;
	parser->fragment_left_bytes = len;
	return RECORD_BODY;
}

static void begin_record(struct record_parser *parser)
{
	parser->started = true;
	parser->last = false;
	parser->record_bytes = 0;
	parser->empty_fragments = 0;
}

/*
 * Consumes the received bytes of a mark, after the *used bytes. Returns whether it is complete;
 * most are.
 */
static bool consume_mark(struct record_parser *parser, const uint8_t *in, size_t len_bytes,
			 size_t *used)
{
	size_t left = len_bytes - *used;

	if (!left)
		return false;
	if (!parser->started)
		begin_record(parser);
	if (left >= RECORD_MARK_BYTES && !parser->mark_bytes) {
		parser->mark = be32_get(in + *used);
		*used += RECORD_MARK_BYTES;
		return true;
	}
	while (*used < len_bytes) {
		parser->mark = parser->mark << 8 | in[(*used)++];
		if (++parser->mark_bytes == RECORD_MARK_BYTES)
			return true;
	}
	return false;
}

enum record_status record_next_mark(struct record_parser *parser, const uint8_t *in,
				    size_t len_bytes, size_t *used_bytes)
{
	enum record_status status;

	if (parser->failure)
		return parser->failure;
	/* Fragments can be empty: then another mark follows, or the record is complete. */
	do {
		if (!consume_mark(parser, in, len_bytes, used_bytes))
			return RECORD_MORE;
		status = begin_fragment(parser);
	} while (status == RECORD_BODY && !parser->fragment_left_bytes && !parser->last);
	if (status == RECORD_BODY && !parser->fragment_left_bytes) {
		parser->started = false;
		return RECORD_END;
	}
	return status;
}

bool record_is_idle(const struct record_parser *parser)
{
	return !parser->started;
}

void record_mark_encode(uint8_t to[RECORD_MARK_BYTES], uint32_t len_bytes)
{
	uint32_t mark = RECORD_LAST_FRAGMENT | len_bytes;

	assert(len_bytes <= RECORD_MAX_FRAGMENT_BYTES);
	be32_put(to, mark);
}

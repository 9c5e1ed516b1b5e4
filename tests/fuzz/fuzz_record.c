// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes streams of records: wherever the stream is cut, the records and the verdict are the same.
 */
#include "rpc/record_mark.h"
#include "tests/fuzz/fuzz.h"

#define MAX_BYTES 1000u

struct outcome {
	enum record_status status;
	unsigned records;
	uint64_t body_bytes;
	uint32_t hash; /* of the message bytes and where records end */
};

static void feed(struct record_parser *parser, const uint8_t *in, size_t len, struct outcome *out)
{
	for (;;) {
		size_t used;

		out->status = record_next(parser, in, len, &used);
		FUZZ_ASSERT(used <= len);
		FUZZ_ASSERT(parser->record_bytes <= MAX_BYTES);
		FUZZ_ASSERT(parser->fragment_left_bytes <= parser->record_bytes);
		in += used;
		len -= used;
		if (out->status == RECORD_END) {
			out->records++;
			out->hash = out->hash * 31 + 257;
			FUZZ_ASSERT(record_is_idle(parser));
			continue;
		}
		if (out->status != RECORD_BODY || len == 0)
			return;
		FUZZ_ASSERT(parser->fragment_left_bytes > 0 && !record_is_idle(parser));
		while (parser->fragment_left_bytes > 0 && len > 0) {
			out->hash = out->hash * 31 + *in++;
			len--;
			out->body_bytes++;
			record_consume(parser, 1);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_parser whole, cut;
	struct outcome at_once = {0}, in_parts = {0};

	if (size < 1)
		return 0;
	record_parser_init(&whole, MAX_BYTES);
	record_parser_init(&cut, MAX_BYTES);
	feed(&whole, data + 1, size - 1, &at_once);
	for (size_t at = 1, step; at < size; at += step) {
		step = 1 + (data[0] ^ at * 7) % 13;
		if (step > size - at)
			step = size - at;
		feed(&cut, data + at, step, &in_parts);
	}
	FUZZ_ASSERT(size == 1 || at_once.status == in_parts.status);
	FUZZ_ASSERT(at_once.records == in_parts.records);
	FUZZ_ASSERT(at_once.body_bytes == in_parts.body_bytes && at_once.hash == in_parts.hash);
	FUZZ_ASSERT(record_is_idle(&whole) == record_is_idle(&cut));
	return 0;
}

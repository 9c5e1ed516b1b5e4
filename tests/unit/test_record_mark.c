// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests record marking: the same records result wherever the input is cut, and every limit holds.
 */
#include "rpc/record_mark.h"
#include "tests/lib/test.h"

#include <string.h>

#define MAX_BYTES 4096

static struct record_parser parser;
static uint8_t message[2 * MAX_BYTES]; /* of all records */
static size_t message_bytes;
static size_t records_bytes; /* of those that have ended */
static unsigned records;

static void setup(void)
{
	record_parser_init(&parser, MAX_BYTES);
	message_bytes = records_bytes = 0;
	records = 0;
}

/* Puts a fragment of @len copies of @fill at @to; returns where the next one goes. */
static uint8_t *put_fragment(uint8_t *to, bool last, uint32_t len, uint8_t fill)
{
	record_mark_encode(to, len);
	if (!last)
		to[0] &= 0x7f;
	memset(to + RECORD_MARK_BYTES, fill, len);
	return to + RECORD_MARK_BYTES + len;
}

/* Feeds all of @in; returns the status that needs more input, or the failure. */
static enum record_status feed(const uint8_t *in, size_t len)
{
	for (;;) {
		size_t used;
		enum record_status status = record_next(&parser, in, len, &used);

		in += used;
		len -= used;
		if (status == RECORD_BODY) {
			uint32_t take = parser.fragment_left_bytes;

			if (len == 0)
				return RECORD_BODY;
			if (take > len)
				take = len;
			memcpy(message + message_bytes, in, take);
			message_bytes += take;
			record_consume(&parser, take);
			in += take;
			len -= take;
		} else if (status == RECORD_END) {
			ck_assert_uint_eq(parser.record_bytes, message_bytes - records_bytes);
			records_bytes = message_bytes;
			records++;
		} else {
			return status;
		}
	}
}

START_TEST(a_mark_is_big_endian_with_the_last_bit)
{
	uint8_t mark[RECORD_MARK_BYTES];

	record_mark_encode(mark, 0x010203);
	ck_assert_mem_eq(mark, "\x80\x01\x02\x03", 4);
	record_mark_encode(mark, RECORD_MAX_FRAGMENT_BYTES);
	ck_assert_mem_eq(mark, "\xff\xff\xff\xff", 4);
}
END_TEST

/* Three fragments, the second empty, then a record of one fragment. */
static size_t two_records(uint8_t *to)
{
	uint8_t *at = put_fragment(to, false, 5, 'a');

	at = put_fragment(at, false, 0, 0);
	at = put_fragment(at, true, 7, 'b');
	at = put_fragment(at, true, 3, 'c');
	return at - to;
}

START_TEST(every_pair_of_cuts_gives_the_same_records)
{
	uint8_t in[64];
	size_t len = two_records(in);

	for (size_t i = 0; i <= len; i++) {
		for (size_t j = i; j <= len; j++) {
			setup();
			feed(in, i);
			feed(in + i, j - i);
			ck_assert_int_eq(feed(in + j, len - j), RECORD_MORE);
			ck_assert_uint_eq(records, 2);
			ck_assert_uint_eq(message_bytes, 15);
			ck_assert_mem_eq(message, "aaaaabbbbbbbccc", 15);
		}
	}
}
END_TEST

START_TEST(single_bytes_give_the_same_records)
{
	uint8_t in[64];
	size_t len = two_records(in);

	for (size_t i = 0; i < len; i++)
		feed(in + i, 1);
	ck_assert_uint_eq(records, 2);
	ck_assert_mem_eq(message, "aaaaabbbbbbbccc", 15);
}
END_TEST

START_TEST(the_stream_may_end_only_between_records)
{
	uint8_t in[64];
	size_t len = put_fragment(put_fragment(in, false, 5, 'a'), true, 7, 'b') - in;

	ck_assert(record_is_idle(&parser));
	for (size_t i = 0; i + 1 < len; i++) {
		feed(in + i, 1);
		ck_assert(!record_is_idle(&parser));
	}
	feed(in + len - 1, 1);
	ck_assert(record_is_idle(&parser));
	ck_assert_uint_eq(records, 1);
}
END_TEST

START_TEST(an_empty_record_ends_at_once)
{
	uint8_t in[4];

	put_fragment(in, true, 0, 0);
	ck_assert_int_eq(feed(in, 4), RECORD_MORE);
	ck_assert_uint_eq(records, 1);
	ck_assert_uint_eq(parser.record_bytes, 0);
}
END_TEST

START_TEST(a_record_of_the_limit_passes_and_one_byte_more_does_not)
{
	uint8_t mark[RECORD_MARK_BYTES];
	size_t used;

	record_mark_encode(mark, MAX_BYTES);
	ck_assert_int_eq(record_next(&parser, mark, 4, &used), RECORD_BODY);
	ck_assert_uint_eq(parser.fragment_left_bytes, MAX_BYTES);
	setup();
	record_mark_encode(mark, MAX_BYTES + 1);
	ck_assert_int_eq(record_next(&parser, mark, 4, &used), RECORD_TOO_BIG);
	ck_assert_int_eq(record_next(&parser, mark, 4, &used), RECORD_TOO_BIG);
	ck_assert_uint_eq(used, 0);
	setup();
	record_mark_encode(mark, RECORD_MAX_FRAGMENT_BYTES);
	ck_assert_int_eq(record_next(&parser, mark, 4, &used), RECORD_TOO_BIG);
}
END_TEST

/* The limit is on the sum, and is met by the mark alone, before any byte of the fragment. */
START_TEST(the_limit_counts_all_fragments)
{
	static uint8_t in[2 * MAX_BYTES];
	uint8_t *at = put_fragment(in, false, MAX_BYTES - 10, 'a');

	at = put_fragment(at, false, 10, 'b');
	ck_assert_int_eq(feed(in, at - in), RECORD_MORE);
	ck_assert_uint_eq(message_bytes, MAX_BYTES);
	put_fragment(at, true, 1, 'c');
	ck_assert_int_eq(feed(at, RECORD_MARK_BYTES), RECORD_TOO_BIG);
	setup();
	feed(in, at - in);
	put_fragment(at, true, 0, 0);
	ck_assert_int_eq(feed(at, RECORD_MARK_BYTES), RECORD_MORE);
	ck_assert_uint_eq(records, 1);
}
END_TEST

START_TEST(empty_fragments_are_bounded_in_each_record)
{
	uint8_t in[4];

	for (unsigned record = 0; record < 3; record++) {
		put_fragment(in, false, 0, 0);
		for (unsigned i = 0; i < RECORD_MAX_EMPTY_FRAGMENTS; i++)
			ck_assert_int_eq(feed(in, 4), RECORD_MORE);
		put_fragment(in, true, 0, 0);
		ck_assert_int_eq(feed(in, 4), RECORD_MORE);
	}
	ck_assert_uint_eq(records, 3);
	put_fragment(in, false, 0, 0);
	for (unsigned i = 0; i < RECORD_MAX_EMPTY_FRAGMENTS; i++)
		ck_assert_int_eq(feed(in, 4), RECORD_MORE);
	ck_assert_int_eq(feed(in, 4), RECORD_TOO_EMPTY);
	ck_assert_int_eq(feed(in, 4), RECORD_TOO_EMPTY);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record");
	TCase *tc = tcase_create("record");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_mark_is_big_endian_with_the_last_bit);
	tcase_add_test(tc, every_pair_of_cuts_gives_the_same_records);
	tcase_add_test(tc, single_bytes_give_the_same_records);
	tcase_add_test(tc, the_stream_may_end_only_between_records);
	tcase_add_test(tc, an_empty_record_ends_at_once);
	tcase_add_test(tc, a_record_of_the_limit_passes_and_one_byte_more_does_not);
	tcase_add_test(tc, the_limit_counts_all_fragments);
	tcase_add_test(tc, empty_fragments_are_bounded_in_each_record);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

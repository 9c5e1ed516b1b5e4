// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests reading XDR from pieces: the result is the same wherever the cuts are, holes are never
 * read, and the two kinds of end differ.
 */
#include "rpc/xdr_sg.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define LEN 48u

static uint8_t msg[LEN];
static struct xdr_sg_entry list[LEN + 4];
static struct xdr_sg pieces;

static void setup(void)
{
	for (unsigned i = 0; i < LEN; i++)
		msg[i] = (uint8_t)(i + 1);
	pieces = (struct xdr_sg){.list = list, .len_bytes = LEN};
}

static void teardown(void)
{
	for (unsigned i = 0; i < pieces.count; i++)
		free((void *)list[i].data);
}

/* The next piece of the message, in memory of its own and of its exact size. */
static void add(uint32_t len)
{
	uint32_t at = xdr_sg_have_bytes(&pieces);

	list[pieces.count++] = (struct xdr_sg_entry){exact_copy(msg + at, len), len};
}

static void add_hole(uint32_t len)
{
	list[pieces.count++] = (struct xdr_sg_entry){NULL, len};
}

/* Reads all of the message by words. */
static void read_words(void)
{
	struct xdr_sg_reader reader;
	uint32_t word;

	xdr_sg_reader_init(&reader, &pieces, 0);
	for (uint32_t at = 0; at < LEN; at += 4) {
		ck_assert_uint_eq(xdr_sg_offset(&reader), at);
		ck_assert_uint_eq(xdr_sg_remaining_bytes(&reader), LEN - at);
		ck_assert(xdr_sg_get_u32(&reader, &word));
		ck_assert_uint_eq(word, be32_get(msg + at));
	}
	ck_assert(!xdr_sg_get_u32(&reader, &word));
	ck_assert_int_eq(reader.stop, XDR_SG_END);
}

START_TEST(one_piece_is_read_like_memory)
{
	add(LEN);
	read_words();
}
END_TEST

START_TEST(cuts_make_no_difference)
{
	/* Cut into pieces of _i + 1 bytes, with empty ones and an empty hole between. */
	for (uint32_t left = LEN; left > 0;) {
		uint32_t len = (uint32_t)_i + 1 < left ? (uint32_t)_i + 1 : left;

		add(len);
		left -= len;
	}
	add(0);
	add_hole(0);
	read_words();
}
END_TEST

START_TEST(bytes_are_read_and_passed_from_anywhere_to_anywhere)
{
	add(7);
	add(0);
	add(11);
	add(LEN - 18);
	for (uint32_t from = 0; from <= LEN; from++) {
		for (uint32_t to = from; to <= LEN; to++) {
			struct xdr_sg_reader reader;
			const uint8_t *at;

			xdr_sg_reader_init(&reader, &pieces, 0);
			ck_assert(xdr_sg_skip(&reader, from));
			if (to - from <= XDR_SG_MAX_READ_BYTES) {
				at = xdr_sg_get_bytes(&reader, to - from);
				ck_assert(at && !memcmp(at, msg + from, to - from));
			} else {
				ck_assert(xdr_sg_skip(&reader, to - from));
			}
			ck_assert_uint_eq(xdr_sg_offset(&reader), to);
			xdr_sg_reader_init(&reader, &pieces, to);
			ck_assert_uint_eq(xdr_sg_offset(&reader), to);
			if (to < LEN) {
				at = xdr_sg_get_bytes(&reader, 1);
				ck_assert(at && *at == msg[to]);
			}
		}
	}
}
END_TEST

START_TEST(a_hole_is_passed_but_not_read)
{
	struct xdr_sg_reader reader;
	uint32_t word;

	add(8);
	add_hole(10);
	add_hole(6);
	add(LEN - 24);
	xdr_sg_reader_init(&reader, &pieces, 4);
	ck_assert(xdr_sg_get_u32(&reader, &word));
	ck_assert(xdr_sg_skip(&reader, 16));
	ck_assert(xdr_sg_get_u32(&reader, &word));
	ck_assert_uint_eq(word, be32_get(msg + 24));
	/* Every word that touches it. */
	for (uint32_t at = 5; at < 24; at++) {
		xdr_sg_reader_init(&reader, &pieces, at);
		ck_assert(!xdr_sg_get_u32(&reader, &word));
		ck_assert_int_eq(reader.stop, XDR_SG_HOLE);
	}
}
END_TEST

START_TEST(missing_bytes_can_be_skipped_but_not_read)
{
	struct xdr_sg_reader reader;
	uint32_t word;

	add(20);
	ck_assert_uint_eq(xdr_sg_have_bytes(&pieces), 20);
	xdr_sg_reader_init(&reader, &pieces, 0);
	ck_assert(xdr_sg_skip(&reader, LEN));
	ck_assert_uint_eq(xdr_sg_offset(&reader), LEN);
	for (uint32_t at = 17; at <= LEN - 4; at++) {
		xdr_sg_reader_init(&reader, &pieces, at);
		ck_assert(!xdr_sg_get_u32(&reader, &word));
		ck_assert_int_eq(reader.stop, XDR_SG_MISSING);
		ck_assert_uint_eq(reader.want_bytes, at + 4);
	}
	/* A hole at the end is included; the bytes after it are not. */
	add_hole(8);
	xdr_sg_reader_init(&reader, &pieces, 24);
	ck_assert(!xdr_sg_get_u32(&reader, &word));
	ck_assert_int_eq(reader.stop, XDR_SG_HOLE);
	xdr_sg_reader_init(&reader, &pieces, 28);
	ck_assert(!xdr_sg_get_u32(&reader, &word));
	ck_assert_int_eq(reader.stop, XDR_SG_MISSING);
}
END_TEST

START_TEST(nothing_is_read_or_passed_behind_the_message)
{
	struct xdr_sg_reader reader;
	uint32_t word;

	add(20);
	add_hole(LEN - 20);
	for (uint32_t at = LEN - 3; at <= LEN; at++) {
		xdr_sg_reader_init(&reader, &pieces, at);
		ck_assert(!xdr_sg_get_u32(&reader, &word));
		ck_assert_int_eq(reader.stop, XDR_SG_END);
	}
	xdr_sg_reader_init(&reader, &pieces, 8);
	ck_assert(!xdr_sg_skip(&reader, LEN - 7));
	ck_assert_int_eq(reader.stop, XDR_SG_END);
	xdr_sg_reader_init(&reader, &pieces, 8);
	ck_assert(!xdr_sg_skip(&reader, UINT64_MAX));
	/* Pieces that say more than the message has are not believed. */
	pieces.len_bytes = 10;
	ck_assert_uint_eq(xdr_sg_have_bytes(&pieces), 10);
	xdr_sg_reader_init(&reader, &pieces, 8);
	ck_assert(!xdr_sg_get_u32(&reader, &word));
	ck_assert_int_eq(reader.stop, XDR_SG_END);
	xdr_sg_reader_init(&reader, &pieces, 10);
	ck_assert(!xdr_sg_get_bytes(&reader, 1));
	ck_assert_int_eq(reader.stop, XDR_SG_END);
}
END_TEST

START_TEST(counts_are_held_against_the_whole_message)
{
	struct xdr_sg_reader reader;
	uint32_t count;

	be32_put(msg, 11);
	add(4);
	xdr_sg_reader_init(&reader, &pieces, 0);
	ck_assert(xdr_sg_get_count(&reader, 11, 4, &count));
	ck_assert_uint_eq(count, 11);
	xdr_sg_reader_init(&reader, &pieces, 0);
	ck_assert(!xdr_sg_get_count(&reader, 10, 4, &count));
	/* A value that is wrong is no matter of bytes that are missing. */
	ck_assert_int_eq(reader.stop, XDR_SG_OK);
	xdr_sg_reader_init(&reader, &pieces, 0);
	ck_assert(!xdr_sg_get_count(&reader, 11, 5, &count));
	ck_assert_int_eq(reader.stop, XDR_SG_OK);
}
END_TEST

START_TEST(opaques_are_passed_with_their_padding)
{
	struct xdr_sg_reader reader;
	uint32_t len;

	be32_put(msg, 5);
	add(4);
	xdr_sg_reader_init(&reader, &pieces, 0);
	ck_assert(xdr_sg_skip_opaque(&reader, 5, &len));
	ck_assert_uint_eq(len, 5);
	ck_assert_uint_eq(xdr_sg_offset(&reader), 12);
	xdr_sg_reader_init(&reader, &pieces, 0);
	ck_assert(!xdr_sg_skip_opaque(&reader, 4, &len));
	/* As long as can be. */
	memset(msg, 0xff, 4);
	xdr_sg_reader_init_flat(&reader, msg, LEN);
	ck_assert(!xdr_sg_skip_opaque(&reader, UINT32_MAX, &len));
}
END_TEST

START_TEST(a_boolean_is_zero_or_one)
{
	struct xdr_sg_reader reader;
	bool value = true;

	for (uint32_t word = 0; word < 3; word++) {
		be32_put(msg, word);
		xdr_sg_reader_init_flat(&reader, msg, 4);
		ck_assert(xdr_sg_get_bool(&reader, &value) == (word < 2));
		if (word < 2)
			ck_assert(value == (word == 1));
	}
	be32_put(msg, 0x01000000);
	xdr_sg_reader_init_flat(&reader, msg, 4);
	ck_assert(!xdr_sg_get_bool(&reader, &value));
}
END_TEST

START_TEST(a_message_of_nothing_can_be_read_to_its_end)
{
	struct xdr_sg_reader reader;

	xdr_sg_reader_init_flat(&reader, NULL, 0);
	ck_assert_uint_eq(xdr_sg_offset(&reader), 0);
	ck_assert(xdr_sg_skip(&reader, 0));
	ck_assert(xdr_sg_get_bytes(&reader, 0));
	ck_assert(!xdr_sg_get_bytes(&reader, 1));
	pieces.len_bytes = 0;
	xdr_sg_reader_init(&reader, &pieces, 0);
	ck_assert(xdr_sg_skip(&reader, 0));
	ck_assert(!xdr_sg_skip(&reader, 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pieces");
	TCase *tc = tcase_create("pieces");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, one_piece_is_read_like_memory);
	tcase_add_loop_test(tc, cuts_make_no_difference, 0, (int)LEN);
	tcase_add_test(tc, bytes_are_read_and_passed_from_anywhere_to_anywhere);
	tcase_add_test(tc, a_hole_is_passed_but_not_read);
	tcase_add_test(tc, missing_bytes_can_be_skipped_but_not_read);
	tcase_add_test(tc, nothing_is_read_or_passed_behind_the_message);
	tcase_add_test(tc, counts_are_held_against_the_whole_message);
	tcase_add_test(tc, opaques_are_passed_with_their_padding);
	tcase_add_test(tc, a_boolean_is_zero_or_one);
	tcase_add_test(tc, a_message_of_nothing_can_be_read_to_its_end);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

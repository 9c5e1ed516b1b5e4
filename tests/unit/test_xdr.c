// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests that the XDR reader reads whole items or nothing, and that a failure of the writer is
 * permanent.
 */
#include "rpc/xdr.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/hex.h"
#include "tests/lib/test.h"

static uint8_t bytes[256];
static struct xdr_reader reader;
static struct xdr_writer writer;

static void read_hex(const char *hex)
{
	xdr_reader_init(&reader, bytes, hex_bytes(hex, bytes, sizeof(bytes)));
}

static void expect_written(const char *hex)
{
	uint8_t expected[256];
	size_t len = hex_bytes(hex, expected, sizeof(expected));

	ck_assert_uint_eq(xdr_written_bytes(&writer), len);
	ck_assert_mem_eq(bytes, expected, len);
}

START_TEST(padding_rounds_up_to_four_without_wrapping)
{
	ck_assert_uint_eq(xdr_padded_bytes(0), 0);
	ck_assert_uint_eq(xdr_padded_bytes(1), 4);
	ck_assert_uint_eq(xdr_padded_bytes(4), 4);
	ck_assert_uint_eq(xdr_padded_bytes(5), 8);
	ck_assert_uint_eq(xdr_padded_bytes(UINT32_MAX), 0x100000000);
}
END_TEST

START_TEST(words_are_big_endian_wherever_they_lie)
{
	uint32_t word;
	uint64_t wide;

	read_hex("ff 01020304 1112131415161718");
	ck_assert(xdr_skip(&reader, 1));
	ck_assert(xdr_get_u32(&reader, &word));
	ck_assert_uint_eq(word, 0x01020304);
	ck_assert(xdr_get_u64(&reader, &wide));
	ck_assert_uint_eq(wide, 0x1112131415161718);
	ck_assert_uint_eq(xdr_remaining_bytes(&reader), 0);
	ck_assert_uint_eq(xdr_position_bytes(&reader), 13);
}
END_TEST

START_TEST(a_read_that_fails_moves_and_sets_nothing)
{
	const uint8_t *data = bytes;
	uint32_t word = 42;
	uint64_t wide = 42;
	bool flag = true;

	for (size_t len = 0; len < 4; len++) {
		xdr_reader_init(&reader, bytes, len);
		ck_assert(!xdr_get_u32(&reader, &word));
		ck_assert(!xdr_get_bool(&reader, &flag));
		ck_assert(!xdr_get_opaque(&reader, UINT32_MAX, &data, &word));
		ck_assert(!xdr_skip_opaque(&reader, UINT32_MAX));
		ck_assert(!xdr_get_count(&reader, UINT32_MAX, 0, &word));
		ck_assert(!xdr_get_fixed(&reader, 1, &data));
		ck_assert(!xdr_skip(&reader, len + 1));
		ck_assert_uint_eq(xdr_position_bytes(&reader), 0);
	}
	for (size_t len = 4; len < 8; len++) {
		xdr_reader_init(&reader, bytes, len);
		ck_assert(!xdr_get_u64(&reader, &wide));
		ck_assert_uint_eq(xdr_position_bytes(&reader), 0);
	}
	ck_assert_uint_eq(word, 42);
	ck_assert_uint_eq(wide, 42);
	ck_assert(flag);
	ck_assert_ptr_eq(data, bytes);
}
END_TEST

/* A4.3-1 */
START_TEST(a_bool_is_zero_or_one)
{
	bool flag = false;

	read_hex("00000001 00000000 00000002");
	ck_assert(xdr_get_bool(&reader, &flag));
	ck_assert(flag);
	ck_assert(xdr_get_bool(&reader, &flag));
	ck_assert(!flag);
	ck_assert(!xdr_get_bool(&reader, &flag));
	ck_assert_uint_eq(xdr_position_bytes(&reader), 8);
	read_hex("01000000");
	ck_assert(!xdr_get_bool(&reader, &flag));
}
END_TEST

START_TEST(opaque_data_is_read_with_its_padding)
{
	const uint8_t *data;
	uint32_t len;

	read_hex("00000005 6162636465 ff00ff 00000000 00000004 66676869");
	ck_assert(xdr_get_opaque(&reader, 5, &data, &len));
	ck_assert_uint_eq(len, 5);
	ck_assert_mem_eq(data, "abcde", 5);
	ck_assert_uint_eq(xdr_position_bytes(&reader), 12);
	ck_assert(xdr_get_opaque(&reader, 0, &data, &len));
	ck_assert_uint_eq(len, 0);
	ck_assert(xdr_skip_opaque(&reader, 4));
	ck_assert_uint_eq(xdr_remaining_bytes(&reader), 0);
}
END_TEST

START_TEST(opaque_data_over_its_limit_or_the_end_is_not_read)
{
	static const char *const beyond[] = {
		"00000005 6162636465 0000", "00000005 61626364", "00000001",
		"fffffffd 61626364",        "ffffffff 61626364",
	};
	const uint8_t *data = NULL;
	uint32_t len = 42;

	read_hex("00000005 6162636465 000000");
	ck_assert(!xdr_get_opaque(&reader, 4, &data, &len));
	for (size_t i = 0; i < ARRAY_SIZE(beyond); i++) {
		read_hex(beyond[i]);
		ck_assert(!xdr_get_opaque(&reader, UINT32_MAX, &data, &len));
		ck_assert_uint_eq(xdr_position_bytes(&reader), 0);
	}
	ck_assert_ptr_null(data);
	ck_assert_uint_eq(len, 42);
}
END_TEST

START_TEST(a_count_is_compared_with_its_limit_and_the_remaining_bytes)
{
	uint32_t count = 42;

	read_hex("00000002 00000000 00000000");
	ck_assert(!xdr_get_count(&reader, 1, 4, &count));
	ck_assert(!xdr_get_count(&reader, 2, 5, &count));
	ck_assert_uint_eq(count, 42);
	ck_assert(xdr_get_count(&reader, 2, 4, &count));
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(xdr_position_bytes(&reader), 4);
	read_hex("40000000 00000000");
	ck_assert(!xdr_get_count(&reader, UINT32_MAX, 4, &count));
	ck_assert(xdr_get_count(&reader, UINT32_MAX, 0, &count));
	ck_assert_uint_eq(count, 0x40000000);
}
END_TEST

START_TEST(skipping_further_than_the_end_is_refused)
{
	read_hex("00000000 00000000");
	ck_assert(!xdr_skip(&reader, 9));
	ck_assert(!xdr_skip(&reader, UINT64_MAX));
	ck_assert(xdr_skip(&reader, 8));
	ck_assert(xdr_skip(&reader, 0));
	ck_assert(!xdr_skip(&reader, 1));
}
END_TEST

START_TEST(a_reader_of_nothing_reads_nothing)
{
	const uint8_t *data;
	uint32_t word;

	xdr_reader_init(&reader, NULL, 0);
	ck_assert_uint_eq(xdr_remaining_bytes(&reader), 0);
	ck_assert(!xdr_get_u32(&reader, &word));
	ck_assert(xdr_skip(&reader, 0));
	ck_assert(xdr_get_fixed(&reader, 0, &data));
}
END_TEST

START_TEST(values_are_encoded_to_these_bytes)
{
	memset(bytes, 0xa5, sizeof(bytes));
	xdr_writer_init(&writer, bytes, sizeof(bytes));
	xdr_put_u32(&writer, 0x01020304);
	xdr_put_u64(&writer, 0x1112131415161718);
	xdr_put_bool(&writer, true);
	xdr_put_bool(&writer, false);
	xdr_put_opaque(&writer, (const uint8_t *)"abcde", 5);
	xdr_put_fixed(&writer, (const uint8_t *)"xy", 2);
	xdr_put_opaque(&writer, NULL, 0);
	expect_written("01020304 1112131415161718 00000001 00000000 00000005 6162636465 000000"
		       "78790000 00000000");
	ck_assert_uint_eq(bytes[40], 0xa5);
}
END_TEST

START_TEST(a_write_that_does_not_fit_fails_all_that_follow)
{
	memset(bytes, 0xa5, sizeof(bytes));
	xdr_writer_init(&writer, bytes, 10);
	xdr_put_u32(&writer, 1);
	xdr_put_u64(&writer, 2);
	ck_assert(writer.failed);
	xdr_put_u32(&writer, 3);
	ck_assert_ptr_null(xdr_reserve(&writer, 0));
	ck_assert_uint_eq(xdr_written_bytes(&writer), 0);
	for (size_t i = 4; i < sizeof(bytes); i++)
		ck_assert_uint_eq(bytes[i], 0xa5);
}
END_TEST

START_TEST(opaque_data_is_written_whole_or_not_at_all)
{
	for (size_t room = 0; room < 12; room++) {
		memset(bytes, 0xa5, sizeof(bytes));
		xdr_writer_init(&writer, bytes, room);
		xdr_put_opaque(&writer, (const uint8_t *)"abcde", 5);
		ck_assert_uint_eq(xdr_written_bytes(&writer), 0);
		for (size_t i = 0; i < sizeof(bytes); i++)
			ck_assert_uint_eq(bytes[i], 0xa5);
	}
	xdr_writer_init(&writer, bytes, 12);
	xdr_put_opaque(&writer, (const uint8_t *)"abcde", 5);
	expect_written("00000005 6162636465 000000");
}
END_TEST

START_TEST(reserved_room_is_the_callers_to_fill)
{
	uint8_t *room;

	xdr_writer_init(&writer, bytes, 8);
	room = xdr_reserve(&writer, 4);
	ck_assert_ptr_eq(room, bytes);
	xdr_put_u32(&writer, 2);
	be32_put(room, 1);
	expect_written("00000001 00000002");
	ck_assert_ptr_null(xdr_reserve(&writer, UINT64_MAX));
	ck_assert(writer.failed);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("xdr");
	TCase *tc = tcase_create("xdr");

	tcase_add_test(tc, padding_rounds_up_to_four_without_wrapping);
	tcase_add_test(tc, words_are_big_endian_wherever_they_lie);
	tcase_add_test(tc, a_read_that_fails_moves_and_sets_nothing);
	tcase_add_test(tc, a_bool_is_zero_or_one);
	tcase_add_test(tc, opaque_data_is_read_with_its_padding);
	tcase_add_test(tc, opaque_data_over_its_limit_or_the_end_is_not_read);
	tcase_add_test(tc, a_count_is_compared_with_its_limit_and_the_remaining_bytes);
	tcase_add_test(tc, skipping_further_than_the_end_is_refused);
	tcase_add_test(tc, a_reader_of_nothing_reads_nothing);
	tcase_add_test(tc, values_are_encoded_to_these_bytes);
	tcase_add_test(tc, a_write_that_does_not_fit_fails_all_that_follow);
	tcase_add_test(tc, opaque_data_is_written_whole_or_not_at_all);
	tcase_add_test(tc, reserved_room_is_the_callers_to_fill);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

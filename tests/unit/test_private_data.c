// SPDX-License-Identifier: BSD-3-Clause
/* Tests CM private data: conforming data are accepted, other data are ignored. */
#include "rpcrdma/private_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

static struct rpcrdma_private_data pd;

static bool decode(const char *hex)
{
	uint8_t data[256];
	size_t len = hex_bytes(hex, data, sizeof(data));
	uint8_t *copy = exact_copy(data, len);
	bool conforms;

	memset(&pd, 0xa5, sizeof(pd));
	conforms = rpcrdma_private_data_decode(copy, len, &pd);
	free(copy);
	return conforms;
}

static void expect(bool remote_invalidation, uint32_t send_bytes, uint32_t recv_bytes)
{
	ck_assert_int_eq(pd.remote_invalidation, remote_invalidation);
	ck_assert_uint_eq(pd.send_bytes, send_bytes);
	ck_assert_uint_eq(pd.recv_bytes, recv_bytes);
}

/* C4.1.1-1 */
static void expect_defaults(const char *hex)
{
	ck_assert(!decode(hex));
	expect(false, 1024, 1024);
}

/* C4-4, C5.2-1 */
START_TEST(sizes_are_units_of_1024_less_one)
{
	ck_assert(decode("f6ab0e18 01 00 00 03"));
	expect(false, 1024, 4096);
	ck_assert(decode("f6ab0e18 01 00 03 00"));
	expect(false, 4096, 1024);
	ck_assert(decode("f6ab0e18 01 00 ff ff"));
	expect(false, 262144, 262144);
}
END_TEST

/* C5.1-1 */
START_TEST(the_lowest_flag_offers_remote_invalidation)
{
	ck_assert(decode("f6ab0e18 01 01 03 03"));
	expect(true, 4096, 4096);
}
END_TEST

/* C5.1-2 */
START_TEST(reserved_flags_are_ignored)
{
	ck_assert(decode("f6ab0e18 01 fe 03 03"));
	expect(false, 4096, 4096);
	ck_assert(decode("f6ab0e18 01 ff 03 03"));
	expect(true, 4096, 4096);
}
END_TEST

/* C4.1.2-1 */
START_TEST(another_identifier_counts_as_nothing)
{
	expect_defaults("f6ab0e19 01 01 03 03");
	expect_defaults("180eabf6 01 01 03 03");
	expect_defaults("00000000 00 00 00 00");
}
END_TEST

/* C4.1.2-1: data of a library or of another layer stand before it, at any offset */
START_TEST(the_identifier_is_found_behind_other_data)
{
	uint8_t data[256];

	for (size_t at = 1; at + RPCRDMA_PRIVATE_DATA_BYTES <= sizeof(data); at++) {
		uint8_t *copy;

		memset(data, 0x5a, sizeof(data));
		hex_bytes("f6ab0e18 01 01 07 03", data + at, RPCRDMA_PRIVATE_DATA_BYTES);
		copy = exact_copy(data, at + RPCRDMA_PRIVATE_DATA_BYTES);
		memset(&pd, 0xa5, sizeof(pd));
		ck_assert(rpcrdma_private_data_decode(copy, at + RPCRDMA_PRIVATE_DATA_BYTES, &pd));
		expect(true, 8192, 4096);
		free(copy);
		ck_assert(rpcrdma_private_data_decode(data, sizeof(data), &pd));
		expect(true, 8192, 4096);
	}
}
END_TEST

/* C4.1.2-1 */
START_TEST(behind_other_data_all_eight_octets_of_version_one_are_needed)
{
	expect_defaults("00 f6ab0e18 01 01 03");
	expect_defaults("00000000 f6ab0e18 02 01 03 03");
	expect_defaults("00000000 f6ab0e19 01 01 03 03");
	expect_defaults("00000000 f6ab0e18 00 01 03 03 f6ab0e18 01 01 03");
	ck_assert(decode("00000000 f6ab0e18 02 01 03 03 f6ab0e18 01 00 01 03"));
	expect(false, 2048, 4096);
	/* The octets before it look as if they began another. */
	ck_assert(decode("f6ab0e f6ab0e18 01 01 03 03"));
	expect(true, 4096, 4096);
	ck_assert(decode("f6f6ab0e18 01 01 03 03 f6ab0e18 01 00 00 00"));
	expect(true, 4096, 4096);
}
END_TEST

/* C4.1.2-1: what begins with the identifier is what the peer says, in whatever version, and what follows is not looked at */
START_TEST(the_identifier_at_offset_zero_wins)
{
	ck_assert(decode("f6ab0e18 01 00 00 01 f6ab0e18 01 01 ff ff"));
	expect(false, 1024, 2048);
	expect_defaults("f6ab0e18 02 01 03 03 f6ab0e18 01 01 ff ff");
}
END_TEST

/* C4-6 */
START_TEST(another_version_counts_as_nothing)
{
	expect_defaults("f6ab0e18 00 01 03 03");
	expect_defaults("f6ab0e18 02 01 03 03");
}
END_TEST

/* C4-3, C4-6; a rejection carries no data */
START_TEST(less_than_eight_octets_count_as_nothing)
{
	uint8_t data[8];

	hex_bytes("f6ab0e18 01 01 03 03", data, sizeof(data));
	for (size_t len = 0; len < sizeof(data); len++) {
		uint8_t *copy = exact_copy(data, len);

		memset(&pd, 0xa5, sizeof(pd));
		ck_assert(!rpcrdma_private_data_decode(copy, len, &pd));
		expect(false, 1024, 1024);
		free(copy);
	}
	ck_assert(!rpcrdma_private_data_decode(NULL, 0, &pd));
	expect(false, 1024, 1024);
}
END_TEST

/* C4-5, C5-1: InfiniBand pads to 56 octets, a later version appends */
START_TEST(bytes_after_eight_octets_are_ignored)
{
	uint8_t data[56] = {0};

	hex_bytes("f6ab0e18 01 01 07 03", data, 8);
	ck_assert(rpcrdma_private_data_decode(data, sizeof(data), &pd));
	expect(true, 8192, 4096);
	memset(data + 8, 0xff, sizeof(data) - 8);
	ck_assert(rpcrdma_private_data_decode(data, sizeof(data), &pd));
	expect(true, 8192, 4096);
}
END_TEST

static void expect_encoded(uint32_t send_bytes, uint32_t recv_bytes, bool remote_invalidation,
			   const char *hex)
{
	struct rpcrdma_private_data said = {remote_invalidation, send_bytes, recv_bytes};
	uint8_t expected[8], got[8];

	hex_bytes(hex, expected, sizeof(expected));
	rpcrdma_private_data_encode(&said, got);
	ck_assert_mem_eq(got, expected, sizeof(got));
}

START_TEST(encoding_gives_the_golden_bytes)
{
	expect_encoded(4096, 8192, true, "f6ab0e18 01 01 03 07");
	expect_encoded(1024, 262144, false, "f6ab0e18 01 00 00 ff");
}
END_TEST

/* C5.2-1: never more than what is posted */
START_TEST(sizes_round_down_and_stay_in_their_range)
{
	expect_encoded(4095, 4097, false, "f6ab0e18 01 00 02 03");
	expect_encoded(0, 1023, false, "f6ab0e18 01 00 00 00");
	expect_encoded(262145, 263168, false, "f6ab0e18 01 00 ff ff");
	expect_encoded(UINT32_MAX, UINT32_MAX, false, "f6ab0e18 01 00 ff ff");
}
END_TEST

START_TEST(every_size_and_flag_survives_both_ways)
{
	for (uint32_t kib = 1; kib <= 256; kib++) {
		struct rpcrdma_private_data said = {kib % 2, kib * 1024, (257 - kib) * 1024};
		uint8_t bytes[RPCRDMA_PRIVATE_DATA_BYTES];

		rpcrdma_private_data_encode(&said, bytes);
		ck_assert(rpcrdma_private_data_decode(bytes, sizeof(bytes), &pd));
		expect(kib % 2, kib * 1024, (257 - kib) * 1024);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("private_data");
	TCase *tc = tcase_create("private_data");

	tcase_add_test(tc, sizes_are_units_of_1024_less_one);
	tcase_add_test(tc, the_lowest_flag_offers_remote_invalidation);
	tcase_add_test(tc, reserved_flags_are_ignored);
	tcase_add_test(tc, another_identifier_counts_as_nothing);
	tcase_add_test(tc, the_identifier_is_found_behind_other_data);
	tcase_add_test(tc, behind_other_data_all_eight_octets_of_version_one_are_needed);
	tcase_add_test(tc, the_identifier_at_offset_zero_wins);
	tcase_add_test(tc, another_version_counts_as_nothing);
	tcase_add_test(tc, less_than_eight_octets_count_as_nothing);
	tcase_add_test(tc, bytes_after_eight_octets_are_ignored);
	tcase_add_test(tc, encoding_gives_the_golden_bytes);
	tcase_add_test(tc, sizes_round_down_and_stay_in_their_range);
	tcase_add_test(tc, every_size_and_flag_survives_both_ways);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

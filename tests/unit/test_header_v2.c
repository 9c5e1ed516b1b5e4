// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the parts of the transport header that only version two has: reserved types, errors of one
 * word, RDMA_OPTIONAL.
 */
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/header.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define SEND_BYTES    128u
#define OPTIONAL_HEAD 24u /* fixed words, type and length */

static struct rpcrdma_header hdr;
static uint8_t send_buf[SEND_BYTES];

/* The fixed words, and bytes behind them that are no zeros. */
static void begin(uint32_t vers, uint32_t proc)
{
	memset(send_buf, 0xa5, sizeof(send_buf));
	be32_put(send_buf, 0x01020304);
	be32_put(send_buf + 4, vers);
	be32_put(send_buf + 8, 7);
	be32_put(send_buf + 12, proc);
}

/* Of the first @len bytes; the decoded value must not be read after this. */
static enum rpcrdma_verdict verdict_of(size_t len)
{
	uint8_t *copy = exact_copy(send_buf, len);
	enum rpcrdma_verdict verdict;

	memset(&hdr, 0x5a, sizeof(hdr));
	verdict = rpcrdma_header_decode(copy, len, &hdr);
	free(copy);
	return verdict;
}

static void expect_fixed_words(uint32_t proc)
{
	ck_assert_uint_eq(hdr.xid, 0x01020304);
	ck_assert_uint_eq(hdr.vers, RPCRDMA_VERSION_TWO);
	ck_assert_uint_eq(hdr.credit, 7);
	ck_assert_uint_eq(hdr.proc, proc);
	ck_assert_uint_eq(hdr.nreads + hdr.nwrites + hdr.nsegments, 0);
	ck_assert(!hdr.has_reply_chunk);
}

/* */
START_TEST(a_send_shorter_than_its_type_always_is_is_short)
{
	static const struct {
		enum rpcrdma_proc proc;
		size_t least_bytes;
	} types[] = {
		{RPCRDMA_MSG, 28},  {RPCRDMA_NOMSG, 28}, {RPCRDMA_MSGP, 16},
		{RPCRDMA_DONE, 16}, {RPCRDMA_ERROR, 20}, {RPCRDMA_OPTIONAL, 24},
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		begin(RPCRDMA_VERSION_TWO, types[i].proc);
		for (size_t len = 0; len < types[i].least_bytes; len++)
			ck_assert_int_eq(verdict_of(len), RPCRDMA_SHORT);
		ck_assert_int_ne(verdict_of(types[i].least_bytes), RPCRDMA_SHORT);
		expect_fixed_words(types[i].proc);
	}
}
END_TEST

/* E4.2-5 */
START_TEST(reserved_types_are_distinguished_from_unknown_ones_and_do_not_encode)
{
	static const struct {
		uint32_t proc;
		enum rpcrdma_verdict verdict;
	} types[] = {
		{RPCRDMA_MSGP, RPCRDMA_RESERVED},
		{RPCRDMA_DONE, RPCRDMA_RESERVED},
		{6, RPCRDMA_BAD_PROC},
		{7, RPCRDMA_BAD_PROC},
		{0x100, RPCRDMA_BAD_PROC},
		{0x01000000, RPCRDMA_BAD_PROC},
		{0x80000005, RPCRDMA_BAD_PROC},
		{UINT32_MAX, RPCRDMA_BAD_PROC},
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		begin(RPCRDMA_VERSION_TWO, types[i].proc);
		for (size_t len = RPCRDMA_FIXED_BYTES; len <= SEND_BYTES; len++) {
			ck_assert_int_eq(verdict_of(len), types[i].verdict);
			expect_fixed_words(types[i].proc);
		}
		ck_assert_uint_eq(rpcrdma_header_encode(&hdr, send_buf, sizeof(send_buf)), 0);
		ck_assert_uint_eq(rpcrdma_header_bytes(&hdr), 0);
	}
}
END_TEST

START_TEST(optional_is_no_type_of_version_one)
{
	begin(RPCRDMA_VERSION_ONE, RPCRDMA_OPTIONAL);
	be32_put(send_buf + 16, 1);
	be32_put(send_buf + 20, 0);
	ck_assert_int_eq(verdict_of(RPCRDMA_MIN_HDR_BYTES), RPCRDMA_BAD_PROC);
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, send_buf, sizeof(send_buf)), 0);
	ck_assert_uint_eq(rpcrdma_header_bytes(&hdr), 0);
}
END_TEST

/* E4.2-6 */
START_TEST(an_error_carries_nothing_but_its_code)
{
	static const uint32_t codes[] = {0, 2, 3, 4, 9, 0x01000000, UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		uint8_t encoded[SEND_BYTES];

		begin(RPCRDMA_VERSION_TWO, RPCRDMA_ERROR);
		be32_put(send_buf + 16, codes[i]);
		for (size_t len = 20; len <= SEND_BYTES; len++) {
			ck_assert_int_eq(verdict_of(len), RPCRDMA_OK);
			expect_fixed_words(RPCRDMA_ERROR);
			ck_assert_uint_eq(hdr.error, codes[i]);
			ck_assert_uint_eq(hdr.vers_low, 0);
			ck_assert_uint_eq(hdr.vers_high, 0);
			ck_assert_uint_eq(hdr.body_offset, 20);
		}
		ck_assert_uint_eq(rpcrdma_header_bytes(&hdr), 20);
		ck_assert_uint_eq(rpcrdma_header_encode(&hdr, encoded, sizeof(encoded)), 20);
		ck_assert_mem_eq(encoded, send_buf, 20);
	}
}
END_TEST

START_TEST(err_vers_has_its_range_in_version_two_as_in_any)
{
	begin(RPCRDMA_VERSION_TWO, RPCRDMA_ERROR);
	be32_put(send_buf + 16, RPCRDMA_ERR_VERS);
	for (size_t len = 20; len < 28; len++)
		ck_assert_int_eq(verdict_of(len), RPCRDMA_SHORT);
	ck_assert_int_eq(verdict_of(28), RPCRDMA_OK);
	ck_assert_uint_eq(hdr.vers_low, 0xa5a5a5a5);
	ck_assert_uint_eq(hdr.vers_high, 0xa5a5a5a5);
	ck_assert_uint_eq(rpcrdma_header_bytes(&hdr), 28);
}
END_TEST

/* of any length, with the bytes that there are, whole units of them or not */
START_TEST(an_operation_is_as_long_as_it_says_or_bad)
{
	static const uint32_t lengths[] = {
		0,          1,          2,          3,          4,          5,          8,
		9,          63,         64,         65,         99,         100,        101,
		104,        105,        0x10000,    0x10001,    0x7fffffff, 0x80000000, 0x80000001,
		0xffffffe8, 0xfffffffc, 0xfffffffd, 0xfffffffe, 0xffffffff,
	};

	begin(RPCRDMA_VERSION_TWO, RPCRDMA_OPTIONAL);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		be32_put(send_buf + 20, lengths[i]);
		for (size_t len = OPTIONAL_HEAD; len <= SEND_BYTES; len++) {
			uint64_t whole = OPTIONAL_HEAD + xdr_padded_bytes(lengths[i]);

			ck_assert_int_eq(verdict_of(len),
					 len < whole ? RPCRDMA_BAD_OPTION : RPCRDMA_OK);
			expect_fixed_words(RPCRDMA_OPTIONAL);
			if (len < whole)
				continue;
			ck_assert_uint_eq(hdr.opttype, 0xa5a5a5a5);
			ck_assert_uint_eq(hdr.optinfo_bytes, lengths[i]);
			ck_assert_uint_eq(hdr.body_offset, whole);
		}
	}
}
END_TEST

/* As long as the largest Send that anybody here receives, and more: what holds it is the Send alone. */
START_TEST(a_long_operation_is_taken)
{
	const uint32_t bytes = 1 << 20;
	uint8_t *large = calloc(1, OPTIONAL_HEAD + (size_t)bytes);

	ck_assert_ptr_nonnull(large);
	begin(RPCRDMA_VERSION_TWO, RPCRDMA_OPTIONAL);
	be32_put(send_buf + 20, bytes);
	memcpy(large, send_buf, OPTIONAL_HEAD);
	ck_assert_int_eq(rpcrdma_header_decode(large, OPTIONAL_HEAD + bytes - 1, &hdr),
			 RPCRDMA_BAD_OPTION);
	ck_assert_int_eq(rpcrdma_header_decode(large, OPTIONAL_HEAD + bytes, &hdr), RPCRDMA_OK);
	ck_assert_uint_eq(hdr.optinfo_bytes, bytes);
	free(large);
}
END_TEST

START_TEST(an_operation_lies_where_it_came)
{
	begin(RPCRDMA_VERSION_TWO, RPCRDMA_OPTIONAL);
	be32_put(send_buf + 20, 13);
	ck_assert_int_eq(rpcrdma_header_decode(send_buf, SEND_BYTES, &hdr), RPCRDMA_OK);
	ck_assert_ptr_eq(hdr.optinfo, send_buf + OPTIONAL_HEAD);
}
END_TEST

START_TEST(a_header_encodes_to_as_many_bytes_as_it_is_said_to_be)
{
	static uint8_t info[64]; /* hdr outlives this function */
	uint8_t encoded[SEND_BYTES];

	memset(info, 0xee, sizeof(info));
	rpcrdma_header_init(&hdr, 1, RPCRDMA_VERSION_TWO, 2, RPCRDMA_OPTIONAL);
	hdr.opttype = 3;
	hdr.optinfo = info;
	for (uint32_t bytes = 0; bytes <= sizeof(info); bytes++) {
		size_t len = OPTIONAL_HEAD + (bytes + 3) / 4 * 4;

		hdr.optinfo_bytes = bytes;
		ck_assert_uint_eq(rpcrdma_header_bytes(&hdr), len);
		for (size_t room = 0; room < len; room++)
			ck_assert_uint_eq(rpcrdma_header_encode(&hdr, encoded, room), 0);
		memset(encoded, 0xa5, sizeof(encoded));
		ck_assert_uint_eq(rpcrdma_header_encode(&hdr, encoded, len), len);
		ck_assert_mem_eq(encoded + OPTIONAL_HEAD, info, bytes);
		for (size_t at = OPTIONAL_HEAD + bytes; at < len; at++)
			ck_assert_uint_eq(encoded[at], 0);
		ck_assert_uint_eq(encoded[len], 0xa5);
	}
}
END_TEST

START_TEST(an_operation_of_any_length_that_does_not_fit_is_not_read)
{
	static const uint32_t lengths[] = {0x10000, 0x80000000, 0xfffffffc, 0xfffffffd, 0xffffffff};
	uint8_t encoded[SEND_BYTES], *none = exact_copy(NULL, 0);

	rpcrdma_header_init(&hdr, 1, RPCRDMA_VERSION_TWO, 2, RPCRDMA_OPTIONAL);
	hdr.optinfo = none;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		hdr.optinfo_bytes = lengths[i];
		ck_assert_uint_eq(rpcrdma_header_encode(&hdr, encoded, sizeof(encoded)), 0);
		ck_assert_uint_eq(rpcrdma_header_bytes(&hdr),
				  OPTIONAL_HEAD + ((uint64_t)lengths[i] + 3) / 4 * 4);
	}
	free(none);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("header_v2");
	TCase *tc = tcase_create("header_v2");

	tcase_add_test(tc, a_send_shorter_than_its_type_always_is_is_short);
	tcase_add_test(tc, reserved_types_are_distinguished_from_unknown_ones_and_do_not_encode);
	tcase_add_test(tc, optional_is_no_type_of_version_one);
	tcase_add_test(tc, an_error_carries_nothing_but_its_code);
	tcase_add_test(tc, err_vers_has_its_range_in_version_two_as_in_any);
	tcase_add_test(tc, an_operation_is_as_long_as_it_says_or_bad);
	tcase_add_test(tc, a_long_operation_is_taken);
	tcase_add_test(tc, an_operation_lies_where_it_came);
	tcase_add_test(tc, a_header_encodes_to_as_many_bytes_as_it_is_said_to_be);
	tcase_add_test(tc, an_operation_of_any_length_that_does_not_fit_is_not_read);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

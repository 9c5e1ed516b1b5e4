// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests transport characteristics of hostile peers: every operation, truncated at each byte, with
 * each byte changed, at each limit.
 */
#include "rpcrdma/v2/xchar_codec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rpc/xdr.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define INFO_BYTES 131072u
#define OP_COUNT   5

static uint8_t info[INFO_BYTES];
static struct xdr_writer out;
static struct xchar_operation heard;

static void setup(void)
{
	xdr_writer_init(&out, info, sizeof(info));
}

static void put_word(uint32_t word)
{
	xdr_put_u32(&out, word);
}

/* Data whose first word is @word, and zeros behind it. */
static void put_value(uint32_t id, uint32_t data_bytes, uint32_t word)
{
	uint8_t data[64] = {0};

	be32_put(data, word);
	xdr_put_u32(&out, id);
	xdr_put_opaque(&out, data, data_bytes);
}

/*
 * Of the first @len bytes; the decoded value must not be walked after this. On failure nothing is
 * set.
 */
static enum xchar_verdict verdict_of(uint32_t opttype, size_t len)
{
	uint8_t *copy = exact_copy(info, len);
	struct xchar_operation before;
	enum xchar_verdict verdict;

	memset(&heard, 0x5a, sizeof(heard));
	before = heard;
	verdict = xchar_decode(opttype, copy, len, &heard);
	if (verdict != XCHAR_OK)
		ck_assert_mem_eq(&heard, &before, sizeof(heard));
	free(copy);
	return verdict;
}

static void expect(uint32_t opttype, enum xchar_verdict expected)
{
	ck_assert_int_eq(verdict_of(opttype, xdr_written_bytes(&out)), expected);
}

/* The same, with `heard` to be walked. */
static void expect_ok(uint32_t opttype)
{
	expect(opttype, XCHAR_OK);
	ck_assert_int_eq(xchar_decode(opttype, info, xdr_written_bytes(&out), &heard), XCHAR_OK);
	ck_assert_int_eq(heard.op, opttype);
}

static void expect_known(uint32_t id, uint32_t value)
{
	struct xchar_value got;

	ck_assert(xchar_next(&heard.spec, &got));
	ck_assert_uint_eq(got.id, id);
	ck_assert(got.known);
	ck_assert_uint_eq(got.value, value);
}

static void expect_unknown(uint32_t id)
{
	struct xchar_value got;

	ck_assert(xchar_next(&heard.spec, &got));
	ck_assert_uint_eq(got.id, id);
	ck_assert(!got.known);
	ck_assert_uint_eq(got.value, 0);
}

static void expect_no_more(void)
{
	struct xchar_value got = {.id = 77, .known = true, .value = 78};

	ck_assert(!xchar_next(&heard.spec, &got));
	ck_assert_uint_eq(got.id, 77);
	ck_assert_uint_eq(got.value, 78);
}

static void put_init(void)
{
	put_word(3);
	put_value(XCHAR_RBSIZ, 4, 65536);
	put_value(XCHAR_RQREMINV, 4, 1);
	put_value(XCHAR_BRS, 4, XCHAR_BRS_GENL);
	put_word(1);
	put_word(6);
}

static void put_req(void)
{
	put_word(2);
	put_value(XCHAR_RBSIZ, 4, 8192);
	put_value(0xffffff00, 7, 0);
}

static void put_resp(void)
{
	put_word(2);
	put_word(1);
	put_word(0x80000000);
	put_word(0);
	put_word(1);
	put_word(6);
}

static void put_upd(void)
{
	put_value(XCHAR_BRS, 4, XCHAR_BRS_SZLIM);
	put_word(1);
}

static void (*const put_op[OP_COUNT])(void) = {
	[XCHAR_INIT] = put_init,
	[XCHAR_REQ] = put_req,
	[XCHAR_RESP] = put_resp,
	[XCHAR_UPD] = put_upd,
};

START_TEST(an_init_says_values_and_which_do_not_change)
{
	put_init();
	expect_ok(XCHAR_INIT);
	expect_known(XCHAR_RBSIZ, 65536);
	expect_known(XCHAR_RQREMINV, 1);
	expect_known(XCHAR_BRS, XCHAR_BRS_GENL);
	expect_no_more();
	ck_assert(!xchar_subset_has(&heard.nochg, 0));
	ck_assert(xchar_subset_has(&heard.nochg, 1));
	ck_assert(xchar_subset_has(&heard.nochg, 2));
	ck_assert(!xchar_subset_has(&heard.sets[XCHAR_DONE], 0));
	ck_assert(!heard.pendclr);
}
END_TEST

START_TEST(a_req_has_the_requested_values)
{
	put_req();
	expect_ok(XCHAR_REQ);
	expect_known(XCHAR_RBSIZ, 8192);
	expect_unknown(0xffffff00);
	expect_no_more();
	ck_assert_uint_eq(heard.nochg.nwords, 0);
}
END_TEST

START_TEST(a_resp_says_which_are_done_rejected_and_pending)
{
	put_resp();
	expect_ok(XCHAR_RESP);
	expect_no_more();
	for (uint32_t n = 0; n < 100; n++) {
		ck_assert_int_eq(xchar_subset_has(&heard.sets[XCHAR_DONE], n), n == 0 || n == 63);
		ck_assert(!xchar_subset_has(&heard.sets[XCHAR_REJ], n));
		ck_assert_int_eq(xchar_subset_has(&heard.sets[XCHAR_PEND], n), n == 1 || n == 2);
	}
}
END_TEST

START_TEST(an_upd_says_one_value_and_whether_a_request_is_over)
{
	put_upd();
	expect_ok(XCHAR_UPD);
	expect_known(XCHAR_BRS, XCHAR_BRS_SZLIM);
	expect_no_more();
	ck_assert(heard.pendclr);
	setup();
	put_value(0x12345678, 9, 0);
	put_word(0);
	expect_ok(XCHAR_UPD);
	expect_unknown(0x12345678);
	expect_no_more();
	ck_assert(!heard.pendclr);
}
END_TEST

/* B4-2: whatever it holds */
START_TEST(another_operation_is_unknown)
{
	static const uint32_t types[] = {0,       5,          6,          0x100,
					 0x10001, 0x01000000, 0x80000001, UINT32_MAX};

	put_init();
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		for (size_t len = 0; len <= xdr_written_bytes(&out); len++)
			ck_assert_int_eq(verdict_of(types[i], len), XCHAR_UNKNOWN_OP);
		ck_assert_int_eq(xchar_decode(types[i], NULL, 0, &heard), XCHAR_UNKNOWN_OP);
	}
}
END_TEST

START_TEST(an_operation_cut_off_anywhere_is_bad)
{
	put_op[_i]();
	for (size_t len = 0; len < xdr_written_bytes(&out); len++)
		ck_assert_int_eq(verdict_of((uint32_t)_i, len), XCHAR_BAD);
	ck_assert_int_eq(xchar_decode((uint32_t)_i, NULL, 0, &heard), XCHAR_BAD);
}
END_TEST

START_TEST(bytes_behind_an_operation_are_bad)
{
	size_t len;

	put_op[_i]();
	len = xdr_written_bytes(&out);
	memset(info + len, 0, 64);
	for (size_t more = 1; more <= 64; more++)
		ck_assert_int_eq(verdict_of((uint32_t)_i, len + more), XCHAR_BAD);
}
END_TEST

/* What decoded can be read to its end. */
static void walk(void)
{
	struct xchar_value value;
	uint32_t left = heard.spec.left, seen = 0;

	for (; xchar_next(&heard.spec, &value); seen++) {
		if (value.id == XCHAR_RQREMINV)
			ck_assert_uint_le(value.value, 1);
		if (value.id == XCHAR_BRS)
			ck_assert_uint_le(value.value, XCHAR_BRS_GENL);
		ck_assert_int_eq(value.known, value.id >= 1 && value.id <= XCHAR_ID_MAX);
	}
	ck_assert_uint_eq(seen, left);
	for (uint32_t n = 0; n <= heard.nochg.nwords * 32; n++)
		(void)xchar_subset_has(&heard.nochg, n);
	for (unsigned set = 0; set < XCHAR_SETS; set++) {
		ck_assert(!xchar_subset_has(&heard.sets[set], heard.sets[set].nwords * 32));
		for (uint32_t n = 0; n < heard.sets[set].nwords * 32; n++)
			(void)xchar_subset_has(&heard.sets[set], n);
	}
}

START_TEST(an_operation_stands_any_changed_byte)
{
	unsigned taken = 0, refused = 0;
	size_t len;

	put_op[_i]();
	len = xdr_written_bytes(&out);
	for (size_t at = 0; at < len; at++) {
		for (unsigned change = 1; change < 256; change++) {
			uint8_t *copy = exact_copy(info, len);

			copy[at] ^= (uint8_t)change;
			if (xchar_decode((uint32_t)_i, copy, len, &heard) == XCHAR_OK) {
				walk();
				taken++;
			} else {
				refused++;
			}
			free(copy);
		}
	}
	ck_assert_uint_gt(taken, 255);
	ck_assert_uint_gt(refused, 255);
}
END_TEST

/* B2.1-3 */
START_TEST(data_of_a_known_id_is_a_word)
{
	for (uint32_t id = 1; id <= XCHAR_ID_MAX; id++) {
		for (uint32_t bytes = 0; bytes <= 64; bytes++) {
			enum xchar_verdict verdict = bytes == 4 ? XCHAR_OK : XCHAR_BAD;

			setup();
			put_value(id, bytes, 1);
			put_word(0);
			expect(XCHAR_UPD, verdict);
			setup();
			put_word(1);
			put_value(id, bytes, 1);
			expect(XCHAR_REQ, verdict);
			put_word(0);
			expect(XCHAR_INIT, verdict);
		}
	}
}
END_TEST

START_TEST(a_value_is_one_of_its_type)
{
	static const uint32_t words[] = {0,     1,          2,          3,          4,         5,
					 0x100, 0x01000000, 0x01000001, 0x80000000, UINT32_MAX};
	static const uint32_t largest[] = {0, UINT32_MAX, 1, 3};

	for (uint32_t id = 1; id <= XCHAR_ID_MAX; id++) {
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			setup();
			put_value(id, 4, words[i]);
			put_word(0);
			if (words[i] <= largest[id]) {
				expect_ok(XCHAR_UPD);
				expect_known(id, words[i]);
			} else {
				expect(XCHAR_UPD, XCHAR_BAD);
			}
		}
	}
}
END_TEST

/* B4.4-1: a bool */
START_TEST(pendclr_is_zero_or_one)
{
	static const uint32_t words[] = {0, 1, 2, 0x100, 0x01000000, 0x01000001, UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		setup();
		put_value(XCHAR_RBSIZ, 4, 4096);
		put_word(words[i]);
		expect(XCHAR_UPD, words[i] <= 1 ? XCHAR_OK : XCHAR_BAD);
	}
}
END_TEST

/* B2.1-4, B6-1, B6.3-1 */
START_TEST(an_unknown_id_is_skipped_whatever_its_data)
{
	static const uint32_t ids[] = {0,          4,          5,          0x100,
				       0x01000001, 0xfffffeff, 0xffffff00, UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		for (uint32_t bytes = 0; bytes <= 64; bytes++) {
			setup();
			put_word(3);
			put_value(XCHAR_RBSIZ, 4, 1);
			put_value(ids[i], bytes, UINT32_MAX);
			put_value(XCHAR_RBSIZ, 4, 2);
			expect_ok(XCHAR_REQ);
			expect_known(XCHAR_RBSIZ, 1);
			expect_unknown(ids[i]);
			expect_known(XCHAR_RBSIZ, 2);
			expect_no_more();
		}
	}
}
END_TEST

START_TEST(pads_of_an_unknown_id_are_not_looked_at)
{
	put_word(1);
	put_value(9, 5, 0);
	memset(info + 4 + 8 + 5, 0xff, 3);
	expect_ok(XCHAR_REQ);
	expect_unknown(9);
}
END_TEST

START_TEST(ten_thousand_unknown_ids_are_skipped)
{
	put_word(10001);
	for (uint32_t n = 0; n < 10000; n++)
		put_value(0xffff0000 + n, n % 5, n);
	put_value(XCHAR_RBSIZ, 4, 12345);
	expect_ok(XCHAR_REQ);
	for (uint32_t n = 0; n < 10000; n++)
		expect_unknown(0xffff0000 + n);
	expect_known(XCHAR_RBSIZ, 12345);
	expect_no_more();
}
END_TEST

/* B2.1-2 */
START_TEST(data_do_not_lead_out_of_the_operation)
{
	static const uint32_t lengths[] = {5,          8,          9,          0x10000,
					   0x7fffffff, 0x80000000, 0xfffffff8, 0xfffffffc,
					   0xfffffffd, 0xfffffffe, 0xffffffff};

	for (uint32_t id = 0; id <= XCHAR_ID_MAX + 1; id++) {
		for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
			setup();
			put_word(1);
			put_word(id);
			put_word(lengths[i]);
			put_word(1);
			expect(XCHAR_REQ, XCHAR_BAD);
			ck_assert_int_eq(xchar_decode(XCHAR_UPD, info + 4, 12, &heard), XCHAR_BAD);
		}
	}
}
END_TEST

/* They are there, though nobody touches them. */
START_TEST(data_of_4_gib_are_skipped)
{
	size_t len = 12 + ((size_t)1 << 32) + 12;
	uint8_t *huge = mmap(NULL, len, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(huge, MAP_FAILED);
	be32_put(huge, 2);
	be32_put(huge + 4, 99);
	be32_put(huge + 8, UINT32_MAX);
	be32_put(huge + len - 12, XCHAR_RBSIZ);
	be32_put(huge + len - 8, 4);
	be32_put(huge + len - 4, 4321);
	ck_assert_int_eq(xchar_decode(XCHAR_REQ, huge, len - 1, &heard), XCHAR_BAD);
	ck_assert_int_eq(xchar_decode(XCHAR_REQ, huge, len, &heard), XCHAR_OK);
	expect_unknown(99);
	expect_known(XCHAR_RBSIZ, 4321);
	expect_no_more();
	be32_put(huge + 4, XCHAR_RBSIZ);
	ck_assert_int_eq(xchar_decode(XCHAR_REQ, huge, len, &heard), XCHAR_BAD);
	ck_assert_int_eq(munmap(huge, len), 0);
}
END_TEST

/* A count whose product with the least that each takes would wrap, and those that are just not there */
START_TEST(counts_are_compared_with_the_remaining_bytes)
{
	static const uint32_t counts[] = {
		0,          1,          2,          3,          4,          5,          0x10000000,
		0x20000000, 0x20000001, 0x20000003, 0x40000000, 0x40000003, 0x80000000, 0xffffffff};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		setup();
		put_word(counts[i]);
		for (uint32_t n = 0; n < 3; n++)
			put_value(77, 0, 0);
		expect(XCHAR_REQ, counts[i] == 3 ? XCHAR_OK : XCHAR_BAD);
		for (unsigned set = 0; set < XCHAR_SETS; set++) {
			setup();
			for (unsigned before = 0; before < set; before++)
				put_word(0);
			put_word(counts[i]);
			for (uint32_t n = 0; n < 3; n++)
				put_word(UINT32_MAX);
			for (unsigned after = set + 1; after < XCHAR_SETS; after++)
				put_word(0);
			expect(XCHAR_RESP, counts[i] == 3 ? XCHAR_OK : XCHAR_BAD);
		}
	}
}
END_TEST

START_TEST(lists_and_subsets_may_be_empty)
{
	put_word(0);
	expect_ok(XCHAR_REQ);
	expect_no_more();
	put_word(0);
	expect_ok(XCHAR_INIT);
	expect_no_more();
	ck_assert(!xchar_subset_has(&heard.nochg, 0));
	ck_assert(!xchar_subset_has(&heard.nochg, UINT32_MAX));
	put_word(0);
	expect_ok(XCHAR_RESP);
	ck_assert(!xchar_subset_has(&heard.sets[XCHAR_PEND], 0));
}
END_TEST

/* B2.1-6 */
START_TEST(element_n_is_bit_n_mod_32_of_word_n_div_32)
{
	for (uint32_t n = 0; n < 100; n++) {
		setup();
		put_word(0);
		put_word(4);
		for (uint32_t word = 0; word < 4; word++)
			put_word(word == n / 32 ? 1u << n % 32 : 0);
		expect_ok(XCHAR_INIT);
		for (uint32_t m = 0; m < 300; m++)
			ck_assert_int_eq(xchar_subset_has(&heard.nochg, m), m == n);
		ck_assert(!xchar_subset_has(&heard.nochg, UINT32_MAX));
		ck_assert(!xchar_subset_has(&heard.nochg, 0x80000000 + n));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("xchar");
	TCase *tc = tcase_create("xchar");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, an_init_says_values_and_which_do_not_change);
	tcase_add_test(tc, a_req_has_the_requested_values);
	tcase_add_test(tc, a_resp_says_which_are_done_rejected_and_pending);
	tcase_add_test(tc, an_upd_says_one_value_and_whether_a_request_is_over);
	tcase_add_test(tc, another_operation_is_unknown);
	tcase_add_loop_test(tc, an_operation_cut_off_anywhere_is_bad, XCHAR_INIT, OP_COUNT);
	tcase_add_loop_test(tc, bytes_behind_an_operation_are_bad, XCHAR_INIT, OP_COUNT);
	tcase_add_loop_test(tc, an_operation_stands_any_changed_byte, XCHAR_INIT, OP_COUNT);
	tcase_add_test(tc, data_of_a_known_id_is_a_word);
	tcase_add_test(tc, a_value_is_one_of_its_type);
	tcase_add_test(tc, pendclr_is_zero_or_one);
	tcase_add_test(tc, an_unknown_id_is_skipped_whatever_its_data);
	tcase_add_test(tc, pads_of_an_unknown_id_are_not_looked_at);
	tcase_add_test(tc, ten_thousand_unknown_ids_are_skipped);
	tcase_add_test(tc, data_do_not_lead_out_of_the_operation);
	tcase_add_test(tc, data_of_4_gib_are_skipped);
	tcase_add_test(tc, counts_are_compared_with_the_remaining_bytes);
	tcase_add_test(tc, lists_and_subsets_may_be_empty);
	tcase_add_test(tc, element_n_is_bit_n_mod_32_of_word_n_div_32);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests the messages of the Connection Configuration Protocol, byte for byte (A6.2-1, A6.2-2). */
#include "rpcrdma/draft03/ccp.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define XID      0x0a0b0c0du
#define CALL     "0a0b0c0d 00000000 00000002 00018841 "
#define NO_AUTH  "00000000 00000000 "
#define ACCEPTED "0a0b0c0d 00000001 00000000 " NO_AUTH

static const struct ccp_args asked = {8192, 4096, 16};
static const struct ccp_results told = {4096, 512, 2};

static uint8_t msg[128];

static void expect_bytes(const uint8_t *got, size_t len, const char *hex)
{
	size_t want = hex_bytes(hex, msg, sizeof(msg));

	ck_assert_uint_eq(len, want);
	ck_assert_mem_eq(got, msg, want);
}

/* Of a Call in memory of exactly its size. */
static enum ccp_verdict judge(const char *hex, struct ccp_args *args)
{
	size_t len = hex_bytes(hex, msg, sizeof(msg));
	uint8_t *copy = exact_copy(msg, len);
	struct rpc_call_hdr hdr;
	enum ccp_verdict verdict;

	ck_assert_int_eq(rpc_call_decode(copy, len, &hdr), RPC_OK);
	verdict = ccp_check_call(copy, len, &hdr, args);
	free(copy);
	return verdict;
}

static bool decode(const char *hex, struct ccp_results *results)
{
	size_t len = hex_bytes(hex, msg, sizeof(msg));
	uint8_t *copy = exact_copy(msg, len);
	bool good = ccp_decode_reply(copy, len, XID, results);

	free(copy);
	return good;
}

START_TEST(conf_rdma_is_these_bytes)
{
	uint8_t to[CCP_CALL_BYTES];

	expect_bytes(to, ccp_encode_call(to, XID, 100417, &asked),
		     CALL "00000001 00000001 " NO_AUTH NO_AUTH "00002000 00001000 00000010");
	expect_bytes(to, ccp_encode_call(to, XID, 7, &asked),
		     "0a0b0c0d 00000000 00000002 00000007 00000001 00000001 " NO_AUTH NO_AUTH
		     "00002000 00001000 00000010");
}
END_TEST

START_TEST(each_answer_is_these_bytes)
{
	static const struct {
		enum ccp_verdict verdict;
		const char *hex;
	} rows[] = {
		{CCP_NULL, ACCEPTED "00000000"},
		{CCP_CONF, ACCEPTED "00000000 00001000 00000200 00000002"},
		{CCP_MISMATCH, ACCEPTED "00000002 00000001 00000001"},
		{CCP_NO_PROC, ACCEPTED "00000003"},
		{CCP_GARBAGE, ACCEPTED "00000004"},
		{CCP_FLAVOR, "0a0b0c0d 00000001 00000001 00000001 00000007"},
	};
	uint8_t to[CCP_REPLY_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect_bytes(to, ccp_encode_reply(to, XID, rows[i].verdict, &told), rows[i].hex);
}
END_TEST

START_TEST(calls_are_recognised_by_version_procedure_and_arguments)
{
	static const char sys[] = CALL "00000001 00000001 00000001 00000004 00000000 " NO_AUTH
				       "00000400 00000800 00000000";
	struct ccp_args args = {9, 9, 9};

	ck_assert_int_eq(judge(CALL "00000001 00000000 " NO_AUTH NO_AUTH, &args), CCP_NULL);
	ck_assert_int_eq(judge(CALL "00000001 00000002 " NO_AUTH NO_AUTH, &args), CCP_NO_PROC);
	ck_assert_int_eq(judge(CALL "00000000 00000001 " NO_AUTH NO_AUTH, &args), CCP_MISMATCH);
	ck_assert_int_eq(judge(CALL "00000002 00000000 " NO_AUTH NO_AUTH, &args), CCP_MISMATCH);
	ck_assert_uint_eq(args.maxcall_sendsize, 9);
	ck_assert_int_eq(judge(sys, &args), CCP_CONF);
	ck_assert_uint_eq(args.maxcall_sendsize, 1024);
	ck_assert_uint_eq(args.maxreply_sendsize, 2048);
	ck_assert_uint_eq(args.maxrdmaread, 0);
	/* RPCSEC_GSS: nobody here can sign the results. */
	ck_assert_int_eq(judge(CALL "00000001 00000001 00000006 00000004 00000001 " NO_AUTH
				    "00000400 00000800 00000000",
			       &args),
			 CCP_FLAVOR);
}
END_TEST

START_TEST(arguments_that_are_not_three_words_are_garbage)
{
	uint8_t call[CCP_CALL_BYTES + 4] = {0};
	struct ccp_args args;
	struct rpc_call_hdr hdr;

	(void)ccp_encode_call(call, XID, 100417, &asked);
	ck_assert_int_eq(rpc_call_decode(call, sizeof(call), &hdr), RPC_OK);
	for (size_t len = hdr.args_offset; len <= sizeof(call); len++) {
		uint8_t *copy = exact_copy(call, len);

		ck_assert_int_eq(ccp_check_call(copy, len, &hdr, &args),
				 len == CCP_CALL_BYTES ? CCP_CONF : CCP_GARBAGE);
		free(copy);
	}
}
END_TEST

START_TEST(a_good_reply_tells_three_words)
{
	struct ccp_results results = {0};

	ck_assert(decode(ACCEPTED "00000000 ffffffff 00000000 00000001", &results));
	ck_assert_uint_eq(results.maxcall_sendsize, UINT32_MAX);
	ck_assert_uint_eq(results.align, 0);
	ck_assert_uint_eq(results.maxrdmaread, 1);
}
END_TEST

START_TEST(any_other_reply_tells_nothing)
{
	static const char *const rows[] = {
		ACCEPTED "00000001",
		ACCEPTED "00000002 00000001 00000001",
		ACCEPTED "00000003",
		ACCEPTED "00000004",
		ACCEPTED "00000005",
		/* What would be results behind an error. */
		ACCEPTED "00000005 00001000 00000200 00000002",
		ACCEPTED "00000000",
		ACCEPTED "00000000 00001000 00000200",
		ACCEPTED "00000000 00001000 00000200 00000002 00000000",
		"0a0b0c0d 00000001 00000001 00000001 00000005",
		"0a0b0c0d 00000001 00000001 00000000 00000002 00000002",
		/* Another Call's. */
		"0a0b0c0e 00000001 00000000 " NO_AUTH "00000000 00001000 00000200 00000002",
		/* A Call. */
		CALL "00000001 00000001 " NO_AUTH NO_AUTH "00002000 00001000 00000010",
		"",
	};
	struct ccp_results results = {7, 7, 7};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_msg(!decode(rows[i], &results), "%s", rows[i]);
	ck_assert_uint_eq(results.maxcall_sendsize, 7);
}
END_TEST

START_TEST(a_reply_cut_anywhere_tells_nothing)
{
	uint8_t reply[CCP_REPLY_BYTES];
	size_t whole = ccp_encode_reply(reply, XID, CCP_CONF, &told);
	struct ccp_results results;

	for (size_t len = 0; len <= whole; len++) {
		uint8_t *copy = exact_copy(reply, len);

		ck_assert_int_eq(ccp_decode_reply(copy, len, XID, &results), len == whole);
		free(copy);
	}
	ck_assert_mem_eq(&results, &told, sizeof(told));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ccp");
	TCase *tc = tcase_create("ccp");

	tcase_add_test(tc, conf_rdma_is_these_bytes);
	tcase_add_test(tc, each_answer_is_these_bytes);
	tcase_add_test(tc, calls_are_recognised_by_version_procedure_and_arguments);
	tcase_add_test(tc, arguments_that_are_not_three_words_are_garbage);
	tcase_add_test(tc, a_good_reply_tells_three_words);
	tcase_add_test(tc, any_other_reply_tells_nothing);
	tcase_add_test(tc, a_reply_cut_anywhere_tells_nothing);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

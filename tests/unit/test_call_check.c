// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests verdicts on Calls: which are forwarded, how the others are answered, and that a truncated
 * message is detected wherever it is cut.
 */
#include "rpc/call_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "rpc/xdr.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define XID      0x0a0b0c0du
#define START    "0a0b0c0d 00000000 00000002 000186a3 00000003 00000006 "
#define CONFIG   "0a0b0c0d 00000000 00000002 00018841 00000007 00000006 "
#define PROGRAM  100417u
#define NONE     "00000000 00000000 "
#define TLS      "00000007 00000000 "
#define TOO_LONG "00000001 00000191 "

static uint8_t msg[512];
static uint32_t msg_len;
static struct rpc_call_hdr hdr;

/* What the first @have bytes of a message are found to be, in memory of exactly that size. */
static enum call_verdict judge_part(uint32_t have, uint32_t len, const uint32_t *xid)
{
	uint8_t *copy = exact_copy(msg, have);
	enum call_verdict verdict = call_check(copy, have, len, xid, PROGRAM, &hdr);

	free(copy);
	return verdict;
}

static enum call_verdict judge(const char *hex, const uint32_t *xid)
{
	memset(&hdr, 0, sizeof(hdr));
	msg_len = (uint32_t)hex_bytes(hex, msg, sizeof(msg));
	return judge_part(msg_len, msg_len, xid);
}

static const struct {
	const char *hex;
	enum call_verdict verdict;
} cases[] = {
	{START NONE NONE "deadbeef", CALL_OK},
	{START TLS NONE, CALL_AUTH_TLS},
	{START NONE TLS, CALL_OK}, /* a verifier is the server's affair */
	{START TOO_LONG, CALL_BAD_AUTH},
	{START NONE TOO_LONG, CALL_BAD_AUTH},
	{"0a0b0c0d 00000000 00000003 000186a3 00000003 00000006 " NONE NONE, CALL_RPC_MISMATCH},
	{"0a0b0c0d 00000000 00000003", CALL_RPC_MISMATCH},
	{CONFIG NONE NONE "deadbeef", CALL_CONFIG_PROGRAM},
	{CONFIG TLS NONE, CALL_AUTH_TLS},
	{CONFIG TOO_LONG, CALL_BAD_AUTH},
	{CONFIG NONE, CALL_TRUNCATED},
	{START NONE, CALL_TRUNCATED},
	{"0a0b0c0d 00000000", CALL_TRUNCATED},
	{"0a0b0c", CALL_TRUNCATED},
	{"", CALL_TRUNCATED},
	{"0a0b0c0d 00000001 00000000 " NONE "00000000", CALL_IS_REPLY},
	{"0a0b0c0d 00000002 " NONE NONE NONE, CALL_NOT_RPC},
};

START_TEST(each_kind_of_message_has_its_verdict)
{
	const uint32_t xid = XID;

	ck_assert_int_eq(judge(cases[_i].hex, NULL), cases[_i].verdict);
	ck_assert_int_eq(judge(cases[_i].hex, &xid), cases[_i].verdict);
}
END_TEST

START_TEST(a_call_that_passes_is_decoded)
{
	ck_assert_int_eq(judge(START NONE NONE "deadbeef", NULL), CALL_OK);
	ck_assert_uint_eq(hdr.xid, XID);
	ck_assert_uint_eq(hdr.prog, 100003);
	ck_assert_uint_eq(hdr.args_offset, 40);
}
END_TEST

/* A6.2-8 */
START_TEST(the_program_that_configures_is_one_number)
{
	uint32_t len = (uint32_t)hex_bytes(CONFIG NONE NONE, msg, sizeof(msg));

	ck_assert_int_eq(call_check(msg, len, len, NULL, PROGRAM, &hdr), CALL_CONFIG_PROGRAM);
	ck_assert_uint_eq(hdr.vers, 7);
	ck_assert_uint_eq(hdr.proc, 6);
	ck_assert_int_eq(call_check(msg, len, len, NULL, PROGRAM + 1, &hdr), CALL_OK);
	ck_assert_int_eq(call_check(msg, len, len, NULL, 0, &hdr), CALL_OK);
	/* Without one it is no program's. */
	memset(msg + 12, 0, 4);
	ck_assert_int_eq(call_check(msg, len, len, NULL, 0, &hdr), CALL_OK);
}
END_TEST

START_TEST(a_transport_that_names_another_xid_is_heard_first)
{
	const uint32_t xid = XID + 1;

	hdr.xid = 7;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		enum call_verdict verdict = judge(cases[i].hex, &xid);

		/* What has no XID of a Call cannot have another one. */
		if (msg_len < 8 || cases[i].verdict == CALL_IS_REPLY ||
		    cases[i].verdict == CALL_NOT_RPC)
			ck_assert_int_eq(verdict, cases[i].verdict);
		else
			ck_assert_int_eq(verdict, CALL_XID_DIFFERS);
		/* The transport's is in its tables: it stays what it is. */
		ck_assert_uint_eq(hdr.xid, 0);
	}
}
END_TEST

START_TEST(only_calls_with_an_xid_are_answered)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t reply[RPC_ERROR_REPLY_BYTES];
		enum call_verdict verdict = judge(cases[i].hex, NULL);

		if (call_verdict_encode(reply, verdict, &hdr))
			ck_assert_uint_eq(hdr.xid, XID);
	}
}
END_TEST

/* A prefix of a message is pending until its verdict is certain, and then has that of the whole. */
START_TEST(a_message_that_still_comes_is_judged_once_its_header_is_here)
{
	enum call_verdict whole = judge(cases[_i].hex, NULL);
	bool decided = false;

	for (uint32_t have = 0; have < msg_len; have++) {
		enum call_verdict verdict = judge_part(have, msg_len, NULL);

		if (verdict == CALL_PENDING) {
			ck_assert(!decided);
			continue;
		}
		ck_assert_int_eq(verdict, whole);
		decided = true;
	}
	if (whole == CALL_TRUNCATED)
		ck_assert(!decided);
}
END_TEST

START_TEST(a_message_cut_off_in_its_header_is_cut)
{
	ck_assert_int_eq(judge(START NONE NONE, NULL), CALL_OK);
	for (uint32_t len = 0; len < msg_len; len++)
		ck_assert_int_eq(judge_part(len, len, NULL), CALL_TRUNCATED);
}
END_TEST

START_TEST(five_verdicts_are_answered_with_rpc_replies)
{
	static const struct {
		enum call_verdict verdict;
		const char *reply;
	} replies[] = {
		{CALL_AUTH_TLS, "0a0b0c0d 00000001 00000001 00000001 00000002"},
		{CALL_BAD_AUTH, "0a0b0c0d 00000001 00000001 00000001 00000001"},
		{CALL_RPC_MISMATCH, "0a0b0c0d 00000001 00000001 00000000 00000002 00000002"},
		{CALL_GARBAGE_ARGS, "0a0b0c0d 00000001 00000000 00000000 00000000 00000004"},
		{CALL_CONFIG_PROGRAM, "0a0b0c0d 00000001 00000000 00000000 00000000 00000001"},
	};
	const struct rpc_call_hdr asked = {.xid = XID};
	uint8_t to[RPC_ERROR_REPLY_BYTES];
	unsigned answered = 0;

	for (size_t i = 0; i < ARRAY_SIZE(replies); i++) {
		msg_len = (uint32_t)hex_bytes(replies[i].reply, msg, sizeof(msg));
		ck_assert_uint_eq(call_verdict_encode(to, replies[i].verdict, &asked), msg_len);
		ck_assert_mem_eq(to, msg, msg_len);
	}
	for (unsigned verdict = 0; verdict < CALL_VERDICT_COUNT; verdict++)
		answered += call_verdict_encode(to, verdict, &asked) > 0;
	ck_assert_uint_eq(answered, ARRAY_SIZE(replies));
}
END_TEST

/*
 * RFC 2203 section 5.3.3.2: its client accepts no Reply without a verifier that only the server can
 * make.
 */
START_TEST(an_accepted_answer_is_a_denied_one_for_rpcsec_gss)
{
	static const enum call_verdict accepted[] = {CALL_GARBAGE_ARGS, CALL_CONFIG_PROGRAM};
	const struct rpc_call_hdr asked = {.xid = XID,
					   .cred_flavor = RPC_AUTH_GSS,
					   .gss_vers = 1,
					   .gss_proc = RPC_GSS_DATA,
					   .gss_service = RPC_GSS_NONE};
	uint8_t to[RPC_ERROR_REPLY_BYTES];

	msg_len = (uint32_t)hex_bytes("0a0b0c0d 00000001 00000001 00000001 00000007", msg,
				      sizeof(msg));
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		ck_assert(call_verdict_is_denied(accepted[i], &asked));
		ck_assert_uint_eq(call_verdict_encode(to, accepted[i], &asked), msg_len);
		ck_assert_mem_eq(to, msg, msg_len);
	}
	ck_assert(!call_verdict_is_denied(CALL_AUTH_TLS, &asked));
}
END_TEST

START_TEST(each_verdict_has_words_of_its_own)
{
	for (unsigned a = 0; a < CALL_VERDICT_COUNT; a++)
		for (unsigned b = 0; b < a; b++)
			ck_assert_str_ne(call_verdict_text(a), call_verdict_text(b));
	ck_assert_str_eq(call_verdict_text(CALL_VERDICT_COUNT), "unknown");
}
END_TEST

#define TRANSPORT_COUNTERS(X)                                                                      \
	X(first, "stands before")                                                                  \
	CALL_VERDICT_COUNTERS(X)                                                                   \
	X(last, "stands behind")
COUNTER_STRUCT(transport_counters, TRANSPORT_COUNTERS);
COUNTER_TABLE(transport_counters, TRANSPORT_COUNTERS);

/* A table as a transport has one. */
static const struct call_rule rules[CALL_VERDICT_COUNT] = {
	[CALL_AUTH_TLS] =
		CALL_RULE(REPLY, transport_counters, auth_tls_refused, "AUTH_TLS was refused"),
	[CALL_BAD_AUTH] = CALL_RULE(REPLY, transport_counters, bad_auth_refused, NULL),
	[CALL_RPC_MISMATCH] = CALL_RULE(REPLY, transport_counters, rpc_mismatches, NULL),
	[CALL_TRUNCATED] = CALL_RULE(CLOSE, transport_counters, bad_calls, "cut"),
	[CALL_IS_REPLY] = CALL_RULE(ERROR, transport_counters, bad_calls, NULL),
	[CALL_NOT_RPC] = CALL_RULE(CLOSE, transport_counters, bad_calls, NULL),
	[CALL_XID_DIFFERS] = CALL_RULE(ERROR, transport_counters, bad_calls, NULL),
};

START_TEST(a_rule_counts_where_its_transport_says)
{
	struct transport_counters counters = {0};

	ck_assert_int_eq(rules[CALL_OK].answer, CALL_ANSWER_NONE);
	ck_assert_int_eq(rules[CALL_PENDING].answer, CALL_ANSWER_NONE);
	ck_assert_str_eq(rules[CALL_AUTH_TLS].note, "AUTH_TLS was refused");
	for (unsigned verdict = 0; verdict < CALL_VERDICT_COUNT; verdict++)
		if (rules[verdict].answer != CALL_ANSWER_NONE)
			call_rule_count(&rules[verdict], &counters);
	ck_assert_uint_eq(counters.auth_tls_refused, 1);
	ck_assert_uint_eq(counters.bad_auth_refused, 1);
	ck_assert_uint_eq(counters.rpc_mismatches, 1);
	ck_assert_uint_eq(counters.bad_calls, 4);
	ck_assert_uint_eq(counters.first + counters.last, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("call_verdict");
	TCase *tc = tcase_create("call_verdict");

	tcase_add_loop_test(tc, each_kind_of_message_has_its_verdict, 0, ARRAY_SIZE(cases));
	tcase_add_test(tc, a_call_that_passes_is_decoded);
	tcase_add_test(tc, the_program_that_configures_is_one_number);
	tcase_add_test(tc, a_transport_that_names_another_xid_is_heard_first);
	tcase_add_test(tc, only_calls_with_an_xid_are_answered);
	tcase_add_loop_test(tc, a_message_that_still_comes_is_judged_once_its_header_is_here, 0,
			    ARRAY_SIZE(cases));
	tcase_add_test(tc, a_message_cut_off_in_its_header_is_cut);
	tcase_add_test(tc, five_verdicts_are_answered_with_rpc_replies);
	tcase_add_test(tc, an_accepted_answer_is_a_denied_one_for_rpcsec_gss);
	tcase_add_test(tc, each_verdict_has_words_of_its_own);
	tcase_add_test(tc, a_rule_counts_where_its_transport_says);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

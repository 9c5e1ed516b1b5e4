// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests RPC message headers (RFC 5531 section 9): every flavour is skipped, nothing is read beyond
 * the end, errors are exact byte for byte.
 */
#include "rpc/rpc_header.h"

#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

/* xid, CALL, RPC version 2, NFS version 4, COMPOUND */
#define CALL_START "0a0b0c0d 00000000 00000002 000186a3 00000004 00000001 "
#define NO_AUTH    "00000000 00000000 "
#define ACCEPTED   "0a0b0c0d 00000001 00000000 "
#define DENIED     "0a0b0c0d 00000001 00000001 "

static uint8_t msg[2048];
static size_t msg_len;
static struct rpc_call_hdr call;
static struct rpc_reply_hdr reply;

static enum rpc_verdict call_decode(const uint8_t *data, size_t len, struct rpc_call_hdr *hdr)
{
	uint8_t *copy = exact_copy(data, len);
	enum rpc_verdict verdict = rpc_call_decode(copy, len, hdr);

	free(copy);
	return verdict;
}

static enum rpc_verdict reply_decode(const uint8_t *data, size_t len, struct rpc_reply_hdr *hdr)
{
	uint8_t *copy = exact_copy(data, len);
	enum rpc_verdict verdict = rpc_reply_decode(copy, len, hdr);

	free(copy);
	return verdict;
}

static enum rpc_verdict decode_call(const char *hex)
{
	msg_len = hex_bytes(hex, msg, sizeof(msg));
	return call_decode(msg, msg_len, &call);
}

static enum rpc_verdict decode_reply(const char *hex)
{
	msg_len = hex_bytes(hex, msg, sizeof(msg));
	return reply_decode(msg, msg_len, &reply);
}

START_TEST(peek_tells_xid_and_type)
{
	enum rpc_msg_type type = RPC_CALL;
	uint32_t xid = 0;

	hex_bytes("0a0b0c0d 00000001", msg, sizeof(msg));
	ck_assert_int_eq(rpc_msg_peek(msg, 8, &xid, &type), RPC_OK);
	ck_assert_uint_eq(xid, 0x0a0b0c0d);
	ck_assert_int_eq(type, RPC_REPLY);
	msg[7] = 0;
	ck_assert_int_eq(rpc_msg_peek(msg, 8, &xid, &type), RPC_OK);
	ck_assert_int_eq(type, RPC_CALL);
}
END_TEST

START_TEST(peek_leaves_its_outputs_alone_on_failure)
{
	enum rpc_msg_type type = RPC_REPLY;
	uint32_t xid = 42;

	hex_bytes("0a0b0c0d 00000002", msg, sizeof(msg));
	ck_assert_int_eq(rpc_msg_peek(msg, 8, &xid, &type), RPC_BAD_TYPE);
	msg[7] = 0;
	for (size_t len = 0; len < 8; len++)
		ck_assert_int_eq(rpc_msg_peek(msg, len, &xid, &type), RPC_TRUNCATED);
	ck_assert_uint_eq(xid, 42);
	ck_assert_int_eq(type, RPC_REPLY);
}
END_TEST

START_TEST(a_call_without_auth_is_forty_bytes)
{
	ck_assert_int_eq(decode_call(CALL_START NO_AUTH NO_AUTH "deadbeef"), RPC_OK);
	ck_assert_uint_eq(call.xid, 0x0a0b0c0d);
	ck_assert_uint_eq(call.prog, 100003);
	ck_assert_uint_eq(call.vers, 4);
	ck_assert_uint_eq(call.proc, 1);
	ck_assert_uint_eq(call.cred_flavor, RPC_AUTH_NONE);
	ck_assert_uint_eq(call.cred_bytes, 0);
	ck_assert_uint_eq(call.verf_flavor, RPC_AUTH_NONE);
	ck_assert_uint_eq(call.verf_bytes, 0);
	ck_assert_uint_eq(call.gss_vers, 0);
	ck_assert_uint_eq(call.args_offset, 40);
}
END_TEST

START_TEST(auth_sys_is_skipped_with_its_padding)
{
	ck_assert_int_eq(decode_call(CALL_START "00000001 00000019"
						"00000000 00000001 61000000 000003e8 000003e8"
						"00000000 ff000000"
						"00000000 00000000 deadbeef"),
			 RPC_OK);
	ck_assert_uint_eq(call.cred_flavor, RPC_AUTH_SYS);
	ck_assert_uint_eq(call.cred_bytes, 25);
	ck_assert_uint_eq(call.args_offset, 40 + 28);
}
END_TEST

static const uint32_t flavors[] = {
	RPC_AUTH_NONE, RPC_AUTH_SYS, RPC_AUTH_SHORT, RPC_AUTH_DH,
	RPC_AUTH_GSS,  RPC_AUTH_TLS, 390003,         UINT32_MAX,
};

/* A Call with bodies of these lengths, filled with 0xff. */
static void put_call(uint32_t flavor, uint32_t cred_bytes, uint32_t verf_bytes)
{
	uint8_t body[512];
	struct xdr_writer writer;

	memset(body, 0xff, sizeof(body));
	msg_len = hex_bytes(CALL_START, msg, sizeof(msg));
	xdr_writer_init(&writer, msg + msg_len, sizeof(msg) - msg_len);
	xdr_put_u32(&writer, flavor);
	xdr_put_opaque(&writer, body, cred_bytes);
	xdr_put_u32(&writer, flavor);
	xdr_put_opaque(&writer, body, verf_bytes);
	msg_len += xdr_written_bytes(&writer);
}

START_TEST(every_flavor_is_skipped_by_its_length)
{
	static const uint32_t lengths[] = {0, 1, 2, 3, 4, 5, 8, 27, 397, 398, 399, 400};
	uint32_t flavor = flavors[_i];

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(lengths); j++) {
			put_call(flavor, lengths[i], lengths[j]);
			ck_assert_int_eq(call_decode(msg, msg_len, &call), RPC_OK);
			ck_assert_uint_eq(call.cred_flavor, flavor);
			ck_assert_uint_eq(call.cred_bytes, lengths[i]);
			ck_assert_uint_eq(call.verf_flavor, flavor);
			ck_assert_uint_eq(call.verf_bytes, lengths[j]);
			ck_assert_uint_eq(call.args_offset, msg_len);
			ck_assert_uint_eq(call.gss_vers, 0);
		}
	}
}
END_TEST

/* RFC 5531 section 8.2 */
START_TEST(an_auth_body_over_400_bytes_is_bad)
{
	uint32_t flavor = flavors[_i];

	put_call(flavor, RPC_MAX_AUTH_BYTES + 1, 0);
	ck_assert_int_eq(call_decode(msg, msg_len, &call), RPC_BAD_AUTH);
	put_call(flavor, 0, RPC_MAX_AUTH_BYTES + 1);
	ck_assert_int_eq(call_decode(msg, msg_len, &call), RPC_BAD_AUTH);
	put_call(flavor, 0, 0);
	be32_put(msg + 28, UINT32_MAX);
	ck_assert_int_eq(call_decode(msg, msg_len, &call), RPC_BAD_AUTH);
	be32_put(msg + 28, 0);
	be32_put(msg + 36, UINT32_MAX);
	ck_assert_int_eq(call_decode(msg, msg_len, &call), RPC_BAD_AUTH);
}
END_TEST

/* RFC 2203 section 5.3.1; @cred is the body's bytes. */
static void decode_gss(const char *cred)
{
	uint8_t body[256];
	size_t len = hex_bytes(cred, body, sizeof(body));
	struct xdr_writer writer;

	msg_len = hex_bytes(CALL_START "00000006", msg, sizeof(msg));
	xdr_writer_init(&writer, msg + msg_len, sizeof(msg) - msg_len);
	xdr_put_opaque(&writer, body, (uint32_t)len);
	xdr_put_u32(&writer, RPC_AUTH_GSS);
	xdr_put_opaque(&writer, (const uint8_t *)"mic", 3);
	msg_len += xdr_written_bytes(&writer);
	ck_assert_int_eq(call_decode(msg, msg_len, &call), RPC_OK);
	ck_assert_uint_eq(call.cred_flavor, RPC_AUTH_GSS);
	ck_assert_uint_eq(call.cred_bytes, len);
	ck_assert_uint_eq(call.args_offset, msg_len);
}

static void expect_gss(uint32_t vers, uint32_t proc, uint32_t service)
{
	ck_assert_uint_eq(call.gss_vers, vers);
	ck_assert_uint_eq(call.gss_proc, proc);
	ck_assert_uint_eq(call.gss_service, service);
}

START_TEST(a_gss_credential_tells_procedure_and_service)
{
	decode_gss("00000001 00000000 00000007 00000001 00000004 01020304");
	expect_gss(1, RPC_GSS_DATA, RPC_GSS_NONE);
	decode_gss("00000001 00000000 00000007 00000002 00000003 01020300");
	expect_gss(1, RPC_GSS_DATA, RPC_GSS_INTEGRITY);
	decode_gss("00000001 00000000 ffffffff 00000003 00000000");
	expect_gss(1, RPC_GSS_DATA, RPC_GSS_PRIVACY);
	decode_gss("00000001 00000003 00000007 00000001 00000004 01020304");
	expect_gss(1, RPC_GSS_DESTROY, RPC_GSS_NONE);
}
END_TEST

/* RFC 2203 section 5.2.2: the service is undefined in context creation */
START_TEST(context_creation_has_no_service)
{
	decode_gss("00000001 00000001 00000000 00000000 00000000");
	expect_gss(1, RPC_GSS_INIT, 0);
	decode_gss("00000001 00000001 00000000 00000003 00000000");
	expect_gss(1, RPC_GSS_INIT, 0);
	decode_gss("00000001 00000002 00000000 ffffffff 00000004 01020304");
	expect_gss(1, RPC_GSS_CONTINUE, 0);
}
END_TEST

START_TEST(a_gss_credential_that_is_not_well_formed_tells_nothing)
{
	static const char *const creds[] = {
		"",
		"00000001",
		"00000001 00000000 00000007 00000001",
		"00000001 00000000 00000007 00000001 00000005 01020304",
		"00000001 00000000 00000007 00000001 00000004 01020304 00000000",
		"00000001 00000000 00000007 00000001 ffffffff 01020304",
		"00000000 00000000 00000007 00000001 00000000",
		"00000002 00000000 00000007 00000001 00000000",
		"00000001 00000004 00000007 00000001 00000000",
		"00000001 00000000 00000007 00000000 00000000",
		"00000001 00000000 00000007 00000004 00000000",
		"00000001 00000003 00000007 00000000 00000000",
	};

	for (size_t i = 0; i < ARRAY_SIZE(creds); i++) {
		decode_gss(creds[i]);
		expect_gss(0, 0, 0);
	}
}
END_TEST

START_TEST(another_rpc_version_is_bad_and_leaves_only_the_xid)
{
	memset(&call, 0xa5, sizeof(call));
	ck_assert_int_eq(decode_call("0a0b0c0d 00000000 00000003"), RPC_BAD_VERSION);
	ck_assert_uint_eq(call.xid, 0x0a0b0c0d);
	ck_assert_uint_eq(call.prog, 0xa5a5a5a5);
}
END_TEST

START_TEST(calls_and_replies_are_not_confused)
{
	ck_assert_int_eq(
		decode_call(
			"0a0b0c0d 00000001 00000002 000186a3 00000004 00000001" NO_AUTH NO_AUTH),
		RPC_BAD_TYPE);
	ck_assert_int_eq(decode_reply("0a0b0c0d 00000000 00000000" NO_AUTH "00000000"),
			 RPC_BAD_TYPE);
	ck_assert_int_eq(decode_reply("0a0b0c0d 00000002 00000000" NO_AUTH "00000000"),
			 RPC_BAD_TYPE);
}
END_TEST

START_TEST(accepted_replies_tell_where_results_start)
{
	for (unsigned stat = RPC_SUCCESS; stat <= RPC_SYSTEM_ERR; stat++) {
		msg_len = hex_bytes(ACCEPTED NO_AUTH, msg, sizeof(msg));
		be32_put(msg + msg_len, stat);
		ck_assert_int_eq(reply_decode(msg, msg_len + 4, &reply), RPC_OK);
		ck_assert_uint_eq(reply.xid, 0x0a0b0c0d);
		ck_assert_int_eq(reply.stat, RPC_MSG_ACCEPTED);
		ck_assert_int_eq(reply.accept_stat, stat);
		ck_assert_uint_eq(reply.results_offset, 24);
	}
	ck_assert_int_eq(decode_reply(ACCEPTED "00000006 00000005 01020304 05000000 00000000 aa"),
			 RPC_OK);
	ck_assert_uint_eq(reply.verf_flavor, RPC_AUTH_GSS);
	ck_assert_uint_eq(reply.verf_bytes, 5);
	ck_assert_uint_eq(reply.results_offset, 32);
}
END_TEST

START_TEST(denied_replies_have_no_results)
{
	ck_assert_int_eq(decode_reply(DENIED "00000000 00000002 00000002"), RPC_OK);
	ck_assert_int_eq(reply.stat, RPC_MSG_DENIED);
	ck_assert_uint_eq(reply.results_offset, 0);
	ck_assert_int_eq(decode_reply(DENIED "00000001 0000000d"), RPC_OK);
	ck_assert_int_eq(reply.stat, RPC_MSG_DENIED);
}
END_TEST

START_TEST(statuses_out_of_range_are_bad)
{
	ck_assert_int_eq(decode_reply(ACCEPTED NO_AUTH "00000006"), RPC_BAD_STAT);
	ck_assert_int_eq(decode_reply(ACCEPTED NO_AUTH "ffffffff"), RPC_BAD_STAT);
	ck_assert_int_eq(decode_reply("0a0b0c0d 00000001 00000002" NO_AUTH "00000000"),
			 RPC_BAD_STAT);
	ck_assert_int_eq(decode_reply(DENIED "00000002 00000002 00000002"), RPC_BAD_STAT);
	ck_assert_int_eq(decode_reply(ACCEPTED "00000000 00000191 00000000"), RPC_BAD_AUTH);
}
END_TEST

static const char *const whole_calls[] = {
	CALL_START NO_AUTH NO_AUTH,
	CALL_START "00000001 00000019 00000000 00000001 61000000 000003e8 000003e8 00000000"
		   "ff000000 00000000 00000000",
	CALL_START "00000006 00000018 00000001 00000000 00000007 00000002 00000003 01020300"
		   "00000006 00000006 01020304 05060000",
};

static const char *const whole_replies[] = {
	ACCEPTED NO_AUTH "00000000",
	ACCEPTED "00000006 00000005 01020304 05000000 00000000",
	DENIED "00000000 00000002 00000002",
	DENIED "00000001 00000001",
};

START_TEST(a_call_cut_off_anywhere_is_truncated)
{
	struct rpc_call_hdr untouched;

	ck_assert_int_eq(decode_call(whole_calls[_i]), RPC_OK);
	memset(&call, 0xa5, sizeof(call));
	memset(&untouched, 0xa5, sizeof(untouched));
	for (size_t cut = 0; cut < msg_len; cut++) {
		ck_assert_int_eq(call_decode(msg, cut, &call), RPC_TRUNCATED);
		ck_assert_mem_eq(&call, &untouched, sizeof(call));
	}
}
END_TEST

START_TEST(a_reply_cut_off_anywhere_is_truncated)
{
	struct rpc_reply_hdr untouched;

	ck_assert_int_eq(decode_reply(whole_replies[_i]), RPC_OK);
	memset(&reply, 0xa5, sizeof(reply));
	memset(&untouched, 0xa5, sizeof(untouched));
	for (size_t cut = 0; cut < msg_len; cut++) {
		ck_assert_int_eq(reply_decode(msg, cut, &reply), RPC_TRUNCATED);
		ck_assert_mem_eq(&reply, &untouched, sizeof(reply));
	}
}
END_TEST

START_TEST(any_flipped_bit_leaves_offsets_inside)
{
	const char *hex = _i < (int)ARRAY_SIZE(whole_calls)
				  ? whole_calls[_i]
				  : whole_replies[_i - (int)ARRAY_SIZE(whole_calls)];

	msg_len = hex_bytes(hex, msg, sizeof(msg));
	for (size_t bit = 0; bit < msg_len * 8; bit++) {
		msg[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (call_decode(msg, msg_len, &call) == RPC_OK)
			ck_assert_uint_le(call.args_offset, msg_len);
		if (reply_decode(msg, msg_len, &reply) == RPC_OK)
			ck_assert_uint_le(reply.results_offset, msg_len);
		msg[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}
END_TEST

static void expect_encoded(const uint8_t *got, size_t len, const char *hex)
{
	size_t expected = hex_bytes(hex, msg, sizeof(msg));

	ck_assert_uint_eq(len, expected);
	ck_assert_mem_eq(got, msg, expected);
	ck_assert_int_eq(reply_decode(got, len, &reply), RPC_OK);
	ck_assert_uint_eq(reply.xid, 0x0a0b0c0d);
}

START_TEST(error_replies_are_these_bytes)
{
	uint8_t to[RPC_ERROR_REPLY_BYTES];

	expect_encoded(to, rpc_encode_accepted(to, 0x0a0b0c0d, RPC_SUCCESS),
		       ACCEPTED NO_AUTH "00000000");
	expect_encoded(to, rpc_encode_accepted(to, 0x0a0b0c0d, RPC_PROG_UNAVAIL),
		       ACCEPTED NO_AUTH "00000001");
	expect_encoded(to, rpc_encode_accepted(to, 0x0a0b0c0d, RPC_GARBAGE_ARGS),
		       ACCEPTED NO_AUTH "00000004");
	expect_encoded(to, rpc_encode_accepted(to, 0x0a0b0c0d, RPC_SYSTEM_ERR),
		       ACCEPTED NO_AUTH "00000005");
	ck_assert_int_eq(reply.accept_stat, RPC_SYSTEM_ERR);
	expect_encoded(to, rpc_encode_auth_error(to, 0x0a0b0c0d, 1), DENIED "00000001 00000001");
	expect_encoded(to, rpc_encode_rpc_mismatch(to, 0x0a0b0c0d),
		       DENIED "00000000 00000002 00000002");
	expect_encoded(to, rpc_encode_prog_mismatch(to, 0x0a0b0c0d, 1, 3),
		       ACCEPTED NO_AUTH "00000002 00000001 00000003");
	ck_assert_int_eq(reply.accept_stat, RPC_PROG_MISMATCH);
}
END_TEST

/* Which clients accept an accepted Reply of our own, with its verifier of AUTH_NONE. */
START_TEST(a_failure_is_denied_where_the_client_wants_a_verifier)
{
	static const struct {
		struct rpc_call_hdr hdr;
		bool denied;
	} rows[] = {
		{{.cred_flavor = RPC_AUTH_NONE}, false},
		{{.cred_flavor = RPC_AUTH_SYS}, false},
		{{.cred_flavor = RPC_AUTH_SHORT}, false},
		{{.cred_flavor = RPC_AUTH_DH}, true},
		{{.cred_flavor = RPC_AUTH_GSS, .gss_vers = 1, .gss_proc = RPC_GSS_DATA}, true},
		{{.cred_flavor = RPC_AUTH_GSS, .gss_vers = 1, .gss_proc = RPC_GSS_DESTROY}, true},
		/* There is no context yet. */
		{{.cred_flavor = RPC_AUTH_GSS, .gss_vers = 1, .gss_proc = RPC_GSS_INIT}, false},
		{{.cred_flavor = RPC_AUTH_GSS, .gss_vers = 1, .gss_proc = RPC_GSS_CONTINUE}, false},
		/* Its credential does not decode. */
		{{.cred_flavor = RPC_AUTH_GSS}, true},
	};
	uint8_t to[RPC_ERROR_REPLY_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rpc_call_hdr hdr = rows[i].hdr;

		hdr.xid = 0x0a0b0c0d;
		ck_assert_int_eq(rpc_call_wants_verifier(&hdr), rows[i].denied);
		expect_encoded(to, rpc_encode_failure(to, &hdr, RPC_SYSTEM_ERR),
			       rows[i].denied ? DENIED "00000001 00000007"
					      : ACCEPTED NO_AUTH "00000005");
	}
}
END_TEST

START_TEST(verdicts_have_names)
{
	ck_assert_str_eq(rpc_verdict_name(RPC_OK), "ok");
	ck_assert_str_eq(rpc_verdict_name(RPC_TRUNCATED), "truncated");
	ck_assert_str_eq(rpc_verdict_name(RPC_BAD_VERSION), "bad version");
	ck_assert_str_eq(rpc_verdict_name(RPC_BAD_STAT), "bad reply status");
	ck_assert_str_eq(rpc_verdict_name((enum rpc_verdict)99), "unknown");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("msg");
	TCase *tc = tcase_create("msg");
	int ncalls = ARRAY_SIZE(whole_calls), nreplies = ARRAY_SIZE(whole_replies);

	tcase_add_test(tc, peek_tells_xid_and_type);
	tcase_add_test(tc, peek_leaves_its_outputs_alone_on_failure);
	tcase_add_test(tc, a_call_without_auth_is_forty_bytes);
	tcase_add_test(tc, auth_sys_is_skipped_with_its_padding);
	tcase_add_loop_test(tc, every_flavor_is_skipped_by_its_length, 0, ARRAY_SIZE(flavors));
	tcase_add_loop_test(tc, an_auth_body_over_400_bytes_is_bad, 0, ARRAY_SIZE(flavors));
	tcase_add_test(tc, a_gss_credential_tells_procedure_and_service);
	tcase_add_test(tc, context_creation_has_no_service);
	tcase_add_test(tc, a_gss_credential_that_is_not_well_formed_tells_nothing);
	tcase_add_test(tc, another_rpc_version_is_bad_and_leaves_only_the_xid);
	tcase_add_test(tc, calls_and_replies_are_not_confused);
	tcase_add_test(tc, accepted_replies_tell_where_results_start);
	tcase_add_test(tc, denied_replies_have_no_results);
	tcase_add_test(tc, statuses_out_of_range_are_bad);
	tcase_add_loop_test(tc, a_call_cut_off_anywhere_is_truncated, 0, ncalls);
	tcase_add_loop_test(tc, a_reply_cut_off_anywhere_is_truncated, 0, nreplies);
	tcase_add_loop_test(tc, any_flipped_bit_leaves_offsets_inside, 0, ncalls + nreplies);
	tcase_add_test(tc, error_replies_are_these_bytes);
	tcase_add_test(tc, a_failure_is_denied_where_the_client_wants_a_verifier);
	tcase_add_test(tc, verdicts_have_names);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests the probe of RPC-with-TLS and its answer (RFC 9289 section 4.1), byte for byte. */
#include "rpc/starttls.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define XID      0x0a0b0c0du
#define CALL     "0a0b0c0d 00000000 00000002 000186a3 00000004 "
#define NULL_    "00000000 "
#define GETATTR  "00000001 "
#define NO_AUTH  "00000000 00000000 "
#define AUTH_TLS "00000007 00000000 "
#define ACCEPTED "0a0b0c0d 00000001 00000000 "
#define STARTTLS "00000000 00000008 5354415254544c53 "
#define SUCCESS  "00000000 "

START_TEST(the_probe_is_as_the_rfc_has_it)
{
	uint8_t want[RPC_NULL_CALL_BYTES], *got = malloc(RPC_NULL_CALL_BYTES);
	struct rpc_call_hdr hdr;

	ck_assert_uint_eq(hex_bytes(CALL NULL_ AUTH_TLS NO_AUTH, want, sizeof(want)), sizeof(want));
	ck_assert_uint_eq(starttls_encode_probe(got, XID, 100003, 4), sizeof(want));
	ck_assert_mem_eq(got, want, sizeof(want));
	ck_assert_int_eq(rpc_call_decode(got, sizeof(want), &hdr), RPC_OK);
	ck_assert_int_eq(starttls_check_probe(&hdr, sizeof(want)), STARTTLS_PROBE);
	free(got);
}
END_TEST

static const struct {
	const char *hex;
	enum starttls_probe want;
} probes[] = {
	{CALL NULL_ AUTH_TLS NO_AUTH, STARTTLS_PROBE},
	{CALL GETATTR AUTH_TLS NO_AUTH, STARTTLS_PROBE_BAD_CRED},
	{CALL NULL_ "00000007 00000004 00000000 " NO_AUTH, STARTTLS_PROBE_BAD_CRED},
	{CALL NULL_ AUTH_TLS AUTH_TLS, STARTTLS_PROBE_BAD_VERF},
	{CALL NULL_ AUTH_TLS "00000000 00000004 00000000 ", STARTTLS_PROBE_BAD_VERF},
	{CALL NULL_ AUTH_TLS NO_AUTH "00000000", STARTTLS_PROBE_BAD_ARGS},
	/* Both wrong: the credential is looked at first. */
	{CALL GETATTR AUTH_TLS AUTH_TLS "00000000", STARTTLS_PROBE_BAD_CRED},
};

START_TEST(only_an_exact_probe_is_one)
{
	uint8_t msg[64];
	struct rpc_call_hdr hdr;
	size_t len = hex_bytes(probes[_i].hex, msg, sizeof(msg));

	ck_assert_int_eq(rpc_call_decode(msg, len, &hdr), RPC_OK);
	ck_assert_int_eq(starttls_check_probe(&hdr, (uint32_t)len), probes[_i].want);
}
END_TEST

START_TEST(the_answer_is_as_the_rfc_has_it)
{
	uint8_t want[RPC_ERROR_REPLY_BYTES], *got = malloc(RPC_ERROR_REPLY_BYTES);

	ck_assert_uint_eq(hex_bytes(ACCEPTED STARTTLS SUCCESS, want, sizeof(want)), sizeof(want));
	ck_assert_uint_eq(starttls_encode_answer(got, XID), sizeof(want));
	ck_assert_mem_eq(got, want, sizeof(want));
	ck_assert_int_eq(starttls_check_answer(got, sizeof(want), sizeof(want), XID),
			 STARTTLS_ACCEPTED);
	free(got);
}
END_TEST

static const struct {
	const char *hex;
	uint32_t more_bytes; /* of the Reply, that are not given */
	enum starttls_answer want;
} answers[] = {
	{ACCEPTED STARTTLS SUCCESS, 0, STARTTLS_ACCEPTED},
	/* Linux sets the verifier before it looks at the program. */
	{ACCEPTED STARTTLS "00000001", 0, STARTTLS_ACCEPTED},
	{ACCEPTED STARTTLS "00000002 00000003 00000003", 0, STARTTLS_ACCEPTED},
	{ACCEPTED STARTTLS "00000003", 0, STARTTLS_ACCEPTED},
	{ACCEPTED NO_AUTH SUCCESS, 0, STARTTLS_NOT_OFFERED},
	{ACCEPTED NO_AUTH "00000001", 0, STARTTLS_NOT_OFFERED},
	{ACCEPTED NO_AUTH "00000005", 0, STARTTLS_NOT_OFFERED},
	{ACCEPTED "00000007 00000008 5354415254544c53 " SUCCESS, 0, STARTTLS_NOT_OFFERED},
	{ACCEPTED "00000000 00000008 5354415254544c54 " SUCCESS, 0, STARTTLS_NOT_OFFERED},
	{ACCEPTED "00000000 00000007 5354415254544c00 " SUCCESS, 0, STARTTLS_NOT_OFFERED},
	{ACCEPTED "00000000 00000009 5354415254544c5353000000 " SUCCESS, 0, STARTTLS_NOT_OFFERED},
	/* Results, which NULL has not; and a verifier that is longer than what is given. */
	{ACCEPTED STARTTLS SUCCESS "00000000 00000000", 4, STARTTLS_NOT_OFFERED},
	{ACCEPTED "00000002 00000020 00010203 04050607 08090a0b 0c0d0e0f 10111213", 16,
	 STARTTLS_NOT_OFFERED},
	{"0a0b0c0e 00000001 00000000 00000002 00000020 00010203 04050607 08090a0b 0c0d0e0f 10111213",
	 16, STARTTLS_NO_ANSWER},
	{"0a0b0c0d 00000001 00000001 00000001 00000002", 0, STARTTLS_DENIED},
	{"0a0b0c0d 00000001 00000001 00000000 00000003 00000003", 0, STARTTLS_DENIED},
	{"0a0b0c0e 00000001 00000000 " STARTTLS SUCCESS, 0, STARTTLS_NO_ANSWER},
	{CALL NULL_ AUTH_TLS NO_AUTH, 0, STARTTLS_NO_ANSWER},
	{"0a0b0c0d 00000001 00000002 00000000 00000000 00000000", 0, STARTTLS_NO_ANSWER},
	{ACCEPTED STARTTLS "00000006", 0, STARTTLS_NO_ANSWER},
	{ACCEPTED STARTTLS, 0, STARTTLS_NO_ANSWER},
	{"0a0b0c0d", 0, STARTTLS_NO_ANSWER},
};

START_TEST(any_other_answer_is_none)
{
	uint8_t bytes[64], *msg;
	uint32_t len = (uint32_t)hex_bytes(answers[_i].hex, bytes, sizeof(bytes));

	ck_assert_uint_le(len, STARTTLS_ANSWER_MAX_BYTES);
	msg = exact_copy(bytes, len);
	ck_assert_int_eq(starttls_check_answer(msg, len, len + answers[_i].more_bytes, XID),
			 answers[_i].want);
	free(msg);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("starttls");
	TCase *tc = tcase_create("bytes");

	tcase_add_test(tc, the_probe_is_as_the_rfc_has_it);
	tcase_add_loop_test(tc, only_an_exact_probe_is_one, 0, ARRAY_SIZE(probes));
	tcase_add_test(tc, the_answer_is_as_the_rfc_has_it);
	tcase_add_loop_test(tc, any_other_answer_is_none, 0, ARRAY_SIZE(answers));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

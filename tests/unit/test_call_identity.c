// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests which Calls count as retransmissions: on a connection, and by fingerprint from one
 * connection to the next.
 */
#include "rpc/call_identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/service/call_fingerprint.h"
#include "leg/exchange.h"
#include "tests/lib/gss_call.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define ARGS_BYTES 300u
#define ROOM_BYTES (ARGS_BYTES + GSS_CALL_BESIDE_BYTES)

static uint8_t args[ARGS_BYTES];

struct message {
	uint8_t *bytes; /* of exactly that length */
	uint32_t len_bytes;
	struct rpc_call_hdr hdr;
};

static void setup(void)
{
	for (uint32_t i = 0; i < ARGS_BYTES; i++)
		args[i] = (uint8_t)(7 * i);
}

static struct message message_of(const uint8_t *bytes, uint32_t len_bytes)
{
	struct message message = {exact_copy(bytes, len_bytes), len_bytes, {0}};

	ck_assert_int_eq(rpc_call_decode(message.bytes, len_bytes, &message.hdr), RPC_OK);
	return message;
}

static struct message gss_message(const struct gss_call *call)
{
	uint8_t bytes[ROOM_BYTES];

	return message_of(bytes, gss_call_put(bytes, call));
}

static struct message hex_message(const char *hex)
{
	uint8_t bytes[512];

	return message_of(bytes, (uint32_t)hex_bytes(hex, bytes, sizeof(bytes)));
}

/* A mark is made of an exchange, and of as much of its Call as it needs. */
static struct call_fingerprint mark_of(const struct message *message)
{
	uint32_t have = call_identity_bytes(&message->hdr, message->len_bytes);
	struct exchange *x = exchange_new(NULL);
	struct call_fingerprint mark;

	x->call_info.hdr = message->hdr;
	x->call.data = exact_copy(message->bytes, have);
	x->call.len_bytes = message->len_bytes;
	x->call.have_bytes = have - 1;
	ck_assert(!call_fingerprint_possible(x));
	x->call.have_bytes = have;
	ck_assert(call_fingerprint_possible(x));
	mark = call_fingerprint_of(x);
	free(x->call.data);
	x->call.data = NULL;
	exchange_put(x);
	return mark;
}

static bool is_same(const struct message *a, const struct message *b)
{
	struct call_identity first, second;

	call_identity_find(&first, &a->hdr, a->bytes, a->len_bytes);
	call_identity_find(&second, &b->hdr, b->bytes, b->len_bytes);
	return call_identity_equals(&first, &second) &&
	       call_identity_args_bytes(&a->hdr, a->len_bytes) ==
		       call_identity_args_bytes(&b->hdr, b->len_bytes);
}

/* The two ways of comparing agree. Both messages are freed. */
static bool are_same(struct message a, struct message b)
{
	struct call_fingerprint first = mark_of(&a), second = mark_of(&b);
	bool same = is_same(&a, &b);

	ck_assert_int_eq(call_fingerprint_equals(&first, &second), same);
	free(a.bytes);
	free(b.bytes);
	return same;
}

static struct gss_call data_call(uint32_t service)
{
	return (struct gss_call){.xid = 0x777,
				 .prog = 100003,
				 .vers = 3,
				 .proc = 6,
				 .gss_proc = RPC_GSS_DATA,
				 .seq = 150,
				 .service = service,
				 .handle = 0xabcd,
				 .args = args,
				 .args_bytes = ARGS_BYTES};
}

/* For each service. */
START_TEST(a_call_of_rpcsec_gss_may_have_another_sequence_number)
{
	struct gss_call first = data_call((uint32_t)_i), second = first;

	second.seq = 200;
	ck_assert(are_same(gss_message(&first), gss_message(&second)));
}
END_TEST

START_TEST(a_difference_elsewhere_in_the_header_makes_another_call)
{
	for (unsigned i = 0; i < 7; i++) {
		struct gss_call first = data_call((uint32_t)_i), second = first;
		uint32_t *const words[] = {&second.xid,       &second.prog,     &second.vers,
					   &second.proc,      &second.gss_proc, &second.handle,
					   &second.args_bytes};

		*words[i] += i == 4 ? RPC_GSS_DESTROY : 4;
		if (i == 6)
			second.args_bytes = ARGS_BYTES - 4;
		second.seq = 200;
		ck_assert_msg(!are_same(gss_message(&first), gss_message(&second)), "word %u", i);
	}
}
END_TEST

START_TEST(a_call_of_another_service_is_another_call)
{
	struct gss_call first = data_call(RPC_GSS_NONE), second = data_call(RPC_GSS_INTEGRITY);

	second.args_bytes -= 4 + 4 + 20;
	ck_assert(!are_same(gss_message(&first), gss_message(&second)));
}
END_TEST

/* Where arguments can be read, the first 256 bytes of them count. */
START_TEST(its_arguments_count_unless_they_are_encrypted)
{
	for (uint32_t at = 0; at < ARGS_BYTES; at++) {
		struct gss_call first = data_call((uint32_t)_i), second = first;
		struct message message = gss_message(&first);
		bool same = _i == RPC_GSS_PRIVACY || at >= 256;

		second.seq = 200;
		args[at] ^= 1;
		ck_assert_msg(are_same(message, gss_message(&second)) == same, "byte %u", at);
		args[at] ^= 1;
	}
}
END_TEST

/* A token, which is not encrypted. */
START_TEST(a_call_that_makes_or_destroys_a_context_goes_by_its_token)
{
	struct gss_call first = data_call(RPC_GSS_PRIVACY), second;
	struct message message;

	first.gss_proc = (uint32_t)_i;
	second = first;
	second.seq = 200;
	ck_assert(are_same(gss_message(&first), gss_message(&second)));
	message = gss_message(&first);
	args[8] ^= 1;
	ck_assert(!are_same(message, gss_message(&second)));
}
END_TEST

#define CALL "00000777 00000000 00000002 000186a3 00000003 00000006 "
#define NONE "00000000 00000000 "
/* The stamp, the machine, the user, and two groups or one. */
#define TWO_GROUPS                                                                                 \
	"00000001 00000020 11111111 00000002 61620000 00000001 00000001 00000002 00000005 00000006 "
#define ONE_GROUP                                                                                  \
	"00000001 0000001c 22222222 00000002 61630000 00000007 00000001 00000001 00000005 "
#define DATA "01020304 05060708 "

START_TEST(credentials_of_auth_sys_do_not_count)
{
	ck_assert(are_same(hex_message(CALL TWO_GROUPS NONE DATA),
			   hex_message(CALL ONE_GROUP NONE DATA)));
	ck_assert(
		are_same(hex_message(CALL TWO_GROUPS NONE DATA), hex_message(CALL NONE NONE DATA)));
	ck_assert(!are_same(hex_message(CALL TWO_GROUPS NONE DATA),
			    hex_message(CALL ONE_GROUP NONE "01020304 05060709")));
	ck_assert(!are_same(hex_message(CALL TWO_GROUPS NONE DATA),
			    hex_message(CALL ONE_GROUP NONE DATA DATA)));
}
END_TEST

/* Whether a mark that is not answered shows the same user; both are marks of the same Call. */
static bool same_sender(const char *cred, const char *other)
{
	char hex[2][512];
	struct call_fingerprint marks[2];

	for (unsigned i = 0; i < 2; i++) {
		struct message message;

		snprintf(hex[i], sizeof(hex[i]), CALL "%s" NONE DATA, i ? other : cred);
		message = hex_message(hex[i]);
		marks[i] = mark_of(&message);
		free(message.bytes);
	}
	ck_assert(call_fingerprint_equals(&marks[0], &marks[1]));
	return call_fingerprint_same_sender(&marks[0], &marks[1]);
}

START_TEST(auth_sys_callers_are_identified_by_user_and_group)
{
	static const char one[] = "00000001 0000001c 11111111 00000005 6162636465000000 00000001 "
				  "00000002 00000000 ";
	static const char again[] = "00000001 0000001c 22222222 00000003 61626300 00000001 "
				    "00000002 00000001 00000009 ";
	static const char user[] = "00000001 0000001c 11111111 00000005 6162636465000000 00000003 "
				   "00000002 00000000 ";
	static const char group[] = "00000001 0000001c 11111111 00000005 6162636465000000 00000001 "
				    "00000003 00000000 ";
	/* Of a name that is longer than all, and of no name at all. */
	static const char bad[] = "00000001 00000010 11111111 ffffffff 00000001 00000002 ";
	static const char brief[] = "00000001 00000004 11111111 ";

	ck_assert(same_sender(one, again));
	ck_assert(!same_sender(one, user));
	ck_assert(!same_sender(one, group));
	ck_assert(!same_sender(one, NONE));
	ck_assert(!same_sender(one, bad));
	ck_assert(!same_sender(one, brief));
	ck_assert(same_sender(bad, bad));
	ck_assert(same_sender(brief, brief));
	ck_assert(same_sender(NONE, NONE));
	/* AUTH_SHORT: what the server has given. */
	ck_assert(!same_sender("00000002 00000004 00000001 ", "00000002 00000004 00000002 "));
}
END_TEST

#define GSS(len) "00000006 " len

/* Of version three (RFC 7861), of no version that is known, and of no form at all. */
START_TEST(other_credentials_of_rpcsec_gss)
{
	static const char v3[] =
		CALL GSS("00000018 00000003 00000000 00000096 00000003 00000004 12345678 ")
			NONE DATA;
	static const char next[] =
		CALL GSS("00000018 00000003 00000000 000000c8 00000003 00000004 12345678 ")
			NONE DATA;
	static const char bad[] =
		CALL GSS("00000018 00000001 00000000 00000096 00000001 00000009 12345678 ")
			NONE DATA;
	static const char worse[] =
		CALL GSS("00000018 00000001 00000000 000000c8 00000001 00000009 12345678 ")
			NONE DATA;
	static const char brief[] = CALL GSS("00000004 00000001 ") NONE;

	ck_assert(are_same(hex_message(v3), hex_message(next)));
	ck_assert(!are_same(hex_message(bad), hex_message(worse)));
	ck_assert(are_same(hex_message(bad), hex_message(bad)));
	ck_assert(are_same(hex_message(brief), hex_message(brief)));
	ck_assert(!are_same(hex_message(v3), hex_message(CALL NONE NONE DATA)));
}
END_TEST

/* Arguments that are signed, as they say, but too short, or longer than the message. */
START_TEST(signed_arguments_that_are_damaged_are_read_no_further_than_they_reach)
{
	static const char head[] =
		CALL GSS("00000018 00000001 00000000 00000096 00000002 00000004 12345678 ") NONE;
	static const char *const tails[] = {"",
					    "00000004",
					    "00000004 00000096",
					    "ffffffff 00000096 01020304",
					    "00000000 00000096 01020304",
					    "00000008 00000096 0102"};

	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		char hex[512];

		snprintf(hex, sizeof(hex), "%s%s", head, tails[i]);
		ck_assert(are_same(hex_message(hex), hex_message(hex)));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("call_identity");
	TCase *tc = tcase_create("call_identity");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, a_call_of_rpcsec_gss_may_have_another_sequence_number, RPC_GSS_NONE,
			    RPC_GSS_PRIVACY + 1);
	tcase_add_loop_test(tc, a_difference_elsewhere_in_the_header_makes_another_call,
			    RPC_GSS_NONE, RPC_GSS_PRIVACY + 1);
	tcase_add_test(tc, a_call_of_another_service_is_another_call);
	tcase_add_loop_test(tc, its_arguments_count_unless_they_are_encrypted, RPC_GSS_NONE,
			    RPC_GSS_PRIVACY + 1);
	tcase_add_loop_test(tc, a_call_that_makes_or_destroys_a_context_goes_by_its_token,
			    RPC_GSS_INIT, RPC_GSS_DESTROY + 1);
	tcase_add_test(tc, credentials_of_auth_sys_do_not_count);
	tcase_add_test(tc, auth_sys_callers_are_identified_by_user_and_group);
	tcase_add_test(tc, other_credentials_of_rpcsec_gss);
	tcase_add_test(tc, signed_arguments_that_are_damaged_are_read_no_further_than_they_reach);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

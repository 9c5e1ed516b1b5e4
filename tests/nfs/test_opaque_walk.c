// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the walk of whole messages: it reports each opaque and string in order, and reports a
 * message that it cannot parse.
 */
#include "nfs/opaque_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "tests/lib/test.h"
#include "tests/nfs/compounds.h"
#include "tests/nfs/corpus.h"
#include "tests/nfs/look.h"
#include "tests/nfs/rows.h"

#define LIMIT     (64u * 1024 * 1024 + 65536)
#define COMPOUNDS 300u
#define MAX_HEARD 4096u

/* The reported opaques. */
static struct {
	struct nfs_listener listener;
	unsigned count, ndata;
	struct rpc_payload list[MAX_HEARD];
} told;

static uint64_t hear(struct nfs_listener *listener, uint32_t offset_bytes, uint32_t len_bytes,
		     bool is_data)
{
	ck_assert_uint_lt(told.count, MAX_HEARD);
	told.list[told.count++] = (struct rpc_payload){offset_bytes, len_bytes};
	told.ndata += is_data;
	return xdr_padded_bytes(len_bytes);
}

static void setup(void)
{
	told.listener.on_opaque = hear;
	told.count = told.ndata = 0;
}

static bool walk_call(const uint8_t *msg, uint32_t len_bytes)
{
	setup();
	return nfs_opaque_walk_call(msg, len_bytes, &told.listener);
}

static bool walk_reply(const struct call_info *call_info, const uint8_t *msg, uint32_t len_bytes)
{
	setup();
	return nfs_opaque_walk_reply(call_info, msg, len_bytes, &told.listener);
}

static void same_opaques(const char *name, bool ok, const struct nfs_msg *msg)
{
	ck_assert_msg(ok, "%s: cannot be followed, after %u opaques of %u", name, told.count,
		      msg->nopaques);
	ck_assert_msg(told.count == msg->nopaques, "%s: %u opaques, not %u", name, told.count,
		      msg->nopaques);
	ck_assert_msg(!memcmp(told.list, msg->opaques, told.count * sizeof(told.list[0])),
		      "%s: other opaques", name);
}

static void check(const char *name, const struct row_built *built)
{
	const struct look look = look_at_msg(built->call, LIMIT);
	struct call_info call_info;

	same_opaques(name, walk_call(nfs_msg_bytes(built->call), nfs_msg_len(built->call)),
		     built->call);
	look_whole(&look, &call_info);
	same_opaques(name,
		     walk_reply(&call_info, nfs_msg_bytes(built->reply), nfs_msg_len(built->reply)),
		     built->reply);
}

START_TEST(all_opaques_of_every_procedure_and_operation_are_reported)
{
	static const struct nfs_msg_auth krb5 = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_NONE, 28};
	const struct nfs_msg_auth *const auths[] = {NULL, &krb5};
	unsigned rows = 0;

	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++, rows++) {
			struct row_built built;

			row_build(&built, row, auths[_i]);
			check(row->name, &built);
			row_free(&built);
		}
	ck_assert_uint_gt(rows, 200);
}
END_TEST

START_TEST(all_opaques_of_long_compounds_are_reported)
{
	for (uint32_t seed = 0; seed < COMPOUNDS; seed++) {
		struct row_built built;
		char name[32];

		snprintf(name, sizeof(name), "COMPOUND %u", seed);
		compound_build(&built, seed, false);
		check(name, &built);
		row_free(&built);
	}
}
END_TEST

static void check_pair(const struct corpus_pair *pair, void *arg)
{
	const struct look look = {pair->call, pair->call_bytes, LIMIT, NULL};
	struct call_info call_info;

	ck_assert_msg(walk_call(pair->call, pair->call_bytes), "%s: its Call", pair->name);
	look_whole(&look, &call_info);
	ck_assert_msg(walk_reply(&call_info, pair->reply, pair->reply_bytes), "%s: its Reply",
		      pair->name);
	ck_assert_uint_ge(told.count, 1);
}

START_TEST(messages_of_real_clients_and_servers_can_be_parsed)
{
	ck_assert_int_gt(corpus_each(check_pair, NULL), 10);
}
END_TEST

/* A message in hand, with what a spec says behind its header. */
static struct nfs_msg *call, *reply;
static struct call_info call_info;

static void teardown(void)
{
	if (call)
		nfs_msg_free(call);
	if (reply)
		nfs_msg_free(reply);
	call = reply = NULL;
}

static void make(uint32_t prog, uint32_t vers, uint32_t proc, const struct nfs_msg_auth *auth,
		 const char *args, const char *results)
{
	struct spec_items items = {0};
	struct look look;

	teardown();
	call = nfs_msg_call(prog, vers, proc, auth);
	spec_put(call, args, &items);
	reply = nfs_msg_reply(auth);
	spec_put(reply, results, &items);
	look = look_at_msg(call, LIMIT);
	look_whole(&look, &call_info);
}

static bool call_walks(void)
{
	return walk_call(nfs_msg_bytes(call), nfs_msg_len(call));
}

static bool reply_walks(void)
{
	return walk_reply(&call_info, nfs_msg_bytes(reply), nfs_msg_len(reply));
}

static void both_are_told(const char *what)
{
	same_opaques(what, call_walks(), call);
	same_opaques(what, reply_walks(), reply);
}

/* RFC 2203: protected data are one opaque, whatever the program. */
START_TEST(protected_arguments_of_rpcsec_gss_are_one_opaque)
{
	const struct nfs_msg_auth integrity = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_INTEGRITY, 28};
	const struct nfs_msg_auth privacy = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_PRIVACY, 28};
	const struct nfs_msg_auth init = {RPC_AUTH_GSS, RPC_GSS_INIT, 0, 28};
	const struct nfs_msg_auth destroy = {RPC_AUTH_GSS, RPC_GSS_DESTROY, RPC_GSS_NONE, 28};

	make(100003, 4, 1, &integrity, "o:777 o:28", "o:5000 o:28");
	both_are_told("integrity");
	make(99, 9, 9, &privacy, "o:777", "o:5000");
	both_are_told("privacy");
	make(99, 9, 0, &init, "o:500", "o:16 0 0 128 o:200");
	both_are_told("a context that is made");
	make(99, 9, 0, &destroy, "", "");
	both_are_told("a context that is destroyed");
}
END_TEST

START_TEST(data_are_reported_as_such)
{
	make(100003, 3, 6, NULL, "o:28 q0 100", "0 0 100 1 d:100");
	ck_assert(reply_walks());
	ck_assert_uint_eq(told.ndata, 1);
	ck_assert(call_walks());
	ck_assert_uint_eq(told.ndata, 0);
}
END_TEST

START_TEST(unknown_procedures_and_operations_cannot_be_parsed)
{
	static const struct {
		uint32_t prog, vers, proc;
		const char *args, *results;
	} rows[] = {
		{200001, 1, 1, "o:100", "o:100"},  /* a program */
		{100003, 5, 1, "o:100", "o:100"},  /* a version */
		{100003, 3, 22, "o:100", "o:100"}, /* a procedure */
		{100003, 4, 1, "o:1 0 1 60",
		 "0 o:1 1 60"}, /* an operation of another minor version */
		{100003, 4, 1, "o:1 3 1 24", "0 o:1 1 99"}, /* a minor version */
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		make(rows[i].prog, rows[i].vers, rows[i].proc, NULL, rows[i].args, rows[i].results);
		ck_assert_msg(!call_walks(), "the Call of row %u", i);
		ck_assert_msg(!reply_walks(), "the Reply of row %u", i);
	}
}
END_TEST

START_TEST(a_credential_that_is_not_understood_hides_the_rest)
{
	const struct nfs_msg_auth unknown = {RPC_AUTH_GSS, 9, RPC_GSS_NONE, 28};

	make(100003, 3, 1, &unknown, "o:28", "0");
	ck_assert(!call_walks());
	ck_assert(!reply_walks());
}
END_TEST

/* Bytes behind the arguments may hold anything. */
START_TEST(a_message_is_followed_to_its_end_or_not_at_all)
{
	struct call_info null = {0};

	make(100003, 3, 3, NULL, "o:32 o:9", "2 0");
	both_are_told("LOOKUP");
	for (uint32_t len = 0; len < nfs_msg_len(call); len++)
		ck_assert_msg(!walk_call(nfs_msg_bytes(call), len), "a Call of %u bytes", len);
	for (uint32_t len = 0; len < nfs_msg_len(reply); len++)
		ck_assert_msg(!walk_reply(&call_info, nfs_msg_bytes(reply), len),
			      "a Reply of %u bytes", len);
	put_u32(call, 0);
	put_u32(reply, 0);
	ck_assert(!call_walks());
	ck_assert(!reply_walks());
	ck_assert(!walk_reply(&null, nfs_msg_bytes(reply), nfs_msg_len(reply)));
}
END_TEST

START_TEST(the_verifier_of_a_failed_reply_is_reported)
{
	const uint32_t denied[] = {0x12345678, RPC_REPLY, RPC_MSG_DENIED, 1, 5};
	struct nfs_msg *msg = nfs_msg_new();

	make(100003, 3, 1, NULL, "o:28", "0");
	put_u32(msg, 0x12345678);
	put_u32(msg, RPC_REPLY);
	put_u32(msg, RPC_MSG_ACCEPTED);
	put_u32(msg, RPC_AUTH_SHORT);
	put_opaque(msg, 24);
	put_u32(msg, RPC_PROG_MISMATCH);
	put_u32(msg, 2);
	put_u32(msg, 3);
	same_opaques("PROG_MISMATCH", walk_reply(&call_info, nfs_msg_bytes(msg), nfs_msg_len(msg)),
		     msg);
	nfs_msg_free(msg);
	msg = nfs_msg_new();
	for (unsigned i = 0; i < ARRAY_SIZE(denied); i++)
		put_u32(msg, denied[i]);
	ck_assert(walk_reply(&call_info, nfs_msg_bytes(msg), nfs_msg_len(msg)));
	ck_assert_uint_eq(told.count, 0);
	nfs_msg_free(msg);
}
END_TEST

START_TEST(without_its_call_a_reply_has_a_header)
{
	make(200001, 1, 1, NULL, "", "o:100 o:100");
	ck_assert(walk_reply(NULL, nfs_msg_bytes(reply), nfs_msg_len(reply)));
	ck_assert_uint_eq(told.count, 1);
}
END_TEST

/* RFC 8881 section 16.2.3, and servers that leave out SETATTR's bitmap then. */
START_TEST(an_operation_that_failed_may_end_with_its_status)
{
	make(100003, 4, 1, NULL, "o:1 0 2 24 34 1 x:12 w:0*0 o:0", "13 o:1 2 24 0 34 13");
	both_are_told("a SETATTR that failed");
	make(100003, 4, 1, NULL, "o:1 0 2 24 34 1 x:12 w:0*0 o:0", "13 o:1 2 24 0 34 13 w:0*0");
	both_are_told("the same with its bitmap");
	make(100003, 4, 1, NULL, "o:1 0 2 24 34 1 x:12 w:0*0 o:0", "13 o:1 2 34 13 24 0");
	ck_assert(!reply_walks());
}
END_TEST

/* Each opaque has this many bytes before its first one, or none at all where it is elsewhere. */
static uint32_t before_bytes;

static uint64_t pass(struct nfs_listener *listener, uint32_t offset_bytes, uint32_t len_bytes,
		     bool is_data)
{
	return is_data ? 0 : before_bytes + xdr_padded_bytes(len_bytes);
}

START_TEST(a_walk_goes_where_its_listener_says)
{
	struct nfs_listener listener = {pass};
	struct nfs_msg *msg = nfs_msg_new();
	struct spec_items none = {0};

	before_bytes = 8;
	spec_put(msg, "7 0 2 100003 3 7 1 4 q1 9 0 0 q1 5 q1 x:5 q0 3 2 100000", &none);
	ck_assert(nfs_opaque_walk_call(nfs_msg_bytes(msg), nfs_msg_len(msg), &listener));
	before_bytes = 4;
	ck_assert(!nfs_opaque_walk_call(nfs_msg_bytes(msg), nfs_msg_len(msg), &listener));
	nfs_msg_free(msg);
}
END_TEST

/* The credential of RPCSEC_GSS says what the arguments are, wherever it begins. */
START_TEST(a_credential_is_read_behind_what_is_before_it)
{
	struct nfs_listener listener = {pass};
	struct nfs_msg *msg = nfs_msg_new();
	struct spec_items none = {0};

	before_bytes = 12;
	spec_put(msg,
		 "7 0 2 99 9 9 6 24 x:12 1 0 7 3 4 x:4 6 4 x:12 x:4 40 x:12 x:40" /* privacy */,
		 &none);
	ck_assert(nfs_opaque_walk_call(nfs_msg_bytes(msg), nfs_msg_len(msg), &listener));
	nfs_msg_free(msg);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_opaques");
	TCase *tc = tcase_create("opaques");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, all_opaques_of_every_procedure_and_operation_are_reported, 0, 2);
	tcase_add_test(tc, all_opaques_of_long_compounds_are_reported);
	tcase_add_test(tc, messages_of_real_clients_and_servers_can_be_parsed);
	tcase_add_test(tc, protected_arguments_of_rpcsec_gss_are_one_opaque);
	tcase_add_test(tc, data_are_reported_as_such);
	tcase_add_test(tc, unknown_procedures_and_operations_cannot_be_parsed);
	tcase_add_test(tc, a_credential_that_is_not_understood_hides_the_rest);
	tcase_add_test(tc, a_message_is_followed_to_its_end_or_not_at_all);
	tcase_add_test(tc, the_verifier_of_a_failed_reply_is_reported);
	tcase_add_test(tc, without_its_call_a_reply_has_a_header);
	tcase_add_test(tc, an_operation_that_failed_may_end_with_its_status);
	tcase_add_test(tc, a_walk_goes_where_its_listener_says);
	tcase_add_test(tc, a_credential_is_read_behind_what_is_before_it);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

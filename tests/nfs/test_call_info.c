// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the facts of a Call by stages, the effect of holes on them, the calls of a sink, and names.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/nfs/look.h"

#define LIMIT    (64u * 1024 * 1024 + 65536)
#define SEQUENCE "53 x:16 1 0 0 1 "
#define PUTFH    "22 o:32 "
#define CHANNEL  "0 1049620 40000 4096 8 64 w:0*0 "

static struct nfs_msg *call;
static struct spec_items items;
static struct call_info call_info;

static void teardown(void)
{
	if (call)
		nfs_msg_free(call);
	call = NULL;
}

/* A Call with these arguments, of which nothing but the header has been looked at. */
static void begin(uint32_t prog, uint32_t vers, uint32_t proc, const char *args)
{
	struct look look;

	teardown();
	call = nfs_msg_call(prog, vers, proc, NULL);
	items.count = 0;
	spec_put(call, args, &items);
	look = look_at_msg(call, LIMIT);
	ck_assert(look_header(&look, &call_info));
}

/* Its first @have bytes are here. */
static void go_on(uint32_t have)
{
	const struct xdr_sg_entry piece = {nfs_msg_bytes(call), have};
	const struct xdr_sg pieces = {&piece, 1, nfs_msg_len(call)};

	nfs_call_walk_continue(&call_info, NULL, &pieces, NULL);
}

/* The whole Call, except @len bytes at @at. */
static void go_on_with_hole(uint32_t at, uint32_t len)
{
	const uint8_t *msg = nfs_msg_bytes(call);
	uint32_t end = at + len, all = nfs_msg_len(call);
	const struct xdr_sg_entry list[] = {{msg, at}, {NULL, len}, {msg + end, all - end}};
	const struct xdr_sg pieces = {list, 3, all};

	nfs_call_walk_continue(&call_info, NULL, &pieces, NULL);
}

static void is_first_item(void)
{
	ck_assert_uint_eq(call_info.arg.offset_bytes, items.list[0].offset_bytes);
	ck_assert_uint_eq(call_info.arg.len_bytes, items.list[0].len_bytes);
}

/* The facts of at most @bytes walked, and the limit that applies without a proof. */
static void is_allowed_besides(uint32_t bytes)
{
	ck_assert(!call_info.is_proved);
	ck_assert_uint_ge(call_info.reply_bound_bytes, REPLY_UNBOUNDED_BYTES);
	ck_assert_uint_le(call_info.reply_bound_bytes, REPLY_UNBOUNDED_BYTES + bytes);
}

START_TEST(the_header_says_how_large_most_replies_get)
{
	begin(100003, 3, 1, "o:28");
	ck_assert_int_eq(call_info.stage, CALL_INFO_HEAD);
	ck_assert_uint_lt(call_info.reply_bound_bytes, 1024);
	go_on(call_info.hdr.args_offset);
	ck_assert_int_eq(call_info.stage, CALL_INFO_COMPLETE);
	ck_assert_uint_eq(call_info.walk.steps, 0);
}
END_TEST

START_TEST(a_read_is_known_with_its_count)
{
	begin(100003, 3, 6, "o:28 q0 8192");
	ck_assert_int_eq(call_info.stage, CALL_INFO_HEAD);
	ck_assert_uint_eq(call_info.reply_bound_bytes, REPLY_UNBOUNDED_BYTES);
	go_on(nfs_msg_len(call) - 1);
	ck_assert_int_eq(call_info.stage, CALL_INFO_HEAD);
	go_on(nfs_msg_len(call));
	ck_assert_int_eq(call_info.stage, CALL_INFO_COMPLETE);
	ck_assert(call_info.is_proved);
	ck_assert_uint_lt(call_info.reply_bound_bytes, 8192 + 1024);
	ck_assert_uint_eq(call_info.bounds_bytes[0], 8192);
}
END_TEST

START_TEST(a_write_is_known_before_its_data_are_here)
{
	begin(100003, 3, 7, "o:28 q0 65536 2 d:65536");
	go_on(items.list[0].offset_bytes - 1);
	ck_assert_int_eq(call_info.stage, CALL_INFO_HEAD);
	go_on(items.list[0].offset_bytes);
	ck_assert_int_eq(call_info.stage, CALL_INFO_COMPLETE);
	ck_assert_uint_eq(call_info.narg_payloads, 1);
	ck_assert(call_info.arg_is_data);
	is_first_item();
}
END_TEST

START_TEST(in_a_compound_the_data_are_known_before_what_follows_them)
{
	begin(100003, 4, 1, "o:6 1 4 " SEQUENCE PUTFH "38 1 x:12 q0 2 d:65536 9 w:1*0x10");
	go_on(items.list[0].offset_bytes);
	ck_assert_int_eq(call_info.stage, CALL_INFO_DATA);
	ck_assert_uint_eq(call_info.nops, 3);
	is_first_item();
	is_allowed_besides(4096);
	/* No byte of the data leads on. */
	for (uint32_t have = 0; have < 65536; have += 4096)
		go_on(items.list[0].offset_bytes + have);
	ck_assert_uint_eq(call_info.walk.steps, 3);
	ck_assert_int_eq(call_info.stage, CALL_INFO_DATA);
	go_on(nfs_msg_len(call));
	ck_assert_int_eq(call_info.stage, CALL_INFO_COMPLETE);
	ck_assert_uint_eq(call_info.walk.steps, 4);
	ck_assert_uint_lt(call_info.reply_bound_bytes, 4096);
}
END_TEST

START_TEST(the_reply_bound_covers_parsed_operations_of_an_incomplete_call)
{
	begin(100003, 4, 1, "o:0 1 3 " SEQUENCE "25 1 x:12 q0 8388608 38 1 x:12 q0 2 d:65536");
	ck_assert_uint_eq(call_info.reply_bound_bytes, REPLY_UNBOUNDED_BYTES);
	go_on(items.list[0].offset_bytes - 12);
	ck_assert_int_eq(call_info.stage, CALL_INFO_HEAD);
	ck_assert_uint_ge(call_info.reply_bound_bytes, 8388608 + REPLY_UNBOUNDED_BYTES);
	is_allowed_besides(8388608 + 1024);
	go_on(nfs_msg_len(call));
	ck_assert_int_eq(call_info.stage, CALL_INFO_COMPLETE);
	ck_assert(call_info.is_proved);
	ck_assert_uint_lt(call_info.reply_bound_bytes, 8388608 + 2048);
}
END_TEST

START_TEST(data_in_a_read_chunk_hide_nothing)
{
	begin(100003, 4, 1, "o:6 1 4 " SEQUENCE PUTFH "38 1 x:12 q0 2 d:65536 9 w:1*0x10");
	go_on_with_hole(items.list[0].offset_bytes, items.list[0].len_bytes);
	ck_assert_int_eq(call_info.stage, CALL_INFO_COMPLETE);
	ck_assert_int_eq(call_info.parse, CALL_PARSE_OK);
	ck_assert_uint_eq(call_info.walk.steps, 4);
	is_first_item();
}
END_TEST

START_TEST(a_call_that_needs_bytes_of_a_hole_cannot_be_parsed)
{
	begin(100003, 4, 1, "o:6 1 5 " SEQUENCE PUTFH "38 1 x:12 q0 2 d:100 25 1 x:12 q0 100 24");
	/* The number of the operation behind the data. */
	go_on_with_hole(items.list[0].offset_bytes, items.list[0].len_bytes + 1);
	ck_assert_int_eq(call_info.stage, CALL_INFO_COMPLETE);
	ck_assert_int_eq(call_info.parse, CALL_PARSE_HOLE);
	is_allowed_besides(4096);
	ck_assert_uint_eq(call_info.narg_payloads, 0);
	ck_assert(!call_info.arg_is_data);
	ck_assert_uint_eq(call_info.nresult_payloads, 0);
	ck_assert_int_eq(call_info.results, CALL_RESULTS_UNKNOWN);
	/* Later calls change nothing. */
	go_on(nfs_msg_len(call));
	ck_assert_int_eq(call_info.parse, CALL_PARSE_HOLE);
	/* The length of the data themselves. */
	begin(100003, 3, 7, "o:28 q0 100 2 d:100");
	go_on_with_hole(items.list[0].offset_bytes - 4, 104);
	ck_assert_int_eq(call_info.parse, CALL_PARSE_HOLE);
	ck_assert_uint_eq(call_info.narg_payloads, 0);
	/*
	 * It cannot be told from the Call that its Reply has data, and they are found in the Reply.
	 */
	begin(100003, 3, 6, "o:28 q0 100");
	go_on_with_hole(nfs_msg_len(call) - 4, 4);
	ck_assert_int_eq(call_info.parse, CALL_PARSE_HOLE);
	is_allowed_besides(0);
	ck_assert_int_eq(call_info.results, CALL_RESULTS_MAYBE);
}
END_TEST

START_TEST(a_session_lowers_the_ceiling_as_soon_as_it_is_named)
{
	struct nfs_sessions sessions = {.count = 1, .next = 1};
	struct xdr_sg_entry piece;
	struct xdr_sg pieces = {&piece, 1, 0};

	sessions.list[0].max_response_bytes = 40000;
	begin(100003, 4, 1, "o:0 1 3 53 0 0 0 0 1 0 0 1 " PUTFH "25 1 x:12 q0 100000");
	pieces.len_bytes = nfs_msg_len(call);
	/* As far as the session's name, then the number of the next operation. */
	piece = (struct xdr_sg_entry){nfs_msg_bytes(call), call_info.hdr.args_offset + 4 * 4 + 16};
	nfs_call_walk_continue(&call_info, &sessions, &pieces, NULL);
	ck_assert_int_eq(call_info.stage, CALL_INFO_HEAD);
	ck_assert_uint_ge(call_info.reply_bound_bytes, 40000);
	ck_assert_uint_le(call_info.reply_bound_bytes, 41024);
	/* What cannot be followed after that keeps the session's ceiling. */
	pieces.len_bytes -= 4;
	piece.len_bytes = pieces.len_bytes;
	nfs_call_walk_continue(&call_info, &sessions, &pieces, NULL);
	ck_assert_int_eq(call_info.parse, CALL_PARSE_FAILED);
	ck_assert_uint_le(call_info.reply_bound_bytes, 41024);
	ck_assert_uint_eq(call_info.reply_bound_bytes, call_info.limit_bytes);
}
END_TEST

START_TEST(calls_that_may_create_a_session_are_known)
{
	static const struct {
		const char *args;
		bool may;
	} calls[] = {
		{"o:0 1 1 43 q1 1 3 " CHANNEL CHANNEL "0x40000000 n:1(0)", true},
		{"o:0 1 2 " SEQUENCE "43 q1 1 3 " CHANNEL CHANNEL "0x40000000 n:1(0)", true},
		{"o:0 1 1 43", true}, /* cut off: the server may yet understand more of it */
		{"o:0 1 3 " SEQUENCE "24 43 q1 1 3 " CHANNEL CHANNEL "0x40000000 n:1(0)", false},
		{"o:0 1 2 24 43 q1 1 3 " CHANNEL CHANNEL "0x40000000 n:1(0)", false},
		{"o:0 0 1 43 q1 1 3 " CHANNEL CHANNEL "0x40000000 n:1(0)", false},
		{"o:0 1 1 " SEQUENCE, false},
		{"o:0 1 0", false},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++) {
		begin(100003, 4, 1, calls[i].args);
		go_on(nfs_msg_len(call));
		ck_assert_msg(call_info.may_create_session == calls[i].may, "%s", calls[i].args);
	}
}
END_TEST

START_TEST(operations_are_listed_by_number)
{
	static const uint8_t want[] = {53, 22, 38, 9, CALL_OP_ILLEGAL};

	begin(100003, 4, 1, "o:6 1 5 " SEQUENCE PUTFH "38 1 x:12 q0 2 d:10 9 w:1*0x10 10044");
	go_on(nfs_msg_len(call));
	ck_assert_uint_eq(call_info.nops, ARRAY_SIZE(want));
	ck_assert_mem_eq(call_info.ops, want, sizeof(want));
	ck_assert_uint_eq(call_info.minor_version, 1);
	ck_assert_uint_eq(call_info.reply_ops, 0);
	/* More than there is room for are counted. */
	begin(100003, 4, 1, "o:6 1 n:1000(24)");
	go_on(nfs_msg_len(call));
	ck_assert_uint_eq(call_info.nops, 1000);
	ck_assert_int_eq(call_info.parse, CALL_PARSE_OK);
}
END_TEST

static struct nfs_opaque on_opaque[16];
static unsigned nheard;

static void hear(void *arg, const struct nfs_opaque *opaque)
{
	ck_assert_ptr_eq(arg, &nheard);
	ck_assert_uint_lt(nheard, ARRAY_SIZE(on_opaque));
	on_opaque[nheard++] = *opaque;
}

static void listen(void)
{
	const struct nfs_sink sink = {hear, &nheard};
	const struct xdr_sg_entry piece = {nfs_msg_bytes(call), nfs_msg_len(call)};
	const struct xdr_sg pieces = {&piece, 1, piece.len_bytes};

	nheard = 0;
	nfs_call_walk_continue(&call_info, NULL, &pieces, &sink);
}

static void was_heard(unsigned i, uint32_t op, unsigned index, uint32_t len, bool is_payload)
{
	ck_assert_uint_eq(on_opaque[i].op, op);
	ck_assert_uint_eq(on_opaque[i].index, index);
	ck_assert_uint_eq(on_opaque[i].len_bytes, len);
	ck_assert(on_opaque[i].is_payload == is_payload);
	ck_assert_uint_eq(be32_get(nfs_msg_bytes(call) + on_opaque[i].offset_bytes - 4), len);
}

START_TEST(a_sink_is_notified_of_each_opaque_and_its_place)
{
	begin(100003, 4, 1,
	      "o:6 1 6 " SEQUENCE PUTFH
	      "38 1 x:12 q0 2 d:4099 29 o:3 o:5 6 5 d:11 o:4 w:1*0 o:7 24");
	listen();
	ck_assert_int_eq(call_info.parse, CALL_PARSE_OK);
	ck_assert_uint_eq(nheard, 8);
	was_heard(0, NFS_OPAQUE_TAG, 0, 6, false);
	was_heard(1, 1, 0, 32, false);
	was_heard(2, 2, 0, 4099, true);
	was_heard(3, 3, 0, 3, false);
	was_heard(4, 3, 1, 5, false);
	was_heard(5, 4, 0, 11, true);
	was_heard(6, 4, 1, 4, false);
	was_heard(7, 4, 2, 7, false);
	/* Also of a procedure of which nothing else is of interest. */
	begin(100003, 3, 3, "o:28 o:9");
	listen();
	ck_assert_int_eq(call_info.stage, CALL_INFO_COMPLETE);
	ck_assert_uint_eq(nheard, 2);
	was_heard(0, 0, 0, 28, false);
	was_heard(1, 0, 1, 9, false);
}
END_TEST

START_TEST(a_sink_is_notified_of_data_beyond_the_end_of_the_call)
{
	begin(100003, 3, 7, "o:28 q0 100 2 100 x:96");
	listen();
	ck_assert_int_eq(call_info.parse, CALL_PARSE_FAILED);
	ck_assert_uint_eq(nheard, 2);
	was_heard(1, 0, 1, 100, true);
	/* In a COMPOUND nothing behind them can be told. */
	begin(100003, 4, 1, "o:6 1 3 " SEQUENCE "38 1 x:12 q0 2 4000000000 38 1 x:12 q0 2 d:4");
	listen();
	ck_assert_int_eq(call_info.parse, CALL_PARSE_FAILED);
	ck_assert_uint_eq(nheard, 2);
	was_heard(1, 1, 0, 4000000000u, true);
}
END_TEST

START_TEST(listening_to_arguments_that_do_not_matter_loses_nothing)
{
	begin(100003, 3, 3, "o:28 99");
	listen();
	ck_assert_int_eq(call_info.stage, CALL_INFO_COMPLETE);
	ck_assert_int_eq(call_info.parse, CALL_PARSE_OK);
	ck_assert_uint_lt(call_info.reply_bound_bytes, 1024);
	ck_assert_uint_eq(nheard, 2);
	was_heard(1, 0, 1, 99, false);
}
END_TEST

START_TEST(the_flavour_decides_which_bytes_are_visible)
{
	static const struct {
		struct nfs_msg_auth auth;
		enum call_body_kind body;
		enum call_info_stage stage;
	} flavors[] = {
		{{RPC_AUTH_SYS, 0, 0, 0}, CALL_BODY_PLAIN, CALL_INFO_HEAD},
		{{RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_NONE, 0}, CALL_BODY_PLAIN, CALL_INFO_HEAD},
		{{RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_INTEGRITY, 0},
		 CALL_BODY_INTEGRITY,
		 CALL_INFO_HEAD},
		{{RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_PRIVACY, 0},
		 CALL_BODY_OPAQUE,
		 CALL_INFO_COMPLETE},
		{{RPC_AUTH_GSS, RPC_GSS_DATA, 9, 0}, CALL_BODY_OPAQUE, CALL_INFO_COMPLETE},
		{{RPC_AUTH_GSS, RPC_GSS_INIT, 0, 0}, CALL_BODY_CONTROL, CALL_INFO_COMPLETE},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(flavors); i++) {
		struct nfs_msg *msg = nfs_msg_call(100003, 3, 6, &flavors[i].auth);
		const struct look look = look_at_msg(msg, LIMIT);

		ck_assert(look_header(&look, &call_info));
		ck_assert_int_eq(call_info.body, flavors[i].body);
		ck_assert_int_eq(call_info.stage, flavors[i].stage);
		nfs_msg_free(msg);
	}
}
END_TEST

START_TEST(procedures_have_names)
{
	static const struct {
		uint32_t prog, vers, proc;
		const char *name;
	} names[] = {
		{100003, 2, 6, "NFS2.READ"},
		{100003, 3, 7, "NFS3.WRITE"},
		{100003, 4, 0, "NFS4.NULL"},
		{100003, 4, 1, "NFS4.COMPOUND"},
		{100005, 1, 1, "MOUNT1.MNT"},
		{100021, 4, 2, "NLM4.LOCK"},
		{100024, 1, 6, "NSM1.NOTIFY"},
		{100227, 3, 1, "NFSACL3.GETACL"},
		{100000, 2, 3, "RPCBIND2.GETPORT"},
		{0x40000000, 1, 1, "NFS_CB1.CB_COMPOUND"},
		{0x40000000, 4, 0, "NFS_CB4.CB_NULL"},
		{100003, 3, 22, "100003.3.22"},
		{100003, 9, 1, "100003.9.1"},
		{UINT32_MAX, UINT32_MAX, UINT32_MAX, "4294967295.4294967295.4294967295"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		char name[CALL_NAME_BYTES];

		begin(names[i].prog, names[i].vers, names[i].proc, "");
		call_info_name(&call_info, name);
		ck_assert_str_eq(name, names[i].name);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_facts");
	TCase *tc = tcase_create("nfs_facts");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, the_header_says_how_large_most_replies_get);
	tcase_add_test(tc, a_read_is_known_with_its_count);
	tcase_add_test(tc, a_write_is_known_before_its_data_are_here);
	tcase_add_test(tc, in_a_compound_the_data_are_known_before_what_follows_them);
	tcase_add_test(tc, the_reply_bound_covers_parsed_operations_of_an_incomplete_call);
	tcase_add_test(tc, data_in_a_read_chunk_hide_nothing);
	tcase_add_test(tc, a_call_that_needs_bytes_of_a_hole_cannot_be_parsed);
	tcase_add_test(tc, a_session_lowers_the_ceiling_as_soon_as_it_is_named);
	tcase_add_test(tc, calls_that_may_create_a_session_are_known);
	tcase_add_test(tc, operations_are_listed_by_number);
	tcase_add_test(tc, a_sink_is_notified_of_each_opaque_and_its_place);
	tcase_add_test(tc, a_sink_is_notified_of_data_beyond_the_end_of_the_call);
	tcase_add_test(tc, listening_to_arguments_that_do_not_matter_loses_nothing);
	tcase_add_test(tc, the_flavour_decides_which_bytes_are_visible);
	tcase_add_test(tc, procedures_have_names);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

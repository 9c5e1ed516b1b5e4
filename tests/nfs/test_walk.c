// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the walk of a Call that is in pieces or still arriving. Wherever it is cut, the facts are
 * those of the whole Call. Each operation is walked once, except the one at a cut. The maximum
 * Reply size never rises.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/hex.h"
#include "tests/lib/test.h"
#include "tests/nfs/compounds.h"
#include "tests/nfs/corpus.h"
#include "tests/nfs/look.h"
#include "tests/nfs/rows.h"

#define LIMIT     (64u * 1024 * 1024 + 65536)
#define COMPOUNDS 150u
#define EVERY_CUT                                                                                  \
	400u /* from the start of a message; then here and there, or it would take minutes */
#define FURTHER_CUT 61u
#define MAX_HEARD   256u

/* The events that a sink received. */
struct on_opaque {
	unsigned count;
	struct nfs_opaque list[MAX_HEARD];
};

/* A Call that is tried, and what one walk of the whole says. */
static struct look look;
static struct call_info want;
static struct on_opaque want_heard;

static void hear(void *arg, const struct nfs_opaque *opaque)
{
	struct on_opaque *on_opaque = arg;

	if (on_opaque->count < MAX_HEARD)
		on_opaque->list[on_opaque->count] = *opaque;
	on_opaque->count++;
}

static void same_heard(const struct on_opaque *on_opaque)
{
	ck_assert_uint_eq(on_opaque->count, want_heard.count);
	for (unsigned i = 0; i < on_opaque->count && i < MAX_HEARD; i++) {
		const struct nfs_opaque *a = &on_opaque->list[i], *b = &want_heard.list[i];

		ck_assert(a->offset_bytes == b->offset_bytes && a->len_bytes == b->len_bytes &&
			  a->op == b->op && a->index == b->index && a->is_payload == b->is_payload);
	}
}

static uint32_t next_cut(uint32_t cut)
{
	return cut < EVERY_CUT ? cut + 1 : cut + FURTHER_CUT;
}

/* The Call in two pieces of memory. */
static void check_two_pieces(uint32_t cut)
{
	uint8_t *head = exact_copy(look.msg, cut);
	uint8_t *tail = exact_copy(look.msg + cut, look.len_bytes - cut);
	const struct xdr_sg_entry list[] = {{head, cut}, {tail, look.len_bytes - cut}};
	const struct xdr_sg pieces = {list, 2, look.len_bytes};
	struct on_opaque on_opaque = {0};
	const struct nfs_sink sink = {hear, &on_opaque};
	struct call_info call_info;

	ck_assert(look_header(&look, &call_info));
	nfs_call_walk_continue(&call_info, NULL, &pieces, NULL);
	ck_assert_msg(look_same(&call_info, &want), "two pieces, cut at %u", cut);
	ck_assert_uint_eq(call_info.walk.steps, want.walk.steps);
	ck_assert(look_header(&look, &call_info));
	nfs_call_walk_continue(&call_info, NULL, &pieces, &sink);
	same_heard(&on_opaque);
	free(head);
	free(tail);
}

/* What must hold of facts while the Call still comes. */
static void check_so_far(const struct call_info *call_info, const struct call_info *before)
{
	ck_assert_int_ge(call_info->stage, before->stage);
	if (call_info->stage != CALL_INFO_COMPLETE) {
		ck_assert_uint_ge(call_info->reply_bound_bytes, before->reply_bound_bytes);
		ck_assert_uint_le(call_info->reply_bound_bytes,
				  (uint64_t)want.reply_bound_bytes + REPLY_UNBOUNDED_BYTES);
	}
	if (call_info->stage == CALL_INFO_DATA && want.parse == CALL_PARSE_OK) {
		ck_assert_uint_eq(call_info->arg.offset_bytes, want.arg.offset_bytes);
		ck_assert_uint_eq(call_info->arg.len_bytes, want.arg.len_bytes);
	}
}

/* More of the Call is here: @have of its bytes. */
static void arrive(struct call_info *call_info, uint32_t have, const struct nfs_sink *sink)
{
	uint8_t *copy = exact_copy(look.msg, have);
	const struct xdr_sg_entry piece = {copy, have};
	const struct xdr_sg pieces = {&piece, 1, look.len_bytes};
	struct call_info before = *call_info;

	nfs_call_walk_continue(call_info, NULL, &pieces, sink);
	check_so_far(call_info, &before);
	free(copy);
}

static void check_two_arrivals(uint32_t cut)
{
	struct call_info call_info;

	if (cut < want.hdr.args_offset)
		return;
	ck_assert(look_header(&look, &call_info));
	arrive(&call_info, cut, NULL);
	arrive(&call_info, look.len_bytes, NULL);
	ck_assert_msg(look_same(&call_info, &want), "two arrivals, cut at %u", cut);
	/* The operation that the cut goes through is begun twice. */
	ck_assert_uint_le(call_info.walk.steps, want.walk.steps + 1);
}

static void check_byte_by_byte(void)
{
	struct on_opaque on_opaque = {0};
	const struct nfs_sink sink = {hear, &on_opaque};
	struct call_info call_info, unheard;

	ck_assert(look_header(&look, &call_info));
	unheard = call_info;
	for (uint32_t have = want.hdr.args_offset; have < look.len_bytes; have = next_cut(have)) {
		arrive(&call_info, have, &sink);
		arrive(&unheard, have, NULL);
		ck_assert_uint_le(call_info.walk.wasted_bytes, 2 * have);
	}
	arrive(&call_info, look.len_bytes, &sink);
	arrive(&unheard, look.len_bytes, NULL);
	ck_assert_msg(look_same(&call_info, &want), "byte by byte");
	ck_assert_msg(look_same(&unheard, &want), "byte by byte");
	same_heard(&on_opaque);
}

static void check_pieces_of_one_byte(void)
{
	struct xdr_sg_entry *list = calloc(look.len_bytes, sizeof(*list));
	const struct xdr_sg pieces = {list, look.len_bytes, look.len_bytes};
	struct call_info call_info;

	ck_assert(list);
	for (uint32_t i = 0; i < look.len_bytes; i++)
		list[i] = (struct xdr_sg_entry){look.msg + i, 1};
	ck_assert(look_header(&look, &call_info));
	nfs_call_walk_continue(&call_info, NULL, &pieces, NULL);
	ck_assert_msg(look_same(&call_info, &want), "pieces of one byte");
	ck_assert_uint_eq(call_info.walk.steps, want.walk.steps);
	free(list);
}

/* The payload as a read chunk brings it, with its padding or without. */
static void check_hole(bool with_pad)
{
	uint32_t at = want.arg.offset_bytes, len = want.arg.len_bytes;
	uint32_t end = at + (with_pad ? (uint32_t)xdr_padded_bytes(len) : len);
	uint8_t *head = exact_copy(look.msg, at);
	uint8_t *tail = exact_copy(look.msg + end, look.len_bytes - end);
	const struct xdr_sg_entry list[] = {
		{head, at}, {NULL, end - at}, {tail, look.len_bytes - end}};
	const struct xdr_sg pieces = {list, 3, look.len_bytes};
	struct call_info call_info;

	ck_assert(look_header(&look, &call_info));
	nfs_call_walk_continue(&call_info, NULL, &pieces, NULL);
	ck_assert_msg(look_same(&call_info, &want), "a payload of %u bytes that is a hole", len);
	ck_assert_uint_eq(call_info.walk.steps, want.walk.steps);
	free(head);
	free(tail);
}

static void check_call(const char *name, const uint8_t *msg, uint32_t len)
{
	const struct xdr_sg_entry piece = {msg, len};
	const struct xdr_sg pieces = {&piece, 1, len};
	const struct nfs_sink sink = {hear, &want_heard};
	struct call_info call_info;

	look = (struct look){msg, len, LIMIT, NULL};
	look_whole(&look, &want);
	want_heard.count = 0;
	ck_assert(look_header(&look, &call_info));
	nfs_call_walk_continue(&call_info, NULL, &pieces, &sink);
	ck_assert_msg(look_same(&call_info, &want), "%s: a listener changes what is found", name);
	if (want.compound && want.parse == CALL_PARSE_OK)
		ck_assert_msg(want.walk.steps == want.nops, "%s: %u operations, walked %u times",
			      name, want.nops, want.walk.steps);
	for (uint32_t cut = 0; cut < len; cut = next_cut(cut)) {
		check_two_pieces(cut);
		check_two_arrivals(cut);
	}
	check_byte_by_byte();
	check_pieces_of_one_byte();
	if (want.narg_payloads) {
		check_hole(true);
		check_hole(false);
	}
}

static void check_msg(const char *name, const struct nfs_msg *call)
{
	check_call(name, nfs_msg_bytes(call), nfs_msg_len(call));
}

static void check_pair(const struct corpus_pair *pair, void *arg)
{
	check_call(pair->name, pair->call, pair->call_bytes);
}

START_TEST(captured_calls_are_the_same_however_cut)
{
	ck_assert_int_ge(corpus_each(check_pair, NULL), 80);
}
END_TEST

START_TEST(every_procedure_and_operation_is_the_same_however_cut)
{
	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++) {
			struct row_built built;

			row_build(&built, row, NULL);
			check_msg(row->name, built.call);
			row_free(&built);
		}
}
END_TEST

START_TEST(compounds_of_many_operations_are_the_same_however_cut)
{
	unsigned several = 0;

	for (uint32_t seed = 0; seed < COMPOUNDS; seed++) {
		struct row_built built;

		compound_build(&built, seed, false);
		check_msg("COMPOUND", built.call);
		several += want.nops > 8;
		row_free(&built);
	}
	ck_assert_uint_gt(several, COMPOUNDS / 4);
}
END_TEST

START_TEST(calls_with_integrity_are_the_same_however_cut)
{
	static const struct nfs_msg_auth krb5i = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_INTEGRITY, 0};
	static const struct {
		uint32_t vers, proc;
		const char *args;
		enum call_parse parse;
	} calls[] = {
		{4, 1, "x:8 o:6 1 3 53 x:16 1 0 0 1 22 o:32 38 1 x:12 q0 2 o:100 o:28",
		 CALL_PARSE_OK},
		{3, 7, "x:8 o:28 q0 100 2 o:100 o:28", CALL_PARSE_OK},
		{3, 1, "x:8 o:28 o:28", CALL_PARSE_OK},
		{3, 1, "x:4", CALL_PARSE_FAILED},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++) {
		struct nfs_msg *call = nfs_msg_call(100003, calls[i].vers, calls[i].proc, &krb5i);
		struct spec_items none = {0};

		spec_put(call, calls[i].args, &none);
		check_msg(calls[i].args, call);
		ck_assert_int_eq(want.parse, calls[i].parse);
		ck_assert(calls[i].parse == CALL_PARSE_OK
				  ? want.reply_bound_bytes < 4096
				  : want.reply_bound_bytes == REPLY_UNBOUNDED_BYTES);
		ck_assert_uint_eq(want.narg_payloads, 0);
		nfs_msg_free(call);
	}
}
END_TEST

START_TEST(calls_that_cannot_be_followed_are_the_same_however_cut)
{
	static const char *const calls[] = {
		"o:6 0 2 25 1 x:12 q0 10",           /* ends too early */
		"o:6 0 2 25 1 x:12 q0 10 99 1",      /* an operation that nobody knows */
		"o:6 3 1 24",                        /* a minor version that nobody knows */
		"o:6 0 3 24 9 w:9*0 24",             /* a bitmap that is too long */
		"o:6 0 2 38 1 x:12 q0 2 o:9 22 999", /* a handle that is not there */
		"o:6 0 4294967295 24 24",            /* more operations than fit */
		"o:6 0",
		"999999",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++) {
		struct nfs_msg *call = nfs_msg_call(100003, 4, 1, NULL);
		struct spec_items none = {0};

		spec_put(call, calls[i], &none);
		check_msg(calls[i], call);
		ck_assert_int_eq(want.parse, CALL_PARSE_FAILED);
		ck_assert(!want.is_proved);
		ck_assert_uint_ge(want.reply_bound_bytes, REPLY_UNBOUNDED_BYTES);
		ck_assert_uint_le(want.reply_bound_bytes, REPLY_UNBOUNDED_BYTES + 4096);
		ck_assert_uint_eq(want.narg_payloads + want.nresult_payloads, 0);
		nfs_msg_free(call);
	}
}
END_TEST

/* Lets a COMPOUND come by @step bytes. Returns what it took. */
static struct call_walk_state walk_by(const struct nfs_msg *call, uint32_t step)
{
	const struct look by = look_at_msg(call, LIMIT);
	struct call_info call_info;

	ck_assert(look_header(&by, &call_info));
	for (uint32_t have = call_info.hdr.args_offset; call_info.stage != CALL_INFO_COMPLETE;
	     have += step) {
		const struct xdr_sg_entry piece = {by.msg,
						   have < by.len_bytes ? have : by.len_bytes};
		const struct xdr_sg pieces = {&piece, 1, by.len_bytes};

		ck_assert_uint_le(have, by.len_bytes + step);
		nfs_call_walk_continue(&call_info, NULL, &pieces, NULL);
	}
	ck_assert_int_eq(call_info.parse, CALL_PARSE_OK);
	return call_info.walk;
}

START_TEST(an_operation_of_a_megabyte_is_begun_seldom)
{
	struct nfs_msg *call = nfs_msg_call(100003, 4, 1, NULL);
	struct spec_items none = {0};
	struct call_walk_state walk;

	/*
	 * BACKCHANNEL_CTL with as many security flavours as are walked: of each there are lengths
	 * that have to be read.
	 */
	spec_put(call, "o:0 1 1 40 0x40000000 n:1024(6 1 o:480 o:480)", &none);
	walk = walk_by(call, 4);
	ck_assert_uint_le(walk.steps, 32);
	ck_assert_uint_le(walk.wasted_bytes, 2 * nfs_msg_len(call));
	nfs_msg_free(call);
}
END_TEST

START_TEST(many_operations_are_walked_once_each_as_they_come)
{
	struct nfs_msg *call = nfs_msg_call(100003, 4, 1, NULL);
	struct spec_items none = {0};
	struct call_walk_state walk;

	spec_put(call, "o:0 0 n:1000(24)", &none);
	walk = walk_by(call, 1);
	ck_assert_uint_eq(walk.steps, 1000);
	ck_assert_uint_le(walk.wasted_bytes, 12); /* the frame, in three steps */
	nfs_msg_free(call);
	/* Those that are cut through are begun again: here one in five. */
	call = nfs_msg_call(100003, 4, 1, NULL);
	spec_put(call, "o:0 0 n:1000(9 w:3*0)", &none);
	walk = walk_by(call, 100);
	ck_assert_uint_le(walk.steps, 1000 + 1000 / 5);
	nfs_msg_free(call);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_walk");
	TCase *tc = tcase_create("nfs_walk");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, captured_calls_are_the_same_however_cut);
	tcase_add_test(tc, every_procedure_and_operation_is_the_same_however_cut);
	tcase_add_test(tc, compounds_of_many_operations_are_the_same_however_cut);
	tcase_add_test(tc, calls_with_integrity_are_the_same_however_cut);
	tcase_add_test(tc, calls_that_cannot_be_followed_are_the_same_however_cut);
	tcase_add_test(tc, an_operation_of_a_megabyte_is_begun_seldom);
	tcase_add_test(tc, many_operations_are_walked_once_each_as_they_come);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

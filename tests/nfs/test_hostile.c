// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests hostile messages: every Call and Reply is cut at each byte, has each bit flipped, and has
 * each word set to its largest value. Nothing is read beyond the end: the copies have their exact
 * size, so that sanitizers detect it. No result lies beyond the end.
 */
#include <stdlib.h>
#include <string.h>

#include "nfs/proc_table.h"
#include "tests/lib/test.h"
#include "tests/nfs/look.h"
#include "tests/nfs/rows.h"

#define LIMIT      (64u * 1024 * 1024 + 65536)
#define HEAD_BYTES 600u /* of a message that are varied: beyond it is mostly filling */

static void inside(const struct rpc_payload *list, int count, uint32_t len)
{
	for (int i = 0; i < count; i++) {
		ck_assert_uint_le(list[i].offset_bytes, len);
		ck_assert_uint_le(list[i].len_bytes, len - list[i].offset_bytes);
	}
}

/* All that is done with a Call, then with the Reply, on copies of their exact sizes. */
static void use(const uint8_t *call, uint32_t call_len, const uint8_t *reply, uint32_t reply_len)
{
	uint8_t *c = malloc(call_len + 1), *r = malloc(reply_len + 1);
	struct nfs_sessions sessions = {0};
	struct rpc_payload found[4];
	struct call_info call_info;
	struct spec_items items;
	struct look look;
	int count;

	ck_assert(c && r);
	c = realloc(memcpy(c, call, call_len), call_len ? call_len : 1);
	r = realloc(memcpy(r, reply, reply_len), reply_len ? reply_len : 1);
	look = (struct look){c, call_len, LIMIT, &sessions};
	if (look_header(&look, &call_info)) {
		count = look_payloads(&look, &call_info, &items);
		inside(items.list, count, call_len);
		ck_assert_uint_le(call_info.reply_bound_bytes, LIMIT);
		ck_assert_uint_le(call_info.reply_ops, CALL_MAX_OPS);
		count = nfs_reply_ddp_items(&call_info, r, reply_len, found, 4);
		ck_assert_int_le(count, 4);
		inside(found, count, reply_len);
		nfs_sessions_learn(&sessions, &call_info, r, reply_len);
		look_whole(&look, &call_info);
		ck_assert_uint_le(call_info.limit_bytes, LIMIT);
		ck_assert_uint_le(call_info.reply_bound_bytes, call_info.limit_bytes);
	}
	free(c);
	free(r);
}

static uint32_t varied(uint32_t len)
{
	return len < HEAD_BYTES ? len : HEAD_BYTES;
}

static void each_row(void (*check)(const struct row_built *built))
{
	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++) {
			struct row_built built;

			row_build(&built, row, NULL);
			check(&built);
			row_free(&built);
		}
}

static void cut(const struct row_built *built)
{
	const uint8_t *call = nfs_msg_bytes(built->call), *reply = nfs_msg_bytes(built->reply);
	uint32_t call_len = nfs_msg_len(built->call), reply_len = nfs_msg_len(built->reply);

	for (uint32_t len = 0; len <= varied(call_len); len++)
		use(call, len, reply, reply_len < 4096 ? reply_len : 0);
	for (uint32_t len = 0; len <= varied(reply_len); len++)
		use(call, call_len, reply, len);
}

START_TEST(cut_off_at_each_byte)
{
	each_row(cut);
}
END_TEST

/* Changes a word of either message in turn by way of @change, uses them, and puts it back. */
static void vary(const struct row_built *built, uint32_t step,
		 void (*change)(uint8_t *at, uint32_t offset))
{
	struct nfs_msg *const msgs[] = {built->call, built->reply};

	for (unsigned m = 0; m < 2; m++) {
		uint8_t *bytes = msgs[m]->out.start;

		for (uint32_t offset = 0; offset < varied(nfs_msg_len(msgs[m])); offset += step) {
			uint8_t saved[4];

			memcpy(saved, bytes + offset, step < 4 ? 1 : 4);
			change(bytes + offset, offset);
			use(nfs_msg_bytes(built->call), nfs_msg_len(built->call),
			    nfs_msg_bytes(built->reply), nfs_msg_len(built->reply));
			memcpy(bytes + offset, saved, step < 4 ? 1 : 4);
		}
	}
}

static void flip_one(uint8_t *at, uint32_t offset)
{
	*at ^= (uint8_t)(1u << (offset * 5 % 8));
}

static void flip(const struct row_built *built)
{
	vary(built, 1, flip_one);
}

START_TEST(a_bit_flipped_in_each_byte)
{
	each_row(flip);
}
END_TEST

static void set_huge(uint8_t *at, uint32_t offset)
{
	memset(at, 0xff, 4);
}

static void set_large(uint8_t *at, uint32_t offset)
{
	memcpy(at, "\x3f\xff\xff\xff", 4);
}

static void huge(const struct row_built *built)
{
	vary(built, 4, set_huge);
	vary(built, 4, set_large);
}

START_TEST(each_word_as_large_as_can_be)
{
	each_row(huge);
}
END_TEST

/* How deep a type nests, and that its fields keep to what the walker allows. */
static unsigned depth_of(const struct nfs_field *type)
{
	unsigned deepest = 0;

	for (; type->kind != NFS_END; type++) {
		unsigned depth = 0;

		if (type->mark == NFS_MARK_ATTRS)
			ck_assert_uint_le(type->n, NFS_MARK_ATTRS_WORDS);
		if (type->mark == NFS_MARK_SESSION)
			ck_assert_uint_eq(type->n, NFS_MARK_SESSION_BYTES);
		if (type->kind == NFS_ARRAY)
			ck_assert_int_ne(type->type->kind, NFS_END);
		if (type->type)
			depth = depth_of(type->type);
		if (type->fail && depth_of(type->fail) > depth)
			depth = depth_of(type->fail);
		for (unsigned i = 0; type->arms && i < type->arms->count; i++) {
			unsigned arm = depth_of(type->arms->arms[i].type);

			depth = arm > depth ? arm : depth;
		}
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest + 1;
}

START_TEST(types_nest_no_deeper_than_they_may)
{
	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++) {
			const struct nfs_proc *proc =
				row->minor_version < 0
					? nfs_proc_find(row->prog, row->vers, row->proc)
					: nfs_op_find(row->prog != 100003,
						      (uint32_t)row->minor_version, row->op);

			ck_assert_uint_le(depth_of(proc->args), NFS_MAX_DEPTH);
			ck_assert_uint_le(depth_of(proc->results), NFS_MAX_DEPTH);
		}
}
END_TEST

START_TEST(a_list_of_a_megabyte_is_walked_without_depth)
{
	struct nfs_msg *reply = nfs_msg_new();
	const struct nfs_proc *dump = nfs_proc_find(100005, 3, 2);
	struct nfs_marks marks = {0};
	struct spec_items none = {0};
	struct xdr_sg_reader at;

	spec_put(reply, "r:100000(1 o:0 o:0) 0", &none);
	xdr_sg_reader_init_flat(&at, nfs_msg_bytes(reply), nfs_msg_len(reply));
	ck_assert(nfs_walk(&at, dump->results, &marks));
	ck_assert_uint_eq(xdr_sg_remaining_bytes(&at), 0);
	nfs_msg_free(reply);
}
END_TEST

START_TEST(a_boolean_that_is_neither_is_refused)
{
	struct nfs_msg *reply = nfs_msg_new();
	const struct nfs_proc *dump = nfs_proc_find(100005, 3, 2);
	struct nfs_marks marks = {0};
	struct spec_items none = {0};
	struct xdr_sg_reader at;

	spec_put(reply, "2 o:0 o:0 0", &none);
	xdr_sg_reader_init_flat(&at, nfs_msg_bytes(reply), nfs_msg_len(reply));
	ck_assert(!nfs_walk(&at, dump->results, &marks));
	nfs_msg_free(reply);
}
END_TEST

START_TEST(values_above_a_maximum_are_refused)
{
	static const struct {
		uint32_t vers, proc;
		const char *args;
	} calls[] = {
		{3, 6, "o:65 q0 100"}, /* a file handle of 65 bytes */
		{3, 5, "o:68"},
		{2, 4, "x:32 o:256"}, /* a name of 256 */
		{2, 13, "x:32 o:1 o:1025 1 2 3 4 5 6 7 8"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++) {
		struct nfs_msg *msg = nfs_msg_new();
		const struct nfs_proc *proc = nfs_proc_find(100003, calls[i].vers, calls[i].proc);
		struct nfs_marks marks = {0};
		struct spec_items none = {0};
		struct xdr_sg_reader at;

		spec_put(msg, calls[i].args, &none);
		xdr_sg_reader_init_flat(&at, nfs_msg_bytes(msg), nfs_msg_len(msg));
		ck_assert_msg(!nfs_walk(&at, proc->args, &marks), "%s", calls[i].args);
		nfs_msg_free(msg);
	}
}
END_TEST

/*
 * Calls that an attacker sends to keep a worker busy, and the largest of their kind that is walked.
 */
#define CHANNEL "0 1049620 1049480 4096 8 64 w:0*0 "
static const struct {
	const char *args;
	bool walked;
} busy[] = {
	{"o:6 0 n:1024(10)", true},
	{"o:6 0 n:1025(10)", false},
	{"o:6 0 n:1000000(10)", false},
	{"o:6 1 1 40 1 n:1024(0)", true},
	{"o:6 1 1 40 1 n:1025(0)", false},
	{"o:6 1 1 40 1 n:1000000(0)", false},
	{"o:6 1 2 40 1 n:512(0) 40 1 n:512(0)", true},
	{"o:6 1 2 40 1 n:512(0) 40 1 n:513(0)", false},
	{"o:6 1 1 43 q1 1 3 " CHANNEL CHANNEL "0x40000000 n:1000000(0)", false},
	/* Arrays of arrays: hash_algs and encr_algs of EXCHANGE_ID. */
	{"o:6 1 1 42 x:8 o:4 0 2 w:0*0 w:0*0 n:600(o:0) n:424(o:0) 1 1 0", true},
	{"o:6 1 1 42 x:8 o:4 0 2 w:0*0 w:0*0 n:600(o:0) n:425(o:0) 1 1 0", false},
	{"o:6 2 1000 r:1000(40 1 n:900(0))", false},
};

START_TEST(no_call_is_walked_for_long)
{
	struct nfs_msg *call = nfs_msg_call(100003, 4, 1, NULL);
	struct nfs_sessions sessions = {0};
	struct spec_items none = {0};
	struct call_info call_info;
	struct look look;

	spec_put(call, busy[_i].args, &none);
	look = look_at_msg(call, LIMIT);
	look.sessions = &sessions;
	look_whole(&look, &call_info);
	ck_assert_int_eq(call_info.parse, busy[_i].walked ? CALL_PARSE_OK : CALL_PARSE_FAILED);
	ck_assert_uint_le(call_info.walk.steps, CALL_MAX_OPS);
	ck_assert_uint_le(call_info.walk.elements, CALL_MAX_ELEMENTS);
	/* As of a program that is not known. */
	ck_assert(busy[_i].walked ||
		  (!call_info.nresult_payloads && !call_info.narg_payloads &&
		   !call_info.is_proved && call_info.results == CALL_RESULTS_UNKNOWN &&
		   call_info.reply_bound_bytes >= REPLY_UNBOUNDED_BYTES));
	nfs_msg_free(call);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_hostile");
	TCase *tc = tcase_create("nfs_hostile");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, cut_off_at_each_byte);
	tcase_add_test(tc, a_bit_flipped_in_each_byte);
	tcase_add_test(tc, each_word_as_large_as_can_be);
	tcase_add_test(tc, types_nest_no_deeper_than_they_may);
	tcase_add_test(tc, a_list_of_a_megabyte_is_walked_without_depth);
	tcase_add_test(tc, a_boolean_that_is_neither_is_refused);
	tcase_add_test(tc, values_above_a_maximum_are_refused);
	tcase_add_loop_test(tc, no_call_is_walked_for_long, 0, ARRAY_SIZE(busy));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests captured traffic: real Replies never exceed the computed maximum, and every message can be
 * parsed.
 */
#include "nfs/compound.h"
#include "tests/lib/test.h"
#include "tests/nfs/corpus.h"
#include "tests/nfs/look.h"

#define LIMIT (64u * 1024 * 1024 + 65536)

static unsigned items;

static struct look conn_tick(const struct corpus_pair *pair)
{
	return (struct look){pair->call, pair->call_bytes, LIMIT, NULL};
}

static void check_ceiling(const struct corpus_pair *pair, void *arg)
{
	const struct look look = conn_tick(pair);
	struct call_info call_info;

	look_whole(&look, &call_info);
	ck_assert_msg(call_info.reply_bound_bytes >= pair->reply_bytes,
		      "%s: ceiling %u under its reply of %u bytes", pair->name,
		      call_info.reply_bound_bytes, pair->reply_bytes);
	/* The lists without a limit are of other programs. */
	if (call_info.hdr.prog == 100003)
		ck_assert_msg(call_info.is_proved, "%s: not bounded", pair->name);
}

START_TEST(ceilings_hold_real_replies)
{
	ck_assert_int_ge(corpus_each(check_ceiling, NULL), 80);
}
END_TEST

static void check_followed(const struct corpus_pair *pair, void *arg)
{
	const struct look look = conn_tick(pair);
	struct spec_items in_call;
	struct rpc_payload found[4];
	struct call_info call_info;
	int count = look_payloads(&look, &call_info, &in_call);

	ck_assert_msg(count >= 0, "%s: call not followed", pair->name);
	items += (unsigned)count;
	count = nfs_reply_ddp_items(&call_info, pair->reply, pair->reply_bytes, found, 4);
	ck_assert_msg(count >= 0, "%s: reply not followed", pair->name);
	items += (unsigned)count;
}

START_TEST(real_calls_and_replies_can_be_followed)
{
	items = 0;
	ck_assert_int_ge(corpus_each(check_followed, NULL), 80);
	ck_assert_uint_ge(items, 8);
}
END_TEST

/* Walks every operation, not only as far as the last READ, to the end of the message. */
static void check_whole(const struct corpus_pair *pair, void *arg)
{
	struct rpc_reply_hdr reply_hdr;
	struct nfs_compound compound;
	struct rpc_call_hdr hdr;
	struct xdr_sg_reader at;
	uint32_t count, op;

	ck_assert_int_eq(rpc_call_decode(pair->call, pair->call_bytes, &hdr), RPC_OK);
	if (!nfs_compound_is(hdr.prog, hdr.vers, hdr.proc))
		return;
	xdr_sg_reader_init_flat(&at, pair->call, pair->call_bytes);
	ck_assert(xdr_sg_skip(&at, hdr.args_offset) &&
		  nfs_compound_call(hdr.prog, &at, NULL, &compound));
	for (uint32_t i = 0; i < compound.op_count; i++) {
		struct nfs_marks marks = {0};
		const struct nfs_proc *row = nfs_compound_op(&at, &compound, &op);

		ck_assert_msg(row && nfs_walk(&at, row->args, &marks), "%s: %u", pair->name, i);
	}
	ck_assert_msg(xdr_sg_remaining_bytes(&at) == 0, "%s: call goes on", pair->name);

	ck_assert_int_eq(rpc_reply_decode(pair->reply, pair->reply_bytes, &reply_hdr), RPC_OK);
	xdr_sg_reader_init_flat(&at, pair->reply, pair->reply_bytes);
	ck_assert(xdr_sg_skip(&at, reply_hdr.results_offset) &&
		  nfs_compound_reply(&at, NULL, &count));
	for (uint32_t i = 0; i < count; i++) {
		struct nfs_marks marks = {0};
		const struct nfs_proc *row = nfs_compound_op(&at, &compound, &op);

		ck_assert_msg(row && nfs_walk(&at, row->results, &marks), "%s: %u", pair->name, i);
	}
	ck_assert_msg(xdr_sg_remaining_bytes(&at) == 0, "%s: reply goes on", pair->name);
}

START_TEST(real_compounds_walk_to_their_end)
{
	ck_assert_int_ge(corpus_each(check_whole, NULL), 80);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_corpus");
	TCase *tc = tcase_create("nfs_corpus");

	tcase_add_test(tc, ceilings_hold_real_replies);
	tcase_add_test(tc, real_calls_and_replies_can_be_followed);
	tcase_add_test(tc, real_compounds_walk_to_their_end);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests short Replies that the leg gets before they are complete: it writes and sends nothing of
 * them until they are complete. Also tests two legs that both get their messages in pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/sim/pieces.h"

/* The server leg before a hand-made client, of whose Call it answers nothing by itself. */
static void open_responder(void)
{
	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->server.hold = true;
	raw = raw_open_client(rig, pd_4096, sizeof(pd_4096));
}

static void next(struct rpcrdma_header *hdr, const uint8_t **body, uint32_t *len)
{
	raw_next_header(raw, hdr, body, len);
}

/* The responder */

/* Where a Reply goes. */
static const struct {
	uint32_t reply_bytes, reply_chunk, write_chunk;
} answers[] = {{100, 0, 0}, {INLINE_MAX, 0, 0}, {9000, 10000, 0}, {2200, 0, 3000}};

static struct fabric_key *landing;

static struct exchange *begin_reply(int i, uint32_t have)
{
	uint8_t call[RIG_CALL_MIN];
	struct rpcrdma_header hdr;
	struct rpcrdma_chunk chunk = {0, 1, 0};

	open_responder();
	rpcrdma_header_init(&hdr, 77, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	landing = NULL;
	chunk.len_bytes = answers[i].reply_chunk + answers[i].write_chunk;
	if (chunk.len_bytes) {
		landing = raw_lend(raw, NULL, (uint32_t)chunk.len_bytes, FABRIC_REMOTE_WRITE);
		hdr.segments[hdr.nsegments++] = raw_segment(landing);
	}
	if (answers[i].reply_chunk) {
		hdr.has_reply_chunk = true;
		hdr.reply_chunk = chunk;
	} else if (answers[i].write_chunk) {
		hdr.writes[hdr.nwrites++] = chunk;
		fake_reply_payloads[0] = (struct rpc_payload){100, 2000};
		fake_nreply_payloads = 1;
	}
	rig_fill_call(call, sizeof(call), 77, answers[i].reply_bytes);
	raw_send_header(raw, &hdr, call, sizeof(call));
	ck_assert_uint_eq(rig->server.calls, 1);
	return rig_answer_in_pieces(&rig->server, have);
}

/* Nothing is sent, and nothing is written where it may land. */
static void expect_nothing_answered(void)
{
	uint32_t untouched = 0;

	ck_assert_uint_eq(sends_waiting(), 0);
	while (landing && untouched < landing->len_bytes && landing->mem[untouched] == 0xee)
		untouched++;
	ck_assert(!landing || untouched == landing->len_bytes);
}

START_TEST(a_reply_waits_until_it_is_whole)
{
	struct exchange *x = begin_reply(_i, 0);
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len, total = answers[_i].reply_bytes;
	uint8_t *want = malloc(total);

	while (x->reply.have_bytes < total - 1) {
		rig_reply_grow(&rig->server, x, next_piece(x->reply.have_bytes, total));
		rig_run_for(rig, 100);
		expect_nothing_answered();
	}
	rig_reply_grow(&rig->server, x, total);
	exchange_put(x);
	rig_run(rig);
	next(&hdr, &body, &len);
	rig_fill_reply(want, total, 77);
	if (answers[_i].reply_chunk) {
		ck_assert_int_eq(hdr.proc, RPCRDMA_NOMSG);
		ck_assert_mem_eq(landing->mem, want, total);
	} else if (answers[_i].write_chunk) {
		ck_assert_mem_eq(landing->mem, want + 100, 2000);
		ck_assert_mem_eq(body + 100, want + 2100, 100);
	} else {
		ck_assert_uint_eq(len, total);
		ck_assert_mem_eq(body, want, total);
	}
	free(want);
	pieces_end();
}
END_TEST

START_TEST(a_reply_broken_off_at_any_piece_is_not_sent)
{
	bool more = true;

	for (unsigned pieces = 0; more; pieces++) {
		struct exchange *x = begin_reply(_i, 0);

		for (unsigned i = 0; i < pieces && more; i++) {
			rig_reply_grow(&rig->server, x,
				       next_piece(x->reply.have_bytes, x->reply.len_bytes));
			more = x->reply.have_bytes < x->reply.len_bytes - 1;
		}
		expect_broken_off(&rig->server);
		expect_nothing_answered();
		/* The target possibly does not know yet that the RPC was abandoned. */
		ck_assert_ptr_null(x->origin);
		exchange_put(x);
		pieces_end();
		ck_assert_uint_lt(pieces, 100);
	}
}
END_TEST

START_TEST(a_reply_that_grows_while_the_leg_closes_is_not_sent)
{
	struct exchange *x = begin_reply(_i, 50);

	leg_close(rig->server.leg, LEG_CLOSE_PEER);
	rig_reply_grow(&rig->server, x, x->reply.len_bytes);
	exchange_put(x);
	rig_run(rig);
	expect_nothing_answered();
	pieces_end();
}
END_TEST

START_TEST(replies_pass_one_that_still_comes)
{
	struct exchange *first, *second;
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len;

	open_responder();
	raw_post_call(raw, 1, RIG_CALL_MIN, 500);
	raw_post_call(raw, 2, RIG_CALL_MIN, 500);
	rig_run(rig);
	first = rig_answer_in_pieces(&rig->server, 100);
	second = rig_answer_in_pieces(&rig->server, 500);
	exchange_put(second);
	rig_run(rig);
	next(&hdr, &body, &len);
	ck_assert_uint_eq(hdr.xid, 2);
	ck_assert_uint_eq(sends_waiting(), 0);
	rig_reply_grow(&rig->server, first, 500);
	exchange_put(first);
	rig_run(rig);
	next(&hdr, &body, &len);
	ck_assert_uint_eq(hdr.xid, 1);
	pieces_end();
}
END_TEST

/* Two legs face to face, with whatever endpoint they have. */

static const uint32_t pair_sizes[] = {200, INLINE_MAX, INLINE_MAX + 1, 30000};

START_TEST(messages_in_pieces_arrive_whole_in_both_directions)
{
	uint32_t call_bytes = pair_sizes[_i % 4], reply_bytes = pair_sizes[_i / 4];
	struct exchange *x;

	pieces_open_pair();
	rig->server.hold = true;
	x = rig_call_in_pieces(&rig->client, call_bytes, reply_bytes, reply_bytes, RIG_CALL_MIN);
	while (x->call.have_bytes < call_bytes - 1) {
		rig_call_grow(&rig->client, x, next_piece(x->call.have_bytes, call_bytes));
		rig_run_for(rig, 100);
		ck_assert_uint_eq(rig->server.calls, 0);
	}
	rig_call_grow(&rig->client, x, call_bytes);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.calls, 1);
	x = rig_answer_in_pieces(&rig->server, 0);
	while (x->reply.have_bytes < reply_bytes - 1) {
		rig_reply_grow(&rig->server, x, next_piece(x->reply.have_bytes, reply_bytes));
		rig_run_for(rig, 100);
		ck_assert_uint_eq(rig->client.answered, 0);
	}
	rig_reply_grow(&rig->server, x, reply_bytes);
	exchange_put(x);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert_uint_eq(rig->client.wrong, 0);
	pieces_end();
}
END_TEST

START_TEST(a_call_broken_off_at_any_piece_never_reaches_the_other_end)
{
	bool more = true;

	for (unsigned pieces = 0; more; pieces++) {
		struct exchange *x;

		pieces_open_pair();
		x = rig_call_in_pieces(&rig->client, pair_sizes[_i], 100, 100, RIG_CALL_MIN);
		for (unsigned i = 0; i < pieces && more; i++) {
			rig_call_grow(&rig->client, x,
				      next_piece(x->call.have_bytes, x->call.len_bytes));
			rig_run_for(rig, 100);
			more = x->call.have_bytes < x->call.len_bytes - 1;
		}
		leg_close(rig->client.leg, LEG_CLOSE_PEER);
		rig_run(rig);
		ck_assert_uint_eq(rig->server.calls, 0);
		ck_assert_uint_eq(rig->client.closed, 1);
		ck_assert_uint_eq(rig->server.closed, 1);
		pieces_end();
	}
}
END_TEST

/* Both in pieces, and the connection cut at every step. */
static unsigned cut_pieces(unsigned step)
{
	struct sim_faults faults = {.max_delay_us = 500, .seed = 4, .cut_at_step = step};
	uint32_t call_bytes = step % 2 ? 900 : 9000;
	struct exchange *x;
	unsigned steps;

	fake_nfs_reset();
	raw = NULL;
	rig = rig_new(&faults);
	rig->server.hold = true;
	rig_connect(rig);
	x = exchange_ref(rig_call_in_pieces(&rig->client, call_bytes, 9000, 9000, 100));
	for (unsigned i = 1; i <= 4; i++) {
		rig_run_for(rig, 1000);
		if (rig->client.leg)
			rig_call_grow(&rig->client, x, call_bytes / 4 * i);
	}
	exchange_put(x);
	rig_run(rig);
	if (rig->server.leg && rig->server.calls) {
		x = rig_answer_in_pieces(&rig->server, 10);
		for (unsigned i = 1; i <= 4; i++) {
			rig_run_for(rig, 1000);
			if (rig->server.leg)
				rig_reply_grow(&rig->server, x, 9000 / 4 * i);
		}
		exchange_put(x);
	}
	rig_run(rig);
	ck_assert(!rig->client.leg == !rig->server.leg);
	ck_assert(!rig->client.leg || rig->client.answered == 1);
	ck_assert_uint_eq(rig->client.wrong, 0);
	steps = sim_net_stats(rig->net)->steps;
	pieces_end();
	return steps;
}

START_TEST(a_cut_at_any_step_while_messages_come_leaks_nothing)
{
	unsigned step = 1;

	while (step <= cut_pieces(step))
		step++;
	ck_assert_uint_gt(step, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responder_pieces");
	TCase *tc = tcase_create("pieces");
	const int nanswers = ARRAY_SIZE(answers);

	tcase_add_loop_test(tc, a_reply_waits_until_it_is_whole, 0, nanswers);
	tcase_add_loop_test(tc, a_reply_broken_off_at_any_piece_is_not_sent, 0, nanswers);
	tcase_add_loop_test(tc, a_reply_that_grows_while_the_leg_closes_is_not_sent, 0, nanswers);
	tcase_add_test(tc, replies_pass_one_that_still_comes);
	tcase_add_loop_test(tc, messages_in_pieces_arrive_whole_in_both_directions, 0, 16);
	tcase_add_loop_test(tc, a_call_broken_off_at_any_piece_never_reaches_the_other_end, 0, 4);
	tcase_add_test(tc, a_cut_at_any_step_while_messages_come_leaks_nothing);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

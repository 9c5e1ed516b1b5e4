// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests two connected TCP legs that fail or close at every step: nothing is left, and each leg
 * reports its end once.
 */
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_bench.h"

#define CALLS         6u
#define REVERSE_CALLS 3u
#define STEPS_MAX     5000u

enum action {
	CUT,
	CLOSE_CLIENT,
	CLOSE_CLIENT_IN_ORDER,
	CLOSE_SERVER,
	DRAIN_CLIENT,
	DRAIN_SERVER,
	ACTIONS
};

static const struct pair_faults worlds[] = {
	{.seed = 1},
	{.seed = 2, .short_reads = true, .short_writes = true},
	{.seed = 3, .buffer_bytes = 700, .max_delay_us = 30},
	{.seed = 4, .buffer_bytes = 90, .short_reads = true, .max_delay_us = 5},
};
#define WORLDS (int)ARRAY_SIZE(worlds)

static enum action action;
static bool acted;
static unsigned ncalls_then; /* that the leg had delivered when the fault occurred */

static bool is_drain(void)
{
	return action == DRAIN_CLIENT || action == DRAIN_SERVER;
}

static struct bench_side *acted_upon(void)
{
	return action == CLOSE_SERVER || action == DRAIN_SERVER ? &server : &client;
}

static void act(void *arg)
{
	static const enum leg_close reasons[ACTIONS] = {
		[CLOSE_CLIENT] = LEG_CLOSE_PEER,
		[CLOSE_CLIENT_IN_ORDER] = LEG_CLOSE_LOCAL,
		[CLOSE_SERVER] = LEG_CLOSE_LOST,
	};
	struct bench_side *side = acted_upon();

	if (!side->leg)
		return;
	acted = true;
	ncalls_then = side->ncalls;
	if (is_drain())
		leg_drain(side->leg);
	else
		leg_close(side->leg, reasons[action]);
}

/* Calls of every size, from both ends, some of them in pieces. */
static void traffic(void)
{
	struct exchange *xs[CALLS + REVERSE_CALLS] = {0};
	unsigned n = 0;

	bench_join();
	for (uint32_t i = 0; i < CALLS; i++) {
		uint32_t len = BENCH_CALL_MIN + i * i * 97;

		xs[n++] = bench_call(&client, i, len, i == 2 ? len / 2 : len);
	}
	fake_loop_advance(bench_loop, 10000);
	for (uint32_t i = 0; i < REVERSE_CALLS && server.leg; i++)
		xs[n++] =
			bench_call(&server, i, BENCH_CALL_MIN + 400 * i, BENCH_CALL_MIN + 400 * i);
	fake_loop_advance(bench_loop, 10000);
	bench_grow(&client, xs[2], &xs[2]->call, xs[2]->call.len_bytes);
	fake_loop_advance(bench_loop, 100000);
	for (unsigned i = 0; i < n; i++)
		exchange_put(xs[i]);
}

static void expect_ended(const struct bench_side *side)
{
	if (!side->leg)
		return;
	ck_assert_uint_eq(side->closing, 1);
	ck_assert_uint_eq(side->closed, 1);
}

static void expect_drained(const struct bench_side *side)
{
	ck_assert_int_eq(side->why, LEG_CLOSE_SHUTDOWN);
	ck_assert_uint_eq(side->ncalls, ncalls_then);
	/* Calls accepted before are answered, and no Reply was lost in transit. */
	if (side == &client)
		ck_assert_uint_eq(client.nreplies, CALLS);
	else
		ck_assert_uint_eq(client.nreplies, server.ncalls);
}

START_TEST(a_fault_at_any_step_leaks_nothing)
{
	unsigned step = 1;

	action = (enum action)(_i % ACTIONS);
	for (; step < STEPS_MAX; step++) {
		struct pair_faults faults = worlds[_i / ACTIONS];

		faults.cut_at_step = action == CUT ? step : 0;
		faults.hook_at_step = action == CUT ? 0 : step;
		faults.hook = act;
		acted = action == CUT;
		bench_renew(&faults);
		traffic();
		if (pair_net_steps(bench_net) < step)
			break;
		fake_loop_advance(bench_loop, 2 * BENCH_CLOSE_US);
		if (!acted)
			continue;
		expect_ended(&client);
		expect_ended(&server);
		if (is_drain())
			expect_drained(acted_upon());
	}
	ck_assert_uint_gt(step, 10);
	ck_assert_uint_lt(step, STEPS_MAX);
	/* The last run was left alone. */
	ck_assert_uint_eq(client.nreplies, CALLS);
	ck_assert_uint_eq(server.nreplies, REVERSE_CALLS);
}
END_TEST

START_TEST(a_leg_may_be_closed_in_any_of_its_events)
{
	static const enum leg_close reasons[] = {LEG_CLOSE_LOCAL, LEG_CLOSE_PEER};

	for (unsigned world = 0; world < ARRAY_SIZE(worlds); world++) {
		for (unsigned i = 0; i < 4; i++) {
			struct bench_side *side = i % 2 ? &server : &client;

			/* What connects is not asked for. */
			if (side == &client && _i == BENCH_AT_REQUESTED)
				continue;
			bench_renew(&worlds[world]);
			side->close_at = (unsigned)_i;
			side->close_why = reasons[i / 2];
			traffic();
			fake_loop_advance(bench_loop, 2 * BENCH_CLOSE_US);
			expect_ended(&client);
			expect_ended(&server);
			ck_assert_int_eq(side->why, side->close_why);
		}
	}
}
END_TEST

/* Found deep in the input, with more of it behind. */
START_TEST(memory_that_is_not_to_be_had_ends_the_leg)
{
	uint8_t *bytes = calloc(1, BENCH_MAX_MESSAGE);

	/* More than the pool has in one buffer. */
	server.config.leg.max_message_bytes = 2 * BENCH_LONG_BYTES;
	bench_accept();
	record_mark_encode(bytes, 2 * BENCH_LONG_BYTES);
	put_call(bytes + RECORD_MARK_BYTES, 1, 1000);
	raw_write(bytes, 20000);
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_uint_eq(server.closed, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_RESOURCES);
	ck_assert_uint_eq(bench_in_use(), 0);
	free(bytes);
}
END_TEST

START_TEST(a_stream_that_cannot_be_watched_ends_the_leg)
{
	bench_accept();
	leg_pause(server.leg, true);
	bench_run();
	pair_net_blind(bench_net, true);
	leg_pause(server.leg, false);
	bench_run();
	pair_net_blind(bench_net, false);
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_uint_eq(server.closed, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_RESOURCES);
}
END_TEST

/* Nothing more of the record is read, so it is not its sender who keeps us waiting. */
START_TEST(a_record_that_was_begun_does_not_cut_an_orderly_end_short)
{
	const uint32_t reply_bytes = BENCH_MAX_MESSAGE - 100;
	uint8_t mark[RECORD_MARK_BYTES];

	bench_accept();
	raw_send_call(1, 100);
	record_mark_encode(mark, 100);
	raw_write(mark, sizeof(mark));
	fake_loop_advance(bench_loop, BENCH_STALL_US - BENCH_CLOSE_US / 2);
	exchange_put(bench_answer(&server, reply_bytes, reply_bytes));
	leg_close(server.leg, LEG_CLOSE_PEER);
	fake_loop_advance(bench_loop, BENCH_CLOSE_US * 3 / 4);
	ck_assert_uint_eq(server.closed, 0);
	raw_expect_reply(1, reply_bytes);
	raw_expect(0);
	ck_assert_uint_eq(bench_worker.counters.stalls, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_faults");
	TCase *tc = tcase_create("tcp_leg_faults");

	tcase_add_checked_fixture(tc, bench_setup, bench_teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, a_fault_at_any_step_leaks_nothing, 0, WORLDS * ACTIONS);
	tcase_add_loop_test(tc, a_leg_may_be_closed_in_any_of_its_events, BENCH_AT_REQUESTED,
			    BENCH_AT_END);
	tcase_add_test(tc, a_stream_that_cannot_be_watched_ends_the_leg);
	tcase_add_test(tc, memory_that_is_not_to_be_had_ends_the_leg);
	tcase_add_test(tc, a_record_that_was_begun_does_not_cut_an_orderly_end_short);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests how a leg ends: it drains what is in flight, and reports the decision to close and the end.
 */
#include <string.h>

#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lib/test.h"
#include "tests/sim/raw.h"

static const uint8_t pd_4096[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3};

static struct rig *rig;

static void expect_state(const struct rig_side *side, const char *state)
{
	struct leg_info info;

	leg_info(side->leg, &info);
	ck_assert_str_eq(info.state, state);
}

static void expect_drained(const struct rig_side *side)
{
	rig_run(rig);
	ck_assert_uint_eq(side->closed, 1);
	ck_assert_int_eq(side->why, LEG_CLOSE_SHUTDOWN);
}

START_TEST(an_idle_leg_drains_at_once)
{
	rig = rig_open(NULL);
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	rig_run(rig);
	leg_drain(rig->client.leg);
	ck_assert_uint_eq(rig->client.closing, 0); /* not from inside a call into the leg */
	expect_drained(&rig->client);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_PEER);
	rig_end(rig);
}
END_TEST

START_TEST(calls_in_flight_both_ways_are_finished_first)
{
	struct rig_side *side;

	rig = rig_open(NULL);
	side = _i ? &rig->server : &rig->client;
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	rig_call(&rig->server, RIG_CALL_MIN, 100, 100);
	rig_run(rig);
	rig->client.hold = rig->server.hold = true;
	for (int i = 0; i < 3; i++) {
		rig_call(&rig->client, 9000, 9000, 9000);
		rig_call(&rig->server, 1000, 1000, 1000);
	}
	rig_run(rig);
	leg_drain(side->leg);
	leg_drain(side->leg);
	rig_run(rig);
	expect_state(side, "draining");
	rig_answer_held(&rig->client);
	rig_run(rig);
	expect_state(side, "draining");
	rig_answer_held(&rig->server);
	expect_drained(side);
	ck_assert_uint_eq(rig->client.answered, 4);
	ck_assert_uint_eq(rig->server.answered, 4);
	ck_assert_uint_eq(rig->client.wrong + rig->server.wrong, 0);
	rig_end(rig);
}
END_TEST

START_TEST(held_calls_are_sent_and_answered_first)
{
	rig = rig_open(NULL);
	for (int i = 0; i < 50; i++)
		rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	leg_drain(rig->client.leg);
	expect_drained(&rig->client);
	ck_assert_uint_eq(rig->client.answered, 50);
	rig_end(rig);
}
END_TEST

/* A hand-made client with one Call in flight, and the leg draining. */
static struct raw *drain_before_client(void)
{
	struct raw *raw;

	rig = rig_new(NULL);
	rig->server.hold = true;
	raw = raw_open_client(rig, pd_4096, sizeof(pd_4096));
	raw_post_call(raw, 1, RIG_CALL_MIN, 100);
	rig_run(rig);
	leg_drain(rig->server.leg);
	return raw;
}

START_TEST(calls_that_come_meanwhile_are_not_taken)
{
	struct raw *raw = drain_before_client();
	struct rpcrdma_header hdr;

	raw_post_call(raw, 2, RIG_CALL_MIN, 100);
	raw_post_call(raw, 1, RIG_CALL_MIN, 100); /* would be an XID in flight */
	rpcrdma_header_init(&hdr, 3, RPCRDMA_VERSION_ONE, 32, RPCRDMA_NOMSG);
	raw_send_header(raw, &hdr, NULL, 0); /* would be ERR_CHUNK */
	rpcrdma_header_init(&hdr, 4, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	hdr.vers = 7;
	raw_send_header(raw, &hdr, "\0\0\0\4\0\0\0\0................................", 40);
	ck_assert_uint_eq(rig->server.calls, 1);
	ck_assert_ptr_null(raw_next(raw));
	ck_assert_uint_eq(rig->server.counters.drained_calls, 4);
	rig_answer_held(&rig->server);
	expect_drained(&rig->server);
	ck_assert_ptr_nonnull(raw_next(raw)); /* the one that was in flight */
	ck_assert_ptr_null(raw_next(raw));
	raw_free(raw);
	rig_end(rig);
}
END_TEST

/* They take receives and nothing else: there is always another one. */
START_TEST(any_number_of_calls_may_come_meanwhile)
{
	struct raw *raw = drain_before_client();

	for (uint32_t i = 0; i < 500; i++) {
		raw_post_call(raw, 100 + i, RIG_CALL_MIN, 100);
		rig_run_for(rig, 100);
	}
	ck_assert_uint_eq(rig->server.counters.drained_calls, 500);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	rig_answer_held(&rig->server);
	expect_drained(&rig->server);
	raw_free(raw);
	rig_end(rig);
}
END_TEST

START_TEST(a_reply_that_still_comes_is_finished_first)
{
	struct raw *raw = drain_before_client();
	struct exchange *x = rig_answer_in_pieces(&rig->server, 50);

	rig_run(rig);
	expect_state(&rig->server, "draining");
	rig_reply_grow(&rig->server, x, 100);
	exchange_put(x);
	expect_drained(&rig->server);
	ck_assert_ptr_nonnull(raw_next(raw));
	raw_free(raw);
	rig_end(rig);
}
END_TEST

START_TEST(calls_that_wait_for_the_connection_are_in_flight)
{
	rig = rig_new(NULL);
	rig_connect(rig);
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	leg_drain(rig->client.leg);
	expect_state(&rig->client, "connecting");
	expect_drained(&rig->client);
	ck_assert_uint_eq(rig->client.opened, 1);
	ck_assert_uint_eq(rig->client.answered, 2);
	rig_end(rig);
}
END_TEST

START_TEST(a_leg_that_still_connects_drains_at_once)
{
	rig = rig_new(NULL);
	rig_connect(rig);
	leg_drain(rig->client.leg);
	expect_drained(&rig->client);
	ck_assert_uint_eq(rig->client.opened, 0);
	rig_end(rig);
}
END_TEST

START_TEST(a_peer_that_is_not_accepted_yet_is_refused)
{
	rig = rig_new(NULL);
	rig->never_accept = true;
	rig_connect(rig);
	rig_run_for(rig, 1000);
	leg_drain(rig->server.leg);
	expect_drained(&rig->server);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_REFUSED);
	rig_end(rig);
}
END_TEST

START_TEST(a_draining_leg_can_be_closed)
{
	rig = rig_open(NULL);
	rig->server.hold = true;
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	rig_run(rig);
	leg_drain(rig->client.leg);
	rig_run(rig);
	leg_close(rig->client.leg, LEG_CLOSE_LOCAL);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_LOCAL);
	rig_end(rig);
}
END_TEST

/*
 * Whichever step it comes at: all Calls are answered that were given before, or the leg says why
 * not.
 */
static struct rig_side *drained_side(bool client)
{
	return client ? &rig->client : &rig->server;
}

static bool hook_client;

static void drain_now(void *arg)
{
	if (drained_side(hook_client)->leg)
		leg_drain(drained_side(hook_client)->leg);
}

START_TEST(a_drain_at_any_step_loses_no_call_of_this_end)
{
	unsigned steps = 1;

	hook_client = _i;
	for (unsigned step = 1; step <= steps; step++) {
		struct sim_faults faults = {.max_delay_us = 400, .seed = 2, .async_unbind = true};
		struct rig_side *side;

		faults.hook_at_step = step;
		faults.hook = drain_now;
		rig = rig_new(&faults);
		side = drained_side(hook_client);
		rig_connect(rig);
		for (uint32_t i = 0; i < 4; i++)
			rig_call(&rig->client, 100 + 3000 * i, 10000 - 3000 * i, 10000);
		rig_run(rig);
		if (side->leg) /* the hook is behind the last step */
			leg_drain(side->leg);
		rig_run(rig);
		ck_assert_ptr_null(side->leg);
		ck_assert_int_eq(side->why, LEG_CLOSE_SHUTDOWN);
		ck_assert_uint_eq(rig->client.wrong, 0);
		if (hook_client)
			ck_assert_uint_eq(rig->client.answered, 4);
		else
			ck_assert_uint_eq(rig->client.answered, rig->server.calls);
		steps = sim_net_stats(rig->net)->steps;
		rig_end(rig);
	}
	ck_assert_uint_gt(steps, 20);
}
END_TEST

/* Closing */

START_TEST(closing_comes_from_a_task_and_before_all_is_released)
{
	uint64_t closed_us;

	rig = rig_open(&(struct sim_faults){.max_delay_us = 100000, .seed = 5});
	leg_close(rig->client.leg, LEG_CLOSE_PEER);
	ck_assert_uint_eq(rig->client.closing, 0);
	expect_state(&rig->client, "closing");
	rig_run_for(rig, 0);
	ck_assert_uint_eq(rig->client.closing, 1);
	ck_assert_uint_eq(rig->client.closed, 0);
	leg_close(rig->client.leg, LEG_CLOSE_LOCAL);
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	while (!rig->client.closed)
		rig_run_for(rig, 100);
	closed_us = loop_now_us(rig->loop);
	ck_assert_uint_gt(closed_us, rig->client.closing_us + 1000);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_PEER);
	rig_end(rig);
}
END_TEST

/* A protocol error of the peer is reported immediately, though its disconnection takes time. */
START_TEST(a_failure_detected_here_is_reported_immediately)
{
	struct raw *raw;

	rig = rig_new(&(struct sim_faults){.max_delay_us = 50000, .seed = 5});
	rig->server.hold = true;
	raw = raw_open_client(rig, pd_4096, sizeof(pd_4096));
	raw_post_call(raw, 1, RIG_CALL_MIN, 100);
	raw_post_call(raw, 1, RIG_CALL_MIN, 100);
	while (!rig->server.closing)
		rig_run_for(rig, 10);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_XID_REUSED);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.closed, 1);
	raw_free(raw);
	rig_end(rig);
}
END_TEST

START_TEST(the_state_is_reported_with_its_age)
{
	struct leg_info info;
	uint64_t opened_us;

	rig = rig_new(NULL);
	rig_connect(rig);
	opened_us = loop_now_us(rig->loop);
	rig_run(rig);
	leg_info(rig->client.leg, &info);
	ck_assert_str_eq(info.state, "open");
	ck_assert_uint_ge(info.state_since_us, opened_us);
	ck_assert_uint_lt(info.state_since_us, loop_now_us(rig->loop));
	rig->server.hold = true;
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	rig_run(rig);
	leg_drain(rig->client.leg);
	leg_info(rig->client.leg, &info);
	ck_assert_str_eq(info.state, "draining");
	ck_assert_uint_eq(info.state_since_us, loop_now_us(rig->loop));
	rig_end(rig);
}
END_TEST

/* The tables: every state has a name of its own, and is reached. */
START_TEST(every_state_but_the_first_follows_another)
{
	static const struct {
		const struct state_table *table;
		uint32_t first;
	} machines[] = {
		{&rdma_conn_states, TO(RDMA_CONNECTING) | TO(RDMA_INCOMING)},
		{&requester_rpc_states, TO(REQUESTER_QUEUED)},
		{&responder_rpc_states, TO(RESPONDER_ADMITTING)},
	};

	for (size_t m = 0; m < ARRAY_SIZE(machines); m++) {
		const struct state_table *table = machines[m].table;
		uint32_t reached = machines[m].first;

		for (unsigned i = 0; i < table->count; i++) {
			reached |= table->rows[i].next;
			for (unsigned j = 0; j < i; j++)
				ck_assert_str_ne(state_name(table, i), state_name(table, j));
		}
		ck_assert_uint_eq(reached, (1u << table->count) - 1);
	}
}
END_TEST

static void never(struct fabric_ep *ep)
{
}

/*
 * A peer that takes what is sent now and then, for ever; whether that end is decided before the
 * stop or not.
 */
START_TEST(a_stop_ends_a_connection_that_does_not_end_by_itself)
{
	struct rdma_conn *conn;
	struct fabric_ops slow;

	rig = rig_open(NULL);
	conn = &container_of(rig->server.leg, struct rdma_leg, leg)->conn;
	slow = *conn->ep->ops;
	slow.close = never;
	conn->ep->ops = &slow;
	if (_i) {
		leg_close(rig->server.leg, LEG_CLOSE_PEER);
		rig_run_for(rig, 10 * LEG_STOP_US);
		ck_assert_uint_eq(rig->server.closed, 0);
	}
	leg_close(rig->server.leg, LEG_CLOSE_SHUTDOWN);
	rig_run_for(rig, LEG_STOP_US - 1);
	ck_assert_uint_eq(rig->server.closed, 0);
	leg_close(rig->server.leg, LEG_CLOSE_SHUTDOWN);
	rig_run_for(rig, LEG_STOP_US / 10);
	ck_assert_uint_eq(rig->server.closed, 1);
	rig_end(rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("drain");
	TCase *tc = tcase_create("drain");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, an_idle_leg_drains_at_once);
	tcase_add_loop_test(tc, calls_in_flight_both_ways_are_finished_first, 0, 2);
	tcase_add_test(tc, held_calls_are_sent_and_answered_first);
	tcase_add_test(tc, calls_that_come_meanwhile_are_not_taken);
	tcase_add_test(tc, any_number_of_calls_may_come_meanwhile);
	tcase_add_test(tc, a_reply_that_still_comes_is_finished_first);
	tcase_add_test(tc, calls_that_wait_for_the_connection_are_in_flight);
	tcase_add_test(tc, a_leg_that_still_connects_drains_at_once);
	tcase_add_test(tc, a_peer_that_is_not_accepted_yet_is_refused);
	tcase_add_test(tc, a_draining_leg_can_be_closed);
	tcase_add_loop_test(tc, a_drain_at_any_step_loses_no_call_of_this_end, 0, 2);
	tcase_add_loop_test(tc, a_stop_ends_a_connection_that_does_not_end_by_itself, 0, 2);
	tcase_add_test(tc, closing_comes_from_a_task_and_before_all_is_released);
	tcase_add_test(tc, a_failure_detected_here_is_reported_immediately);
	tcase_add_test(tc, the_state_is_reported_with_its_age);
	tcase_add_test(tc, every_state_but_the_first_follows_another);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

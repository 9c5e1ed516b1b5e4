// SPDX-License-Identifier: BSD-3-Clause
/* Tests draining a TCP leg: RPCs in flight finish, no Call is accepted, and then the leg closes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_bench.h"

static void expect_drained(struct bench_side *side)
{
	bench_run();
	ck_assert_uint_eq(side->closing, 1);
	ck_assert_int_eq(side->why, LEG_CLOSE_SHUTDOWN);
	ck_assert_uint_eq(side->nfaults, 0);
}

static void expect_draining(struct bench_side *side)
{
	struct leg_info info;

	bench_run();
	leg_info(side->leg, &info);
	ck_assert_str_eq(info.state, "draining");
	ck_assert_uint_eq(side->closing, 0);
}

/* The client reads the end of the stream, and ends its own. */
static void end_in_order(void)
{
	raw_expect(0);
	ck_assert_uint_eq(server.closed, 0);
	ck_assert_int_eq(stream_shutdown(raw), 0);
	bench_run();
	ck_assert_uint_eq(server.closed, 1);
}

START_TEST(an_idle_leg_ends_at_once)
{
	bench_accept();
	leg_drain(server.leg);
	ck_assert_uint_eq(server.closing, 0);
	expect_drained(&server);
	end_in_order();
}
END_TEST

START_TEST(a_leg_with_a_silent_client_closes_immediately)
{
	struct stream *ends[2];

	ck_assert_int_eq(pair_new(bench_net, ends), 0);
	raw = ends[1];
	ck_assert_int_eq(tcp_leg_accept(&server.config, ends[0], NULL, &server.leg), 0);
	bench_run();
	leg_drain(server.leg);
	expect_drained(&server);
	ck_assert_uint_eq(server.closed, 1);
	raw_expect(0);
}
END_TEST

START_TEST(a_call_in_flight_is_answered)
{
	bench_accept();
	raw_send_call(1, 100);
	raw_send_call(2, 100);
	bench_run();
	ck_assert_uint_eq(server.ncalls, 2);
	leg_drain(server.leg);
	leg_drain(server.leg);
	expect_draining(&server);
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(1, 200);
	expect_draining(&server);
	exchange_put(bench_answer(&server, 5000, 5000));
	raw_expect_reply(2, 5000);
	expect_drained(&server);
	end_in_order();
}
END_TEST

START_TEST(calls_that_come_meanwhile_are_thrown_away)
{
	bench_accept();
	raw_send_call(1, 100);
	bench_run();
	leg_drain(server.leg);
	raw_send_call(2, 100);
	raw_send_call(3, 100000);
	/* Not even the same once more is taken for another. */
	raw_send_call(1, 200);
	expect_draining(&server);
	ck_assert_uint_eq(server.ncalls, 1);
	raw_expect(-EAGAIN);
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(1, 200);
	expect_drained(&server);
	raw_send_call(4, 100);
	end_in_order();
	ck_assert_uint_eq(server.ncalls, 1);
}
END_TEST

/*
 * Wherever it was cut by the order to drain, a Call is not taken, and what it held is given back.
 */
START_TEST(a_call_that_has_come_in_part_is_not_taken)
{
	uint8_t record[RECORD_MARK_BYTES + 100];
	size_t in_use;

	record_mark_encode(record, 100);
	put_call(record + RECORD_MARK_BYTES, 2, 100);
	for (size_t cut = 1; cut < sizeof(record); cut++) {
		bench_renew(NULL);
		bench_accept();
		raw_send_call(1, 100);
		bench_run();
		in_use = bench_in_use();
		raw_write(record, cut);
		leg_drain(server.leg);
		expect_draining(&server);
		ck_assert_uint_eq(bench_in_use(), in_use);
		raw_write(record + cut, sizeof(record) - cut);
		exchange_put(bench_answer(&server, 200, 200));
		raw_expect_reply(1, 200);
		expect_drained(&server);
		ck_assert_uint_eq(server.ncalls, 1);
		ck_assert_uint_eq(bench_budget.account.used_bytes, 0);
	}
}
END_TEST

START_TEST(a_call_that_waits_for_memory_is_not_taken)
{
	struct budget_claim hog;

	bench_accept();
	raw_send_call(1, 100);
	bench_run();
	budget_claim_init(&hog, NULL, NULL);
	ck_assert(budget_claim(&bench_budget.other, &hog,
			       BENCH_BUDGET - bench_budget.account.used_bytes));
	raw_send_call(2, 100);
	bench_run();
	ck_assert_uint_eq(bench_budget.account.waiting, 1);
	leg_drain(server.leg);
	expect_draining(&server);
	ck_assert_uint_eq(bench_budget.account.waiting, 0);
	budget_claim_release(&hog);
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(1, 200);
	expect_drained(&server);
	ck_assert_uint_eq(server.ncalls, 1);
}
END_TEST

START_TEST(the_reply_to_a_reverse_call_is_read)
{
	struct exchange *x;

	bench_accept();
	x = bench_call(&server, 9, 100, 100);
	raw_expect_call(9, 100);
	leg_drain(server.leg);
	raw_send_call(1, 100);
	expect_draining(&server);
	raw_send_reply(9, 300);
	expect_drained(&server);
	ck_assert_uint_eq(server.ncalls, 0);
	ck_assert_uint_eq(server.nreplies, 1);
	ck_assert_uint_eq(x->reply.len_bytes, 300);
	exchange_put(x);
	end_in_order();
}
END_TEST

/* The pause is for Calls; one that was taken in for the Reply behind it is let go. */
START_TEST(a_pause_holds_up_no_reply)
{
	struct exchange *x;

	bench_accept();
	x = bench_call(&server, 9, 100, 100);
	raw_expect_call(9, 100);
	leg_pause(server.leg, true);
	raw_send_call(1, 100);
	raw_send_reply(9, 300);
	bench_run();
	ck_assert_uint_eq(server.nreplies, 1);
	ck_assert_uint_eq(bench_worker.counters.calls_parked, 1);
	leg_drain(server.leg);
	leg_pause(server.leg, true);
	expect_drained(&server);
	ck_assert_uint_eq(server.ncalls, 0);
	exchange_put(x);
}
END_TEST

START_TEST(a_connection_to_a_server_finishes_its_calls)
{
	struct exchange *xs[2];

	client.hold = true;
	bench_connect();
	bench_run();
	xs[0] = bench_call(&client, 1, 100, 100);
	xs[1] = bench_call(&client, 2, 5000, 100);
	raw_expect_call(1, 100);
	raw_send_call(7, 100);
	ck_assert_uint_eq(client.ncalls, 1);
	leg_drain(client.leg);
	raw_send_reply(1, 100);
	expect_draining(&client);
	bench_grow(&client, xs[1], &xs[1]->call, 5000);
	raw_expect_call(2, 5000);
	raw_send_reply(2, 100);
	expect_draining(&client);
	ck_assert_uint_eq(client.nreplies, 2);
	exchange_put(bench_answer(&client, 100, 100));
	raw_expect_reply(7, 100);
	expect_drained(&client);
	raw_expect(0);
	ck_assert_uint_eq(client.closed, 1);
	exchange_put(xs[0]);
	exchange_put(xs[1]);
}
END_TEST

START_TEST(a_leg_that_still_connects_ends_at_once_or_when_its_calls_are_answered)
{
	struct exchange *x = NULL;

	bench_connect();
	if (_i)
		x = bench_call(&client, 1, 100, 100);
	leg_drain(client.leg);
	if (_i) {
		expect_draining(&client);
		ck_assert_uint_eq(client.opened, 1);
		raw_expect_call(1, 100);
		raw_send_reply(1, 100);
		exchange_put(x);
	}
	expect_drained(&client);
	ck_assert_uint_eq(client.closed, 1);
	ck_assert_uint_eq(client.nreplies, _i);
}
END_TEST

START_TEST(a_client_that_leaves_meanwhile_is_done_when_it_is_answered)
{
	bench_accept();
	raw_send_call(1, 100);
	leg_drain(server.leg);
	ck_assert_int_eq(stream_shutdown(raw), 0);
	expect_draining(&server);
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(1, 200);
	expect_drained(&server);
	ck_assert_uint_eq(server.closed, 1);
}
END_TEST

START_TEST(there_is_no_limit_to_it_but_a_close)
{
	bench_accept();
	raw_send_call(1, 100);
	leg_drain(server.leg);
	fake_loop_advance(bench_loop, 100ull * BENCH_STALL_US);
	expect_draining(&server);
	leg_close(server.leg, LEG_CLOSE_SHUTDOWN);
	expect_drained(&server);
	end_in_order();
}
END_TEST

START_TEST(a_client_that_does_not_leave_is_left)
{
	bench_accept();
	leg_drain(server.leg);
	expect_drained(&server);
	fake_loop_advance(bench_loop, BENCH_CLOSE_US - 1);
	ck_assert_uint_eq(server.closed, 0);
	fake_loop_advance(bench_loop, 1);
	ck_assert_uint_eq(server.closed, 1);
}
END_TEST

static void drain_at_call(struct bench_side *side)
{
	leg_drain(side->leg);
}

/* What the same read brought behind that Call is not taken. */
START_TEST(a_leg_can_be_drained_while_it_delivers_a_call)
{
	uint8_t records[3 * (RECORD_MARK_BYTES + 100)];
	const size_t step = RECORD_MARK_BYTES + 100;

	bench_accept();
	server.on_call = drain_at_call;
	for (uint32_t i = 0; i < 3; i++) {
		record_mark_encode(records + i * step, 100);
		put_call(records + i * step + RECORD_MARK_BYTES, i, 100);
	}
	raw_write(records, sizeof(records));
	expect_draining(&server);
	ck_assert_uint_eq(server.ncalls, 1);
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(0, 200);
	expect_drained(&server);
	end_in_order();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_drain");
	TCase *tc = tcase_create("tcp_leg_drain");

	tcase_add_checked_fixture(tc, bench_setup, bench_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, an_idle_leg_ends_at_once);
	tcase_add_test(tc, a_leg_with_a_silent_client_closes_immediately);
	tcase_add_test(tc, a_call_in_flight_is_answered);
	tcase_add_test(tc, calls_that_come_meanwhile_are_thrown_away);
	tcase_add_test(tc, a_call_that_has_come_in_part_is_not_taken);
	tcase_add_test(tc, a_call_that_waits_for_memory_is_not_taken);
	tcase_add_test(tc, the_reply_to_a_reverse_call_is_read);
	tcase_add_test(tc, a_pause_holds_up_no_reply);
	tcase_add_test(tc, a_connection_to_a_server_finishes_its_calls);
	tcase_add_loop_test(
		tc, a_leg_that_still_connects_ends_at_once_or_when_its_calls_are_answered, 0, 2);
	tcase_add_test(tc, a_client_that_leaves_meanwhile_is_done_when_it_is_answered);
	tcase_add_test(tc, there_is_no_limit_to_it_but_a_close);
	tcase_add_test(tc, a_client_that_does_not_leave_is_left);
	tcase_add_test(tc, a_leg_can_be_drained_while_it_delivers_a_call);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

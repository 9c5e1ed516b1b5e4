// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests that Calls which cannot be forwarded yet do not delay a Reply to a reverse Call that
 * follows them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_bench.h"

#define REVERSE_XID 900u

#define LONG_BYTES  (BENCH_MAX_MESSAGE - 16u)

static uint8_t record[RECORD_MARK_BYTES + LONG_BYTES];

enum why { MEMORY, PAUSE, MANY, WHYS };

static struct budget_claim hog;
static struct exchange *reverse;

static void call_reverse(void)
{
	reverse = bench_call(&server, REVERSE_XID, 100, 100);
	bench_run();
}

/* Until let_pass() no Call may be passed on. */
static void hold(enum why why)
{
	switch (why) {
	case MEMORY:
		budget_claim_init(&hog, NULL, NULL);
		ck_assert(budget_claim(&bench_budget.other, &hog, BENCH_BUDGET - 1));
		break;
	case PAUSE:
		leg_pause(server.leg, true);
		break;
	default:
		for (uint32_t xid = 0; xid < TCP_CALLS_MAX; xid++)
			raw_send_call(10000 + xid, BENCH_CALL_MIN);
		bench_run();
		ck_assert_uint_eq(server.ncalls, TCP_CALLS_MAX);
	}
}

static void let_pass(enum why why)
{
	switch (why) {
	case MEMORY:
		budget_claim_release(&hog);
		break;
	case PAUSE:
		leg_pause(server.leg, false);
		break;
	default:
		for (uint32_t i = 0; i < TCP_CALLS_MAX; i++)
			exchange_put(bench_answer(&server, BENCH_REPLY_MIN, BENCH_REPLY_MIN));
		for (uint32_t i = 0; i < TCP_CALLS_MAX; i++)
			raw_expect_reply(10000 + i, BENCH_REPLY_MIN);
	}
	bench_run();
}

static void expect_call(uint32_t xid, uint32_t len_bytes)
{
	uint8_t *want = malloc(len_bytes);
	const struct exchange *x = TAILQ_FIRST(&server.calls);

	put_call(want, xid, len_bytes);
	ck_assert_ptr_nonnull(x);
	ck_assert_uint_eq(x->call.len_bytes, len_bytes);
	ck_assert(!memcmp(x->call.data, want, len_bytes));
	ck_assert_int_eq(x->claim.state, BUDGET_CLAIM_GRANTED);
	free(want);
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(xid, 200);
}

/* Whether the Calls were there first, or the reverse Call. */
START_TEST(a_reverse_reply_passes)
{
	enum why why = (enum why)(_i / 2);
	unsigned before;

	bench_accept();
	hold(why);
	before = server.ncalls;
	if (_i % 2)
		call_reverse();
	raw_send_call(1, 100);
	raw_send_call(2, 20000);
	raw_send_call(3, 100);
	raw_send_reply(REVERSE_XID, 300);
	bench_run();
	if (!(_i % 2))
		call_reverse();
	ck_assert_uint_eq(server.nreplies, 1);
	ck_assert(!bench_budget.holder.urgent);
	ck_assert_uint_eq(reverse->reply.len_bytes, 300);
	ck_assert_uint_eq(server.ncalls, before);
	ck_assert_uint_eq(bench_worker.counters.calls_parked, 3);
	raw_expect_call(REVERSE_XID, 100);
	let_pass(why);
	ck_assert_uint_eq(server.ncalls, before + 3);
	expect_call(1, 100);
	expect_call(2, 20000);
	expect_call(3, 100);
	/* As before. */
	raw_send_call(4, 100);
	bench_run();
	expect_call(4, 100);
	ck_assert_uint_eq(bench_worker.counters.calls_parked, 3);
	ck_assert_uint_eq(bench_budget.account.used_bytes, 0);
	exchange_put(reverse);
}
END_TEST

/* Nothing but Calls is to be expected: they stay in the stream. */
START_TEST(without_a_reverse_call_none_is_taken_in)
{
	bench_accept();
	hold((enum why)_i);
	raw_send_call(1, 20000);
	raw_send_call(2, 20000);
	bench_run();
	ck_assert_uint_eq(bench_worker.counters.calls_parked, 0);
	let_pass((enum why)_i);
	expect_call(1, 20000);
	expect_call(2, 20000);
}
END_TEST

START_TEST(no_more_is_taken_in_than_the_reserve_holds)
{
	const uint32_t count = TCP_PARKED_MAX_BYTES / 20000 + 1;

	bench_accept();
	hold(MEMORY);
	call_reverse();
	raw_expect_call(REVERSE_XID, 100);
	for (uint32_t xid = 1; xid <= count; xid++) {
		/* All but the last few find their way to the leg. */
		raw_send_call(xid, xid < count - 2 ? 20000 : 100);
		ck_assert_uint_le(bench_in_use(), TCP_PARKED_MAX_BYTES + 4096);
	}
	raw_send_reply(REVERSE_XID, 300);
	bench_run();
	ck_assert_uint_gt(bench_worker.counters.calls_parked, 4);
	/* Whatever else there is to do, the one that does not fit is left alone. */
	exchange_put(bench_call(&server, REVERSE_XID + 1, 100, 100));
	raw_expect_call(REVERSE_XID + 1, 100);
	ck_assert_uint_le(bench_in_use(), TCP_PARKED_MAX_BYTES + 4096);
	ck_assert_uint_eq(server.ncalls, 0);
	let_pass(MEMORY);
	ck_assert_uint_eq(server.ncalls, count);
	ck_assert_uint_eq(server.nreplies, 1);
	for (uint32_t xid = 1; xid <= count; xid++)
		expect_call(xid, xid < count - 2 ? 20000 : 100);
	exchange_put(reverse);
}
END_TEST

/* It waits in the stream, whatever is behind it. */
START_TEST(a_call_that_fits_nowhere_waits)
{
	bench_accept();
	hold(MEMORY);
	call_reverse();
	raw_expect_call(REVERSE_XID, 100);
	raw_send_call(1, 100);
	record_mark_encode(record, LONG_BYTES);
	put_call(record + RECORD_MARK_BYTES, 2, LONG_BYTES);
	raw_write(record, 20000);
	bench_run();
	ck_assert_uint_eq(bench_worker.counters.calls_parked, 1);
	let_pass(MEMORY);
	raw_write(record + 20000, RECORD_MARK_BYTES + LONG_BYTES - 20000);
	bench_run();
	expect_call(1, 100);
	expect_call(2, LONG_BYTES);
	raw_send_reply(REVERSE_XID, 300);
	bench_run();
	ck_assert_uint_eq(server.nreplies, 1);
	exchange_put(reverse);
}
END_TEST

START_TEST(a_retransmitted_call_is_discarded)
{
	bench_accept();
	hold(MEMORY);
	call_reverse();
	raw_expect_call(REVERSE_XID, 100);
	raw_send_call(1, 100);
	raw_send_call(1, 100);
	raw_send_call(2, 100);
	bench_run();
	ck_assert_uint_eq(bench_worker.counters.retransmissions_swallowed, 1);
	ck_assert_uint_eq(bench_worker.counters.calls_parked, 2);
	let_pass(MEMORY);
	ck_assert_uint_eq(server.ncalls, 2);
	exchange_put(reverse);
}
END_TEST

/* The rest of what was being taken in when the last reverse Call ended comes when its turn has. */
START_TEST(the_end_of_the_reverse_call_stops_the_reading)
{
	uint8_t bytes[104] = {0x80, 0, 0, 100};

	bench_accept();
	hold(MEMORY);
	call_reverse();
	raw_expect_call(REVERSE_XID, 100);
	raw_send_call(1, 100);
	raw_send_reply(REVERSE_XID, 300);
	put_call(bytes + 4, 2, 100);
	raw_write(bytes, 50);
	bench_run();
	ck_assert_uint_eq(server.nreplies, 1);
	raw_write(bytes + 50, 54);
	raw_send_call(3, 100);
	bench_run();
	ck_assert_uint_eq(bench_worker.counters.calls_parked, 1);
	let_pass(MEMORY);
	expect_call(1, 100);
	expect_call(2, 100);
	expect_call(3, 100);
	exchange_put(reverse);
}
END_TEST

START_TEST(parked_calls_are_released_with_the_leg)
{
	bench_accept();
	hold(MEMORY);
	call_reverse();
	raw_expect_call(REVERSE_XID, 100);
	for (uint32_t xid = 1; xid <= 3; xid++)
		raw_send_call(xid, 20000);
	bench_run();
	ck_assert_uint_eq(bench_worker.counters.calls_parked, 3);
	exchange_put(reverse);
	ck_assert(bench_budget.holder.urgent);
	if (_i)
		leg_drain(server.leg);
	else
		leg_close(server.leg, LEG_CLOSE_LOST);
	bench_run();
	ck_assert(bench_budget.holder.urgent == (_i != 0));
	/* The reverse Call's own is left to a leg that drains. */
	ck_assert_uint_le(bench_in_use(), _i ? 4096 : 0);
	ck_assert_uint_eq(bench_budget.account.waiting, 0);
	let_pass(MEMORY);
	ck_assert_uint_eq(server.ncalls, 0);
}
END_TEST

static void pause_again(struct bench_side *side)
{
	leg_pause(side->leg, true);
}

static void close_again(struct bench_side *side)
{
	leg_close(side->leg, LEG_CLOSE_LOST);
}

START_TEST(the_owner_of_a_delivered_call_can_stop_the_others)
{
	bench_accept();
	hold(PAUSE);
	call_reverse();
	raw_expect_call(REVERSE_XID, 100);
	for (uint32_t xid = 1; xid <= 3; xid++)
		raw_send_call(xid, 100);
	bench_run();
	server.on_call = _i ? close_again : pause_again;
	let_pass(PAUSE);
	ck_assert_uint_eq(server.ncalls, 1);
	let_pass(PAUSE);
	ck_assert_uint_eq(server.ncalls, _i ? 1 : 2);
	exchange_put(reverse);
}
END_TEST

START_TEST(calls_in_flight_are_bounded)
{
	bench_accept();
	for (uint32_t xid = 0; xid < TCP_CALLS_MAX + 5; xid++)
		raw_send_call(10000 + xid, BENCH_CALL_MIN);
	bench_run();
	ck_assert_uint_eq(server.ncalls, TCP_CALLS_MAX);
	exchange_put(bench_answer(&server, BENCH_REPLY_MIN, BENCH_REPLY_MIN));
	bench_run();
	ck_assert_uint_eq(server.ncalls, TCP_CALLS_MAX + 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_parked");
	TCase *tc = tcase_create("tcp_leg_parked");

	tcase_add_checked_fixture(tc, bench_setup, bench_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, a_reverse_reply_passes, 0, 2 * WHYS);
	tcase_add_loop_test(tc, without_a_reverse_call_none_is_taken_in, 0, WHYS);
	tcase_add_test(tc, no_more_is_taken_in_than_the_reserve_holds);
	tcase_add_test(tc, a_call_that_fits_nowhere_waits);
	tcase_add_test(tc, a_retransmitted_call_is_discarded);
	tcase_add_test(tc, the_end_of_the_reverse_call_stops_the_reading);
	tcase_add_loop_test(tc, parked_calls_are_released_with_the_leg, 0, 2);
	tcase_add_loop_test(tc, the_owner_of_a_delivered_call_can_stop_the_others, 0, 2);
	tcase_add_test(tc, calls_in_flight_are_bounded);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

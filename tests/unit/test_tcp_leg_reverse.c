// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests Calls from a server to its client over TCP: long ones get memory immediately or fail, and
 * unanswered ones time out.
 */
#include <stdlib.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_leg_fixture.h"

#define LONG_BYTES 200000u
/* What is to be left for clients: their largest Call and Reply. */
#define LEFT (2 * rpc_msg_cost_bytes(FIXTURE_MAX_MESSAGE))

static struct budget_claim hog;

/* All but @left of the memory is somebody else's. */
static void leave(size_t left)
{
	budget_claim_init(&hog, NULL, NULL);
	ck_assert(budget_claim(&budget.other, &hog, FIXTURE_BUDGET - left));
}

/* A leg to a server, whose Calls may be so long. */
static void connect_with(uint32_t reverse_max_bytes, uint32_t reply_bound_bytes)
{
	config.leg.reverse_max_bytes = reverse_max_bytes;
	fake_ceiling_bytes = reply_bound_bytes;
	fixture_connect();
}

static size_t used(void)
{
	return budget.account.used_bytes;
}

START_TEST(a_long_one_passes_and_has_its_memory)
{
	connect_with(REVERSE_MAX_BYTES, LONG_BYTES);
	peer_send_call(1, LONG_BYTES, 1);
	RUN_UNTIL(seen.ncalls);
	expect_call(seen.calls[0], 1, LONG_BYTES, 1);
	ck_assert_uint_eq(seen.calls[0]->reply_max_bytes, LONG_BYTES);
	ck_assert_uint_eq(used(), 2 * rpc_msg_cost_bytes(LONG_BYTES));
	answer_call(0, LONG_BYTES, 3);
	peer_expect_reply(1, LONG_BYTES, 3);
	settle();
	ck_assert_uint_eq(used(), 0);
}
END_TEST

/* Up to what the client's leg takes, and no further than any goes. */
START_TEST(calls_that_no_client_accepts_are_refused_unread)
{
	uint32_t limit = _i ? REVERSE_MAX_BYTES : 65536;

	connect_with(_i ? UINT32_MAX : limit, 4096);
	peer_send_call(1, limit + 4, 2);
	peer_expect_system_err(1);
	ck_assert_uint_eq(worker.counters.reverse_refused, 1);
	ck_assert_uint_eq(used(), 0);
	peer_send_call(2, limit, 2);
	RUN_UNTIL(seen.ncalls);
	expect_call(seen.calls[0], 2, limit, 2);
	ck_assert_uint_eq(seen.notes, 1);
}
END_TEST

/* It leaves what the largest of the clients' Calls may need, and does not wait. */
START_TEST(a_long_one_without_memory_fails_at_once)
{
	size_t need = rpc_msg_cost_bytes(LONG_BYTES) + rpc_msg_cost_bytes(REVERSE_MAX_BYTES);

	connect_with(REVERSE_MAX_BYTES, 4096);
	leave(LEFT + need - 1);
	peer_send_call(1, LONG_BYTES, 1);
	peer_expect_system_err(1);
	ck_assert_uint_eq(worker.counters.reverse_refused, 1);
	ck_assert_uint_eq(budget.account.waiting, 0);
	ck_assert_uint_eq(pool_in_use(), 0);
	budget_claim_shrink(&hog, FIXTURE_BUDGET - LEFT - need);
	peer_send_call(2, LONG_BYTES, 1);
	RUN_UNTIL(seen.ncalls);
	/* What it turned out not to need has gone back. */
	ck_assert_uint_eq(used(), FIXTURE_BUDGET - LEFT - need + rpc_msg_cost_bytes(LONG_BYTES) +
					  rpc_msg_cost_bytes(4096));
	budget_claim_release(&hog);
}
END_TEST

/* Whose Reply is short, too: the budget is not asked. */
START_TEST(a_short_one_takes_nothing)
{
	connect_with(REVERSE_MAX_BYTES, REVERSE_FREE_BYTES);
	peer_send_call(1, REVERSE_FREE_BYTES, 1);
	RUN_UNTIL(seen.ncalls);
	ck_assert_uint_eq(seen.calls[0]->reply_max_bytes, REVERSE_FREE_BYTES);
	ck_assert_uint_eq(used(), 0);
}
END_TEST

/*
 * Where there is memory its Reply may be long; else it may be as long as is free, and the Call
 * passes all the same.
 */
START_TEST(a_short_one_with_a_long_reply_passes_with_what_there_is)
{
	connect_with(REVERSE_MAX_BYTES, LONG_BYTES);
	peer_send_call(1, 100, 1);
	RUN_UNTIL(seen.ncalls);
	ck_assert_uint_eq(seen.calls[0]->reply_max_bytes, LONG_BYTES);
	ck_assert_uint_eq(used(), rpc_msg_cost_bytes(100) + rpc_msg_cost_bytes(LONG_BYTES));
	answer_call(0, LONG_BYTES, 3);
	peer_expect_reply(1, LONG_BYTES, 3);
	settle();
	leave(1);
	peer_send_call(2, 100, 1);
	RUN_UNTIL(seen.ncalls == 2);
	ck_assert_uint_eq(seen.calls[1]->reply_max_bytes, REVERSE_FREE_BYTES);
	ck_assert_uint_eq(used(), FIXTURE_BUDGET - 1);
	ck_assert_uint_eq(worker.counters.reverse_refused, 0);
	answer_call(1, 24, 0);
	peer_expect_reply(2, 24, 0);
	budget_claim_release(&hog);
}
END_TEST

/* More of it comes in one read than it may have before it is known to be longer. */
START_TEST(a_first_fragment_that_is_longer_than_is_free_loses_nothing)
{
	static uint8_t msg[40000];

	connect_with(REVERSE_MAX_BYTES, 4096);
	/* This many bytes make the leg read more at a time. */
	for (uint32_t xid = 0; xid < 500; xid++)
		peer_send_reply(xid, 100, 0);
	settle();
	ck_assert_uint_eq(worker.counters.unmatched_replies, 500);
	put_call(msg, 1, sizeof(msg), 5);
	peer_send_fragments(msg, sizeof(msg), 30000);
	RUN_UNTIL(seen.ncalls);
	expect_call(seen.calls[0], 1, sizeof(msg), 5);
	ck_assert_uint_gt(used(), rpc_msg_cost_bytes(sizeof(msg)));
}
END_TEST

#define TIMEOUT_US 30000000u

/* A leg to a client, which has that much time for each. */
static void accept_with(uint64_t timeout_us)
{
	config.reverse_timeout_us = timeout_us;
	fixture_open();
}

static void expect_late(unsigned n)
{
	ck_assert_uint_eq(worker.counters.reverse_timeouts, n);
	ck_assert_uint_eq(seen.nreplies, n);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(seen.replies[i]->fault, EXCHANGE_FAULT_LATE);
}

static void read_call(void)
{
	uint32_t len;

	(void)peer_read_record(&len);
	ck_assert_uint_eq(len, 100);
}

/*
 * Its server has the fault, and with it a credit. What the client says later is for nobody, and its
 * Calls go on.
 */
START_TEST(a_client_that_does_not_answer_is_not_waited_for)
{
	accept_with(TIMEOUT_US);
	send_call(1, 100, 0, 4096);
	read_call();
	advance_us(TIMEOUT_US / 2);
	send_call(2, 100, 0, 4096);
	read_call();
	advance_us(TIMEOUT_US / 2 - 1);
	expect_late(0);
	advance_us(1);
	expect_late(1);
	advance_us(TIMEOUT_US / 2);
	expect_late(2);
	peer_send_reply(1, 24, 0);
	RUN_UNTIL(worker.counters.unmatched_replies == 1);
	/* One note says it, and one of the Reply. */
	ck_assert_uint_eq(seen.notes, 2);
	advance_us(10 * (uint64_t)TIMEOUT_US);
	expect_late(2);
	peer_expect_alive();
}
END_TEST

START_TEST(a_client_that_answers_in_time_has_as_long_for_each)
{
	accept_with(TIMEOUT_US);
	for (unsigned i = 0; i < 4; i++) {
		send_call(1 + i, 100, 0, 4096);
		read_call();
		advance_us(TIMEOUT_US - 1);
		peer_send_reply(1 + i, 24, 0);
		RUN_UNTIL(seen.nreplies == i + 1);
		ck_assert_int_eq(seen.replies[i]->fault, EXCHANGE_OK);
	}
	ck_assert_uint_eq(worker.counters.reverse_timeouts, 0);
}
END_TEST

#define REPLIES 3u

/* Replies that fill the sockets of both ends. */
static void fill_output(void)
{
	for (unsigned i = 0; i < REPLIES; i++) {
		fake_ceiling_bytes = FIXTURE_MAX_MESSAGE;
		peer_send_call(1 + i, 100, 0);
		RUN_UNTIL(seen.ncalls == 1 + i);
		answer_call(i, FIXTURE_MAX_MESSAGE, 5);
	}
	settle();
	ck_assert_uint_lt(worker.counters.replies_sent, REPLIES);
}

/*
 * A server whose client reads nothing has its credits back, and goes on: what waits here is not
 * more for that.
 */
START_TEST(calls_that_could_not_be_sent_in_time_are_not_kept)
{
	size_t before;
	uint32_t len;

	config.leg.stall_timeout_us = 1000 * (uint64_t)TIMEOUT_US;
	accept_with(TIMEOUT_US);
	fill_output();
	before = pool_in_use();
	for (unsigned i = 0; i < 40; i++) {
		send_call(100 + i, LONG_BYTES, 7, 4096);
		advance_us(TIMEOUT_US);
		expect_late(1);
		exchange_put(seen.replies[0]);
		seen.nreplies = worker.counters.reverse_timeouts = 0;
		ck_assert_uint_eq(pool_in_use(), before);
	}
	send_call(200, 100, 7, 4096);
	for (unsigned i = 0; i < REPLIES; i++)
		peer_expect_reply(1 + i, FIXTURE_MAX_MESSAGE, 5);
	/* The next record is the one that is not late. */
	ck_assert_uint_eq(get_word(peer_read_record(&len)), 200);
	ck_assert_uint_eq(len, 100);
	ck_assert(leg_can_call(leg));
}
END_TEST

/* The rest of a record has to follow. */
START_TEST(a_late_call_that_is_partly_sent_is_sent_to_its_end)
{
	unsigned sent;
	uint32_t len;

	config.leg.stall_timeout_us = 1000 * (uint64_t)TIMEOUT_US;
	accept_with(TIMEOUT_US);
	for (unsigned i = 0; i < REPLIES; i++)
		send_call(100 + i, FIXTURE_MAX_MESSAGE, 7, 4096);
	settle();
	sent = (unsigned)worker.counters.calls_sent;
	ck_assert_uint_lt(sent, REPLIES);
	advance_us(TIMEOUT_US);
	expect_late(REPLIES);
	send_call(200, 100, 7, 4096);
	for (unsigned i = 0; i <= sent; i++) {
		ck_assert_uint_eq(get_word(peer_read_record(&len)), 100 + i);
		ck_assert_uint_eq(len, FIXTURE_MAX_MESSAGE);
	}
	ck_assert_uint_eq(get_word(peer_read_record(&len)), 200);
}
END_TEST

/* A record has a time limit of its own. */
START_TEST(a_reply_that_still_comes_is_waited_for)
{
	uint8_t reply[4 + 1000];

	accept_with(TIMEOUT_US);
	send_call(1, 100, 0, 4096);
	read_call();
	send_call(2, 100, 0, 4096);
	read_call();
	put_word(reply, 0x80000000u | 1000);
	put_reply(reply + 4, 1, 1000, 5);
	advance_us(TIMEOUT_US - 1);
	peer_write(reply, 500);
	settle();
	advance_us(1);
	/* The other one is as late as ever. */
	expect_late(1);
	peer_write(reply + 500, sizeof(reply) - 500);
	RUN_UNTIL(seen.nreplies == 2);
	ck_assert_int_eq(seen.replies[1]->fault, EXCHANGE_OK);
	ck_assert_uint_eq(seen.replies[1]->reply.len_bytes, 1000);
	advance_us(10 * (uint64_t)TIMEOUT_US);
	ck_assert_uint_eq(worker.counters.reverse_timeouts, 1);
	peer_expect_alive();
}
END_TEST

/* What ends without an answer is no time out, and a leg without a time limit waits for ever. */
START_TEST(without_a_time_limit_it_is_waited_for)
{
	accept_with(0);
	send_call(1, 100, 0, 4096);
	read_call();
	advance_us(100 * (uint64_t)TIMEOUT_US);
	expect_late(0);
	peer_send_reply(1, 24, 0);
	RUN_UNTIL(seen.nreplies == 1);
	ck_assert_int_eq(seen.replies[0]->fault, EXCHANGE_OK);
}
END_TEST

static void send_in_fragments(uint32_t xid)
{
	uint8_t *msg = malloc(LONG_BYTES);

	put_call(msg, xid, LONG_BYTES, 7);
	peer_send_fragments(msg, LONG_BYTES, 10000);
	free(msg);
}

/* Nobody knows how long it is before its end: it takes memory when it is longer than is free. */
START_TEST(a_long_one_in_fragments_has_its_memory_on_the_way)
{
	connect_with(REVERSE_MAX_BYTES, 4096);
	send_in_fragments(1);
	RUN_UNTIL(seen.ncalls);
	expect_call(seen.calls[0], 1, LONG_BYTES, 7);
	leave(used() + LEFT + 1000);
	send_in_fragments(2);
	peer_expect_system_err(2);
	peer_send_call(3, 100, 1);
	RUN_UNTIL(seen.ncalls == 2);
	ck_assert_uint_eq(worker.counters.reverse_refused, 1);
	ck_assert_uint_eq(budget.account.waiting, 0);
	budget_claim_release(&hog);
}
END_TEST

/* What a pause keeps back has its memory meanwhile, and the one behind it waits unread. */
START_TEST(long_ones_wait_for_the_end_of_a_pause)
{
	connect_with(REVERSE_MAX_BYTES, 4096);
	leg_pause(leg, true);
	peer_send_call(1, LONG_BYTES, 1);
	settle();
	ck_assert_uint_eq(seen.ncalls, 0);
	leg_pause(leg, false);
	peer_send_call(2, LONG_BYTES, 2);
	RUN_UNTIL(seen.ncalls == 2);
	ck_assert_uint_eq(used(), 2 * (rpc_msg_cost_bytes(LONG_BYTES) + rpc_msg_cost_bytes(4096)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_reverse");
	TCase *tc = tcase_create("tcp_leg_reverse");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_add_test(tc, a_long_one_passes_and_has_its_memory);
	tcase_add_loop_test(tc, calls_that_no_client_accepts_are_refused_unread, 0, 2);
	tcase_add_test(tc, a_long_one_without_memory_fails_at_once);
	tcase_add_test(tc, a_short_one_takes_nothing);
	tcase_add_test(tc, a_short_one_with_a_long_reply_passes_with_what_there_is);
	tcase_add_test(tc, a_first_fragment_that_is_longer_than_is_free_loses_nothing);
	tcase_add_test(tc, a_client_that_does_not_answer_is_not_waited_for);
	tcase_add_test(tc, a_client_that_answers_in_time_has_as_long_for_each);
	tcase_add_test(tc, calls_that_could_not_be_sent_in_time_are_not_kept);
	tcase_add_test(tc, a_late_call_that_is_partly_sent_is_sent_to_its_end);
	tcase_add_test(tc, a_reply_that_still_comes_is_waited_for);
	tcase_add_test(tc, without_a_time_limit_it_is_waited_for);
	tcase_add_test(tc, a_long_one_in_fragments_has_its_memory_on_the_way);
	tcase_add_test(tc, long_ones_wait_for_the_end_of_a_pause);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests flow control of the TCP leg: memory, pauses, stalls. */
#include <stdlib.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_leg_fixture.h"

#define REVERSE_CALLS_MAX 64
#define UNSENT_MAX_BYTES  (8u * 1024u * 1024u)
#define SHORT_US          50000 /* a stall timeout */

/* Memory */

static struct budget_claim hog;

static void hog_budget(void)
{
	budget_claim_init(&hog, NULL, NULL);
	ck_assert(budget_claim(&budget.other, &hog, FIXTURE_BUDGET - 1));
}

START_TEST(a_call_waits_for_its_memory)
{
	fixture_open();
	hog_budget();
	peer_send_call(1, 100, 1);
	peer_send_call(2, 100, 2);
	RUN_UNTIL(budget.account.waiting);
	settle();
	ck_assert_uint_eq(seen.ncalls, 0);
	ck_assert_uint_eq(pool_in_use(), 0);
	ck_assert_uint_eq(worker.counters.budget_waits, 1);
	budget_claim_release(&hog);
	RUN_UNTIL(seen.ncalls == 2);
	expect_call(seen.calls[0], 1, 100, 1);
	expect_call(seen.calls[1], 2, 100, 2);
	ck_assert_uint_eq(budget.account.used_bytes,
			  2 * (rpc_msg_cost_bytes(100) + rpc_msg_cost_bytes(fake_ceiling_bytes)));
}
END_TEST

/* Only its start is here: it may have the largest of Replies. */
START_TEST(a_large_call_waits_for_all_that_it_may_need)
{
	size_t most = rpc_msg_cost_bytes(200000) + rpc_msg_cost_bytes(FIXTURE_MAX_MESSAGE);
	uint8_t *bytes = malloc(200004);

	fixture_open();
	budget_claim_init(&hog, NULL, NULL);
	ck_assert(budget_claim(&budget.other, &hog, FIXTURE_BUDGET - most + 1));
	record_mark_encode(bytes, 200000);
	put_call(bytes + 4, 1, 200000, 5);
	peer_write(bytes, 20000);
	RUN_UNTIL(budget.account.waiting);
	ck_assert_uint_eq(pool_in_use(), 0);
	budget_claim_shrink(&hog, FIXTURE_BUDGET - most);
	RUN_UNTIL(!budget.account.waiting);
	peer_write(bytes + 20000, 180004);
	RUN_UNTIL(seen.ncalls);
	expect_call(seen.calls[0], 1, 200000, 5);
	ck_assert_uint_eq(budget.account.used_bytes,
			  FIXTURE_BUDGET - most + rpc_msg_cost_bytes(200000) +
				  rpc_msg_cost_bytes(fake_ceiling_bytes));
	budget_claim_release(&hog);
	free(bytes);
}
END_TEST

START_TEST(while_memory_is_scarce_little_is_read)
{
	uint8_t bytes[48];
	unsigned sent = 0;

	fixture_open();
	hog_budget();
	peer_send_call(1, 100, 0);
	RUN_UNTIL(budget.account.waiting);
	ck_assert_uint_le(worker.counters.stash_bytes, 4096);
	/* Nothing more is read until the memory is there. */
	record_mark_encode(bytes, 44);
	for (; sent < 100000; sent++) {
		put_call(bytes + 4, 100 + sent, 44, 0);
		if (send(peer, bytes, sizeof(bytes), MSG_NOSIGNAL) < 0)
			break;
		if (sent % 100 == 0)
			settle();
	}
	ck_assert_uint_lt(sent, 100000);
	ck_assert_uint_le(worker.counters.stash_bytes, 4096);
	budget_claim_release(&hog);
	RUN_UNTIL(seen.ncalls == sent + 1);
}
END_TEST

START_TEST(a_leg_that_closes_waits_for_no_memory)
{
	fixture_open();
	hog_budget();
	peer_send_call(1, 100, 0);
	RUN_UNTIL(budget.account.waiting);
	leg_close(leg, LEG_CLOSE_LOCAL);
	turn();
	ck_assert_uint_eq(budget.account.waiting, 0);
	budget_claim_release(&hog);
	settle();
	ck_assert_uint_eq(seen.ncalls, 0);
}
END_TEST

START_TEST(a_servers_call_does_not_wait_for_memory)
{
	uint32_t len;

	fixture_connect();
	hog_budget();
	send_call(1, 44, 0, 1000);
	peer_read_record(&len);
	peer_send_call(1, 100, 1);
	peer_send_reply(1, 24, 0);
	RUN_UNTIL(seen.nreplies);
	ck_assert_uint_eq(seen.ncalls, 1);
	/* Nor does anybody wait for what it takes. */
	ck_assert_uint_eq(budget.account.used_bytes, FIXTURE_BUDGET - 1);
	answer_call(0, 24, 3);
	peer_expect_reply(1, 24, 3);
	budget_claim_release(&hog);
}
END_TEST

START_TEST(a_servers_calls_are_few)
{
	fixture_connect();
	for (uint32_t xid = 0; xid < REVERSE_CALLS_MAX + 3; xid++)
		peer_send_call(xid, 100, 0);
	for (uint32_t xid = REVERSE_CALLS_MAX; xid < REVERSE_CALLS_MAX + 3; xid++)
		peer_expect_system_err(xid);
	ck_assert_uint_eq(seen.ncalls, REVERSE_CALLS_MAX);
	ck_assert_uint_eq(worker.counters.reverse_refused, 3);
	answer_call(0, 24, 0);
	peer_expect_reply(0, 24, 0);
	peer_send_call(1000, 100, 0);
	RUN_UNTIL(seen.ncalls == REVERSE_CALLS_MAX + 1);
}
END_TEST

START_TEST(a_servers_calls_are_small)
{
	fake_ceiling_bytes = UINT32_MAX;
	fixture_connect();
	peer_send_call(1, REVERSE_FREE_BYTES, 1);
	peer_send_call(2, REVERSE_FREE_BYTES + 4, 2);
	peer_expect_system_err(2);
	ck_assert_uint_eq(seen.ncalls, 1);
	expect_call(seen.calls[0], 1, REVERSE_FREE_BYTES, 1);
	ck_assert_uint_eq(seen.calls[0]->reply_max_bytes, REVERSE_FREE_BYTES);
}
END_TEST

START_TEST(a_servers_call_in_fragments_is_small_too)
{
	uint8_t *msg = malloc(2 * REVERSE_FREE_BYTES);
	uint8_t mark[4];

	fixture_connect();
	put_call(msg, 5, 2 * REVERSE_FREE_BYTES, 0);
	for (unsigned i = 0; i < 4; i++) {
		put_word(mark, REVERSE_FREE_BYTES / 2 | (i == 3 ? 0x80000000u : 0));
		peer_write(mark, 4);
		peer_write(msg + i * REVERSE_FREE_BYTES / 2, REVERSE_FREE_BYTES / 2);
	}
	peer_expect_system_err(5);
	peer_send_call(6, 44, 0);
	RUN_UNTIL(seen.ncalls);
	ck_assert_uint_eq(seen.calls[0]->call_info.hdr.xid, 6);
	free(msg);
}
END_TEST

/* Pauses */

START_TEST(a_paused_leg_reads_nothing)
{
	fixture_open();
	leg_pause(leg, true);
	peer_send_call(1, 100, 0);
	settle();
	ck_assert_uint_eq(seen.ncalls, 0);
	leg_pause(leg, false);
	ck_assert_uint_eq(seen.ncalls, 0);
	RUN_UNTIL(seen.ncalls);
}
END_TEST

static void pause_at_call(void *arg, struct exchange *x)
{
	seen.calls[seen.ncalls++] = x;
	leg_pause(leg, true);
}

/* The rest of what one read brought stays until then, in order. */
START_TEST(a_pause_from_inside_a_callback_holds_the_next_call)
{
	struct leg_events events = *config.leg.events;
	uint8_t bytes[10 * 48];

	events.call = pause_at_call;
	fixture_open();
	seen.ncalls = 0;
	((struct leg_config *)leg->config)->events = &events;
	for (uint32_t i = 0; i < 10; i++) {
		record_mark_encode(bytes + 48 * i, 44);
		put_call(bytes + 48 * i + 4, i, 44, 0);
	}
	peer_write(bytes, sizeof(bytes));
	for (uint32_t i = 0; i < 10; i++) {
		RUN_UNTIL(seen.ncalls == i + 1);
		settle();
		ck_assert_uint_eq(seen.ncalls, i + 1);
		ck_assert_uint_eq(seen.calls[i]->call_info.hdr.xid, i);
		leg_pause(leg, false);
	}
	((struct leg_config *)leg->config)->events = config.leg.events;
}
END_TEST

START_TEST(too_much_unsent_asks_for_a_pause)
{
	static uint8_t skip[1024 * 1024];
	uint32_t xid;

	fixture_connect();
	for (xid = 0; leg_can_call(leg); xid++) {
		ck_assert_uint_lt(xid, 100);
		send_call(xid, sizeof(skip) - 4, 0, 100);
	}
	ck_assert_uint_ge(xid, UNSENT_MAX_BYTES / sizeof(skip));
	settle();
	ck_assert_uint_eq(seen.call_ready, 0);
	ck_assert(!leg_can_call(leg));
	for (; xid > 0; xid--)
		peer_read(skip, sizeof(skip));
	ck_assert_uint_eq(seen.call_ready, 1);
	ck_assert(leg_can_call(leg));
}
END_TEST

START_TEST(a_client_that_takes_no_replies_is_not_read)
{
	uint32_t calls = UNSENT_MAX_BYTES / (1024 * 1024) + 1;

	fixture_open();
	for (uint32_t xid = 0; xid < calls; xid++)
		peer_send_call(xid, 44, 0);
	RUN_UNTIL(seen.ncalls == calls);
	for (uint32_t xid = 0; xid < calls; xid++)
		answer_call(xid, 1024 * 1024, 0);
	peer_send_call(1000, 44, 0);
	settle();
	ck_assert_uint_eq(seen.ncalls, calls);
	for (uint32_t xid = 0; xid < calls; xid++)
		peer_expect_reply(xid, 1024 * 1024, 0);
	RUN_UNTIL(seen.ncalls == calls + 1);
}
END_TEST

/* Stalls */

START_TEST(a_record_that_does_not_go_on_closes)
{
	uint8_t bytes[104];

	fixture_open();
	record_mark_encode(bytes, 100);
	put_call(bytes + 4, 1, 100, 0);
	peer_write(bytes, _i);
	advance_us(FIXTURE_STALL_US - 1);
	ck_assert_uint_eq(seen.closed, 0);
	advance_us(1);
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_RECORD_STALLED);
	ck_assert_uint_eq(worker.counters.stalls, 1);
}
END_TEST

START_TEST(single_bytes_are_no_progress)
{
	uint8_t bytes[30000];

	fixture_open();
	record_mark_encode(bytes, sizeof(bytes) - 4);
	put_call(bytes + 4, 1, sizeof(bytes) - 4, 0);
	for (size_t i = 0; i < 10; i++) {
		ck_assert_uint_eq(seen.closed, 0);
		peer_write(bytes + i, 1);
		advance_us(FIXTURE_STALL_US / 10);
	}
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_RECORD_STALLED);
}
END_TEST

START_TEST(a_large_record_may_take_long)
{
	const uint32_t len = 1024 * 1024, step = 32 * 1024;
	uint8_t *bytes = malloc(len + 4);

	fixture_open();
	record_mark_encode(bytes, len);
	put_call(bytes + 4, 1, len, 0);
	peer_write(bytes, 4);
	for (uint32_t at = 0; at < len; at += step) {
		advance_us(FIXTURE_STALL_US - 1);
		peer_write(bytes + 4 + at, step);
	}
	RUN_UNTIL(seen.ncalls);
	free(bytes);
}
END_TEST

START_TEST(a_record_held_up_here_does_not_stall)
{
	uint8_t bytes[104];

	fixture_open();
	record_mark_encode(bytes, 100);
	put_call(bytes + 4, 1, 100, 0);
	peer_write(bytes, 50);
	leg_pause(leg, true);
	advance_us(2 * FIXTURE_STALL_US);
	ck_assert_uint_eq(seen.closed, 0);
	leg_pause(leg, false);
	settle();
	advance_us(FIXTURE_STALL_US - 1);
	ck_assert_uint_eq(seen.closed, 0);
	peer_write(bytes + 50, 54);
	RUN_UNTIL(seen.ncalls);
}
END_TEST

START_TEST(an_idle_connection_does_not_stall)
{
	fixture_open();
	advance_us(2 * FIXTURE_STALL_US);
	peer_send_call(1, 44, 0);
	RUN_UNTIL(seen.ncalls);
	advance_us(2 * FIXTURE_STALL_US);
	answer_call(0, 24, 0);
	peer_expect_reply(1, 24, 0);
	advance_us(2 * FIXTURE_STALL_US);
	ck_assert_uint_eq(seen.closed, 0);
}
END_TEST

START_TEST(replies_that_are_not_taken_close)
{
	fixture_open();
	peer_send_call(1, 44, 0);
	RUN_UNTIL(seen.ncalls);
	answer_call(0, FIXTURE_MAX_MESSAGE, 0);
	settle();
	advance_us(FIXTURE_STALL_US - 1);
	ck_assert_uint_eq(seen.closed, 0);
	advance_us(1);
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_REPLY_STALLED);
}
END_TEST

START_TEST(replies_that_are_taken_slowly_do_not_stall)
{
	static uint8_t bytes[FIXTURE_MAX_MESSAGE + 4];
	const size_t step = 512 * 1024;

	fixture_open();
	peer_send_call(1, 44, 0);
	RUN_UNTIL(seen.ncalls);
	answer_call(0, FIXTURE_MAX_MESSAGE, 0);
	settle();
	for (size_t at = 0; at < sizeof(bytes); at += step) {
		advance_us(FIXTURE_STALL_US - 1);
		peer_read(bytes + at, sizeof(bytes) - at < step ? sizeof(bytes) - at : step);
		settle();
	}
	ck_assert_uint_eq(seen.closed, 0);
}
END_TEST

/* What is seen of it */

START_TEST(a_snapshot_tells_the_state)
{
	struct leg_info info;

	fixture_accept();
	leg_info(leg, &info);
	ck_assert_str_eq(info.state, "quiet");
	peer_send_call(1, 44, 0);
	RUN_UNTIL(seen.requested);
	leg_accept(leg);
	RUN_UNTIL(seen.ncalls);
	send_call(1, 44, 0, 100);
	settle();
	leg_info(leg, &info);
	ck_assert_str_eq(info.kind, "tcp");
	ck_assert_str_eq(info.state, "open");
	ck_assert_uint_eq(info.calls_in_flight_in, 1);
	ck_assert_uint_eq(info.calls_in_flight_out, 1);
	ck_assert_uint_eq(info.bytes_received, 48);
	ck_assert_uint_eq(info.bytes_sent, 48);
}
END_TEST

static TCase *new_case(Suite *suite, const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return tc;
}

int main(void)
{
	Suite *suite = suite_create("tcp_leg_flow");
	TCase *tc = new_case(suite, "memory");

	tcase_add_test(tc, a_call_waits_for_its_memory);
	tcase_add_test(tc, a_large_call_waits_for_all_that_it_may_need);
	tcase_add_test(tc, while_memory_is_scarce_little_is_read);
	tcase_add_test(tc, a_leg_that_closes_waits_for_no_memory);
	tcase_add_test(tc, a_servers_call_does_not_wait_for_memory);
	tcase_add_test(tc, a_servers_calls_are_few);
	tcase_add_test(tc, a_servers_calls_are_small);
	tcase_add_test(tc, a_servers_call_in_fragments_is_small_too);

	tc = new_case(suite, "pauses");
	tcase_add_test(tc, a_paused_leg_reads_nothing);
	tcase_add_test(tc, a_pause_from_inside_a_callback_holds_the_next_call);
	tcase_add_test(tc, too_much_unsent_asks_for_a_pause);
	tcase_add_test(tc, a_client_that_takes_no_replies_is_not_read);

	tc = new_case(suite, "stalls");
	tcase_add_loop_test(tc, a_record_that_does_not_go_on_closes, 1, 16);
	tcase_add_test(tc, single_bytes_are_no_progress);
	tcase_add_test(tc, a_large_record_may_take_long);
	tcase_add_test(tc, a_record_held_up_here_does_not_stall);
	tcase_add_test(tc, an_idle_connection_does_not_stall);
	tcase_add_test(tc, replies_that_are_not_taken_close);
	tcase_add_test(tc, replies_that_are_taken_slowly_do_not_stall);

	tc = new_case(suite, "snapshots");
	tcase_add_test(tc, a_snapshot_tells_the_state);
	return test_main(suite);
}

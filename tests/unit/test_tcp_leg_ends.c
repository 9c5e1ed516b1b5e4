// SPDX-License-Identifier: BSD-3-Clause
/* Tests every way in which a TCP leg ends. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_leg_fixture.h"

#define CLOSE_LIMIT_US 2000000

static void reset_by_peer(void)
{
	const struct linger reset = {.l_onoff = 1};

	setsockopt(peer, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(peer);
	peer = -1;
}

START_TEST(a_half_closed_client_gets_its_replies)
{
	fixture_open();
	peer_send_call(1, 44, 0);
	peer_send_call(2, 44, 0);
	shutdown(peer, SHUT_WR);
	RUN_UNTIL(seen.ncalls == 2);
	settle();
	ck_assert_uint_eq(seen.closed, 0);
	ck_assert_uint_eq(seen.half_closed, 1);
	answer_call(1, 100, 2);
	peer_expect_reply(2, 100, 2);
	ck_assert_uint_eq(seen.closed, 0);
	answer_call(0, 1024 * 1024, 1);
	peer_expect_reply(1, 1024 * 1024, 1);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_PEER);
	ck_assert(peer_at_end());
}
END_TEST

START_TEST(a_half_close_after_unread_data_is_detected_and_cuts_nothing)
{
	fixture_open();
	peer_send_call(1, 44, 0);
	RUN_UNTIL(seen.ncalls == 1);
	leg_pause(leg, true);
	peer_send_call(2, 44, 0);
	settle();
	ck_assert_uint_eq(seen.half_closed, 0);
	shutdown(peer, SHUT_WR);
	RUN_UNTIL(seen.half_closed);
	ck_assert_uint_eq(seen.ncalls, 1);
	leg_pause(leg, false);
	RUN_UNTIL(seen.ncalls == 2);
	settle();
	/* Once more, behind the last Call. */
	ck_assert_uint_eq(seen.half_closed, 2);
	ck_assert_uint_eq(seen.closed, 0);
	answer_call(0, 100, 1);
	answer_call(1, 100, 2);
	peer_expect_reply(1, 100, 1);
	peer_expect_reply(2, 100, 2);
	RUN_UNTIL(seen.closed);
}
END_TEST

START_TEST(an_idle_client_that_leaves_closes)
{
	fixture_open();
	shutdown(peer, SHUT_WR);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_PEER);
	ck_assert_str_eq(seen.detail, "");
}
END_TEST

START_TEST(a_stream_that_ends_in_a_record_closes_after_earlier_records)
{
	uint8_t *bytes = malloc(40004);

	fixture_open();
	record_mark_encode(bytes, _i < 100 ? 100 : 40000);
	put_call(bytes + 4, 2, 40000, 0);
	peer_send_call(1, 44, 0);
	RUN_UNTIL(seen.ncalls);
	peer_write(bytes, _i);
	shutdown(peer, SHUT_WR);
	settle();
	ck_assert_uint_eq(seen.closing, 0);
	ck_assert_uint_eq(budget.account.used_bytes,
			  rpc_msg_cost_bytes(44) + rpc_msg_cost_bytes(fake_ceiling_bytes));
	answer_call(0, 100, 3);
	peer_expect_reply(1, 100, 3);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_PEER);
	ck_assert_str_ne(seen.detail, "");
	free(bytes);
}
END_TEST

START_TEST(a_server_that_leaves_closes)
{
	fixture_connect();
	send_call(1, 44, 0, 100);
	shutdown(peer, SHUT_WR);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_PEER);
	ck_assert_uint_eq(seen.nreplies, 0);
	ck_assert_uint_eq(pool_in_use(), 0);
}
END_TEST

START_TEST(a_connection_that_breaks_is_lost)
{
	fixture_connect();
	reset_by_peer();
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_LOST);
	ck_assert_int_eq(seen.close_errno, ECONNRESET);
	ck_assert_str_ne(seen.detail, "");
}
END_TEST

/* At once: the time stands still. */
START_TEST(a_connection_that_breaks_while_it_is_not_read_is_lost)
{
	fixture_connect();
	leg_pause(leg, true);
	reset_by_peer();
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_LOST);
}
END_TEST

/*
 * A server that never answers would else keep it for good: its Call waits for memory, its bytes in
 * the socket.
 */
#define UNREAD_CALLS 400u /* more than one turn reads */

/* The loop does not turn meanwhile. */
static void open_with_unread_calls(void)
{
	static uint8_t records[UNREAD_CALLS][48];

	fixture_open();
	leg_check_peer_close(leg);
	settle();
	ck_assert_uint_eq(seen.half_closed + seen.closing, 0);
	for (unsigned i = 0; i < UNREAD_CALLS; i++) {
		record_mark_encode(records[i], 44);
		put_call(records[i] + 4, 1 + i, 44, 0);
	}
	ck_assert_int_eq(write(peer, records, sizeof(records)), (ssize_t)sizeof(records));
}

START_TEST(a_queried_half_close_is_detected_before_unread_data)
{
	open_with_unread_calls();
	shutdown(peer, SHUT_WR);
	leg_check_peer_close(leg);
	ck_assert_uint_eq(seen.half_closed, 0);
	turn();
	ck_assert_uint_eq(seen.half_closed, 1);
	ck_assert_uint_lt(seen.ncalls, UNREAD_CALLS);
	leg_check_peer_close(leg);
	RUN_UNTIL(seen.ncalls == UNREAD_CALLS);
	settle();
	/* Once more, behind the last Call. */
	ck_assert_uint_eq(seen.half_closed, 2);
	ck_assert_uint_eq(seen.closing, 0);
	for (unsigned i = 0; i < UNREAD_CALLS; i++)
		answer_call(i, 24, 0);
	RUN_UNTIL(seen.closed);
}
END_TEST

START_TEST(a_queried_reset_is_detected_before_unread_data)
{
	open_with_unread_calls();
	reset_by_peer();
	leg_check_peer_close(leg);
	ck_assert_uint_eq(seen.closing, 0);
	turn();
	ck_assert_uint_eq(seen.closing, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_LOST);
	ck_assert_uint_eq(seen.ncalls, 0);
	RUN_UNTIL(seen.closed);
}
END_TEST

START_TEST(a_client_that_breaks_while_its_call_waits_is_lost)
{
	struct budget_claim hog;

	fixture_open();
	budget_claim_init(&hog, NULL, NULL);
	ck_assert(budget_claim(&budget.other, &hog, FIXTURE_BUDGET - 1));
	peer_send_call(1, 100, 1);
	RUN_UNTIL(budget.account.waiting);
	peer_send_call(2, 100, 2);
	settle();
	reset_by_peer();
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_LOST);
	ck_assert_uint_eq(seen.ncalls, 0);
	budget_claim_release(&hog);
}
END_TEST

/* A FIN alone is not a failure: Calls before it are accepted, and answered. */
START_TEST(a_client_that_ends_while_it_is_not_read_is_served)
{
	fixture_open();
	leg_pause(leg, true);
	peer_send_call(1, 100, 1);
	peer_send_call(2, 100, 2);
	shutdown(peer, SHUT_WR);
	advance_us(3ull * FIXTURE_STALL_US);
	ck_assert_uint_eq(seen.closed, 0);
	leg_pause(leg, false);
	RUN_UNTIL(seen.ncalls == 2);
	/* It is not read any more, and would not get another end. */
	answer_call(0, 100, 3);
	peer_expect_reply(1, 100, 3);
	if (_i) {
		reset_by_peer();
		RUN_UNTIL(seen.closed);
		ck_assert_int_eq(seen.why, LEG_CLOSE_LOST);
	} else {
		answer_call(1, 100, 4);
		peer_expect_reply(2, 100, 4);
		RUN_UNTIL(seen.closed);
		ck_assert_int_eq(seen.why, LEG_CLOSE_PEER);
	}
}
END_TEST

/* Its server is still sought. */
START_TEST(a_client_that_breaks_before_it_is_accepted_is_lost)
{
	fixture_accept();
	peer_send_call(1, 100, 1);
	RUN_UNTIL(seen.requested);
	if (_i)
		shutdown(peer, SHUT_WR);
	settle();
	ck_assert_uint_eq(seen.closing, 0);
	reset_by_peer();
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_LOST);
}
END_TEST

START_TEST(a_paused_connection_that_holds_is_kept)
{
	fixture_connect();
	leg_pause(leg, true);
	advance_us(3ull * FIXTURE_STALL_US);
	ck_assert_uint_eq(seen.closed, 0);
	leg_pause(leg, false);
	peer_send_call(1, 44, 0);
	RUN_UNTIL(seen.ncalls);
}
END_TEST

START_TEST(an_orderly_close_sends_queued_data)
{
	fixture_open();
	peer_send_call(1, 44, 0);
	peer_send_call(2, 44, 0);
	RUN_UNTIL(seen.ncalls == 2);
	answer_call(0, 1024 * 1024, 1);
	leg_close(leg, LEG_CLOSE_LOST);
	/* Too late: it was in flight when the leg closed. */
	answer_call(1, 100, 2);
	peer_expect_reply(1, 1024 * 1024, 1);
	RUN_UNTIL(peer_at_end());
	/* What still comes is thrown away; the leg waits for the peer's FIN. */
	ck_assert_uint_eq(seen.closed, 0);
	peer_send_call(3, 44, 0);
	settle();
	ck_assert_uint_eq(seen.closed, 0);
	shutdown(peer, SHUT_WR);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_LOST);
	ck_assert_uint_eq(seen.ncalls, 2);
}
END_TEST

START_TEST(an_orderly_close_does_not_wait_for_ever)
{
	fixture_open();
	peer_send_call(1, 44, 0);
	RUN_UNTIL(seen.ncalls);
	if (_i)
		answer_call(0, FIXTURE_MAX_MESSAGE, 1);
	leg_close(leg, LEG_CLOSE_LOCAL);
	advance_us(CLOSE_LIMIT_US - 1);
	ck_assert_uint_eq(seen.closed, 0);
	advance_us(1);
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_LOCAL);
}
END_TEST

START_TEST(a_close_calls_nothing_back_before_it_returns)
{
	fixture_connect();
	peer_send_call(1, 44, 0);
	RUN_UNTIL(seen.ncalls);
	send_call(1, 44, 0, 100);
	leg_close(leg, LEG_CLOSE_PEER);
	leg_close(leg, LEG_CLOSE_LOCAL);
	ck_assert_uint_eq(seen.closing, 0);
	answer_call(0, 100, 0);
	send_call(2, 44, 0, 100);
	RUN_UNTIL(seen.closed);
	ck_assert_uint_eq(pool_in_use(), 0);
	settle();
	ck_assert_uint_eq(seen.closed, 1);
	ck_assert_int_eq(seen.why, LEG_CLOSE_PEER);
	ck_assert_uint_eq(seen.nreplies, 0);
}
END_TEST

/* Its client is gone; a server in good order sees a reset, so that the port is free. */
START_TEST(a_connection_to_a_server_ends_with_a_reset)
{
	char byte;

	fixture_connect();
	leg_close(leg, LEG_CLOSE_PEER);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(recv(peer, &byte, 1, 0), -1);
	ck_assert_int_eq(errno, ECONNRESET);
}
END_TEST

/* Bytes that it has not read would hold the port in the kernel for as long as it reads nothing. */
START_TEST(a_server_that_takes_no_calls_is_reset)
{
	static char bytes[65536];
	ssize_t n;

	fixture_connect();
	for (uint32_t xid = 1; xid <= 4; xid++)
		send_call(xid, FIXTURE_MAX_MESSAGE, 0, 100);
	settle();
	advance_us(FIXTURE_STALL_US - 1);
	ck_assert_uint_eq(seen.closed, 0);
	advance_us(1);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_CALL_STALLED);
	while ((n = recv(peer, bytes, sizeof(bytes), 0)) > 0)
		;
	ck_assert_int_eq(n, -1);
	ck_assert_int_eq(errno, ECONNRESET);
}
END_TEST

START_TEST(a_stopping_daemon_ends_connections_to_servers_in_order)
{
	uint32_t len;

	fixture_connect();
	send_call(1, 1024 * 1024, 0, 100);
	settle();
	leg_close(leg, LEG_CLOSE_SHUTDOWN);
	peer_read_record(&len);
	ck_assert_uint_eq(len, 1024 * 1024);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(recv(peer, &len, 1, 0), 0);
}
END_TEST

static void close_at_call(void *arg, struct exchange *x)
{
	seen.calls[seen.ncalls++] = x;
	leg_close(leg, *(enum leg_close *)arg);
}

START_TEST(a_close_from_inside_a_callback_ends_the_reading)
{
	enum leg_close why = _i ? LEG_CLOSE_LOST : LEG_CLOSE_LOCAL;
	struct leg_events events = *config.leg.events;
	uint8_t bytes[96];

	fixture_open();
	events.call = close_at_call;
	((struct leg_config *)leg->config)->events = &events;
	((struct leg_config *)leg->config)->arg = &why;
	for (uint32_t i = 0; i < 2; i++) {
		record_mark_encode(bytes + 48 * i, 44);
		put_call(bytes + 48 * i + 4, i, 44, 0);
	}
	peer_write(bytes, sizeof(bytes));
	RUN_UNTIL(seen.ncalls);
	shutdown(peer, SHUT_WR);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, why);
	ck_assert_uint_eq(seen.ncalls, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_ends");
	TCase *tc = tcase_create("ends");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_half_closed_client_gets_its_replies);
	tcase_add_test(tc, a_half_close_after_unread_data_is_detected_and_cuts_nothing);
	tcase_add_test(tc, an_idle_client_that_leaves_closes);
	tcase_add_loop_test(tc, a_stream_that_ends_in_a_record_closes_after_earlier_records, 1, 16);
	tcase_add_loop_test(tc, a_stream_that_ends_in_a_record_closes_after_earlier_records, 16386,
			    16390);
	tcase_add_test(tc, a_server_that_leaves_closes);
	tcase_add_test(tc, a_connection_that_breaks_is_lost);
	tcase_add_test(tc, a_connection_that_breaks_while_it_is_not_read_is_lost);
	tcase_add_test(tc, a_queried_half_close_is_detected_before_unread_data);
	tcase_add_test(tc, a_queried_reset_is_detected_before_unread_data);
	tcase_add_test(tc, a_client_that_breaks_while_its_call_waits_is_lost);
	tcase_add_loop_test(tc, a_client_that_ends_while_it_is_not_read_is_served, 0, 2);
	tcase_add_loop_test(tc, a_client_that_breaks_before_it_is_accepted_is_lost, 0, 2);
	tcase_add_test(tc, a_paused_connection_that_holds_is_kept);
	tcase_add_test(tc, an_orderly_close_sends_queued_data);
	tcase_add_loop_test(tc, an_orderly_close_does_not_wait_for_ever, 0, 2);
	tcase_add_test(tc, a_close_calls_nothing_back_before_it_returns);
	tcase_add_test(tc, a_connection_to_a_server_ends_with_a_reset);
	tcase_add_test(tc, a_server_that_takes_no_calls_is_reset);
	tcase_add_test(tc, a_stopping_daemon_ends_connections_to_servers_in_order);
	tcase_add_loop_test(tc, a_close_from_inside_a_callback_ends_the_reading, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests Calls at the TCP leg: whatever arrives is correctly forwarded, answered or rejected. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_leg_fixture.h"

static unsigned sends; /* system calls by which the leg sent */

/* In place of the C library's, to count. */
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	sends++;
	return syscall(SYS_sendmsg, fd, msg, flags);
}

/* Opening */

START_TEST(nothing_is_read_before_the_leg_is_accepted)
{
	fixture_accept();
	settle();
	ck_assert_uint_eq(seen.requested, 0);
	peer_send_call(1, 100, 1);
	RUN_UNTIL(seen.requested);
	settle();
	ck_assert_uint_eq(seen.requested, 1);
	ck_assert_uint_eq(seen.opened, 0);
	ck_assert_uint_eq(worker.counters.bytes_received, 0);
	leg_accept(leg);
	ck_assert_uint_eq(seen.opened, 0);
	RUN_UNTIL(seen.ncalls);
	ck_assert_uint_eq(seen.opened, 1);
	expect_call(seen.calls[0], 1, 100, 1);
}
END_TEST

START_TEST(a_client_may_go_before_its_first_byte)
{
	fixture_accept();
	close(peer);
	peer = -1;
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_PEER);
	ck_assert_uint_eq(seen.requested, 0);
}
END_TEST

/* Calls */

START_TEST(a_call_is_passed_on_and_its_reply_goes_back)
{
	fixture_open();
	peer_send_call(7, 200, 3);
	RUN_UNTIL(seen.ncalls);
	expect_call(seen.calls[0], 7, 200, 3);
	ck_assert_uint_eq(seen.calls[0]->reply_max_bytes, fake_ceiling_bytes);
	ck_assert_ptr_eq(seen.calls[0]->origin, leg);
	ck_assert_uint_eq(budget.account.used_bytes,
			  rpc_msg_cost_bytes(200) + rpc_msg_cost_bytes(fake_ceiling_bytes));
	answer_call(0, 300, 9);
	peer_expect_reply(7, 300, 9);
	ck_assert_uint_eq(budget.account.used_bytes, 0);
	ck_assert_uint_eq(pool_in_use(), 0);
	ck_assert_uint_eq(worker.counters.calls_received, 1);
	ck_assert_uint_eq(worker.counters.replies_sent, 1);
}
END_TEST

START_TEST(calls_in_single_bytes_are_the_same_calls)
{
	uint8_t bytes[RECORD_MARK_BYTES + 64];

	fixture_open();
	for (uint32_t xid = 0; xid < 3; xid++) {
		record_mark_encode(bytes, 64);
		put_call(bytes + RECORD_MARK_BYTES, xid, 64, 5);
		for (size_t i = 0; i < sizeof(bytes); i++)
			peer_write(bytes + i, 1);
		RUN_UNTIL(seen.ncalls == xid + 1);
		expect_call(seen.calls[xid], xid, 64, 5);
		/* What was claimed in the dark has been given back. */
		ck_assert_uint_eq(budget.account.used_bytes,
				  (xid + 1) * (rpc_msg_cost_bytes(64) +
					       rpc_msg_cost_bytes(fake_ceiling_bytes)));
	}
}
END_TEST

START_TEST(every_cut_of_two_calls_gives_the_same_calls)
{
	uint8_t bytes[2 * (RECORD_MARK_BYTES + 44)];

	fixture_open();
	for (size_t cut = 1; cut < sizeof(bytes); cut++) {
		record_mark_encode(bytes, 44);
		put_call(bytes + 4, (uint32_t)cut * 2, 44, 1);
		record_mark_encode(bytes + 48, 44);
		put_call(bytes + 52, (uint32_t)cut * 2 + 1, 44, 2);
		peer_write(bytes, cut);
		settle();
		peer_write(bytes + cut, sizeof(bytes) - cut);
		RUN_UNTIL(seen.ncalls == 2 * cut);
		expect_call(seen.calls[2 * cut - 2], (uint32_t)cut * 2, 44, 1);
		expect_call(seen.calls[2 * cut - 1], (uint32_t)cut * 2 + 1, 44, 2);
	}
}
END_TEST

START_TEST(fragments_of_any_size_make_one_call)
{
	static const uint32_t steps[] = {1, 3, 7, 8, 9, 100, 4000};
	uint8_t msg[4000];

	fixture_open();
	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
		put_call(msg, i, sizeof(msg), (uint8_t)i);
		peer_send_fragments(msg, sizeof(msg), steps[i]);
		RUN_UNTIL(seen.ncalls == i + 1);
		expect_call(seen.calls[i], i, sizeof(msg), (uint8_t)i);
	}
}
END_TEST

START_TEST(a_large_call_is_received_in_place)
{
	fixture_open();
	for (uint32_t xid = 1; xid <= 4; xid++) {
		peer_send_call(xid, 1024 * 1024 + 100, (uint8_t)xid);
		RUN_UNTIL(seen.ncalls == xid);
		expect_call(seen.calls[xid - 1], xid, 1024 * 1024 + 100, (uint8_t)xid);
	}
	ck_assert_uint_le(worker.counters.payload_bytes_copied, 4 * 16384);
}
END_TEST

#define MANY 500

START_TEST(messages_of_one_loop_iteration_are_sent_by_one_system_call)
{
	uint8_t *bytes = malloc(MANY * 48);

	fixture_open();
	for (uint32_t i = 0; i < MANY; i++) {
		record_mark_encode(bytes + 48 * i, 44);
		put_call(bytes + 48 * i + 4, i, 44, 0);
	}
	peer_write(bytes, MANY * 48);
	RUN_UNTIL(seen.ncalls == MANY);
	for (uint32_t i = 0; i < MANY; i++)
		expect_call(seen.calls[i], i, 44, 0);
	sends = 0;
	for (uint32_t i = 0; i < MANY; i++)
		answer_call(i, 28, (uint8_t)i);
	for (uint32_t i = 0; i < MANY; i++)
		peer_expect_reply(i, 28, (uint8_t)i);
	ck_assert_uint_eq(sends, 1);
	free(bytes);
}
END_TEST

START_TEST(a_large_reply_goes_out_whole_through_a_full_socket)
{
	fixture_open();
	peer_send_call(1, 44, 0);
	peer_send_call(2, 44, 0);
	RUN_UNTIL(seen.ncalls == 2);
	answer_call(0, 1024 * 1024, 77);
	answer_call(1, 24, 0);
	settle();
	ck_assert_uint_eq(worker.counters.replies_sent, 0);
	peer_expect_reply(1, 1024 * 1024, 77);
	peer_expect_reply(2, 24, 0);
	ck_assert_uint_eq(budget.account.used_bytes, 0);
}
END_TEST

/* Refusals */

static void expect_closed(enum leg_close why)
{
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, why);
	ck_assert_uint_eq(seen.ncalls, 0);
	ck_assert_uint_eq(budget.account.peak_bytes,
			  rpc_msg_cost_bytes(40) + rpc_msg_cost_bytes(fake_ceiling_bytes));
}

START_TEST(a_record_far_over_the_limit_closes_before_it_takes_memory)
{
	uint8_t mark[RECORD_MARK_BYTES];

	fixture_open();
	record_mark_encode(mark, TCP_DRAIN_MIN_BYTES + 1);
	peer_write(mark, sizeof(mark));
	expect_closed(LEG_CLOSE_RECORD_TOO_BIG);
}
END_TEST

START_TEST(the_limit_applies_to_the_sum_of_fragments)
{
	uint8_t bytes[8];

	fixture_open();
	put_word(bytes, 4);
	put_word(bytes + 4, 1);
	peer_write(bytes, 8);
	settle();
	put_word(bytes, TCP_DRAIN_MIN_BYTES - 3);
	peer_write(bytes, 4);
	expect_closed(LEG_CLOSE_RECORD_TOO_BIG);
}
END_TEST

START_TEST(too_many_empty_fragments_close)
{
	static const uint8_t zeros[4 * RECORD_MAX_EMPTY_FRAGMENTS + 4];

	fixture_open();
	peer_write(zeros, sizeof(zeros));
	expect_closed(LEG_CLOSE_NOT_RPC);
}
END_TEST

START_TEST(non_rpc_bytes_close_the_connection)
{
	/* Neither Call nor Reply; too short for either; nothing; a Call that ends in its header. */
	static const struct {
		uint32_t len_bytes;
		uint32_t type;
	} cases[] = {{44, 2}, {44, 0xffffffff}, {7, 0}, {0, 0}, {8, 0}, {39, 0}};
	uint8_t msg[44];

	fixture_open();
	put_call(msg, 1, 44, 0);
	put_word(msg + 4, cases[_i].type);
	peer_send_record(msg, cases[_i].len_bytes);
	expect_closed(LEG_CLOSE_NOT_RPC);
}
END_TEST

START_TEST(non_rpc_bytes_in_parts_close_the_connection)
{
	uint8_t bytes[44];

	fixture_open();
	record_mark_encode(bytes, 1000);
	put_call(bytes + 4, 1, 40, 0);
	put_word(bytes + 8, 2);
	for (unsigned i = 0; i < 11; i++)
		peer_write(bytes + i, 1);
	ck_assert_uint_eq(seen.closed, 0);
	peer_write(bytes + 11, 1);
	expect_closed(LEG_CLOSE_NOT_RPC);
}
END_TEST

/* Sends @msg whole, or in two parts so that it is received in place. */
static void send_record_cut(const uint8_t *msg, uint32_t len, bool cut)
{
	uint8_t mark[RECORD_MARK_BYTES];

	if (!cut) {
		peer_send_record(msg, len);
		return;
	}
	record_mark_encode(mark, len);
	peer_write(mark, sizeof(mark));
	peer_write(msg, 20);
	settle();
	peer_write(msg + 20, len - 20);
}

static const uint8_t *expect_denied(uint32_t xid, uint32_t reject_stat)
{
	uint32_t len;
	const uint8_t *reply = peer_read_record(&len);

	ck_assert_uint_ge(len, 20);
	ck_assert_uint_eq(get_word(reply), xid);
	ck_assert_uint_eq(get_word(reply + 4), RPC_REPLY);
	ck_assert_uint_eq(get_word(reply + 8), RPC_MSG_DENIED);
	ck_assert_uint_eq(get_word(reply + 12), reject_stat);
	return reply + 16;
}

START_TEST(auth_tls_is_refused_here)
{
	uint8_t msg[44];

	fixture_open();
	put_call(msg, 5, 44, 0);
	put_word(msg + 24, RPC_AUTH_TLS);
	send_record_cut(msg, 44, _i);
	ck_assert_uint_eq(get_word(expect_denied(5, 1)), 2); /* AUTH_ERROR, AUTH_REJECTEDCRED */
	ck_assert_uint_eq(worker.counters.auth_tls_refused, 1);
	ck_assert_uint_eq(seen.notes, 1);
	ck_assert_uint_eq(seen.ncalls, 0);
	peer_expect_alive();
}
END_TEST

/* A6.2-8: whole, or with its end to come. */
START_TEST(the_program_that_configures_is_unavailable)
{
	static const uint8_t unavailable[24] = {0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0,
						0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	const uint8_t *reply;
	uint8_t msg[52];
	uint32_t len;

	config.leg.config_program = 100417;
	fixture_open();
	put_call(msg, 5, sizeof(msg), 0);
	put_word(msg + 12, 100417);
	send_record_cut(msg, sizeof(msg), _i);
	reply = peer_read_record(&len);
	ck_assert_uint_eq(len, sizeof(unavailable));
	ck_assert_mem_eq(reply, unavailable, len);
	ck_assert_uint_eq(worker.counters.prog_unavail, 1);
	ck_assert_uint_eq(seen.ncalls, 0);
	peer_expect_alive();
}
END_TEST

/* Of a service without an RDMA side. */
START_TEST(where_nothing_is_configured_it_is_any_program)
{
	uint8_t msg[52];

	fixture_open();
	put_call(msg, 5, sizeof(msg), 4);
	put_word(msg + 12, 100417);
	peer_send_record(msg, sizeof(msg));
	RUN_UNTIL(seen.ncalls == 1);
	ck_assert_uint_eq(worker.counters.prog_unavail, 0);
}
END_TEST

START_TEST(another_rpc_version_is_refused_here)
{
	uint8_t msg[44];
	const uint8_t *range;

	fixture_open();
	put_call(msg, 6, 44, 0);
	put_word(msg + 8, 3);
	send_record_cut(msg, 44, _i);
	range = expect_denied(6, 0);
	ck_assert_uint_eq(get_word(range), 2);
	ck_assert_uint_eq(get_word(range + 4), 2);
	peer_expect_alive();
}
END_TEST

START_TEST(an_impossible_credential_is_refused_here)
{
	uint8_t msg[600];

	fixture_open();
	put_call(msg, 7, sizeof(msg), 0);
	put_word(msg + 28, RPC_MAX_AUTH_BYTES + 1);
	send_record_cut(msg, sizeof(msg), _i);
	ck_assert_uint_eq(get_word(expect_denied(7, 1)), 1); /* AUTH_ERROR, AUTH_BADCRED */
	peer_expect_alive();
}
END_TEST

START_TEST(unread_answers_stop_the_reading)
{
	uint8_t bytes[48];
	unsigned sent = 0;
	int small = 1;

	fixture_accept();
	setsockopt(peer, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	peer_send_call(1, 40, 0);
	RUN_UNTIL(seen.requested);
	leg_accept(leg);
	record_mark_encode(bytes, 44);
	put_call(bytes + 4, 5, 44, 0);
	put_word(bytes + 4 + 24, RPC_AUTH_TLS);
	/* Without a limit this would go on for ever. */
	while (sent < 1000000) {
		bool full = send(peer, bytes, sizeof(bytes), MSG_NOSIGNAL) < 0;

		settle();
		if (full && send(peer, bytes, sizeof(bytes), MSG_NOSIGNAL) < 0)
			break;
		sent++;
	}
	ck_assert_uint_lt(sent, 1000000);
	for (unsigned i = 0; i < sent; i++)
		expect_denied(5, 1);
}
END_TEST

/* */

START_TEST(a_call_in_flight_that_comes_again_is_swallowed)
{
	uint8_t msg[1000];

	fixture_open();
	put_call(msg, 11, sizeof(msg), 4);
	peer_send_record(msg, sizeof(msg));
	RUN_UNTIL(seen.ncalls == 1);
	/* Beyond the first 256 bytes a difference does not count. */
	msg[300] ^= 1;
	send_record_cut(msg, sizeof(msg), _i);
	RUN_UNTIL(worker.counters.retransmissions_swallowed == 1);
	peer_send_call(12, 44, 0);
	RUN_UNTIL(seen.ncalls == 2);
	ck_assert_uint_eq(seen.calls[1]->call_info.hdr.xid, 12);
	answer_call(0, 24, 8);
	answer_call(1, 24, 9);
	peer_expect_reply(11, 24, 8);
	peer_expect_reply(12, 24, 9);
	/* Answered, it is no longer in flight: the same Call is a new one. */
	peer_send_record(msg, sizeof(msg));
	RUN_UNTIL(seen.ncalls == 3);
	ck_assert_uint_eq(seen.calls[2]->call_info.hdr.xid, 11);
	ck_assert_uint_eq(worker.counters.replies_sent, 2);
}
END_TEST

START_TEST(a_call_that_comes_again_and_again_closes)
{
	fixture_open();
	peer_send_call(11, 100, 4);
	RUN_UNTIL(seen.ncalls == 1);
	/* Copies that come soon are only swallowed, however many, and so is one that comes late. */
	for (unsigned i = 1; i <= (_i ? 10 : 1); i++) {
		peer_send_call(11, 100, 4);
		RUN_UNTIL(worker.counters.retransmissions_swallowed == i);
	}
	advance_us(FIXTURE_STALL_US - 1);
	peer_send_call(11, 100, 4);
	settle();
	ck_assert_uint_eq(seen.closing, 0);
	advance_us(1);
	peer_send_call(11, 100, 4);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_RETRANSMITTED);
	ck_assert_uint_eq(worker.counters.retransmitted_closes, 1);
}
END_TEST

START_TEST(two_late_copies_of_a_call_are_swallowed)
{
	fixture_open();
	peer_send_call(11, 100, 4);
	RUN_UNTIL(seen.ncalls == 1);
	advance_us(2 * FIXTURE_STALL_US);
	peer_send_call(11, 100, 4);
	peer_send_call(11, 100, 4);
	RUN_UNTIL(worker.counters.retransmissions_swallowed == 2);
	answer_call(0, 24, 8);
	peer_expect_reply(11, 24, 8);
	ck_assert_uint_eq(seen.closing, 0);
}
END_TEST

START_TEST(an_xid_in_flight_with_another_call_closes)
{
	uint8_t msg[1004];
	uint32_t len = 1000;

	fixture_open();
	put_call(msg, 11, 1000, 4);
	peer_send_record(msg, len);
	RUN_UNTIL(seen.ncalls == 1);
	switch (_i / 2) {
	case 0:
		msg[255] ^= 1;
		break;
	case 1:
		len = 1004;
		break;
	case 2:
		len = 996;
		break;
	}
	send_record_cut(msg, len, _i % 2);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_XID_REUSED);
	ck_assert_uint_eq(seen.ncalls, 1);
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
	Suite *suite = suite_create("tcp_leg");
	TCase *tc = new_case(suite, "opening");

	tcase_add_test(tc, nothing_is_read_before_the_leg_is_accepted);
	tcase_add_test(tc, a_client_may_go_before_its_first_byte);

	tc = new_case(suite, "calls");
	tcase_add_test(tc, a_call_is_passed_on_and_its_reply_goes_back);
	tcase_add_test(tc, calls_in_single_bytes_are_the_same_calls);
	tcase_add_test(tc, every_cut_of_two_calls_gives_the_same_calls);
	tcase_add_test(tc, fragments_of_any_size_make_one_call);
	tcase_add_test(tc, a_large_call_is_received_in_place);
	tcase_add_test(tc, messages_of_one_loop_iteration_are_sent_by_one_system_call);
	tcase_add_test(tc, a_large_reply_goes_out_whole_through_a_full_socket);
	tcase_add_loop_test(tc, a_call_in_flight_that_comes_again_is_swallowed, 0, 2);
	tcase_add_loop_test(tc, a_call_that_comes_again_and_again_closes, 0, 2);
	tcase_add_test(tc, two_late_copies_of_a_call_are_swallowed);
	tcase_add_loop_test(tc, an_xid_in_flight_with_another_call_closes, 0, 6);

	tc = new_case(suite, "refusals");
	tcase_add_test(tc, a_record_far_over_the_limit_closes_before_it_takes_memory);
	tcase_add_test(tc, the_limit_applies_to_the_sum_of_fragments);
	tcase_add_test(tc, too_many_empty_fragments_close);
	tcase_add_loop_test(tc, non_rpc_bytes_close_the_connection, 0, 6);
	tcase_add_test(tc, non_rpc_bytes_in_parts_close_the_connection);
	tcase_add_loop_test(tc, auth_tls_is_refused_here, 0, 2);
	tcase_add_loop_test(tc, the_program_that_configures_is_unavailable, 0, 2);
	tcase_add_test(tc, where_nothing_is_configured_it_is_any_program);
	tcase_add_loop_test(tc, another_rpc_version_is_refused_here, 0, 2);
	tcase_add_loop_test(tc, an_impossible_credential_is_refused_here, 0, 2);
	tcase_add_test(tc, unread_answers_stop_the_reading);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests Replies at the TCP leg: the leg is the target of a Call and delivers the outcome. */
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_leg_fixture.h"

START_TEST(a_call_goes_out_and_its_reply_comes_in)
{
	uint32_t len;
	uint8_t want[500];

	fixture_connect();
	send_call(21, 500, 6, 4096);
	put_call(want, 21, 500, 6);
	ck_assert(!memcmp(peer_read_record(&len), want, 500));
	ck_assert_uint_eq(len, 500);
	peer_send_reply(21, 300, 2);
	RUN_UNTIL(seen.nreplies);
	ck_assert_uint_eq(seen.replies[0]->call_info.hdr.xid, 21);
	ck_assert_int_eq(seen.replies[0]->fault, EXCHANGE_OK);
	ck_assert_uint_eq(seen.replies[0]->reply.len_bytes, 300);
	put_reply(want, 21, 300, 2);
	ck_assert(!memcmp(seen.replies[0]->reply.data, want, 300));
	ck_assert_ptr_null(seen.replies[0]->target);
}
END_TEST

START_TEST(replies_are_matched_in_any_order)
{
	uint32_t len;

	fixture_connect();
	for (uint32_t xid = 0; xid < 10; xid++)
		send_call(xid, 44, 0, 4096);
	for (uint32_t xid = 0; xid < 10; xid++)
		ck_assert_uint_eq(get_word(peer_read_record(&len)), xid);
	for (uint32_t i = 0; i < 10; i++)
		peer_send_reply(i * 7 % 10, 24, 0);
	RUN_UNTIL(seen.nreplies == 10);
	for (uint32_t i = 0; i < 10; i++)
		ck_assert_uint_eq(seen.replies[i]->call_info.hdr.xid, i * 7 % 10);
}
END_TEST

START_TEST(a_large_reply_is_received_in_place)
{
	uint8_t *want = malloc(1024 * 1024 + 120);
	uint32_t len;

	fixture_connect();
	for (uint32_t xid = 0; xid < 4; xid++) {
		send_call(xid, 44, 0, FIXTURE_MAX_MESSAGE);
		peer_read_record(&len);
		peer_send_reply(xid, 1024 * 1024 + 120, (uint8_t)xid);
		RUN_UNTIL(seen.nreplies == xid + 1);
		put_reply(want, xid, 1024 * 1024 + 120, (uint8_t)xid);
		ck_assert(!memcmp(seen.replies[xid]->reply.data, want, 1024 * 1024 + 120));
	}
	ck_assert_uint_le(worker.counters.payload_bytes_copied, 4 * 16384);
	free(want);
}
END_TEST

START_TEST(a_reply_in_fragments_is_one_reply)
{
	uint8_t msg[3000];
	uint32_t len;

	fixture_connect();
	send_call(1, 44, 0, 3000);
	peer_read_record(&len);
	put_reply(msg, 1, sizeof(msg), 3);
	peer_send_fragments(msg, sizeof(msg), 700);
	RUN_UNTIL(seen.nreplies);
	ck_assert_uint_eq(seen.replies[0]->reply.len_bytes, sizeof(msg));
	ck_assert(!memcmp(seen.replies[0]->reply.data, msg, sizeof(msg)));
}
END_TEST

/* Then the connection is as good as before. */
static void expect_next_reply(uint32_t xid)
{
	unsigned before = seen.nreplies;
	uint32_t len;

	send_call(xid, 44, 0, 4096);
	ck_assert_uint_eq(get_word(peer_read_record(&len)), xid);
	peer_send_reply(xid, 100, 0);
	RUN_UNTIL(seen.nreplies == before + 1);
	ck_assert_uint_eq(seen.replies[before]->call_info.hdr.xid, xid);
	ck_assert_int_eq(seen.replies[before]->fault, EXCHANGE_OK);
	ck_assert_uint_eq(seen.closed, 0);
}

START_TEST(a_reply_that_is_too_big_is_a_fault)
{
	static const uint32_t lens[] = {1001, 100000, FIXTURE_MAX_MESSAGE};
	uint32_t len;

	fixture_connect();
	send_call(1, 44, 0, 1000);
	peer_read_record(&len);
	peer_send_reply(1, lens[_i], 0);
	RUN_UNTIL(seen.nreplies);
	ck_assert_int_eq(seen.replies[0]->fault, EXCHANGE_FAULT_TOO_BIG);
	ck_assert_ptr_null(seen.replies[0]->reply.buf);
	ck_assert_uint_eq(worker.counters.replies_too_big, 1);
	expect_next_reply(2);
}
END_TEST

START_TEST(a_reply_in_fragments_that_is_too_big_is_a_fault)
{
	uint8_t msg[3000];
	uint32_t len;

	fixture_connect();
	send_call(1, 44, 0, 2500);
	peer_read_record(&len);
	put_reply(msg, 1, sizeof(msg), 3);
	peer_send_fragments(msg, sizeof(msg), 700);
	RUN_UNTIL(seen.nreplies);
	ck_assert_int_eq(seen.replies[0]->fault, EXCHANGE_FAULT_TOO_BIG);
	expect_next_reply(2);
}
END_TEST

START_TEST(a_reply_without_a_call_is_thrown_away)
{
	fixture_connect();
	peer_send_reply(1, 100, 0);
	peer_send_reply(2, 1024 * 1024, 0);
	RUN_UNTIL(worker.counters.unmatched_replies == 2);
	ck_assert_uint_eq(seen.notes, 1);
	ck_assert_uint_eq(pool_in_use(), 0);
	expect_next_reply(3);
}
END_TEST

START_TEST(a_reply_that_does_not_decode_is_a_fault)
{
	uint8_t msg[24];
	uint32_t len;

	fixture_connect();
	send_call(1, 44, 0, 1000);
	peer_read_record(&len);
	put_reply(msg, 1, 24, 0);
	put_word(msg + 8, 2);
	peer_send_record(msg, 24);
	RUN_UNTIL(seen.nreplies);
	ck_assert_int_eq(seen.replies[0]->fault, EXCHANGE_FAULT_BAD_REPLY);
	expect_next_reply(2);
}
END_TEST

/* Whole, or a byte at a time: its Call does not wait for ever. */
START_TEST(a_reply_that_is_too_short_ends_its_call_or_the_connection)
{
	uint8_t bytes[RECORD_MARK_BYTES + 24];
	uint32_t reply_bytes = (uint32_t)_i / 2, len;

	fixture_connect();
	send_call(1, 44, 0, 1000);
	peer_read_record(&len);
	record_mark_encode(bytes, reply_bytes);
	put_reply(bytes + RECORD_MARK_BYTES, 1, 24, 0);
	for (uint32_t at = 0; at < RECORD_MARK_BYTES + reply_bytes; at++)
		if (_i % 2)
			peer_write(bytes + at, 1);
	if (_i % 2 == 0)
		peer_write(bytes, RECORD_MARK_BYTES + reply_bytes);
	if (reply_bytes < 8) {
		RUN_UNTIL(seen.closed);
		ck_assert_int_eq(seen.why, LEG_CLOSE_NOT_RPC);
		return;
	}
	RUN_UNTIL(seen.nreplies);
	ck_assert_int_eq(seen.replies[0]->fault, EXCHANGE_FAULT_BAD_REPLY);
	expect_next_reply(2);
}
END_TEST

START_TEST(a_second_call_with_an_xid_in_flight_is_a_fault)
{
	fixture_connect();
	send_call(1, 44, 0, 1000);
	send_call(1, 44, 0, 1000);
	ck_assert_uint_eq(seen.nreplies, 0);
	RUN_UNTIL(seen.nreplies);
	ck_assert_int_eq(seen.replies[0]->fault, EXCHANGE_FAULT_CANT_SEND);
	peer_send_reply(1, 100, 0);
	RUN_UNTIL(seen.nreplies == 2);
	ck_assert_int_eq(seen.replies[1]->fault, EXCHANGE_OK);
}
END_TEST

START_TEST(a_fault_is_answered_system_err)
{
	fixture_open();
	peer_send_call(31, 44, 0);
	RUN_UNTIL(seen.ncalls);
	seen.calls[0]->fault = (enum exchange_fault)_i;
	leg_reply(leg, seen.calls[0]);
	seen.ncalls = 0;
	peer_expect_system_err(31);
	peer_expect_alive();
}
END_TEST

/* Both directions have XIDs of their own. */
START_TEST(the_same_xid_may_be_in_flight_both_ways)
{
	uint32_t len;

	fixture_open();
	peer_send_call(5, 44, 1);
	RUN_UNTIL(seen.ncalls);
	send_call(5, 60, 2, 1000);
	ck_assert_uint_eq(get_word(peer_read_record(&len) + 4), RPC_CALL);
	ck_assert_uint_eq(len, 60);
	peer_send_reply(5, 200, 3);
	RUN_UNTIL(seen.nreplies);
	ck_assert_uint_eq(seen.replies[0]->reply.len_bytes, 200);
	answer_call(0, 24, 0);
	peer_expect_reply(5, 24, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_replies");
	TCase *tc = tcase_create("replies");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	tcase_add_test(tc, a_call_goes_out_and_its_reply_comes_in);
	tcase_add_test(tc, replies_are_matched_in_any_order);
	tcase_add_test(tc, a_large_reply_is_received_in_place);
	tcase_add_test(tc, a_reply_in_fragments_is_one_reply);
	tcase_add_loop_test(tc, a_reply_that_is_too_big_is_a_fault, 0, 3);
	tcase_add_test(tc, a_reply_in_fragments_that_is_too_big_is_a_fault);
	tcase_add_test(tc, a_reply_without_a_call_is_thrown_away);
	tcase_add_test(tc, a_reply_that_does_not_decode_is_a_fault);
	tcase_add_loop_test(tc, a_reply_that_is_too_short_ends_its_call_or_the_connection, 0,
			    2 * 24);
	tcase_add_test(tc, a_second_call_with_an_xid_in_flight_is_a_fault);
	tcase_add_loop_test(tc, a_fault_is_answered_system_err, EXCHANGE_FAULT_ERR_CHUNK,
			    EXCHANGE_FAULT_CANT_SEND + 1);
	tcase_add_test(tc, the_same_xid_may_be_in_flight_both_ways);
	return test_main(suite);
}

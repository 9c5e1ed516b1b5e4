// SPDX-License-Identifier: BSD-3-Clause
/* Tests how much memory a Call of a TCP leg can claim, and when; and messages that are too long. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/call_info.h"
#include "rpc/record_mark.h"
#include "tests/unit/tcp_bench.h"

#define LONG_BYTES 100000u

static uint8_t record[RECORD_MARK_BYTES + BENCH_LONG_BYTES];

/* A GETATTR in one record, of which nothing is sent yet. */
static void make_record(uint32_t xid, uint32_t len_bytes)
{
	record_mark_encode(record, len_bytes);
	put_call(record + RECORD_MARK_BYTES, xid, len_bytes);
}

static void expect_nothing_held(void)
{
	ck_assert_uint_eq(bench_budget.account.used_bytes, 0);
	ck_assert_uint_eq(bench_budget.account.waiting, 0);
	ck_assert_uint_eq(bench_in_use(), 0);
}

/* The connection is as good as before. */
static void expect_alive(uint32_t xid)
{
	unsigned before = server.ncalls;

	raw_send_call(xid, 100);
	bench_run();
	ck_assert_uint_eq(server.ncalls, before + 1);
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(xid, 200);
	ck_assert_uint_eq(server.closing, 0);
	expect_nothing_held();
}

static void expect_system_err(uint32_t xid)
{
	uint8_t got[RECORD_MARK_BYTES + 24];
	struct rpc_reply_hdr hdr;

	ck_assert_uint_eq(raw_read(got, sizeof(got)), sizeof(got));
	ck_assert_int_eq(rpc_reply_decode(got + RECORD_MARK_BYTES, 24, &hdr), RPC_OK);
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_int_eq(hdr.stat, RPC_MSG_ACCEPTED);
	ck_assert_int_eq(hdr.accept_stat, RPC_SYSTEM_ERR);
}

START_TEST(a_call_of_which_little_is_here_holds_nothing)
{
	static const uint32_t cuts[] = {1, 4, 11, 12, 16, 1000, TCP_BULK_BYTES + 3};

	for (unsigned i = 0; i < ARRAY_SIZE(cuts); i++) {
		bench_renew(NULL);
		bench_accept();
		make_record(1, LONG_BYTES);
		raw_write(record, cuts[i]);
		bench_run();
		expect_nothing_held();
		raw_write(record + cuts[i], RECORD_MARK_BYTES + LONG_BYTES - cuts[i]);
		bench_run();
		ck_assert_uint_eq(server.ncalls, 1);
		ck_assert(!memcmp(TAILQ_FIRST(&server.calls)->call.data, record + RECORD_MARK_BYTES,
				  LONG_BYTES));
		exchange_put(bench_answer(&server, 200, 200));
		raw_expect_reply(1, 200);
		expect_nothing_held();
	}
}
END_TEST

START_TEST(a_short_call_is_claimed_when_it_is_whole)
{
	bench_accept();
	make_record(1, TCP_BULK_BYTES);
	raw_write(record, TCP_BULK_BYTES + RECORD_MARK_BYTES - 1);
	bench_run();
	expect_nothing_held();
	raw_write(record + TCP_BULK_BYTES + RECORD_MARK_BYTES - 1, 1);
	bench_run();
	ck_assert_uint_eq(server.ncalls, 1);
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(1, 200);
}
END_TEST

/* The start of a GETATTR says that its Reply is small. */
START_TEST(a_long_call_claims_its_length_and_the_proved_reply_size)
{
	bench_accept();
	make_record(1, LONG_BYTES);
	raw_write(record, TCP_BULK_BYTES + RECORD_MARK_BYTES);
	bench_run();
	ck_assert_uint_ge(bench_budget.account.used_bytes, rpc_msg_cost_bytes(LONG_BYTES));
	ck_assert_uint_le(bench_budget.account.used_bytes,
			  rpc_msg_cost_bytes(LONG_BYTES) + rpc_msg_cost_bytes(4096));
	ck_assert_uint_le(bench_worker.counters.payload_bytes_copied,
			  TCP_BULK_BYTES + BENCH_CALL_MIN);
	raw_write(record + TCP_BULK_BYTES + RECORD_MARK_BYTES, LONG_BYTES - TCP_BULK_BYTES);
	bench_run();
	ck_assert_uint_eq(server.ncalls, 1);
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(1, 200);
	expect_nothing_held();
}
END_TEST

/* However it comes, no more of it is copied than must be gathered. */
START_TEST(little_of_a_long_call_is_copied)
{
	bench_accept();
	make_record(1, LONG_BYTES);
	raw_write(record, 10000);
	bench_run();
	raw_write(record + 10000, RECORD_MARK_BYTES + LONG_BYTES - 10000);
	bench_run();
	ck_assert_uint_eq(server.ncalls, 1);
	ck_assert_uint_le(bench_worker.counters.payload_bytes_copied,
			  TCP_BULK_BYTES + BENCH_CALL_MIN);
	ck_assert_uint_eq(bench_worker.counters.stash_bytes, 0);
}
END_TEST

static void raw_fragment(uint32_t xid, uint32_t at, uint32_t len_bytes, bool last)
{
	uint8_t mark[RECORD_MARK_BYTES];

	make_record(xid, at + len_bytes);
	record_mark_encode(mark, len_bytes);
	if (!last)
		mark[0] &= 0x7f;
	raw_write(mark, sizeof(mark));
	raw_write(record + RECORD_MARK_BYTES + at, len_bytes);
	bench_run();
}

START_TEST(a_call_of_unknown_length_is_taken_to_be_as_long_as_most)
{
	server.config.leg.max_message_bytes = 8 * BENCH_MAX_MESSAGE;
	bench_accept();
	raw_fragment(1, 0, 10000, false);
	expect_nothing_held();
	raw_fragment(1, 10000, 10000, false);
	ck_assert_uint_eq(server.closed, 0);
	ck_assert_uint_ge(bench_budget.account.peak_bytes,
			  rpc_msg_cost_bytes(REPLY_UNBOUNDED_BYTES));
	ck_assert_uint_le(bench_budget.account.peak_bytes,
			  rpc_msg_cost_bytes(REPLY_UNBOUNDED_BYTES) + rpc_msg_cost_bytes(4096));
}
END_TEST

START_TEST(a_call_in_fragments_returns_excess_memory)
{
	bench_accept();
	raw_fragment(1, 0, 20000, false);
	ck_assert_uint_ge(bench_budget.account.used_bytes, rpc_msg_cost_bytes(BENCH_MAX_MESSAGE));
	raw_fragment(1, 20000, 20000, false);
	raw_fragment(1, 40000, 0, true);
	ck_assert_uint_eq(server.ncalls, 1);
	make_record(1, 40000);
	ck_assert_uint_eq(TAILQ_FIRST(&server.calls)->call.len_bytes, 40000);
	ck_assert(
		!memcmp(TAILQ_FIRST(&server.calls)->call.data, record + RECORD_MARK_BYTES, 40000));
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(1, 200);
	expect_alive(2);
}
END_TEST

START_TEST(a_long_call_is_refused_by_its_start)
{
	bench_accept();
	make_record(1, LONG_BYTES);
	record[RECORD_MARK_BYTES + 27] = RPC_AUTH_TLS;
	raw_write(record, TCP_BULK_BYTES + RECORD_MARK_BYTES);
	bench_run();
	ck_assert_uint_eq(bench_worker.counters.auth_tls_refused, 1);
	ck_assert_uint_eq(raw_read(record, 24), 24);
	expect_nothing_held();
	make_record(1, LONG_BYTES);
	raw_write(record + TCP_BULK_BYTES + RECORD_MARK_BYTES, LONG_BYTES - TCP_BULK_BYTES);
	expect_alive(2);
}
END_TEST

/* Too slow */

#define SLOW_STEP_BYTES (20u * 1024u) /* every half stall timeout: progress, but little */

/* Sends a record from where it was, slowly, in @steps. Returns how much of it is sent. */
static uint32_t trickle(uint32_t from, unsigned steps)
{
	for (; steps && !server.closing; steps--, from += SLOW_STEP_BYTES) {
		raw_write(record + from, SLOW_STEP_BYTES);
		fake_loop_advance(bench_loop, BENCH_STALL_US / 2);
	}
	return from;
}

START_TEST(a_call_longer_than_most_holds_its_memory_for_a_time)
{
	server.config.leg.max_message_bytes = BENCH_LONG_BYTES;
	bench_accept();
	make_record(1, REPLY_UNBOUNDED_BYTES + 400000);
	/* 23 s for its length in addition to the stall timeout. */
	trickle(0, 2);
	ck_assert_uint_eq(server.closing, 0);
	trickle(2 * SLOW_STEP_BYTES, 1);
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_RECORD_STALLED);
}
END_TEST

START_TEST(a_slow_call_that_is_no_longer_than_most_lives)
{
	uint32_t sent;

	server.config.leg.max_message_bytes = BENCH_LONG_BYTES;
	bench_accept();
	make_record(1, REPLY_UNBOUNDED_BYTES);
	sent = trickle(0, 10);
	raw_write(record + sent, RECORD_MARK_BYTES + REPLY_UNBOUNDED_BYTES - sent);
	bench_run();
	ck_assert_uint_eq(server.ncalls, 1);
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(1, 200);
	expect_alive(2);
}
END_TEST

/* Each has a time of its own. */
START_TEST(one_long_call_does_not_shorten_the_time_of_the_next)
{
	server.config.leg.max_message_bytes = BENCH_LONG_BYTES;
	bench_accept();
	for (uint32_t xid = 1; xid <= 3; xid++) {
		uint32_t len = REPLY_UNBOUNDED_BYTES + 400000, sent;

		make_record(xid, len);
		sent = trickle(0, 2);
		raw_write(record + sent, RECORD_MARK_BYTES + len - sent);
		bench_run();
		ck_assert_uint_eq(server.closing, 0);
		ck_assert_uint_eq(server.ncalls, xid);
		exchange_put(bench_answer(&server, 200, 200));
		raw_expect_reply(xid, 200);
	}
	expect_alive(9);
}
END_TEST

/* Too long */

/* Its neighbours do not notice. */
START_TEST(a_call_over_the_limit_is_drained_and_answered)
{
	bench_accept();
	raw_send_call(1, 100);
	make_record(2, BENCH_MAX_MESSAGE + 4);
	raw_write(record, RECORD_MARK_BYTES + BENCH_MAX_MESSAGE + 4);
	raw_send_call(3, 100);
	bench_run();
	expect_system_err(2);
	ck_assert_uint_eq(bench_worker.counters.calls_too_big, 1);
	ck_assert_uint_eq(server.ncalls, 2);
	exchange_put(bench_answer(&server, 200, 200));
	exchange_put(bench_answer(&server, 200, 200));
	raw_expect_reply(1, 200);
	raw_expect_reply(3, 200);
	expect_alive(4);
}
END_TEST

START_TEST(a_call_in_fragments_over_the_limit_is_drained_and_answered_once)
{
	bench_accept();
	raw_fragment(1, 0, BENCH_MAX_MESSAGE / 2, false);
	ck_assert_uint_gt(bench_budget.account.used_bytes, 0);
	raw_fragment(1, BENCH_MAX_MESSAGE / 2, BENCH_MAX_MESSAGE / 2, false);
	raw_fragment(1, BENCH_MAX_MESSAGE, BENCH_MAX_MESSAGE, false);
	raw_fragment(1, 2 * BENCH_MAX_MESSAGE, 100, true);
	expect_system_err(1);
	ck_assert_uint_eq(bench_worker.counters.calls_too_big, 1);
	ck_assert_uint_eq(server.ncalls, 0);
	expect_alive(2);
}
END_TEST

START_TEST(a_reply_over_the_limit_is_a_fault_of_its_call_alone)
{
	uint8_t *reply = malloc(RECORD_MARK_BYTES + 2 * BENCH_MAX_MESSAGE);

	bench_connect();
	bench_run();
	for (uint32_t xid = 1; xid <= 2; xid++) {
		exchange_put(bench_call(&client, xid, 100, 100));
		raw_expect_call(xid, 100);
	}
	record_mark_encode(reply, 2 * BENCH_MAX_MESSAGE);
	put_reply(reply + RECORD_MARK_BYTES, 1, 2 * BENCH_MAX_MESSAGE);
	raw_write(reply, RECORD_MARK_BYTES + 2 * BENCH_MAX_MESSAGE);
	raw_send_reply(2, 100);
	bench_run();
	ck_assert_uint_eq(client.nreplies, 2);
	ck_assert_uint_eq(client.nfaults, 1);
	ck_assert_int_eq(TAILQ_FIRST(&client.replies)->fault, EXCHANGE_FAULT_TOO_BIG);
	ck_assert_uint_eq(client.closing, 0);
	free(reply);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_claims");
	TCase *tc = tcase_create("tcp_leg_claims");

	tcase_add_checked_fixture(tc, bench_setup, bench_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_call_of_which_little_is_here_holds_nothing);
	tcase_add_test(tc, a_short_call_is_claimed_when_it_is_whole);
	tcase_add_test(tc, a_long_call_claims_its_length_and_the_proved_reply_size);
	tcase_add_test(tc, little_of_a_long_call_is_copied);
	tcase_add_test(tc, a_call_of_unknown_length_is_taken_to_be_as_long_as_most);
	tcase_add_test(tc, a_call_in_fragments_returns_excess_memory);
	tcase_add_test(tc, a_long_call_is_refused_by_its_start);
	tcase_add_test(tc, a_call_over_the_limit_is_drained_and_answered);
	tcase_add_test(tc, a_call_longer_than_most_holds_its_memory_for_a_time);
	tcase_add_test(tc, a_slow_call_that_is_no_longer_than_most_lives);
	tcase_add_test(tc, one_long_call_does_not_shorten_the_time_of_the_next);
	tcase_add_test(tc, a_call_in_fragments_over_the_limit_is_drained_and_answered_once);
	tcase_add_test(tc, a_reply_over_the_limit_is_a_fault_of_its_call_alone);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

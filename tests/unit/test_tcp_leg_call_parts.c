// SPDX-License-Identifier: BSD-3-Clause
/* Tests long Calls that a TCP leg delivers as they arrive. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_bench.h"

#define LEN    (3 * TCP_PARTIAL_MIN_BYTES + 3392)
#define RECORD (RECORD_MARK_BYTES + LEN)
#define PART   (RECORD_MARK_BYTES + TCP_PARTIAL_MIN_BYTES)
#define XID    7u

static uint8_t *record; /* a Call of LEN bytes, with its mark */

static void setup(void)
{
	bench_setup();
	record = malloc(RECORD);
	record_mark_encode(record, LEN);
	put_call(record + RECORD_MARK_BYTES, XID, LEN);
}

static void teardown(void)
{
	bench_teardown();
	free(record);
}

static void accept_partial(bool partial)
{
	server.config.leg.partial = partial;
	server.config.leg.max_message_bytes = 2 * BENCH_MAX_MESSAGE;
	bench_accept();
}

/* What comes of the record up to @end, after @from. */
static void send_part(uint32_t from, uint32_t end)
{
	raw_write(record + from, end - from);
}

/* The first Call that was delivered and is not answered. */
static struct exchange *first_call(void)
{
	struct exchange *x = TAILQ_FIRST(&server.calls);

	ck_assert_ptr_nonnull(x);
	return x;
}

/* Exactly @have bytes are here, and they are the Call's. */
static void expect_here(const struct exchange *x, uint32_t have)
{
	ck_assert_uint_eq(x->call.len_bytes, LEN);
	ck_assert_uint_eq(x->call.have_bytes, have);
	ck_assert(!memcmp(x->call.data, record + RECORD_MARK_BYTES, have));
}

static struct exchange *begin_call(void)
{
	accept_partial(true);
	send_part(0, PART);
	ck_assert_uint_eq(server.ncalls, 1);
	return first_call();
}

static void answer(uint32_t xid)
{
	exchange_put(bench_answer(&server, BENCH_REPLY_MIN, BENCH_REPLY_MIN));
	raw_expect_reply(xid, BENCH_REPLY_MIN);
}

START_TEST(a_long_call_is_delivered_before_it_is_complete)
{
	struct exchange *x = begin_call();
	size_t claimed = bench_budget.account.used_bytes;

	expect_here(x, TCP_PARTIAL_MIN_BYTES);
	ck_assert_uint_eq(x->call_info.stage, CALL_INFO_COMPLETE);
	ck_assert_uint_eq(x->reply_max_bytes, x->call_info.reply_bound_bytes);
	/* Less than a part is not worth a word. */
	send_part(PART, PART + TCP_PARTIAL_MIN_BYTES - 1);
	ck_assert_uint_eq(server.nmore_events, 0);
	send_part(PART + TCP_PARTIAL_MIN_BYTES - 1, PART + TCP_PARTIAL_MIN_BYTES);
	ck_assert_uint_eq(server.nmore_events, 1);
	expect_here(x, 2 * TCP_PARTIAL_MIN_BYTES);
	send_part(PART + TCP_PARTIAL_MIN_BYTES, RECORD);
	expect_here(x, LEN);
	ck_assert_uint_eq(server.ncalls, 1);
	ck_assert_uint_ge(server.nmore_events, 2);
	ck_assert_uint_eq(bench_budget.account.used_bytes, claimed);
	answer(XID);
	ck_assert_uint_eq(server.closing, 0);
}
END_TEST

START_TEST(bytes_after_a_call_are_another_call)
{
	begin_call();
	send_part(PART, RECORD);
	raw_send_call(8, BENCH_CALL_MIN);
	ck_assert_uint_eq(server.ncalls, 2);
	ck_assert_uint_eq(first_call()->call_info.hdr.xid, XID);
	answer(XID);
	answer(8);
}
END_TEST

START_TEST(a_retransmitted_call_is_discarded)
{
	begin_call();
	send_part(PART, RECORD);
	send_part(0, RECORD);
	ck_assert_uint_eq(server.ncalls, 1);
	ck_assert_uint_eq(bench_worker.counters.retransmissions_swallowed, 1);
	answer(XID);
}
END_TEST

/* However much of it has arrived: it is not reported as complete. */
START_TEST(a_truncated_call_never_becomes_complete)
{
	for (uint32_t cut = 1; cut < RECORD; cut += 9973) {
		struct exchange *x = NULL;

		bench_renew(NULL);
		accept_partial(true);
		send_part(0, cut);
		if (server.ncalls)
			x = exchange_ref(first_call());
		stream_close(raw, _i);
		bench_run();
		fake_loop_advance(bench_loop, BENCH_CLOSE_US);
		ck_assert_uint_eq(server.closed, 1);
		ck_assert_int_eq(server.why, _i ? LEG_CLOSE_LOST : LEG_CLOSE_PEER);
		ck_assert_uint_eq(x != NULL, cut >= PART);
		if (x)
			ck_assert_uint_lt(x->call.have_bytes, x->call.len_bytes);
		exchange_put(x);
	}
}
END_TEST

START_TEST(a_client_that_truncates_a_call_by_a_half_close_gets_earlier_replies)
{
	struct exchange *x;

	accept_partial(true);
	raw_send_call(6, BENCH_CALL_MIN);
	send_part(0, PART);
	ck_assert_uint_eq(server.ncalls, 2);
	x = exchange_ref(TAILQ_NEXT(first_call(), target_entry));
	ck_assert_int_eq(stream_shutdown(raw), 0);
	bench_run();
	ck_assert_uint_eq(server.closing, 0);
	ck_assert_ptr_null(x->origin);
	answer(6);
	bench_run();
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_PEER);
	expect_here(x, TCP_PARTIAL_MIN_BYTES);
	exchange_put(x);
}
END_TEST

/* Nobody asked for an answer to half a Call: the XID may be another's by then. */
START_TEST(a_truncated_call_is_not_answered)
{
	struct exchange *x;

	accept_partial(true);
	raw_send_call(6, BENCH_CALL_MIN);
	send_part(0, PART);
	ck_assert_int_eq(stream_shutdown(raw), 0);
	bench_run();
	x = TAILQ_NEXT(first_call(), target_entry);
	TAILQ_REMOVE(&server.calls, x, target_entry);
	ck_assert_int_eq(rpc_msg_get(bench_pool, BENCH_REPLY_MIN, &x->reply), 0);
	put_reply(x->reply.data, XID, BENCH_REPLY_MIN);
	leg_reply(server.leg, x);
	raw_expect(-EAGAIN);
	answer(6);
}
END_TEST

START_TEST(a_call_that_is_answered_early_is_read_to_its_end)
{
	struct exchange *x = begin_call();

	exchange_ref(x);
	answer(XID);
	ck_assert_ptr_null(x->origin);
	send_part(PART, RECORD);
	expect_here(x, LEN);
	exchange_put(x);
	/* Its XID is free again, and what is behind it in its place. */
	send_part(0, RECORD);
	ck_assert_uint_eq(server.ncalls, 2);
	answer(XID);
}
END_TEST

static void pause_and_keep(struct bench_side *side)
{
	leg_pause(side->leg, true);
}

/* A target that wants no more Calls can wait for the rest of this one. */
START_TEST(a_pause_does_not_hold_up_the_rest)
{
	struct exchange *x;

	accept_partial(true);
	server.on_call = pause_and_keep;
	send_part(0, PART);
	x = first_call();
	send_part(PART, RECORD);
	expect_here(x, LEN);
	raw_send_call(8, BENCH_CALL_MIN);
	ck_assert_uint_eq(server.ncalls, 1);
	answer(XID);
	ck_assert_uint_eq(server.ncalls, 1);
	leg_pause(server.leg, false);
	bench_run();
	ck_assert_uint_eq(server.ncalls, 2);
	answer(8);
}
END_TEST

/* Before it begins, or before enough of it has arrived for delivery. */
START_TEST(a_call_that_begins_during_a_pause_waits)
{
	const uint32_t before = _i ? PART / 2 : 0, during = before + 5000;

	accept_partial(true);
	send_part(0, before);
	leg_pause(server.leg, true);
	send_part(before, during);
	ck_assert_uint_eq(server.ncalls, 0);
	leg_pause(server.leg, false);
	send_part(during, PART);
	ck_assert_uint_eq(server.ncalls, 1);
	expect_here(first_call(), TCP_PARTIAL_MIN_BYTES);
	send_part(PART, RECORD);
	expect_here(first_call(), LEN);
	answer(XID);
}
END_TEST

START_TEST(a_stalled_call_closes_the_connection)
{
	struct exchange *x = exchange_ref(begin_call());

	send_part(PART, RECORD - 1);
	fake_loop_advance(bench_loop, BENCH_STALL_US);
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_RECORD_STALLED);
	expect_here(x, LEN - 1);
	exchange_put(x);
}
END_TEST

START_TEST(a_leg_that_drains_waits_for_it)
{
	begin_call();
	leg_drain(server.leg);
	bench_run();
	ck_assert_uint_eq(server.closing, 0);
	send_part(PART, RECORD);
	expect_here(first_call(), LEN);
	raw_send_call(8, BENCH_CALL_MIN);
	ck_assert_uint_eq(server.ncalls, 1);
	ck_assert_uint_eq(server.closing, 0);
	answer(XID);
	bench_run();
	ck_assert_int_eq(server.why, LEG_CLOSE_SHUTDOWN);
}
END_TEST

/* The owner closes from inside call(). */
START_TEST(the_owner_can_close_when_a_call_is_delivered)
{
	accept_partial(true);
	server.close_at = BENCH_AT_CALL;
	server.close_why = LEG_CLOSE_LOST;
	send_part(0, PART);
	ck_assert_uint_eq(server.ncalls, 1);
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_uint_eq(server.nmore_events, 0);
	expect_here(first_call(), TCP_PARTIAL_MIN_BYTES);
}
END_TEST

/* WRITE and, behind its data, another operation: all of that is to be seen. */
static void make_compound(uint8_t *msg)
{
	const uint32_t words[] = {
		XID, RPC_CALL, RPC_VERSION, 100003, 4, 1, 0, 0, 0, 0, 0,
		0,   2,        38,          0,      0, 0, 0, 0, 0, 0, LEN - 22 * 4 - 4};

	for (unsigned i = 0; i < sizeof(words); i++)
		msg[i] = words[i / 4] >> (24 - 8 * (i % 4)) & 0xff;
	memcpy(msg + LEN - 4, "\0\0\0\x18", 4);
}

/*
 * When the last fragment begins it is known how long the Call is, but its memory was taken before.
 */
START_TEST(a_call_with_a_long_last_fragment_is_delivered_complete)
{
	enum { FIRST = 20000 };
	uint8_t mark[RECORD_MARK_BYTES];

	accept_partial(true);
	record_mark_encode(record, FIRST);
	record[0] &= 0x7f;
	record_mark_encode(mark, LEN - FIRST);
	send_part(0, RECORD_MARK_BYTES + FIRST);
	raw_write(mark, sizeof(mark));
	send_part(RECORD_MARK_BYTES + FIRST, RECORD - 1);
	ck_assert_uint_eq(server.ncalls, 0);
	send_part(RECORD - 1, RECORD);
	ck_assert_uint_eq(server.ncalls, 1);
	ck_assert_uint_eq(server.nmore_events, 0);
	expect_here(first_call(), LEN);
	answer(XID);
}
END_TEST

/* Its length is unknown, or its end must be seen, or no leg has asked for it. */
START_TEST(short_calls_are_delivered_complete)
{
	enum { FRAGMENTS, COMPOUND, NOT_ASKED };

	accept_partial(_i != NOT_ASKED);
	if (_i == FRAGMENTS)
		record[0] &= 0x7f;
	else if (_i == COMPOUND)
		make_compound(record + RECORD_MARK_BYTES);
	send_part(0, RECORD - 1);
	ck_assert_uint_eq(server.ncalls, 0);
	send_part(RECORD - 1, RECORD);
	if (_i == FRAGMENTS) {
		static const uint8_t end[] = {0x80, 0, 0, 0};

		ck_assert_uint_eq(server.ncalls, 0);
		raw_write(end, sizeof(end));
	}
	ck_assert_uint_eq(server.ncalls, 1);
	ck_assert_uint_eq(first_call()->call_info.parse, CALL_PARSE_OK);
	ck_assert_uint_eq(server.nmore_events, 0);
	answer(XID);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_call_parts");
	TCase *tc = tcase_create("tcp_leg_call_parts");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_long_call_is_delivered_before_it_is_complete);
	tcase_add_test(tc, bytes_after_a_call_are_another_call);
	tcase_add_test(tc, a_retransmitted_call_is_discarded);
	tcase_add_loop_test(tc, a_truncated_call_never_becomes_complete, 0, 2);
	tcase_add_test(tc, a_client_that_truncates_a_call_by_a_half_close_gets_earlier_replies);
	tcase_add_test(tc, a_truncated_call_is_not_answered);
	tcase_add_test(tc, a_call_that_is_answered_early_is_read_to_its_end);
	tcase_add_test(tc, a_pause_does_not_hold_up_the_rest);
	tcase_add_loop_test(tc, a_call_that_begins_during_a_pause_waits, 0, 2);
	tcase_add_test(tc, a_stalled_call_closes_the_connection);
	tcase_add_test(tc, a_leg_that_drains_waits_for_it);
	tcase_add_test(tc, the_owner_can_close_when_a_call_is_delivered);
	tcase_add_test(tc, a_call_with_a_long_last_fragment_is_delivered_complete);
	tcase_add_loop_test(tc, short_calls_are_delivered_complete, 0, 3);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

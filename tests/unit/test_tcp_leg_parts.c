// SPDX-License-Identifier: BSD-3-Clause
/* Tests long Replies that a TCP leg delivers as they arrive. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_bench.h"

#define LEN    (3 * TCP_PARTIAL_MIN_BYTES + 3392)
#define RECORD (RECORD_MARK_BYTES + LEN)
#define PART   TCP_PARTIAL_MIN_BYTES
#define XID    7u

static uint8_t *record; /* a Reply of LEN bytes to XID, with its mark */

static void setup(void)
{
	bench_setup();
	record = malloc(RECORD);
	record_mark_encode(record, LEN);
	put_reply(record + RECORD_MARK_BYTES, XID, LEN);
}

static void teardown(void)
{
	bench_teardown();
	free(record);
}

/* A leg whose Call is sent, and which delivers its Reply as it arrives. */
static struct exchange *ask(bool partial)
{
	struct exchange *x;

	client.config.leg.partial = partial;
	client.config.leg.max_message_bytes = 2 * BENCH_MAX_MESSAGE;
	bench_connect();
	bench_run();
	x = bench_call(&client, XID, BENCH_CALL_MIN, BENCH_CALL_MIN);
	raw_expect_call(XID, BENCH_CALL_MIN);
	return x;
}

static void expect_here(const struct exchange *x, uint32_t have_bytes)
{
	ck_assert_int_eq(x->fault, EXCHANGE_OK);
	ck_assert_uint_eq(x->reply.len_bytes, LEN);
	ck_assert_uint_eq(x->reply.have_bytes, have_bytes);
	ck_assert(!memcmp(x->reply.data, record + RECORD_MARK_BYTES, have_bytes));
}

START_TEST(a_long_reply_is_delivered_before_it_is_complete)
{
	struct exchange *x = ask(true);
	unsigned more_events = 0;

	raw_write(record, RECORD_MARK_BYTES + PART - 1);
	ck_assert_uint_eq(client.nreplies, 0);
	raw_write(record + RECORD_MARK_BYTES + PART - 1, 1);
	ck_assert_uint_eq(client.nreplies, 1);
	expect_here(x, PART);
	ck_assert_uint_eq(client.nmore_events, 0);
	for (uint32_t at = PART; at < LEN; at += 1000) {
		raw_write(record + RECORD_MARK_BYTES + at, LEN - at < 1000 ? LEN - at : 1000);
		expect_here(x, LEN - at < 1000 ? LEN : at + 1000);
		ck_assert_uint_ge(client.nmore_events, more_events);
		more_events = client.nmore_events;
	}
	ck_assert_uint_eq(client.nreplies, 1);
	ck_assert_uint_eq(client.nmore_events, (LEN - 1) / PART);
	expect_here(x, LEN);
	ck_assert_ptr_null(x->target);
	exchange_put(x);
}
END_TEST

START_TEST(bytes_after_a_reply_are_another_message)
{
	struct exchange *x = ask(true);

	exchange_put(bench_call(&client, 8, BENCH_CALL_MIN, BENCH_CALL_MIN));
	raw_write(record, RECORD_MARK_BYTES + PART);
	ck_assert_uint_eq(client.nreplies, 1);
	raw_write(record + RECORD_MARK_BYTES + PART, LEN - PART - 1);
	ck_assert_ptr_nonnull(x->target);
	raw_write(record + RECORD - 1, 1);
	raw_send_reply(8, 100);
	ck_assert_uint_eq(client.nreplies, 2);
	expect_here(x, LEN);
	exchange_put(x);
}
END_TEST

START_TEST(its_xid_may_be_used_again_once_it_is_complete)
{
	struct exchange *x = ask(true);

	raw_write(record, RECORD - 1);
	ck_assert_uint_eq(client.nreplies, 1);
	raw_write(record + RECORD - 1, 1);
	expect_here(x, LEN);
	exchange_put(x);
	x = bench_call(&client, XID, BENCH_CALL_MIN, BENCH_CALL_MIN);
	raw_expect_call(XID, BENCH_CALL_MIN);
	raw_write(record, RECORD);
	ck_assert_uint_eq(client.nreplies, 2);
	ck_assert_uint_eq(client.nfaults, 0);
	expect_here(x, LEN);
	exchange_put(x);
}
END_TEST

/* However much of it has arrived: it is not reported as complete. */
START_TEST(a_truncated_reply_never_becomes_complete)
{
	for (uint32_t cut = 1; cut < RECORD; cut += 9973) {
		struct exchange *x;

		bench_renew(NULL);
		x = ask(true);
		raw_write(record, cut);
		stream_close(raw, _i);
		bench_run();
		ck_assert_uint_eq(client.closed, 1);
		ck_assert_int_eq(client.why, _i ? LEG_CLOSE_LOST : LEG_CLOSE_PEER);
		ck_assert_uint_eq(client.nreplies, cut >= RECORD_MARK_BYTES + PART);
		if (client.nreplies)
			ck_assert_uint_lt(x->reply.have_bytes, x->reply.len_bytes);
		exchange_put(x);
	}
}
END_TEST

START_TEST(a_stalled_reply_closes_the_connection)
{
	struct exchange *x = ask(true);

	raw_write(record, RECORD - 1);
	fake_loop_advance(bench_loop, BENCH_STALL_US);
	ck_assert_uint_eq(client.closed, 1);
	ck_assert_int_eq(client.why, LEG_CLOSE_RECORD_STALLED);
	expect_here(x, LEN - 1);
	exchange_put(x);
}
END_TEST

START_TEST(a_leg_that_drains_waits_for_it)
{
	struct exchange *x = ask(true);

	raw_write(record, RECORD - 1);
	leg_drain(client.leg);
	bench_run();
	ck_assert_uint_eq(client.closing, 0);
	raw_write(record + RECORD - 1, 1);
	expect_here(x, LEN);
	bench_run();
	ck_assert_int_eq(client.why, LEG_CLOSE_SHUTDOWN);
	exchange_put(x);
}
END_TEST

/* The owner closes from inside reply(). */
START_TEST(the_owner_can_close_when_a_reply_is_delivered)
{
	struct exchange *x = ask(true);

	client.close_at = BENCH_AT_REPLY;
	client.close_why = LEG_CLOSE_LOST;
	raw_write(record, RECORD_MARK_BYTES + PART);
	ck_assert_uint_eq(client.nreplies, 1);
	ck_assert_uint_eq(client.closed, 1);
	ck_assert_uint_eq(client.nmore_events, 0);
	expect_here(x, PART);
	exchange_put(x);
}
END_TEST

/*
 * When the last fragment begins it is known how long the Reply is, but its memory was taken before.
 */
START_TEST(a_reply_with_a_long_last_fragment_is_delivered_complete)
{
	enum { FIRST = 20000 };
	struct exchange *x = ask(true);
	uint8_t mark[RECORD_MARK_BYTES];

	record_mark_encode(record, FIRST);
	record[0] &= 0x7f;
	record_mark_encode(mark, LEN - FIRST);
	raw_write(record, RECORD_MARK_BYTES + FIRST);
	raw_write(mark, sizeof(mark));
	raw_write(record + RECORD_MARK_BYTES + FIRST, LEN - FIRST - 1);
	ck_assert_uint_eq(client.nreplies, 0);
	raw_write(record + RECORD - 1, 1);
	ck_assert_uint_eq(client.nmore_events, 0);
	expect_here(x, LEN);
	exchange_put(x);
}
END_TEST

/* Its length is unknown, or its header is invalid, or no leg has asked for it. */
START_TEST(short_replies_are_delivered_complete)
{
	enum { FRAGMENTS, BAD_HEADER, NOT_ASKED };
	struct exchange *x = ask(_i != NOT_ASKED);

	if (_i == FRAGMENTS)
		record[0] &= 0x7f;
	else if (_i == BAD_HEADER)
		record[RECORD_MARK_BYTES + 11] = 9;
	raw_write(record, RECORD - 1);
	ck_assert_uint_eq(client.nreplies, 0);
	raw_write(record + RECORD - 1, 1);
	if (_i == FRAGMENTS) {
		static const uint8_t end[] = {0x80, 0, 0, 0};

		ck_assert_uint_eq(client.nreplies, 0);
		raw_write(end, sizeof(end));
	}
	ck_assert_uint_eq(client.nreplies, 1);
	ck_assert_uint_eq(client.nfaults, _i == BAD_HEADER);
	ck_assert_uint_eq(client.nmore_events, 0);
	exchange_put(x);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_parts");
	TCase *tc = tcase_create("tcp_leg_parts");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_long_reply_is_delivered_before_it_is_complete);
	tcase_add_test(tc, bytes_after_a_reply_are_another_message);
	tcase_add_test(tc, its_xid_may_be_used_again_once_it_is_complete);
	tcase_add_loop_test(tc, a_truncated_reply_never_becomes_complete, 0, 2);
	tcase_add_test(tc, a_stalled_reply_closes_the_connection);
	tcase_add_test(tc, a_leg_that_drains_waits_for_it);
	tcase_add_test(tc, the_owner_can_close_when_a_reply_is_delivered);
	tcase_add_test(tc, a_reply_with_a_long_last_fragment_is_delivered_complete);
	tcase_add_loop_test(tc, short_replies_are_delivered_complete, 0, 3);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests messages that the TCP leg gets before they are complete: it sends them as they arrive, or
 * not at all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_bench.h"

#define LEN      44u
#define RECORD   (RECORD_MARK_BYTES + LEN)
#define BIG_LEN  200000u

#define TO_PEER  0 /* a Call of the leg that connected */
#define TO_MAKER 1 /* a Reply of the leg that was accepted */
#define ROLES    2

static uint32_t next_xid = 1;

/* A leg in that role, up. */
static struct bench_side *role(int which)
{
	if (which == TO_PEER) {
		bench_connect();
		bench_run();
		ck_assert_uint_eq(client.opened, 1);
		return &client;
	}
	bench_accept();
	return &server;
}

/* Gives the leg a message of which @have is here; the exchange, with a reference. */
static struct exchange *give(int which, uint32_t len, uint32_t have)
{
	uint32_t xid = next_xid++;

	if (which == TO_PEER)
		return bench_call(&client, xid, len, have);
	raw_send_call(xid, BENCH_CALL_MIN);
	return bench_answer(&server, len, have);
}

static struct rpc_msg *msg_of(int which, struct exchange *x)
{
	return which == TO_PEER ? &x->call : &x->reply;
}

static void expect(int which, const struct exchange *x, uint32_t len)
{
	if (which == TO_PEER)
		raw_expect_call(x->call_info.hdr.xid, len);
	else
		raw_expect_reply(x->call_info.hdr.xid, len);
}

static void put(int which, uint8_t *to, const struct exchange *x, uint32_t len)
{
	record_mark_encode(to, len);
	if (which == TO_PEER)
		put_call(to + RECORD_MARK_BYTES, x->call_info.hdr.xid, len);
	else
		put_reply(to + RECORD_MARK_BYTES, x->call_info.hdr.xid, len);
}

START_TEST(every_split_of_a_record_is_the_same_record)
{
	struct bench_side *side = role(_i);
	uint8_t want[RECORD], got[RECORD];

	for (uint32_t cut = 0; cut <= LEN; cut++) {
		struct exchange *x = give(_i, LEN, cut);

		put(_i, want, x, LEN);
		ck_assert_uint_eq(raw_read(got, RECORD), RECORD_MARK_BYTES + cut);
		bench_grow(side, x, msg_of(_i, x), LEN);
		ck_assert_uint_eq(
			raw_read(got + RECORD_MARK_BYTES + cut, RECORD - RECORD_MARK_BYTES - cut),
			LEN - cut);
		ck_assert(!memcmp(got, want, RECORD));
		exchange_put(x);
	}
	ck_assert_uint_eq(side->closing, 0);
}
END_TEST

START_TEST(a_record_may_come_byte_by_byte)
{
	struct bench_side *side = role(_i);
	struct exchange *x = give(_i, LEN, 1);
	uint8_t want[RECORD], got[RECORD];

	put(_i, want, x, LEN);
	ck_assert_uint_eq(raw_read(got, RECORD), RECORD_MARK_BYTES + 1);
	for (uint32_t have = 2; have <= LEN; have++) {
		uint8_t *to = got + RECORD_MARK_BYTES + have - 1;

		/* Nothing has grown: nothing is sent. */
		leg_more(side->leg, x);
		raw_expect(-EAGAIN);
		bench_grow(side, x, msg_of(_i, x), have);
		ck_assert_uint_eq(raw_read(to, 2), 1);
	}
	ck_assert(!memcmp(got, want, RECORD));
	exchange_put(x);
}
END_TEST

START_TEST(messages_after_an_incomplete_record_wait)
{
	struct bench_side *side = role(_i);
	struct exchange *before = give(_i, LEN, LEN), *x = give(_i, LEN, 20), *behind;
	uint8_t got[2 * RECORD];

	expect(_i, before, LEN);
	ck_assert_uint_eq(raw_read(got, sizeof(got)), RECORD_MARK_BYTES + 20);
	behind = give(_i, LEN, LEN);
	raw_expect(-EAGAIN);
	bench_grow(side, x, msg_of(_i, x), LEN - 1);
	ck_assert_uint_eq(raw_read(got, sizeof(got)), LEN - 21);
	bench_grow(side, x, msg_of(_i, x), LEN);
	ck_assert_uint_eq(raw_read(got, 1), 1);
	expect(_i, behind, LEN);
	exchange_put(before);
	exchange_put(x);
	exchange_put(behind);
}
END_TEST

/* More than the stream takes at once. */
START_TEST(a_large_record_comes_in_pieces_of_any_size)
{
	struct bench_side *side = role(_i);
	struct exchange *x = give(_i, BIG_LEN, 100);
	uint8_t *want = malloc(RECORD_MARK_BYTES + BIG_LEN);
	uint8_t *got = malloc(RECORD_MARK_BYTES + BIG_LEN);
	size_t have = 0;

	put(_i, want, x, BIG_LEN);
	for (uint32_t step = 1, to = 100; to < BIG_LEN; step *= 3) {
		to = BIG_LEN - to > step ? to + step : BIG_LEN;
		bench_grow(side, x, msg_of(_i, x), to);
		bench_run();
		if (step % 2)
			have += raw_read(got + have, 5000);
	}
	have += raw_read(got + have, RECORD_MARK_BYTES + BIG_LEN - have);
	ck_assert_uint_eq(have, RECORD_MARK_BYTES + BIG_LEN);
	ck_assert(!memcmp(got, want, have));
	exchange_put(x);
	free(want);
	free(got);
}
END_TEST

START_TEST(a_peer_is_not_closed_while_data_are_missing_here)
{
	struct bench_side *side = role(_i);
	struct exchange *x = give(_i, LEN, 20);

	bench_run();
	fake_loop_advance(bench_loop, 10ull * BENCH_STALL_US);
	ck_assert_uint_eq(side->closing, 0);
	bench_grow(side, x, msg_of(_i, x), LEN);
	expect(_i, x, LEN);
	exchange_put(x);
}
END_TEST

START_TEST(a_peer_must_accept_available_data)
{
	struct bench_side *side = role(_i);
	struct exchange *x = give(_i, BIG_LEN, BIG_LEN - 1);

	bench_run();
	fake_loop_advance(bench_loop, BENCH_STALL_US - 1);
	ck_assert_uint_eq(side->closing, 0);
	fake_loop_advance(bench_loop, 1);
	ck_assert_uint_eq(side->closed, 1);
	ck_assert_int_eq(side->why,
			 side == &client ? LEG_CLOSE_CALL_STALLED : LEG_CLOSE_REPLY_STALLED);
	raw_expect(-ECONNRESET);
	exchange_put(x);
}
END_TEST

/* Broken off */

START_TEST(an_unstarted_record_is_dropped_with_later_ones)
{
	struct bench_side *side = role(_i);
	struct exchange *xs[3];

	/* In one turn: nothing has left yet. */
	side->hold = true;
	for (int i = 0; i < 3 && _i == TO_MAKER; i++)
		raw_send_call(100 + i, BENCH_CALL_MIN);
	for (int i = 0; i < 3; i++)
		xs[i] = _i == TO_PEER ? bench_call(side, 100 + i, LEN, i == 1 ? 20 : LEN)
				      : bench_answer(side, LEN, i == 1 ? 20 : LEN);
	leg_close(side->leg, LEG_CLOSE_LOCAL);
	ck_assert_uint_eq(side->closing, 0);
	expect(_i, xs[0], LEN);
	raw_expect(0);
	ck_assert_uint_eq(side->closing, 1);
	for (int i = 0; i < 3; i++)
		exchange_put(xs[i]);
}
END_TEST

/*
 * However much of it was sent, and however the leg is closed: the peer must not take it for whole.
 */
START_TEST(a_record_that_was_begun_ends_by_a_reset)
{
	static const enum leg_close reasons[] = {LEG_CLOSE_LOCAL, LEG_CLOSE_PEER, LEG_CLOSE_LOST};

	for (unsigned i = 0; i < ARRAY_SIZE(reasons); i++) {
		for (uint32_t cut = 0; cut < LEN; cut += 11) {
			struct bench_side *side;
			struct exchange *x;
			uint8_t got[RECORD];

			bench_renew(NULL);
			side = role(_i);
			x = give(_i, LEN, cut);
			ck_assert_uint_eq(raw_read(got, RECORD), RECORD_MARK_BYTES + cut);
			leg_close(side->leg, reasons[i]);
			bench_grow(side, x, msg_of(_i, x), LEN);
			raw_expect(-ECONNRESET);
			ck_assert_uint_eq(side->closed, 1);
			ck_assert_int_eq(side->why, reasons[i]);
			leg_more(side->leg, x);
			exchange_put(x);
		}
	}
}
END_TEST

START_TEST(a_leg_that_fails_with_a_record_begun_ends_by_a_reset)
{
	static const uint8_t half_mark[2] = {0x80};
	struct bench_side *side = role(_i);
	struct exchange *x = give(_i, LEN, 20);

	bench_run();
	raw_write(half_mark, sizeof(half_mark));
	fake_loop_advance(bench_loop, BENCH_STALL_US);
	ck_assert_uint_eq(side->closed, 1);
	ck_assert_int_eq(side->why, LEG_CLOSE_RECORD_STALLED);
	raw_expect(-ECONNRESET);
	exchange_put(x);
}
END_TEST

START_TEST(a_half_closed_client_gets_a_reply_that_still_comes)
{
	struct exchange *x;

	bench_accept();
	x = give(TO_MAKER, LEN, 20);
	bench_run();
	ck_assert_int_eq(stream_shutdown(raw), 0);
	bench_run();
	ck_assert_uint_eq(server.closing, 0);
	bench_grow(&server, x, &x->reply, LEN);
	raw_expect_reply(x->call_info.hdr.xid, LEN);
	raw_expect(0);
	ck_assert_uint_eq(server.closed, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_PEER);
	exchange_put(x);
}
END_TEST

/* Pieces through a stream that takes what it likes, cut at each of its steps. */
START_TEST(nothing_is_left_wherever_it_breaks)
{
	unsigned step = 1;

	for (bool cut = true; cut; step++) {
		struct pair_faults faults = {
			.seed = step, .short_writes = true, .cut_at_step = step};
		struct bench_side *side = &client;
		struct exchange *x;

		bench_renew(&faults);
		bench_connect();
		x = bench_call(side, 1, LEN, 5);
		for (uint32_t have = 10; have <= LEN; have += 5) {
			bench_run();
			bench_grow(side, x, &x->call, have < LEN ? have : LEN);
		}
		bench_run();
		cut = pair_net_steps(bench_net) >= step;
		leg_close(side->leg, LEG_CLOSE_LOCAL);
		bench_run();
		ck_assert_uint_eq(side->closing, 1);
		ck_assert_uint_eq(side->closed, 1);
		exchange_put(x);
	}
	ck_assert_uint_gt(step, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_pieces");
	TCase *tc = tcase_create("tcp_leg_pieces");

	tcase_add_checked_fixture(tc, bench_setup, bench_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, every_split_of_a_record_is_the_same_record, 0, ROLES);
	tcase_add_loop_test(tc, a_record_may_come_byte_by_byte, 0, ROLES);
	tcase_add_loop_test(tc, messages_after_an_incomplete_record_wait, 0, ROLES);
	tcase_add_loop_test(tc, a_large_record_comes_in_pieces_of_any_size, 0, ROLES);
	tcase_add_loop_test(tc, a_peer_is_not_closed_while_data_are_missing_here, 0, ROLES);
	tcase_add_loop_test(tc, a_peer_must_accept_available_data, 0, ROLES);
	tcase_add_loop_test(tc, an_unstarted_record_is_dropped_with_later_ones, 0, ROLES);
	tcase_add_loop_test(tc, a_record_that_was_begun_ends_by_a_reset, 0, ROLES);
	tcase_add_loop_test(tc, a_leg_that_fails_with_a_record_begun_ends_by_a_reset, 0, ROLES);
	tcase_add_test(tc, a_half_closed_client_gets_a_reply_that_still_comes);
	tcase_add_test(tc, nothing_is_left_wherever_it_breaks);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests what counts as progress of a TCP leg's output, how long closing can take, and how often a
 * full stream is tried.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_bench.h"

#define BIG_BYTES  (BENCH_MAX_MESSAGE - 1000u)
#define STEP_BYTES (20u * 1024u)

/*
 * A stream that has accepted all that it can, whatever its peer reads: as a socket whose buffer is
 * large.
 */

static struct stream_ops slow_ops;
static const struct stream_ops *real_ops;
static struct stream *slow;
static unsigned writes;
static size_t accepts_bytes; /* from now on */
static unsigned watched;

static ssize_t slow_writev(struct stream *stream, const struct iovec *iov, int niov)
{
	struct iovec first = iov[0];
	ssize_t n;

	writes++;
	if (!accepts_bytes)
		return -EAGAIN;
	if (first.iov_len > accepts_bytes)
		first.iov_len = accepts_bytes;
	n = real_ops->writev(stream, &first, 1);
	if (n > 0)
		accepts_bytes -= (size_t)n;
	return n;
}

static void slow_watch(struct stream *stream, unsigned events)
{
	watched = events;
	real_ops->watch(stream, accepts_bytes ? events : events & ~LOOP_WRITE);
}

/* `server` on such a stream, with a Call in flight. */
static void accept_slow(size_t bytes)
{
	struct stream *ends[2];

	ck_assert_int_eq(pair_new(bench_net, ends), 0);
	slow = ends[0];
	real_ops = ends[0]->ops;
	slow_ops = *real_ops;
	slow_ops.writev = slow_writev;
	slow_ops.watch = slow_watch;
	ends[0]->ops = &slow_ops;
	raw = ends[1];
	ck_assert_int_eq(tcp_leg_accept(&server.config, ends[0], NULL, &server.leg), 0);
	server.hold = true;
	accepts_bytes = 1;
	raw_send_call(1, BENCH_CALL_MIN);
	bench_run();
	ck_assert_uint_eq(server.ncalls, 1);
	writes = 0;
	accepts_bytes = bytes;
}

static void read_some(size_t bytes)
{
	static uint8_t skip[BENCH_MAX_MESSAGE];

	ck_assert_uint_eq(raw_read(skip, bytes), bytes);
}

/* The stream accepts nothing more for two stall timeouts, but the peer takes what is in it. */
START_TEST(acknowledged_bytes_are_progress)
{
	accept_slow(PAIR_BUFFER_BYTES);
	exchange_put(bench_answer(&server, BIG_BYTES, BIG_BYTES));
	bench_run();
	for (unsigned i = 0; i < 3; i++) {
		fake_loop_advance(bench_loop, BENCH_STALL_US * 2 / 3);
		ck_assert_uint_eq(server.closing, 0);
		read_some(STEP_BYTES);
	}
	/* It takes no more. */
	fake_loop_advance(bench_loop, 2 * BENCH_STALL_US);
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_REPLY_STALLED);
}
END_TEST

START_TEST(a_little_is_no_progress)
{
	accept_slow(PAIR_BUFFER_BYTES);
	exchange_put(bench_answer(&server, BIG_BYTES, BIG_BYTES));
	bench_run();
	for (unsigned i = 0; i < 9; i++) {
		ck_assert_uint_eq(server.closing, 0);
		fake_loop_advance(bench_loop, BENCH_STALL_US / 10);
		read_some(100);
	}
	fake_loop_advance(bench_loop, BENCH_STALL_US / 10);
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_REPLY_STALLED);
}
END_TEST

/* As long as it reads a little every two seconds. */
START_TEST(an_orderly_close_lasts_while_the_peer_takes)
{
	size_t left = RECORD_MARK_BYTES + BIG_BYTES;

	bench_accept();
	raw_send_call(1, 100);
	bench_run();
	exchange_put(bench_answer(&server, BIG_BYTES, BIG_BYTES));
	leg_close(server.leg, LEG_CLOSE_PEER);
	for (; left > STEP_BYTES; left -= STEP_BYTES) {
		fake_loop_advance(bench_loop, BENCH_CLOSE_US * 9 / 10);
		ck_assert_uint_eq(server.closed, 0);
		read_some(STEP_BYTES);
		if (_i && left < BIG_BYTES / 2) {
			fake_loop_advance(bench_loop, 2 * BENCH_CLOSE_US);
			ck_assert_uint_eq(server.closed, 1);
			return;
		}
	}
	fake_loop_advance(bench_loop, BENCH_CLOSE_US * 9 / 10);
	read_some(left);
	raw_expect(0);
	/* It has taken everything, and has as long to end the stream. */
	fake_loop_advance(bench_loop, BENCH_CLOSE_US);
	ck_assert_uint_eq(server.closed, 0);
	ck_assert_int_eq(stream_shutdown(raw), 0);
	bench_run();
	ck_assert_uint_eq(server.closed, 1);
}
END_TEST

/* Whether it is the reason for the end or comes when that is under way. */
START_TEST(a_stop_waits_for_a_peer_that_takes_but_no_longer_than_that)
{
	uint64_t waited_us = 0;

	bench_accept();
	for (uint32_t xid = 0; xid < 4; xid++)
		raw_send_call(xid, 100);
	bench_run();
	for (uint32_t xid = 0; xid < 4; xid++)
		exchange_put(bench_answer(&server, BIG_BYTES, BIG_BYTES));
	if (_i)
		leg_close(server.leg, LEG_CLOSE_PEER);
	leg_close(server.leg, LEG_CLOSE_SHUTDOWN);
	while (!server.closed && waited_us < 2 * LEG_STOP_US) {
		read_some(STEP_BYTES);
		fake_loop_advance(bench_loop, BENCH_CLOSE_US / 2);
		waited_us += BENCH_CLOSE_US / 2;
	}
	ck_assert_uint_eq(server.closed, 1);
	ck_assert_uint_ge(waited_us, LEG_STOP_US / 2);
	ck_assert_uint_le(waited_us, LEG_STOP_US);
}
END_TEST

/* Whatever else happens on the connection. */
START_TEST(a_full_stream_is_tried_when_it_takes_more)
{
	struct exchange *x;

	accept_slow(0);
	exchange_put(bench_answer(&server, 100, 100));
	bench_run();
	ck_assert_uint_eq(writes, 1);
	for (uint32_t xid = 2; xid < 6; xid++) {
		raw_send_call(xid, 100);
		bench_run();
		x = bench_answer(&server, 100, xid == 2 ? 50 : 100);
		bench_run();
		if (xid == 2)
			bench_grow(&server, x, &x->reply, 100);
		exchange_put(x);
	}
	/* What makes the task run whatever has been sent. */
	leg_pause(server.leg, true);
	leg_pause(server.leg, false);
	bench_run();
	ck_assert_uint_eq(writes, 1);
	ck_assert_uint_eq(watched, LOOP_READ | LOOP_WRITE);
	accepts_bytes = PAIR_BUFFER_BYTES;
	real_ops->watch(slow, watched);
	for (uint32_t xid = 1; xid < 6; xid++)
		raw_expect_reply(xid, 100);
	ck_assert_uint_eq(watched, LOOP_READ);
}
END_TEST

START_TEST(a_stream_that_takes_a_part_is_full)
{
	accept_slow(60);
	exchange_put(bench_answer(&server, 100, 100));
	bench_run();
	ck_assert_uint_eq(writes, 1);
	ck_assert_uint_eq(watched, LOOP_READ | LOOP_WRITE);
	accepts_bytes = PAIR_BUFFER_BYTES;
	real_ops->watch(slow, watched);
	raw_expect_reply(1, 100);
	ck_assert_uint_eq(writes, 2);
	ck_assert_uint_eq(watched, LOOP_READ);
}
END_TEST

/* Turns */

static struct loop_task other; /* somebody else's, which comes behind the leg in each turn */
static unsigned turns, last_calls, most_calls;
static uint64_t last_sent, most_sent;

static void look(void *arg)
{
	uint64_t sent = bench_worker.counters.bytes_sent;

	turns++;
	if (server.ncalls - last_calls > most_calls)
		most_calls = server.ncalls - last_calls;
	if (sent - last_sent > most_sent)
		most_sent = sent - last_sent;
	last_calls = server.ncalls;
	last_sent = sent;
	if (turns < 1000)
		loop_defer(bench_loop, &other);
}

static void watch_turns(void)
{
	turns = most_calls = last_calls = 0;
	most_sent = 0;
	last_sent = bench_worker.counters.bytes_sent;
	loop_task_init(&other, look, NULL);
	loop_defer(bench_loop, &other);
}

static void watch_turns_from_the_first_call(struct bench_side *side)
{
	if (side->ncalls == 1)
		watch_turns();
}

START_TEST(a_turn_has_so_many_calls_of_one_connection)
{
	const uint32_t count = 1000, step = RECORD_MARK_BYTES + BENCH_CALL_MIN;
	uint8_t *bytes = malloc(count * step);
	struct iovec iov = {bytes, count * step};

	bench_accept();
	server.on_call = watch_turns_from_the_first_call;
	for (uint32_t i = 0; i < count; i++) {
		record_mark_encode(bytes + i * step, BENCH_CALL_MIN);
		put_call(bytes + i * step + RECORD_MARK_BYTES, i, BENCH_CALL_MIN);
	}
	ck_assert_int_eq(stream_writev(raw, &iov, 1), (ssize_t)iov.iov_len);
	bench_run();
	ck_assert_uint_eq(server.ncalls, count);
	ck_assert_uint_eq(most_calls, TCP_ITERATION_RECORDS);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_uint_eq(TAILQ_FIRST(&server.calls)->call_info.hdr.xid, i);
		exchange_put(bench_answer(&server, BENCH_REPLY_MIN, BENCH_REPLY_MIN));
	}
	free(bytes);
}
END_TEST

START_TEST(a_turn_sends_so_much_on_one_connection)
{
	const struct pair_faults faults = {.buffer_bytes = 16u << 20};
	const unsigned count = 40;

	bench_renew(&faults);
	bench_accept();
	for (uint32_t i = 0; i < count; i++)
		raw_send_call(i, BENCH_CALL_MIN);
	bench_run();
	watch_turns();
	for (uint32_t i = 0; i < count; i++)
		exchange_put(bench_answer(&server, BIG_BYTES, BIG_BYTES));
	bench_run();
	ck_assert_uint_eq(most_sent, TCP_ITERATION_BYTES);
	for (uint32_t i = 0; i < count; i++)
		raw_expect_reply(i, BIG_BYTES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_progress");
	TCase *tc = tcase_create("tcp_leg_progress");

	tcase_add_checked_fixture(tc, bench_setup, bench_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, acknowledged_bytes_are_progress);
	tcase_add_test(tc, a_little_is_no_progress);
	tcase_add_loop_test(tc, an_orderly_close_lasts_while_the_peer_takes, 0, 2);
	tcase_add_loop_test(tc, a_stop_waits_for_a_peer_that_takes_but_no_longer_than_that, 0, 2);
	tcase_add_test(tc, a_full_stream_is_tried_when_it_takes_more);
	tcase_add_test(tc, a_stream_that_takes_a_part_is_full);
	tcase_add_test(tc, a_turn_has_so_many_calls_of_one_connection);
	tcase_add_test(tc, a_turn_sends_so_much_on_one_connection);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests how much of a connection a TCP leg reads per loop iteration, and that the cuts between
 * reads have no effect.
 */
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_bench.h"

#define LONG_BYTES (4u * TCP_BULK_BYTES)

/* What each event of the streams had of the leg's reads: an event is one of a turn's. */

static struct stream_ops counted_ops;
static const struct stream_ops *real_ops;
static struct stream *counted; /* whose reads are counted */
static unsigned step, events, reads, most_reads;
static size_t bytes, most_bytes;

static ssize_t counted_readv(struct stream *stream, const struct iovec *iov, int niov)
{
	ssize_t n = real_ops->readv(stream, iov, niov);

	if (stream != counted)
		return n;
	if (pair_net_steps(bench_net) != step) {
		step = pair_net_steps(bench_net);
		events++;
		bytes = reads = 0;
	}
	reads++;
	bytes += n > 0 ? (size_t)n : 0;
	if (reads > most_reads)
		most_reads = reads;
	if (bytes > most_bytes)
		most_bytes = bytes;
	return n;
}

/* @side, accepted on a new pair whose other end is `raw`; a first Call is answered. */
static void accept_counted(struct bench_side *side)
{
	struct stream *ends[2];

	ck_assert_int_eq(pair_new(bench_net, ends), 0);
	raw = ends[1];
	counted = ends[0];
	real_ops = ends[0]->ops;
	counted_ops = *real_ops;
	counted_ops.readv = counted_readv;
	ends[0]->ops = &counted_ops;
	ck_assert_int_eq(tcp_leg_accept(&side->config, ends[0], NULL, &side->leg), 0);
	raw_send_call(1000, BENCH_CALL_MIN);
	bench_run();
	raw_expect_reply(1000, BENCH_REPLY_MIN);
	side->ncalls = 0;
	side->hold = true;
	step = events = reads = most_reads = 0;
	bytes = most_bytes = 0;
}

/* @count Calls of @len_bytes, sent by one write. */
static void send_at_once(uint32_t count, uint32_t len_bytes)
{
	const uint32_t record = RECORD_MARK_BYTES + len_bytes;
	uint8_t *all = malloc((size_t)count * record);
	struct iovec iov = {all, (size_t)count * record};

	for (uint32_t i = 0; i < count; i++) {
		record_mark_encode(all + i * record, len_bytes);
		put_call(all + i * record + RECORD_MARK_BYTES, i, len_bytes);
	}
	ck_assert_int_eq(stream_writev(raw, &iov, 1), (ssize_t)iov.iov_len);
	free(all);
}

/* The first Call that @side holds, which must be @xid of @len_bytes. */
static void expect_and_answer(struct bench_side *side, uint32_t xid, uint32_t len_bytes)
{
	const struct exchange *x = TAILQ_FIRST(&side->calls);
	uint8_t *want = malloc(len_bytes);

	ck_assert_ptr_nonnull(x);
	put_call(want, xid, len_bytes);
	ck_assert_uint_eq(x->call.len_bytes, len_bytes);
	ck_assert_int_eq(memcmp(x->call.data, want, len_bytes), 0);
	free(want);
	exchange_put(bench_answer(side, BENCH_REPLY_MIN, BENCH_REPLY_MIN));
	raw_expect_reply(xid, BENCH_REPLY_MIN);
}

/* Neither the long ones nor the short ones fit into one read. */
START_TEST(reading_goes_on_in_the_turn_while_there_is_more)
{
	const struct pair_faults faults = {.buffer_bytes = 16u << 20};
	const uint32_t len_bytes = _i ? LONG_BYTES : 400, count = _i ? 6 : 200;

	bench_renew(&faults);
	accept_counted(&server);
	send_at_once(count, len_bytes);
	bench_run();
	ck_assert_uint_eq(server.ncalls, count);
	ck_assert_uint_eq(events, 1);
	ck_assert_uint_gt(reads, 1);
	for (uint32_t i = 0; i < count; i++)
		expect_and_answer(&server, i, len_bytes);
}
END_TEST

START_TEST(a_lone_message_takes_a_single_read)
{
	accept_counted(&server);
	for (uint32_t i = 0; i < 3; i++) {
		raw_send_call(i, 4000);
		bench_run();
		expect_and_answer(&server, i, 4000);
	}
	ck_assert_uint_eq(events, 3);
	ck_assert_uint_eq(most_reads, 1);
}
END_TEST

START_TEST(a_turn_reads_so_much_and_no_more)
{
	const struct pair_faults faults = {.buffer_bytes = 16u << 20};
	const uint32_t count = 6;

	bench_renew(&faults);
	accept_counted(&server);
	send_at_once(count, BENCH_MAX_MESSAGE);
	bench_run();
	ck_assert_uint_eq(server.ncalls, count);
	ck_assert_uint_ge(most_bytes, TCP_ITERATION_BYTES);
	ck_assert_uint_lt(most_bytes, TCP_ITERATION_BYTES + TCP_STAGING_BYTES);
	ck_assert_uint_ge(events, count * BENCH_MAX_MESSAGE / most_bytes);
	for (uint32_t i = 0; i < count; i++)
		expect_and_answer(&server, i, BENCH_MAX_MESSAGE);
}
END_TEST

static unsigned reads_before; /* the Call came */

static void close_inside(struct bench_side *side)
{
	reads_before = reads;
	leg_close(side->leg, LEG_CLOSE_LOST);
}

/* Bytes read later, to the end of the stream, are ignored. */
START_TEST(reading_ends_with_the_connection)
{
	const struct pair_faults faults = {.buffer_bytes = 16u << 20};

	bench_renew(&faults);
	accept_counted(&server);
	server.on_call = close_inside;
	send_at_once(6, LONG_BYTES);
	bench_run();
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_uint_eq(server.ncalls, 1);
	ck_assert_uint_eq(most_reads, reads_before);
}
END_TEST

/*
 * `server` is sent more than a turn has; `client` in the same turn one Call, which waits for one
 * turn's part at most.
 */
static size_t busy_bytes; /* that had been read when the Call came to `client` */

static void note_busy_bytes(struct bench_side *side)
{
	busy_bytes = bytes;
}

START_TEST(a_busy_connection_leaves_room_in_the_turn)
{
	const struct pair_faults faults = {.buffer_bytes = 16u << 20};
	struct stream *other, *to_busy;

	bench_renew(&faults);
	accept_counted(&client);
	other = raw;
	accept_counted(&server);
	client.on_call = note_busy_bytes;
	send_at_once(6, BENCH_MAX_MESSAGE);
	to_busy = raw;
	raw = other;
	send_at_once(1, BENCH_CALL_MIN);
	bench_run();
	ck_assert_uint_eq(client.ncalls, 1);
	ck_assert_uint_lt(busy_bytes, TCP_ITERATION_BYTES + TCP_STAGING_BYTES);
	expect_and_answer(&client, 0, BENCH_CALL_MIN);
	stream_close(raw, false);
	stream_free(raw);
	raw = to_busy;
	for (uint32_t i = 0; i < 6; i++)
		expect_and_answer(&server, i, BENCH_MAX_MESSAGE);
}
END_TEST

/* Lengths about those at which something else is done. */
static const uint32_t lengths[] = {
	BENCH_CALL_MIN, 400,        TCP_BULK_BYTES - 4, TCP_BULK_BYTES,    TCP_BULK_BYTES + 4,
	BENCH_CALL_MIN, LONG_BYTES, LONG_BYTES - 4,     BENCH_MAX_MESSAGE, BENCH_CALL_MIN,
};

START_TEST(every_message_arrives_whatever_the_reads_are)
{
	const struct pair_faults faults = {
		.seed = (uint64_t)_i + 1,
		.buffer_bytes = _i % 3 ? 16u << 20 : 40000,
		.short_reads = _i % 2,
		.short_writes = _i % 5 == 0,
		.max_read_bytes = _i % 7 ? 0 : 3 + (uint32_t)_i % 11 * 4096,
	};

	bench_renew(&faults);
	accept_counted(&server);
	for (uint32_t i = 0; i < ARRAY_SIZE(lengths); i++)
		raw_send_call(i, lengths[i]);
	bench_run();
	ck_assert_uint_eq(server.ncalls, ARRAY_SIZE(lengths));
	for (uint32_t i = 0; i < ARRAY_SIZE(lengths); i++)
		expect_and_answer(&server, i, lengths[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_leg_turns");
	TCase *tc = tcase_create("tcp_leg_turns");

	tcase_add_checked_fixture(tc, bench_setup, bench_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, reading_goes_on_in_the_turn_while_there_is_more, 0, 2);
	tcase_add_test(tc, a_lone_message_takes_a_single_read);
	tcase_add_test(tc, a_turn_reads_so_much_and_no_more);
	tcase_add_test(tc, reading_ends_with_the_connection);
	tcase_add_test(tc, a_busy_connection_leaves_room_in_the_turn);
	tcase_add_loop_test(tc, every_message_arrives_whatever_the_reads_are, 0, 84);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

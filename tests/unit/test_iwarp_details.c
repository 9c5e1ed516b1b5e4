// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests two connected engines: where FPDUs end, when keys are unbound, what is copied, how a
 * connection fails.
 */
#include <string.h>

#include "base/be_bytes.h"
#include "fabric/iwarp/proto.h"
#include "fabric/iwarp/random.h"
#include "tests/lib/test.h"
#include "tests/unit/iwarp_pair.h"

/*
 * What went out since a TCP segment began: a whole number of FPDUs, once all that was planned is
 * sent.
 */
struct train {
	uint8_t bytes[4u << 20];
	size_t len_bytes;
	unsigned fpdus;
};

/*
 * No segment of @mss_bytes may end within padding and CRC: siw_get_trailer() of Linux 6.1 loses the
 * first part.
 */
static void train_check(struct train *train, unsigned mss_bytes)
{
	size_t at = 0;

	while (at < train->len_bytes) {
		size_t bare = MPA_LENGTH_BYTES + be16_get(train->bytes + at);
		size_t trailer = (-bare & 3) + MPA_CRC_BYTES, over;

		at += bare + trailer;
		over = at % mss_bytes;
		ck_assert_msg(over == 0 || over >= trailer,
			      "%zu of %zu bytes of a trailer are behind", over, trailer);
		train->fpdus++;
	}
	ck_assert_uint_eq(at, train->len_bytes);
	train->len_bytes = 0;
}

/* One call's worth from one side to the other, or a part of it; returns whether there was any. */
static bool train_move(struct iwarp_side *from, struct iwarp_side *to, struct train *train,
		       unsigned mss_bytes, struct iwarp_random *random)
{
	const struct iovec *iov;
	unsigned niov = iwarp_engine_tx_plan(from->engine, &iov);
	size_t total = 0, len, start = train->len_bytes;

	for (unsigned i = 0; i < niov; i++) {
		ck_assert_uint_le(train->len_bytes + total + iov[i].iov_len, sizeof(train->bytes));
		memcpy(train->bytes + train->len_bytes + total, iov[i].iov_base, iov[i].iov_len);
		total += iov[i].iov_len;
	}
	if (total == 0)
		return false;
	len = iwarp_random_next(random) % 4 ? total : total - iwarp_random_next(random) % total;
	iwarp_engine_tx_done(from->engine, len, from->now_us);
	side_give(to, train->bytes + start, len, SIZE_MAX);
	train->len_bytes += len;
	if (len == total)
		train_check(train, mss_bytes);
	return true;
}

START_TEST(no_segment_ends_within_the_padding_and_crc_of_an_fpdu)
{
	static const unsigned mss[] = {128, 131, 536, 1428, 1448, 1450, 9001, 32741, 65483};
	const struct iwarp_pair_variant v = {.crc_a = true,
					     .crc_b = true,
					     .fpdu = _i & 1 ? IWARP_FPDU_64K : IWARP_FPDU_MSS,
					     .mss_bytes = mss[_i / 2]};
	static struct train trains[2];
	static struct side_wr wrs[2][150];
	struct iwarp_side *sides[2] = {&a, &b};
	struct buf *local[2], *sink[2];
	/*
	 * Memory that the other end Reads is not written: data in transit must keep the value of
	 * their CRC.
	 */
	struct fabric_key readable[2], writable[2];
	struct iwarp_random random;
	uint64_t seeds[4] = {(uint64_t)_i + 1, 2, 3, 4};
	bool moved;

	iwarp_random_seed(&random, seeds);
	iwarp_pair_start(&v);
	iwarp_pair_hello(0);
	for (unsigned s = 0; s < 2; s++) {
		local[s] = buf_get(sides[s]->pool, 100000);
		sink[s] = buf_get(sides[s]->pool, 100000);
		side_fill(local[s]->mem, 100000, s);
		side_key(sides[s], &readable[s], local[s], 0, 100000, FABRIC_REMOTE_READ);
		side_key(sides[s], &writable[s], sink[s], 0, 100000, FABRIC_REMOTE_WRITE);
		trains[s].len_bytes = trains[s].fpdus = 0;
	}
	for (unsigned i = 0; i < 150; i++) {
		for (unsigned s = 0; s < 2; s++) {
			static const enum fabric_wr_op ops[] = {FABRIC_SEND, FABRIC_WRITE,
								FABRIC_READ};
			uint32_t limit = i % 3 ? 1u << iwarp_random_next(&random) % 17 : 4096;
			struct side_wr *swr = &wrs[s][i];
			const struct fabric_key *key =
				i % 3 == 2 ? &readable[1 - s] : &writable[1 - s];

			side_wr_init(swr, sides[s], ops[i % 3]);
			side_wr_add(swr, i % 3 == 2 ? sink[s] : local[s], 0,
				    (uint32_t)(iwarp_random_next(&random) % limit) + 1);
			swr->wr.rkey = key->rkey;
			swr->wr.raddr = key->addr;
			side_post(sides[s], swr);
		}
	}
	do {
		moved = train_move(&a, &b, &trains[0], v.mss_bytes, &random);
		moved |= train_move(&b, &a, &trains[1], v.mss_bytes, &random);
	} while (moved);
	for (unsigned s = 0; s < 2; s++) {
		for (unsigned i = 0; i < 150; i++) {
			ck_assert_uint_eq(wrs[s][i].done, 1);
			ck_assert_int_eq(wrs[s][i].status, FABRIC_OK);
		}
		ck_assert_uint_eq(trains[s].len_bytes, 0);
		ck_assert_uint_ge(trains[s].fpdus, 150);
		ck_assert(iwarp_engine_key_unbind(sides[s]->engine, &readable[s]));
		ck_assert(iwarp_engine_key_unbind(sides[s]->engine, &writable[s]));
		buf_put(local[s]);
		buf_put(sink[s]);
	}
	iwarp_pair_stop();
}
END_TEST

static const struct iwarp_pair_variant plain = {
	.crc_a = true, .crc_b = true, .fpdu = IWARP_FPDU_64K};

static unsigned unbound;

static void on_unbound(struct fabric_key *key)
{
	unbound++;
}

START_TEST(a_key_whose_bytes_are_on_their_way_is_unbound_when_they_are_out)
{
	struct buf *from, *to;
	struct fabric_key key;
	struct side_wr reads[2];
	struct buf_pool_stats stats;
	const struct iovec *iov;
	uint8_t wire[4096];
	size_t len;

	iwarp_pair_start(&plain);
	from = buf_get(b.pool, 100000);
	to = buf_get(a.pool, 200000);
	side_fill(from->mem, 100000, 1);
	side_key(&b, &key, from, 0, 100000, FABRIC_REMOTE_READ);
	key.unbound = on_unbound;
	unbound = 0;
	for (unsigned i = 0; i < 2; i++) {
		side_wr_init(&reads[i], &a, FABRIC_READ);
		side_wr_add(&reads[i], to, i * 100000, 100000);
		reads[i].wr.rkey = key.rkey;
		reads[i].wr.raddr = key.addr;
		side_post(&a, &reads[i]);
	}
	len = side_take(&a, wire, sizeof(wire));
	side_give(&b, wire, len, SIZE_MAX);
	/* Both Responses are owed: no Read finds the key now, but these two are answered. */
	ck_assert(!iwarp_engine_key_unbind(b.engine, &key));
	buf_put(from);
	buf_pool_stats_get(b.pool, &stats);
	ck_assert_uint_gt(stats.in_use_bytes, 0);
	ck_assert_uint_eq(unbound, 0);
	/* Payload goes out from where it is. */
	ck_assert_uint_ge(iwarp_engine_tx_plan(b.engine, &iov), 5);
	ck_assert_ptr_eq(iov[1].iov_base, from->mem);
	side_pump(&a, &b, 0);
	ck_assert_uint_eq(unbound, 1);
	buf_pool_stats_get(b.pool, &stats);
	ck_assert_uint_eq(stats.in_use_bytes, 0);
	ck_assert_int_eq(reads[1].status, FABRIC_OK);
	buf_put(to);
	iwarp_pair_stop();
}
END_TEST

START_TEST(a_deferred_unbind_comes_at_the_latest_with_the_end)
{
	struct buf *from, *to;
	struct fabric_key key;
	struct side_wr read;
	uint8_t wire[4096];
	size_t len;

	iwarp_pair_start(&plain);
	from = buf_get(b.pool, 100);
	to = buf_get(a.pool, 100);
	side_key(&b, &key, from, 0, 100, FABRIC_REMOTE_READ);
	key.unbound = on_unbound;
	unbound = 0;
	side_wr_init(&read, &a, FABRIC_READ);
	side_wr_add(&read, to, 0, 100);
	read.wr.rkey = key.rkey;
	read.wr.raddr = key.addr;
	side_post(&a, &read);
	len = side_take(&a, wire, sizeof(wire));
	side_give(&b, wire, len, SIZE_MAX);
	ck_assert(!iwarp_engine_key_unbind(b.engine, &key));
	iwarp_engine_abort(b.engine, FABRIC_CLOSE_LOST, "gone");
	iwarp_engine_flush(b.engine);
	ck_assert_uint_eq(unbound, 1);
	iwarp_engine_abort(a.engine, FABRIC_CLOSE_LOST, "gone");
	iwarp_engine_flush(a.engine);
	ck_assert_uint_eq(read.done, 1);
	ck_assert_int_eq(read.status, FABRIC_FLUSHED);
	buf_put(from);
	buf_put(to);
	side_fini(&a);
	side_fini(&b);
}
END_TEST

START_TEST(never_more_reads_are_out_than_the_peer_takes)
{
	struct iwarp_config config = {.fpdu = IWARP_FPDU_MSS};
	struct buf *from, *to;
	struct fabric_key key;
	static struct side_wr reads[50];

	side_init(&a, &config, 1);
	side_init(&b, &config, 2);
	b.params.ird = 3;
	side_open(&a, &b, 0);
	from = buf_get(b.pool, 5000);
	to = buf_get(a.pool, 5000);
	side_key(&b, &key, from, 0, 5000, FABRIC_REMOTE_READ);
	for (unsigned i = 0; i < ARRAY_SIZE(reads); i++) {
		side_wr_init(&reads[i], &a, FABRIC_READ);
		side_wr_add(&reads[i], to, i * 100, 100);
		reads[i].wr.rkey = key.rkey;
		reads[i].wr.raddr = key.addr;
		side_post(&a, &reads[i]);
	}
	for (unsigned round = 0; a.counters.read_responses_received < ARRAY_SIZE(reads); round++) {
		uint8_t wire[8192];
		size_t len = side_take(&a, wire, sizeof(wire));

		ck_assert_uint_le(len, 3 * 52);
		ck_assert_uint_lt(round, 50);
		side_give(&b, wire, len, 7);
		len = side_take(&b, wire, sizeof(wire));
		side_give(&a, wire, len, 7);
	}
	ck_assert_uint_eq(a.counters.read_waits, ARRAY_SIZE(reads) - 3);
	ck_assert(iwarp_engine_key_unbind(b.engine, &key));
	buf_put(from);
	buf_put(to);
	iwarp_pair_stop();
}
END_TEST

START_TEST(more_messages_than_one_batch_holds_all_arrive)
{
	static struct side_wr sends[3000];
	struct buf *buf;

	iwarp_pair_start(&plain);
	buf = buf_get(a.pool, 3000);
	side_fill(buf->mem, 3000, 3);
	for (unsigned i = 0; i < ARRAY_SIZE(sends); i++) {
		side_wr_init(&sends[i], &a, FABRIC_SEND);
		side_wr_add(&sends[i], buf, i, 1);
		side_post(&a, &sends[i]);
	}
	side_pump(&a, &b, 0);
	ck_assert_uint_eq(b.nsends, ARRAY_SIZE(sends));
	for (unsigned i = 0; i < ARRAY_SIZE(sends); i++) {
		ck_assert_uint_eq(sends[i].done, 1);
		ck_assert_uint_eq(b.sends[i].bytes[0], buf->mem[i]);
	}
	buf_put(buf);
	iwarp_pair_stop();
}
END_TEST

START_TEST(payload_is_received_where_it_belongs)
{
	struct buf *from, *to;
	struct fabric_key key;
	struct side_wr write;

	iwarp_pair_start(&plain);
	from = buf_get(a.pool, 1u << 20);
	to = buf_get(b.pool, 1u << 20);
	side_fill(from->mem, 1u << 20, 4);
	side_key(&b, &key, to, 0, 1u << 20, FABRIC_REMOTE_WRITE);
	side_wr_init(&write, &a, FABRIC_WRITE);
	side_wr_add(&write, from, 0, 1u << 20);
	write.wr.rkey = key.rkey;
	write.wr.raddr = key.addr;
	side_post(&a, &write);
	side_pump(&a, &b, 0);
	ck_assert_mem_eq(to->mem, from->mem, 1u << 20);
	/* Only what shared a read with the first header; the rest was never in staging memory. */
	ck_assert_uint_le(b.counters.payload_bytes_copied, 16384);
	ck_assert(iwarp_engine_key_unbind(b.engine, &key));
	buf_put(from);
	buf_put(to);
	iwarp_pair_stop();
}
END_TEST

/* Sends of 200,000 bytes, with a short one after each: once that is known, little is read ahead. */
START_TEST(a_long_send_is_received_where_it_belongs)
{
	static struct side_wr sends[2 * 20];
	const unsigned n = ARRAY_SIZE(sends);
	struct buf *buf;

	iwarp_pair_start(&plain);
	ck_assert_uint_eq(iwarp_engine_recv_resize(b.engine, 262144), 0);
	b.params.recv_size_bytes = 262144;
	b.refill = true;
	buf = buf_get(a.pool, 200100);
	side_fill(buf->mem, 200100, 5);
	for (unsigned i = 0; i < n; i++) {
		side_wr_init(&sends[i], &a, FABRIC_SEND);
		side_wr_add(&sends[i], buf, i, i % 2 ? 100 : 200000);
		side_post(&a, &sends[i]);
		side_pump(&a, &b, 0);
	}
	ck_assert_uint_eq(b.nsends, n);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_uint_eq(b.sends[i].len_bytes, i % 2 ? 100 : 200000);
		ck_assert_mem_eq(b.sends[i].bytes, buf->mem + i, b.sends[i].len_bytes);
	}
	/*
	 * The first one was not expected; of the others only what shared a read with their first
	 * header.
	 */
	ck_assert_uint_le(b.counters.payload_bytes_copied, 200000 + (n / 2 - 1) * 16384);
	buf_put(buf);
	iwarp_pair_stop();
}
END_TEST

/*
 * The header of a Send has come and been judged by its receive; before its payload the receives
 * become smaller.
 */
START_TEST(a_receive_whose_send_has_begun_keeps_its_size)
{
	static uint8_t wire[1u << 17];
	struct buf *from, *neighbours[64];
	struct side_wr send;
	size_t len;

	iwarp_pair_start(&plain);
	ck_assert_uint_eq(iwarp_engine_recv_resize(b.engine, 65536), 0);
	b.refill = false;
	iwarp_engine_mss(a.engine, 65483);
	from = buf_get(a.pool, 60000);
	side_fill(from->mem, 60000, 7);
	side_wr_init(&send, &a, FABRIC_SEND);
	side_wr_add(&send, from, 0, 60000);
	side_post(&a, &send);
	len = side_take(&a, wire, sizeof(wire));
	ck_assert_uint_gt(len, 60000);
	for (unsigned i = 0; i < ARRAY_SIZE(neighbours); i++) {
		neighbours[i] = buf_get(b.pool, 4096);
		memset(neighbours[i]->mem, 0x5a, 4096);
	}
	buf_put(neighbours[10]);
	/* Length and DDP header, as TCP may cut it; then what a timer of the owner's does. */
	side_give(&b, wire, 20, 20);
	(void)iwarp_engine_recv_resize(b.engine, 4096);
	side_give(&b, wire + 20, len - 20, 30000);
	for (unsigned i = 0; i < ARRAY_SIZE(neighbours); i++)
		for (unsigned j = 0; i != 10 && j < 4096; j++)
			if (neighbours[i]->mem[j] != 0x5a)
				ck_abort_msg("byte %u of buffer %u is overwritten", j, i);
	ck_assert_uint_eq(b.nsends, 1);
	ck_assert_uint_eq(b.sends[0].size_bytes, 65536);
	ck_assert_mem_eq(b.sends[0].bytes, from->mem, 60000);
	for (unsigned i = 0; i < ARRAY_SIZE(neighbours); i++)
		if (i != 10)
			buf_put(neighbours[i]);
	buf_put(from);
	iwarp_pair_stop();
}
END_TEST

START_TEST(a_whole_send_is_handed_over_without_a_copy)
{
	iwarp_pair_start(&plain);
	iwarp_pair_hello(0);
	ck_assert_uint_eq(b.counters.payload_bytes_copied, 0);
	iwarp_pair_stop();
}
END_TEST

START_TEST(posted_work_is_flushed_in_order_when_the_connection_breaks)
{
	static struct side_wr wrs[6];
	struct buf *buf;

	iwarp_pair_start(&plain);
	buf = buf_get(a.pool, 100);
	for (unsigned i = 0; i < ARRAY_SIZE(wrs); i++) {
		side_wr_init(&wrs[i], &a,
			     i % 2    ? FABRIC_READ
			     : i == 2 ? FABRIC_WRITE
				      : FABRIC_SEND);
		side_wr_add(&wrs[i], buf, 0, 100);
		side_post(&a, &wrs[i]);
	}
	iwarp_engine_abort(a.engine, FABRIC_CLOSE_LOST, "gone");
	ck_assert_uint_eq(a.done, 0);
	iwarp_engine_flush(a.engine);
	ck_assert_uint_eq(a.done, ARRAY_SIZE(wrs));
	for (unsigned i = 0; i < ARRAY_SIZE(wrs); i++) {
		ck_assert_int_eq(wrs[i].status, FABRIC_FLUSHED);
		if (i >= 2)
			ck_assert_uint_gt(wrs[i].order, wrs[i - 2].order);
	}
	iwarp_engine_flush(a.engine);
	ck_assert_uint_eq(a.done, ARRAY_SIZE(wrs));
	buf_put(buf);
	iwarp_pair_stop();
}
END_TEST

static void close_inside(struct iwarp_side *side)
{
	iwarp_engine_close(side->engine, 0);
}

START_TEST(an_owner_that_closes_inside_recv_hears_no_more)
{
	static struct side_wr sends[3];
	struct buf *buf;
	const char *detail;

	iwarp_pair_start(&plain);
	b.on_recv = close_inside;
	buf = buf_get(a.pool, 100);
	for (unsigned i = 0; i < ARRAY_SIZE(sends); i++) {
		side_wr_init(&sends[i], &a, FABRIC_SEND);
		side_wr_add(&sends[i], buf, 0, 100);
		side_post(&a, &sends[i]);
	}
	side_pump(&a, &b, 0);
	ck_assert_uint_eq(b.nsends, 1);
	ck_assert_int_eq(iwarp_engine_action(b.engine), IWARP_FIN);
	ck_assert_int_eq(iwarp_engine_close_reason(b.engine, &detail), FABRIC_CLOSE_LOCAL);
	buf_put(buf);
	side_fini(&a);
	side_fini(&b);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_details");
	TCase *tc = tcase_create("details");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, no_segment_ends_within_the_padding_and_crc_of_an_fpdu, 0, 18);
	tcase_add_test(tc, a_key_whose_bytes_are_on_their_way_is_unbound_when_they_are_out);
	tcase_add_test(tc, a_deferred_unbind_comes_at_the_latest_with_the_end);
	tcase_add_test(tc, never_more_reads_are_out_than_the_peer_takes);
	tcase_add_test(tc, more_messages_than_one_batch_holds_all_arrive);
	tcase_add_test(tc, payload_is_received_where_it_belongs);
	tcase_add_test(tc, a_long_send_is_received_where_it_belongs);
	tcase_add_test(tc, a_receive_whose_send_has_begun_keeps_its_size);
	tcase_add_test(tc, a_whole_send_is_handed_over_without_a_copy);
	tcase_add_test(tc, posted_work_is_flushed_in_order_when_the_connection_breaks);
	tcase_add_test(tc, an_owner_that_closes_inside_recv_hears_no_more);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

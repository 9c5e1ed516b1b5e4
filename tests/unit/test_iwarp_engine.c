// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests two connected engines: every operation with any segmentation and FPDU size, with and
 * without CRC.
 */
#include <string.h>

#include "base/be_bytes.h"
#include "fabric/iwarp/proto.h"
#include "tests/lib/test.h"
#include "tests/unit/iwarp_pair.h"

static const struct iwarp_pair_variant variants[] = {
	{true, true, IWARP_FPDU_64K, 0, 0},      {true, false, IWARP_FPDU_64K, 0, 1},
	{false, true, IWARP_FPDU_MSS, 1428, 2},  {false, false, IWARP_FPDU_MSS, 1428, 3},
	{false, false, IWARP_FPDU_64K, 0, 0},    {true, true, IWARP_FPDU_MSS, 128, 4},
	{true, true, IWARP_FPDU_MSS, 9001, 5},   {false, false, IWARP_FPDU_MSS, 1428, 0},
	{true, true, IWARP_FPDU_64K, 0, 6},      {true, true, IWARP_FPDU_MSS, 65483, 7},
	{true, true, IWARP_FPDU_AUTO, 16384, 8},
};

START_TEST(sends_of_every_size_arrive_in_order)
{
	const struct iwarp_pair_variant *v = &variants[_i];
	static struct side_wr swr[64];
	struct buf *buf;
	unsigned n = 0;

	iwarp_pair_start(v);
	buf = buf_get(a.pool, 4096);
	side_fill(buf->mem, 4096, v->seed);
	for (uint32_t len = 0; len <= 4096; len = len < 8 ? len + 1
						  : len * 3 / 2 > 4096 && len < 4096
							  ? 4096
							  : len * 3 / 2) {
		side_wr_init(&swr[n], &a, FABRIC_SEND);
		/* In three pieces, one of them empty. */
		side_wr_add(&swr[n], buf, 0, len / 3);
		side_wr_add(&swr[n], buf, len / 3, 0);
		side_wr_add(&swr[n], buf, len / 3, len - len / 3);
		side_post(&a, &swr[n++]);
	}
	side_pump(&a, &b, v->seed);
	ck_assert_uint_eq(b.nsends, n);
	ck_assert_uint_eq(b.counters.sends_received, n);
	ck_assert_uint_eq(a.counters.sends_sent, n);
	for (unsigned i = 0; i < n; i++) {
		uint32_t len = swr[i].wr.sge[0].len_bytes + swr[i].wr.sge[2].len_bytes;

		ck_assert_uint_eq(swr[i].done, 1);
		ck_assert_int_eq(swr[i].status, FABRIC_OK);
		ck_assert_uint_eq(swr[i].order, i + 1);
		ck_assert_uint_eq(b.sends[i].len_bytes, len);
		ck_assert(!b.sends[i].invalidated);
		ck_assert_mem_eq(b.sends[i].bytes, buf->mem, len);
	}
	buf_put(buf);
	iwarp_pair_stop();
}
END_TEST

/* Around what one FPDU carries, around what is worth reading in place, and big. */
static uint32_t sizes_of(const struct iwarp_pair_variant *v, uint32_t *sizes)
{
	uint32_t fpdu = v->fpdu == IWARP_FPDU_MSS ? v->mss_bytes & ~3u : 65536;
	uint32_t n = 0;

	if (fpdu > 65536)
		fpdu = 65536;
	for (uint32_t d = 0; d < 10; d++)
		sizes[n++] = fpdu - 24 + d;
	for (uint32_t d = 0; d < 3; d++)
		sizes[n++] = 2 * (fpdu - 20) - 1 + d;
	sizes[n++] = 0;
	sizes[n++] = 1;
	sizes[n++] = 4095;
	sizes[n++] = 4097;
	sizes[n++] = 20480;
	sizes[n++] = 262147;
	return n;
}

START_TEST(writes_land_exactly_where_they_belong_before_a_later_send)
{
	const struct iwarp_pair_variant *v = &variants[_i];
	uint32_t sizes[32], n = sizes_of(v, sizes);
	struct buf *from, *to;

	iwarp_pair_start(v);
	from = buf_get(a.pool, 300000);
	to = buf_get(b.pool, 300000);
	side_fill(from->mem, 300000, v->seed + 9);
	for (unsigned i = 0; i < n; i++) {
		struct side_wr write, send;
		struct fabric_key key;
		unsigned sends = b.nsends;

		memset(to->mem, 0xa5, 300000);
		side_key(&b, &key, to, 100, sizes[i] + 7, FABRIC_REMOTE_WRITE);
		ck_assert_uint_ne(key.addr, 0);
		side_wr_init(&write, &a, FABRIC_WRITE);
		side_wr_add(&write, from, 0, sizes[i] / 2);
		side_wr_add(&write, from, sizes[i] / 2, sizes[i] - sizes[i] / 2);
		write.wr.rkey = key.rkey;
		write.wr.raddr = key.addr + 3;
		side_wr_init(&send, &a, FABRIC_SEND_INV);
		send.wr.inv_rkey = key.rkey;
		side_post(&a, &write);
		side_post(&a, &send);
		side_pump(&a, &b, v->seed + i);
		ck_assert_uint_eq(write.done, 1);
		ck_assert_uint_eq(send.done, 1);
		ck_assert_uint_eq(b.nsends, sends + 1);
		ck_assert(b.sends[sends].invalidated);
		ck_assert_uint_eq(b.sends[sends].inv_rkey, key.rkey);
		ck_assert_mem_eq(to->mem + 103, from->mem, sizes[i]);
		ck_assert_uint_eq(to->mem[99], 0xa5);
		ck_assert_uint_eq(to->mem[100 + sizes[i] + 7], 0xa5);
		ck_assert(iwarp_engine_key_unbind(b.engine, &key));
	}
	ck_assert_uint_eq(b.counters.writes_received, n);
	buf_put(from);
	buf_put(to);
	iwarp_pair_stop();
}
END_TEST

START_TEST(fpdus_are_as_long_as_the_path_likes)
{
	static const struct {
		enum iwarp_fpdu fpdu;
		unsigned mss_bytes;
		uint32_t fpdu_bytes;
	} cases[] = {
		{IWARP_FPDU_AUTO, 1448, 1448},   {IWARP_FPDU_AUTO, 8948, 8948},
		{IWARP_FPDU_AUTO, 16383, 16380}, {IWARP_FPDU_AUTO, 16384, 65536},
		{IWARP_FPDU_AUTO, 32741, 65536}, {IWARP_FPDU_AUTO, 65483, 65536},
		{IWARP_FPDU_MSS, 32741, 32740},  {IWARP_FPDU_MSS, 65483, 65480},
		{IWARP_FPDU_64K, 1448, 65536},
	};
	const struct iwarp_pair_variant v = {
		.crc_a = true, .fpdu = cases[_i].fpdu, .mss_bytes = cases[_i].mss_bytes};
	struct fabric_key key;
	struct side_wr write;
	struct buf *buf[2];
	const struct iovec *iov;
	uint32_t first;

	iwarp_pair_start(&v);
	buf[0] = buf_get(a.pool, 100000);
	buf[1] = buf_get(b.pool, 100000);
	side_fill(buf[0]->mem, 100000, 1);
	side_key(&b, &key, buf[1], 0, 100000, FABRIC_REMOTE_WRITE);
	side_wr_init(&write, &a, FABRIC_WRITE);
	side_wr_add(&write, buf[0], 0, 100000);
	write.wr.rkey = key.rkey;
	write.wr.raddr = key.addr;
	side_post(&a, &write);
	ck_assert_uint_ge(iwarp_engine_tx_plan(a.engine, &iov), 3);
	first = MPA_LENGTH_BYTES + be16_get(iov[0].iov_base) + MPA_CRC_BYTES;
	ck_assert_uint_le(first, cases[_i].fpdu_bytes);
	ck_assert_uint_gt(first, cases[_i].fpdu_bytes - 12);
	side_pump(&a, &b, 0);
	ck_assert_mem_eq(buf[1]->mem, buf[0]->mem, 100000);
	ck_assert(iwarp_engine_key_unbind(b.engine, &key));
	buf_put(buf[0]);
	buf_put(buf[1]);
	iwarp_pair_stop();
}
END_TEST

START_TEST(reads_of_either_side_bring_the_bytes_in_order)
{
	const struct iwarp_pair_variant *v = &variants[_i];
	uint32_t sizes[32], n = sizes_of(v, sizes);
	static struct side_wr reads[2][32];
	static struct fabric_key keys[2][32];
	struct iwarp_side *sides[2] = {&a, &b};
	struct buf *from[2], *to[2][32];

	iwarp_pair_start(v);
	iwarp_pair_hello(v->seed);
	for (unsigned s = 0; s < 2; s++) {
		from[s] = buf_get(sides[s]->pool, 300000);
		side_fill(from[s]->mem, 300000, v->seed + s);
		for (unsigned i = 0; i < n; i++)
			side_key(sides[s], &keys[s][i], from[s], i, sizes[i] ? sizes[i] : 1,
				 FABRIC_REMOTE_READ);
	}
	for (unsigned s = 0; s < 2; s++) {
		for (unsigned i = 0; i < n; i++) {
			uint32_t len = sizes[i] ? sizes[i] : 1;

			to[s][i] = buf_get(sides[s]->pool, len + 2);
			memset(to[s][i]->mem, 0x5a, len + 2);
			side_wr_init(&reads[s][i], sides[s], FABRIC_READ);
			side_wr_add(&reads[s][i], to[s][i], 1, len);
			reads[s][i].wr.rkey = keys[1 - s][i].rkey;
			reads[s][i].wr.raddr = keys[1 - s][i].addr;
			side_post(sides[s], &reads[s][i]);
		}
	}
	side_pump(&a, &b, v->seed);
	for (unsigned s = 0; s < 2; s++) {
		ck_assert_uint_eq(sides[s]->counters.read_requests_sent, n);
		ck_assert_uint_eq(sides[s]->counters.read_responses_sent, n);
		ck_assert_uint_eq(sides[s]->counters.read_responses_received, n);
		ck_assert_uint_gt(sides[s]->counters.read_waits, 0);
		for (unsigned i = 0; i < n; i++) {
			uint32_t len = sizes[i] ? sizes[i] : 1;

			ck_assert_uint_eq(reads[s][i].done, 1);
			ck_assert_int_eq(reads[s][i].status, FABRIC_OK);
			if (i)
				ck_assert_uint_gt(reads[s][i].order, reads[s][i - 1].order);
			ck_assert_mem_eq(to[s][i]->mem + 1, from[1 - s]->mem + i, len);
			ck_assert_uint_eq(to[s][i]->mem[0], 0x5a);
			ck_assert_uint_eq(to[s][i]->mem[len + 1], 0x5a);
			buf_put(to[s][i]);
			ck_assert(iwarp_engine_key_unbind(sides[s]->engine, &keys[s][i]));
		}
	}
	buf_put(from[0]);
	buf_put(from[1]);
	iwarp_pair_stop();
}
END_TEST

START_TEST(a_mixture_of_everything_both_ways_at_random_cuts_is_right)
{
	const struct iwarp_pair_variant *v = &variants[_i];
	struct iwarp_side *sides[2] = {&a, &b};
	static struct side_wr wrs[2][60];
	static struct fabric_key keys[2][60];
	struct buf *local[2], *remote[2], *sink[2];

	iwarp_pair_start(v);
	iwarp_pair_hello(v->seed);
	for (unsigned s = 0; s < 2; s++) {
		local[s] = buf_get(sides[s]->pool, 1u << 20);
		remote[s] = buf_get(sides[s]->pool, 1u << 20);
		sink[s] = buf_get(sides[s]->pool, 1u << 20);
		side_fill(local[s]->mem, 1u << 20, v->seed + s);
	}
	for (unsigned i = 0; i < 60; i++) {
		for (unsigned s = 0; s < 2; s++) {
			struct side_wr *swr = &wrs[s][i];
			uint32_t off = i * 16384, len = (i * 7919 + s * 131) % 16384 + 1;

			switch (i % 3) {
			case 0:
				side_wr_init(swr, sides[s], FABRIC_SEND);
				side_wr_add(swr, local[s], off, len % 4096);
				break;
			case 1:
				side_key(sides[1 - s], &keys[1 - s][i], remote[1 - s], off, len,
					 FABRIC_REMOTE_WRITE);
				side_wr_init(swr, sides[s], FABRIC_WRITE);
				side_wr_add(swr, local[s], off, len);
				swr->wr.rkey = keys[1 - s][i].rkey;
				swr->wr.raddr = keys[1 - s][i].addr;
				break;
			case 2:
				side_key(sides[1 - s], &keys[1 - s][i], local[1 - s], off, len,
					 FABRIC_REMOTE_READ);
				side_wr_init(swr, sides[s], FABRIC_READ);
				side_wr_add(swr, sink[s], off, len);
				swr->wr.rkey = keys[1 - s][i].rkey;
				swr->wr.raddr = keys[1 - s][i].addr;
				break;
			}
			side_post(sides[s], swr);
		}
	}
	side_pump(&a, &b, v->seed + 77);
	for (unsigned s = 0; s < 2; s++) {
		unsigned send = s == 0 ? 1 : 0; /* b has had the hello */

		for (unsigned i = 0; i < 60; i++) {
			uint32_t off = i * 16384, len = (i * 7919 + s * 131) % 16384 + 1;

			ck_assert_uint_eq(wrs[s][i].done, 1);
			ck_assert_int_eq(wrs[s][i].status, FABRIC_OK);
			if (i % 3 == 0) {
				struct side_send *got = &sides[1 - s]->sends[send++];

				ck_assert_uint_eq(got->len_bytes, len % 4096);
				ck_assert_mem_eq(got->bytes, local[s]->mem + off, len % 4096);
			} else if (i % 3 == 1) {
				ck_assert_mem_eq(remote[1 - s]->mem + off, local[s]->mem + off,
						 len);
			} else {
				ck_assert_mem_eq(sink[s]->mem + off, local[1 - s]->mem + off, len);
			}
			if (i % 3)
				ck_assert(iwarp_engine_key_unbind(sides[1 - s]->engine,
								  &keys[1 - s][i]));
		}
	}
	for (unsigned s = 0; s < 2; s++) {
		buf_put(local[s]);
		buf_put(remote[s]);
		buf_put(sink[s]);
	}
	iwarp_pair_stop();
}
END_TEST

/* Long Sends between short ones and Writes, in FPDUs of each length and however the stream is cut. */
START_TEST(long_sends_pass_among_short_ones_and_writes)
{
	static const uint32_t lens[] = {65536, 1,   200000, 4096,   262144,
					16384, 100, 16383,  150000, 0};
	const struct iwarp_pair_variant *v = &variants[_i];
	static struct side_wr wrs[8 * ARRAY_SIZE(lens)];
	struct buf *from, *to;
	struct fabric_key key;
	unsigned nsends = 0;

	iwarp_pair_start(v);
	ck_assert_uint_eq(iwarp_engine_recv_resize(b.engine, 262144), 0);
	b.params.recv_size_bytes = 262144;
	b.refill = true;
	from = buf_get(a.pool, 1u << 19);
	to = buf_get(b.pool, 1u << 19);
	side_fill(from->mem, 1u << 19, v->seed + 9);
	side_key(&b, &key, to, 0, 1u << 19, FABRIC_REMOTE_WRITE);
	for (unsigned i = 0; i < ARRAY_SIZE(wrs); i++) {
		bool write = i % 8 == 3;

		side_wr_init(&wrs[i], &a, write ? FABRIC_WRITE : FABRIC_SEND);
		side_wr_add(&wrs[i], from, i, lens[i % ARRAY_SIZE(lens)]);
		wrs[i].wr.rkey = write ? key.rkey : 0;
		wrs[i].wr.raddr = write ? key.addr + i : 0;
		side_post(&a, &wrs[i]);
		if (i % 5 == 0)
			side_pump(&a, &b, v->seed + i);
	}
	side_pump(&a, &b, v->seed);
	for (unsigned i = 0; i < ARRAY_SIZE(wrs); i++) {
		uint32_t len = lens[i % ARRAY_SIZE(lens)];

		ck_assert_uint_eq(wrs[i].done, 1);
		if (wrs[i].wr.op == FABRIC_WRITE) {
			ck_assert_mem_eq(to->mem + i, from->mem + i, len);
			continue;
		}
		ck_assert_uint_eq(b.sends[nsends].len_bytes, len);
		ck_assert_mem_eq(b.sends[nsends++].bytes, from->mem + i, len);
	}
	ck_assert_uint_eq(b.nsends, nsends);
	ck_assert(iwarp_engine_key_unbind(b.engine, &key));
	buf_put(from);
	buf_put(to);
	iwarp_pair_stop();
}
END_TEST

START_TEST(receives_of_many_sizes_are_used_in_order_under_traffic)
{
	const struct iwarp_pair_variant *v = &variants[_i];
	static struct side_wr sends[100];
	static uint32_t sizes[ARRAY_SIZE(sends)];
	struct buf *buf;

	iwarp_pair_start(v);
	b.refill = false;
	buf = buf_get(a.pool, 20000);
	side_fill(buf->mem, 20000, 8);
	/* The initial receives first. */
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
		sizes[i] = i < 8 ? 4096 : 1u << (i / 3 * 7 % 15);
	for (unsigned i = 0, posted = 8; i < ARRAY_SIZE(sends); i++) {
		/* Some are posted ahead, some while Sends already come; some Sends fill them. */
		for (; posted < ARRAY_SIZE(sizes) && posted < i + 1 + i % 7; posted++)
			iwarp_engine_recv_post(b.engine, 1, sizes[posted]);
		side_wr_init(&sends[i], &a, FABRIC_SEND);
		side_wr_add(&sends[i], buf, i, i % 3 ? sizes[i] : sizes[i] / 2);
		side_post(&a, &sends[i]);
		if (i % 5 == 0)
			side_pump(&a, &b, v->seed);
	}
	side_pump(&a, &b, v->seed);
	ck_assert_uint_eq(b.nsends, ARRAY_SIZE(sends));
	for (unsigned i = 0; i < ARRAY_SIZE(sends); i++) {
		uint32_t len = sends[i].wr.sge[0].len_bytes;

		ck_assert_uint_eq(b.sends[i].size_bytes, sizes[i]);
		ck_assert_uint_eq(b.sends[i].len_bytes, len);
		ck_assert_mem_eq(b.sends[i].bytes, buf->mem + i, len);
	}
	buf_put(buf);
	iwarp_pair_stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_engine");
	TCase *tc = tcase_create("pair");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, sends_of_every_size_arrive_in_order, 0, ARRAY_SIZE(variants));
	tcase_add_loop_test(tc, writes_land_exactly_where_they_belong_before_a_later_send, 0,
			    ARRAY_SIZE(variants));
	tcase_add_loop_test(tc, fpdus_are_as_long_as_the_path_likes, 0, 9);
	tcase_add_loop_test(tc, reads_of_either_side_bring_the_bytes_in_order, 0,
			    ARRAY_SIZE(variants));
	tcase_add_loop_test(tc, a_mixture_of_everything_both_ways_at_random_cuts_is_right, 0,
			    ARRAY_SIZE(variants));
	tcase_add_loop_test(tc, long_sends_pass_among_short_ones_and_writes, 0,
			    (int)ARRAY_SIZE(variants));
	tcase_add_loop_test(tc, receives_of_many_sizes_are_used_in_order_under_traffic, 0,
			    ARRAY_SIZE(variants));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

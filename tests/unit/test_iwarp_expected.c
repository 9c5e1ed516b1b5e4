// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests FPDUs received directly into the place where they are expected to belong, and FPDUs that
 * belong elsewhere.
 */
#include <string.h>

#include "fabric/iwarp/rx_scatter.h"
#include "tests/lib/test.h"
#include "tests/unit/iwarp_pair.h"

#define STREAM_BYTES 4000u
#define MEM_BYTES    (1u << 20)

static uint32_t roll(struct iwarp_random *random, uint32_t sides)
{
	return (uint32_t)(iwarp_random_next(random) % sides);
}

/* So much of @stream comes into the image. */
static void come(const struct rx_scatter *image, const uint8_t *stream, size_t len_bytes)
{
	struct iovec iov[RX_SCATTER_MAX_IOV];
	unsigned n = rx_scatter_iov(image, iov);

	ck_assert_uint_le(n, RX_SCATTER_MAX_IOV);
	for (unsigned i = 0; i < n && len_bytes; i++) {
		size_t step = iov[i].iov_len < len_bytes ? iov[i].iov_len : len_bytes;

		memcpy(iov[i].iov_base, stream, step);
		stream += step;
		len_bytes -= step;
	}
}

/*
 * Passes some holes, then repairs the image somewhere in the next: from there on it is the stream.
 */
START_TEST(a_mended_image_is_the_stream)
{
	static uint8_t stream[STREAM_BYTES], staging[STREAM_BYTES], place[STREAM_BYTES];
	uint64_t seeds[4] = {(uint64_t)_i + 1, 1, 2, 3};
	struct iwarp_random random;
	struct rx_scatter image;
	const struct rx_hole *hole;
	size_t have, at, placed = 0, sure = 0;
	unsigned passed;

	iwarp_random_seed(&random, seeds);
	side_fill(stream, sizeof(stream), (uint64_t)_i);
	memset(staging, 0, sizeof(staging));
	memset(place, 0, sizeof(place));
	rx_scatter_begin(&image, staging);
	if (roll(&random, 2)) {
		placed = 1 + roll(&random, 60);
		rx_scatter_known(&image, place, placed);
		sure = placed;
	}
	do {
		size_t len = 1 + roll(&random, 60);

		rx_scatter_stage(&image, roll(&random, 40));
		if (!rx_scatter_hole(&image, place + placed, len))
			break;
		placed += len + roll(&random, 9);
	} while (roll(&random, 40));
	rx_scatter_stage(&image, roll(&random, 50));
	ck_assert_uint_le(image.end, STREAM_BYTES);
	have = roll(&random, (uint32_t)image.end + 1);
	come(&image, stream, have);
	/* Certain data are passed on immediately. */
	if (sure) {
		ck_assert_uint_eq(rx_scatter_contiguous(&image, have), 0);
		ck_assert(rx_scatter_is_known(&image, rx_scatter_next_hole(&image)));
		ck_assert_mem_eq(place, stream, have < sure ? have : sure);
		rx_scatter_pass_hole(&image);
		if (have <= sure)
			return;
	}
	ck_assert(!rx_scatter_next_hole(&image) ||
		  !rx_scatter_is_known(&image, rx_scatter_next_hole(&image)));
	for (passed = roll(&random, 20); passed && (hole = rx_scatter_next_hole(&image));
	     passed--) {
		if (hole->at + hole->len_bytes > have)
			break;
		at = rx_scatter_contiguous(&image, have);
		ck_assert_uint_eq(at, hole->at);
		ck_assert_mem_eq(hole->mem, stream + at, hole->len_bytes);
		rx_scatter_pass_hole(&image);
	}
	at = rx_scatter_contiguous(&image, have);
	hole = rx_scatter_next_hole(&image);
	if (hole && at < have) {
		size_t in = have - at < hole->len_bytes ? have - at : hole->len_bytes;

		at += roll(&random, (uint32_t)in + 1);
	}
	ck_assert_uint_le(rx_scatter_copy_back(&image, at, have), have - at);
	if (at < have)
		ck_assert_mem_eq(staging + at - sure, stream + at, have - at);
	ck_assert_uint_eq(rx_scatter_contiguous(&image, have), have);
}
END_TEST

START_TEST(an_image_has_so_many_holes)
{
	static uint8_t staging[4 * RX_SCATTER_HOLES], place[4 * RX_SCATTER_HOLES];
	struct iovec iov[RX_SCATTER_MAX_IOV];
	struct rx_scatter image;

	rx_scatter_begin(&image, staging);
	for (unsigned i = 0; i < RX_SCATTER_HOLES; i++) {
		rx_scatter_stage(&image, 2);
		ck_assert(rx_scatter_hole(&image, place + 2 * i, 2));
	}
	ck_assert(!rx_scatter_hole(&image, place, 2));
	rx_scatter_stage(&image, 2);
	ck_assert_uint_eq(rx_scatter_iov(&image, iov), RX_SCATTER_MAX_IOV);
	ck_assert_uint_eq(image.end, 4 * RX_SCATTER_HOLES + 2);
}
END_TEST

static struct buf *from, *to;
static struct fabric_key key;

static void setup(unsigned mss_bytes, unsigned rights)
{
	iwarp_pair_start(&(struct iwarp_pair_variant){.crc_a = true, .mss_bytes = mss_bytes});
	from = buf_get(a.pool, MEM_BYTES);
	to = buf_get(b.pool, MEM_BYTES);
	side_fill(from->mem, MEM_BYTES, 4);
	memset(to->mem, 0xa5, MEM_BYTES);
	side_key(&b, &key, to, 0, MEM_BYTES, rights);
}

static void teardown(void)
{
	ck_assert(iwarp_engine_key_unbind(b.engine, &key));
	buf_put(from);
	buf_put(to);
	iwarp_pair_stop();
}

/* An RDMA Write to the same offset at the peer. */
static void write_post(struct side_wr *wr, uint32_t at, uint32_t len_bytes)
{
	side_wr_init(wr, &a, FABRIC_WRITE);
	side_wr_add(wr, from, at, len_bytes);
	wr->wr.rkey = key.rkey;
	wr->wr.raddr = key.addr + at;
	side_post(&a, wr);
}

static void write_now(uint32_t at, uint32_t len_bytes)
{
	struct side_wr wr;

	write_post(&wr, at, len_bytes);
	side_pump(&a, &b, 0);
	ck_assert_uint_eq(wr.done, 1);
}

/* As much comes at once as the engine has room for. */
static unsigned reads_of(const uint8_t *bytes, size_t len_bytes)
{
	static uint8_t staging[IWARP_RX_STAGING_BYTES];
	unsigned reads = 0;

	for (; len_bytes; reads++) {
		struct iovec iov[IWARP_RX_MAX_IOV];
		unsigned n = iwarp_engine_rx_plan(b.engine, staging, iov);
		size_t step = 0;

		for (unsigned i = 0; i < n && len_bytes; i++) {
			size_t part = iov[i].iov_len < len_bytes ? iov[i].iov_len : len_bytes;

			memcpy(iov[i].iov_base, bytes, part);
			bytes += part;
			len_bytes -= part;
			step += part;
		}
		iwarp_engine_rx_done(b.engine, step, 0);
	}
	return reads;
}

START_TEST(one_read_takes_many_payloads_to_where_they_belong)
{
	static uint8_t wire[2 * MEM_BYTES];
	struct side_wr wr;
	size_t len;
	unsigned reads;

	setup(16384, FABRIC_REMOTE_WRITE);
	write_post(&wr, 0, MEM_BYTES);
	len = side_take(&a, wire, sizeof(wire));
	reads = reads_of(wire, len);
	ck_assert_mem_eq(to->mem, from->mem, MEM_BYTES);
	/*
	 * One to find out, some until the guesses are trusted, then a quarter of a megabyte each.
	 */
	ck_assert_uint_le(reads, 12);
	ck_assert_uint_le(b.counters.payload_bytes_copied, 16384);
	teardown();
}
END_TEST

/*
 * The @n-th of several keys of 100,000 bytes, written to with a Send behind, in one read as long as
 * it may be.
 */
static void answer(struct fabric_key *keys, unsigned n)
{
	static uint8_t wire[200000];
	struct side_wr write, send;
	unsigned reads;

	side_wr_init(&write, &a, FABRIC_WRITE);
	side_wr_add(&write, from, n * 3, 100000);
	write.wr.rkey = keys[n].rkey;
	write.wr.raddr = keys[n].addr;
	side_post(&a, &write);
	side_wr_init(&send, &a, FABRIC_SEND_INV);
	side_wr_add(&send, from, 0, 100);
	send.wr.inv_rkey = keys[n].rkey;
	side_post(&a, &send);
	reads = reads_of(wire, side_take(&a, wire, sizeof(wire)));
	ck_assert_uint_le(reads, 8);
	ck_assert_mem_eq(keys[n].mem, from->mem + n * 3, 100000);
	ck_assert(iwarp_engine_key_unbind(b.engine, &keys[n]));
}

/*
 * Writes in the order of the exposed memory are not copied once that order is known; others are
 * placed correctly, too.
 */
START_TEST(a_message_goes_where_the_oldest_is_awaited_or_not)
{
	static struct fabric_key keys[10];
	static const unsigned order[] = {0, 1, 2, 3, 5, 4, 7, 6, 9, 8};
	uint64_t copied = 0;

	setup(65483, FABRIC_REMOTE_READ);
	for (unsigned i = 0; i < 10; i++)
		side_key(&b, &keys[i], to, i * 100000, 100000, FABRIC_REMOTE_WRITE);
	for (unsigned i = 0; i < 10; i++) {
		if (i == 2)
			copied = b.counters.payload_bytes_copied;
		answer(keys, order[i]);
		if (i == 3)
			ck_assert_uint_eq(b.counters.payload_bytes_copied, copied);
		/*
		 * The first that goes elsewhere costs what was read of it; then nothing is guessed
		 * for some time.
		 */
		if (i == 4)
			copied = b.counters.payload_bytes_copied;
		if (i > 4)
			ck_assert_uint_le(b.counters.payload_bytes_copied,
					  copied + (i - 4) * 16384);
	}
	teardown();
}
END_TEST

/* Bytes written after the message in progress stay, whatever is predicted for that message. */
START_TEST(data_written_earlier_are_not_changed)
{
	setup(9000, FABRIC_REMOTE_WRITE);
	write_now(0, 100000);
	write_now(300000, 200000);
	ck_assert_mem_eq(to->mem + 300000, from->mem + 300000, 200000);
	memset(to->mem + 300000, 0x5a, 200000);
	write_now(150000, 100000);
	write_now(250000, 50000);
	ck_assert_mem_eq(to->mem + 150000, from->mem + 150000, 150000);
	for (unsigned i = 300000; i < 500000; i++)
		if (to->mem[i] != 0x5a)
			ck_abort_msg("byte %u was written to", i);
	teardown();
}
END_TEST

/* Memory that the peer may read, too, has what it had wherever the peer has not written. */
START_TEST(nothing_is_expected_in_memory_that_may_be_read)
{
	setup(9000, FABRIC_REMOTE_WRITE | FABRIC_REMOTE_READ);
	write_now(0, 100000);
	write_now(100000, 70001);
	ck_assert_mem_eq(to->mem, from->mem, 170001);
	for (unsigned i = 170001; i < MEM_BYTES; i++)
		if (to->mem[i] != 0xa5)
			ck_abort_msg("byte %u was written to", i);
	teardown();
}
END_TEST

/*
 * Writes of all lengths, each followed by a Send; FPDUs that grow and shrink; in pieces of any
 * length.
 */
START_TEST(received_data_are_correct_for_any_expectation)
{
	static const unsigned mss[] = {4200, 5000, 9000, 16384, 65483, 1448};
	uint64_t seeds[4] = {(uint64_t)_i + 1, 7, 8, 9};
	struct iwarp_random random;
	static struct side_wr writes[12], sends[12];
	static bool written[MEM_BYTES];
	uint32_t at = 0;

	memset(written, 0, sizeof(written));
	iwarp_random_seed(&random, seeds);
	setup(mss[_i % 6], FABRIC_REMOTE_WRITE);
	for (unsigned n = 0; n < 12; n++) {
		uint32_t len = 1 + roll(&random, 1u << (10 + roll(&random, 8)));

		if (at + len > MEM_BYTES)
			break;
		write_post(&writes[n], at, len);
		memset(written + at, true, len);
		side_wr_init(&sends[n], &a, FABRIC_SEND);
		side_wr_add(&sends[n], from, n, 1 + roll(&random, 300));
		side_post(&a, &sends[n]);
		if (roll(&random, 2))
			side_pump(&a, &b, roll(&random, 3) ? 0 : 1 + roll(&random, 1000));
		if (roll(&random, 4) == 0)
			iwarp_engine_mss(a.engine, mss[roll(&random, 6)]);
		at += len + (roll(&random, 3) ? 0 : roll(&random, 500));
	}
	side_pump(&a, &b, 0);
	for (unsigned i = 0; i < b.nsends; i++)
		ck_assert_mem_eq(b.sends[i].bytes, from->mem + i, b.sends[i].len_bytes);
	ck_assert_uint_eq(b.counters.write_bytes_received, a.counters.write_bytes_sent);
	for (uint32_t i = 0; i < MEM_BYTES; i++)
		if (written[i] && to->mem[i] != from->mem[i])
			ck_abort_msg("byte %u is wrong", i);
	teardown();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_expected");
	TCase *tc = tcase_create("image");

	tcase_add_loop_test(tc, a_mended_image_is_the_stream, 0, 500);
	tcase_add_test(tc, an_image_has_so_many_holes);
	suite_add_tcase(suite, tc);
	tc = tcase_create("pair");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, one_read_takes_many_payloads_to_where_they_belong);
	tcase_add_test(tc, a_message_goes_where_the_oldest_is_awaited_or_not);
	tcase_add_test(tc, data_written_earlier_are_not_changed);
	tcase_add_test(tc, nothing_is_expected_in_memory_that_may_be_read);
	tcase_add_loop_test(tc, received_data_are_correct_for_any_expectation, 0, 100);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests Reads of memory that is not complete yet: answered as far as it is ready, in order, without
 * delaying anything else.
 */
#include <string.h>

#include "tests/lib/test.h"
#include "tests/unit/iwarp_peer.h"

#define MD         0xc0
#define MDR        0xe0
#define LATE_BYTES 50001u

static struct fabric_key late;
static unsigned unbound;

static void on_unbound(struct fabric_key *key)
{
	unbound++;
}

static void lend_late(struct iwarp_side *side, struct buf *buf, uint32_t len_bytes,
		      uint32_t ready_bytes)
{
	late = (struct fabric_key){
		.buf = buf,
		.mem = buf->mem,
		.len_bytes = len_bytes,
		.ready_bytes = ready_bytes,
		.rights = FABRIC_REMOTE_READ,
		.unbound = on_unbound,
	};
	unbound = 0;
	ck_assert_int_eq(iwarp_engine_key_bind(side->engine, &late), 0);
}

/* Two engines: b has exposed memory of which nothing is ready yet, and a Reads it. */
static struct iwarp_side a, b;
static struct buf *from, *to, *truth;

static void read_init(struct side_wr *read, uint32_t at, uint32_t len_bytes)
{
	side_wr_init(read, &a, FABRIC_READ);
	side_wr_add(read, to, at, len_bytes);
	read->wr.rkey = late.rkey;
	read->wr.raddr = late.addr + at;
}

static void pair_start(const struct iwarp_config *config, unsigned mss_bytes)
{
	side_init(&a, config, 1);
	side_init(&b, config, 2);
	if (mss_bytes) {
		iwarp_engine_mss(a.engine, mss_bytes);
		iwarp_engine_mss(b.engine, mss_bytes);
	}
	side_open(&a, &b, 0);
	from = buf_get(b.pool, LATE_BYTES);
	truth = buf_get(b.pool, LATE_BYTES);
	to = buf_get(a.pool, LATE_BYTES);
	memset(from->mem, 0xee, LATE_BYTES);
	memset(to->mem, 0x11, LATE_BYTES);
	side_fill(truth->mem, LATE_BYTES, 3);
	lend_late(&b, from, LATE_BYTES, 0);
}

static void pair_setup(void)
{
	pair_start(&(struct iwarp_config){.crc = true}, 0);
}

static void pair_end(void)
{
	side_fini(&a);
	iwarp_engine_flush(b.engine);
	buf_put(from);
	buf_put(truth);
	side_fini(&b);
}

static void pair_teardown(void)
{
	iwarp_engine_flush(a.engine);
	buf_put(to);
	iwarp_engine_flush(b.engine);
	if (late.priv)
		ck_assert(iwarp_engine_key_unbind(b.engine, &late));
	pair_end();
}

static void grow(uint32_t ready_bytes)
{
	memcpy(from->mem + late.ready_bytes, truth->mem + late.ready_bytes,
	       ready_bytes - late.ready_bytes);
	late.ready_bytes = ready_bytes;
}

START_TEST(a_read_is_answered_as_its_bytes_come)
{
	static const unsigned mss[] = {128, 1448, 9001, 65483};
	static const uint32_t steps[] = {1, 3, 4, 7, 1000, 5000};
	struct iwarp_random random;
	uint64_t seeds[4] = {(uint64_t)_i, 1, 2, 3};
	struct side_wr reads[3];

	pair_start(&(struct iwarp_config){.crc = true,
					  .fpdu = _i & 1 ? IWARP_FPDU_64K : IWARP_FPDU_MSS},
		   mss[_i / 2 % 4]);
	iwarp_random_seed(&random, seeds);
	/* All of it; from the middle; the last byte. */
	read_init(&reads[0], 0, LATE_BYTES);
	read_init(&reads[1], 20002, 30);
	read_init(&reads[2], LATE_BYTES - 1, 1);
	for (unsigned i = 0; i < 3; i++)
		side_post(&a, &reads[i]);
	side_pump(&a, &b, 0);
	ck_assert(iwarp_engine_reads_wait(b.engine));
	while (late.ready_bytes < LATE_BYTES) {
		uint32_t step = steps[iwarp_random_next(&random) % ARRAY_SIZE(steps)];

		ck_assert_uint_eq(a.done, 0);
		grow(step > LATE_BYTES - late.ready_bytes ? LATE_BYTES : late.ready_bytes + step);
		side_pump(&a, &b, _i);
		/* All that can be a segment of its own is there, and nothing else. */
		ck_assert_mem_eq(to->mem, truth->mem, late.ready_bytes & ~3u);
		ck_assert_uint_le(a.counters.read_bytes_received, late.ready_bytes + 30 + 1);
	}
	ck_assert_mem_eq(to->mem, truth->mem, LATE_BYTES);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(reads[i].status, FABRIC_OK);
		ck_assert_uint_eq(reads[i].order, i + 1);
	}
	ck_assert(!iwarp_engine_reads_wait(b.engine));
	ck_assert_uint_eq(b.counters.read_responses_late, 1);
	ck_assert_uint_eq(a.notes + b.notes, 0);
	pair_teardown();
}
END_TEST

/* From b to a, which must have them at once. */
static void send_passes(struct side_wr *send)
{
	unsigned before = a.nsends;

	side_wr_init(send, &b, FABRIC_SEND);
	side_wr_add(send, truth, 0, 4000);
	side_post(&b, send);
	side_pump(&a, &b, 0);
	ck_assert_uint_eq(send->done, 1);
	ck_assert_uint_eq(a.nsends, before + 1);
	ck_assert_mem_eq(a.sends[before].bytes, truth->mem, 4000);
}

START_TEST(sends_and_our_own_reads_pass_a_response_that_waits)
{
	struct side_wr read, send, ours;
	struct fabric_key key;

	read_init(&read, 0, LATE_BYTES);
	side_post(&a, &read);
	side_pump(&a, &b, 0);
	send_passes(&send);
	grow(10000);
	send_passes(&send);
	/* Within the Response, too. */
	side_key(&a, &key, to, 0, 100, FABRIC_REMOTE_READ);
	side_wr_init(&ours, &b, FABRIC_READ);
	side_wr_add(&ours, truth, 0, 100);
	ours.wr.rkey = key.rkey;
	ours.wr.raddr = key.addr;
	side_post(&b, &ours);
	side_pump(&a, &b, 0);
	ck_assert_uint_eq(ours.done, 1);
	ck_assert_uint_eq(read.done, 0);
	grow(LATE_BYTES);
	side_pump(&a, &b, 0);
	ck_assert_int_eq(read.status, FABRIC_OK);
	ck_assert_uint_eq(read.done, 1);
	ck_assert(iwarp_engine_key_unbind(a.engine, &key));
}
END_TEST

START_TEST(a_write_passes_a_response_that_has_not_begun_and_follows_one_that_has)
{
	struct side_wr read, write[2], send[2];
	struct buf *sink = buf_get(a.pool, 9000);
	struct fabric_key key;

	side_key(&a, &key, sink, 0, 9000, FABRIC_REMOTE_WRITE);
	read_init(&read, 0, LATE_BYTES);
	side_post(&a, &read);
	side_pump(&a, &b, 0);
	grow(_i ? 10000 : 0);
	for (unsigned i = 0; i < 2; i++) {
		side_wr_init(&write[i], &b, FABRIC_WRITE);
		side_wr_add(&write[i], truth, i, 9000);
		write[i].wr.rkey = key.rkey;
		write[i].wr.raddr = key.addr;
		side_wr_init(&send[i], &b, FABRIC_SEND);
		side_wr_add(&send[i], truth, 0, 10);
		/* Work posted before the bytes arrived goes first. */
		side_post(&b, &write[i]);
		side_post(&b, &send[i]);
		side_pump(&a, &b, 0);
		ck_assert_uint_eq(write[i].done, i && _i ? 0 : 1);
		ck_assert_uint_eq(send[i].done, i && _i ? 0 : 1);
		ck_assert_mem_eq(to->mem, truth->mem, late.ready_bytes);
	}
	ck_assert_uint_eq(read.done, 0);
	grow(LATE_BYTES);
	side_pump(&a, &b, 0);
	ck_assert_int_eq(read.status, FABRIC_OK);
	ck_assert_uint_eq(send[1].done, 1);
	ck_assert_uint_eq(a.nsends, 2);
	ck_assert_mem_eq(sink->mem, truth->mem + 1, 9000);
	ck_assert(iwarp_engine_key_unbind(a.engine, &key));
	buf_put(sink);
}
END_TEST

START_TEST(a_read_that_waits_holds_up_the_reads_behind_it)
{
	struct buf *full = buf_get(b.pool, 100);
	struct fabric_key key;
	struct side_wr first, second;

	side_key(&b, &key, full, 0, 100, FABRIC_REMOTE_READ);
	key.unbound = on_unbound;
	read_init(&first, 0, 100);
	side_wr_init(&second, &a, FABRIC_READ);
	side_wr_add(&second, to, 200, 100);
	second.wr.rkey = key.rkey;
	second.wr.raddr = key.addr;
	side_post(&a, &first);
	side_post(&a, &second);
	side_pump(&a, &b, 0);
	ck_assert_uint_eq(a.done, 0);
	/* Its memory is whole: it is still answered when it is taken back. */
	ck_assert(!iwarp_engine_key_read_waits(b.engine, &key));
	ck_assert(!iwarp_engine_key_unbind(b.engine, &key));
	ck_assert_int_eq(iwarp_engine_action(b.engine), IWARP_CONTINUE);
	grow(100);
	side_pump(&a, &b, 0);
	ck_assert_uint_eq(unbound, 1);
	ck_assert_uint_eq(first.order, 1);
	ck_assert_uint_eq(second.order, 2);
	buf_put(full);
}
END_TEST

START_TEST(taking_memory_back_that_a_read_waits_for_ends_the_connection)
{
	struct side_wr read, send;
	const char *why;

	read_init(&read, 0, LATE_BYTES);
	side_post(&a, &read);
	grow(_i ? 0 : 10000);
	side_pump(&a, &b, 0);
	ck_assert(iwarp_engine_key_read_waits(b.engine, &late));
	ck_assert(!iwarp_engine_key_unbind(b.engine, &late));
	ck_assert_int_eq(iwarp_engine_action(b.engine), IWARP_DROP);
	ck_assert_int_eq(iwarp_engine_close_reason(b.engine, &why), FABRIC_CLOSE_LOCAL);
	side_wr_init(&send, &b, FABRIC_SEND);
	ck_assert_int_lt(iwarp_engine_post(b.engine, &send.wr), 0);
	ck_assert_uint_eq(unbound, 0);
	iwarp_engine_flush(b.engine);
	ck_assert_uint_eq(unbound, 1);
	iwarp_engine_rx_eof(a.engine);
	ck_assert_int_eq(iwarp_engine_close_reason(a.engine, &why),
			 _i ? FABRIC_CLOSE_PEER : FABRIC_CLOSE_LOST);
	iwarp_engine_flush(a.engine);
	ck_assert_int_eq(read.status, FABRIC_FLUSHED);
}
END_TEST

START_TEST(closing_while_a_read_waits_sends_posted_data_but_not_the_rest_of_the_read)
{
	struct side_wr read, send;

	read_init(&read, 0, LATE_BYTES);
	side_post(&a, &read);
	grow(_i ? 0 : 10000);
	side_pump(&a, &b, 0);
	side_wr_init(&send, &b, FABRIC_SEND);
	side_wr_add(&send, truth, 0, 100);
	side_post(&b, &send);
	iwarp_engine_close(b.engine, 0);
	side_pump(&a, &b, 0);
	ck_assert_int_eq(send.status, FABRIC_OK);
	ck_assert_uint_eq(send.done, 1);
	ck_assert_uint_eq(a.nsends, 1);
	ck_assert_int_eq(iwarp_engine_action(b.engine), IWARP_FIN);
	ck_assert_uint_eq(read.done, 0);
	ck_assert(!iwarp_engine_key_unbind(b.engine, &late));
	iwarp_engine_flush(b.engine);
	ck_assert_uint_eq(unbound, 1);
	iwarp_engine_flush(a.engine);
	ck_assert_int_eq(read.status, FABRIC_FLUSHED);
}
END_TEST

START_TEST(a_peer_that_invalidates_memory_it_reads_gets_data_that_are_ready)
{
	struct side_wr read, send;

	grow(LATE_BYTES / 2);
	read_init(&read, 0, _i ? LATE_BYTES : 1000);
	side_post(&a, &read);
	side_wr_init(&send, &a, FABRIC_SEND_INV);
	send.wr.inv_rkey = late.rkey;
	side_post(&a, &send);
	side_pump(&a, &b, 0);
	ck_assert(b.sends[0].invalidated);
	ck_assert_uint_eq(read.done, !_i);
	ck_assert(iwarp_engine_key_unbind(b.engine, &late) == !_i);
	ck_assert_int_eq(iwarp_engine_action(b.engine), _i ? IWARP_DROP : IWARP_CONTINUE);
	iwarp_engine_flush(a.engine);
}
END_TEST

/* One engine, and a peer made by hand. */
static void peer_late_setup(void)
{
	peer_setup();
	lend_late(&peer_side, peer_memory, LENT_BYTES, 0);
	/* So that it may speak. */
	peer_tagged(RDMAP_WRITE, true, 0, 0, 0);
	peer_fpdu_give();
}

static void peer_late_teardown(void)
{
	iwarp_engine_flush(peer_side.engine);
	if (late.priv)
		ck_assert(iwarp_engine_key_unbind(peer_side.engine, &late));
	peer_teardown();
}

START_TEST(reads_out_of_the_key_are_refused_whatever_is_ready)
{
	static const struct {
		int64_t offset;
		uint32_t size;
	} tries[] = {{0, LENT_BYTES + 1}, {LENT_BYTES, 1}, {-1, 1}, {1, LENT_BYTES}};

	late.ready_bytes = LENT_BYTES / 2;
	peer_read_request(1, late.rkey, late.addr + (uint64_t)tries[_i].offset, tries[_i].size);
	peer_fpdu_give();
	peer_expect_terminate(0x01, 0x01, MDR, 46);
}
END_TEST

START_TEST(reads_that_never_can_be_answered_are_bounded_by_the_ird)
{
	/* Two are granted; what they want never comes. */
	for (uint32_t msn = 1; msn <= 2; msn++) {
		peer_read_request(msn, late.rkey, late.addr, LENT_BYTES);
		peer_fpdu_give();
	}
	peer_expect("");
	peer_read_request(3, late.rkey, late.addr, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x02, MD, 18);
}
END_TEST

START_TEST(only_the_last_segment_is_padded)
{
	peer_read_request(1, late.rkey, late.addr + 1, 18);
	peer_fpdu_give();
	late.ready_bytes = 4; /* three bytes of it: not enough */
	peer_expect("");
	late.ready_bytes = 5;
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, 2 + 14 + 4 + 4);
	ck_assert_uint_eq(peer_out[2] & DDP_LAST, 0);
	late.ready_bytes = 16; /* eight more, and three that wait */
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, 2 + 14 + 8 + 4);
	ck_assert_uint_eq(peer_out[2] & DDP_LAST, 0);
	late.ready_bytes = 19;
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, 2 + 14 + 6 + 2 + 4);
	ck_assert_uint_ne(peer_out[2] & DDP_LAST, 0);
	late.ready_bytes = LENT_BYTES;
	peer_expect("");
}
END_TEST

/* What a has got of b by the time of each Send: how many of its Reads were done then. */
static unsigned reads_before[64];

static void note_reads(struct iwarp_side *side)
{
	reads_before[side->nsends - 1] = side->done;
}

/* A conforming peer Reads without end: the queue proceeds after one Response, and vice versa. */
START_TEST(responses_and_posted_work_take_turns)
{
	struct side_wr reads[16], sends[24], writes[2];
	struct buf *sink = buf_get(a.pool, LATE_BYTES);
	struct fabric_key key;
	unsigned last = 0;

	grow(LATE_BYTES);
	side_key(&a, &key, sink, 0, LATE_BYTES, FABRIC_REMOTE_WRITE);
	a.on_recv = note_reads;
	for (unsigned i = 0; i < ARRAY_SIZE(reads); i++) {
		read_init(&reads[i], 0, 40000);
		side_post(&a, &reads[i]);
	}
	/* Of these b has heard, and sent nothing yet. */
	peer_out_bytes = side_take(&a, peer_out, sizeof(peer_out));
	side_give(&b, peer_out, peer_out_bytes, peer_out_bytes);
	for (unsigned i = 0; i < ARRAY_SIZE(sends); i++) {
		if (i >= 4 && i < 6) {
			side_wr_init(&writes[i - 4], &b, FABRIC_WRITE);
			side_wr_add(&writes[i - 4], truth, 0, LATE_BYTES);
			writes[i - 4].wr.rkey = key.rkey;
			writes[i - 4].wr.raddr = key.addr;
			side_post(&b, &writes[i - 4]);
		}
		side_wr_init(&sends[i], &b, FABRIC_SEND);
		side_wr_add(&sends[i], truth, 0, 10);
		side_post(&b, &sends[i]);
	}
	side_pump(&a, &b, 0);
	ck_assert_uint_eq(a.nsends, ARRAY_SIZE(sends));
	for (unsigned i = 0; i < ARRAY_SIZE(sends); i++) {
		/* Two of them follow a Write, which took a turn of its own. */
		unsigned turns = i >= 4 && i < 6 ? 2 : 1;

		ck_assert_uint_le(reads_before[i], last + turns);
		if (last < ARRAY_SIZE(reads))
			ck_assert_uint_ge(reads_before[i] + 1, last + turns);
		last = reads_before[i];
	}
	ck_assert_uint_eq(a.done, ARRAY_SIZE(reads));
	ck_assert(iwarp_engine_key_unbind(a.engine, &key));
	buf_put(sink);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_late");
	TCase *tc = tcase_create("growth");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, a_read_is_answered_as_its_bytes_come, 0, 16);
	suite_add_tcase(suite, tc);
	tc = tcase_create("pair");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, pair_setup, pair_teardown);
	tcase_add_test(tc, responses_and_posted_work_take_turns);
	tcase_add_test(tc, sends_and_our_own_reads_pass_a_response_that_waits);
	tcase_add_loop_test(
		tc, a_write_passes_a_response_that_has_not_begun_and_follows_one_that_has, 0, 2);
	tcase_add_test(tc, a_read_that_waits_holds_up_the_reads_behind_it);
	tcase_add_loop_test(tc, taking_memory_back_that_a_read_waits_for_ends_the_connection, 0, 2);
	tcase_add_loop_test(
		tc, closing_while_a_read_waits_sends_posted_data_but_not_the_rest_of_the_read, 0,
		2);
	tcase_add_loop_test(tc, a_peer_that_invalidates_memory_it_reads_gets_data_that_are_ready, 0,
			    2);
	suite_add_tcase(suite, tc);
	tc = tcase_create("hostile");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, peer_late_setup, peer_late_teardown);
	tcase_add_loop_test(tc, reads_out_of_the_key_are_refused_whatever_is_ready, 0, 4);
	tcase_add_test(tc, reads_that_never_can_be_answered_are_bounded_by_the_ird);
	tcase_add_test(tc, only_the_last_segment_is_padded);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests deadlines, the reminder after a stalled first Send, and the ways to close. */
#include <errno.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/unit/iwarp_peer.h"

static void end(void)
{
	side_fini(&peer_side);
}

START_TEST(set_up_takes_no_longer_than_its_deadline)
{
	if (_i)
		peer_listening(false);
	else
		peer_connecting(false);
	peer_output_take();
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), IWARP_SETUP_TIMEOUT_US);
	peer_side.now_us = IWARP_SETUP_TIMEOUT_US - 1;
	iwarp_engine_expire(peer_side.engine, peer_side.now_us);
	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_CONTINUE);
	peer_side.now_us++;
	iwarp_engine_expire(peer_side.engine, peer_side.now_us);
	peer_expect_closed(FABRIC_CLOSE_TIMEOUT);
	ck_assert_uint_eq(peer_side.counters.setup_timeouts, 1);
}
END_TEST

START_TEST(the_owner_has_all_the_time_it_wants)
{
	peer_listening(false);
	peer_side.accept = false;
	peer_give(REQ "10020004"
		      "00100010");
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
	ck_assert_int_eq(iwarp_engine_accept(peer_side.engine, &peer_side.params, 99999999), 0);
	peer_expect(REP "10020004"
			"00100010");
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
}
END_TEST

START_TEST(fin_during_set_up)
{
	peer_connecting(false);
	peer_output_take();
	iwarp_engine_rx_eof(peer_side.engine);
	peer_expect_closed(FABRIC_CLOSE_REFUSED);
	end();
	peer_listening(false);
	iwarp_engine_rx_eof(peer_side.engine);
	peer_expect_closed(FABRIC_CLOSE_PEER);
}
END_TEST

#define NUDGE                                                                                      \
	"000ec140"                                                                                 \
	"00000000"                                                                                 \
	"0000000000000000"                                                                         \
	"00000000"

static struct buf *sent_buf;
static struct side_wr sent_wr;

static void first_send(void)
{
	peer_connecting(false);
	peer_output_take();
	peer_give(REP "10020004"
		      "00100010");
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
	peer_side.now_us = 5000000;
	sent_buf = buf_get(peer_side.pool, 4);
	side_wr_init(&sent_wr, &peer_side, FABRIC_SEND);
	side_wr_add(&sent_wr, sent_buf, 0, 4);
	side_post(&peer_side, &sent_wr);
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, 28);
}

START_TEST(a_first_send_without_an_answer_is_nudged_three_times)
{
	static const uint64_t after_us[] = {20000, 100000, 1000000};

	first_send();
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), 5000000 + after_us[i]);
		peer_side.now_us = 5000000 + after_us[i] - 1;
		iwarp_engine_expire(peer_side.engine, peer_side.now_us);
		peer_expect("");
		peer_side.now_us++;
		iwarp_engine_expire(peer_side.engine, peer_side.now_us);
		peer_expect(NUDGE);
	}
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
	ck_assert_uint_eq(peer_side.counters.nudges_sent, 3);
	buf_put(sent_buf);
}
END_TEST

START_TEST(an_answer_ends_the_nudging)
{
	first_send();
	peer_side.now_us += 20000;
	iwarp_engine_expire(peer_side.engine, peer_side.now_us);
	peer_expect(NUDGE);
	/* A single byte will do. */
	peer_give("00");
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
	peer_side.now_us += 2000000;
	iwarp_engine_expire(peer_side.engine, peer_side.now_us);
	peer_expect("");
	buf_put(sent_buf);
}
END_TEST

START_TEST(a_responder_never_nudges)
{
	peer_listening(false);
	peer_give(REQ "10020004"
		      "00100010");
	peer_output_take();
	peer_give(NUDGE);
	sent_buf = buf_get(peer_side.pool, 4);
	side_wr_init(&sent_wr, &peer_side, FABRIC_SEND);
	side_wr_add(&sent_wr, sent_buf, 0, 4);
	side_post(&peer_side, &sent_wr);
	peer_output_take();
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
	buf_put(sent_buf);
}
END_TEST

START_TEST(closing_sends_posted_data_and_then_waits_for_fin)
{
	struct buf *buf;
	struct side_wr swr, late;

	first_send();
	buf = buf_get(peer_side.pool, 4);
	side_wr_init(&swr, &peer_side, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, 4);
	side_post(&peer_side, &swr);
	iwarp_engine_close(peer_side.engine, peer_side.now_us);
	side_wr_init(&late, &peer_side, FABRIC_SEND);
	ck_assert_int_eq(iwarp_engine_post(peer_side.engine, &late.wr), -ENOTCONN);
	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_CONTINUE);
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, 28);
	ck_assert_int_eq(swr.status, FABRIC_OK);
	ck_assert_uint_eq(swr.done, 1);
	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_FIN);
	iwarp_engine_rx_eof(peer_side.engine);
	peer_expect_closed(FABRIC_CLOSE_LOCAL);
	buf_put(buf);
	buf_put(sent_buf);
}
END_TEST

START_TEST(closing_takes_no_longer_than_its_deadline)
{
	struct buf *buf;
	struct side_wr swr;

	first_send();
	buf = buf_get(peer_side.pool, 4);
	side_wr_init(&swr, &peer_side, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, 4);
	side_post(&peer_side, &swr);
	iwarp_engine_close(peer_side.engine, peer_side.now_us);
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine),
			  peer_side.now_us + IWARP_CLOSE_TIMEOUT_US);
	peer_side.now_us += IWARP_CLOSE_TIMEOUT_US;
	iwarp_engine_expire(peer_side.engine, peer_side.now_us);
	peer_expect_closed(FABRIC_CLOSE_LOCAL);
	iwarp_engine_flush(peer_side.engine);
	ck_assert_uint_eq(swr.done, 1);
	ck_assert_int_eq(swr.status, FABRIC_FLUSHED);
	buf_put(buf);
	buf_put(sent_buf);
}
END_TEST

/*
 * Posted data go out as slowly as the peer reads them, as long as it reads enough; then the end
 * follows.
 */
START_TEST(closing_continues_while_the_peer_accepts_posted_data)
{
	static uint8_t taken[1u << 20];
	const uint32_t total = 10 * IWARP_CLOSE_STEP_BYTES;
	struct side_wr swr;
	struct buf *buf;
	unsigned steps;

	first_send();
	buf = buf_get(peer_side.pool, total);
	memset(buf->mem, 0x5a, total);
	side_wr_init(&swr, &peer_side, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, total);
	side_post(&peer_side, &swr);
	iwarp_engine_close(peer_side.engine, peer_side.now_us);
	/* A byte less than that in one of the looks is the end. */
	for (steps = 0; steps < 10 && iwarp_engine_action(peer_side.engine) == IWARP_CONTINUE;
	     steps++) {
		uint32_t less = _i && steps == 5 ? 1 : 0;

		side_take(&peer_side, taken, IWARP_CLOSE_STEP_BYTES - less);
		peer_side.now_us += IWARP_CLOSE_TIMEOUT_US;
		ck_assert_uint_le(iwarp_engine_deadline(peer_side.engine), peer_side.now_us);
		iwarp_engine_expire(peer_side.engine, peer_side.now_us);
	}
	if (_i) {
		ck_assert_uint_eq(steps, 6);
	} else {
		/* The headers are left. */
		side_take(&peer_side, taken, sizeof(taken));
		ck_assert_int_eq(swr.status, FABRIC_OK);
		ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_FIN);
		iwarp_engine_rx_eof(peer_side.engine);
	}
	peer_expect_closed(FABRIC_CLOSE_LOCAL);
	iwarp_engine_flush(peer_side.engine);
	ck_assert_uint_eq(swr.done, 1);
	buf_put(buf);
	buf_put(sent_buf);
}
END_TEST

/* What the socket was given counts once the peer has taken it. */
START_TEST(closing_depends_on_acknowledged_bytes)
{
	static uint8_t taken[1u << 20];
	const uint32_t total = 4 * IWARP_CLOSE_STEP_BYTES;
	struct side_wr swr;
	struct buf *buf;

	first_send();
	buf = buf_get(peer_side.pool, total);
	memset(buf->mem, 0x5a, total);
	side_wr_init(&swr, &peer_side, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, total);
	side_post(&peer_side, &swr);
	side_take(&peer_side, taken, sizeof(taken));
	iwarp_engine_unacked(peer_side.engine, total);
	iwarp_engine_close(peer_side.engine, peer_side.now_us);
	for (unsigned step = 1; step <= 3; step++) {
		peer_side.now_us += IWARP_CLOSE_TIMEOUT_US;
		iwarp_engine_unacked(peer_side.engine, total - step * IWARP_CLOSE_STEP_BYTES);
		iwarp_engine_expire(peer_side.engine, peer_side.now_us);
		ck_assert_int_ne(iwarp_engine_action(peer_side.engine), IWARP_DROP);
	}
	peer_side.now_us += IWARP_CLOSE_TIMEOUT_US;
	iwarp_engine_expire(peer_side.engine, peer_side.now_us);
	peer_expect_closed(FABRIC_CLOSE_LOCAL);
	buf_put(buf);
	buf_put(sent_buf);
}
END_TEST

/*
 * It cannot be drawn out: a peer that reads on and on while we close has no more time than what
 * there was to send.
 */
START_TEST(a_peer_that_reads_on_does_not_put_the_end_off)
{
	static uint8_t taken[1u << 20];
	struct fabric_key key = {
		.len_bytes = 65536,
		.ready_bytes = 65536,
		.rights = FABRIC_REMOTE_READ,
	};
	unsigned steps;

	first_send();
	key.buf = buf_get(peer_side.pool, key.len_bytes);
	key.mem = key.buf->mem;
	memset(key.mem, 0x5a, key.len_bytes);
	ck_assert_int_eq(iwarp_engine_key_bind(peer_side.engine, &key), 0);
	peer_read_request(1, key.rkey, key.addr, key.len_bytes);
	peer_fpdu_give();
	iwarp_engine_close(peer_side.engine, peer_side.now_us);
	for (steps = 0; steps < 100 && iwarp_engine_action(peer_side.engine) == IWARP_CONTINUE;
	     steps++) {
		peer_read_request(steps + 2, key.rkey, key.addr, IWARP_CLOSE_STEP_BYTES);
		peer_fpdu_give();
		side_take(&peer_side, taken, IWARP_CLOSE_STEP_BYTES);
		peer_side.now_us += IWARP_CLOSE_TIMEOUT_US;
		iwarp_engine_expire(peer_side.engine, peer_side.now_us);
	}
	ck_assert_uint_eq(steps, 5);
	peer_expect_closed(FABRIC_CLOSE_LOCAL);
	iwarp_engine_flush(peer_side.engine);
	ck_assert(iwarp_engine_key_unbind(peer_side.engine, &key));
	buf_put(key.buf);
	buf_put(sent_buf);
}
END_TEST

START_TEST(closing_has_an_end_however_much_is_posted)
{
	static uint8_t taken[1u << 20];
	const uint32_t total = 1000000;
	uint64_t start_us;
	struct side_wr swr;
	struct buf *buf;

	first_send();
	buf = buf_get(peer_side.pool, total);
	memset(buf->mem, 0x5a, total);
	side_wr_init(&swr, &peer_side, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, total);
	side_post(&peer_side, &swr);
	start_us = peer_side.now_us;
	iwarp_engine_close(peer_side.engine, start_us);
	while (iwarp_engine_action(peer_side.engine) == IWARP_CONTINUE) {
		side_take(&peer_side, taken, IWARP_CLOSE_STEP_BYTES);
		peer_side.now_us = iwarp_engine_deadline(peer_side.engine);
		iwarp_engine_expire(peer_side.engine, peer_side.now_us);
	}
	ck_assert_uint_eq(peer_side.now_us, start_us + IWARP_CLOSE_MAX_US);
	peer_expect_closed(FABRIC_CLOSE_LOCAL);
	iwarp_engine_flush(peer_side.engine);
	ck_assert_int_eq(swr.status, FABRIC_FLUSHED);
	buf_put(buf);
	buf_put(sent_buf);
}
END_TEST

START_TEST(fin_from_the_peer)
{
	first_send();
	if (_i)
		peer_give("00");
	iwarp_engine_rx_eof(peer_side.engine);
	peer_expect_closed(_i ? FABRIC_CLOSE_LOST : FABRIC_CLOSE_PEER);
	buf_put(sent_buf);
}
END_TEST

START_TEST(nothing_can_be_posted_or_bound_before_the_connection_is_up)
{
	struct fabric_key key = {0};
	struct side_wr swr;

	peer_connecting(false);
	side_wr_init(&swr, &peer_side, FABRIC_SEND);
	ck_assert_int_eq(iwarp_engine_post(peer_side.engine, &swr.wr), -ENOTCONN);
	ck_assert_int_eq(iwarp_engine_key_bind(peer_side.engine, &key), -ENOTCONN);
}
END_TEST

START_TEST(a_read_that_the_peer_can_never_take_fails)
{
	struct side_wr swr;
	struct buf *buf;

	peer_connecting(false);
	peer_output_take();
	peer_give(REP "10020004"
		      "00000000");
	peer_expect_depths(16, 0);
	buf = buf_get(peer_side.pool, 4);
	side_wr_init(&swr, &peer_side, FABRIC_READ);
	side_wr_add(&swr, buf, 0, 4);
	side_post(&peer_side, &swr);
	ck_assert_uint_eq(swr.done, 0);
	peer_expect("");
	ck_assert_uint_eq(swr.done, 1);
	ck_assert_int_eq(swr.status, FABRIC_ERR_LOCAL);
	buf_put(buf);
}
END_TEST

START_TEST(a_connection_never_goes_back)
{
	for (unsigned from = 0; from < iwarp_engine_states.count; from++) {
		for (unsigned to = 0; to <= from; to++)
			ck_assert(!state_can_follow(&iwarp_engine_states, from, to));
		/* Whatever it waits for, TCP may fail first. */
		ck_assert(from == ENGINE_DROPPED ||
			  state_can_follow(&iwarp_engine_states, from, ENGINE_DROPPED));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_time");
	TCase *tc = tcase_create("time");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, end);
	tcase_add_loop_test(tc, set_up_takes_no_longer_than_its_deadline, 0, 2);
	tcase_add_test(tc, the_owner_has_all_the_time_it_wants);
	tcase_add_test(tc, fin_during_set_up);
	tcase_add_test(tc, a_first_send_without_an_answer_is_nudged_three_times);
	tcase_add_test(tc, an_answer_ends_the_nudging);
	tcase_add_test(tc, a_responder_never_nudges);
	tcase_add_test(tc, closing_sends_posted_data_and_then_waits_for_fin);
	tcase_add_test(tc, closing_takes_no_longer_than_its_deadline);
	tcase_add_loop_test(tc, closing_continues_while_the_peer_accepts_posted_data, 0, 2);
	tcase_add_test(tc, closing_depends_on_acknowledged_bytes);
	tcase_add_test(tc, closing_has_an_end_however_much_is_posted);
	tcase_add_test(tc, a_peer_that_reads_on_does_not_put_the_end_off);
	tcase_add_loop_test(tc, fin_from_the_peer, 0, 2);
	tcase_add_test(tc, nothing_can_be_posted_or_bound_before_the_connection_is_up);
	tcase_add_test(tc, a_read_that_the_peer_can_never_take_fails);
	suite_add_tcase(suite, tc);
	tc = tcase_create("states");
	tcase_add_test(tc, a_connection_never_goes_back);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the keepalive probe: an RDMA Read of zero bytes, its timeout, and the reactions of peers.
 */
#include <errno.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/unit/iwarp_peer.h"

#define MD            0xc0
#define REQUEST_BYTES (MPA_LENGTH_BYTES + DDP_MAX_BYTES + MPA_CRC_BYTES)

/* A first FPDU of the peer's, an RDMA Write of nothing, so that a responder may speak. */
static void speak(void)
{
	peer_tagged(RDMAP_WRITE, true, 0, 0, 0);
	peer_fpdu_give();
}

static void setup(void)
{
	peer_setup();
	speak();
	peer_output_take();
}

/* The Read Request that was sent at @offset of the output. */
static struct rdmap_read request_at(size_t offset)
{
	struct ddp_header header;
	struct rdmap_read read;

	ck_assert_uint_ge(peer_out_bytes, offset + REQUEST_BYTES);
	ddp_header_decode(peer_out + offset + MPA_LENGTH_BYTES, &header);
	ck_assert_uint_eq(header.opcode, RDMAP_READ_REQUEST);
	rdmap_read_decode(peer_out + offset + MPA_LENGTH_BYTES + DDP_UNTAGGED_BYTES, &read);
	return read;
}

static struct rdmap_read probe(void)
{
	struct rdmap_read read;

	ck_assert_int_eq(iwarp_engine_keepalive(peer_side.engine), 0);
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, REQUEST_BYTES);
	read = request_at(0);
	ck_assert_uint_eq(read.size_bytes, 0);
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine),
			  peer_side.now_us + IWARP_KEEPALIVE_TIMEOUT_US);
	return read;
}

static void answer(const struct rdmap_read *read)
{
	peer_tagged(RDMAP_READ_RESPONSE, true, read->sink_stag, read->sink_to, 0);
	peer_fpdu_give();
}

static void wait_for(uint64_t us)
{
	peer_side.now_us += us;
	iwarp_engine_expire(peer_side.engine, peer_side.now_us);
}

START_TEST(an_answered_probe_is_not_reported)
{
	for (unsigned i = 0; i < 3; i++) {
		struct rdmap_read read = probe();

		wait_for(IWARP_KEEPALIVE_TIMEOUT_US - 1);
		answer(&read);
		ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
		wait_for(2 * IWARP_KEEPALIVE_TIMEOUT_US);
		ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_CONTINUE);
	}
	ck_assert_uint_eq(peer_side.counters.probes_sent, 3);
	ck_assert_uint_eq(peer_side.notes, 0);
}
END_TEST

START_TEST(a_probe_without_an_answer_is_a_lost_peer)
{
	struct rdmap_read read = probe();

	wait_for(IWARP_KEEPALIVE_TIMEOUT_US - 1);
	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_CONTINUE);
	wait_for(1);
	peer_expect_closed(FABRIC_CLOSE_SILENT);
	/* Too late. */
	answer(&read);
	peer_expect_closed(FABRIC_CLOSE_SILENT);
	ck_assert_int_eq(iwarp_engine_keepalive(peer_side.engine), -ENOTCONN);
}
END_TEST

START_TEST(a_peer_that_sends_anything_is_there)
{
	struct rdmap_read read = probe();

	for (unsigned i = 0; i < 3; i++) {
		wait_for(IWARP_KEEPALIVE_TIMEOUT_US - 1);
		speak();
		ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_CONTINUE);
	}
	answer(&read);
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
	/* A single byte will do. */
	probe();
	wait_for(IWARP_KEEPALIVE_TIMEOUT_US - 1);
	peer_give("00");
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine),
			  peer_side.now_us + IWARP_KEEPALIVE_TIMEOUT_US);
	wait_for(IWARP_KEEPALIVE_TIMEOUT_US);
	peer_expect_closed(FABRIC_CLOSE_SILENT);
}
END_TEST

START_TEST(a_second_answer_breaks_the_protocol)
{
	struct rdmap_read read = probe();

	answer(&read);
	answer(&read);
	peer_expect_terminate(0x11, 0x00, MD, 14);
}
END_TEST

START_TEST(an_answer_with_bytes_breaks_the_protocol)
{
	struct rdmap_read read = probe();

	peer_tagged(RDMAP_READ_RESPONSE, true, read.sink_stag, read.sink_to, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x11, 0x01, MD, 14);
}
END_TEST

START_TEST(one_probe_is_out_at_a_time)
{
	struct rdmap_read read = probe();

	ck_assert_int_eq(iwarp_engine_keepalive(peer_side.engine), 0);
	peer_expect("");
	answer(&read);
	ck_assert_int_eq(iwarp_engine_keepalive(peer_side.engine), 0);
	ck_assert_uint_eq(peer_side.counters.probes_sent, 2);
}
END_TEST

START_TEST(a_probe_leaves_reads_their_order_and_their_slots)
{
	struct buf *buf = buf_get(peer_side.pool, 4000);
	struct side_wr reads[8];
	struct rdmap_read asked;

	ck_assert_int_eq(iwarp_engine_keepalive(peer_side.engine), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(reads); i++) {
		side_wr_init(&reads[i], &peer_side, FABRIC_READ);
		side_wr_add(&reads[i], buf, i * 8, 8);
		side_post(&peer_side, &reads[i]);
	}
	/* The peer accepts four concurrent Reads: the probe is one of them. */
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, 4 * REQUEST_BYTES);
	ck_assert_uint_eq(request_at(0).size_bytes, 0);
	for (unsigned i = 0; i <= ARRAY_SIZE(reads); i++) {
		asked = request_at(0);
		memmove(peer_out, peer_out + REQUEST_BYTES, sizeof(peer_out) - REQUEST_BYTES);
		peer_tagged(RDMAP_READ_RESPONSE, true, asked.sink_stag, asked.sink_to, i ? 8 : 0);
		peer_fpdu_give();
		peer_out_bytes -= REQUEST_BYTES;
		peer_out_bytes += side_take(&peer_side, peer_out + peer_out_bytes, REQUEST_BYTES);
		ck_assert_uint_eq(peer_side.done, i);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(reads); i++)
		ck_assert_uint_eq(reads[i].order, i + 1);
	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_CONTINUE);
	buf_put(buf);
}
END_TEST

START_TEST(while_a_read_is_out_no_probe_is_sent)
{
	struct buf *buf = buf_get(peer_side.pool, 8);
	struct side_wr read;

	side_wr_init(&read, &peer_side, FABRIC_READ);
	side_wr_add(&read, buf, 0, 8);
	side_post(&peer_side, &read);
	ck_assert_int_eq(iwarp_engine_keepalive(peer_side.engine), 0);
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, REQUEST_BYTES);
	ck_assert_uint_eq(request_at(0).size_bytes, 8);
	/* The peer may take its time. */
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
	iwarp_engine_flush(peer_side.engine);
	buf_put(buf);
}
END_TEST

START_TEST(the_time_of_a_probe_runs_from_when_it_is_sent)
{
	struct buf *buf = buf_get(peer_side.pool, 1000);
	struct side_wr send;
	const struct iovec *iov;

	side_wr_init(&send, &peer_side, FABRIC_SEND);
	side_wr_add(&send, buf, 0, 1000);
	side_post(&peer_side, &send);
	/* Behind a Send that the socket does not take whole. */
	ck_assert_uint_gt(iwarp_engine_tx_plan(peer_side.engine, &iov), 0);
	iwarp_engine_tx_done(peer_side.engine, 100, peer_side.now_us);
	ck_assert_int_eq(iwarp_engine_keepalive(peer_side.engine), 0);
	ck_assert_uint_gt(iwarp_engine_tx_plan(peer_side.engine, &iov), 0);
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
	peer_side.now_us += 5;
	peer_output_take();
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), 5 + IWARP_KEEPALIVE_TIMEOUT_US);
	/* And ends with the connection. */
	iwarp_engine_close(peer_side.engine, peer_side.now_us);
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), 5 + IWARP_CLOSE_TIMEOUT_US);
	buf_put(buf);
}
END_TEST

START_TEST(before_the_initiator_has_spoken_a_probe_waits)
{
	peer_setup();
	ck_assert_int_eq(iwarp_engine_keepalive(peer_side.engine), 0);
	peer_expect("");
	ck_assert_uint_eq(iwarp_engine_deadline(peer_side.engine), UINT64_MAX);
	speak();
	peer_output_take();
	ck_assert_uint_eq(request_at(0).size_bytes, 0);
	peer_teardown();
}
END_TEST

static void expect_unsupported(void)
{
	ck_assert_int_eq(iwarp_engine_keepalive(peer_side.engine), -EOPNOTSUPP);
	peer_expect("");
	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_CONTINUE);
}

START_TEST(an_initiator_sends_no_probe)
{
	peer_setup_initiator();
	expect_unsupported();
	peer_teardown();
}
END_TEST

/* IRD 0; "not negotiated"; revision 1, which knows no depths. */
START_TEST(a_peer_that_did_not_agree_to_be_read_from_gets_no_probe)
{
	static const char *const requests[] = {
		REQ "10020004"
		    "00000010",
		REQ "10020004"
		    "3fff3fff",
		REQ "00010000",
	};

	peer_listening(false);
	ck_assert_int_eq(iwarp_engine_keepalive(peer_side.engine), -ENOTCONN);
	peer_give(requests[_i]);
	peer_output_take();
	ck_assert_uint_eq(peer_side.established, 1);
	speak();
	expect_unsupported();
	side_fini(&peer_side);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_probe");
	TCase *tc = tcase_create("responder");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, peer_teardown);
	tcase_add_test(tc, an_answered_probe_is_not_reported);
	tcase_add_test(tc, a_probe_without_an_answer_is_a_lost_peer);
	tcase_add_test(tc, a_peer_that_sends_anything_is_there);
	tcase_add_test(tc, a_second_answer_breaks_the_protocol);
	tcase_add_test(tc, an_answer_with_bytes_breaks_the_protocol);
	tcase_add_test(tc, one_probe_is_out_at_a_time);
	tcase_add_test(tc, a_probe_leaves_reads_their_order_and_their_slots);
	tcase_add_test(tc, while_a_read_is_out_no_probe_is_sent);
	tcase_add_test(tc, the_time_of_a_probe_runs_from_when_it_is_sent);
	suite_add_tcase(suite, tc);
	tc = tcase_create("others");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, before_the_initiator_has_spoken_a_probe_waits);
	tcase_add_test(tc, an_initiator_sends_no_probe);
	tcase_add_loop_test(tc, a_peer_that_did_not_agree_to_be_read_from_gets_no_probe, 0, 3);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

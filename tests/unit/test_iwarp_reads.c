// SPDX-License-Identifier: BSD-3-Clause
/* Tests RDMA Reads that break a rule, in either direction, and the Terminate that answers them. */
#include <string.h>

#include "base/be_bytes.h"
#include "tests/lib/test.h"
#include "tests/unit/iwarp_peer.h"

#define MD  0xc0
#define MDR 0xe0

START_TEST(read_request_out_of_sequence)
{
	peer_read_request(_i ? 0 : 2, peer_readable.rkey, peer_readable.addr, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x03, MD, 18);
}
END_TEST

START_TEST(read_request_on_another_queue)
{
	peer_read_request(1, peer_readable.rkey, peer_readable.addr, 4);
	peer_ulpdu[9] = 0;
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x01, MD, 18);
}
END_TEST

START_TEST(read_request_with_an_offset)
{
	peer_read_request(1, peer_readable.rkey, peer_readable.addr, 4);
	peer_ulpdu[17] = 28;
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x04, MD, 18);
}
END_TEST

START_TEST(read_request_with_payload)
{
	peer_read_request(1, peer_readable.rkey, peer_readable.addr, 4);
	peer_ulpdu[peer_ulpdu_bytes++] = 0;
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x05, MD, 18);
}
END_TEST

START_TEST(read_request_in_pieces)
{
	peer_read_request(1, peer_readable.rkey, peer_readable.addr, 4);
	peer_ulpdu[0] &= (uint8_t)~DDP_LAST;
	peer_fpdu_give();
	peer_expect_terminate(0x02, 0xff, MD, 18);
}
END_TEST

START_TEST(read_requests_beyond_the_ird)
{
	uint8_t bytes[512];
	size_t len = 0;

	/* The request's ORD was 2, so that is what the reply granted. */
	for (uint32_t msn = 1; msn <= 3; msn++) {
		peer_read_request(msn, peer_readable.rkey, peer_readable.addr, _i ? 0 : 4);
		len += side_fpdu(bytes + len, peer_ulpdu, peer_ulpdu_bytes, false);
	}
	side_give(&peer_side, bytes, len, SIZE_MAX);
	peer_expect_terminate(0x12, 0x02, MD, 18);
}
END_TEST

START_TEST(reads_one_after_another_within_the_ird)
{
	for (uint32_t msn = 1; msn <= 20; msn++) {
		peer_read_request(msn, peer_readable.rkey, peer_readable.addr, 4);
		peer_fpdu_give();
		peer_output_take();
		ck_assert_uint_eq(peer_out_bytes, 2 + 14 + 4 + 4);
	}
	ck_assert_uint_eq(peer_side.counters.read_responses_sent, 20);
}
END_TEST

START_TEST(read_request_for_memory_that_is_not_exposed)
{
	static const struct {
		uint8_t code;
		uint32_t stag_xor, size;
		int64_t offset;
	} tries[] = {
		{0x00, 0x100, 4, 0},          {0x00, 0x001, 4, 0},      {0x01, 0, 4, -1},
		{0x01, 0, LENT_BYTES + 1, 0}, {0x01, 0, 1, LENT_BYTES}, {0x01, 0, 0xffffffff, 0},
	};

	peer_read_request(1, peer_readable.rkey ^ tries[_i].stag_xor,
			  peer_readable.addr + (uint64_t)tries[_i].offset, tries[_i].size);
	peer_fpdu_give();
	peer_expect_terminate(0x01, tries[_i].code, MDR, 46);
}
END_TEST

START_TEST(read_request_without_the_right)
{
	peer_read_request(1, peer_writable.rkey, peer_writable.addr, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x01, 0x02, MDR, 46);
}
END_TEST

START_TEST(read_request_whose_offset_wraps)
{
	peer_read_request(1, peer_readable.rkey, UINT64_MAX - 2, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x01, 0x04, MDR, 46);
}
END_TEST

START_TEST(read_response_without_a_request)
{
	peer_tagged(RDMAP_READ_RESPONSE, true, peer_writable.rkey, peer_writable.addr, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x11, 0x00, MD, 14);
}
END_TEST

/* A Read of 100 bytes, and the Response that it gets. */
static void respond(uint32_t stag_xor, int64_t offset, size_t first, size_t second)
{
	struct buf *buf = buf_get(peer_side.pool, 100);
	struct rdmap_read read;
	struct side_wr swr;

	side_wr_init(&swr, &peer_side, FABRIC_READ);
	side_wr_add(&swr, buf, 0, 100);
	swr.wr.rkey = 1;
	side_post(&peer_side, &swr);
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, 2 + 46 + 4);
	rdmap_read_decode(peer_out + 20, &read);
	if (first) {
		peer_tagged(RDMAP_READ_RESPONSE, false, read.sink_stag, read.sink_to, first);
		peer_fpdu_give();
	}
	peer_tagged(RDMAP_READ_RESPONSE, true, read.sink_stag ^ stag_xor,
		    read.sink_to + first + (uint64_t)offset, second);
	peer_fpdu_give();
	peer_expect_terminate(0x11, stag_xor ? 0x00 : 0x01, MD, 14);
	ck_assert_uint_eq(swr.done, 0);
	iwarp_engine_flush(peer_side.engine);
	ck_assert_uint_eq(swr.done, 1);
	ck_assert_int_eq(swr.status, FABRIC_FLUSHED);
	buf_put(buf);
}

START_TEST(read_response_with_another_stag)
{
	respond(0x100, 0, 0, 100);
}
END_TEST

START_TEST(read_response_at_another_offset)
{
	respond(0, _i ? 4 : -4, 0, 100);
}
END_TEST

START_TEST(read_response_that_does_not_go_on_where_it_was)
{
	respond(0, 4, 40, 60);
}
END_TEST

START_TEST(read_response_too_long_or_too_short)
{
	static const size_t sizes[][2] = {{0, 99}, {0, 101}, {40, 59}, {40, 61}, {0, 0}};

	respond(0, 0, sizes[_i][0], sizes[_i][1]);
}
END_TEST

START_TEST(an_ord_above_our_ird_in_the_reply)
{
	struct mpa_frame reply = {
		.reply = true, .revision = 2, .enhanced = true, .ird = 4, .ord = 17};
	struct iwarp_config config = {.fpdu = IWARP_FPDU_MSS};

	peer_teardown();
	side_init(&peer_side, &config, 42);
	ck_assert_int_eq(iwarp_engine_connect(peer_side.engine, &peer_side.params, 0), 0);
	peer_output_take();
	peer_frame_give(&reply);
	peer_expect_terminate(0x20, 0x06, 0, 0);
	ck_assert_uint_eq(peer_side.established, 0);
	side_fini(&peer_side);
	peer_setup_initiator(); /* for the peer_teardown */
}
END_TEST

START_TEST(a_read_that_the_peers_terminate_names_was_refused)
{
	struct buf *buf = buf_get(peer_side.pool, 100);
	struct side_wr swr[2];
	uint8_t request[46];

	for (unsigned i = 0; i < 2; i++) {
		side_wr_init(&swr[i], &peer_side, FABRIC_READ);
		side_wr_add(&swr[i], buf, 0, 100);
		side_post(&peer_side, &swr[i]);
	}
	peer_output_take();
	memcpy(request, peer_out + 52 + 2, sizeof(request));
	peer_untagged(RDMAP_TERMINATE, true, 2, 1, 0, 4 + 2 + 46);
	memcpy(peer_ulpdu + 18, "\x01\x00\xe0\x00\x00\x2e", 6);
	memcpy(peer_ulpdu + 24, request, sizeof(request));
	peer_fpdu_give();
	iwarp_engine_flush(peer_side.engine);
	ck_assert_int_eq(swr[0].status, FABRIC_FLUSHED);
	ck_assert_int_eq(swr[1].status, FABRIC_ERR_REMOTE);
	buf_put(buf);
}
END_TEST

/* Has the engine take @bytes as a socket that has them all would give them: never is nothing asked for, or too much. */
static void take_planned(const uint8_t *bytes, size_t len_bytes)
{
	static uint8_t staging[IWARP_RX_STAGING_BYTES];

	while (len_bytes > 0) {
		struct iovec iov[IWARP_RX_MAX_IOV];
		unsigned niov = iwarp_engine_rx_plan(peer_side.engine, staging, iov);
		size_t room = 0, came = 0;

		for (unsigned i = 0; i < niov; i++)
			room += iov[i].iov_len;
		ck_assert_uint_gt(room, 0);
		ck_assert_uint_le(room, 2 * IWARP_RX_STAGING_BYTES);
		for (unsigned i = 0; i < niov && came < len_bytes; i++) {
			size_t step = iov[i].iov_len < len_bytes - came ? iov[i].iov_len
									: len_bytes - came;

			memcpy(iov[i].iov_base, bytes + came, step);
			came += step;
		}
		iwarp_engine_rx_done(peer_side.engine, came, 0);
		bytes += came;
		len_bytes -= came;
	}
}

/* Between two long messages as much is expected as last time: here less, and a longer header is cut just there. */
START_TEST(a_header_that_is_cut_where_another_was_expected)
{
	static uint8_t wire[1u << 18];
	struct buf *memory = buf_get(peer_side.pool, 4 * 65536);
	struct fabric_key keys[4];
	uint32_t msn = 1;
	size_t len = 0, at;

	iwarp_engine_recv_post(peer_side.engine, 16, 4096);
	for (unsigned i = 0; i < 4; i++)
		side_key(&peer_side, &keys[i], memory, i * 65536, 65536, FABRIC_REMOTE_WRITE);
	for (unsigned i = 0; i < 5; i++) {
		peer_tagged(RDMAP_WRITE, i & 1, keys[i / 2].rkey, keys[i / 2].addr + i % 2 * 32768,
			    32768);
		len += side_fpdu(wire + len, peer_ulpdu, peer_ulpdu_bytes, false);
		if (i & 1) {
			peer_untagged(RDMAP_SEND, true, 0, msn++, 0, 100);
			len += side_fpdu(wire + len, peer_ulpdu, peer_ulpdu_bytes, false);
			take_planned(wire, len);
			len = 0;
		}
	}
	peer_tagged(RDMAP_WRITE, true, keys[2].rkey, keys[2].addr + 32768, 32768);
	len += side_fpdu(wire + len, peer_ulpdu, peer_ulpdu_bytes, false);
	peer_untagged(RDMAP_SEND, true, 0, msn++, 0, 60 + (size_t)_i / 40 * 4);
	len += side_fpdu(wire + len, peer_ulpdu, peer_ulpdu_bytes, false);
	at = len + (size_t)_i % 40 + 1;
	peer_read_request(1, peer_readable.rkey, peer_readable.addr, LENT_BYTES);
	len += side_fpdu(wire + len, peer_ulpdu, peer_ulpdu_bytes, false);
	take_planned(wire, at);
	take_planned(wire + at, len - at);
	ck_assert(iwarp_engine_reads_wait(peer_side.engine));
	for (unsigned i = 0; i < 4; i++)
		ck_assert(iwarp_engine_key_unbind(peer_side.engine, &keys[i]));
	buf_put(memory);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_reads");
	TCase *tc;

	tc = tcase_create("responder");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, peer_setup, peer_teardown);
	tcase_add_loop_test(tc, read_request_out_of_sequence, 0, 2);
	tcase_add_test(tc, read_request_on_another_queue);
	tcase_add_test(tc, read_request_with_an_offset);
	tcase_add_test(tc, read_request_with_payload);
	tcase_add_test(tc, read_request_in_pieces);
	tcase_add_loop_test(tc, read_requests_beyond_the_ird, 0, 2);
	tcase_add_test(tc, reads_one_after_another_within_the_ird);
	tcase_add_loop_test(tc, read_request_for_memory_that_is_not_exposed, 0, 6);
	tcase_add_test(tc, read_request_without_the_right);
	tcase_add_test(tc, read_request_whose_offset_wraps);
	tcase_add_test(tc, read_response_without_a_request);
	tcase_add_loop_test(tc, a_header_that_is_cut_where_another_was_expected, 0, 400);
	suite_add_tcase(suite, tc);
	tc = tcase_create("initiator");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, peer_setup_initiator, peer_teardown);
	tcase_add_test(tc, read_response_with_another_stag);
	tcase_add_loop_test(tc, read_response_at_another_offset, 0, 2);
	tcase_add_test(tc, read_response_that_does_not_go_on_where_it_was);
	tcase_add_loop_test(tc, read_response_too_long_or_too_short, 0, 5);
	tcase_add_test(tc, an_ord_above_our_ird_in_the_reply);
	tcase_add_test(tc, a_read_that_the_peers_terminate_names_was_refused);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

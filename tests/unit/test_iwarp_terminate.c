// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests that each error of a peer is answered with the Terminate of RFC 5040, 5041 and 5044, byte
 * for byte.
 */
#include <string.h>

#include "base/be_bytes.h"
#include "fabric/posted_recvs.h"
#include "tests/lib/test.h"
#include "tests/unit/iwarp_peer.h"

#define MD 0xc0

START_TEST(ddp_version_of_a_tagged_segment)
{
	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey, peer_writable.addr, 4);
	peer_ulpdu[0] = 0xc2;
	peer_fpdu_give();
	peer_expect_terminate(0x11, 0x04, 0, 0);
}
END_TEST

START_TEST(ddp_version_of_an_untagged_segment)
{
	peer_untagged(RDMAP_SEND, true, 0, 1, 0, 4);
	peer_ulpdu[0] = 0x40;
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x06, 0, 0);
}
END_TEST

START_TEST(rdmap_version)
{
	peer_untagged(RDMAP_SEND, true, 0, 1, 0, 4);
	peer_ulpdu[1] = 0x83;
	peer_fpdu_give();
	peer_expect_terminate(0x02, 0x05, 0, 0);
}
END_TEST

START_TEST(reserved_opcodes)
{
	peer_untagged((unsigned)_i, true, 0, 1, 0, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x02, 0x06, MD, 18);
}
END_TEST

START_TEST(tagged_opcode_in_an_untagged_segment)
{
	peer_untagged(_i ? RDMAP_WRITE : RDMAP_READ_RESPONSE, true, 0, 1, 0, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x02, 0x06, MD, 18);
}
END_TEST

START_TEST(untagged_opcode_in_a_tagged_segment)
{
	static const enum rdmap_opcode opcodes[] = {RDMAP_SEND, RDMAP_READ_REQUEST,
						    RDMAP_SEND_SE_INV, RDMAP_TERMINATE};

	peer_tagged(opcodes[_i], true, peer_writable.rkey, peer_writable.addr, 40);
	peer_fpdu_give();
	peer_expect_terminate(0x02, 0x06, MD, 14);
}
END_TEST

START_TEST(wrong_crc)
{
	uint8_t bytes[64];
	size_t len;

	peer_untagged(RDMAP_SEND, true, 0, 1, 0, 5);
	len = side_fpdu(bytes, peer_ulpdu, peer_ulpdu_bytes, true);
	bytes[len - 1] ^= 1;
	side_give(&peer_side, bytes, len, SIZE_MAX);
	peer_expect_terminate(0x20, 0x02, 0, 0);
	ck_assert_uint_eq(peer_side.counters.crc_bad, 1);
	ck_assert_uint_eq(peer_side.counters.term_crc, 1);
	ck_assert_uint_eq(peer_side.nsends, 0);
}
END_TEST

START_TEST(any_flipped_bit_is_a_crc_error_whatever_else_it_spoils)
{
	uint8_t bytes[64];
	size_t len;

	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey, peer_writable.addr, 5);
	len = side_fpdu(bytes, peer_ulpdu, peer_ulpdu_bytes, true);
	/* Not in the length: then more bytes would be awaited. */
	bytes[2 + _i / 8] ^= (uint8_t)(1 << _i % 8);
	side_give(&peer_side, bytes, len, SIZE_MAX);
	peer_expect_terminate(0x20, 0x02, 0, 0);
}
END_TEST

START_TEST(fpdu_too_short_for_its_headers)
{
	static const unsigned shorts[] = {0, 1, 2, 13, 17, 45};

	memset(peer_ulpdu, 0, sizeof(peer_ulpdu));
	switch (_i) {
	case 3:
		peer_tagged(RDMAP_WRITE, true, 1, 1, 0);
		break;
	case 4:
		peer_untagged(RDMAP_SEND, true, 0, 1, 0, 0);
		break;
	case 5:
		peer_read_request(1, peer_readable.rkey, peer_readable.addr, 4);
		break;
	}
	peer_ulpdu_bytes = shorts[_i];
	peer_fpdu_give();
	peer_expect_terminate(0x20, 0x03, 0, 0);
}
END_TEST

START_TEST(send_on_another_queue)
{
	peer_untagged(RDMAP_SEND, true, (uint32_t)_i, 1, 0, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x01, MD, 18);
}
END_TEST

START_TEST(send_out_of_sequence)
{
	static const uint32_t msns[] = {0, 2, 0xffffffff};

	peer_untagged(RDMAP_SEND, true, 0, msns[_i], 0, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x03, MD, 18);
}
END_TEST

START_TEST(send_with_a_wrong_offset)
{
	peer_untagged(RDMAP_SEND, false, 0, 1, 0, 8);
	peer_fpdu_give();
	peer_untagged(RDMAP_SEND, true, 0, 1, _i ? 4 : 12, 8);
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x04, MD, 18);
	ck_assert_uint_eq(peer_side.nsends, 0);
}
END_TEST

START_TEST(send_without_a_receive)
{
	for (uint32_t msn = 1; msn <= 2; msn++) {
		peer_untagged(RDMAP_SEND, true, 0, msn, 0, 4);
		peer_fpdu_give();
	}
	ck_assert_uint_eq(peer_side.nsends, 2);
	peer_untagged(RDMAP_SEND, true, 0, 3, 0, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x02, MD, 18);
	ck_assert_uint_eq(peer_side.nsends, 2);
}
END_TEST

START_TEST(a_receive_posted_later_serves)
{
	iwarp_engine_recv_post(peer_side.engine, 1, 4096);
	for (uint32_t msn = 1; msn <= 3; msn++) {
		peer_untagged(RDMAP_SEND, true, 0, msn, 0, 4);
		peer_fpdu_give();
	}
	ck_assert_uint_eq(peer_side.nsends, 3);
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, 0);
}
END_TEST

START_TEST(send_longer_than_its_receive)
{
	peer_untagged(RDMAP_SEND, true, 0, 1, 0, peer_side.params.recv_size_bytes);
	peer_fpdu_give();
	ck_assert_uint_eq(peer_side.nsends, 1);
	if (_i) {
		/* One byte too many, in a second segment. */
		peer_untagged(RDMAP_SEND, false, 0, 2, 0, peer_side.params.recv_size_bytes);
		peer_fpdu_give();
		peer_untagged(RDMAP_SEND, true, 0, 2, peer_side.params.recv_size_bytes, 1);
	} else {
		peer_untagged(RDMAP_SEND, true, 0, 2, 0, peer_side.params.recv_size_bytes + 1);
	}
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x05, MD, 18);
	ck_assert_uint_eq(peer_side.nsends, 1);
}
END_TEST

START_TEST(send_longer_than_the_receive_at_the_head)
{
	/* The bytes after the head do not help; nor do those that were at the head before. */
	iwarp_engine_recv_post(peer_side.engine, 1, 100);
	iwarp_engine_recv_post(peer_side.engine, 1, 60000);
	for (uint32_t msn = 1; msn <= 2; msn++) {
		peer_untagged(RDMAP_SEND, true, 0, msn, 0, peer_side.params.recv_size_bytes);
		peer_fpdu_give();
		ck_assert_uint_eq(peer_side.sends[msn - 1].size_bytes,
				  peer_side.params.recv_size_bytes);
	}
	if (_i) {
		peer_untagged(RDMAP_SEND, false, 0, 3, 0, 100);
		peer_fpdu_give();
		peer_untagged(RDMAP_SEND, true, 0, 3, 100, 1);
	} else {
		peer_untagged(RDMAP_SEND, true, 0, 3, 0, 101);
	}
	peer_fpdu_give();
	peer_expect_terminate(0x12, 0x05, MD, 18);
	ck_assert_uint_eq(peer_side.nsends, 2);
}
END_TEST

START_TEST(receives_in_more_sizes_than_any_peer_needs_end_the_connection)
{
	for (uint32_t i = 0; i <= POSTED_RECVS_MAX_RUNS; i++)
		iwarp_engine_recv_post(peer_side.engine, 1, i + 1);
	peer_expect_closed(FABRIC_CLOSE_RESOURCES);
}
END_TEST

START_TEST(write_to_an_unknown_stag)
{
	/* Another index; another key byte. */
	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey ^ (_i ? 0x100 : 0x01), peer_writable.addr,
		    4);
	peer_fpdu_give();
	peer_expect_terminate(0x11, 0x00, MD, 14);
	ck_assert_uint_eq(peer_memory->mem[LENT_BYTES], 0x77);
}
END_TEST

START_TEST(write_without_the_right)
{
	peer_tagged(RDMAP_WRITE, true, peer_readable.rkey, peer_readable.addr, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x01, 0x02, MD, 14);
	ck_assert_uint_eq(peer_memory->mem[0], 0x77);
}
END_TEST

START_TEST(write_out_of_bounds)
{
	static const struct {
		int64_t offset;
		size_t len;
	} tries[] = {{-1, 1}, {-4, 8}, {0, LENT_BYTES + 1}, {LENT_BYTES, 1}, {1, LENT_BYTES}};

	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey,
		    peer_writable.addr + (uint64_t)tries[_i].offset, tries[_i].len);
	peer_fpdu_give();
	peer_expect_terminate(0x11, 0x01, MD, 14);
	for (unsigned i = 0; i < 2 * LENT_BYTES; i++)
		ck_assert_uint_eq(peer_memory->mem[i], 0x77);
}
END_TEST

START_TEST(write_in_exact_bounds_is_right)
{
	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey, peer_writable.addr, LENT_BYTES);
	peer_fpdu_give();
	/* And one of nothing anywhere. */
	peer_tagged(RDMAP_WRITE, true, 12345, 1, 0);
	peer_fpdu_give();
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, 0);
	ck_assert_uint_eq(peer_memory->mem[LENT_BYTES - 1], 0x77);
	ck_assert_uint_eq(peer_memory->mem[LENT_BYTES], 0xab);
	ck_assert_uint_eq(peer_memory->mem[2 * LENT_BYTES - 1], 0xab);
	ck_assert_uint_eq(peer_side.counters.writes_received, 2);
}
END_TEST

START_TEST(write_whose_offset_wraps)
{
	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey, UINT64_MAX - 2, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x11, 0x03, MD, 14);
}
END_TEST

START_TEST(write_that_does_not_go_on_where_it_was)
{
	peer_tagged(RDMAP_WRITE, false, peer_writable.rkey, peer_writable.addr, 8);
	peer_fpdu_give();
	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey, peer_writable.addr + (_i ? 4 : 12), 8);
	peer_fpdu_give();
	peer_expect_terminate(0x11, 0x01, MD, 14);
}
END_TEST

START_TEST(write_that_goes_on_under_another_stag)
{
	peer_tagged(RDMAP_WRITE, false, peer_writable.rkey, peer_writable.addr, 8);
	peer_fpdu_give();
	peer_tagged(RDMAP_WRITE, true, peer_readable.rkey, peer_writable.addr + 8, 8);
	peer_fpdu_give();
	peer_expect_terminate(0x11, 0x00, MD, 14);
}
END_TEST

START_TEST(read_response_within_a_write)
{
	peer_tagged(RDMAP_WRITE, false, peer_writable.rkey, peer_writable.addr, 8);
	peer_fpdu_give();
	peer_tagged(RDMAP_READ_RESPONSE, true, peer_writable.rkey, peer_writable.addr + 8, 8);
	peer_fpdu_give();
	peer_expect_terminate(0x02, 0x06, MD, 14);
}
END_TEST

START_TEST(write_to_a_key_that_is_unbound_in_mid_message)
{
	uint8_t bytes[64];
	size_t len;

	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey, peer_writable.addr, 16);
	len = side_fpdu(bytes, peer_ulpdu, peer_ulpdu_bytes, false);
	side_give(&peer_side, bytes, 2 + 14 + 6, SIZE_MAX);
	ck_assert(iwarp_engine_key_unbind(peer_side.engine, &peer_writable));
	memset(peer_memory->mem + LENT_BYTES, 0x77, 16);
	side_give(&peer_side, bytes + 22, len - 22, SIZE_MAX);
	peer_expect_terminate(0x11, 0x00, MD, 14);
	ck_assert_uint_eq(peer_memory->mem[LENT_BYTES + 6], 0x77);
	/* For the peer_teardown. */
	peer_writable.priv = NULL;
	buf_ref(peer_writable.buf);
}
END_TEST

START_TEST(invalidation_of_an_unknown_stag)
{
	peer_untagged(_i ? RDMAP_SEND_INV : RDMAP_SEND_SE_INV, true, 0, 1, 0, 4);
	be32_put(peer_ulpdu + 2, peer_readable.rkey ^ 0x100);
	peer_fpdu_give();
	peer_expect_terminate(0x02, 0x09, MD, 18);
	ck_assert_uint_eq(peer_side.nsends, 0);
}
END_TEST

START_TEST(an_invalidated_stag_is_dead)
{
	peer_untagged(RDMAP_SEND_INV, true, 0, 1, 0, 4);
	be32_put(peer_ulpdu + 2, peer_writable.rkey);
	peer_fpdu_give();
	ck_assert_uint_eq(peer_side.nsends, 1);
	ck_assert(peer_side.sends[0].invalidated);
	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey, peer_writable.addr, 4);
	peer_fpdu_give();
	peer_expect_terminate(0x11, 0x00, MD, 14);
}
END_TEST

START_TEST(terminate_that_is_none)
{
	peer_untagged(RDMAP_TERMINATE, true, 2, 1, 0, _i ? 3 : 53);
	peer_fpdu_give();
	peer_expect_terminate(0x02, 0xff, MD, 18);
}
END_TEST

START_TEST(a_terminate_never_cuts_an_fpdu_and_drops_later_work)
{
	uint8_t first[16];
	struct buf *buf = buf_get(peer_side.pool, 100000);
	struct side_wr swr[2];
	size_t len;

	for (unsigned i = 0; i < 2; i++) {
		side_wr_init(&swr[i], &peer_side, FABRIC_WRITE);
		side_wr_add(&swr[i], buf, 0, 50000);
		side_post(&peer_side, &swr[i]);
	}
	iwarp_engine_mss(peer_side.engine, 1024);
	/* The peer's first FPDU lets the responder speak. */
	peer_tagged(RDMAP_WRITE, true, 1, 1, 0);
	peer_fpdu_give();
	ck_assert_uint_eq(side_take(&peer_side, first, sizeof(first)), sizeof(first));
	peer_tagged(RDMAP_WRITE, true, 1, 1, 4);
	peer_fpdu_give();
	peer_output_take();
	/* The rest of one FPDU of 1024, then the Terminate. */
	len = 1024 - sizeof(first);
	ck_assert_uint_eq(peer_out_bytes, len + 2 + 18 + 4 + 2 + 14 + 4);
	ck_assert_uint_eq(be16_get(first), 1018);
	ck_assert_uint_eq(peer_out[len + 2], 0x41);
	ck_assert_uint_eq(peer_out[len + 3], 0x47);
	ck_assert_uint_eq(peer_out[len + 2 + 18], 0x11);
	iwarp_engine_flush(peer_side.engine);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(swr[i].done, 1);
		ck_assert_int_eq(swr[i].status, FABRIC_FLUSHED);
	}
	buf_put(buf);
}
END_TEST

/* What a peer says, in RFC layout and as Linux siw writes it. */
static const struct {
	uint8_t control[4];
	const char *text;
} said[] = {
	{{0x20, 0x02, 0x00, 0x00}, "Terminate 20 02 00 00: MPA: CRC mismatch"},
	{{0x12, 0x02, 0xc0, 0x00}, "Terminate 12 02 c0 00: DDP: invalid MSN: no buffer available"},
	{{0x02, 0x02, 0x00, 0x00},
	 "Terminate 02 02 00 00: RDMAP: unknown error; as Linux siw writes it: MPA: CRC mismatch"},
	{{0x21, 0x02, 0x03, 0x00},
	 "Terminate 21 02 03 00: MPA: unknown error; as Linux siw writes it: DDP: invalid MSN: no "
	 "buffer available"},
	{{0x11, 0x00, 0x03, 0x00}, "Terminate 11 00 03 00: DDP: invalid STag"},
	{{0x10, 0x00, 0x03, 0x00},
	 "Terminate 10 00 03 00: DDP: local catastrophic error; as Linux siw writes it: RDMAP: "
	 "invalid STag"},
	{{0xff, 0xff, 0xff, 0xff}, "Terminate ff ff ff ff: unknown layer: unknown error"},
};

START_TEST(a_terminate_from_the_peer_is_reported_in_words)
{
	struct buf *buf = buf_get(peer_side.pool, 100);
	struct side_wr swr;
	const char *detail;

	side_wr_init(&swr, &peer_side, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, 100);
	side_post(&peer_side, &swr);
	peer_untagged(RDMAP_TERMINATE, true, 2, 1, 0, 4);
	memcpy(peer_ulpdu + 18, said[_i].control, 4);
	peer_fpdu_give();
	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_DROP);
	ck_assert_int_eq(iwarp_engine_close_reason(peer_side.engine, &detail),
			 FABRIC_CLOSE_TERMINATED);
	ck_assert_str_eq(detail, said[_i].text);
	ck_assert_uint_eq(peer_side.counters.terminates_received, 1);
	ck_assert_uint_eq(peer_side.counters.terminates_sent, 0);
	ck_assert_uint_eq(peer_side.notes, 1);
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, 0);
	iwarp_engine_flush(peer_side.engine);
	ck_assert_int_eq(swr.status, FABRIC_FLUSHED);
	buf_put(buf);
}
END_TEST

static const char *const proxy_headers[] = {
	"0d0a0d0a000d0a515549540a 2000 0000",
	"0d0a0d0a000d0a515549540a 2111 000c c000020a c000021e 02c70801",
	"50524f585920 54435034203139322e302e322e3130203139322e302e322e333020373131203230",
	"50524f585920 554e4b4e4f574e0d0a",
};

/* No Terminate, and no waiting for as many bytes as its first two would say. */
START_TEST(a_proxy_header_between_fpdus_is_a_reason_of_its_own)
{
	const char *detail;

	peer_untagged(RDMAP_SEND, true, 0, 1, 0, 100);
	peer_fpdu_give();
	ck_assert_uint_eq(peer_side.nsends, 1);
	peer_give(proxy_headers[_i]);
	ck_assert_int_eq(iwarp_engine_close_reason(peer_side.engine, &detail),
			 FABRIC_CLOSE_PROXY_HEADER);
	ck_assert_str_eq(detail, "in the middle of the stream");
	ck_assert_uint_eq(peer_side.counters.terminates_sent, 0);
	peer_expect_closed(FABRIC_CLOSE_PROXY_HEADER);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_terminate");
	TCase *tc;

	tc = tcase_create("responder");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, peer_setup, peer_teardown);
	tcase_add_test(tc, ddp_version_of_a_tagged_segment);
	tcase_add_test(tc, ddp_version_of_an_untagged_segment);
	tcase_add_test(tc, rdmap_version);
	tcase_add_loop_test(tc, reserved_opcodes, 8, 16);
	tcase_add_loop_test(tc, tagged_opcode_in_an_untagged_segment, 0, 2);
	tcase_add_loop_test(tc, untagged_opcode_in_a_tagged_segment, 0, 4);
	tcase_add_loop_test(tc, fpdu_too_short_for_its_headers, 0, 6);
	tcase_add_loop_test(tc, send_on_another_queue, 1, 4);
	tcase_add_loop_test(tc, send_out_of_sequence, 0, 3);
	tcase_add_loop_test(tc, send_with_a_wrong_offset, 0, 2);
	tcase_add_test(tc, send_without_a_receive);
	tcase_add_test(tc, a_receive_posted_later_serves);
	tcase_add_loop_test(tc, send_longer_than_its_receive, 0, 2);
	tcase_add_loop_test(tc, send_longer_than_the_receive_at_the_head, 0, 2);
	tcase_add_test(tc, receives_in_more_sizes_than_any_peer_needs_end_the_connection);
	tcase_add_loop_test(tc, write_to_an_unknown_stag, 0, 2);
	tcase_add_test(tc, write_without_the_right);
	tcase_add_loop_test(tc, write_out_of_bounds, 0, 5);
	tcase_add_test(tc, write_in_exact_bounds_is_right);
	tcase_add_test(tc, write_whose_offset_wraps);
	tcase_add_loop_test(tc, write_that_does_not_go_on_where_it_was, 0, 2);
	tcase_add_test(tc, write_that_goes_on_under_another_stag);
	tcase_add_test(tc, read_response_within_a_write);
	tcase_add_test(tc, write_to_a_key_that_is_unbound_in_mid_message);
	tcase_add_loop_test(tc, invalidation_of_an_unknown_stag, 0, 2);
	tcase_add_test(tc, an_invalidated_stag_is_dead);
	tcase_add_loop_test(tc, terminate_that_is_none, 0, 2);
	tcase_add_test(tc, a_terminate_never_cuts_an_fpdu_and_drops_later_work);
	tcase_add_loop_test(tc, a_terminate_from_the_peer_is_reported_in_words, 0,
			    ARRAY_SIZE(said));
	tcase_add_loop_test(tc, a_proxy_header_between_fpdus_is_a_reason_of_its_own, 0,
			    ARRAY_SIZE(proxy_headers));
	suite_add_tcase(suite, tc);
	tc = tcase_create("crc");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, peer_setup_crc, peer_teardown);
	tcase_add_test(tc, wrong_crc);
	tcase_add_loop_test(tc, a_proxy_header_between_fpdus_is_a_reason_of_its_own, 0,
			    ARRAY_SIZE(proxy_headers));
	tcase_add_loop_test(tc, any_flipped_bit_is_a_crc_error_whatever_else_it_spoils, 0, 19 * 8);
	tcase_add_test(tc, write_whose_offset_wraps);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

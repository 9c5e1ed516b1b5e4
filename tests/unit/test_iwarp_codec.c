// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests hand-made golden bytes of MPA, DDP, RDMAP and CRC32C, the table of keys, and tagged
 * segments.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "fabric/iwarp/ddp.h"
#include "fabric/iwarp/mpa.h"
#include "fabric/iwarp/proto.h"
#include "fabric/iwarp/stag_table.h"
#include "fabric/iwarp/tx_batch.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define REQ "4d504120494420526571204672616d65"
#define REP "4d504120494420526570204672616d65"

START_TEST(crc32c_has_its_check_value_in_any_pieces)
{
	static const char digits[] = "123456789";
	uint8_t wire[4];

	/*
	 * The check value of CRC-32C is e3069283; on the wire its least significant byte is first.
	 */
	for (size_t cut = 0; cut <= 9; cut++) {
		uint32_t crc = crc32c_add(CRC32C_START, digits, cut);

		mpa_crc_store(crc32c_add(crc, digits + cut, 9 - cut), wire);
		ck_assert_mem_eq(wire, "\x83\x92\x06\xe3", 4);
	}
	/* RFC 3720 appendix B.4: 32 bytes of zeros. */
	mpa_crc_store(crc32c_add(CRC32C_START, (uint8_t[32]){0}, 32), wire);
	ck_assert_mem_eq(wire, "\xaa\x36\x91\x8a", 4);
}
END_TEST

static void frame_same(const struct mpa_frame *a, const struct mpa_frame *b)
{
	ck_assert_int_eq(a->reply, b->reply);
	ck_assert_uint_eq(a->revision, b->revision);
	ck_assert_int_eq(a->markers, b->markers);
	ck_assert_int_eq(a->crc, b->crc);
	ck_assert_int_eq(a->reject, b->reject);
	ck_assert_int_eq(a->enhanced, b->enhanced);
	ck_assert_int_eq(a->peer_to_peer, b->peer_to_peer);
	ck_assert_int_eq(a->rtr_send, b->rtr_send);
	ck_assert_int_eq(a->rtr_write, b->rtr_write);
	ck_assert_int_eq(a->rtr_read, b->rtr_read);
	ck_assert_uint_eq(a->ird, b->ird);
	ck_assert_uint_eq(a->ord, b->ord);
	ck_assert_uint_eq(a->private_data_bytes, b->private_data_bytes);
	if (a->private_data_bytes)
		ck_assert_mem_eq(a->private_data, b->private_data, a->private_data_bytes);
}

#define DATA(s) .private_data = (const uint8_t *)(s), .private_data_bytes = sizeof(s) - 1

static const struct {
	const char *hex;
	struct mpa_frame frame;
} frames[] = {
	{REQ "00010000", {.revision = 1}},
	{REQ "40010003616263", {.revision = 1, .crc = true, DATA("abc")}},
	{REP "20010000", {.reply = true, .revision = 1, .reject = true}},
	{REQ "80010000", {.revision = 1, .markers = true}},
	{REQ "1002000c00800000f6ab0e1801010303",
	 {.revision = 2, .enhanced = true, .ird = 128, DATA("\xf6\xab\x0e\x18\x01\x01\x03\x03")}},
	{REP "5002000400000010",
	 {.reply = true, .revision = 2, .crc = true, .enhanced = true, .ord = 16}},
	{REQ "100200048010c020",
	 {.revision = 2,
	  .enhanced = true,
	  .peer_to_peer = true,
	  .rtr_write = true,
	  .rtr_read = true,
	  .ird = 16,
	  .ord = 32}},
	{REQ "10020004ffffffff",
	 {.revision = 2,
	  .enhanced = true,
	  .peer_to_peer = true,
	  .rtr_send = true,
	  .rtr_write = true,
	  .rtr_read = true,
	  .ird = 0x3fff,
	  .ord = 0x3fff}},
	{REP "3002000400000000", {.reply = true, .revision = 2, .enhanced = true, .reject = true}},
};

START_TEST(mpa_frames_both_ways)
{
	uint8_t bytes[128], again[MPA_MAX_FRAME_BYTES];
	size_t len = hex_bytes(frames[_i].hex, bytes, sizeof(bytes)), used = 0;
	struct mpa_frame frame;

	ck_assert_int_eq(mpa_frame_decode(bytes, len, frames[_i].frame.reply, &frame, &used),
			 MPA_OK);
	ck_assert_uint_eq(used, len);
	frame_same(&frame, &frames[_i].frame);
	ck_assert_uint_eq(mpa_frame_encode(&frames[_i].frame, again), len);
	ck_assert_mem_eq(again, bytes, len);
	/* Cut off anywhere, more is asked for; what follows is left alone. */
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *exact = exact_copy(bytes, cut);

		ck_assert_int_eq(mpa_frame_decode(exact, cut, frame.reply, &frame, &used),
				 MPA_SHORT);
		ck_assert_uint_gt(used, cut);
		ck_assert_uint_le(used, len);
		free(exact);
	}
	ck_assert_int_eq(mpa_frame_decode(bytes, sizeof(bytes), frame.reply, &frame, &used),
			 MPA_OK);
	ck_assert_uint_eq(used, len);
}
END_TEST

START_TEST(mpa_garbage_is_detected_at_its_first_byte)
{
	uint8_t bytes[64];
	struct mpa_frame frame;
	size_t used, len = hex_bytes(REQ "00010000", bytes, sizeof(bytes));

	for (size_t i = 0; i < 16; i++) {
		bytes[i] ^= 0x20;
		ck_assert_int_eq(mpa_frame_decode(bytes, i + 1, false, &frame, &used), MPA_BAD_KEY);
		ck_assert_int_eq(mpa_frame_decode(bytes, len, false, &frame, &used), MPA_BAD_KEY);
		bytes[i] ^= 0x20;
	}
}
END_TEST

static const struct {
	const char *hex;
	struct ddp_header header;
} headers[] = {
	{"c140 11223344 0102030405060708",
	 {.tagged = true,
	  .last = true,
	  .opcode = RDMAP_WRITE,
	  .stag = 0x11223344,
	  .to = 0x0102030405060708}},
	{"8140 11223344 0102030405060708",
	 {.tagged = true, .opcode = RDMAP_WRITE, .stag = 0x11223344, .to = 0x0102030405060708}},
	{"c142 ca15cf01 ff24d5fa52c05000",
	 {.tagged = true,
	  .last = true,
	  .opcode = RDMAP_READ_RESPONSE,
	  .stag = 0xca15cf01,
	  .to = 0xff24d5fa52c05000}},
	{"4143 00000000 00000000 00000001 00000000",
	 {.last = true, .opcode = RDMAP_SEND, .msn = 1}},
	{"0143 00000000 00000000 00000007 00000594", {.opcode = RDMAP_SEND, .msn = 7, .mo = 0x594}},
	{"4144 11223344 00000000 00000001 00000000",
	 {.last = true, .opcode = RDMAP_SEND_INV, .stag = 0x11223344, .msn = 1}},
	{"4145 00000000 00000000 00000001 00000000",
	 {.last = true, .opcode = RDMAP_SEND_SE, .msn = 1}},
	{"4146 11223344 00000000 00000001 00000000",
	 {.last = true, .opcode = RDMAP_SEND_SE_INV, .stag = 0x11223344, .msn = 1}},
	{"4141 00000000 00000001 00000002 00000000",
	 {.last = true, .opcode = RDMAP_READ_REQUEST, .qn = 1, .msn = 2}},
	{"4147 00000000 00000002 00000001 00000000",
	 {.last = true, .opcode = RDMAP_TERMINATE, .qn = 2, .msn = 1}},
};

START_TEST(ddp_headers_both_ways)
{
	uint8_t bytes[64], again[64];
	size_t len = hex_bytes(headers[_i].hex, bytes, sizeof(bytes));
	struct ddp_header want = headers[_i].header, got;

	want.ddp_version = DDP_VERSION;
	want.rdmap_version = RDMAP_VERSION;
	ddp_header_decode(bytes, &got);
	ck_assert_int_eq(got.tagged, want.tagged);
	ck_assert_int_eq(got.last, want.last);
	ck_assert_uint_eq(got.ddp_version, want.ddp_version);
	ck_assert_uint_eq(got.rdmap_version, want.rdmap_version);
	ck_assert_uint_eq(got.opcode, want.opcode);
	ck_assert_uint_eq(got.stag, want.stag);
	ck_assert_uint_eq(got.to, want.to);
	ck_assert_uint_eq(got.qn, want.qn);
	ck_assert_uint_eq(got.msn, want.msn);
	ck_assert_uint_eq(got.mo, want.mo);
	ck_assert_uint_eq(ddp_header_encode(&want, again), len);
	ck_assert_mem_eq(again, bytes, len);
	ck_assert_uint_eq(ddp_header_bytes(bytes),
			  len + (want.opcode == RDMAP_READ_REQUEST ? RDMAP_READ_BYTES : 0));
}
END_TEST

START_TEST(reserved_bits_are_not_looked_at)
{
	uint8_t bytes[32];
	struct ddp_header header;

	hex_bytes("fd70 11223344 0102030405060708", bytes, sizeof(bytes));
	ddp_header_decode(bytes, &header);
	ck_assert(header.tagged && header.last);
	ck_assert_uint_eq(header.ddp_version, DDP_VERSION);
	ck_assert_uint_eq(header.rdmap_version, RDMAP_VERSION);
	ck_assert_uint_eq(header.opcode, RDMAP_WRITE);
}
END_TEST

START_TEST(read_requests_both_ways)
{
	uint8_t bytes[RDMAP_READ_BYTES], again[RDMAP_READ_BYTES];
	struct rdmap_read read;

	ck_assert_uint_eq(hex_bytes("ca15cf01 ff24d5fa52c05000 00040000 11223344 0102030405060708",
				    bytes, sizeof(bytes)),
			  RDMAP_READ_BYTES);
	rdmap_read_decode(bytes, &read);
	ck_assert_uint_eq(read.sink_stag, 0xca15cf01);
	ck_assert_uint_eq(read.sink_to, 0xff24d5fa52c05000);
	ck_assert_uint_eq(read.size_bytes, 262144);
	ck_assert_uint_eq(read.source_stag, 0x11223344);
	ck_assert_uint_eq(read.source_to, 0x0102030405060708);
	rdmap_read_encode(&read, again);
	ck_assert_mem_eq(again, bytes, sizeof(bytes));
}
END_TEST

START_TEST(terminates_are_cut_to_what_they_carry)
{
	struct rdmap_terminate term = {.layer = TERM_DDP,
				       .type = TERM_DDP_UNTAGGED,
				       .code = 2,
				       .bits = TERM_HDR_SEGMENT | TERM_HDR_DDP,
				       .segment_bytes = 0x123,
				       .header_bytes = 3,
				       .header = {0xaa, 0xbb, 0xcc}};
	uint8_t out[TERM_MAX_BYTES];

	ck_assert_uint_eq(rdmap_terminate_encode(&term, out), 9);
	ck_assert_mem_eq(out, "\x12\x02\xc0\x00\x01\x23\xaa\xbb\xcc", 9);
	term.bits = 0;
	ck_assert_uint_eq(rdmap_terminate_encode(&term, out), 4);
}
END_TEST

START_TEST(a_terminate_is_described_within_any_room)
{
	uint8_t bytes[4] = {0x02, 0x02, 0, 0};

	for (size_t size = 1; size < 120; size++) {
		char *text = malloc(size);

		memset(text, 1, size);
		rdmap_terminate_describe(bytes, sizeof(bytes), text, size);
		ck_assert_uint_lt(strlen(text), size);
		rdmap_terminate_describe(bytes, 3, text, size);
		free(text);
	}
}
END_TEST

START_TEST(keys_are_found_until_removed)
{
	static struct fabric_key lent[5000];
	uint64_t seed[4] = {7, 0, 0, 0};
	struct iwarp_random random;
	struct stag_table keys;

	iwarp_random_seed(&random, seed);
	stag_table_init(&keys, ARRAY_SIZE(lent) - 1);
	ck_assert_ptr_null(stag_table_find(&keys, 0));
	for (size_t i = 0; i < ARRAY_SIZE(lent) - 1; i++) {
		lent[i].len_bytes = UINT32_MAX;
		ck_assert_int_eq(stag_table_add(&keys, &random, &lent[i]), 0);
		ck_assert_uint_ne(lent[i].rkey >> 8, 0);
		ck_assert_uint_ne(lent[i].addr, 0);
		ck_assert_uint_gt(lent[i].addr + lent[i].len_bytes, lent[i].addr);
	}
	ck_assert_int_eq(stag_table_add(&keys, &random, &lent[ARRAY_SIZE(lent) - 1]), -ENOMEM);
	for (size_t i = 0; i < ARRAY_SIZE(lent) - 1; i++) {
		ck_assert_ptr_eq(stag_table_find(&keys, lent[i].rkey), &lent[i]);
		ck_assert(stag_table_has(&lent[i]));
		if (i % 2)
			continue;
		stag_table_remove(&keys, &lent[i]);
		stag_table_remove(&keys, &lent[i]);
		ck_assert(!stag_table_has(&lent[i]));
		ck_assert_ptr_null(stag_table_find(&keys, lent[i].rkey));
	}
	ck_assert_uint_eq(keys.table.count, (ARRAY_SIZE(lent) - 1) / 2);
	stag_table_fini(&keys);
	ck_assert(!stag_table_has(&lent[1]));
}
END_TEST

START_TEST(a_batch_joins_its_own_pieces_and_is_cut_between_frames)
{
	static struct iwarp_tx_batch batch;
	static const uint8_t payload[100];

	iwarp_tx_batch_reset(&batch);
	for (unsigned i = 0; i < 3; i++) {
		iwarp_tx_batch_alloc(&batch, 10);
		iwarp_tx_batch_append(&batch, payload, 100);
		iwarp_tx_batch_alloc(&batch, 4);
		iwarp_tx_batch_frame_end(&batch, i * 114, (i + 1) * 114, true);
	}
	/* start, payload, end and start, payload, end and start, payload, end */
	ck_assert_uint_eq(batch.iov_tail, 7);
	ck_assert_uint_eq(batch.unsent_bytes, 342);
	ck_assert_uint_eq(iwarp_tx_batch_sent(&batch, 120, 120), 1);
	/* Within the second frame: that one stays. */
	ck_assert_uint_eq(iwarp_tx_batch_truncate(&batch, 120), 228);
	ck_assert_uint_eq(batch.unsent_bytes, 108);
	ck_assert_uint_eq(iwarp_tx_batch_sent(&batch, 108, 228), 1);
	ck_assert_uint_eq(batch.iov_head, batch.iov_tail);
	/* At its start: it goes. */
	iwarp_tx_batch_alloc(&batch, 10);
	iwarp_tx_batch_frame_end(&batch, 228, 238, true);
	ck_assert_uint_eq(iwarp_tx_batch_truncate(&batch, 228), 228);
	ck_assert_uint_eq(batch.unsent_bytes, 0);
	ck_assert_uint_eq(batch.iov_head, batch.iov_tail);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_codec");
	TCase *tc = tcase_create("codec");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, crc32c_has_its_check_value_in_any_pieces);
	tcase_add_loop_test(tc, mpa_frames_both_ways, 0, ARRAY_SIZE(frames));
	tcase_add_test(tc, mpa_garbage_is_detected_at_its_first_byte);
	tcase_add_loop_test(tc, ddp_headers_both_ways, 0, ARRAY_SIZE(headers));
	tcase_add_test(tc, reserved_bits_are_not_looked_at);
	tcase_add_test(tc, read_requests_both_ways);
	tcase_add_test(tc, terminates_are_cut_to_what_they_carry);
	tcase_add_test(tc, a_terminate_is_described_within_any_room);
	tcase_add_test(tc, keys_are_found_until_removed);
	tcase_add_test(tc, a_batch_joins_its_own_pieces_and_is_cut_between_frames);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

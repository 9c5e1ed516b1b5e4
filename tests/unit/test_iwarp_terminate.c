// SPDX-License-Identifier: BSD-3-Clause
/* Whatever a peer does wrong gets the Terminate of RFC 5040, 5041 and 5044, byte for byte. */
#include <string.h>

#include "fabric/iwarp/bytes.h"
#include "fabric/iwarp/ddp.h"
#include "fabric/iwarp/mpa.h"
#include "tests/lib/test.h"
#include "tests/unit/iwarp_side.h"

#define LENT_BYTES 1000u

static struct iwarp_side side; /* under test; this file is its peer */
static bool crc;
static struct buf *memory;
static struct fabric_key readable, writable;
static uint8_t out[1u << 20];
static size_t out_bytes;

/* The segment that was sent last: what a Terminate quotes. */
static uint8_t ulpdu[MPA_MAX_ULPDU_BYTES];
static size_t ulpdu_bytes;

static void output_take(void)
{
	out_bytes = side_take(&side, out, sizeof(out));
}

static void frame_give(const struct mpa_frame *frame)
{
	uint8_t bytes[MPA_MAX_FRAME_BYTES];

	side_give(&side, bytes, mpa_frame_encode(frame, bytes), SIZE_MAX);
}

static void fpdu_give(void)
{
	uint8_t bytes[MPA_MAX_ULPDU_BYTES + 16];

	side_give(&side, bytes, side_fpdu(bytes, ulpdu, ulpdu_bytes, crc), SIZE_MAX);
}

static void lend(void)
{
	memory = buf_get(side.pool, 2 * LENT_BYTES);
	memset(memory->mem, 0x77, 2 * LENT_BYTES);
	side_key(&side, &readable, memory, 0, LENT_BYTES, FABRIC_REMOTE_READ);
	side_key(&side, &writable, memory, LENT_BYTES, LENT_BYTES, FABRIC_REMOTE_WRITE);
}

static void responder_start(void)
{
	struct iwarp_config config = {.crc = crc};
	struct mpa_frame request = {.revision = 2, .enhanced = true, .ird = 4, .ord = 2};

	side_init(&side, &config, 42);
	side.refill = false;
	side.params.recv_count = 2;
	iwarp_engine_listen(side.engine, 0);
	frame_give(&request);
	output_take();
	ck_assert_uint_eq(side.established, 1);
	lend();
}

static void initiator_start(void)
{
	struct iwarp_config config = {.crc = crc};
	struct mpa_frame reply = {
		.reply = true, .revision = 2, .enhanced = true, .ird = 4, .ord = 4};

	side_init(&side, &config, 42);
	ck_assert_int_eq(iwarp_engine_connect(side.engine, &side.params, 0), 0);
	output_take();
	frame_give(&reply);
	ck_assert_uint_eq(side.established, 1);
	lend();
}

static void setup(void)
{
	crc = false;
	responder_start();
}

static void teardown(void)
{
	iwarp_engine_flush(side.engine);
	ck_assert(iwarp_engine_key_unbind(side.engine, &readable));
	ck_assert(iwarp_engine_key_unbind(side.engine, &writable));
	buf_put(memory);
	side_fini(&side);
}

static void setup_crc(void)
{
	crc = true;
	responder_start();
}

static void setup_initiator(void)
{
	crc = false;
	initiator_start();
}

static void tagged(enum rdmap_opcode opcode, bool last, uint32_t stag, uint64_t to, size_t payload)
{
	struct ddp_header header = {.tagged = true,
				    .last = last,
				    .ddp_version = 1,
				    .rdmap_version = RDMAP_VERSION,
				    .opcode = (uint8_t)opcode,
				    .stag = stag,
				    .to = to};

	ulpdu_bytes = ddp_header_encode(&header, ulpdu);
	memset(ulpdu + ulpdu_bytes, 0xab, payload);
	ulpdu_bytes += payload;
}

static void untagged(unsigned opcode, bool last, uint32_t qn, uint32_t msn, uint32_t mo,
		     size_t payload)
{
	struct ddp_header header = {.last = last,
				    .ddp_version = 1,
				    .rdmap_version = RDMAP_VERSION,
				    .opcode = (uint8_t)opcode,
				    .qn = qn,
				    .msn = msn,
				    .mo = mo};

	ulpdu_bytes = ddp_header_encode(&header, ulpdu);
	memset(ulpdu + ulpdu_bytes, 0xcd, payload);
	ulpdu_bytes += payload;
}

static void read_request(uint32_t msn, uint32_t stag, uint64_t to, uint32_t size)
{
	struct rdmap_read read = {.sink_stag = 0xca15cf01,
				  .sink_to = 0xff24d5fa52c05000u,
				  .size_bytes = size,
				  .source_stag = stag,
				  .source_to = to};

	untagged(RDMAP_READ_REQUEST, true, DDP_QN_READ, msn, 0, 0);
	rdmap_read_encode(&read, ulpdu + ulpdu_bytes);
	ulpdu_bytes += RDMAP_READ_BYTES;
}

/*
 * The side must have sent exactly this Terminate (RFC 5040 section 4.8) and nothing else, quoting @quoted
 * bytes of the segment, and want FIN.
 */
static void expect_terminate(unsigned layer_type, unsigned code, unsigned bits, size_t quoted)
{
	static const uint8_t head[] = {0x41, 0x47, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0};
	uint8_t term[128], want[160];
	size_t len = sizeof(head);
	const char *detail;

	memcpy(term, head, sizeof(head));
	term[len++] = (uint8_t)layer_type;
	term[len++] = (uint8_t)code;
	term[len++] = (uint8_t)bits;
	term[len++] = 0;
	if (bits) {
		be16_put(term + len, (uint16_t)ulpdu_bytes);
		memcpy(term + len + 2, ulpdu, quoted);
		len += 2 + quoted;
	}
	len = side_fpdu(want, term, len, crc);
	output_take();
	ck_assert_uint_eq(out_bytes, len);
	ck_assert_mem_eq(out, want, len);
	ck_assert_uint_eq(side.counters.terminates_sent, 1);
	ck_assert_uint_eq(side.notes, 1);
	ck_assert_int_eq(iwarp_engine_wish(side.engine), IWARP_FIN);
	ck_assert_int_eq(iwarp_engine_why(side.engine, &detail), FABRIC_CLOSE_PROTOCOL);
	ck_assert_uint_gt(strlen(detail), 0);
	/* What still comes is not looked at. */
	fpdu_give();
	ck_assert_uint_eq(side.notes, 1);
}

#define MD  0xc0
#define MDR 0xe0

START_TEST(ddp_version_of_a_tagged_segment)
{
	tagged(RDMAP_WRITE, true, writable.rkey, writable.addr, 4);
	ulpdu[0] = 0xc2;
	fpdu_give();
	expect_terminate(0x11, 0x04, 0, 0);
}
END_TEST

START_TEST(ddp_version_of_an_untagged_segment)
{
	untagged(RDMAP_SEND, true, 0, 1, 0, 4);
	ulpdu[0] = 0x40;
	fpdu_give();
	expect_terminate(0x12, 0x06, 0, 0);
}
END_TEST

START_TEST(rdmap_version)
{
	untagged(RDMAP_SEND, true, 0, 1, 0, 4);
	ulpdu[1] = 0x83;
	fpdu_give();
	expect_terminate(0x02, 0x05, 0, 0);
}
END_TEST

START_TEST(reserved_opcodes)
{
	untagged((unsigned)_i, true, 0, 1, 0, 4);
	fpdu_give();
	expect_terminate(0x02, 0x06, MD, 18);
}
END_TEST

START_TEST(tagged_opcode_in_an_untagged_segment)
{
	untagged(_i ? RDMAP_WRITE : RDMAP_READ_RESPONSE, true, 0, 1, 0, 4);
	fpdu_give();
	expect_terminate(0x02, 0x06, MD, 18);
}
END_TEST

START_TEST(untagged_opcode_in_a_tagged_segment)
{
	static const enum rdmap_opcode opcodes[] = {RDMAP_SEND, RDMAP_READ_REQUEST,
						    RDMAP_SEND_SE_INV, RDMAP_TERMINATE};

	tagged(opcodes[_i], true, writable.rkey, writable.addr, 40);
	fpdu_give();
	expect_terminate(0x02, 0x06, MD, 14);
}
END_TEST

START_TEST(wrong_crc)
{
	uint8_t bytes[64];
	size_t len;

	untagged(RDMAP_SEND, true, 0, 1, 0, 5);
	len = side_fpdu(bytes, ulpdu, ulpdu_bytes, true);
	bytes[len - 1] ^= 1;
	side_give(&side, bytes, len, SIZE_MAX);
	expect_terminate(0x20, 0x02, 0, 0);
	ck_assert_uint_eq(side.counters.crc_bad, 1);
	ck_assert_uint_eq(side.counters.term_crc, 1);
	ck_assert_uint_eq(side.nsends, 0);
}
END_TEST

START_TEST(any_flipped_bit_is_a_crc_error_whatever_else_it_spoils)
{
	uint8_t bytes[64];
	size_t len;

	tagged(RDMAP_WRITE, true, writable.rkey, writable.addr, 5);
	len = side_fpdu(bytes, ulpdu, ulpdu_bytes, true);
	/* Not in the length: then more bytes would be awaited. */
	bytes[2 + _i / 8] ^= (uint8_t)(1 << _i % 8);
	side_give(&side, bytes, len, SIZE_MAX);
	expect_terminate(0x20, 0x02, 0, 0);
}
END_TEST

START_TEST(fpdu_too_short_for_its_headers)
{
	static const unsigned shorts[] = {0, 1, 2, 13, 17, 45};

	memset(ulpdu, 0, sizeof(ulpdu));
	switch (_i) {
	case 3:
		tagged(RDMAP_WRITE, true, 1, 1, 0);
		break;
	case 4:
		untagged(RDMAP_SEND, true, 0, 1, 0, 0);
		break;
	case 5:
		read_request(1, readable.rkey, readable.addr, 4);
		break;
	}
	ulpdu_bytes = shorts[_i];
	fpdu_give();
	expect_terminate(0x20, 0x03, 0, 0);
}
END_TEST

START_TEST(send_on_another_queue)
{
	untagged(RDMAP_SEND, true, (uint32_t)_i, 1, 0, 4);
	fpdu_give();
	expect_terminate(0x12, 0x01, MD, 18);
}
END_TEST

START_TEST(send_out_of_sequence)
{
	static const uint32_t msns[] = {0, 2, 0xffffffff};

	untagged(RDMAP_SEND, true, 0, msns[_i], 0, 4);
	fpdu_give();
	expect_terminate(0x12, 0x03, MD, 18);
}
END_TEST

START_TEST(send_with_a_wrong_offset)
{
	untagged(RDMAP_SEND, false, 0, 1, 0, 8);
	fpdu_give();
	untagged(RDMAP_SEND, true, 0, 1, _i ? 4 : 12, 8);
	fpdu_give();
	expect_terminate(0x12, 0x04, MD, 18);
	ck_assert_uint_eq(side.nsends, 0);
}
END_TEST

START_TEST(send_without_a_receive)
{
	for (uint32_t msn = 1; msn <= 2; msn++) {
		untagged(RDMAP_SEND, true, 0, msn, 0, 4);
		fpdu_give();
	}
	ck_assert_uint_eq(side.nsends, 2);
	untagged(RDMAP_SEND, true, 0, 3, 0, 4);
	fpdu_give();
	expect_terminate(0x12, 0x02, MD, 18);
	ck_assert_uint_eq(side.nsends, 2);
}
END_TEST

START_TEST(a_receive_posted_later_serves)
{
	iwarp_engine_recv_post(side.engine, 1);
	for (uint32_t msn = 1; msn <= 3; msn++) {
		untagged(RDMAP_SEND, true, 0, msn, 0, 4);
		fpdu_give();
	}
	ck_assert_uint_eq(side.nsends, 3);
	output_take();
	ck_assert_uint_eq(out_bytes, 0);
}
END_TEST

START_TEST(send_longer_than_its_receive)
{
	untagged(RDMAP_SEND, true, 0, 1, 0, side.params.recv_size_bytes);
	fpdu_give();
	ck_assert_uint_eq(side.nsends, 1);
	if (_i) {
		/* One byte too many, in a second segment. */
		untagged(RDMAP_SEND, false, 0, 2, 0, side.params.recv_size_bytes);
		fpdu_give();
		untagged(RDMAP_SEND, true, 0, 2, side.params.recv_size_bytes, 1);
	} else {
		untagged(RDMAP_SEND, true, 0, 2, 0, side.params.recv_size_bytes + 1);
	}
	fpdu_give();
	expect_terminate(0x12, 0x05, MD, 18);
	ck_assert_uint_eq(side.nsends, 1);
}
END_TEST

START_TEST(write_to_an_unknown_stag)
{
	/* Another index; another key byte. */
	tagged(RDMAP_WRITE, true, writable.rkey ^ (_i ? 0x100 : 0x01), writable.addr, 4);
	fpdu_give();
	expect_terminate(0x11, 0x00, MD, 14);
	ck_assert_uint_eq(memory->mem[LENT_BYTES], 0x77);
}
END_TEST

START_TEST(write_without_the_right)
{
	tagged(RDMAP_WRITE, true, readable.rkey, readable.addr, 4);
	fpdu_give();
	expect_terminate(0x01, 0x02, MD, 14);
	ck_assert_uint_eq(memory->mem[0], 0x77);
}
END_TEST

START_TEST(write_out_of_bounds)
{
	static const struct {
		int64_t offset;
		size_t len;
	} tries[] = {{-1, 1}, {-4, 8}, {0, LENT_BYTES + 1}, {LENT_BYTES, 1}, {1, LENT_BYTES}};

	tagged(RDMAP_WRITE, true, writable.rkey, writable.addr + (uint64_t)tries[_i].offset,
	       tries[_i].len);
	fpdu_give();
	expect_terminate(0x11, 0x01, MD, 14);
	for (unsigned i = 0; i < 2 * LENT_BYTES; i++)
		ck_assert_uint_eq(memory->mem[i], 0x77);
}
END_TEST

START_TEST(write_in_exact_bounds_is_right)
{
	tagged(RDMAP_WRITE, true, writable.rkey, writable.addr, LENT_BYTES);
	fpdu_give();
	/* And one of nothing anywhere. */
	tagged(RDMAP_WRITE, true, 12345, 1, 0);
	fpdu_give();
	output_take();
	ck_assert_uint_eq(out_bytes, 0);
	ck_assert_uint_eq(memory->mem[LENT_BYTES - 1], 0x77);
	ck_assert_uint_eq(memory->mem[LENT_BYTES], 0xab);
	ck_assert_uint_eq(memory->mem[2 * LENT_BYTES - 1], 0xab);
	ck_assert_uint_eq(side.counters.writes_received, 2);
}
END_TEST

START_TEST(write_whose_offset_wraps)
{
	tagged(RDMAP_WRITE, true, writable.rkey, UINT64_MAX - 2, 4);
	fpdu_give();
	expect_terminate(0x11, 0x03, MD, 14);
}
END_TEST

START_TEST(write_that_does_not_go_on_where_it_was)
{
	tagged(RDMAP_WRITE, false, writable.rkey, writable.addr, 8);
	fpdu_give();
	tagged(RDMAP_WRITE, true, writable.rkey, writable.addr + (_i ? 4 : 12), 8);
	fpdu_give();
	expect_terminate(0x11, 0x01, MD, 14);
}
END_TEST

START_TEST(write_that_goes_on_under_another_stag)
{
	tagged(RDMAP_WRITE, false, writable.rkey, writable.addr, 8);
	fpdu_give();
	tagged(RDMAP_WRITE, true, readable.rkey, writable.addr + 8, 8);
	fpdu_give();
	expect_terminate(0x11, 0x00, MD, 14);
}
END_TEST

START_TEST(read_response_within_a_write)
{
	tagged(RDMAP_WRITE, false, writable.rkey, writable.addr, 8);
	fpdu_give();
	tagged(RDMAP_READ_RESPONSE, true, writable.rkey, writable.addr + 8, 8);
	fpdu_give();
	expect_terminate(0x02, 0x06, MD, 14);
}
END_TEST

START_TEST(write_to_a_key_that_is_unbound_in_mid_message)
{
	uint8_t bytes[64];
	size_t len;

	tagged(RDMAP_WRITE, true, writable.rkey, writable.addr, 16);
	len = side_fpdu(bytes, ulpdu, ulpdu_bytes, false);
	side_give(&side, bytes, 2 + 14 + 6, SIZE_MAX);
	ck_assert(iwarp_engine_key_unbind(side.engine, &writable));
	memset(memory->mem + LENT_BYTES, 0x77, 16);
	side_give(&side, bytes + 22, len - 22, SIZE_MAX);
	expect_terminate(0x11, 0x00, MD, 14);
	ck_assert_uint_eq(memory->mem[LENT_BYTES + 6], 0x77);
	/* For the teardown. */
	writable.priv = NULL;
	buf_ref(writable.buf);
}
END_TEST

START_TEST(read_request_out_of_sequence)
{
	read_request(_i ? 0 : 2, readable.rkey, readable.addr, 4);
	fpdu_give();
	expect_terminate(0x12, 0x03, MD, 18);
}
END_TEST

START_TEST(read_request_on_another_queue)
{
	read_request(1, readable.rkey, readable.addr, 4);
	ulpdu[9] = 0;
	fpdu_give();
	expect_terminate(0x12, 0x01, MD, 18);
}
END_TEST

START_TEST(read_request_with_an_offset)
{
	read_request(1, readable.rkey, readable.addr, 4);
	ulpdu[17] = 28;
	fpdu_give();
	expect_terminate(0x12, 0x04, MD, 18);
}
END_TEST

START_TEST(read_request_with_payload)
{
	read_request(1, readable.rkey, readable.addr, 4);
	ulpdu[ulpdu_bytes++] = 0;
	fpdu_give();
	expect_terminate(0x12, 0x05, MD, 18);
}
END_TEST

START_TEST(read_request_in_pieces)
{
	read_request(1, readable.rkey, readable.addr, 4);
	ulpdu[0] &= (uint8_t)~DDP_LAST;
	fpdu_give();
	expect_terminate(0x02, 0xff, MD, 18);
}
END_TEST

START_TEST(read_requests_beyond_the_ird)
{
	uint8_t bytes[512];
	size_t len = 0;

	/* The request's ORD was 2, so that is what the reply granted. */
	for (uint32_t msn = 1; msn <= 3; msn++) {
		read_request(msn, readable.rkey, readable.addr, _i ? 0 : 4);
		len += side_fpdu(bytes + len, ulpdu, ulpdu_bytes, false);
	}
	side_give(&side, bytes, len, SIZE_MAX);
	expect_terminate(0x12, 0x02, MD, 18);
}
END_TEST

START_TEST(reads_one_after_another_within_the_ird)
{
	for (uint32_t msn = 1; msn <= 20; msn++) {
		read_request(msn, readable.rkey, readable.addr, 4);
		fpdu_give();
		output_take();
		ck_assert_uint_eq(out_bytes, 2 + 14 + 4 + 4);
	}
	ck_assert_uint_eq(side.counters.read_responses_sent, 20);
}
END_TEST

START_TEST(read_request_for_what_is_not_lent)
{
	static const struct {
		uint8_t code;
		uint32_t stag_xor, size;
		int64_t offset;
	} tries[] = {
		{0x00, 0x100, 4, 0},          {0x00, 0x001, 4, 0},      {0x01, 0, 4, -1},
		{0x01, 0, LENT_BYTES + 1, 0}, {0x01, 0, 1, LENT_BYTES}, {0x01, 0, 0xffffffff, 0},
	};

	read_request(1, readable.rkey ^ tries[_i].stag_xor,
		     readable.addr + (uint64_t)tries[_i].offset, tries[_i].size);
	fpdu_give();
	expect_terminate(0x01, tries[_i].code, MDR, 46);
}
END_TEST

START_TEST(read_request_without_the_right)
{
	read_request(1, writable.rkey, writable.addr, 4);
	fpdu_give();
	expect_terminate(0x01, 0x02, MDR, 46);
}
END_TEST

START_TEST(read_request_whose_offset_wraps)
{
	read_request(1, readable.rkey, UINT64_MAX - 2, 4);
	fpdu_give();
	expect_terminate(0x01, 0x04, MDR, 46);
}
END_TEST

START_TEST(invalidation_of_an_unknown_stag)
{
	untagged(_i ? RDMAP_SEND_INV : RDMAP_SEND_SE_INV, true, 0, 1, 0, 4);
	be32_put(ulpdu + 2, readable.rkey ^ 0x100);
	fpdu_give();
	expect_terminate(0x02, 0x09, MD, 18);
	ck_assert_uint_eq(side.nsends, 0);
}
END_TEST

START_TEST(an_invalidated_stag_is_dead)
{
	untagged(RDMAP_SEND_INV, true, 0, 1, 0, 4);
	be32_put(ulpdu + 2, writable.rkey);
	fpdu_give();
	ck_assert_uint_eq(side.nsends, 1);
	ck_assert(side.sends[0].invalidated);
	tagged(RDMAP_WRITE, true, writable.rkey, writable.addr, 4);
	fpdu_give();
	expect_terminate(0x11, 0x00, MD, 14);
}
END_TEST

START_TEST(terminate_that_is_none)
{
	untagged(RDMAP_TERMINATE, true, 2, 1, 0, _i ? 3 : 53);
	fpdu_give();
	expect_terminate(0x02, 0xff, MD, 18);
}
END_TEST

START_TEST(read_response_that_nobody_asked_for)
{
	tagged(RDMAP_READ_RESPONSE, true, writable.rkey, writable.addr, 4);
	fpdu_give();
	expect_terminate(0x11, 0x00, MD, 14);
}
END_TEST

/* A Read of 100 bytes, and the Response that it gets. */
static void respond(uint32_t stag_xor, int64_t offset, size_t first, size_t second)
{
	struct buf *buf = buf_get(side.pool, 100);
	struct rdmap_read read;
	struct side_wr swr;

	side_wr_init(&swr, &side, FABRIC_READ);
	side_wr_add(&swr, buf, 0, 100);
	swr.wr.rkey = 1;
	side_post(&side, &swr);
	output_take();
	ck_assert_uint_eq(out_bytes, 2 + 46 + 4);
	rdmap_read_decode(out + 20, &read);
	if (first) {
		tagged(RDMAP_READ_RESPONSE, false, read.sink_stag, read.sink_to, first);
		fpdu_give();
	}
	tagged(RDMAP_READ_RESPONSE, true, read.sink_stag ^ stag_xor,
	       read.sink_to + first + (uint64_t)offset, second);
	fpdu_give();
	expect_terminate(0x11, stag_xor ? 0x00 : 0x01, MD, 14);
	ck_assert_uint_eq(swr.done, 0);
	iwarp_engine_flush(side.engine);
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
	struct iwarp_config config = {0};

	teardown();
	side_init(&side, &config, 42);
	ck_assert_int_eq(iwarp_engine_connect(side.engine, &side.params, 0), 0);
	output_take();
	frame_give(&reply);
	expect_terminate(0x20, 0x06, 0, 0);
	ck_assert_uint_eq(side.established, 0);
	side_fini(&side);
	setup_initiator(); /* for the teardown */
}
END_TEST

START_TEST(a_terminate_never_cuts_an_fpdu_and_drops_what_is_behind_it)
{
	uint8_t first[16];
	struct buf *buf = buf_get(side.pool, 100000);
	struct side_wr swr[2];
	size_t len;

	for (unsigned i = 0; i < 2; i++) {
		side_wr_init(&swr[i], &side, FABRIC_WRITE);
		side_wr_add(&swr[i], buf, 0, 50000);
		side_post(&side, &swr[i]);
	}
	iwarp_engine_mss(side.engine, 1024);
	/* The peer's first FPDU lets the responder speak. */
	tagged(RDMAP_WRITE, true, 1, 1, 0);
	fpdu_give();
	ck_assert_uint_eq(side_take(&side, first, sizeof(first)), sizeof(first));
	tagged(RDMAP_WRITE, true, 1, 1, 4);
	fpdu_give();
	output_take();
	/* The rest of one FPDU of 1024, then the Terminate. */
	len = 1024 - sizeof(first);
	ck_assert_uint_eq(out_bytes, len + 2 + 18 + 4 + 2 + 14 + 4);
	ck_assert_uint_eq(be16_get(first), 1018);
	ck_assert_uint_eq(out[len + 2], 0x41);
	ck_assert_uint_eq(out[len + 3], 0x47);
	ck_assert_uint_eq(out[len + 2 + 18], 0x11);
	iwarp_engine_flush(side.engine);
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

START_TEST(a_terminate_from_the_peer_is_told_in_words)
{
	struct buf *buf = buf_get(side.pool, 100);
	struct side_wr swr;
	const char *detail;

	side_wr_init(&swr, &side, FABRIC_SEND);
	side_wr_add(&swr, buf, 0, 100);
	side_post(&side, &swr);
	untagged(RDMAP_TERMINATE, true, 2, 1, 0, 4);
	memcpy(ulpdu + 18, said[_i].control, 4);
	fpdu_give();
	ck_assert_int_eq(iwarp_engine_wish(side.engine), IWARP_DROP);
	ck_assert_int_eq(iwarp_engine_why(side.engine, &detail), FABRIC_CLOSE_TERMINATED);
	ck_assert_str_eq(detail, said[_i].text);
	ck_assert_uint_eq(side.counters.terminates_received, 1);
	ck_assert_uint_eq(side.counters.terminates_sent, 0);
	ck_assert_uint_eq(side.notes, 1);
	output_take();
	ck_assert_uint_eq(out_bytes, 0);
	iwarp_engine_flush(side.engine);
	ck_assert_int_eq(swr.status, FABRIC_FLUSHED);
	buf_put(buf);
}
END_TEST

START_TEST(a_read_that_the_peers_terminate_names_was_refused)
{
	struct buf *buf = buf_get(side.pool, 100);
	struct side_wr swr[2];
	uint8_t request[46];

	for (unsigned i = 0; i < 2; i++) {
		side_wr_init(&swr[i], &side, FABRIC_READ);
		side_wr_add(&swr[i], buf, 0, 100);
		side_post(&side, &swr[i]);
	}
	output_take();
	memcpy(request, out + 52 + 2, sizeof(request));
	untagged(RDMAP_TERMINATE, true, 2, 1, 0, 4 + 2 + 46);
	memcpy(ulpdu + 18, "\x01\x00\xe0\x00\x00\x2e", 6);
	memcpy(ulpdu + 24, request, sizeof(request));
	fpdu_give();
	iwarp_engine_flush(side.engine);
	ck_assert_int_eq(swr[0].status, FABRIC_FLUSHED);
	ck_assert_int_eq(swr[1].status, FABRIC_ERR_REMOTE);
	buf_put(buf);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_terminate");
	TCase *plain = tcase_create("responder"), *summed = tcase_create("crc"),
	      *init = tcase_create("initiator");

	tcase_add_checked_fixture(plain, setup, teardown);
	tcase_add_test(plain, ddp_version_of_a_tagged_segment);
	tcase_add_test(plain, ddp_version_of_an_untagged_segment);
	tcase_add_test(plain, rdmap_version);
	tcase_add_loop_test(plain, reserved_opcodes, 8, 16);
	tcase_add_loop_test(plain, tagged_opcode_in_an_untagged_segment, 0, 2);
	tcase_add_loop_test(plain, untagged_opcode_in_a_tagged_segment, 0, 4);
	tcase_add_loop_test(plain, fpdu_too_short_for_its_headers, 0, 6);
	tcase_add_loop_test(plain, send_on_another_queue, 1, 4);
	tcase_add_loop_test(plain, send_out_of_sequence, 0, 3);
	tcase_add_loop_test(plain, send_with_a_wrong_offset, 0, 2);
	tcase_add_test(plain, send_without_a_receive);
	tcase_add_test(plain, a_receive_posted_later_serves);
	tcase_add_loop_test(plain, send_longer_than_its_receive, 0, 2);
	tcase_add_loop_test(plain, write_to_an_unknown_stag, 0, 2);
	tcase_add_test(plain, write_without_the_right);
	tcase_add_loop_test(plain, write_out_of_bounds, 0, 5);
	tcase_add_test(plain, write_in_exact_bounds_is_right);
	tcase_add_test(plain, write_whose_offset_wraps);
	tcase_add_loop_test(plain, write_that_does_not_go_on_where_it_was, 0, 2);
	tcase_add_test(plain, write_that_goes_on_under_another_stag);
	tcase_add_test(plain, read_response_within_a_write);
	tcase_add_test(plain, write_to_a_key_that_is_unbound_in_mid_message);
	tcase_add_loop_test(plain, read_request_out_of_sequence, 0, 2);
	tcase_add_test(plain, read_request_on_another_queue);
	tcase_add_test(plain, read_request_with_an_offset);
	tcase_add_test(plain, read_request_with_payload);
	tcase_add_test(plain, read_request_in_pieces);
	tcase_add_loop_test(plain, read_requests_beyond_the_ird, 0, 2);
	tcase_add_test(plain, reads_one_after_another_within_the_ird);
	tcase_add_loop_test(plain, read_request_for_what_is_not_lent, 0, 6);
	tcase_add_test(plain, read_request_without_the_right);
	tcase_add_test(plain, read_request_whose_offset_wraps);
	tcase_add_loop_test(plain, invalidation_of_an_unknown_stag, 0, 2);
	tcase_add_test(plain, an_invalidated_stag_is_dead);
	tcase_add_loop_test(plain, terminate_that_is_none, 0, 2);
	tcase_add_test(plain, read_response_that_nobody_asked_for);
	tcase_add_test(plain, a_terminate_never_cuts_an_fpdu_and_drops_what_is_behind_it);
	tcase_add_loop_test(plain, a_terminate_from_the_peer_is_told_in_words, 0, ARRAY_SIZE(said));
	suite_add_tcase(suite, plain);

	tcase_add_checked_fixture(summed, setup_crc, teardown);
	tcase_add_test(summed, wrong_crc);
	tcase_add_loop_test(summed, any_flipped_bit_is_a_crc_error_whatever_else_it_spoils, 0,
			    19 * 8);
	tcase_add_test(summed, write_whose_offset_wraps);
	suite_add_tcase(suite, summed);

	tcase_add_checked_fixture(init, setup_initiator, teardown);
	tcase_add_test(init, read_response_with_another_stag);
	tcase_add_loop_test(init, read_response_at_another_offset, 0, 2);
	tcase_add_test(init, read_response_that_does_not_go_on_where_it_was);
	tcase_add_loop_test(init, read_response_too_long_or_too_short, 0, 5);
	tcase_add_test(init, an_ord_above_our_ird_in_the_reply);
	tcase_add_test(init, a_read_that_the_peers_terminate_names_was_refused);
	suite_add_tcase(suite, init);
	return test_main(suite);
}

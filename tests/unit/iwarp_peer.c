// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/iwarp_peer.h"

#include <string.h>

#include "base/be_bytes.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

struct iwarp_side peer_side;
bool peer_crc;
struct buf *peer_memory;
struct fabric_key peer_readable, peer_writable;
uint8_t peer_out[1u << 20];
size_t peer_out_bytes;
uint8_t peer_ulpdu[MPA_MAX_ULPDU_BYTES];
size_t peer_ulpdu_bytes;

void peer_output_take(void)
{
	peer_out_bytes = side_take(&peer_side, peer_out, sizeof(peer_out));
}

void peer_frame_give(const struct mpa_frame *frame)
{
	uint8_t bytes[MPA_MAX_FRAME_BYTES];

	side_give(&peer_side, bytes, mpa_frame_encode(frame, bytes), SIZE_MAX);
}

void peer_fpdu_give(void)
{
	uint8_t bytes[MPA_MAX_ULPDU_BYTES + 16];

	side_give(&peer_side, bytes, side_fpdu(bytes, peer_ulpdu, peer_ulpdu_bytes, peer_crc),
		  SIZE_MAX);
}

static void lend(void)
{
	peer_memory = buf_get(peer_side.pool, 2 * LENT_BYTES);
	memset(peer_memory->mem, 0x77, 2 * LENT_BYTES);
	side_key(&peer_side, &peer_readable, peer_memory, 0, LENT_BYTES, FABRIC_REMOTE_READ);
	side_key(&peer_side, &peer_writable, peer_memory, LENT_BYTES, LENT_BYTES,
		 FABRIC_REMOTE_WRITE);
}

void peer_responder_start(void)
{
	struct iwarp_config config = {.crc = peer_crc, .fpdu = IWARP_FPDU_MSS};
	struct mpa_frame request = {.revision = 2, .enhanced = true, .ird = 4, .ord = 2};

	side_init(&peer_side, &config, 42);
	peer_side.refill = false;
	peer_side.params.recv_count = 2;
	iwarp_engine_await_request(peer_side.engine, 0);
	peer_frame_give(&request);
	peer_output_take();
	ck_assert_uint_eq(peer_side.established, 1);
	lend();
}

void peer_initiator_start(void)
{
	struct iwarp_config config = {.crc = peer_crc, .fpdu = IWARP_FPDU_MSS};
	struct mpa_frame reply = {
		.reply = true, .revision = 2, .enhanced = true, .ird = 4, .ord = 4};

	side_init(&peer_side, &config, 42);
	ck_assert_int_eq(iwarp_engine_connect(peer_side.engine, &peer_side.params, 0), 0);
	peer_output_take();
	peer_frame_give(&reply);
	ck_assert_uint_eq(peer_side.established, 1);
	lend();
}

void peer_setup(void)
{
	peer_crc = false;
	peer_responder_start();
}

void peer_teardown(void)
{
	iwarp_engine_flush(peer_side.engine);
	ck_assert(iwarp_engine_key_unbind(peer_side.engine, &peer_readable));
	ck_assert(iwarp_engine_key_unbind(peer_side.engine, &peer_writable));
	buf_put(peer_memory);
	side_fini(&peer_side);
}

void peer_setup_crc(void)
{
	peer_crc = true;
	peer_responder_start();
}

void peer_setup_initiator(void)
{
	peer_crc = false;
	peer_initiator_start();
}

void peer_tagged(enum rdmap_opcode opcode, bool last, uint32_t stag, uint64_t to, size_t payload)
{
	struct ddp_header header = {.tagged = true,
				    .last = last,
				    .ddp_version = 1,
				    .rdmap_version = RDMAP_VERSION,
				    .opcode = (uint8_t)opcode,
				    .stag = stag,
				    .to = to};

	peer_ulpdu_bytes = ddp_header_encode(&header, peer_ulpdu);
	memset(peer_ulpdu + peer_ulpdu_bytes, 0xab, payload);
	peer_ulpdu_bytes += payload;
}

void peer_untagged(unsigned opcode, bool last, uint32_t qn, uint32_t msn, uint32_t mo,
		   size_t payload)
{
	struct ddp_header header = {.last = last,
				    .ddp_version = 1,
				    .rdmap_version = RDMAP_VERSION,
				    .opcode = (uint8_t)opcode,
				    .qn = qn,
				    .msn = msn,
				    .mo = mo};

	peer_ulpdu_bytes = ddp_header_encode(&header, peer_ulpdu);
	memset(peer_ulpdu + peer_ulpdu_bytes, 0xcd, payload);
	peer_ulpdu_bytes += payload;
}

void peer_read_request(uint32_t msn, uint32_t stag, uint64_t to, uint32_t size)
{
	struct rdmap_read read = {.sink_stag = 0xca15cf01,
				  .sink_to = 0xff24d5fa52c05000u,
				  .size_bytes = size,
				  .source_stag = stag,
				  .source_to = to};

	peer_untagged(RDMAP_READ_REQUEST, true, DDP_QN_READ, msn, 0, 0);
	rdmap_read_encode(&read, peer_ulpdu + peer_ulpdu_bytes);
	peer_ulpdu_bytes += RDMAP_READ_BYTES;
}

/*
 * The side must have sent exactly this Terminate (RFC 5040 section 4.8) and nothing else, quoting
 * @quoted bytes of the segment, and want FIN.
 */
void peer_expect_terminate(unsigned layer_type, unsigned code, unsigned bits, size_t quoted)
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
		be16_put(term + len, (uint16_t)peer_ulpdu_bytes);
		memcpy(term + len + 2, peer_ulpdu, quoted);
		len += 2 + quoted;
	}
	len = side_fpdu(want, term, len, peer_crc);
	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, len);
	ck_assert_mem_eq(peer_out, want, len);
	ck_assert_uint_eq(peer_side.counters.terminates_sent, 1);
	ck_assert_uint_eq(peer_side.notes, 1);
	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_FIN);
	ck_assert_int_eq(iwarp_engine_close_reason(peer_side.engine, &detail),
			 FABRIC_CLOSE_PROTOCOL);
	ck_assert_uint_gt(strlen(detail), 0);
	/* What still comes is not looked at. */
	peer_fpdu_give();
	ck_assert_uint_eq(peer_side.notes, 1);
}

void peer_give(const char *hex)
{
	uint8_t bytes[2048];

	side_give(&peer_side, bytes, hex_bytes(hex, bytes, sizeof(bytes)), SIZE_MAX);
}

void peer_expect(const char *hex)
{
	uint8_t bytes[2048];
	size_t len = hex_bytes(hex, bytes, sizeof(bytes));

	peer_output_take();
	ck_assert_uint_eq(peer_out_bytes, len);
	ck_assert_mem_eq(peer_out, bytes, len);
}

void peer_expect_closed(enum fabric_close why)
{
	const char *detail;

	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_DROP);
	ck_assert_int_eq(iwarp_engine_close_reason(peer_side.engine, &detail), why);
	ck_assert_uint_gt(strlen(detail), 0);
	ck_assert_int_eq(iwarp_engine_deadline(peer_side.engine) != UINT64_MAX &&
				 iwarp_engine_deadline(peer_side.engine) < peer_side.now_us,
			 0);
}

void peer_start(bool crc)
{
	struct iwarp_config config = {.crc = crc, .fpdu = IWARP_FPDU_MSS};

	side_init(&peer_side, &config, 1);
}

void peer_listening(bool crc)
{
	peer_start(crc);
	iwarp_engine_await_request(peer_side.engine, peer_side.now_us);
}

void peer_connecting(bool crc)
{
	peer_start(crc);
	hex_bytes(PRIVATE, peer_side.params.private_data, sizeof(peer_side.params.private_data));
	peer_side.params.private_data_bytes = 8;
	ck_assert_int_eq(
		iwarp_engine_connect(peer_side.engine, &peer_side.params, peer_side.now_us), 0);
}

void peer_expect_depths(unsigned ird, unsigned ord)
{
	unsigned got_ird, got_ord;

	iwarp_engine_depths(peer_side.engine, &got_ird, &got_ord);
	ck_assert_uint_eq(got_ird, ird);
	ck_assert_uint_eq(got_ord, ord);
}

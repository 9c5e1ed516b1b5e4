// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/iwarp_sink.h"

#include <string.h>

#define SETUP_HEAD   20u
#define TAGGED_HEAD  14u
#define PLAIN_HEAD   18u
#define REQUEST_BODY 28u
#define CRC_BYTES    4u

/* Opcodes of RFC 5040 section 4.3. */
enum { OP_WRITE, OP_READ_REQUEST, OP_READ_RESPONSE, OP_SEND, OP_SEND_INV, OP_TERMINATE = 7 };

uint64_t ear_seed;

static uint64_t load(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

/* CRC32C, a bit at a time in a table: polynomial 0x1edc6f41 reflected. */
static uint32_t crc_of(const uint8_t *bytes, size_t len_bytes)
{
	static uint32_t table[256];
	uint32_t crc = 0xffffffffu;

	for (uint32_t i = 0; !table[255] && i < 256; i++) {
		uint32_t c = i;

		for (unsigned bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
		table[i] = c;
	}
	while (len_bytes--)
		crc = table[(crc ^ *bytes++) & 0xff] ^ crc >> 8;
	return ~crc;
}

static void crc_put(uint8_t *at, uint32_t crc)
{
	for (unsigned i = 0; i < CRC_BYTES; i++)
		at[i] = (uint8_t)(crc >> 8 * i);
}

void ear_crc_fix(uint8_t *fpdu, size_t len_bytes)
{
	crc_put(fpdu + len_bytes - CRC_BYTES, crc_of(fpdu, len_bytes - CRC_BYTES));
}

void ear_init(struct ear *ear, bool crc, void *arg)
{
	memset(ear, 0, sizeof(*ear));
	ear->crc = crc;
	ear->arg = arg;
	for (unsigned i = 0; i < 3; i++)
		ear->msn[i] = 1;
}

static void hear_tagged(struct ear *ear, uint8_t opcode, bool last, const uint8_t *ddp,
			size_t payload)
{
	uint32_t stag = (uint32_t)load(ddp + 2, 4);
	uint64_t to = load(ddp + 6, 8);

	if (ear->tagged_open) {
		EAR_CHECK(opcode == ear->tagged_opcode);
		EAR_CHECK(stag == ear->tagged_stag);
		EAR_CHECK(to == ear->tagged_to);
	}
	ear->tagged_open = !last;
	ear->tagged_opcode = opcode;
	ear->tagged_stag = stag;
	ear->tagged_to = to + payload;
	if (last)
		ear->count[opcode == OP_WRITE ? EAR_WRITE : EAR_READ_RESPONSE]++;
}

static void hear_send(struct ear *ear, uint8_t opcode, bool last, const uint8_t *ddp,
		      size_t payload)
{
	EAR_CHECK(load(ddp + 6, 4) == 0);
	EAR_CHECK(load(ddp + 10, 4) == ear->msn[0]);
	EAR_CHECK(load(ddp + 14, 4) == ear->send_mo);
	EAR_CHECK(opcode == OP_SEND_INV || load(ddp + 2, 4) == 0);
	EAR_CHECK(!ear->send_open || opcode == ear->send_opcode);
	EAR_CHECK(ear->send_mo + payload <= sizeof(ear->message));
	memcpy(ear->message + ear->send_mo, ddp + PLAIN_HEAD, payload);
	ear->send_mo += (uint32_t)payload;
	ear->send_open = !last;
	ear->send_opcode = opcode;
	if (!last)
		return;
	ear->count[EAR_SEND]++;
	ear->msn[0]++;
	if (ear->send_heard)
		ear->send_heard(ear->arg, ear->message, ear->send_mo);
	ear->send_mo = 0;
}

/* What is whole in one segment. */
static void hear_alone(struct ear *ear, uint8_t opcode, bool last, const uint8_t *ddp,
		       size_t payload)
{
	unsigned queue = opcode == OP_READ_REQUEST ? 1 : 2;

	EAR_CHECK(last);
	EAR_CHECK(load(ddp + 2, 4) == 0);
	EAR_CHECK(load(ddp + 6, 4) == queue);
	EAR_CHECK(load(ddp + 10, 4) == ear->msn[queue]);
	EAR_CHECK(load(ddp + 14, 4) == 0);
	ear->msn[queue]++;
	if (queue == 1) {
		EAR_CHECK(payload == REQUEST_BODY);
		ear->count[EAR_READ_REQUEST]++;
		return;
	}
	/* Terminate Control, and what it quotes (RFC 5040 section 4.8). */
	EAR_CHECK(payload >= 4);
	EAR_CHECK((ddp[PLAIN_HEAD] & 0x0f) <= 2 && ddp[PLAIN_HEAD] >> 4 <= 2);
	EAR_CHECK((ddp[PLAIN_HEAD + 2] & 0x1f) == 0 && ddp[PLAIN_HEAD + 3] == 0);
	ear->terminated = true;
	ear->count[EAR_TERMINATE]++;
}

static void hear_segment(struct ear *ear, const uint8_t *ddp, size_t len_bytes)
{
	uint8_t opcode = ddp[1] & 0x0f;
	bool tagged = ddp[0] & 0x80, last = ddp[0] & 0x40;
	size_t head = tagged ? TAGGED_HEAD : PLAIN_HEAD;

	EAR_CHECK((ddp[0] & 0x3f) == 1); /* reserved bits, and DDP's version */
	EAR_CHECK((ddp[1] & 0xf0) == 0x40);
	EAR_CHECK(len_bytes >= head);
	EAR_CHECK(tagged == (opcode == OP_WRITE || opcode == OP_READ_RESPONSE));
	/* Only the last segment of a message is padded. */
	EAR_CHECK(last || (2 + len_bytes) % 4 == 0);
	if (tagged)
		hear_tagged(ear, opcode, last, ddp, len_bytes - head);
	else if (opcode == OP_SEND || opcode == OP_SEND_INV)
		hear_send(ear, opcode, last, ddp, len_bytes - head);
	else if (opcode == OP_READ_REQUEST || opcode == OP_TERMINATE)
		hear_alone(ear, opcode, last, ddp, len_bytes - head);
	else
		EAR_CHECK(!"an opcode that is sent");
}

/* How long the frame is of which `have` bytes are here; 0: they do not tell yet. */
static size_t frame_bytes(const struct ear *ear)
{
	size_t bare;

	if (!ear->set_up)
		return ear->have < SETUP_HEAD ? 0 : SETUP_HEAD + load(ear->frame + 18, 2);
	if (ear->have < 2)
		return 0;
	bare = 2 + load(ear->frame, 2);
	return bare + (-bare & 3) + CRC_BYTES;
}

static void hear_fpdu(struct ear *ear, size_t len_bytes)
{
	size_t ulpdu = load(ear->frame, 2), at = 2 + ulpdu, end = len_bytes - CRC_BYTES;
	uint8_t crc[CRC_BYTES] = {0};

	EAR_CHECK(!ear->terminated);
	EAR_CHECK(ulpdu >= TAGGED_HEAD);
	for (; at < end; at++)
		EAR_CHECK(ear->frame[at] == 0);
	if (ear->crc)
		crc_put(crc, crc_of(ear->frame, end));
	EAR_CHECK(memcmp(crc, ear->frame + end, CRC_BYTES) == 0);
	hear_segment(ear, ear->frame + 2, ulpdu);
}

static void hear_set_up(struct ear *ear)
{
	EAR_CHECK(memcmp(ear->frame, "MPA ID Re", 9) == 0);
	EAR_CHECK(memcmp(ear->frame + 10, " Frame", 6) == 0);
	EAR_CHECK(load(ear->frame + 18, 2) <= 512);
	ear->set_up = true;
}

void ear_hear(struct ear *ear, const uint8_t *bytes, size_t len_bytes)
{
	while (len_bytes > 0) {
		size_t total = frame_bytes(ear), want;
		bool is_fpdu = ear->set_up;

		EAR_CHECK(total <= sizeof(ear->frame));
		want = total ? total - ear->have : (is_fpdu ? 2 : SETUP_HEAD) - ear->have;
		if (want > len_bytes)
			want = len_bytes;
		memcpy(ear->frame + ear->have, bytes, want);
		ear->have += want;
		bytes += want;
		len_bytes -= want;
		total = frame_bytes(ear);
		if (!total || ear->have < total)
			continue;
		if (is_fpdu)
			hear_fpdu(ear, total);
		else
			hear_set_up(ear);
		ear->have = 0;
		if (ear->frame_heard)
			ear->frame_heard(ear->arg, ear->frame, total, is_fpdu);
	}
}

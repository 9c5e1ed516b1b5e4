// SPDX-License-Identifier: BSD-3-Clause
#include "tests/e2e/mpa.h"

#include <arpa/inet.h>
#include <string.h>

#define CRC32C_REFLECTED 0x82f63b78u
#define FRAME_BYTES      20
#define UNTAGGED_BYTES   18
#define WRITE_BYTES      32768u /* in one FPDU */

static uint32_t crc32c(const uint8_t *data, size_t len)
{
	uint32_t crc = 0xffffffffu;

	while (len--) {
		crc ^= *data++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ CRC32C_REFLECTED : crc >> 1;
	}
	return ~crc;
}

static uint16_t get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)get_u16(p) << 16 | get_u16(p + 2);
}

static void put_u16(struct buf *buf, uint16_t value)
{
	uint16_t be = htons(value);

	buf_put(buf, &be, sizeof(be));
}

static void put_frame(struct buf *out, const char *key, uint8_t flags, uint8_t revision)
{
	static const uint8_t private_data[] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3};
	uint8_t enhanced = flags & MPA_ENHANCED;

	buf_put(out, key, 16);
	buf_put(out, &flags, 1);
	buf_put(out, &revision, 1);
	put_u16(out, (uint16_t)(sizeof(private_data) + (enhanced ? 4 : 0)));
	if (enhanced) {
		put_u16(out, 16);
		put_u16(out, 16);
	}
	buf_put(out, private_data, sizeof(private_data));
}

void mpa_request(struct buf *out, uint8_t flags, uint8_t revision)
{
	put_frame(out, "MPA ID Req Frame", flags, revision);
}

void mpa_fpdu(struct buf *out, const struct buf *ulpdu, bool spoil)
{
	static const uint8_t zero[3];
	size_t begin = out->len;
	uint32_t crc;

	put_u16(out, (uint16_t)ulpdu->len);
	buf_put(out, ulpdu->data, ulpdu->len);
	buf_put(out, zero, -(2 + ulpdu->len) & 3);
	crc = crc32c(out->data + begin, out->len - begin);
	if (spoil)
		crc = ~crc;
	for (int i = 0; i < 4; i++) {
		uint8_t byte = (uint8_t)(crc >> 8 * i);

		buf_put(out, &byte, 1);
	}
}

void ddp_untagged(struct buf *ulpdu, uint8_t opcode, uint32_t qn, uint32_t msn, uint32_t mo)
{
	put_u16(ulpdu, (uint16_t)(0x4140 | opcode));
	buf_u32(ulpdu, 0);
	buf_u32(ulpdu, qn);
	buf_u32(ulpdu, msn);
	buf_u32(ulpdu, mo);
}

static void take_ulpdu(struct mpa *mpa, const uint8_t *ulpdu, size_t len)
{
	uint8_t opcode = len > 1 ? ulpdu[1] & 0xf : 0xff;

	if ((opcode != OP_SEND && opcode != OP_SEND_INV) || len < UNTAGGED_BYTES)
		return;
	mpa->send.len = 0;
	buf_put(&mpa->send, ulpdu + UNTAGGED_BYTES, len - UNTAGGED_BYTES);
	if (mpa->received)
		mpa->received(mpa);
}

/* Bytes of one whole FPDU taken; 0 if it is not whole yet. */
static size_t take_fpdu(struct mpa *mpa, const uint8_t *data, size_t len)
{
	size_t ulpdu_len, body, crc;

	if (len < 2)
		return 0;
	ulpdu_len = get_u16(data);
	body = 2 + ulpdu_len + (-(2 + ulpdu_len) & 3);
	if (len < body + 4)
		return 0;
	crc = (uint32_t)data[body] | (uint32_t)data[body + 1] << 8 |
	      (uint32_t)data[body + 2] << 16 | (uint32_t)data[body + 3] << 24;
	if (crc != crc32c(data, body))
		mpa->bad_crc = true;
	take_ulpdu(mpa, data + 2, ulpdu_len);
	return body + 4;
}

static void answer_request(struct mpa *mpa, uint8_t flags)
{
	struct buf out = {0};

	put_frame(&out, "MPA ID Rep Frame", flags & (MPA_CRC | MPA_ENHANCED), 2);
	conn_send(mpa->conn, out.data, out.len);
	buf_free(&out);
}

/* The other end's start-up frame; 0 if it is not whole yet. */
static size_t take_frame(struct mpa *mpa, const uint8_t *data, size_t len)
{
	size_t whole;

	if (len < FRAME_BYTES)
		return 0;
	if (memcmp(data, mpa->accepts ? "MPA ID Req Frame" : "MPA ID Rep Frame", 16))
		fail("no MPA frame but %08x", get_u32(data));
	whole = FRAME_BYTES + (size_t)get_u16(data + 18);
	if (len < whole)
		return 0;
	if (mpa->accepts)
		answer_request(mpa, data[16]);
	else
		mpa->reply_flags = data[16];
	mpa->started = true;
	return whole;
}

static void received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct mpa *mpa = conn->arg;
	size_t pos = 0, n;

	buf_put(&mpa->in, data, len);
	for (;;) {
		const uint8_t *at = mpa->in.data + pos;
		size_t left = mpa->in.len - pos;

		n = mpa->started ? take_fpdu(mpa, at, left) : take_frame(mpa, at, left);
		if (!n)
			break;
		pos += n;
	}
	memmove(mpa->in.data, mpa->in.data + pos, mpa->in.len - pos);
	mpa->in.len -= pos;
}

static void watch(struct mpa *mpa, struct conn *conn)
{
	memset(mpa, 0, sizeof(*mpa));
	mpa->conn = conn;
	mpa->conn->raw = true;
	mpa->conn->received = received;
	mpa->conn->arg = mpa;
}

void mpa_connect(struct net *net, struct mpa *mpa, uint16_t port)
{
	watch(mpa, net_connect(net, port, 0, 0));
}

void mpa_start(struct mpa *mpa, struct conn *conn)
{
	struct buf out = {0};

	watch(mpa, conn);
	mpa_request(&out, MPA_CRC | MPA_ENHANCED, 2);
	conn_send(conn, out.data, out.len);
	buf_free(&out);
}

void mpa_accept(struct mpa *mpa, struct conn *conn)
{
	watch(mpa, conn);
	mpa->accepts = true;
}

static void send_fpdu(struct mpa *mpa, const struct buf *ulpdu)
{
	struct buf out = {0};

	mpa_fpdu(&out, ulpdu, false);
	conn_send(mpa->conn, out.data, out.len);
	buf_free(&out);
}

void mpa_send(struct mpa *mpa, const struct buf *message)
{
	struct buf ulpdu = {0};

	ddp_untagged(&ulpdu, OP_SEND, QN_SEND, ++mpa->msn, 0);
	buf_put(&ulpdu, message->data, message->len);
	send_fpdu(mpa, &ulpdu);
	buf_free(&ulpdu);
}

void mpa_write(struct mpa *mpa, uint32_t stag, uint64_t to, const uint8_t *data, size_t len)
{
	struct buf ulpdu = {0};
	size_t at = 0;

	do {
		size_t n = len - at < WRITE_BYTES ? len - at : WRITE_BYTES;
		bool last = at + n == len;

		ulpdu.len = 0;
		put_u16(&ulpdu, (uint16_t)((last ? 0xc140 : 0x8140) | OP_WRITE));
		buf_u32(&ulpdu, stag);
		buf_u64(&ulpdu, to + at);
		buf_put(&ulpdu, data + at, n);
		send_fpdu(mpa, &ulpdu);
		at += n;
	} while (at < len);
	buf_free(&ulpdu);
}

void mpa_send_call(struct mpa *mpa, const struct buf *call)
{
	struct buf message = {0};

	buf_put(&message, call->data, 4);
	buf_u32(&message, 1);
	buf_u32(&message, 16);
	for (int i = 0; i < 4; i++)
		buf_u32(&message, 0); /* RDMA_MSG, and three lists that are empty */
	buf_put(&message, call->data, call->len);
	mpa_send(mpa, &message);
	buf_free(&message);
}

void mpa_free(struct mpa *mpa, bool reset)
{
	conn_free(mpa->conn, reset);
	buf_free(&mpa->in);
	buf_free(&mpa->send);
}

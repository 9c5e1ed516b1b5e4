// SPDX-License-Identifier: BSD-3-Clause
/* The actions of hostile peers: everything that a peer can do to a proxy with one connection. */
#include <arpa/inet.h>
#include <string.h>

#include "tests/e2e/hostile.h"
#include "tests/e2e/message.h"

#define LARGE_BYTES   1048576u
#define HANDFUL       64  /* concurrent small Calls */
#define OVERRUN_CALLS 300 /* more than any grant */
#define CHUNK_BYTES   65536u
#define LAST_FRAGMENT 0x80000000u

#define RDMA_MSG      0
#define RDMA_NOMSG    1

uint32_t dice_throw(struct dice *dice, uint32_t n)
{
	uint64_t z = dice->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ (z >> 31)) % n);
}

/* ---- what is sent ---- */

/* A Call that its server understands, which asks for @reply_len bytes where that can be asked. */
static void put_call(struct hostile *h, struct buf *call, uint32_t args_len, uint32_t reply_len)
{
	uint32_t xid = dice_throw(&h->dice, UINT32_MAX);

	if (h->target->program == TEST_PROGRAM)
		echo_call(call, TEST_PROGRAM, xid, args_len, reply_len);
	else
		call_begin(call, xid, h->target->program, 3, 0, AUTH_SYS);
}

static void send_calls(struct hostile *h, unsigned n, uint32_t args_len, uint32_t reply_len)
{
	while (n--) {
		struct buf call = {0};

		put_call(h, &call, args_len, reply_len);
		if (h->kind->rdma)
			mpa_send_call(&h->mpa, &call);
		else
			conn_send_record(h->mpa.conn, call.data, call.len);
		buf_free(&call);
	}
}

static void put_garbage(struct hostile *h, struct buf *out, uint32_t max)
{
	pattern_put(out, dice_throw(&h->dice, UINT32_MAX), 1 + dice_throw(&h->dice, max));
}

static void send_garbage(struct hostile *h)
{
	put_garbage(h, &h->mpa.conn->out, 8192);
}

static void send_few(struct hostile *h)
{
	send_calls(h, 1 + dice_throw(&h->dice, 8), 100, 100);
}

static void send_handful(struct hostile *h)
{
	send_calls(h, HANDFUL, 0, 0);
}

/* ---- over TCP ---- */

static void drip_call(struct hostile *h)
{
	struct buf call = {0};

	put_call(h, &call, 0, 0);
	buf_u32(&h->drip, LAST_FRAGMENT | (uint32_t)call.len);
	buf_put(&h->drip, call.data, call.len);
	buf_free(&call);
}

/* So much of a large Call that all of it is claimed, if memory is there. */
static void send_half(struct hostile *h)
{
	struct buf call = {0};

	put_call(h, &call, LARGE_BYTES, 0);
	buf_u32(&h->mpa.conn->out, LAST_FRAGMENT | LARGE_BYTES);
	conn_send(h->mpa.conn, call.data, call.len < 20000 ? call.len : 20000);
	buf_free(&call);
}

static void send_endless(struct hostile *h)
{
	buf_u32(&h->mpa.conn->out, UINT32_MAX);
	put_garbage(h, &h->mpa.conn->out, 60000);
}

static void send_fragments(struct hostile *h)
{
	for (unsigned i = 0; i < 2000; i++)
		buf_u32(&h->mpa.conn->out, i & 1);
}

static void ask_large(struct hostile *h)
{
	send_calls(h, 16, 100, LARGE_BYTES / 2);
}

/* Random bytes change in a good Call. */
static void send_damaged(struct hostile *h)
{
	struct buf call = {0};

	put_call(h, &call, 200, 100);
	for (unsigned i = 0; i < 4; i++)
		call.data[dice_throw(&h->dice, (uint32_t)call.len)] ^=
			(uint8_t)dice_throw(&h->dice, 256);
	conn_send_record(h->mpa.conn, call.data, call.len);
	buf_free(&call);
}

static void send_copies(struct hostile *h)
{
	struct buf call = {0};

	put_call(h, &call, 100, 100);
	for (unsigned i = 0; i < 5; i++)
		conn_send_record(h->mpa.conn, call.data, call.len);
	buf_free(&call);
}

static void send_and_shut(struct hostile *h)
{
	send_few(h);
	conn_shut(h->mpa.conn);
}

/* ---- over iWARP ---- */

static void send_half_request(struct hostile *h)
{
	struct buf request = {0};

	mpa_request(&request, MPA_CRC | MPA_ENHANCED, 2);
	conn_send(h->mpa.conn, request.data, 1 + dice_throw(&h->dice, (uint32_t)request.len - 1));
	buf_free(&request);
}

static void drip_request(struct hostile *h)
{
	mpa_request(&h->drip, MPA_CRC | MPA_ENHANCED, 2);
}

static void send_ulpdu(struct hostile *h, const struct buf *ulpdu, bool spoil)
{
	mpa_fpdu(&h->mpa.conn->out, ulpdu, spoil);
}

static void send_bad_crc(struct hostile *h)
{
	struct buf ulpdu = {0};

	ddp_untagged(&ulpdu, OP_SEND, QN_SEND, 1, 0);
	put_garbage(h, &ulpdu, 1000);
	send_ulpdu(h, &ulpdu, true);
	buf_free(&ulpdu);
}

/* Well framed; all else is by chance. */
static void send_random_ulpdu(struct hostile *h)
{
	struct buf ulpdu = {0};

	put_garbage(h, &ulpdu, 2000);
	send_ulpdu(h, &ulpdu, false);
	buf_free(&ulpdu);
}

/* Well framed Sends, whose transport headers are by chance. */
static void send_random_header(struct hostile *h)
{
	for (uint32_t msn = 1; msn <= 4; msn++) {
		struct buf ulpdu = {0};

		ddp_untagged(&ulpdu, OP_SEND, QN_SEND, msn, 0);
		buf_u32(&ulpdu, dice_throw(&h->dice, UINT32_MAX));
		buf_u32(&ulpdu, 1);
		buf_u32(&ulpdu, 16);
		buf_u32(&ulpdu, dice_throw(&h->dice, 5));
		for (unsigned i = dice_throw(&h->dice, 40); i; i--)
			buf_u32(&ulpdu, dice_throw(&h->dice, 3));
		send_ulpdu(h, &ulpdu, false);
		buf_free(&ulpdu);
	}
}

/* Calls in Read chunks, whose Reads are never answered. */
static void offer_chunks(struct hostile *h)
{
	for (unsigned i = 0; i < 4; i++) {
		struct buf ulpdu = {0};

		ddp_untagged(&ulpdu, OP_SEND, QN_SEND, ++h->mpa.msn, 0);
		buf_u32(&ulpdu, dice_throw(&h->dice, UINT32_MAX));
		buf_u32(&ulpdu, 1);
		buf_u32(&ulpdu, 16);
		buf_u32(&ulpdu, RDMA_NOMSG);
		buf_u32(&ulpdu, 1); /* a read segment at position 0 */
		buf_u32(&ulpdu, 0);
		buf_u32(&ulpdu, 0x1000 + i);
		buf_u32(&ulpdu, CHUNK_BYTES);
		for (unsigned word = 0; word < 5; word++)
			buf_u32(&ulpdu, 0); /* its offset, and three ends of lists */
		send_ulpdu(h, &ulpdu, false);
		buf_free(&ulpdu);
	}
}

static void overrun_credits(struct hostile *h)
{
	send_calls(h, OVERRUN_CALLS, 0, 0);
}

static void ask_inline(struct hostile *h)
{
	send_calls(h, 16, 100, 3000);
}

static const struct hostile_kind kinds[] = {
	{"silent", false, false, false, false, false, NULL},
	{"garbage", false, false, false, false, false, send_garbage},
	{"one byte a second", false, false, false, true, false, drip_call},
	{"half a Call", false, false, false, false, false, send_half},
	{"a record of 2 GiB", false, false, false, false, false, send_endless},
	{"fragments without end", false, false, false, false, false, send_fragments},
	{"a reader that stops", false, false, true, true, false, ask_large},
	{"many Calls, nothing read", false, false, true, false, false, send_handful},
	{"damaged Calls", false, false, false, false, false, send_damaged},
	{"copies of a Call", false, false, false, false, false, send_copies},
	{"a reset with Calls in flight", false, false, false, false, true, send_few},
	{"a half-close with Calls in flight", false, false, false, false, false, send_and_shut},
	{"silent", true, false, false, false, false, NULL},
	{"half an MPA request", true, false, false, false, false, send_half_request},
	{"garbage", true, false, false, false, false, send_garbage},
	{"one byte a second", true, false, false, true, false, drip_request},
	{"silent after its set-up", true, true, false, false, false, NULL},
	{"a bad CRC", true, true, false, false, false, send_bad_crc},
	{"an FPDU of garbage", true, true, false, false, false, send_random_ulpdu},
	{"headers of garbage", true, true, false, false, false, send_random_header},
	{"Reads never answered", true, true, false, true, false, offer_chunks},
	{"credits overrun", true, true, false, false, false, overrun_credits},
	{"a reader that stops", true, true, true, true, false, ask_inline},
	{"a reset with Calls in flight", true, true, false, false, true, send_few},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct hostile_kind *hostile_kind_of(struct dice *dice, bool rdma)
{
	const struct hostile_kind *kind;

	do
		kind = &kinds[dice_throw(dice, KINDS)];
	while (kind->rdma != rdma);
	return kind;
}

unsigned hostile_kind_number(const struct hostile_kind *kind)
{
	return (unsigned)(kind - kinds);
}

const struct hostile_kind *hostile_kind_at(unsigned number)
{
	return number < KINDS ? &kinds[number] : NULL;
}

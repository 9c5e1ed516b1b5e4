// SPDX-License-Identifier: BSD-3-Clause
/* A hostile RDMA peer: each kind of nonsense gets its documented answer, and nobody else notices. */
#include "tests/e2e/mpa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/echo.h"

#define WAIT_S       20

#define RDMA_MSG     0
#define RDMA_NOMSG   1
#define RDMA_ERROR   4
#define ERR_VERS     1
#define ERR_CHUNK    2

#define GARBAGE_ARGS 4

/* What must come of it. */
enum outcome {
	DROPPED,   /* the connection closes without an MPA reply */
	REJECTED,  /* an MPA reply that rejects */
	TERMINATE, /* a Terminate with .detail as 0xLTCC, then the end */
	CLOSED,    /* the end, with or without a Terminate */
	RPCRDMA,   /* an RDMA_ERROR with error .detail, and the connection stays */
	IGNORED,   /* nothing, and the connection stays */
	ANSWERED,  /* the Call is answered, with .detail as its accept_stat */
};

static void put_random(struct buf *out)
{
	pattern_put(out, 4711, 65536);
}

static void put_wrong_key(struct buf *out)
{
	mpa_request(out, MPA_CRC | MPA_ENHANCED, 2);
	out->data[5] ^= 0x20;
}

static void put_reply_frame(struct buf *out)
{
	mpa_request(out, MPA_CRC | MPA_ENHANCED, 2);
	memcpy(out->data, "MPA ID Rep Frame", 16);
}

static void put_long_private_data(struct buf *out)
{
	mpa_request(out, MPA_CRC | MPA_ENHANCED, 2);
	out->data[18] = out->data[19] = 0xff;
	pattern_put(out, 1, 65536);
}

static void put_early_fpdu(struct buf *out)
{
	struct buf ulpdu = {0};

	mpa_request(out, MPA_CRC | MPA_ENHANCED, 2);
	ddp_untagged(&ulpdu, OP_SEND, QN_SEND, 1, 0);
	mpa_fpdu(out, &ulpdu, false);
	buf_free(&ulpdu);
}

static void put_markers(struct buf *out)
{
	mpa_request(out, MPA_MARKERS | MPA_CRC | MPA_ENHANCED, 2);
}

static void put_http(struct buf *out)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: example.net\r\n\r\n";

	buf_put(out, request, strlen(request));
}

/* After the start-up: one FPDU each. */

static void put_ulpdu(struct buf *out, const struct buf *ulpdu)
{
	mpa_fpdu(out, ulpdu, false);
}

static void header_begin(struct buf *ulpdu, uint32_t msn, uint32_t version, uint32_t proc)
{
	ddp_untagged(ulpdu, OP_SEND, QN_SEND, msn, 0);
	buf_u32(ulpdu, 0x7001);
	buf_u32(ulpdu, version);
	buf_u32(ulpdu, 16);
	buf_u32(ulpdu, proc);
}

static void put_call(struct buf *ulpdu)
{
	for (int i = 0; i < 3; i++)
		buf_u32(ulpdu, 0);
	echo_call(ulpdu, TEST_PROGRAM, 0x7001, 64, 64);
}

static void put_good_call(struct buf *out)
{
	struct buf ulpdu = {0};

	header_begin(&ulpdu, 1, 1, RDMA_MSG);
	put_call(&ulpdu);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static void put_bad_crc(struct buf *out)
{
	struct buf ulpdu = {0};

	header_begin(&ulpdu, 1, 1, RDMA_MSG);
	put_call(&ulpdu);
	mpa_fpdu(out, &ulpdu, true);
	buf_free(&ulpdu);
}

static void put_untagged(struct buf *out, uint16_t control, uint32_t qn, uint32_t msn, uint32_t mo)
{
	struct buf ulpdu = {0};

	ddp_untagged(&ulpdu, 0, qn, msn, mo);
	ulpdu.data[0] = (uint8_t)(control >> 8);
	ulpdu.data[1] = (uint8_t)control;
	pattern_put(&ulpdu, 1, 64);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static void put_ddp_version(struct buf *out)
{
	put_untagged(out, 0x4243, QN_SEND, 1, 0);
}

static void put_rdmap_version(struct buf *out)
{
	put_untagged(out, 0x4183, QN_SEND, 1, 0);
}

static void put_opcode(struct buf *out)
{
	put_untagged(out, 0x414f, QN_SEND, 1, 0);
}

static void put_qn(struct buf *out)
{
	put_untagged(out, 0x4143, 9, 1, 0);
}

static void put_msn(struct buf *out)
{
	put_untagged(out, 0x4143, QN_SEND, 7, 0);
}

static void put_mo(struct buf *out)
{
	put_untagged(out, 0x4143, QN_SEND, 1, 64);
}

static void put_too_long(struct buf *out)
{
	struct buf ulpdu = {0};

	ddp_untagged(&ulpdu, OP_SEND, QN_SEND, 1, 0);
	pattern_put(&ulpdu, 1, 60000);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static void put_write(struct buf *out)
{
	struct buf ulpdu = {0};

	ddp_tagged(&ulpdu, OP_WRITE, 0x12345678, 0);
	pattern_put(&ulpdu, 1, 64);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static void put_read(struct buf *out)
{
	struct buf ulpdu = {0};

	ddp_untagged(&ulpdu, OP_READ_REQ, QN_READ, 1, 0);
	buf_u32(&ulpdu, 0x1000);
	buf_u32(&ulpdu, 0);
	buf_u32(&ulpdu, 0);
	buf_u32(&ulpdu, 4096);
	buf_u32(&ulpdu, 0x12345678);
	buf_u32(&ulpdu, 0);
	buf_u32(&ulpdu, 0);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static void put_read_response(struct buf *out)
{
	struct buf ulpdu = {0};

	ddp_tagged(&ulpdu, OP_READ_RESP, 0x1000, 0);
	pattern_put(&ulpdu, 1, 64);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static void put_short_fpdu(struct buf *out)
{
	struct buf ulpdu = {0};

	buf_put(&ulpdu, "\x41\x43", 2);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static void put_version(struct buf *out)
{
	struct buf ulpdu = {0};

	header_begin(&ulpdu, 1, 77, RDMA_MSG);
	put_call(&ulpdu);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static void put_proc(struct buf *out)
{
	struct buf ulpdu = {0};

	header_begin(&ulpdu, 1, 1, 99);
	put_call(&ulpdu);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static void put_endless_list(struct buf *out)
{
	struct buf ulpdu = {0};

	header_begin(&ulpdu, 1, 1, RDMA_MSG);
	for (int i = 0; i < 20; i++)
		buf_u32(&ulpdu, 1);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static void put_many_segments(struct buf *out)
{
	struct buf ulpdu = {0};

	header_begin(&ulpdu, 1, 1, RDMA_MSG);
	buf_u32(&ulpdu, 0);
	buf_u32(&ulpdu, 1);
	buf_u32(&ulpdu, 0xffffffffu);
	pattern_put(&ulpdu, 1, 400);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static void put_another_xid(struct buf *out)
{
	struct buf ulpdu = {0};

	header_begin(&ulpdu, 1, 1, RDMA_MSG);
	for (int i = 0; i < 3; i++)
		buf_u32(&ulpdu, 0);
	echo_call(&ulpdu, TEST_PROGRAM, 0x9999, 64, 64);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

/* A WRITE of NFSv3 with 100 bytes, of which a chunk offers 99 and which nobody reads. */
static void put_short_chunk(struct buf *out)
{
	static const uint32_t args[] = {4, 0xf11e, 0, 0, 100, 2, 100};
	struct buf ulpdu = {0}, call = {0};

	call_begin(&call, 0x7001, NFS_PROGRAM, 3, 7, AUTH_NONE);
	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
		buf_u32(&call, args[i]);
	header_begin(&ulpdu, 1, 1, RDMA_MSG);
	buf_u32(&ulpdu, 1);
	buf_u32(&ulpdu, (uint32_t)call.len); /* its position */
	buf_u32(&ulpdu, 0x12345678);
	buf_u32(&ulpdu, 99);
	for (int i = 0; i < 5; i++) /* an offset, and the ends of the lists */
		buf_u32(&ulpdu, 0);
	buf_put(&ulpdu, call.data, call.len);
	put_ulpdu(out, &ulpdu);
	buf_free(&call);
	buf_free(&ulpdu);
}

static void put_short_send(struct buf *out)
{
	struct buf ulpdu = {0};

	ddp_untagged(&ulpdu, OP_SEND, QN_SEND, 1, 0);
	buf_u32(&ulpdu, 0x7001);
	buf_u32(&ulpdu, 1);
	put_ulpdu(out, &ulpdu);
	buf_free(&ulpdu);
}

static const struct kind {
	const char *name;
	bool started; /* sent after a good start-up, instead of it */
	void (*put)(struct buf *out);
	enum outcome outcome;
	uint32_t detail;
} kinds[] = {
	{"random bytes", false, put_random, DROPPED, 0},
	{"an HTTP request", false, put_http, DROPPED, 0},
	{"a wrong key", false, put_wrong_key, DROPPED, 0},
	{"a reply instead of a request", false, put_reply_frame, DROPPED, 0},
	{"too much private data", false, put_long_private_data, DROPPED, 0},
	{"an FPDU before the reply", false, put_early_fpdu, DROPPED, 0},
	{"markers", false, put_markers, REJECTED, 0},
	{"a good Call", true, put_good_call, ANSWERED, 0},
	{"a bad CRC", true, put_bad_crc, TERMINATE, 0x2002},
	{"an FPDU without room for a header", true, put_short_fpdu, CLOSED, 0},
	{"an unknown DDP version", true, put_ddp_version, TERMINATE, 0x1206},
	{"an unknown RDMAP version", true, put_rdmap_version, TERMINATE, 0x0205},
	{"an unknown opcode", true, put_opcode, TERMINATE, 0x0206},
	{"an unknown queue", true, put_qn, TERMINATE, 0x1201},
	{"a message out of order", true, put_msn, TERMINATE, 0x1203},
	{"a segment out of order", true, put_mo, TERMINATE, 0x1204},
	{"a Send longer than its receive", true, put_too_long, TERMINATE, 0x1205},
	{"a Write to nobody's memory", true, put_write, TERMINATE, 0x1100},
	{"a Read of nobody's memory", true, put_read, TERMINATE, 0x0100},
	{"a Read Response to nothing", true, put_read_response, CLOSED, 0},
	{"an unknown RPC-over-RDMA version", true, put_version, RPCRDMA, ERR_VERS},
	{"an unknown procedure", true, put_proc, RPCRDMA, ERR_CHUNK},
	{"a chunk list without an end", true, put_endless_list, RPCRDMA, ERR_CHUNK},
	{"4,294,967,295 segments", true, put_many_segments, RPCRDMA, ERR_CHUNK},
	{"two XIDs", true, put_another_xid, RPCRDMA, ERR_CHUNK},
	{"a chunk that is shorter than its data", true, put_short_chunk, ANSWERED, GARBAGE_ARGS},
	{"a Send too short for anything", true, put_short_send, IGNORED, 0},
};

static bool started(void *arg)
{
	struct mpa *mpa = arg;

	return mpa->started || mpa->conn->closed;
}

static bool closed(void *arg)
{
	return ((struct mpa *)arg)->conn->closed;
}

static bool sent_or_closed(void *arg)
{
	struct mpa *mpa = arg;

	return mpa->sends || mpa->conn->closed;
}

static void send_now(struct mpa *mpa, void (*put)(struct buf *out))
{
	struct buf out = {0};

	put(&out);
	conn_send(mpa->conn, out.data, out.len);
	buf_free(&out);
}

static void start_up(struct net *net, struct mpa *mpa, const char *name)
{
	struct buf out = {0};

	mpa_request(&out, MPA_CRC | MPA_ENHANCED, 2);
	conn_send(mpa->conn, out.data, out.len);
	buf_free(&out);
	if (!net_run_until(net, started, mpa, WAIT_S) || mpa->conn->closed)
		fail("%s: no start-up", name);
	if (mpa->reply_flags & MPA_REJECT || !(mpa->reply_flags & MPA_CRC))
		fail("%s: the start-up is answered with flags %02x", name, mpa->reply_flags);
}

static void judge_rpcrdma(struct net *net, struct mpa *mpa, const struct kind *kind)
{
	const uint8_t *data;

	if (!net_run_until(net, sent_or_closed, mpa, WAIT_S))
		fail("%s: no answer", kind->name);
	data = mpa->send.data;
	if (!mpa->sends || mpa->send.len < 20)
		fail("%s: the connection ends, or the answer is short", kind->name);
	if (memcmp(data, "\0\0\x70\x01", 4))
		fail("%s: the answer's XID is wrong", kind->name);
	if (kind->outcome == RPCRDMA && (data[15] != RDMA_ERROR || data[19] != kind->detail))
		fail("%s: answered with procedure %u, error %u", kind->name, data[15], data[19]);
	if (kind->outcome != RPCRDMA &&
	    (data[15] != RDMA_MSG || mpa->send.len != 28 + 24 + (kind->detail ? 0 : 64) ||
	     data[51] != kind->detail))
		fail("%s: answered with procedure %u, %zu bytes", kind->name, data[15],
		     mpa->send.len);
	if (mpa->conn->closed)
		fail("%s: the connection ends", kind->name);
}

static void judge(struct net *net, struct mpa *mpa, const struct kind *kind,
		  struct echo_client *good)
{
	switch (kind->outcome) {
	case DROPPED:
		if (!net_run_until(net, closed, mpa, WAIT_S) || mpa->started)
			fail("%s: taken for a start-up", kind->name);
		break;
	case REJECTED:
		if (!net_run_until(net, started, mpa, WAIT_S) || !(mpa->reply_flags & MPA_REJECT))
			fail("%s: not rejected", kind->name);
		break;
	case TERMINATE:
	case CLOSED:
		if (!net_run_until(net, closed, mpa, WAIT_S))
			fail("%s: the connection stays", kind->name);
		if (kind->outcome == TERMINATE &&
		    (!mpa->terminated || mpa->terminate != kind->detail))
			fail("%s: Terminate %04x, not %04x", kind->name, mpa->terminate,
			     kind->detail);
		break;
	case RPCRDMA:
	case ANSWERED:
		judge_rpcrdma(net, mpa, kind);
		break;
	case IGNORED:
		echo_client_ask(net, good, kind->name);
		if (mpa->sends || mpa->conn->closed)
			fail("%s: not ignored", kind->name);
		break;
	}
	if (mpa->bad_crc)
		fail("%s: an FPDU with a bad CRC came back", kind->name);
}

static void try_kind(struct net *net, uint16_t port, const struct kind *kind,
		     struct echo_client *good)
{
	struct mpa mpa;

	mpa_connect(net, &mpa, port);
	if (kind->started)
		start_up(net, &mpa, kind->name);
	send_now(&mpa, kind->put);
	judge(net, &mpa, kind, good);
	mpa_free(&mpa, false);
	echo_client_ask(net, good, kind->name);
	printf("%s\n", kind->name);
}

/* Peers that come and leave at once, before and after their start-up, some with a Call in flight. */
static void try_crowd(struct net *net, uint16_t port, struct echo_client *good)
{
	for (unsigned i = 0; i < 60; i++) {
		struct mpa mpa;

		mpa_connect(net, &mpa, port);
		if (i % 3)
			start_up(net, &mpa, "a peer that leaves");
		if (i % 3 == 2) {
			send_now(&mpa, put_good_call);
			net_turn(net, 1);
		}
		mpa_free(&mpa, i & 1);
	}
	echo_client_ask(net, good, "60 peers that leave");
}

int main(int argc, char **argv)
{
	struct echo_client good = {.xid_base = 0x100, .args_len = 6000, .reply_len = 6000};
	struct echo_server server = {0};
	uint16_t front, fabric, back;
	struct net net;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 4) {
		fprintf(stderr, "usage: mpa_peer FRONT FABRIC BACK\n");
		return 2;
	}
	front = (uint16_t)atoi(argv[1]);
	fabric = (uint16_t)atoi(argv[2]);
	back = (uint16_t)atoi(argv[3]);
	net_init(&net);
	echo_server_listen(&net, back, &server);
	echo_client_start(&net, &good, front);
	echo_client_ask(&net, &good, "before anything");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		try_kind(&net, fabric, &kinds[i], &good);
	try_crowd(&net, fabric, &good);
	net_free(&net);
	return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
/* NFSv3 over iWARP in version one as it is deployed, and over TCP. */
#include "tests/judge/bytes.h"
#include "tests/judge/forge.h"

#define DATA_BYTES 1000u
#define READ_STAG  0x12345600u
#define GETATTR    1u
#define WRITE      7u

static void put_error(struct conn *c, uint32_t xid)
{
	struct msg m = {.len = 0};

	words(&m, 5, (uint32_t[]){xid, 1, 1, 4, 2});
	put_send(c, 1, &m);
}

static void put_call(struct conn *c, uint32_t xid)
{
	struct msg m = {.len = 0};

	words(&m, 7, (uint32_t[]){xid, 1, 32, 0, 0, 0, 0});
	if (fault("header") && xid == 3)
		put_be32(m.data + 16, 1); /* a read chunk that is not there */
	rpc_call(&m, xid, GETATTR);
	if (fault("long") && xid == 3)
		fill(&m, 2000, 0);
	if (fault("truncated") && xid == 3)
		m.len -= 8;
	put_send(c, 0, &m);
}

static void put_reply(struct conn *c, uint32_t xid, uint32_t grant)
{
	struct msg m = {.len = 0};

	if (fault("no-reply") && xid == 3)
		return;
	words(&m, 7, (uint32_t[]){xid, 1, grant, 0, 0, 0, 0});
	rpc_reply(&m, xid);
	put_send(c, 1, &m);
	if (fault("twice") && xid == 3)
		put_send(c, 1, &m);
}

/* A WRITE whose data the server reads. */
static void put_write(struct conn *c, uint32_t xid)
{
	struct msg rpc = {.len = 0}, m = {.len = 0};

	rpc_call(&rpc, xid, WRITE);
	words(&rpc, 5, (uint32_t[]){0, 0, DATA_BYTES, 2, DATA_BYTES});
	words(&m, 4, (uint32_t[]){xid, 1, 32, 0});
	words(&m, 6, (uint32_t[]){1, (uint32_t)rpc.len, READ_STAG, DATA_BYTES, 0, 4096});
	words(&m, 3, (uint32_t[]){0, 0, 0});
	append(&m, &rpc);
	put_send(c, 0, &m);
	put_read(c, 1, READ_STAG, DATA_BYTES);
	if (!fault("no-response") && !fault("early-reply"))
		put_response(c, 0, DATA_BYTES);
	m.len = 0;
	words(&m, 7, (uint32_t[]){xid, 1, 4, 0, 0, 0, 0});
	rpc_reply(&m, xid);
	words(&m, 2, (uint32_t[]){0, 0});
	put_send(c, 1, &m);
	if (fault("early-reply"))
		put_response(c, 0, DATA_BYTES);
}

/* A Call with a reply chunk, whose Reply comes inline. */
static void put_offer(struct conn *c, uint32_t xid)
{
	struct msg m = {.len = 0};
	uint32_t bytes = fault("returned-full") ? 4000 : 0;

	words(&m, 6, (uint32_t[]){xid, 1, 32, 0, 0, 0});
	if (fault("not-offered"))
		word(&m, 0);
	else
		words(&m, 6, (uint32_t[]){1, 1, READ_STAG, 4000, 0, 0});
	rpc_call(&m, xid, GETATTR);
	put_send(c, 0, &m);
	m.len = 0;
	words(&m, 6, (uint32_t[]){xid, 1, 4, 0, 0, 0});
	if (fault("left-out"))
		word(&m, 0);
	else
		words(&m, 6, (uint32_t[]){1, 1, READ_STAG, bytes, 0, 0});
	rpc_reply(&m, xid);
	put_send(c, 1, &m);
}

static void iwarp(void)
{
	struct conn c;

	connect_ends(&c, 900, 20049);
	put_mpa(&c, 0, 0x00010000, 0x01010000);
	put_mpa(&c, 1, 0x00000001, 0x01010000);
	put_call(&c, 1);
	if (fault("eager")) {
		put_call(&c, 20);
		put_reply(&c, 20, 4);
	}
	put_reply(&c, 1, 4);
	for (uint32_t xid = 2; xid <= 5; xid++)
		put_call(&c, xid);
	if (fault("again"))
		put_call(&c, 5);
	if (fault("overrun")) {
		put_call(&c, 6);
		put_reply(&c, 6, 4);
	}
	put_reply(&c, 3, 4);
	if (fault("bounded"))
		return;
	put_reply(&c, 2, 4);
	put_reply(&c, 5, 4);
	put_reply(&c, 4, 4);
	put_write(&c, 7);
	if (fault("returned") || fault("returned-full") || fault("left-out") ||
	    fault("not-offered"))
		put_offer(&c, 10);
	put_call(&c, 8);
	put_error(&c, 8);
	if (fault("terminate"))
		put_terminate(&c, 0);
	if (fault("killed")) {
		put_call(&c, 9);
		put_segment(&c, 1, RST | ACK, c.end[1].seq, NULL, 0);
		return;
	}
	disconnect(&c);
}

static void records(void)
{
	struct conn c;

	connect_ends(&c, 901, 2049);
	for (uint32_t xid = 0x101; xid <= 0x103; xid++) {
		struct msg m = {.len = 0};

		rpc_call(&m, xid, GETATTR);
		if (fault("tcp-truncated") && xid == 0x102)
			m.len -= 8;
		put_record(&c, 0, &m);
		m.len = 0;
		rpc_reply(&m, xid);
		if (!(fault("tcp-no-reply") && xid == 0x103))
			put_record(&c, 1, &m);
	}
	disconnect(&c);
}

void story_one(void)
{
	iwarp();
	if (fault("ports-again"))
		iwarp();
	if (!fault("bounded"))
		records();
}

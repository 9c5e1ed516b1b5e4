// SPDX-License-Identifier: BSD-3-Clause
/*
 * Version two: the ends exchange characteristics, call in both directions, and request other
 * values. The private data say 1024 bytes both ways, which version two raises to 4096, and the
 * characteristics to 6144.
 */
#include "tests/judge/forge.h"

#include "tests/judge/bytes.h"

#define GETATTR      1u
#define DATA_BYTES   400u
#define RAISED_BYTES 6144u
#define BASE_BYTES   4096u
#define CALL_STAG    0x7a000000u

enum { INIT = 1, REQUEST, RESPOND, UPDATE };
enum { RBSIZ = 1, RQREMINV, BRS };

static void header(struct msg *m, uint32_t xid, uint32_t proc)
{
	*m = (struct msg){.len = 0};
	words(m, 4, (uint32_t[]){xid, 2, 4, proc});
}

static void put_optional(struct conn *c, unsigned side, uint32_t xid, uint32_t option,
			 const struct msg *info)
{
	struct msg m;

	header(&m, xid, 5);
	words(&m, 2,
	      (uint32_t[]){option,
			   (uint32_t)info->len + (option > UPDATE && fault("short") ? 4 : 0)});
	append(&m, info);
	if (fault("payload") && option == REQUEST && side == 0)
		word(&m, 0);
	put_send(c, side, &m);
}

static void put_call(struct conn *c, uint32_t xid, size_t total)
{
	struct msg m;

	header(&m, xid, 0);
	words(&m, 3, (uint32_t[]){0, 0, 0});
	rpc_call(&m, xid, GETATTR);
	if (total)
		fill(&m, total - m.len, 0);
	put_send(c, 0, &m);
}

static void put_reply(struct conn *c, unsigned side, uint32_t xid, size_t total)
{
	struct msg m;

	header(&m, xid, 0);
	if (fault("reply-reads") && xid == 2)
		words(&m, 6, (uint32_t[]){1, 32, 0x7b000000, DATA_BYTES, 0, 0});
	words(&m, 3, (uint32_t[]){0, 0, 0});
	rpc_reply(&m, xid);
	if (total)
		fill(&m, total - m.len, 0);
	put_send(c, side, &m);
}

/* RDMA_ERROR: 2 for BAD_HEADER, 3 for INVAL_OPTION. */
static void put_error(struct conn *c, unsigned side, uint32_t xid, uint32_t error)
{
	struct msg m;

	header(&m, xid, 4);
	word(&m, error);
	put_send(c, side, &m);
}

static void value(struct msg *info, uint32_t which, uint32_t number)
{
	words(info, 3, (uint32_t[]){which, 4, number});
}

/* ---------------------------------------------------------------- the beginning */

static void initiator_begins(struct conn *c)
{
	struct msg info = {.len = 0};

	word(&info, 4);
	value(&info, RBSIZ, RAISED_BYTES);
	value(&info, RQREMINV, fault("bool") ? 2 : !fault("uninvited"));
	value(&info, BRS, fault("backward-none") ? 1 : fault("backward-limited") ? 2 : 3);
	words(&info, 2, (uint32_t[]){0xffffff01, fault("first-long") ? 1000 : 3});
	fill(&info, fault("first-long") ? 1000 : 4, 0);
	words(&info, 2, (uint32_t[]){1, 1u << 1}); /* which does not change: the second */
	put_optional(c, 0, 0x1001, INIT, &info);
}

static void acceptor_begins(struct conn *c)
{
	struct msg info = {.len = 0};

	word(&info, !fault("default-size"));
	if (!fault("default-size"))
		value(&info, RBSIZ, RAISED_BYTES);
	word(&info, 0);
	put_optional(c, 1, 0x1001, INIT, &info);
}

/* Four concurrent Calls, as the INIT has granted, one of them of the maximum length. */
static void call(struct conn *c)
{
	for (uint32_t xid = 1; xid <= 4; xid++)
		put_call(c, xid, xid == 2 ? RAISED_BYTES : 0);
	if (fault("overrun"))
		put_call(c, 5, 0);
	for (uint32_t xid = 1; xid <= 4; xid++)
		put_reply(c, 1, xid, xid == 2 ? RAISED_BYTES : 0);
	if (fault("overrun"))
		put_reply(c, 1, 5, 0);
}

/* ---------------------------------------------------------------- chunks */

/* A Call and its Reply in chunks; the Reply invalidates a key. */
static void call_by_chunks(struct conn *c, uint32_t xid)
{
	struct msg m;

	header(&m, xid, 1);
	words(&m, 6,
	      (uint32_t[]){1, fault("call-nowhere") ? 4 : 0, CALL_STAG, DATA_BYTES, 0, 4096});
	words(&m, 4, (uint32_t[]){0, 0, 1, 1});
	words(&m, 4, (uint32_t[]){CALL_STAG + 1, 4000, 0, 0});
	put_send(c, 0, &m);
	put_read(c, 1, CALL_STAG, DATA_BYTES);
	put_response(c, 0, DATA_BYTES);
	header(&m, xid, 1);
	words(&m, 2, (uint32_t[]){0, 0});
	if (fault("reply-nowhere"))
		word(&m, 0);
	else
		words(&m, 6, (uint32_t[]){1, 1, CALL_STAG + 1, 3000, 0, 0});
	put_send_invalidate(c, 1, &m, CALL_STAG + (fault("stranger-key") ? 2 : 1));
}

/* The acceptor calls with a read chunk. */
static void call_back(struct conn *c, uint32_t xid)
{
	struct msg m;

	header(&m, xid, 1);
	words(&m, 6, (uint32_t[]){1, 0, CALL_STAG, DATA_BYTES, 0, 4096});
	words(&m, 3, (uint32_t[]){0, 0, 0});
	put_send(c, 1, &m);
	if (fault("two-back")) {
		put_be32(m.data, xid + 1);
		put_send(c, 1, &m);
	}
	put_read(c, 0, CALL_STAG, DATA_BYTES);
	put_response(c, 1, DATA_BYTES);
	put_reply(c, 0, xid, 0);
	if (fault("two-back"))
		put_reply(c, 0, xid + 1, 0);
}

/* ---------------------------------------------------------------- other values */

static void put_request(struct conn *c, unsigned side, uint32_t xid, uint32_t bytes)
{
	struct msg info = {.len = 0};

	word(&info, 2);
	value(&info, RBSIZ, bytes);
	value(&info, 77, 0);
	put_optional(c, side, xid, REQUEST, &info);
}

/* @done and so on: the one word of each subset. */
static void put_response_to(struct conn *c, unsigned side, uint32_t xid, uint32_t done,
			    uint32_t rejected, uint32_t pending)
{
	struct msg info = {.len = 0};

	words(&info, 6, (uint32_t[]){1, done, 1, rejected, 1, pending});
	put_optional(c, side, xid, RESPOND, &info);
}

static void put_update(struct conn *c, unsigned side, uint32_t xid, uint32_t which, uint32_t number,
		       bool clear)
{
	struct msg info = {.len = 0};

	value(&info, which, number);
	word(&info, clear);
	put_optional(c, side, xid, UPDATE, &info);
}

/* The acceptor asks, and is answered at once. */
static void acceptor_asks(struct conn *c)
{
	put_request(c, 1, 0x2001, BASE_BYTES);
	if (fault("no-response"))
		return;
	if (fault("overlap"))
		put_response_to(c, 0, 0x2001, 1, 3, 0);
	else if (fault("uncovered"))
		put_response_to(c, 0, 0x2001, 1, 0, 0);
	else
		put_response_to(c, 0, fault("stray-response") ? 0x2002 : 0x2001, 1, 2, 0);
}

/* The initiator asks for less, keeps to that itself at once, and gets it later. */
static void initiator_asks(struct conn *c)
{
	put_request(c, 0, 0x1002, BASE_BYTES);
	if (fault("asked-long"))
		put_call(c, 6, BASE_BYTES + 4);
	if (fault("asked-long"))
		put_reply(c, 1, 6, 0);
	if (fault("asked-refused")) {
		put_response_to(c, 1, 0x1002, 0, 3, 0);
		put_call(c, 7, RAISED_BYTES);
		put_reply(c, 1, 7, 0);
		return;
	}
	put_response_to(c, 1, 0x1002, 0, 2, 1);
	put_update(c, 1, 0x2003, RBSIZ, BASE_BYTES, true);
	put_call(c, 7, fault("updated-long") ? BASE_BYTES + 4 : BASE_BYTES);
	put_reply(c, 1, 7, fault("granted-long") ? BASE_BYTES + 4 : BASE_BYTES);
	put_update(c, 1, 0x2004, RBSIZ, RAISED_BYTES, false);
	put_call(c, 8, RAISED_BYTES);
	put_reply(c, 1, 8, 0);
}

/* Changes that nobody asked for. */
static void changes(struct conn *c)
{
	if (fault("unasked"))
		put_update(c, 1, 0x2005, RBSIZ, BASE_BYTES, false);
	if (fault("constant"))
		put_update(c, 0, 0x1003, RQREMINV, 0, false);
	if (fault("silent")) {
		put_update(c, 1, 0x2005, 77, 0, false);
		put_update(c, 1, 0x2006, 77, 0, false);
		put_update(c, 1, 0x2007, 77, 0, false);
	}
	for (uint32_t i = 0; fault("flood") && i < 6; i++)
		put_update(c, 0, 0x1100 + i, 77, 0, false);
	if (fault("half-known")) {
		put_update(c, 1, 0x2005, 77, 0, false);
		put_request(c, 0, 0x1004, RAISED_BYTES);
		put_response_to(c, 1, 0x1004, 3, 0, 0);
		put_error(c, 0, 0x2005, 3);
	}
}

/* A Call that begins before the acceptor's receives are as long, and ends after. */
static void begin_early(struct conn *c)
{
	struct msg m;

	header(&m, 0x30, 0);
	words(&m, 3, (uint32_t[]){0, 0, 0});
	rpc_call(&m, 0x30, GETATTR);
	fill(&m, RAISED_BYTES + 4 - m.len, 0);
	put_send_part(c, 0, &m, 0, 1000);
	put_update(c, 1, 0x2008, RBSIZ, RAISED_BYTES + 4, false);
	put_send_part(c, 0, &m, 1000, m.len);
	put_reply(c, 1, 0x30, 0);
}

/* An operation that the acceptor does not know. */
static void unknown(struct conn *c)
{
	struct msg info = {.len = 0};

	fill(&info, 8, 0xaa);
	put_optional(c, 0, 0x1005, 9, &info);
	if (!fault("unknown-unanswered"))
		put_error(c, 1, 0x1005, fault("unknown-bad") || fault("short") ? 2 : 3);
}

/* What the version does not have. */
static void reserved(struct conn *c)
{
	struct msg m;

	header(&m, 10, fault("padded") ? 2 : fault("done-sent") ? 3 : 5);
	if (fault("version-one"))
		put_be32(m.data + 4, 1);
	put_send(c, 0, &m);
}

void story_two(void)
{
	struct conn c;

	connect_ends(&c, 903, 20049);
	put_mpa(&c, 0, 0x00040001, 0x01000000);
	put_mpa(&c, 1, 0x00010004, 0x01000000);
	initiator_begins(&c);
	acceptor_begins(&c);
	call(&c);
	call_by_chunks(&c, 5);
	call_back(&c, 5);
	acceptor_asks(&c);
	initiator_asks(&c);
	changes(&c);
	unknown(&c);
	put_call(&c, 9, 0);
	put_error(&c, 1, 9, fault("option-error") ? 3 : 2);
	if (fault("begun-early"))
		begin_early(&c);
	if (fault("padded") || fault("done-sent") || fault("version-one"))
		reserved(&c);
	disconnect(&c);
}

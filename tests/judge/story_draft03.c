// SPDX-License-Identifier: BSD-3-Clause
/*
 * The additions of draft-ietf-nfsv4-rpcrdma-03: a configuration, a padded Call, and Replies that
 * the initiator Reads. The private data say 1024 bytes both ways, and do not invite Send with
 * Invalidate.
 */
#include "tests/judge/bytes.h"
#include "tests/judge/forge.h"

#define CONFIG_PROG 100417u
#define GETATTR     1u
#define DATA_BYTES  400u
#define CALL_BYTES  4096u /* as configured */
#define REPLY_BYTES 2048u

/* A transport header of version one; without lists if @proc has none. */
static void header(struct msg *m, uint32_t xid, uint32_t credit, uint32_t proc)
{
	*m = (struct msg){.len = 0};
	words(m, 4, (uint32_t[]){xid, 1, credit, proc});
}

static void no_lists(struct msg *m)
{
	words(m, 3, (uint32_t[]){0, 0, 0});
}

/* @total: of the Send; zero: as long as it is. */
static void put_call(struct conn *c, uint32_t xid, size_t total)
{
	struct msg m;

	header(&m, xid, 8, 0);
	no_lists(&m);
	rpc_call(&m, xid, GETATTR);
	if (total)
		fill(&m, total - m.len, 0);
	put_send(c, 0, &m);
}

static void put_reply(struct conn *c, uint32_t xid, size_t total)
{
	struct msg m;

	header(&m, xid, 2, 0);
	no_lists(&m);
	rpc_reply(&m, xid);
	if (total)
		fill(&m, total - m.len, 0);
	put_send(c, 1, &m);
}

/* ---------------------------------------------------------------- configuration */

static void put_config_call(struct conn *c, uint32_t xid)
{
	struct msg m;

	header(&m, xid, 8, 0);
	no_lists(&m);
	words(&m, 6, (uint32_t[]){xid, 0, 2, CONFIG_PROG, 1, 1});
	words(&m, 4, (uint32_t[]){0, 0, 0, 0});
	words(&m, fault("config-arguments") ? 2 : 3, (uint32_t[]){65536, REPLY_BYTES, 1});
	put_send(c, 0, &m);
}

static void put_config_reply(struct conn *c, uint32_t xid)
{
	struct msg m;

	header(&m, xid, 2, 0);
	no_lists(&m);
	words(&m, 5, (uint32_t[]){xid, 1, 0, 0, 0});
	if (fault("config-unknown")) {
		word(&m, 1); /* PROG_UNAVAIL */
	} else {
		word(&m, 0);
		words(&m, 2, (uint32_t[]){fault("config-small") ? 1 : CALL_BYTES, 4});
		if (!fault("config-results"))
			word(&m, fault("reads") ? 1 : 4);
	}
	put_send(c, 1, &m);
}

static void configure(struct conn *c)
{
	put_config_call(c, 1);
	if (fault("config-beside"))
		put_call(c, 0x20, 0);
	put_config_reply(c, 1);
	if (fault("config-beside"))
		put_reply(c, 0x20, 0);
	if (fault("config-late")) {
		put_call(c, 0x20, 0);
		put_config_call(c, 0x21);
		put_config_reply(c, 0x21);
		put_reply(c, 0x20, 0);
	}
}

/* ---------------------------------------------------------------- padding and reading */

/* The name of a file stands where a receive buffer of 1024 bytes begins. */
static void put_padded_call(struct conn *c, uint32_t xid)
{
	struct msg m;

	header(&m, xid, 8, 2);
	words(&m, 2, (uint32_t[]){1024, 1024});
	no_lists(&m);
	if (fault("padded-header"))
		put_be32(m.data + 24, 2);
	rpc_call(&m, fault("padded-xid") ? xid + 1 : xid, GETATTR);
	word(&m, 1500);
	fill(&m, 1024 - m.len % 1024, 0);
	fill(&m, 1500, 0xda);
	put_send(c, 0, &m);
}

/* A Reply of which the initiator reads a part, or at position zero the whole. */
static void put_read_reply(struct conn *c, uint32_t xid, uint32_t position)
{
	struct msg m;
	uint32_t stag = 0x77000000u + xid;

	header(&m, xid, fault("narrow") ? 1 : 2, position ? 0 : 1);
	words(&m, 6, (uint32_t[]){1, position, stag, DATA_BYTES, 0, 4096});
	no_lists(&m);
	if (position) {
		rpc_reply(&m, xid);
		word(&m, DATA_BYTES);
	}
	put_send(c, 1, &m);
}

static void put_done(struct conn *c, uint32_t xid)
{
	struct msg m;

	header(&m, xid, 8, 3);
	if (fault("done-long") && xid == 2)
		word(&m, 0);
	put_send(c, 0, &m);
}

/* Reads what the Reply offers, and says so. */
static void read_reply(struct conn *c, uint32_t xid)
{
	bool twice = xid == 2 && (fault("reads") || fault("depth") || fault("two-reads"));
	bool early = xid == 2 && fault("done-early");

	put_read(c, 0, 0x77000000u + xid, DATA_BYTES);
	if (twice)
		put_read(c, 0, 0x77000000u + xid, DATA_BYTES);
	if (early)
		put_done(c, xid);
	put_response(c, 1, DATA_BYTES);
	if (twice)
		put_response(c, 1, DATA_BYTES);
	if (!early && !(xid == 3 && fault("no-done")))
		put_done(c, xid);
}

static void read_chunks(struct conn *c)
{
	put_padded_call(c, 2);
	put_read_reply(c, 2, 32);
	if (fault("narrow") || fault("done-owed"))
		put_call(c, fault("narrow") ? 0x30 : 2, 0);
	read_reply(c, 2);
	if (fault("narrow") || fault("done-owed"))
		put_reply(c, fault("narrow") ? 0x30 : 2, 0);
	if (fault("done-twice"))
		put_done(c, 2);

	put_call(c, 3, 0);
	put_read_reply(c, 3, 0);
	put_call(c, 4, CALL_BYTES);
	read_reply(c, 3);
	put_reply(c, 4, REPLY_BYTES);
}

/* ---------------------------------------------------------------- what else may not be */

static void put_reverse(struct conn *c, uint32_t xid)
{
	struct msg m;

	header(&m, xid, 1, 0);
	if (fault("reverse-chunks"))
		words(&m, 9, (uint32_t[]){0, 1, 1, 0x78000000, DATA_BYTES, 0, 0, 0, 0});
	else
		no_lists(&m);
	rpc_call(&m, xid, 0);
	put_send(c, 1, &m);
	header(&m, xid, 1, 0);
	words(&m, 2, (uint32_t[]){0, 0});
	word(&m, fault("reverse-reply-chunk"));
	if (fault("reverse-reply-chunk"))
		words(&m, 5, (uint32_t[]){1, 0x78000000, DATA_BYTES, 0, 0});
	rpc_reply(&m, xid);
	put_send(c, 0, &m);
}

/* A Call with a write chunk, whose key the Reply may invalidate if the initiator said so. */
static void invalidate(struct conn *c, uint32_t xid)
{
	struct msg m;

	header(&m, xid, 8, 0);
	words(&m, 7, (uint32_t[]){0, 1, 1, 0x79000000, DATA_BYTES, 0, 0});
	words(&m, 2, (uint32_t[]){0, 0});
	rpc_call(&m, xid, GETATTR);
	put_send(c, 0, &m);
	header(&m, xid, 2, 0);
	no_lists(&m);
	rpc_reply(&m, xid);
	if (fault("stranger-key"))
		put_send_invalidate(c, 1, &m, 0x79000001);
	else if (fault("uninvited") || fault("invited"))
		put_send_invalidate(c, 1, &m, 0x79000000);
	else
		put_send(c, 1, &m);
}

void story_draft03(void)
{
	bool invites = fault("stranger-key") || fault("invited");
	struct conn c;

	connect_ends(&c, 902, 20049);
	put_mpa(&c, 0, 0x00010004, invites ? 0x01010000 : 0x01000000);
	put_mpa(&c, 1, fault("depth") ? 0x00010001 : 0x00040001, 0x01000000);
	if (!fault("no-config"))
		configure(&c);
	else {
		put_call(&c, 1, 0);
		put_reply(&c, 1, 0);
	}
	if (fault("config-alone")) {
		put_call(&c, 2, 0);
		put_reply(&c, 2, 0);
		disconnect(&c);
		return;
	}
	read_chunks(&c);
	if (fault("config-long"))
		put_call(&c, 5, CALL_BYTES + 4);
	if (fault("config-long"))
		put_reply(&c, 5, 0);
	if (fault("config-long-reply")) {
		put_call(&c, 5, 0);
		put_reply(&c, 5, REPLY_BYTES + 4);
	}
	put_reverse(&c, 2);
	invalidate(&c, 6);
	disconnect(&c);
}

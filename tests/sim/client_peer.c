// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/client_peer.h"

#include <stdlib.h>

#include "tests/lib/test.h"

struct rig *rig;
struct raw *raw;

struct rpcrdma_header hdr;
const uint8_t *body;
uint32_t len;

const uint8_t pd_4096_inv[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

void open_with(const uint8_t *pd, size_t n)
{
	raw = raw_open_client(rig, pd, n);
}

void setup(void)
{
	rig = rig_new(NULL);
	fake_nfs_reset();
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
}

void setup_closed(void)
{
	rig = rig_new(NULL);
	fake_nfs_reset();
}

void teardown(void)
{
	raw_free(raw);
	rig_end(rig);
}

void begin(uint32_t xid, enum rpcrdma_proc proc)
{
	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, proc);
}

void add_read(uint32_t position, const struct fabric_key *key)
{
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){position, raw_segment(key)};
}

void add_write(const struct fabric_key *key)
{
	hdr.writes[hdr.nwrites++] =
		(struct rpcrdma_chunk){hdr.nsegments, 1, key ? key->len_bytes : 0};
	if (key)
		hdr.segments[hdr.nsegments++] = raw_segment(key);
	else
		hdr.writes[hdr.nwrites - 1].count = 0;
}

void set_reply_chunk(const struct fabric_key *key)
{
	hdr.has_reply_chunk = true;
	hdr.reply_chunk = (struct rpcrdma_chunk){hdr.nsegments, 1, key->len_bytes};
	hdr.segments[hdr.nsegments++] = raw_segment(key);
}

void send_call(uint32_t call_bytes, uint32_t reply_bytes)
{
	uint8_t call[8192];

	rig_fill_call(call, call_bytes, hdr.xid, reply_bytes);
	raw_send_header(raw, &hdr, call, call_bytes);
}

void next(void)
{
	raw_next_header(raw, &hdr, &body, &len);
}

void expect_reply_bytes(const uint8_t *got, uint32_t n, uint32_t from, uint32_t total, uint32_t xid)
{
	uint8_t *want = malloc(total);

	rig_fill_reply(want, total, xid);
	ck_assert_mem_eq(got, want + from, n);
	free(want);
}

static void expect_short_reply(uint32_t xid, uint32_t n)
{
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_uint_eq(hdr.nreads, 0);
	ck_assert_uint_eq(len, n);
	expect_reply_bytes(body, n, 0, n, xid);
}

void expect_inline_reply(uint32_t xid, uint32_t n)
{
	expect_short_reply(xid, n);
	ck_assert(!hdr.has_reply_chunk);
}

void expect_reply_beside_chunk(uint32_t xid, uint32_t n, unsigned nsegments)
{
	expect_short_reply(xid, n);
	ck_assert(hdr.has_reply_chunk);
	ck_assert_uint_eq(hdr.reply_chunk.count, nsegments);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 0);
}

void expect_silence(void)
{
	ck_assert_ptr_null(raw_next(raw));
}

void expect_alive(void)
{
	ck_assert_ptr_nonnull(rig->server.leg);
	begin(0x77777777, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	expect_inline_reply(0x77777777, 100);
}

void expect_closed(enum leg_close why)
{
	rig_run(rig);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_int_eq(rig->server.why, why);
}

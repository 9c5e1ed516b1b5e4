// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/server_peer.h"

#include <stdlib.h>

#include "tests/lib/test.h"

struct rig *rig;
struct raw *raw;

struct rpcrdma_header call;
const uint8_t *call_body;
uint32_t call_len;

const uint8_t pd_4096[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3};

void open_with(const struct sim_faults *faults, const uint8_t *pd, size_t n)
{
	rig = rig_new(faults);
	raw = raw_open_server(rig, pd, n);
}

void setup(void)
{
	open_with(NULL, pd_4096, sizeof(pd_4096));
}

void reopen(const struct sim_faults *faults, const uint8_t *pd, size_t n)
{
	raw_free(raw);
	rig_end(rig);
	open_with(faults, pd, n);
}

void teardown(void)
{
	raw_free(raw);
	rig_end(rig);
}

uint32_t make_call(uint32_t call_bytes, uint32_t reply_bytes, uint32_t reply_max)
{
	uint32_t xid = rig_call(&rig->client, call_bytes, reply_bytes, reply_max);

	rig_run_for(rig, 1000);
	return xid;
}

void next_call(void)
{
	raw_next_header(raw, &call, &call_body, &call_len);
}

unsigned sends_waiting(void)
{
	return raw->nrecvs - raw->nread;
}

void reply_inline(uint32_t xid, uint32_t reply_bytes, uint32_t credit)
{
	struct rpcrdma_header hdr;
	uint8_t reply[8192];

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, credit, RPCRDMA_MSG);
	rig_fill_reply(reply, reply_bytes, xid);
	raw_send_header(raw, &hdr, reply, reply_bytes);
}

void write_reply(uint32_t reply_bytes)
{
	uint8_t *reply = malloc(reply_bytes);
	uint32_t at = 0;

	rig_fill_reply(reply, reply_bytes, call.xid);
	for (unsigned i = 0; i < call.reply_chunk.count && at < reply_bytes; i++) {
		struct rpcrdma_segment *seg = &call.segments[call.reply_chunk.first + i];
		uint32_t n = seg->len_bytes < reply_bytes - at ? seg->len_bytes : reply_bytes - at;

		ck_assert_int_eq(raw_write(raw, reply + at, n, seg->handle, seg->offset),
				 FABRIC_OK);
		seg->len_bytes = n;
		at += n;
	}
	free(reply);
}

void send_nomsg(void)
{
	call.proc = RPCRDMA_NOMSG;
	call.nreads = 0;
	call.credit = 32;
	raw_send_header(raw, &call, NULL, 0);
}

void expect_answered(unsigned n)
{
	ck_assert_uint_eq(rig->client.answered, n);
	ck_assert_uint_eq(rig->client.wrong, 0);
}

void expect_fault(enum exchange_fault fault)
{
	ck_assert_uint_eq(rig->client.faults, 1);
	ck_assert_int_eq(rig->client.last_fault, fault);
	ck_assert_uint_eq(rig->client.closed, 0);
}

void expect_closed(enum leg_close why)
{
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, why);
}

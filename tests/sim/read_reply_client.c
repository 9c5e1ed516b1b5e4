// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/read_reply_client.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/lib/test.h"

struct rpcrdma_header lent;

void lent_rig(const struct sim_faults *faults)
{
	rig = rig_new(faults);
	fake_nfs_reset();
	rig->server.config.version_one = DIALECT_DRAFT03;
	rig->server.config.done_timeout_us = TIMEOUT_US;
}

void lent_setup_closed(void)
{
	lent_rig(NULL);
}

void lent_setup(void)
{
	lent_rig(NULL);
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
}

void lent_reopen(const struct sim_faults *faults)
{
	rig_end(rig);
	lent_rig(faults);
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
}

void next_lent(uint32_t xid)
{
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_uint_ge(hdr.credit, 1);
	ck_assert_uint_ge(hdr.nreads, 1);
	for (unsigned i = 0; i < hdr.nreads; i++)
		ck_assert_uint_eq(hdr.reads[i].position, 0);
	ck_assert(!hdr.has_reply_chunk);
	ck_assert_uint_eq(len, 0);
	lent = hdr;
}

void call_lent(uint32_t xid, uint32_t reply_bytes)
{
	begin(xid, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, reply_bytes);
	next_lent(xid);
}

uint8_t *read_lent(uint32_t *bytes)
{
	uint8_t *got = NULL;

	*bytes = 0;
	for (unsigned i = 0; i < lent.nreads; i++) {
		const struct rpcrdma_segment *seg = &lent.reads[i].seg;

		got = realloc(got, *bytes + seg->len_bytes);
		ck_assert_int_eq(
			raw_read(raw, got + *bytes, seg->len_bytes, seg->handle, seg->offset),
			FABRIC_OK);
		*bytes += seg->len_bytes;
	}
	return got;
}

void expect_lent(uint32_t xid, uint32_t reply_bytes)
{
	uint32_t bytes;
	uint8_t *got = read_lent(&bytes);

	ck_assert_uint_eq(bytes, reply_bytes);
	expect_reply_bytes(got, bytes, 0, bytes, xid);
	free(got);
}

void post_done(uint32_t xid, uint32_t credit)
{
	struct rpcrdma_header done;
	uint8_t bytes[RPCRDMA_FIXED_BYTES];

	rpcrdma_header_init(&done, xid, RPCRDMA_VERSION_ONE, credit, RPCRDMA_DONE);
	ck_assert_uint_eq(rpcrdma_header_encode(&done, bytes, sizeof(bytes)), sizeof(bytes));
	raw_post_send(raw, bytes, sizeof(bytes));
}

void send_done(uint32_t xid)
{
	post_done(xid, 32);
	rig_run_for(rig, raw->step_us);
}

void expect_dead(const struct rpcrdma_segment *seg)
{
	uint8_t byte;

	ck_assert_int_eq(raw_read(raw, &byte, 1, seg->handle, seg->offset), FABRIC_ERR_REMOTE);
	expect_closed(LEG_CLOSE_LOST);
	ck_assert_int_eq(rig->server.close_errno, ECONNRESET);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/read_reply_peer.h"

#include <stdlib.h>

#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"

void lent_open(const struct sim_faults *faults, void (*change)(struct rdma_leg_config *config))
{
	fake_nfs_reset();
	rig = rig_new(faults);
	rig->client.config.version_one = DIALECT_DRAFT03;
	if (change)
		change(&rig->client.config);
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
}

void lent_setup(void)
{
	lent_open(NULL, NULL);
}

void lent_reopen(const struct sim_faults *faults, void (*change)(struct rdma_leg_config *config))
{
	raw_free(raw);
	rig_end(rig);
	lent_open(faults, change);
}

void lent_header(struct rpcrdma_header *hdr, enum rpcrdma_proc proc)
{
	rpcrdma_header_init(hdr, call.xid, RPCRDMA_VERSION_ONE, 32, proc);
}

void lent_put(struct rpcrdma_header *hdr, uint32_t position, const uint8_t *data, uint32_t len,
	      unsigned pieces, bool slowly)
{
	uint32_t at = 0;

	for (unsigned i = 1; i <= pieces; i++) {
		uint32_t n = (uint32_t)((uint64_t)len * i / pieces) - at;
		struct fabric_key *key = slowly ? raw_lend_slowly(raw, data + at, n)
						: raw_lend(raw, data + at, n, FABRIC_REMOTE_READ);

		hdr->reads[hdr->nreads++] =
			(struct rpcrdma_read_segment){position, raw_segment(key)};
		at += n;
	}
}

void lent_go_on(void)
{
	for (unsigned i = 0; i < raw->nkeys; i++)
		fabric_key_ready(&raw->keys[i], raw->keys[i].len_bytes);
	rig_run_for(rig, 1000);
}

uint8_t *lent_reply(uint32_t len)
{
	uint8_t *reply = malloc(len);

	rig_fill_reply(reply, len, call.xid);
	return reply;
}

static void answer(uint32_t len, unsigned pieces, bool slowly)
{
	uint8_t *reply = lent_reply(len);
	struct rpcrdma_header hdr;

	lent_header(&hdr, RPCRDMA_NOMSG);
	lent_put(&hdr, 0, reply, len, pieces, slowly);
	free(reply);
	raw_send_header(raw, &hdr, NULL, 0);
}

void lent_answer(uint32_t len, unsigned pieces)
{
	answer(len, pieces, false);
}

void lent_answer_slowly(uint32_t len)
{
	answer(len, 1, true);
}

/* A3.6-4, A3.8-6, A4.1-5 */
void lent_expect_done(uint32_t xid)
{
	const struct raw_recv *recv = raw_next(raw);
	struct rpcrdma_header hdr;

	ck_assert_ptr_nonnull(recv);
	ck_assert_uint_eq(recv->len_bytes, 16);
	ck_assert_int_eq(rpcrdma_header_decode(recv->data, recv->len_bytes, &hdr), RPCRDMA_OK);
	ck_assert_int_eq(hdr.proc, RPCRDMA_DONE);
	ck_assert_uint_eq(hdr.vers, RPCRDMA_VERSION_ONE);
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_uint_eq(hdr.credit, rig->client.config.credits);
}

void lent_expect_bad(bool done)
{
	if (done)
		lent_expect_done(call.xid);
	ck_assert_uint_eq(rig->client.counters.dones_sent, done);
	ck_assert_uint_eq(sends_waiting(), 0);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
	ck_assert_uint_eq(rig->client.counters.reply_bytes_pulled, 0);
	ck_assert_uint_eq(rdma_leg_of(rig->client.leg)->conn.window.in_flight, 0);
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}

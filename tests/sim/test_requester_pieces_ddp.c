// SPDX-License-Identifier: BSD-3-Clause
/* Tests Calls whose data are a read chunk, sent before all of the data have arrived. */
#include <string.h>

#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lib/test.h"
#include "tests/sim/pieces.h"

/*
 * A Call whose facts have been found before all of it is here, its data at 160 and @tail_bytes
 * behind those and their pad.
 */
static struct exchange *begin_known_call(uint32_t data_bytes, uint32_t tail_bytes)
{
	uint32_t call_bytes = 160 + (uint32_t)xdr_padded_bytes(data_bytes) + tail_bytes;
	struct exchange *x;

	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->client.config.ddp = true;
	rig->client.config.max_segment_bytes = 4000;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
	rdma_leg_of(rig->client.leg)->conn.deferred_reads = true;
	x = rig_call_in_pieces(&rig->client, call_bytes, 100, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 0);
	x->call_info.stage = CALL_INFO_COMPLETE;
	x->call_info.narg_payloads = 1;
	x->call_info.arg = (struct rpc_payload){160, data_bytes};
	return x;
}

static void expect_data_ready(struct exchange *x, uint32_t data_bytes)
{
	const struct exposed_mem *exposed_mem =
		&((struct requester_rpc *)x->target_priv)->exposed_mem;
	uint32_t ready = 0, here = x->call.have_bytes - 160;

	for (unsigned i = 0; i < exposed_mem->nkeys; i++)
		ready += exposed_mem->keys[i].key.ready_bytes;
	ck_assert_uint_eq(ready, here < data_bytes ? here : data_bytes);
}

/* With a pad behind the data or without one. */
START_TEST(a_call_whose_data_come_last_leaves_when_its_head_is_here)
{
	const uint32_t data_bytes = 9998 + 2 * (uint32_t)_i;
	struct exchange *x = begin_known_call(data_bytes, 0);
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len, xid = x->call_info.hdr.xid;
	uint8_t want[10160], got[10000];

	rig_call_grow(&rig->client, x, 159);
	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 0);
	rig_call_grow(&rig->client, x, 160);
	rig_run(rig);
	raw_next_header(raw, &hdr, &body, &len);
	rig_fill_call(want, 10160, xid, 100);
	ck_assert_int_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.nreads, 3);
	ck_assert_uint_eq(len, 160);
	ck_assert_mem_eq(body, want, 160);
	expect_data_ready(x, data_bytes);
	for (uint32_t have = 161; have <= 10160; have += 101) {
		rig_call_grow(&rig->client, x, have);
		expect_data_ready(x, data_bytes);
	}
	rig_call_grow(&rig->client, x, 10160);
	expect_data_ready(x, data_bytes);
	for (unsigned i = 0; i < 3; i++) {
		const struct rpcrdma_segment *seg = &hdr.reads[i].seg;

		ck_assert_uint_eq(hdr.reads[i].position, 160);
		ck_assert_int_eq(
			raw_read(raw, got + 4000 * i, seg->len_bytes, seg->handle, seg->offset),
			FABRIC_OK);
	}
	ck_assert_mem_eq(got, want + 160, data_bytes);
	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	rig_fill_reply(got, 100, xid);
	raw_send_header(raw, &hdr, got, 100);
	ck_assert_uint_eq(rig->client.answered, 1);
	pieces_end();
}
END_TEST

/* What goes inline must all be here. */
START_TEST(a_call_with_more_behind_its_data_waits_for_that)
{
	struct exchange *x = begin_known_call(10000, 40);

	rig_call_grow(&rig->client, x, 10199);
	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 0);
	rig_call_grow(&rig->client, x, 10200);
	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 1);
	pieces_end();
}
END_TEST

START_TEST(a_read_of_data_that_are_broken_off_is_not_answered)
{
	for (uint32_t have = 160; have < 4160; have += 433) {
		struct exchange *x = begin_known_call(10000, 0);
		struct rpcrdma_header hdr;
		const uint8_t *body;
		uint8_t got[4000];
		uint32_t len;

		rig_call_grow(&rig->client, x, have);
		rig_run(rig);
		raw_next_header(raw, &hdr, &body, &len);
		(void)raw_read(raw, got, 4000, hdr.reads[0].seg.handle, hdr.reads[0].seg.offset);
		rig_run(rig);
		ck_assert_uint_lt(raw->done, raw->posted);
		expect_broken_off(&rig->client);
		ck_assert_uint_eq(raw->done, raw->posted);
		ck_assert_int_eq(raw->last_status, FABRIC_FLUSHED);
		pieces_end();
	}
}
END_TEST

/*
 * The fabric has found that the connection is over, and has not reported it yet: keys cannot be
 * bound any more.
 */
START_TEST(a_call_that_comes_on_a_connection_that_is_dying_goes_on_to_come)
{
	struct exchange *x = begin_known_call(10000, 0);

	fabric_ep_close(rdma_leg_of(rig->client.leg)->conn.ep);
	rig_call_grow(&rig->client, x, 160);
	rig_call_grow(&rig->client, x, 5000);
	rig_call_grow(&rig->client, x, 10160);
	rig_run(rig);
	pieces_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("requester_pieces_ddp");
	TCase *tc = tcase_create("pieces");

	tcase_add_loop_test(tc, a_call_whose_data_come_last_leaves_when_its_head_is_here, 0, 2);
	tcase_add_test(tc, a_call_with_more_behind_its_data_waits_for_that);
	tcase_add_test(tc, a_read_of_data_that_are_broken_off_is_not_answered);
	tcase_add_test(tc, a_call_that_comes_on_a_connection_that_is_dying_goes_on_to_come);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the client leg with ddp: one payload of a Call as a read chunk, one of its Reply in a write
 * chunk.
 */
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/server_peer.h"

static void open_ddp(const struct sim_faults *faults)
{
	fake_nfs_reset();
	rig = rig_new(faults);
	rig->client.config.ddp = true;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
}

static void setup_ddp(void)
{
	open_ddp(NULL);
}

static void teardown_ddp(void)
{
	teardown();
}

static void expect_payload_read(uint32_t xid, uint32_t call_bytes, uint32_t offset, uint32_t len)
{
	uint8_t *want = malloc(call_bytes), *got = malloc(len);
	uint32_t at = 0;

	rig_fill_call(want, call_bytes, xid, 100);
	for (unsigned i = 0; i < call.nreads; i++) {
		ck_assert_uint_eq(call.reads[i].position, offset);
		ck_assert_int_eq(raw_read(raw, got + at, call.reads[i].seg.len_bytes,
					  call.reads[i].seg.handle, call.reads[i].seg.offset),
				 FABRIC_OK);
		at += call.reads[i].seg.len_bytes;
	}
	ck_assert_uint_eq(at, len);
	ck_assert_mem_eq(got, want + offset, len);
	free(want);
	free(got);
}

/* A3.4-3, A-Δ5: the rest goes inline, without its pad. */
START_TEST(a_calls_payload_is_a_read_chunk_at_its_position)
{
	uint8_t want[10000];
	uint32_t xid;

	fake_call_payloads[0] = (struct rpc_payload){160, 9001};
	fake_ncall_payloads = 1;
	xid = make_call(160 + 9004 + 40, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(call.nreads, 1);
	expect_payload_read(xid, 9204, 160, 9001);
	rig_fill_call(want, 9204, xid, 100);
	ck_assert_uint_eq(call_len, 200);
	ck_assert_mem_eq(call_body, want, 160);
	ck_assert_mem_eq(call_body + 160, want + 9164, 40);
	reply_inline(xid, 100, 32);
	expect_answered(1);
	ck_assert_uint_eq(rig->client.counters.call_chunk_bytes_offered, 9001);
}
END_TEST

START_TEST(a_payload_at_the_end_leaves_nothing_behind_it)
{
	fake_call_payloads[0] = (struct rpc_payload){160, 9000};
	fake_ncall_payloads = 1;
	make_call(160 + 9000, 100, 100);
	next_call();
	ck_assert_uint_eq(call_len, 160);
	expect_payload_read(call.xid, 9160, 160, 9000);
}
END_TEST

START_TEST(a_payload_in_segments_is_one_chunk)
{
	teardown_ddp();
	open_ddp(&(struct sim_faults){.max_key_bytes = 4000});
	fake_call_payloads[0] = (struct rpc_payload){160, 9000};
	fake_ncall_payloads = 1;
	make_call(160 + 9000, 100, 100);
	next_call();
	ck_assert_uint_eq(call.nreads, 3);
	expect_payload_read(call.xid, 9160, 160, 9000);
}
END_TEST

START_TEST(a_call_that_fits_inline_is_not_reduced)
{
	fake_call_payloads[0] = (struct rpc_payload){160, 2000};
	fake_ncall_payloads = 1;
	make_call(2200, 100, 100);
	next_call();
	ck_assert_uint_eq(call.nreads, 0);
	ck_assert_uint_eq(call_len, 2200);
}
END_TEST

static void expect_position_zero(void)
{
	make_call(10000, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(call.reads[0].position, 0);
	ck_assert_uint_eq(call.reads[0].seg.len_bytes, 10000);
	reply_inline(call.xid, 100, 32);
}

START_TEST(calls_that_cannot_be_reduced_are_sent_as_a_whole)
{
	expect_position_zero(); /* no payload */
	fake_ncall_payloads = 2;
	expect_position_zero(); /* two: no server in the field takes them */
	fake_ncall_payloads = -74;
	expect_position_zero(); /* cannot be followed */
	fake_ncall_payloads = 1;
	fake_call_payloads[0] = (struct rpc_payload){160, 4000};
	expect_position_zero(); /* the rest does not fit inline */
	fake_call_payloads[0] = (struct rpc_payload){162, 9000};
	expect_position_zero(); /* no position for a chunk */
	fake_call_payloads[0] = (struct rpc_payload){160, 9900};
	expect_position_zero(); /* a payload past the end */
	expect_answered(6);
}
END_TEST

/* A READ of up to @bound bytes whose Reply is @before bytes, @payload bytes and @behind bytes. */
static void answer_read(uint32_t bound, uint32_t before, uint32_t payload, uint32_t behind,
			uint32_t written)
{
	uint32_t padded = (uint32_t)xdr_padded_bytes(payload);
	uint32_t total = before + padded + behind;
	uint8_t *reply = malloc(total + 4), around[8192];

	fake_result_bounds[0] = bound;
	fake_nresult_bounds = 1;
	fake_reply_payloads[0] = (struct rpc_payload){before, payload};
	fake_nreply_payloads = 1;
	make_call(RIG_CALL_MIN, total, (uint32_t)xdr_padded_bytes(bound) + 400);
	next_call();
	ck_assert_uint_eq(call.nwrites, 1);
	ck_assert_uint_eq(call.writes[0].len_bytes, xdr_padded_bytes(bound));
	ck_assert(!call.has_reply_chunk);
	rig_fill_reply(reply, total, call.xid);
	for (uint32_t at = 0, i = 0; i < call.nsegments; i++) {
		struct rpcrdma_segment *seg = &call.segments[i];
		uint32_t n = seg->len_bytes < written - at ? seg->len_bytes : written - at;

		if (n)
			ck_assert_int_eq(
				raw_write(raw, reply + before + at, n, seg->handle, seg->offset),
				FABRIC_OK);
		seg->len_bytes = n;
		at += n;
	}
	memcpy(around, reply, before);
	memcpy(around + before, reply + before + padded, behind);
	call.proc = RPCRDMA_MSG;
	call.nreads = 0;
	call.credit = 32;
	raw_send_header(raw, &call, around, before + behind);
	free(reply);
}

/* A3.7-3, wherever the payload turns out to be. */
START_TEST(a_payload_lands_between_what_comes_inline)
{
	answer_read(100000, 128, 100000, 0, 100000);
	answer_read(100000, 48, 100000, 300, 100000);
	answer_read(100000, 128, 4, 16, 4);
	answer_read(100000, 300, 65536, 100, 65536);
	expect_answered(4);
	ck_assert_uint_eq(rig->client.counters.write_chunk_bytes_taken, 265540);
}
END_TEST

START_TEST(a_payload_may_land_in_segments)
{
	teardown_ddp();
	open_ddp(&(struct sim_faults){.max_key_bytes = 4000, .async_unbind = true});
	answer_read(20000, 128, 19000, 16, 19000);
	rig_run(rig);
	expect_answered(1);
}
END_TEST

/*
 * The pad is ours to make: the rig's Replies have none that are zero, so the sum cannot be
 * compared.
 */
START_TEST(a_payload_gets_its_pad_whether_it_is_written_or_not)
{
	for (uint32_t written = 1001; written <= 1004; written += 3) {
		answer_read(2001 + 3000, 100, 1001, 20, written);
		ck_assert_uint_eq(rig->client.last_reply_bytes, 100 + 1004 + 20);
	}
	ck_assert_uint_eq(rig->client.answered, 2);
	ck_assert_uint_eq(rig->client.faults, 0);
}
END_TEST

START_TEST(an_unused_write_chunk_comes_back_empty_or_not_at_all)
{
	fake_result_bounds[0] = 100000;
	fake_nresult_bounds = 1;
	make_call(RIG_CALL_MIN, 100, 100400);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
	make_call(RIG_CALL_MIN, 100, 100400);
	next_call();
	call.segments[0].len_bytes = 0;
	call.nreads = 0;
	{
		uint8_t reply[100];

		rig_fill_reply(reply, 100, call.xid);
		raw_send_header(raw, &call, reply, 100);
	}
	expect_answered(2);
}
END_TEST

START_TEST(a_reply_without_one_bounded_payload_gets_a_reply_chunk)
{
	fake_result_bounds[0] = 100000;
	fake_nresult_bounds = 1;
	/* The rest may not fit inline. */
	make_call(RIG_CALL_MIN, 100, 100000 + 4100);
	next_call();
	ck_assert(call.has_reply_chunk);
	reply_inline(call.xid, 100, 32);
	fake_nresult_bounds = 2;
	make_call(RIG_CALL_MIN, 100, 100400);
	next_call();
	ck_assert(call.has_reply_chunk);
	reply_inline(call.xid, 100, 32);
	fake_nresult_bounds = -74;
	make_call(RIG_CALL_MIN, 100, 100400);
	next_call();
	ck_assert(call.has_reply_chunk);
	reply_inline(call.xid, 100, 32);
	expect_answered(3);
}
END_TEST

static void expect_bad_payload(uint32_t before, uint32_t payload, int found)
{
	unsigned faults = rig->client.faults;

	fake_result_bounds[0] = 10000;
	fake_nresult_bounds = 1;
	make_call(RIG_CALL_MIN, 5000, 10400);
	next_call();
	call.segments[0].len_bytes = 1000;
	call.nreads = 0;
	fake_reply_payloads[0] = (struct rpc_payload){before, payload};
	fake_nreply_payloads = found;
	{
		uint8_t reply[100], written[1000] = {0};

		ck_assert_int_eq(raw_write(raw, written, sizeof(written), call.segments[0].handle,
					   call.segments[0].offset),
				 FABRIC_OK);
		rig_fill_reply(reply, 100, call.xid);
		raw_send_header(raw, &call, reply, 100);
	}
	ck_assert_uint_eq(rig->client.faults, faults + 1);
	ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_BAD_REPLY);
}

START_TEST(a_payload_that_is_not_in_the_reply_is_a_bad_reply)
{
	expect_bad_payload(100, 1000, -74);
	expect_bad_payload(100, 1000, 0);
	expect_bad_payload(104, 1000, 1); /* behind what came inline */
	expect_bad_payload(80, 996, 1);   /* shorter than what was written */
	expect_bad_payload(80, 1001, 1);  /* longer */
	expect_bad_payload(80, 0, 1);
}
END_TEST

START_TEST(a_returned_write_chunk_that_grew_is_a_bad_reply)
{
	uint8_t reply[100];

	fake_result_bounds[0] = 10000;
	fake_nresult_bounds = 1;
	make_call(RIG_CALL_MIN, 5000, 10400);
	next_call();
	call.segments[0].len_bytes += 4;
	rig_fill_reply(reply, 100, call.xid);
	raw_send_header(raw, &call, reply, 100);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
}
END_TEST

START_TEST(without_ddp_there_are_whole_messages_only)
{
	teardown_ddp();
	fake_nfs_reset();
	rig = rig_new(NULL);
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
	fake_call_payloads[0] = (struct rpc_payload){160, 9001};
	fake_result_bounds[0] = 100000;
	fake_ncall_payloads = fake_nresult_bounds = 1;
	make_call(10000, 100, 100400);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(call.nwrites, 0);
	ck_assert(call.has_reply_chunk);
}
END_TEST

/*
 * Runs the loop in small steps, and returns the largest use in addition to the server's @others
 * bytes.
 */
static size_t most_in_use(size_t others, unsigned steps)
{
	struct buf_pool_stats stats;
	size_t most = 0;

	while (steps--) {
		rig_run_for(rig, 1);
		buf_pool_stats_get(rig->pool, &stats);
		if (raw->posted > raw->done)
			stats.in_use_bytes -= others;
		/* Sends are bounded by themselves. */
		if (rdma_leg_of(rig->client.leg)->conn.work_requests.sends ||
		    stats.in_use_bytes <= most)
			continue;
		most = stats.in_use_bytes;
		ck_assert_uint_le(most, rig->client_budget.account.used_bytes);
	}
	return most;
}

static const struct {
	uint32_t result, around, inline_bytes;
	unsigned segments;
} held[] = {
	{1048576, 600, 4068, 1}, {1048576, 600, 24, 1}, {65536, 3000, 4068, 1},
	{5000, 400, 4068, 1},    {0, 200000, 4068, 1},  {0, 5000, 4068, 1},
	{0, 1000, 900, 1},       {50000, 400, 4068, 9},
};

/* A payload has space around it, and until its keys are unbound an inline Reply is next to that. */
START_TEST(no_more_is_held_for_a_reply_than_was_claimed)
{
	uint32_t reply_max = held[_i].result + held[_i].around;
	size_t others = buf_pool_class_bytes(28 + held[_i].inline_bytes + 1), most;
	uint8_t bytes[28 + 4068];
	struct rpcrdma_header hdr;

	teardown_ddp();
	open_ddp(&(struct sim_faults){
		.async_unbind = true,
		.max_delay_us = 40,
		.seed = 1,
		.max_key_bytes =
			held[_i].segments > 1 ? held[_i].result / held[_i].segments + 1 : 0,
	});
	fake_result_bounds[0] = held[_i].result;
	fake_nresult_bounds = held[_i].result ? 1 : 0;
	make_call(RIG_CALL_MIN, held[_i].inline_bytes, reply_max);
	next_call();
	rpcrdma_header_init(&hdr, call.xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 28);
	rig_fill_reply(bytes + 28, held[_i].inline_bytes, call.xid);
	raw_post_send(raw, bytes, 28 + held[_i].inline_bytes);
	most = most_in_use(others, 500);
	expect_answered(1);
	if (reply_max > 4068)
		ck_assert_uint_gt(most, rpc_msg_cost_bytes(RIG_CALL_MIN) +
						rpc_msg_cost_bytes(held[_i].result));
}
END_TEST

START_TEST(a_reply_longer_than_its_call_allows_is_thrown_away)
{
	make_call(RIG_CALL_MIN, 1000, 500);
	next_call();
	reply_inline(call.xid, 1000, 32);
	expect_fault(EXCHANGE_FAULT_TOO_BIG);
	ck_assert_uint_eq(rig->client.counters.replies_over_limit, 1);
	/* Its grant counts all the same. */
	make_call(RIG_CALL_MIN, 500, 500);
	make_call(RIG_CALL_MIN, 500, 500);
	ck_assert_uint_eq(sends_waiting(), 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("requester_ddp");
	TCase *tc = tcase_create("ddp");

	tcase_add_checked_fixture(tc, setup_ddp, teardown_ddp);
	tcase_add_test(tc, a_calls_payload_is_a_read_chunk_at_its_position);
	tcase_add_test(tc, a_payload_at_the_end_leaves_nothing_behind_it);
	tcase_add_test(tc, a_payload_in_segments_is_one_chunk);
	tcase_add_test(tc, a_call_that_fits_inline_is_not_reduced);
	tcase_add_test(tc, calls_that_cannot_be_reduced_are_sent_as_a_whole);
	tcase_add_test(tc, a_payload_lands_between_what_comes_inline);
	tcase_add_test(tc, a_payload_may_land_in_segments);
	tcase_add_test(tc, a_payload_gets_its_pad_whether_it_is_written_or_not);
	tcase_add_test(tc, an_unused_write_chunk_comes_back_empty_or_not_at_all);
	tcase_add_test(tc, a_reply_without_one_bounded_payload_gets_a_reply_chunk);
	tcase_add_test(tc, a_payload_that_is_not_in_the_reply_is_a_bad_reply);
	tcase_add_test(tc, a_returned_write_chunk_that_grew_is_a_bad_reply);
	tcase_add_test(tc, without_ddp_there_are_whole_messages_only);
	tcase_add_loop_test(tc, no_more_is_held_for_a_reply_than_was_claimed, 0, ARRAY_SIZE(held));
	tcase_add_test(tc, a_reply_longer_than_its_call_allows_is_thrown_away);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

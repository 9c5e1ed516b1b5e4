// SPDX-License-Identifier: BSD-3-Clause
/* Tests the client leg with servers that claim more of a chunk than they have written. */
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/read_reply_peer.h"

#define REPLY_BYTES  5000u
#define REPLY_MAX    60000u
#define HEADER_BYTES 100u
#define STALE        0x77u

static uint8_t reply[REPLY_MAX];

static void setup_ddp(void)
{
	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->client.config.ddp = true;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
}

static void setup_untold(void)
{
	open_with(&(struct sim_faults){.untold_writes = true}, pd_4096, sizeof(pd_4096));
}

/*
 * The client makes a Call; the server has its Reply to write, and claims @claimed bytes of the
 * first segment.
 */
static void receive_call(uint32_t claimed)
{
	make_call(RIG_CALL_MIN, REPLY_BYTES, REPLY_MAX);
	next_call();
	rig_fill_reply(reply, REPLY_BYTES, call.xid);
	call.segments[0].len_bytes = claimed;
}

static void write_part(uint32_t from, uint32_t to)
{
	ck_assert_int_eq(raw_write(raw, reply + from, to - from, call.segments[0].handle,
				   call.segments[0].offset + from),
			 FABRIC_OK);
}

/* The Call has failed, and the leg goes on. */
static void expect_refused(void)
{
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.answered, 0);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
	ck_assert_uint_eq(rig->client.notes, 1);
	rig->client.faults = 0;
	receive_call(REPLY_BYTES);
	write_part(0, REPLY_BYTES);
	send_nomsg();
	expect_answered(1);
}

START_TEST(a_reply_that_was_not_written_is_refused)
{
	receive_call(REPLY_BYTES);
	send_nomsg();
	expect_refused();
}
END_TEST

START_TEST(a_reply_of_which_only_the_header_was_written_is_refused)
{
	receive_call(REPLY_BYTES);
	write_part(0, HEADER_BYTES);
	send_nomsg();
	expect_refused();
}
END_TEST

START_TEST(a_reply_without_its_last_byte_is_refused)
{
	receive_call(REPLY_BYTES);
	write_part(0, REPLY_BYTES - 1);
	send_nomsg();
	expect_refused();
}
END_TEST

START_TEST(a_reply_with_a_gap_of_a_byte_is_refused)
{
	receive_call(REPLY_BYTES);
	write_part(0, 2000);
	write_part(2001, REPLY_BYTES);
	send_nomsg();
	expect_refused();
}
END_TEST

START_TEST(a_part_written_a_thousand_times_is_that_part)
{
	receive_call(REPLY_BYTES);
	for (unsigned i = 0; i < 1000; i++)
		write_part(0, 1024);
	send_nomsg();
	expect_refused();
}
END_TEST

START_TEST(writes_of_nothing_cover_nothing)
{
	receive_call(REPLY_BYTES);
	write_part(0, HEADER_BYTES);
	write_part(REPLY_BYTES, REPLY_BYTES);
	send_nomsg();
	expect_refused();
}
END_TEST

/* The largest that may be claimed, which the peer knows. */
START_TEST(a_chunk_returned_full_is_refused)
{
	receive_call(REPLY_MAX);
	write_part(0, REPLY_BYTES);
	send_nomsg();
	expect_refused();
}
END_TEST

START_TEST(a_reply_may_be_written_in_any_order_and_more_than_once)
{
	receive_call(REPLY_BYTES);
	write_part(4000, REPLY_BYTES);
	write_part(1000, 2500);
	write_part(2000, 4100);
	write_part(0, 1000);
	write_part(0, 10);
	send_nomsg();
	expect_answered(1);
}
END_TEST

START_TEST(less_may_be_claimed_than_was_written)
{
	receive_call(REPLY_BYTES);
	write_part(0, REPLY_BYTES);
	ck_assert_int_eq(raw_write(raw, reply, 1000, call.segments[0].handle,
				   call.segments[0].offset + REPLY_BYTES),
			 FABRIC_OK);
	send_nomsg();
	expect_answered(1);
}
END_TEST

/* Each segment of a chunk is memory of its own. */
START_TEST(every_segment_must_be_written)
{
	reopen(&(struct sim_faults){.max_key_bytes = 3000, .async_unbind = _i}, pd_4096,
	       sizeof(pd_4096));
	make_call(RIG_CALL_MIN, REPLY_BYTES, 6000);
	next_call();
	ck_assert_uint_eq(call.reply_chunk.count, 2);
	rig_fill_reply(reply, REPLY_BYTES, call.xid);
	write_part(0, 3000);
	call.segments[1].len_bytes = REPLY_BYTES - 3000;
	send_nomsg();
	rig_run_for(rig, 1000);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
}
END_TEST

/*
 * A READ whose Reply comes inline, except @written of its @payload bytes, all of which it claims.
 */
static void answer_read(uint32_t payload, uint32_t written)
{
	fake_result_bounds[0] = payload;
	fake_nresult_bounds = 1;
	fake_reply_payloads[0] = (struct rpc_payload){HEADER_BYTES, payload};
	fake_nreply_payloads = 1;
	make_call(RIG_CALL_MIN, HEADER_BYTES + payload, payload + 400);
	next_call();
	ck_assert_uint_eq(call.nwrites, 1);
	rig_fill_reply(reply, HEADER_BYTES + payload, call.xid);
	ck_assert_int_eq(raw_write(raw, reply + HEADER_BYTES, written, call.segments[0].handle,
				   call.segments[0].offset),
			 FABRIC_OK);
	call.segments[0].len_bytes = payload;
	call.proc = RPCRDMA_MSG;
	call.nreads = 0;
	call.credit = 32;
	raw_send_header(raw, &call, reply, HEADER_BYTES);
}

START_TEST(a_payload_that_was_not_written_is_refused)
{
	static const uint32_t written[] = {0, 1024, 39996, 39999};

	answer_read(40000, written[_i]);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
	ck_assert_uint_eq(rig->client.counters.write_chunk_bytes_taken, 0);
	answer_read(40000, 40000);
	expect_answered(1);
}
END_TEST

static void with_ddp(struct rdma_leg_config *config)
{
	config->ddp = true;
}

/* Exposed memory is no proof that it was written; the server can have its own invalidated again. */
START_TEST(a_reply_by_read_chunk_with_an_unwritten_payload_is_refused)
{
	struct rpcrdma_header hdr;

	lent_reopen(NULL, with_ddp);
	fake_result_bounds[0] = 40000;
	fake_nresult_bounds = 1;
	fake_reply_payloads[0] = (struct rpc_payload){HEADER_BYTES, 40000};
	fake_nreply_payloads = 1;
	make_call(9000, HEADER_BYTES + 40000, 40400);
	next_call();
	ck_assert_uint_eq(call.nwrites, 1);
	rig_fill_reply(reply, HEADER_BYTES + 40000, call.xid);
	lent_header(&hdr, RPCRDMA_NOMSG);
	lent_put(&hdr, 0, reply, HEADER_BYTES, 1, false);
	ck_assert_int_eq(raw_write(raw, reply + HEADER_BYTES, 20000, call.segments[0].handle,
				   call.segments[0].offset),
			 FABRIC_OK);
	hdr.nwrites = hdr.nsegments = 1;
	hdr.writes[0] = (struct rpcrdma_chunk){0, 1, 40000};
	hdr.segments[0] = call.segments[0];
	hdr.segments[0].len_bytes = 40000;
	raw_send_header(raw, &hdr, NULL, 0);
	lent_expect_bad(true);
}
END_TEST

/* ---- where nothing tells what was written ---- */

/*
 * Another RPC leaves its data in the memory where the next Reply will land: there is one buffer of
 * that class.
 */
static void leave_data(void)
{
	size_t bytes = RPC_MSG_HEADROOM + REPLY_MAX;
	struct buf *buf = buf_get(rig->pool, bytes);

	memset(buf->mem, STALE, bytes);
	buf_put(buf);
}

static uint32_t stale_bytes;

static void count_stale(struct rig_side *side, const struct exchange *x)
{
	stale_bytes = 0;
	for (uint32_t i = HEADER_BYTES; i < x->reply.len_bytes; i++)
		stale_bytes += x->reply.data[i] == STALE;
	ck_assert_uint_eq(x->reply.len_bytes, REPLY_BYTES);
}

START_TEST(memory_with_data_of_others_is_cleared_before_exposure)
{
	memset(reply, 0, sizeof(reply));
	rig->client.on_reply = count_stale;
	stale_bytes = UINT32_MAX;
	leave_data();
	receive_call(REPLY_BYTES);
	write_part(0, HEADER_BYTES);
	send_nomsg();
	ck_assert_uint_eq(stale_bytes, 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->cleared_bytes, REPLY_MAX);
}
END_TEST

/* A connection that has memory for itself pays once. */
START_TEST(memory_that_held_replies_of_the_same_connection_is_not_cleared_again)
{
	leave_data();
	for (unsigned i = 1; i <= 10; i++) {
		receive_call(REPLY_BYTES);
		write_part(0, REPLY_BYTES);
		send_nomsg();
		expect_answered(i);
	}
	ck_assert_uint_eq(sim_net_stats(rig->net)->cleared_bytes, REPLY_MAX);
	leave_data();
	receive_call(REPLY_BYTES);
	ck_assert_uint_eq(sim_net_stats(rig->net)->cleared_bytes, 2 * REPLY_MAX);
	write_part(0, REPLY_BYTES);
	send_nomsg();
	expect_answered(11);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("requester_claims");
	TCase *tc = tcase_create("reply chunk"), *ddp = tcase_create("write chunk");
	TCase *lent = tcase_create("lent"), *untold = tcase_create("untold");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_reply_that_was_not_written_is_refused);
	tcase_add_test(tc, a_reply_of_which_only_the_header_was_written_is_refused);
	tcase_add_test(tc, a_reply_without_its_last_byte_is_refused);
	tcase_add_test(tc, a_reply_with_a_gap_of_a_byte_is_refused);
	tcase_add_test(tc, a_part_written_a_thousand_times_is_that_part);
	tcase_add_test(tc, writes_of_nothing_cover_nothing);
	tcase_add_test(tc, a_chunk_returned_full_is_refused);
	tcase_add_test(tc, a_reply_may_be_written_in_any_order_and_more_than_once);
	tcase_add_test(tc, less_may_be_claimed_than_was_written);
	tcase_add_loop_test(tc, every_segment_must_be_written, 0, 2);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(ddp, setup_ddp, teardown);
	tcase_add_loop_test(ddp, a_payload_that_was_not_written_is_refused, 0, 4);
	suite_add_tcase(suite, ddp);
	tcase_add_checked_fixture(lent, lent_setup, teardown);
	tcase_add_test(lent, a_reply_by_read_chunk_with_an_unwritten_payload_is_refused);
	suite_add_tcase(suite, lent);
	tcase_add_checked_fixture(untold, setup_untold, teardown);
	tcase_add_test(untold, memory_with_data_of_others_is_cleared_before_exposure);
	tcase_add_test(untold,
		       memory_that_held_replies_of_the_same_connection_is_not_cleared_again);
	suite_add_tcase(suite, untold);
	return test_main(suite);
}

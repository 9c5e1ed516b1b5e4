// SPDX-License-Identifier: BSD-3-Clause
/* Tests what the client leg sends to a hand-made server, and when, in both directions. */
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lib/test.h"
#include "tests/sim/server_peer.h"

/* A4.1-2, A4.1-3, A4.1-5 */
START_TEST(an_inline_call_has_the_bytes_of_the_document)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);
	const struct raw_recv *recv = raw_next(raw);
	const uint32_t words[] = {xid, 1, 32, RPCRDMA_MSG, 0, 0, 0, xid, RPC_CALL};

	ck_assert_uint_eq(recv->len_bytes, 28 + RIG_CALL_MIN);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		ck_assert_uint_eq(be32_get(recv->data + 4 * i), words[i]);
	reply_inline(xid, 100, 32);
	expect_answered(1);
}
END_TEST

START_TEST(private_data_has_the_bytes_of_the_document)
{
	static const uint8_t want[] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

	ck_assert_uint_eq(raw->private_data_bytes, 8);
	ck_assert_mem_eq(raw->private_data, want, 8);
}
END_TEST

/*
 * Nor is its memory freed: a device need not complete each Send by itself. A Send that exposes
 * memory completes in time.
 */
START_TEST(a_short_call_is_not_held_by_a_send_that_is_done_late)
{
	static const struct sim_faults late = {.late_sends = true};
	uint64_t begun_us;
	uint32_t xid;

	reopen(&late, pd_4096, sizeof(pd_4096));
	begun_us = loop_now_us(rig->loop);
	xid = make_call(RIG_CALL_MIN, 100, 100);
	reply_inline(xid, 100, 32);
	expect_answered(1);
	ck_assert_uint_lt(loop_now_us(rig->loop) - begun_us, FABRIC_LAZY_US);
	ck_assert_uint_eq(sim_net_stats(rig->net)->sends_late, 1);
	ck_assert_uint_eq(rig->client_budget.holder.used_bytes, 0);
	make_call(RIG_CALL_MIN, 5000, 60000);
	ck_assert_uint_gt(sim_net_stats(rig->net)->keys_bound, 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->sends_late, 1);
}
END_TEST

/* A3.3-4, A3.3-5 */
START_TEST(the_first_call_goes_alone)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	for (int i = 0; i < 10; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(sends_waiting(), 1);
	ck_assert_uint_eq(rig->client.counters.credit_waits, 10);
	reply_inline(xid, 100, 4);
	ck_assert_uint_eq(sends_waiting(), 1 + 4);
}
END_TEST

START_TEST(a_reduced_grant_is_obeyed)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	reply_inline(xid, 100, 8);
	for (int i = 0; i < 20; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(raw->nrecvs, 1 + 8);
	/* Six more must come back before the next may go. */
	for (uint32_t i = 1; i <= 6; i++) {
		reply_inline(xid + i, 100, 2);
		ck_assert_uint_eq(raw->nrecvs, 9);
	}
	reply_inline(xid + 7, 100, 2);
	ck_assert_uint_eq(raw->nrecvs, 10);
	expect_answered(8);
}
END_TEST

/*
 * RFC 8166 section 3.3.1: all that comes from the responder tells its grant. Of an error only a
 * smaller one counts.
 */
START_TEST(a_smaller_grant_of_an_error_is_obeyed)
{
	static const unsigned granted[] = {2, 2, 0, 32}, sent[] = {4, 4, 5, 6};
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	next_call();
	reply_inline(xid, 100, 4);
	for (int i = 0; i < 8; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	for (unsigned i = 0; i < ARRAY_SIZE(granted); i++) {
		struct rpcrdma_header hdr;

		rpcrdma_header_init(&hdr, xid + 1 + i, RPCRDMA_VERSION_ONE, granted[i],
				    RPCRDMA_ERROR);
		hdr.error = RPCRDMA_ERR_CHUNK;
		raw_send_header(raw, &hdr, NULL, 0);
		ck_assert_uint_eq(sends_waiting(), sent[i]);
	}
}
END_TEST

/* D2.4-2: its credit field, which is here, is not used. */
START_TEST(a_send_too_short_grants_nothing)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);
	uint8_t bytes[RPCRDMA_MIN_HDR_BYTES];

	reply_inline(xid, 100, 8);
	for (unsigned i = 0; i < RPCRDMA_MIN_HDR_BYTES / 4; i++)
		be32_put(bytes + 4 * i, i < 3 ? xid : 0);
	be32_put(bytes + 4, 1); /* the version */
	for (uint32_t credit = 1; credit <= 32; credit += 31) {
		be32_put(bytes + 8, credit);
		for (size_t n = 12; n < sizeof(bytes); n++)
			raw_send(raw, bytes, n);
	}
	rig_run(rig);
	ck_assert_uint_eq(rig->client.counters.short_discarded, 2 * (sizeof(bytes) - 12));
	for (unsigned i = 0; i < 20; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(raw->nrecvs, 1 + 8);
}
END_TEST

START_TEST(a_grant_of_zero_is_taken_as_one)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	make_call(RIG_CALL_MIN, 100, 100);
	make_call(RIG_CALL_MIN, 100, 100);
	reply_inline(xid, 100, 0);
	ck_assert_uint_eq(raw->nrecvs, 2);
	ck_assert_uint_eq(rig->client.counters.credit_zero_received, 1);
}
END_TEST

START_TEST(a_grant_beyond_what_was_asked_is_clamped)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	reply_inline(xid, 100, 0xffffffff);
	for (int i = 0; i < 100; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(raw->nrecvs, 1 + 32);
}
END_TEST

/* D2.2.1-1 */
START_TEST(each_call_in_flight_has_a_receive_for_its_reply)
{
	const struct rdma_conn *conn = &rdma_leg_of(rig->client.leg)->conn;
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	reply_inline(xid, 100, 32);
	for (uint32_t i = 0; i < 32; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	/* They are there, and not only when the first Replies have come. */
	ck_assert_uint_ge(conn->recvs_posted, 32 + conn->grant.granted);
	/* Sixteen additional reverse Calls. */
	rig->client.hold = true;
	for (uint32_t i = 0; i < 16; i++)
		raw_post_call(raw, i, RIG_CALL_MIN, 100);
	for (uint32_t i = 1; i <= 32; i++)
		reply_inline(xid + i, 100, 32);
	rig_run(rig);
	expect_answered(33);
	ck_assert_uint_eq(rig->client.calls, 16);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	rig_answer_held(&rig->client);
}
END_TEST

START_TEST(past_256_held_calls_no_more_are_wanted)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	for (int i = 0; i < 255; i++)
		rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	ck_assert(leg_can_call(rig->client.leg));
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	ck_assert(!leg_can_call(rig->client.leg));
	reply_inline(xid, 100, 1);
	ck_assert(leg_can_call(rig->client.leg));
	ck_assert_uint_eq(rig->client.call_ready, 1);
}
END_TEST

/* A5.1-1 */
START_TEST(a_long_call_is_a_position_zero_chunk)
{
	uint32_t xid = make_call(10000, 100, 100);
	uint8_t got[10000], want[10000];

	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(call.nreads, 1);
	ck_assert_uint_eq(call.reads[0].position, 0);
	ck_assert_uint_eq(call.reads[0].seg.len_bytes, 10000);
	ck_assert_uint_eq(call_len, 0);
	ck_assert_int_eq(
		raw_read(raw, got, 10000, call.reads[0].seg.handle, call.reads[0].seg.offset),
		FABRIC_OK);
	rig_fill_call(want, 10000, xid, 100);
	ck_assert_mem_eq(got, want, 10000);
	reply_inline(xid, 100, 32);
	expect_answered(1);
}
END_TEST

START_TEST(chunks_are_split_at_the_longest_segment)
{
	uint8_t got[10000], want[10000];
	uint32_t xid;

	reopen(&(struct sim_faults){.max_key_bytes = 3000}, pd_4096, sizeof(pd_4096));
	xid = make_call(10000, 7000, 7000);
	next_call();
	ck_assert_uint_eq(call.nreads, 4);
	ck_assert_uint_eq(call.reads[3].seg.len_bytes, 1000);
	for (unsigned i = 0; i < 4; i++)
		raw_read(raw, got + i * 3000, call.reads[i].seg.len_bytes, call.reads[i].seg.handle,
			 call.reads[i].seg.offset);
	rig_fill_call(want, 10000, xid, 7000);
	ck_assert_mem_eq(got, want, 10000);
	ck_assert_uint_eq(call.reply_chunk.count, 3);
	ck_assert_uint_eq(call.reply_chunk.len_bytes, 7000);
	write_reply(7000);
	send_nomsg();
	expect_answered(1);
}
END_TEST

START_TEST(a_call_in_more_segments_than_a_header_holds_cannot_be_sent)
{
	reopen(&(struct sim_faults){.max_key_bytes = 100}, pd_4096, sizeof(pd_4096));
	make_call(100000, 100, 100);
	expect_fault(EXCHANGE_FAULT_CANT_SEND);
	ck_assert_uint_eq(sends_waiting(), 0);
}
END_TEST

START_TEST(a_reply_chunk_is_offered_when_the_reply_may_not_fit)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 4096 - 28);

	next_call();
	ck_assert(!call.has_reply_chunk);
	reply_inline(xid, 100, 32);
	xid = make_call(RIG_CALL_MIN, 100, 4096 - 27);
	next_call();
	ck_assert(call.has_reply_chunk);
	ck_assert_uint_eq(call.reply_chunk.len_bytes, 4072);
	reply_inline(xid, 100, 32);
	expect_answered(2);
}
END_TEST

START_TEST(a_reply_comes_in_the_reply_chunk)
{
	make_call(RIG_CALL_MIN, 50001, 60000);
	next_call();
	write_reply(50001);
	send_nomsg();
	expect_answered(1);
	ck_assert_uint_eq(rig->client.counters.reply_chunk_bytes_taken, 50001);
}
END_TEST

/* libevpl returns an unused reply chunk with zero lengths (A5.2-4). */
START_TEST(an_unused_reply_chunk_may_come_back_empty)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 60000);
	uint8_t reply[100];

	next_call();
	call.proc = RPCRDMA_MSG;
	call.segments[0].len_bytes = 0;
	rig_fill_reply(reply, 100, xid);
	raw_send_header(raw, &call, reply, 100);
	expect_answered(1);
}
END_TEST

/* A4.2-3 */
START_TEST(malformed_replies_are_never_answered)
{
	uint8_t bytes[128] = {0};

	for (uint32_t proc = 0; proc < 8; proc++) {
		be32_put(bytes, 5);
		be32_put(bytes + 4, 1);
		be32_put(bytes + 12, proc);
		memset(bytes + 16, 0xff, 40);
		raw_send(raw, bytes, sizeof(bytes));
	}
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(rig->client.closed, 0);
}
END_TEST

/* D2.5-1, D2.6-1 */
START_TEST(a_reverse_call_is_answered)
{
	raw_post_call(raw, 0x55, RIG_CALL_MIN, 3000);
	rig_run(rig);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(call.xid, 0x55);
	ck_assert_uint_eq(call.credit, 16);
	ck_assert_uint_eq(call.nreads + call.nwrites + call.has_reply_chunk, 0);
	ck_assert_uint_eq(call_len, 3000);
}
END_TEST

/* Receives have the advertised size, so a longer Send ends the connection, whatever it is. */
START_TEST(a_reverse_call_above_the_threshold_ends_the_connection)
{
	raw_post_call(raw, 0x55, 4096 - 28, 100);
	rig_run(rig);
	next_call();
	ck_assert_uint_eq(call_len, 100);
	ck_assert_uint_eq(rig->client.last_call_bytes, 4096 - 28);
	raw_post_call(raw, 0x56, 4096 - 27, 100);
	rig_run(rig);
	expect_closed(LEG_CLOSE_PROTOCOL);
}
END_TEST

/* D1.1.4.1-1 */
START_TEST(the_same_xid_lives_in_both_directions)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	next_call();
	rig->client.hold = true;
	raw_post_call(raw, xid, RIG_CALL_MIN, 200);
	rig_run(rig);
	reply_inline(xid, 100, 32);
	expect_answered(1);
	rig_answer_held(&rig->client);
	rig_run(rig);
	next_call();
	ck_assert_uint_eq(call_len, 200);
}
END_TEST

START_TEST(a_reverse_reply_that_does_not_fit_gets_err_chunk)
{
	raw_post_call(raw, 0x57, RIG_CALL_MIN, 4096);
	rig_run(rig);
	raw_expect_error(raw, 0x57, RPCRDMA_ERR_CHUNK);
}
END_TEST

START_TEST(a_reverse_call_with_chunks_gets_err_chunk)
{
	struct rpcrdma_header hdr;
	uint8_t bytes[RIG_CALL_MIN];

	rpcrdma_header_init(&hdr, 0x58, RPCRDMA_VERSION_ONE, 16, RPCRDMA_MSG);
	hdr.has_reply_chunk = true;
	hdr.reply_chunk = (struct rpcrdma_chunk){0, 1, 100};
	hdr.segments[hdr.nsegments++] = (struct rpcrdma_segment){1, 100, 0};
	rig_fill_call(bytes, RIG_CALL_MIN, 0x58, 100);
	raw_send_header(raw, &hdr, bytes, RIG_CALL_MIN);
	raw_expect_error(raw, 0x58, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->client.calls, 0);
}
END_TEST

/*
 * RFC 8166 has no read list in a Reply, so an RDMA_NOMSG that has one is a Call (RFC 8167 section
 * 5.3).
 */
START_TEST(a_long_reverse_call_gets_err_chunk)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, 0x5a, RPCRDMA_VERSION_ONE, 16, RPCRDMA_NOMSG);
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){0, {1, RIG_CALL_MIN, 0}};
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 0x5a, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->client.calls, 0);
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, 0);
}
END_TEST

/* A delegation recall would stall until it times out. */
START_TEST(a_reverse_reply_does_not_wait_behind_held_calls)
{
	for (int i = 0; i < 50; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	raw_post_call(raw, 0x59, RIG_CALL_MIN, 100);
	rig_run(rig);
	next_call();
	ck_assert_uint_eq(call.xid, 0x59);
	ck_assert_uint_eq(be32_get(call_body + 4), RPC_REPLY);
}
END_TEST

START_TEST(no_key_left_ends_the_rpc)
{
	reopen(&(struct sim_faults){.fail_bind = 2}, pd_4096, sizeof(pd_4096));
	make_call(9000, 5000, 60000);
	expect_fault(EXCHANGE_FAULT_CANT_SEND);
	ck_assert_uint_eq(sends_waiting(), 0);
	make_call(9000, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}
END_TEST

START_TEST(no_key_left_with_asynchronous_keys_ends_the_rpc)
{
	reopen(&(struct sim_faults){.fail_bind = 2, .async_unbind = true}, pd_4096,
	       sizeof(pd_4096));
	make_call(9000, 5000, 60000);
	rig_run(rig);
	expect_fault(EXCHANGE_FAULT_CANT_SEND);
}
END_TEST

/* The device has two keys at once, and each of these Calls needs two. */
START_TEST(calls_wait_for_a_key_that_the_device_has_not_now)
{
	const struct sim_stats *stats;
	uint32_t xids[3];

	reopen(&(struct sim_faults){.max_keys = 2, .async_unbind = _i}, pd_4096, sizeof(pd_4096));
	stats = sim_net_stats(rig->net);
	for (unsigned i = 0; i < 3; i++)
		make_call(9000, 100, 60000);
	rig_run(rig);
	for (unsigned i = 0; i < 3; i++) {
		next_call();
		xids[i] = call.xid;
		ck_assert(!i || xids[i] == xids[i - 1] + 1);
		ck_assert_uint_eq(sends_waiting(), 0);
		ck_assert_uint_eq(stats->keys_bound, 2);
		reply_inline(call.xid, 100, 32);
		expect_answered(i + 1);
	}
	ck_assert_uint_eq(stats->keys_bound, 0);
	ck_assert_uint_ge(rig->client.counters.key_waits, 1);
	ck_assert_uint_eq(rig->client.faults, 0);
}
END_TEST

/* One is still to give back the key that it has while 255 others come. */
START_TEST(past_256_calls_behind_one_without_a_key_more_are_wanted_later)
{
	uint32_t xid;

	reopen(&(struct sim_faults){.max_keys = 2, .async_unbind = true}, pd_4096, sizeof(pd_4096));
	reply_inline(make_call(RIG_CALL_MIN, 100, 100), 100, 32);
	xid = make_call(9000, 100, 100);
	rig_call(&rig->client, 9000, 100, 60000);
	for (int i = 0; i < 255; i++)
		rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	rig_run(rig);
	ck_assert(!leg_can_call(rig->client.leg));
	reply_inline(xid, 100, 32);
	rig_run(rig);
	ck_assert(leg_can_call(rig->client.leg));
	ck_assert_uint_eq(rig->client.call_ready, 1);
}
END_TEST

/* It is a Call that no key is needed for. */
START_TEST(calls_keep_their_order_behind_one_that_waits_for_a_key)
{
	uint32_t first;

	reopen(&(struct sim_faults){.max_keys = 1}, pd_4096, sizeof(pd_4096));
	make_call(9000, 100, 100);
	next_call();
	first = call.xid;
	make_call(9000, 100, 100);
	make_call(100, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 0);
	reply_inline(first, 100, 32);
	expect_answered(1);
	next_call();
	ck_assert_uint_eq(call.xid, first + 1);
	next_call();
	ck_assert_uint_eq(call.xid, first + 2);
}
END_TEST

/* More keys than the device has come only by a mistake. */
START_TEST(a_call_that_needs_more_keys_than_there_are_fails)
{
	reopen(&(struct sim_faults){.max_keys = 1, .async_unbind = _i}, pd_4096, sizeof(pd_4096));
	make_call(9000, 5000, 60000);
	rig_run(rig);
	expect_fault(EXCHANGE_FAULT_CANT_SEND);
}
END_TEST

START_TEST(a_connection_may_be_lost_while_calls_wait_for_a_key)
{
	reopen(&(struct sim_faults){.max_keys = 2, .async_unbind = _i}, pd_4096, sizeof(pd_4096));
	for (unsigned i = 0; i < 3; i++)
		make_call(9000, 5000, 60000);
	if (_i != 1)
		rig_run(rig);
	sim_net_cut(rig->net);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_uint_eq(rig->client.faults, 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->keys_bound, 0);
}
END_TEST

/* SYSTEM_ERR would reach a program as an error, where its client can ask again. */
START_TEST(a_call_that_finds_the_connection_lost_is_not_answered)
{
	sim_net_cut(rig->net);
	rig_call(&rig->client, 9000, 5000, 60000);
	rig_call(&rig->client, 100, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_LOST);
	ck_assert_uint_eq(rig->client.faults, 0);
	ck_assert_uint_eq(rig->client.answered, 0);
}
END_TEST

/* The Reply may stand behind clients' Calls that wait for the very memory. */
START_TEST(a_reverse_call_waits_for_no_memory)
{
	struct budget_claim all;

	budget_claim_init(&all, NULL, NULL);
	ck_assert(budget_claim(&rig->client_budget.other, &all,
			       rig->client_budget.budget.limit_bytes));
	raw_post_call(raw, 0x5a, RIG_CALL_MIN, 100);
	rig_run(rig);
	next_call();
	ck_assert_uint_eq(call.xid, 0x5a);
	budget_claim_release(&all);
}
END_TEST

START_TEST(no_memory_for_the_reply_fails_the_call)
{
	rig_pool_bytes = 16384;
	reopen(NULL, pd_4096, sizeof(pd_4096));
	rig_pool_bytes = RIG_POOL_BYTES;
	make_call(RIG_CALL_MIN, 100, 60000);
	expect_fault(EXCHANGE_FAULT_CANT_SEND);
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}
END_TEST

/* Both ends answer Calls, so both ends answer bad ones. */
START_TEST(a_reverse_call_of_another_version_gets_err_vers)
{
	uint8_t bytes[128];
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, 0x5b, RPCRDMA_VERSION_ONE, 16, RPCRDMA_MSG);
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 28);
	rig_fill_call(bytes + 28, RIG_CALL_MIN, 0x5b, 100);
	be32_put(bytes + 4, 2);
	raw_send(raw, bytes, 28 + RIG_CALL_MIN);
	raw_expect_error(raw, 0x5b, RPCRDMA_ERR_VERS);
}
END_TEST

START_TEST(a_server_that_takes_no_calls_is_closed_for_that)
{
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 32);
	sim_ep_stop_taking(raw->ep);
	make_call(RIG_CALL_MIN, 100, 100);
	rig_run_for(rig, 61 * 1000000);
	expect_closed(LEG_CLOSE_CALL_STALLED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("requester");
	TCase *tc = tcase_create("open");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, an_inline_call_has_the_bytes_of_the_document);
	tcase_add_test(tc, private_data_has_the_bytes_of_the_document);
	tcase_add_test(tc, a_short_call_is_not_held_by_a_send_that_is_done_late);
	tcase_add_test(tc, the_first_call_goes_alone);
	tcase_add_test(tc, a_reduced_grant_is_obeyed);
	tcase_add_test(tc, a_smaller_grant_of_an_error_is_obeyed);
	tcase_add_test(tc, a_send_too_short_grants_nothing);
	tcase_add_test(tc, a_grant_of_zero_is_taken_as_one);
	tcase_add_test(tc, a_grant_beyond_what_was_asked_is_clamped);
	tcase_add_test(tc, each_call_in_flight_has_a_receive_for_its_reply);
	tcase_add_test(tc, past_256_held_calls_no_more_are_wanted);
	tcase_add_test(tc, a_long_call_is_a_position_zero_chunk);
	tcase_add_test(tc, chunks_are_split_at_the_longest_segment);
	tcase_add_test(tc, a_call_in_more_segments_than_a_header_holds_cannot_be_sent);
	tcase_add_test(tc, a_reply_chunk_is_offered_when_the_reply_may_not_fit);
	tcase_add_test(tc, a_reply_comes_in_the_reply_chunk);
	tcase_add_test(tc, an_unused_reply_chunk_may_come_back_empty);
	tcase_add_test(tc, malformed_replies_are_never_answered);
	tcase_add_test(tc, a_reverse_call_is_answered);
	tcase_add_test(tc, a_reverse_call_above_the_threshold_ends_the_connection);
	tcase_add_test(tc, the_same_xid_lives_in_both_directions);
	tcase_add_test(tc, a_reverse_reply_that_does_not_fit_gets_err_chunk);
	tcase_add_test(tc, a_reverse_call_with_chunks_gets_err_chunk);
	tcase_add_test(tc, a_long_reverse_call_gets_err_chunk);
	tcase_add_test(tc, a_reverse_reply_does_not_wait_behind_held_calls);
	tcase_add_test(tc, no_key_left_ends_the_rpc);
	tcase_add_test(tc, no_key_left_with_asynchronous_keys_ends_the_rpc);
	tcase_add_loop_test(tc, calls_wait_for_a_key_that_the_device_has_not_now, 0, 2);
	tcase_add_test(tc, past_256_calls_behind_one_without_a_key_more_are_wanted_later);
	tcase_add_test(tc, calls_keep_their_order_behind_one_that_waits_for_a_key);
	tcase_add_loop_test(tc, a_call_that_needs_more_keys_than_there_are_fails, 0, 2);
	tcase_add_loop_test(tc, a_connection_may_be_lost_while_calls_wait_for_a_key, 0, 3);
	tcase_add_test(tc, a_call_that_finds_the_connection_lost_is_not_answered);
	tcase_add_test(tc, a_reverse_call_waits_for_no_memory);
	tcase_add_test(tc, no_memory_for_the_reply_fails_the_call);
	tcase_add_test(tc, a_reverse_call_of_another_version_gets_err_vers);
	tcase_add_test(tc, a_server_that_takes_no_calls_is_closed_for_that);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

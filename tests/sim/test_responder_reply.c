// SPDX-License-Identifier: BSD-3-Clause
/* Tests the server leg with a hand-made client: where it places the parts of a Reply. */
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/work_request.h"
#include "tests/lib/gss_call.h"
#include "tests/lib/test.h"
#include "tests/sim/client_peer.h"

/* A5.2-2 and A5.2-3 */
START_TEST(a_long_reply_goes_into_the_reply_chunk)
{
	struct fabric_key *key = raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE);

	begin(60, RPCRDMA_MSG);
	set_reply_chunk(key);
	send_call(RIG_CALL_MIN, 9999);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 9999);
	ck_assert_uint_eq(hdr.segments[0].handle, key->rkey);
	ck_assert_uint_eq(hdr.segments[0].offset, key->addr);
	expect_reply_bytes(key->mem, 9999, 0, 9999, 60);
	ck_assert_uint_eq(key->mem[9999], 0xee);
	ck_assert_uint_eq(rig->server.last_reply_max, 10000);
}
END_TEST

/* What a client offers is one bound, what its Call can be answered with the other. */
START_TEST(a_call_takes_no_more_memory_than_its_reply_can_have)
{
	fake_ceiling_bytes = 300;
	begin(59, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 100000, FABRIC_REMOTE_WRITE));
	rig->server.hold = true;
	send_call(RIG_CALL_MIN, 100);
	ck_assert_uint_eq(rig->server.last_reply_max, 300);
	ck_assert_uint_eq(fake_looks, 1);
	ck_assert_uint_eq(rig->budget.account.used_bytes, rpc_msg_cost_bytes(RIG_CALL_MIN) +
								  rpc_msg_cost_bytes(300) +
								  work_request_cost_bytes(1));
	rig_answer_held(&rig->server);
	rig_run(rig);
	expect_reply_beside_chunk(59, 100, 1);
}
END_TEST

/* Nothing of an RDMA_NOMSG is here when it claims memory. */
START_TEST(no_memory_is_claimed_for_chunks_of_a_protected_call)
{
	uint8_t call[RIG_CALL_MIN];

	rig->server.config.leg.max_message_bytes = 3 * RIG_MAX_MSG;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	rig->server.hold = true;
	rig_fill_call(call, sizeof(call), 58, 100);
	begin(58, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, sizeof(call), FABRIC_REMOTE_READ));
	set_reply_chunk(raw_lend(raw, NULL, 2 * RIG_MAX_MSG, FABRIC_REMOTE_WRITE));
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_uint_eq(rig->server.calls, 1);
	ck_assert_uint_eq(rig->server.last_reply_max, REPLY_UNBOUNDED_BYTES);
	ck_assert_uint_eq(rig->budget.account.used_bytes,
			  rpc_msg_cost_bytes(sizeof(call)) +
				  rpc_msg_cost_bytes(REPLY_UNBOUNDED_BYTES) +
				  work_request_cost_bytes(1));
	rig_answer_held(&rig->server);
	rig_run(rig);
	expect_reply_beside_chunk(58, 100, 1);
}
END_TEST

START_TEST(a_reply_chunk_in_segments_is_filled_in_order)
{
	struct fabric_key *keys[3];

	begin(61, RPCRDMA_MSG);
	for (unsigned i = 0; i < 3; i++)
		keys[i] = raw_lend(raw, NULL, 3000, FABRIC_REMOTE_WRITE);
	set_reply_chunk(keys[0]);
	hdr.segments[hdr.nsegments++] = raw_segment(keys[1]);
	hdr.segments[hdr.nsegments++] = raw_segment(keys[2]);
	hdr.reply_chunk.count = 3;
	hdr.reply_chunk.len_bytes = 9000;
	send_call(RIG_CALL_MIN, 5000);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.reply_chunk.count, 3);
	ck_assert_uint_eq(hdr.segments[0].len_bytes, 3000);
	ck_assert_uint_eq(hdr.segments[1].len_bytes, 2000);
	ck_assert_uint_eq(hdr.segments[2].len_bytes, 0);
	expect_reply_bytes(keys[0]->mem, 3000, 0, 5000, 61);
	expect_reply_bytes(keys[1]->mem, 2000, 3000, 5000, 61);
}
END_TEST

/* A reply chunk of so many segments. */
static void set_reply_segments(unsigned nsegments, uint32_t segment_bytes)
{
	hdr.has_reply_chunk = true;
	hdr.reply_chunk = (struct rpcrdma_chunk){hdr.nsegments, nsegments,
						 (uint64_t)nsegments * segment_bytes};
	for (unsigned i = 0; i < nsegments; i++)
		hdr.segments[hdr.nsegments++] =
			raw_segment(raw_lend(raw, NULL, segment_bytes, FABRIC_REMOTE_WRITE));
}

/* A5.2-4 */
START_TEST(an_unused_reply_chunk_is_returned_with_zero_lengths)
{
	struct rpcrdma_segment offered[2];

	begin(62, RPCRDMA_MSG);
	set_reply_segments(2, 10000);
	memcpy(offered, hdr.segments, sizeof(offered));
	send_call(RIG_CALL_MIN, 100);
	expect_reply_beside_chunk(62, 100, 2);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(hdr.segments[i].handle, offered[i].handle);
		ck_assert_uint_eq(hdr.segments[i].offset, offered[i].offset);
		ck_assert_uint_eq(hdr.segments[i].len_bytes, 0);
		ck_assert_uint_eq(raw->keys[i].mem[0], 0xee);
	}
}
END_TEST

START_TEST(a_reply_chunk_without_segments_is_returned)
{
	begin(62, RPCRDMA_MSG);
	set_reply_segments(0, 0);
	send_call(RIG_CALL_MIN, 100);
	expect_reply_beside_chunk(62, 100, 0);
}
END_TEST

/* The header is longer by the chunk that it returns. */
START_TEST(a_reply_is_inline_while_it_fits_with_the_returned_chunk)
{
	unsigned nsegments = (unsigned)_i;
	uint32_t room = 4096 - RPCRDMA_MIN_HDR_BYTES - 4 - nsegments * 16;

	begin(62, RPCRDMA_MSG);
	set_reply_segments(nsegments, 5000);
	send_call(RIG_CALL_MIN, room);
	expect_reply_beside_chunk(62, room, nsegments);
	begin(63, RPCRDMA_MSG);
	set_reply_segments(nsegments, 5000);
	send_call(RIG_CALL_MIN, room + 4);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, room + 4);
	begin(64, RPCRDMA_MSG);
	set_reply_segments(nsegments, 4);
	send_call(RIG_CALL_MIN, room + 4);
	raw_expect_error(raw, 64, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

START_TEST(answers_of_our_own_return_the_reply_chunk)
{
	uint8_t call[RIG_CALL_MIN];

	rig_fill_call(call, sizeof(call), 62, 100);
	be32_put(call + 8, 3); /* the RPC version */
	begin(62, RPCRDMA_MSG);
	set_reply_segments(1, 5000);
	raw_send_header(raw, &hdr, call, sizeof(call));
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert(hdr.has_reply_chunk);
	ck_assert_uint_eq(hdr.reply_chunk.count, 1);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 0);
}
END_TEST

/* Its payload is in the write chunk, the rest inline. */
START_TEST(a_reply_chunk_is_returned_with_a_used_write_chunk)
{
	struct fabric_key *key = raw_lend(raw, NULL, 2000, FABRIC_REMOTE_WRITE);

	fake_reply_payloads[0] = (struct rpc_payload){100, 1000};
	fake_nreply_payloads = 1;
	begin(65, RPCRDMA_MSG);
	add_write(key);
	set_reply_segments(1, 5000);
	send_call(RIG_CALL_MIN, 100 + 1000);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, 1000);
	ck_assert_uint_eq(hdr.reply_chunk.count, 1);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 0);
	ck_assert_uint_eq(len, 100);
	ck_assert_uint_eq(rig->server.counters.reply_chunk_bytes_pushed, 0);
}
END_TEST

/*
 * Any Reply returns all chunks, be it an error of RPC. A Call whose chunks fit no Send is not
 * executed.
 */
START_TEST(a_call_whose_chunks_fit_no_send_gets_err_chunk_immediately)
{
	/* It takes less than it sends. */
	static const uint8_t pd[] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 0};
	const struct rpcrdma_chunk chunk = {0, 63, 63 * 16};

	open_with(pd, sizeof(pd));
	begin(115, RPCRDMA_MSG);
	for (uint32_t i = 0; i < chunk.count; i++)
		hdr.segments[hdr.nsegments++] = (struct rpcrdma_segment){i, 16, 16 * i};
	hdr.has_reply_chunk = _i;
	if (_i)
		hdr.reply_chunk = chunk;
	else
		hdr.writes[hdr.nwrites++] = chunk;
	send_call(RIG_CALL_MIN, 100);
	raw_expect_error(raw, 115, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.calls, 0);
	ck_assert_uint_eq(rig->server.counters.bad_calls, 1);
	expect_alive();
}
END_TEST

START_TEST(a_reply_that_fits_nowhere_gets_err_chunk)
{
	begin(63, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 63, RPCRDMA_ERR_CHUNK);
	begin(64, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 4999, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 64, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.replies_too_big, 2);
	expect_alive();
}
END_TEST

/* A3.7-1, A3.7-2, A-Δ5: the payload by RDMA, its pad nowhere, the rest inline. */
START_TEST(a_payload_goes_into_its_write_chunk)
{
	struct fabric_key *key = raw_lend(raw, NULL, 2000, FABRIC_REMOTE_WRITE);

	fake_reply_payloads[0] = (struct rpc_payload){100, 1001};
	fake_nreply_payloads = 1;
	begin(70, RPCRDMA_MSG);
	add_write(key);
	send_call(RIG_CALL_MIN, 100 + 1004 + 16);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.nwrites, 1);
	ck_assert_uint_eq(hdr.segments[0].handle, key->rkey);
	ck_assert_uint_eq(hdr.segments[0].offset, key->addr);
	ck_assert_uint_eq(hdr.segments[0].len_bytes, 1001);
	ck_assert_uint_eq(len, 116);
	expect_reply_bytes(body, 100, 0, 1120, 70);
	expect_reply_bytes(body + 100, 16, 1104, 1120, 70);
	expect_reply_bytes(key->mem, 1001, 100, 1120, 70);
	ck_assert_uint_eq(key->mem[1001], 0xee);
}
END_TEST

/*
 * A3.4-11: without a write list a result that could be moved comes inline, or goes into the reply
 * chunk with the rest.
 */
START_TEST(without_a_write_list_payloads_go_with_the_rest)
{
	struct fabric_key *key = raw_lend(raw, NULL, 9000, FABRIC_REMOTE_WRITE);

	fake_reply_payloads[0] = (struct rpc_payload){100, 1001};
	fake_result_bounds[0] = 1001;
	fake_nreply_payloads = fake_nresult_bounds = 1;
	begin(77, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100 + 1004 + 16);
	expect_inline_reply(77, 1120);
	fake_reply_payloads[0] = (struct rpc_payload){100, 8001};
	fake_result_bounds[0] = 8001;
	begin(78, RPCRDMA_MSG);
	set_reply_chunk(key);
	send_call(RIG_CALL_MIN, 100 + 8004);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 8104);
	expect_reply_bytes(key->mem, 8104, 0, 8104, 78);
	ck_assert_uint_eq(rig->server.counters.write_chunk_bytes_pushed, 0);
}
END_TEST

/* Linux adds a segment of four bytes for the pad of a chunk of odd length. */
START_TEST(a_dummy_segment_for_the_pad_stays_empty)
{
	struct fabric_key *key = raw_lend(raw, NULL, 1001, FABRIC_REMOTE_WRITE);
	struct fabric_key *dummy = raw_lend(raw, NULL, 4, FABRIC_REMOTE_WRITE);

	fake_reply_payloads[0] = (struct rpc_payload){100, 1001};
	fake_nreply_payloads = 1;
	begin(71, RPCRDMA_MSG);
	add_write(key);
	hdr.segments[hdr.nsegments++] = raw_segment(dummy);
	hdr.writes[0].count = 2;
	send_call(RIG_CALL_MIN, 100 + 1004);
	next();
	ck_assert_uint_eq(hdr.writes[0].count, 2);
	ck_assert_uint_eq(hdr.segments[0].len_bytes, 1001);
	ck_assert_uint_eq(hdr.segments[1].len_bytes, 0);
	ck_assert_uint_eq(len, 100);
}
END_TEST

START_TEST(unused_write_chunks_come_back_empty)
{
	begin(72, RPCRDMA_MSG);
	add_write(raw_lend(raw, NULL, 2000, FABRIC_REMOTE_WRITE));
	add_write(raw_lend(raw, NULL, 2000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 100);
	next();
	ck_assert_uint_eq(hdr.nwrites, 2);
	ck_assert_uint_eq(hdr.writes[0].len_bytes + hdr.writes[1].len_bytes, 0);
	ck_assert_uint_eq(hdr.segments[0].offset, raw->keys[0].addr);
	ck_assert_uint_eq(hdr.segments[1].offset, raw->keys[1].addr);
	ck_assert_uint_eq(len, 100);
}
END_TEST

/* A failed op counts with length zero, an empty chunk leaves its result inline. */
START_TEST(the_nth_payload_takes_the_nth_chunk)
{
	struct fabric_key *first = raw_lend(raw, NULL, 600, FABRIC_REMOTE_WRITE);
	struct fabric_key *third = raw_lend(raw, NULL, 600, FABRIC_REMOTE_WRITE);

	fake_reply_payloads[0] = (struct rpc_payload){100, 0};
	fake_reply_payloads[1] = (struct rpc_payload){200, 400};
	fake_reply_payloads[2] = (struct rpc_payload){700, 500};
	fake_nreply_payloads = 3;
	begin(73, RPCRDMA_MSG);
	add_write(first);
	add_write(NULL);
	add_write(third);
	send_call(RIG_CALL_MIN, 1300);
	next();
	ck_assert_uint_eq(hdr.nwrites, 3);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, 0);
	ck_assert_uint_eq(hdr.writes[1].count, 0);
	ck_assert_uint_eq(hdr.writes[2].len_bytes, 500);
	ck_assert_uint_eq(len, 800);
	expect_reply_bytes(body, 700, 0, 1300, 73);
	expect_reply_bytes(body + 700, 100, 1200, 1300, 73);
	expect_reply_bytes(third->mem, 500, 700, 1300, 73);
}
END_TEST

START_TEST(a_payload_longer_than_its_chunk_gets_err_chunk)
{
	struct fabric_key *key = raw_lend(raw, NULL, 1000, FABRIC_REMOTE_WRITE);

	fake_reply_payloads[0] = (struct rpc_payload){100, 1001};
	fake_nreply_payloads = 1;
	begin(74, RPCRDMA_MSG);
	add_write(key);
	send_call(RIG_CALL_MIN, 1104);
	raw_expect_error(raw, 74, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(key->mem[0], 0xee);
	expect_alive();
}
END_TEST

START_TEST(a_reply_that_cannot_be_followed_is_not_reduced)
{
	fake_nreply_payloads = -22;
	begin(75, RPCRDMA_MSG);
	add_write(raw_lend(raw, NULL, 2000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 500);
	next();
	ck_assert_uint_eq(len, 500);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, 0);
	ck_assert_uint_eq(rig->server.counters.payloads_not_found, 1);
}
END_TEST

START_TEST(write_chunk_and_reply_chunk_work_together)
{
	struct fabric_key *data = raw_lend(raw, NULL, 50000, FABRIC_REMOTE_WRITE);
	struct fabric_key *rest = raw_lend(raw, NULL, 9000, FABRIC_REMOTE_WRITE);

	fake_reply_payloads[0] = (struct rpc_payload){3000, 50000};
	fake_nreply_payloads = 1;
	begin(76, RPCRDMA_MSG);
	add_write(data);
	set_reply_chunk(rest);
	send_call(RIG_CALL_MIN, 3000 + 50000 + 4000);
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, 50000);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 7000);
	expect_reply_bytes(data->mem, 50000, 3000, 57000, 76);
	expect_reply_bytes(rest->mem, 3000, 0, 57000, 76);
	expect_reply_bytes(rest->mem + 3000, 4000, 53000, 57000, 76);
}
END_TEST

/* C5.1-1 */
START_TEST(the_only_key_of_a_call_is_invalidated)
{
	struct fabric_key *key = raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE);
	const struct raw_recv *recv;

	begin(80, RPCRDMA_MSG);
	set_reply_chunk(key);
	send_call(RIG_CALL_MIN, 9000);
	recv = raw_next(raw);
	ck_assert(recv->invalidated);
	ck_assert_uint_eq(recv->inv_rkey, key->rkey);
	/* Two keys: neither. */
	begin(81, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE));
	add_write(raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE));
	hdr.reply_chunk.first = 0;
	hdr.writes[0].first = 1;
	send_call(RIG_CALL_MIN, 9000);
	ck_assert(!raw_next(raw)->invalidated);
}
END_TEST

static void expect_no_invalidation(const uint8_t *pd, size_t n)
{
	open_with(pd, n);
	begin(82, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 9000);
	ck_assert(!raw_next(raw)->invalidated);
}

START_TEST(nothing_is_invalidated_unless_the_client_offers_it)
{
	static const uint8_t pd[] = {0xf6, 0xab, 0x0e, 0x18, 1, 0xfe, 3, 3};

	expect_no_invalidation(pd, sizeof(pd));
}
END_TEST

START_TEST(nothing_is_invalidated_unless_we_offer_it)
{
	rig->server.config.remote_invalidation = false;
	expect_no_invalidation(pd_4096_inv, sizeof(pd_4096_inv));
}
END_TEST

START_TEST(a_device_that_cannot_invalidate_does_not_offer_to)
{
	const struct sim_faults faults = {.no_send_inv = _i};

	rig_end(rig);
	rig = rig_new(&faults);
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	ck_assert_uint_eq(raw->private_data[5], !_i);
	begin(83, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 10000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 9000);
	raw_next(raw);
	ck_assert_uint_eq(rig->server.counters.remote_invalidations_sent, !_i);
}
END_TEST

static void expect_fault_answer(enum exchange_fault fault, bool err_chunk)
{
	rig->server.answer_fault = fault;
	begin(110 + fault, RPCRDMA_MSG);
	add_write(raw_lend(raw, NULL, 100, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 100);
	if (err_chunk) {
		raw_expect_error(raw, 110 + fault, RPCRDMA_ERR_CHUNK);
		return;
	}
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.nwrites, 1);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, 0);
	ck_assert_uint_eq(len, 24);
	ck_assert_uint_eq(be32_get(body + 8), RPC_MSG_ACCEPTED);
	ck_assert_uint_eq(be32_get(body + 20), RPC_SYSTEM_ERR);
}

START_TEST(faults_are_answered_as_the_table_says)
{
	expect_fault_answer(EXCHANGE_FAULT_ERR_CHUNK, true);
	expect_fault_answer(EXCHANGE_FAULT_TOO_BIG, true);
	expect_fault_answer(EXCHANGE_FAULT_ERR_VERS, false);
	expect_fault_answer(EXCHANGE_FAULT_BAD_REPLY, false);
	expect_fault_answer(EXCHANGE_FAULT_CANT_SEND, false);
	rig->server.answer_fault = EXCHANGE_OK;
	expect_alive();
}
END_TEST

/*
 * RFC 2203 section 5.3.3.2: an accepted Reply would need a verifier that only the server can make.
 */
START_TEST(a_fault_of_a_call_of_rpcsec_gss_is_denied)
{
	static const uint8_t args[100];
	const struct gss_call call = {.xid = 116,
				      .prog = 100003,
				      .vers = 3,
				      .proc = 6,
				      .seq = 150,
				      .service = RPC_GSS_NONE,
				      .args = args,
				      .args_bytes = sizeof(args)};
	uint8_t bytes[sizeof(args) + GSS_CALL_BESIDE_BYTES];

	rig->server.answer_fault = (enum exchange_fault)_i;
	begin(116, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, bytes, gss_call_put(bytes, &call));
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(len, 20);
	ck_assert_uint_eq(be32_get(body), 116);
	ck_assert_uint_eq(be32_get(body + 8), RPC_MSG_DENIED);
	ck_assert_uint_eq(be32_get(body + 12), 1); /* AUTH_ERROR */
	ck_assert_uint_eq(be32_get(body + 16), RPC_AUTH_FAILED);
	ck_assert_uint_eq(rig->server.counters.auth_failed_sent, 1);
	rig->server.answer_fault = EXCHANGE_OK;
	expect_alive();
}
END_TEST

/* A3.8-1: all three kinds of chunk in one Call. */
START_TEST(every_kind_of_chunk_works_in_one_call)
{
	struct fabric_key *data = raw_lend(raw, NULL, 20000, FABRIC_REMOTE_WRITE);
	struct fabric_key *rest = raw_lend(raw, NULL, 9000, FABRIC_REMOTE_WRITE);
	uint8_t call[2048], reduced[2048];

	fake_reply_payloads[0] = (struct rpc_payload){100, 20000};
	fake_nreply_payloads = 1;
	rig_fill_call(call, 1200, 77, 100 + 20000 + 6000);
	begin(77, RPCRDMA_MSG);
	add_read(100, raw_lend(raw, call + 100, 1000, FABRIC_REMOTE_READ));
	add_write(data);
	set_reply_chunk(rest);
	memcpy(reduced, call, 100);
	memcpy(reduced + 100, call + 1100, 100);
	raw_send_header(raw, &hdr, reduced, 200);
	ck_assert_uint_eq(rig->server.last_call_bytes, 1200);
	ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, 1200));
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.nreads, 0);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, 20000);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 6100);
	expect_reply_bytes(data->mem, 20000, 100, 26100, 77);
	expect_reply_bytes(rest->mem + 100, 6000, 20100, 26100, 77);
}
END_TEST

static void refuse_payloads(uint32_t xid, struct rpc_payload first, struct rpc_payload second)
{
	struct fabric_key *a = raw_lend(raw, NULL, 2000, FABRIC_REMOTE_WRITE);
	struct fabric_key *b = raw_lend(raw, NULL, 2000, FABRIC_REMOTE_WRITE);

	fake_reply_payloads[0] = first;
	fake_reply_payloads[1] = second;
	fake_nreply_payloads = 2;
	begin(xid, RPCRDMA_MSG);
	add_write(a);
	add_write(b);
	send_call(RIG_CALL_MIN, 1000);
	raw_expect_error(raw, xid, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(a->mem[0], 0xee);
	ck_assert_uint_eq(b->mem[0], 0xee);
}

/* Whoever found them: nothing outside of the Reply is ever written. */
START_TEST(payloads_that_are_not_in_the_reply_get_err_chunk)
{
	refuse_payloads(83, (struct rpc_payload){500, 501}, (struct rpc_payload){0, 0});
	refuse_payloads(84, (struct rpc_payload){1004, 4}, (struct rpc_payload){0, 0});
	refuse_payloads(85, (struct rpc_payload){500, 100}, (struct rpc_payload){400, 100});
	refuse_payloads(86, (struct rpc_payload){500, 100}, (struct rpc_payload){596, 100});
	refuse_payloads(87, (struct rpc_payload){UINT32_MAX, 2000}, (struct rpc_payload){0, 0});
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responder_reply");
	TCase *tc = tcase_create("open");
	TCase *closed = tcase_create("set-up");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_checked_fixture(closed, setup_closed, teardown);
	tcase_add_test(tc, a_long_reply_goes_into_the_reply_chunk);
	tcase_add_test(tc, a_call_takes_no_more_memory_than_its_reply_can_have);
	tcase_add_test(tc, a_reply_chunk_in_segments_is_filled_in_order);
	tcase_add_test(tc, an_unused_reply_chunk_is_returned_with_zero_lengths);
	tcase_add_test(tc, a_reply_chunk_without_segments_is_returned);
	tcase_add_loop_test(tc, a_reply_is_inline_while_it_fits_with_the_returned_chunk, 1, 4);
	tcase_add_test(tc, answers_of_our_own_return_the_reply_chunk);
	tcase_add_test(tc, a_reply_chunk_is_returned_with_a_used_write_chunk);
	tcase_add_test(tc, a_reply_that_fits_nowhere_gets_err_chunk);
	tcase_add_test(tc, a_payload_goes_into_its_write_chunk);
	tcase_add_test(tc, without_a_write_list_payloads_go_with_the_rest);
	tcase_add_test(tc, a_dummy_segment_for_the_pad_stays_empty);
	tcase_add_test(tc, unused_write_chunks_come_back_empty);
	tcase_add_test(tc, the_nth_payload_takes_the_nth_chunk);
	tcase_add_test(tc, a_payload_longer_than_its_chunk_gets_err_chunk);
	tcase_add_test(tc, a_reply_that_cannot_be_followed_is_not_reduced);
	tcase_add_test(tc, write_chunk_and_reply_chunk_work_together);
	tcase_add_test(tc, the_only_key_of_a_call_is_invalidated);
	tcase_add_test(closed, no_memory_is_claimed_for_chunks_of_a_protected_call);
	tcase_add_test(closed, nothing_is_invalidated_unless_the_client_offers_it);
	tcase_add_test(closed, nothing_is_invalidated_unless_we_offer_it);
	tcase_add_loop_test(closed, a_device_that_cannot_invalidate_does_not_offer_to, 0, 2);
	tcase_add_test(tc, faults_are_answered_as_the_table_says);
	tcase_add_loop_test(tc, a_fault_of_a_call_of_rpcsec_gss_is_denied, EXCHANGE_FAULT_ERR_VERS,
			    EXCHANGE_FAULT_BAD_REPLY + 1);
	tcase_add_loop_test(closed, a_call_whose_chunks_fit_no_send_gets_err_chunk_immediately, 0,
			    2);
	tcase_add_test(tc, every_kind_of_chunk_works_in_one_call);
	tcase_add_test(tc, payloads_that_are_not_in_the_reply_get_err_chunk);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, closed);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the client leg with servers that expose their Replies by read chunk (A3.6-4, A3.8-1,
 * A5.1-3): all forms, right and wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/read_reply_peer.h"

static void ddp(struct rdma_leg_config *config)
{
	config->ddp = true;
}

static void send_around(const struct rpcrdma_header *hdr, const uint8_t *reply, uint32_t at,
			uint32_t hole, uint32_t len)
{
	uint8_t rest[8192];

	memcpy(rest, reply, at);
	memcpy(rest + at, reply + at + hole, len - at - hole);
	raw_send_header(raw, hdr, rest, len - hole);
}

static const struct {
	uint32_t call_bytes, reply_bytes, reply_max;
	unsigned pieces;
} whole[] = {
	{RIG_CALL_MIN, 24, 24, 1},       {RIG_CALL_MIN, 900, 900, 3},
	{RIG_CALL_MIN, 2000, 4000, 1},   {9000, 3000, 3000, 2},
	{RIG_CALL_MIN, 50000, 60000, 1}, {RIG_CALL_MIN, 60000, 60000, 7},
	{20000, 100000, 100000, 41},     {RIG_CALL_MIN, 1048576, 1048576, 3},
};

START_TEST(a_reply_by_read_chunk_is_read)
{
	uint32_t xid = make_call(whole[_i].call_bytes, whole[_i].reply_bytes, whole[_i].reply_max);

	next_call();
	lent_answer(whole[_i].reply_bytes, whole[_i].pieces);
	rig_run_for(rig, 10000);
	lent_expect_done(xid);
	expect_answered(1);
	ck_assert_uint_eq(rig->client.counters.reply_bytes_pulled, whole[_i].reply_bytes);
	ck_assert_uint_eq(rig->client.counters.read_chunk_bytes_pulled, 0);
	ck_assert_uint_eq(rig->client.counters.dones_sent, 1);
	ck_assert_uint_eq(rig->client.counters.replies_received, 1);
	ck_assert_uint_le(sim_net_stats(rig->net)->max_reads, RDMA_READ_DEPTH);
	/* An inline Reply gets no RDMA_DONE. */
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(2);
	ck_assert_uint_eq(sends_waiting(), 0);
}
END_TEST

START_TEST(a_device_with_short_reads_reads_it_in_parts)
{
	lent_reopen(&(struct sim_faults){.max_transfer_bytes = 3000, .max_ord = 1}, NULL);
	make_call(RIG_CALL_MIN, 50000, 60000);
	next_call();
	lent_answer(50000, 2);
	rig_run_for(rig, 100000);
	lent_expect_done(call.xid);
	expect_answered(1);
	ck_assert_uint_eq(rig->client.counters.reply_bytes_pulled, 50000);
}
END_TEST

/*
 * A3.4-12: chunks at positions, in any order (A-Δ7), between parts that come inline or are read,
 * too.
 */
START_TEST(parts_of_a_reply_can_come_by_read_chunk)
{
	struct rpcrdma_header hdr;
	uint8_t *reply;

	make_call(RIG_CALL_MIN, 20000, 60000);
	next_call();
	reply = lent_reply(20000);
	lent_header(&hdr, RPCRDMA_MSG);
	lent_put(&hdr, 200, reply + 200, 19000, 2, false);
	send_around(&hdr, reply, 200, 19000, 20000);
	free(reply);
	lent_expect_done(call.xid);
	expect_answered(1);

	make_call(RIG_CALL_MIN, 20000, 60000);
	next_call();
	reply = lent_reply(20000);
	lent_header(&hdr, RPCRDMA_NOMSG);
	lent_put(&hdr, 10000, reply + 10000, 4000, 1, false);
	lent_put(&hdr, 0, reply, 10000, 3, false);
	lent_put(&hdr, 0, reply + 14000, 6000, 1, false);
	free(reply);
	raw_send_header(raw, &hdr, NULL, 0);
	rig_run_for(rig, 10000);
	lent_expect_done(call.xid);
	expect_answered(2);
	/* Without a place for it, and while keys of its Call live. */
	make_call(9000, 3000, 4000);
	next_call();
	ck_assert(!call.has_reply_chunk && call.nreads);
	reply = lent_reply(3000);
	lent_header(&hdr, RPCRDMA_MSG);
	lent_put(&hdr, 100, reply + 100, 2900, 1, false);
	raw_send_header(raw, &hdr, reply, 100);
	free(reply);
	lent_expect_done(call.xid);
	expect_answered(3);
}
END_TEST

/* What a chunk does not bring of its pad is zeros (A-Δ5). */
START_TEST(a_chunk_may_come_without_its_pad)
{
	struct rpcrdma_header hdr;
	uint8_t *reply;

	make_call(RIG_CALL_MIN, 1204, 4000);
	next_call();
	reply = lent_reply(1204);
	lent_header(&hdr, RPCRDMA_MSG);
	lent_put(&hdr, 200, reply + 200, 1001, 1, false);
	send_around(&hdr, reply, 200, 1004, 1204);
	lent_expect_done(call.xid);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert_uint_eq(rig->client.last_reply_bytes, 1204);
	ck_assert_mem_eq(rig->client.last_reply, reply, 64);
	free(reply);
}
END_TEST

START_TEST(empty_segments_bring_nothing)
{
	struct rpcrdma_header hdr;
	uint8_t *reply;

	make_call(RIG_CALL_MIN, 3000, 60000);
	next_call();
	reply = lent_reply(3000);
	lent_header(&hdr, RPCRDMA_NOMSG);
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){0, {77, 0, 0}};
	lent_put(&hdr, 0, reply, 3000, 1, false);
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){0, {77, 0, 0}};
	raw_send_header(raw, &hdr, NULL, 0);
	lent_expect_done(call.xid);
	expect_answered(1);
	/* Of a list that has nothing else there is nothing to read. */
	make_call(RIG_CALL_MIN, 3000, 60000);
	next_call();
	rig_fill_reply(reply, 3000, call.xid);
	lent_header(&hdr, RPCRDMA_MSG);
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){3000, {77, 0, 0}};
	raw_send_header(raw, &hdr, reply, 3000);
	free(reply);
	lent_expect_done(call.xid);
	expect_answered(2);
}
END_TEST

/* A READ of 100,000 bytes whose Reply is @before bytes, @payload bytes and @behind bytes. */
static uint8_t *call_read(uint32_t before, uint32_t payload, uint32_t behind)
{
	fake_result_bounds[0] = 100000;
	fake_nresult_bounds = 1;
	fake_reply_payloads[0] = (struct rpc_payload){before, payload};
	fake_nreply_payloads = 1;
	make_call(9000, before + payload + behind, 100400);
	next_call();
	ck_assert_uint_eq(call.nwrites, 1);
	ck_assert(call.nreads);
	return lent_reply(before + payload + behind);
}

static void write_payload(struct rpcrdma_header *hdr, const uint8_t *payload, uint32_t len)
{
	hdr->nwrites = 1;
	hdr->nsegments = 1;
	hdr->writes[0] = (struct rpcrdma_chunk){0, 1, len};
	hdr->segments[0] = call.segments[0];
	hdr->segments[0].len_bytes = len;
	if (len)
		ck_assert_int_eq(raw_write(raw, payload, len, call.segments[0].handle,
					   call.segments[0].offset),
				 FABRIC_OK);
}

/* A3.8-1: a Call that is Read, its result written, and the rest of the Reply by read chunk. */
START_TEST(written_and_read_chunks_form_one_reply)
{
	struct rpcrdma_header hdr;
	uint8_t *reply, rest[400];

	lent_reopen(&(struct sim_faults){.async_unbind = true}, ddp);
	reply = call_read(128, 100000, 200);
	lent_header(&hdr, RPCRDMA_NOMSG);
	write_payload(&hdr, reply + 128, 100000);
	memcpy(rest, reply, 128);
	memcpy(rest + 128, reply + 100128, 200);
	lent_put(&hdr, 0, rest, 328, 3, false);
	free(reply);
	raw_send_header(raw, &hdr, NULL, 0);
	lent_expect_done(call.xid);
	expect_answered(1);
	ck_assert_uint_eq(rig->client.counters.write_chunk_bytes_taken, 100000);
	ck_assert_uint_eq(rig->client.counters.reply_bytes_pulled, 328);
	/* Part of that inline. */
	reply = call_read(128, 50000, 200);
	lent_header(&hdr, RPCRDMA_MSG);
	write_payload(&hdr, reply + 128, 50000);
	memcpy(rest, reply, 100);
	lent_put(&hdr, 100, reply + 100, 28, 1, false);
	memcpy(rest + 100, reply + 50128, 200);
	free(reply);
	raw_send_header(raw, &hdr, rest, 300);
	lent_expect_done(call.xid);
	expect_answered(2);
}
END_TEST

START_TEST(a_write_chunk_may_stay_unused)
{
	struct rpcrdma_header hdr;
	uint8_t *reply;

	lent_reopen(NULL, ddp);
	reply = call_read(128, 90000, 200);
	lent_header(&hdr, RPCRDMA_NOMSG);
	write_payload(&hdr, NULL, 0);
	lent_put(&hdr, 0, reply, 90328, 1, false);
	free(reply);
	raw_send_header(raw, &hdr, NULL, 0);
	rig_run_for(rig, 10000);
	lent_expect_done(call.xid);
	expect_answered(1);
	/* Longer than what was to land there, and no longer than its Call allows. */
	reply = call_read(128, 100000, 200);
	lent_header(&hdr, RPCRDMA_NOMSG);
	lent_put(&hdr, 0, reply, 100328, 1, false);
	free(reply);
	raw_send_header(raw, &hdr, NULL, 0);
	rig_run_for(rig, 10000);
	lent_expect_done(call.xid);
	expect_answered(2);
}
END_TEST

static void ganesha(struct rdma_leg_config *config)
{
	config->peer = PEER_GANESHA;
}

/* The offer is reduced to what such a server accepts; a longer Reply makes the Call fail. */
START_TEST(a_reply_longer_than_what_was_offered_gets_its_own_memory)
{
	lent_reopen(&(struct sim_faults){.async_unbind = true, .max_delay_us = 50, .seed = 4},
		    ganesha);
	make_call(RIG_CALL_MIN, 1048576 + 60000, 1048576 + 65000);
	next_call();
	ck_assert(call.has_reply_chunk && call.reply_chunk.len_bytes == 1048576);
	lent_answer(1048576 + 60000, 2);
	rig_run_for(rig, 100000);
	lent_expect_done(call.xid);
	expect_answered(1);
}
END_TEST

/* A Send with Invalidate may take a key of the RPC. */
START_TEST(a_key_of_the_call_may_be_invalidated_with_it)
{
	struct rpcrdma_header hdr;
	uint8_t bytes[256], *reply;
	size_t n;

	make_call(RIG_CALL_MIN, 50000, 60000);
	next_call();
	reply = lent_reply(50000);
	lent_header(&hdr, RPCRDMA_NOMSG);
	lent_put(&hdr, 0, reply, 50000, 1, false);
	free(reply);
	n = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
	raw_send_inv(raw, bytes, n, call.segments[0].handle);
	lent_expect_done(call.xid);
	expect_answered(1);
}
END_TEST

/* The peer cannot change what has been read: its keys are dead before the first Read. */
START_TEST(keys_are_dead_while_a_reply_is_read)
{
	make_call(RIG_CALL_MIN, 50000, 60000);
	next_call();
	lent_answer_slowly(50000);
	ck_assert_int_eq(
		raw_write(raw, "late", 4, call.segments[0].handle, call.segments[0].offset),
		FABRIC_ERR_REMOTE);
}
END_TEST

/* Its memory is not in the claim, so nothing is read; the server has it back all the same. */
START_TEST(a_reply_longer_than_its_call_allows_is_not_read)
{
	make_call(RIG_CALL_MIN, 5004, 5000);
	next_call();
	lent_answer(5004, 2);
	lent_expect_done(call.xid);
	expect_fault(EXCHANGE_FAULT_TOO_BIG);
	ck_assert_uint_eq(rig->client.counters.replies_over_limit, 1);
	ck_assert_uint_eq(sim_net_stats(rig->net)->max_reads, 0);
	/* Its grant counts all the same. */
	make_call(RIG_CALL_MIN, 500, 500);
	make_call(RIG_CALL_MIN, 500, 500);
	ck_assert_uint_eq(sends_waiting(), 2);
}
END_TEST

/* The rest is longer than the room around a payload; or it comes to more than its Call allows. */
START_TEST(a_rest_longer_than_its_room_is_not_read)
{
	struct rpcrdma_header hdr;
	uint8_t *reply;

	lent_reopen(NULL, ddp);
	for (int i = 0; i < 2; i++) {
		uint32_t written = i ? 100000 : 4000;

		reply = call_read(128, 100000, 4000);
		lent_header(&hdr, RPCRDMA_NOMSG);
		write_payload(&hdr, reply, written);
		lent_put(&hdr, 0, reply, i ? 404 : 4096, 1, false);
		free(reply);
		raw_send_header(raw, &hdr, NULL, 0);
		lent_expect_done(call.xid);
		ck_assert_uint_eq(rig->client.faults, i + 1);
		ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_TOO_BIG);
	}
	ck_assert_uint_eq(sim_net_stats(rig->net)->max_reads, 0);
}
END_TEST

static void reply_with(enum rpcrdma_proc proc, uint32_t position, uint32_t lent, uint32_t len)
{
	struct rpcrdma_header hdr;
	uint8_t *reply;

	make_call(RIG_CALL_MIN, 5000, 60000);
	next_call();
	reply = lent_reply(5000);
	lent_header(&hdr, proc);
	lent_put(&hdr, position, reply, lent, 1, false);
	raw_send_header(raw, &hdr, reply, len);
	free(reply);
}

START_TEST(chunks_that_make_no_reply_are_a_bad_reply)
{
	static const struct {
		enum rpcrdma_proc proc;
		uint32_t position, lent, len;
	} rows[] = {
		{RPCRDMA_MSG, 0, 5000, 5000 - 4000}, /* A-Δ8 */
		{RPCRDMA_MSG, 2000, 100, 1000},      /* behind the end */
		{RPCRDMA_NOMSG, 100, 5000, 0},       /* nothing at position zero */
		{RPCRDMA_NOMSG, 0, 16, 0},           /* no Reply is so short */
	};

	reply_with(rows[_i].proc, rows[_i].position, rows[_i].lent, rows[_i].len);
	lent_expect_bad(true);
}
END_TEST

/* The bytes Read are wrong. */
START_TEST(a_reply_by_read_chunk_to_another_call_is_a_bad_reply)
{
	struct rpcrdma_header hdr;
	uint8_t *reply;

	make_call(RIG_CALL_MIN, 5000, 60000);
	next_call();
	reply = lent_reply(5000);
	reply[3] ^= 1;
	lent_header(&hdr, RPCRDMA_NOMSG);
	lent_put(&hdr, 0, reply, 5000, 1, false);
	free(reply);
	raw_send_header(raw, &hdr, NULL, 0);
	lent_expect_done(call.xid);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.xid_mismatches, 1);
}
END_TEST

START_TEST(a_reply_both_by_read_chunk_and_in_the_reply_chunk_is_a_bad_reply)
{
	struct rpcrdma_header hdr;
	uint8_t *reply;

	make_call(RIG_CALL_MIN, 5000, 60000);
	next_call();
	reply = lent_reply(5000);
	lent_header(&hdr, RPCRDMA_NOMSG);
	lent_put(&hdr, 0, reply, 5000, 1, false);
	free(reply);
	hdr.has_reply_chunk = true;
	hdr.reply_chunk = (struct rpcrdma_chunk){0, 1, 100};
	hdr.nsegments = 1;
	hdr.segments[0] = call.segments[0];
	hdr.segments[0].len_bytes = 100;
	ck_assert_int_eq(raw_write(raw, &hdr, 100, hdr.segments[0].handle, hdr.segments[0].offset),
			 FABRIC_OK);
	raw_send_header(raw, &hdr, NULL, 0);
	lent_expect_bad(true);
}
END_TEST

/* The header does not decode, so the exposed memory is unknown. */
START_TEST(segments_that_overlap_are_a_bad_reply)
{
	struct rpcrdma_header hdr;
	uint8_t *reply;

	make_call(RIG_CALL_MIN, 5000, 60000);
	next_call();
	reply = lent_reply(5000);
	lent_header(&hdr, RPCRDMA_NOMSG);
	lent_put(&hdr, 0, reply, 5000, 1, false);
	free(reply);
	hdr.reads[1] = hdr.reads[0];
	hdr.reads[1].seg.offset += 4;
	hdr.nreads = 2;
	raw_send_header(raw, &hdr, NULL, 0);
	lent_expect_bad(false);
}
END_TEST

START_TEST(a_peer_that_cannot_be_read_from_sends_no_reply_by_read_chunk)
{
	raw_free(raw);
	rig_end(rig);
	rig = rig_new(NULL);
	rig->client.config.version_one = DIALECT_DRAFT03;
	raw = raw_new(rig, pd_4096, sizeof(pd_4096));
	raw->params.ird = 0;
	rig->raw_server = raw;
	rig_connect(rig);
	rig_run(rig);
	ck_assert_uint_eq(rdma_leg_of(rig->client.leg)->conn.ord, 0);
	reply_with(RPCRDMA_NOMSG, 0, 5000, 0);
	lent_expect_bad(true);
}
END_TEST

/* A-Δ2 */
START_TEST(in_rfc_8166_nothing_is_read_nor_done)
{
	raw_free(raw);
	rig_end(rig);
	setup();
	ck_assert_uint_eq(rdma_leg_of(rig->client.leg)->conn.ord, 0);
	reply_with(RPCRDMA_NOMSG, 0, 5000, 0);
	lent_expect_bad(false);
}
END_TEST

/*
 * D1.3.3-1: Replies to reverse Calls never use read chunks, though the end that accepted can Read.
 */
START_TEST(no_reply_to_a_reverse_call_uses_read_chunks)
{
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint8_t *reply;
	uint32_t len;

	teardown();
	rig = rig_new(NULL);
	rig->server.config.version_one = DIALECT_DRAFT03;
	raw = raw_open_client(rig, pd_4096, sizeof(pd_4096));
	rig_call(&rig->server, RIG_CALL_MIN, 100, 100);
	rig_run_for(rig, 1000);
	raw_next_header(raw, &call, &body, &len);
	reply = lent_reply(100);
	lent_header(&hdr, RPCRDMA_MSG);
	lent_put(&hdr, 40, reply + 40, 60, 1, false);
	raw_send_header(raw, &hdr, reply, 40);
	free(reply);
	ck_assert_uint_eq(rig->server.faults, 1);
	ck_assert_int_eq(rig->server.last_fault, EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->max_reads, 0);
}
END_TEST

static const struct {
	uint32_t call_bytes, reply_bytes, reply_max, inline_bytes, result;
	enum peer_id peer;
} held[] = {
	/* No place for it, a reply chunk, one that is cut, a write chunk that stays unused. */
	{RIG_CALL_MIN, 996, 996, 0, 0, PEER_AUTO},
	{9000, 996, 996, 900, 0, PEER_AUTO},
	{9000, 4000, 4000, 3900, 0, PEER_AUTO},
	{9000, 60000, 60000, 4000, 0, PEER_AUTO},
	{RIG_CALL_MIN, 1110000, 1110000, 4000, 0, PEER_GANESHA},
	{RIG_CALL_MIN, 100400, 100400, 4000, 100000, PEER_AUTO},
	{RIG_CALL_MIN, 5400, 5400, 3000, 5000, PEER_AUTO},
};

/* Runs the loop in small steps, and returns the largest use in addition to the server's. */
static size_t most_in_use(size_t others, unsigned steps)
{
	struct buf_pool_stats stats;
	size_t most = 0, used;

	while (steps--) {
		rig_run_for(rig, 1);
		buf_pool_stats_get(rig->pool, &stats);
		used = stats.in_use_bytes - others;
		/* Sends are bounded by themselves. */
		if (raw->posted > raw->done ||
		    rdma_leg_of(rig->client.leg)->conn.work_requests.sends || used <= most)
			continue;
		most = used;
		ck_assert_uint_le(most, rig->client_budget.account.used_bytes);
	}
	return most;
}

START_TEST(a_reply_by_read_chunk_holds_at_most_the_claimed_memory)
{
	uint32_t len = held[_i].reply_bytes, cut = held[_i].inline_bytes;
	struct rpcrdma_header hdr;
	struct buf_pool_stats stats;
	size_t others = 0, most;
	uint8_t bytes[8192], *reply;
	size_t n;

	teardown();
	fake_nfs_reset();
	rig = rig_new(&(struct sim_faults){.async_unbind = true, .max_delay_us = 40, .seed = 1});
	rig->client.config.version_one = DIALECT_DRAFT03;
	rig->client.config.ddp = held[_i].result > 0;
	rig->client.config.peer = held[_i].peer;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
	fake_result_bounds[0] = held[_i].result;
	fake_nresult_bounds = held[_i].result ? 1 : 0;
	make_call(held[_i].call_bytes, len, held[_i].reply_max);
	next_call();
	reply = lent_reply(len);
	buf_pool_stats_get(rig->pool, &stats);
	others = stats.in_use_bytes;
	lent_header(&hdr, cut ? RPCRDMA_MSG : RPCRDMA_NOMSG);
	lent_put(&hdr, cut, reply + cut, len - cut, 2, false);
	buf_pool_stats_get(rig->pool, &stats);
	others = stats.in_use_bytes - others;
	n = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
	memcpy(bytes + n, reply, cut);
	free(reply);
	raw_post_send(raw, bytes, n + cut);
	most = most_in_use(others, 1000);
	expect_answered(1);
	lent_expect_done(call.xid);
	ck_assert_uint_gt(most, rpc_msg_cost_bytes(held[_i].call_bytes));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("requester_lent");
	TCase *tc = tcase_create("lent");

	tcase_add_checked_fixture(tc, lent_setup, teardown);
	tcase_add_loop_test(tc, a_reply_by_read_chunk_is_read, 0, ARRAY_SIZE(whole));
	tcase_add_test(tc, a_device_with_short_reads_reads_it_in_parts);
	tcase_add_test(tc, parts_of_a_reply_can_come_by_read_chunk);
	tcase_add_test(tc, a_chunk_may_come_without_its_pad);
	tcase_add_test(tc, empty_segments_bring_nothing);
	tcase_add_test(tc, written_and_read_chunks_form_one_reply);
	tcase_add_test(tc, a_write_chunk_may_stay_unused);
	tcase_add_test(tc, a_reply_longer_than_what_was_offered_gets_its_own_memory);
	tcase_add_test(tc, a_key_of_the_call_may_be_invalidated_with_it);
	tcase_add_test(tc, keys_are_dead_while_a_reply_is_read);
	tcase_add_test(tc, a_reply_longer_than_its_call_allows_is_not_read);
	tcase_add_test(tc, a_rest_longer_than_its_room_is_not_read);
	tcase_add_loop_test(tc, chunks_that_make_no_reply_are_a_bad_reply, 0, 4);
	tcase_add_test(tc, a_reply_by_read_chunk_to_another_call_is_a_bad_reply);
	tcase_add_test(tc, a_reply_both_by_read_chunk_and_in_the_reply_chunk_is_a_bad_reply);
	tcase_add_test(tc, segments_that_overlap_are_a_bad_reply);
	tcase_add_test(tc, a_peer_that_cannot_be_read_from_sends_no_reply_by_read_chunk);
	tcase_add_test(tc, in_rfc_8166_nothing_is_read_nor_done);
	tcase_add_test(tc, no_reply_to_a_reverse_call_uses_read_chunks);
	tcase_add_loop_test(tc, a_reply_by_read_chunk_holds_at_most_the_claimed_memory, 0,
			    ARRAY_SIZE(held));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

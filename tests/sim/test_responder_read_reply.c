// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the server leg with a draft-03 client: which Replies it exposes by read chunk, and the
 * memory for them.
 */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/draft03/responder_read_reply.h"
#include "tests/lib/test.h"
#include "tests/sim/read_reply_client.h"

#define RECV_BYTES  8192u
#define SPARE_RECVS RDMA_RECV_RESERVE

/* A5.1-3, A3.8-2 */
START_TEST(a_reply_that_fits_nowhere_is_read_by_the_client)
{
	struct leg_info before, after;

	call_lent(1, 100000);
	leg_info(rig->server.leg, &before);
	ck_assert_str_eq(before.dialect, "draft03");
	ck_assert_uint_eq(before.replies_lent, 1);
	ck_assert_uint_eq(rig->server.last_reply_max, RIG_MAX_MSG);
	expect_lent(1, 100000);
	expect_alive();
	expect_lent(1, 100000);
	send_done(1);
	expect_silence();
	leg_info(rig->server.leg, &after);
	ck_assert_uint_eq(after.replies_lent, 0);
	ck_assert_uint_eq(after.bytes_sent - before.bytes_sent,
			  100000 + RPCRDMA_MIN_HDR_BYTES +
				  100); /* and the Reply that said it lives */
	expect_alive();
	ck_assert_uint_eq(rig->server.counters.replies_lent, 1);
	ck_assert_uint_eq(rig->server.counters.reply_bytes_lent, 100000);
	ck_assert_uint_eq(rig->server.counters.dones_received, 1);
	ck_assert_uint_eq(rig->server.counters.dones_ignored, 0);
	ck_assert_uint_eq(rig->server.counters.err_chunk_sent, 0);
	expect_dead(&lent.reads[0].seg);
}
END_TEST

/* A5.2-3, A-Δ3: it is used if it is just large enough, and else not at all. */
START_TEST(a_reply_with_a_too_small_reply_chunk_uses_a_read_chunk)
{
	struct fabric_key *small = raw_lend(raw, NULL, 4999, FABRIC_REMOTE_WRITE);

	begin(2, RPCRDMA_MSG);
	set_reply_chunk(small);
	send_call(RIG_CALL_MIN, 5000);
	next_lent(2);
	expect_lent(2, 5000);
	ck_assert_uint_eq(small->mem[0], 0xee);
	begin(3, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 5000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 5000);
	next();
	ck_assert_uint_eq(hdr.nreads, 0);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 5000);
	ck_assert_uint_eq(rig->server.counters.replies_lent, 1);
}
END_TEST

/* A5.2-4: the draft is silent, and the old servers that speak it return none. */
START_TEST(an_unused_reply_chunk_is_left_out)
{
	const uint32_t room = 4096 - RPCRDMA_MIN_HDR_BYTES;

	begin(6, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 5000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, room);
	expect_inline_reply(6, room);
}
END_TEST

START_TEST(replies_that_fit_inline_use_no_read_chunk)
{
	const uint32_t room = 4096 - RPCRDMA_MIN_HDR_BYTES;

	begin(4, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, room);
	expect_inline_reply(4, room);
	call_lent(5, room + 4);
	expect_lent(5, room + 4);
}
END_TEST

/* A3.8-1: the payload is written, and what is left of it on both sides is read. */
START_TEST(the_rest_of_a_payload_uses_several_read_chunks)
{
	struct fabric_key *data = raw_lend(raw, NULL, 50000, FABRIC_REMOTE_WRITE);
	uint32_t bytes;
	uint8_t *got;

	fake_reply_payloads[0] = (struct rpc_payload){3000, 50000};
	fake_nreply_payloads = 1;
	begin(6, RPCRDMA_MSG);
	add_write(data);
	send_call(RIG_CALL_MIN, 3000 + 50000 + 4000);
	next_lent(6);
	ck_assert_uint_eq(lent.nreads, 2);
	ck_assert_uint_eq(lent.reads[0].seg.len_bytes, 3000);
	ck_assert_uint_eq(lent.nwrites, 1);
	ck_assert_uint_eq(lent.writes[0].len_bytes, 50000);
	ck_assert_uint_eq(lent.segments[0].handle, data->rkey);
	expect_reply_bytes(data->mem, 50000, 3000, 57000, 6);
	got = read_lent(&bytes);
	ck_assert_uint_eq(bytes, 7000);
	expect_reply_bytes(got, 3000, 0, 57000, 6);
	expect_reply_bytes(got + 3000, 4000, 53000, 57000, 6);
	free(got);
	send_done(6);
	expect_alive();
}
END_TEST

/* With a Call in a read chunk, and in a Send that takes the one key of the Call away. */
START_TEST(a_reply_by_read_chunk_can_have_every_other_kind_of_chunk)
{
	uint8_t call[2000];
	struct fabric_key *key;

	rig_fill_call(call, sizeof(call), 7, 9000);
	key = raw_lend(raw, call, sizeof(call), FABRIC_REMOTE_READ);
	begin(7, RPCRDMA_NOMSG);
	add_read(0, key);
	raw_send_header(raw, &hdr, NULL, 0);
	next_lent(7);
	ck_assert(raw->recvs[0].invalidated);
	ck_assert_uint_eq(raw->recvs[0].inv_rkey, key->rkey);
	expect_lent(7, 9000);
	send_done(7);
	expect_alive();
}
END_TEST

/* As many segments as its header may have, which must fit the client's receive; not one more. */
START_TEST(a_reply_of_too_many_segments_gets_err_chunk)
{
	const uint32_t most = (4096 - RPCRDMA_MIN_HDR_BYTES) / RPCRDMA_READ_SEGMENT_BYTES;

	rig->server.config.max_segment_bytes = 512;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	call_lent(8, most * 512);
	ck_assert_uint_eq(rig->server.last_reply_max, most * 512);
	ck_assert_uint_eq(lent.nreads, most);
	expect_lent(8, most * 512);
	ck_assert_uint_ge(rig->budget.account.used_bytes,
			  rpc_msg_cost_bytes(most * 512) + mem_expose_cost_bytes(most));
	begin(9, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, most * 512 + 4);
	raw_expect_error(raw, 9, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.replies_too_big, 1);
	ck_assert_uint_eq(rig->server.counters.keys_lent, most);
	send_done(8);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	expect_alive();
}
END_TEST

/* However long receives are. */
START_TEST(no_list_is_longer_than_the_longest)
{
	static const uint8_t pd_64k[] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 63, 63};

	rig->server.config.max_segment_bytes = 512;
	rig->server.config.inline_threshold_bytes = 65536;
	raw = raw_new(rig, pd_64k, sizeof(pd_64k));
	raw->params.recv_size_bytes = 65536;
	raw_connect(raw);
	call_lent(10, RPCRDMA_MAX_SEGMENTS * 512);
	ck_assert_uint_eq(lent.nreads, RPCRDMA_MAX_SEGMENTS);
	begin(11, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, RPCRDMA_MAX_SEGMENTS * 512 + 4);
	raw_expect_error(raw, 11, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

/* Whatever the client said of its own Reads: who asks for none does not read. */
START_TEST(a_client_that_never_reads_gets_no_read_chunks)
{
	raw = raw_new(rig, pd_4096_inv, sizeof(pd_4096_inv));
	raw->params.ord = 0;
	raw_connect(raw);
	begin(12, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 12, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.replies_lent, 0);
	expect_alive();
}
END_TEST

START_TEST(a_client_of_rfc_8166_gets_err_chunk)
{
	rig->server.config.version_one = DIALECT_RFC8166;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	begin(13, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100000);
	raw_expect_error(raw, 13, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

/*
 * The end that connected exposes only Calls: the other one's Reads of Replies are the forward
 * direction's.
 */
START_TEST(no_reply_to_a_reverse_call_uses_read_chunks)
{
	rig->client.config.version_one = DIALECT_DRAFT03;
	raw = raw_open_server(rig, pd_4096_inv, sizeof(pd_4096_inv));
	begin(14, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 14, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->client.counters.replies_lent, 0);
}
END_TEST

START_TEST(a_payload_longer_than_its_write_chunk_gets_no_read_chunk)
{
	fake_reply_payloads[0] = (struct rpc_payload){100, 1001};
	fake_nreply_payloads = 1;
	begin(15, RPCRDMA_MSG);
	add_write(raw_lend(raw, NULL, 1000, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, 9000);
	raw_expect_error(raw, 15, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

/* A3.8-5 */
START_TEST(memory_is_claimed_until_done_and_no_more_than_that)
{
	rig->server.hold = true;
	begin(16, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100000);
	ck_assert_uint_eq(rig->budget.account.used_bytes,
			  rpc_msg_cost_bytes(RIG_CALL_MIN) + rpc_msg_cost_bytes(RIG_MAX_MSG));
	rig->server.hold = false;
	rig_answer_held(&rig->server);
	rig_run_for(rig, 1000);
	next_lent(16);
	ck_assert_uint_eq(rig->budget.account.used_bytes,
			  rpc_msg_cost_bytes(RIG_CALL_MIN) + rpc_msg_cost_bytes(100000));
	send_done(16);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
}
END_TEST

/* Nothing of a Call in a chunk is known when it claims memory. */
START_TEST(a_protected_call_claims_only_the_proved_reply_size)
{
	uint8_t call[RIG_CALL_MIN];

	rig->server.config.leg.max_message_bytes = 3 * RIG_MAX_MSG;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	rig_fill_call(call, sizeof(call), 17, 5000);
	begin(17, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, sizeof(call), FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_uint_eq(rig->server.last_reply_max, REPLY_UNBOUNDED_BYTES);
	next_lent(17);
	fake_ceiling_bytes = 6000;
	call_lent(18, 5000);
	ck_assert_uint_eq(rig->server.last_reply_max, 6000);
}
END_TEST

START_TEST(an_xid_is_in_use_until_done)
{
	call_lent(20, 5000);
	send_done(20);
	call_lent(20, 5000);
	expect_lent(20, 5000);
	begin(20, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	expect_silence();
	expect_closed(LEG_CLOSE_XID_REUSED);
}
END_TEST

/* A3.8-2 */
START_TEST(done_frees_nothing_else)
{
	call_lent(21, 5000);
	rig->server.hold = true;
	begin(22, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 6000);
	rig->server.hold = false;
	send_done(22); /* of a Call that is not answered */
	send_done(0x0badcafe);
	ck_assert_uint_eq(rig->server.counters.dones_ignored, 2);
	expect_lent(21, 5000);
	rig_answer_held(&rig->server);
	rig_run_for(rig, 1000);
	next_lent(22);
	expect_lent(22, 6000);
	send_done(21);
	send_done(21);
	ck_assert_uint_eq(rig->server.counters.dones_ignored, 3);
	ck_assert_uint_eq(rig->server.counters.dones_received, 1);
	expect_lent(22, 6000);
	expect_silence();
	expect_alive();
}
END_TEST

static unsigned recvs_posted(void)
{
	struct leg_info info;

	leg_info(rig->server.leg, &info);
	return (unsigned)(info.recv_posted_bytes / info.recv_size_bytes);
}

/* A3.8-4: RDMA_DONE of each, and a Call for each credit, may be sent at once. */
START_TEST(each_reply_by_read_chunk_has_a_receive_for_its_done)
{
	struct leg_info info;

	rig->server.config.credits = 4;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	ck_assert_uint_eq(recvs_posted(), SPARE_RECVS + 1 + 4);
	for (uint32_t xid = 1; xid <= 4; xid++)
		call_lent(xid, 5000);
	ck_assert_uint_eq(recvs_posted(), SPARE_RECVS + 4 + 4);
	/* It is answered: only the RPCs at its server are in flight. */
	leg_info(rig->server.leg, &info);
	ck_assert_uint_eq(info.calls_in_flight_in, 0);
	for (uint32_t xid = 1; xid <= 4; xid++)
		post_done(xid, 4);
	for (uint32_t xid = 5; xid <= 8; xid++)
		raw_post_call(raw, xid, RIG_CALL_MIN, 5000);
	rig_run(rig);
	for (uint32_t xid = 5; xid <= 8; xid++) {
		next_lent(xid);
		expect_lent(xid, 5000);
		send_done(xid);
	}
	ck_assert_uint_eq(recvs_posted(), SPARE_RECVS + 4);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	expect_alive();
}
END_TEST

/* Forgets the received messages, so that more can arrive. */
static void forget_recvs(void)
{
	ck_assert_uint_eq(raw->nread, raw->nrecvs);
	for (unsigned i = 0; i < raw->nrecvs; i++)
		free(raw->recvs[i].data);
	fabric_recv_post(raw->ep, raw->nrecvs, RECV_BYTES);
	raw->nread = raw->nrecvs = 0;
}

START_TEST(with_one_credit_a_thousand_replies_are_read)
{
	const uint32_t count = 1000;

	rig->server.config.credits = 1;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	raw_post_call(raw, 1, RIG_CALL_MIN, 5000);
	rig_run_for(rig, 1000);
	for (uint32_t xid = 1; xid <= count; xid++) {
		next_lent(xid);
		ck_assert_uint_eq(lent.credit, 1);
		expect_lent(xid, 5000);
		forget_recvs();
		post_done(xid, 1);
		if (xid < count)
			raw_post_call(raw, xid + 1, RIG_CALL_MIN, 5000);
		rig_run_for(rig, 1000);
	}
	ck_assert_uint_eq(rig->server.counters.dones_received, count);
	ck_assert_uint_eq(rig->server.counters.replies_lent, count);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	ck_assert_uint_eq(recvs_posted(), SPARE_RECVS + 1);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	expect_alive();
}
END_TEST

/* A3.8-5 */
START_TEST(replies_by_read_chunk_are_limited_by_the_granted_credits)
{
	rig->server.config.credits = 2;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	call_lent(30, 5000);
	call_lent(31, 5000);
	begin(32, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 32, RPCRDMA_ERR_CHUNK);
	expect_alive();
	send_done(30);
	call_lent(32, 5000);
	expect_lent(32, 5000);
}
END_TEST

static void call_asking(uint32_t xid, uint32_t credit, uint32_t reply_bytes)
{
	begin(xid, RPCRDMA_MSG);
	hdr.credit = credit;
	send_call(RIG_CALL_MIN, reply_bytes);
}

/* The sim knows how many receives were announced. */
START_TEST(all_granted_credits_can_have_replies_by_read_chunk)
{
	rig->server.config.credits = 64;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	/* Used often enough, the grant has grown to all there is. */
	for (uint32_t xid = 100; xid < 148; xid++) {
		call_asking(xid, 64, 100);
		expect_inline_reply(xid, 100);
	}
	ck_assert_uint_eq(hdr.credit, 64);
	for (uint32_t xid = 1; xid <= 64; xid++) {
		call_asking(xid, 64, 5000);
		next_lent(xid);
	}
	ck_assert_uint_eq(recvs_posted(), SPARE_RECVS + 64 + 64);
	call_asking(65, 64, 5000);
	raw_expect_error(raw, 65, RPCRDMA_ERR_CHUNK);
	for (uint32_t xid = 1; xid <= 64; xid++)
		send_done(xid);
	call_lent(65, 5000);
	expect_lent(65, 5000);
}
END_TEST

/* A3.8-6: as in a Call; what is ignored asks for nothing. */
START_TEST(done_asks_for_credits)
{
	call_lent(33, 5000);
	ck_assert_uint_eq(lent.credit, 16);
	rig->server.hold = true;
	raw_post_call(raw, 34, RIG_CALL_MIN, 100);
	raw_post_call(raw, 35, RIG_CALL_MIN, 100);
	rig_run_for(rig, 1000);
	post_done(33, 3);
	post_done(0x0badcafe, 7);
	rig_run_for(rig, 1000);
	rig_answer_held(&rig->server);
	rig_run_for(rig, 1000);
	for (uint32_t xid = 34; xid <= 35; xid++) {
		expect_inline_reply(xid, 100);
		ck_assert_uint_eq(hdr.credit, 3);
	}
}
END_TEST

START_TEST(sixty_four_without_done_leave_memory_for_others)
{
	size_t limit = rig->budget.budget.limit_bytes;
	struct budget_claim theirs;
	unsigned nlent = 0;

	rig->server.config.credits = 64;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	raw->step_us = 1;
	for (uint32_t xid = 1; xid <= 64; xid++)
		call_asking(xid, 64, 1000000);
	nlent = rig->server.counters.replies_lent;
	ck_assert_uint_gt(nlent, 8);
	ck_assert_uint_lt(nlent, 64);
	ck_assert_uint_le(rig->budget.account.used_bytes, limit);
	budget_claim_init(&theirs, NULL, NULL);
	ck_assert(budget_claim(&rig->budget.other, &theirs, 2 * rpc_msg_cost_bytes(RIG_MAX_MSG)));
	budget_claim_release(&theirs);
	/* Those that wait for memory get what these give back. */
	for (uint32_t xid = 1; xid <= 64; xid++) {
		next_lent(xid);
		send_done(xid);
	}
	ck_assert_uint_eq(rig->server.counters.replies_lent, 64);
	ck_assert_uint_le(rig->budget.account.peak_bytes, limit);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	expect_alive();
}
END_TEST

/* The device has one key at once. */
START_TEST(a_reply_waits_for_a_key_that_the_device_has_not_now)
{
	const struct sim_stats *stats;

	lent_reopen(&(struct sim_faults){.max_keys = 1, .async_unbind = _i});
	stats = sim_net_stats(rig->net);
	call_lent(80, 5000);
	for (uint32_t xid = 81; xid < 84; xid++) {
		begin(xid, RPCRDMA_MSG);
		send_call(RIG_CALL_MIN, 5000);
	}
	expect_silence();
	expect_lent(80, 5000);
	for (uint32_t xid = 81; xid < 84; xid++) {
		send_done(xid - 1);
		next_lent(xid);
		expect_lent(xid, 5000);
		ck_assert_uint_eq(stats->keys_at[false], 1);
	}
	send_done(83);
	ck_assert_uint_eq(stats->keys_at[false], 0);
	ck_assert_uint_ge(rig->server.counters.key_waits, 3);
	ck_assert_uint_eq(rig->server.counters.err_chunk_sent, 0);
	expect_alive();
}
END_TEST

/* Two stretches, and one key: it would wait for ever. */
START_TEST(a_reply_that_needs_more_keys_than_there_are_is_an_error)
{
	struct fabric_key *data;

	lent_reopen(&(struct sim_faults){.max_keys = 1, .async_unbind = _i});
	data = raw_lend(raw, NULL, 50000, FABRIC_REMOTE_WRITE);
	fake_reply_payloads[0] = (struct rpc_payload){3000, 50000};
	fake_nreply_payloads = 1;
	begin(85, RPCRDMA_MSG);
	add_write(data);
	send_call(RIG_CALL_MIN, 3000 + 50000 + 4000);
	raw_expect_error(raw, 85, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

START_TEST(a_connection_may_be_lost_while_a_reply_waits_for_a_key)
{
	lent_reopen(&(struct sim_faults){.max_keys = 1, .async_unbind = _i});
	call_lent(86, 5000);
	begin(87, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 5000);
	expect_silence();
	sim_net_cut(rig->net);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_uint_eq(sim_net_stats(rig->net)->keys_at[false], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responder_lent");
	TCase *tc = tcase_create("open");
	TCase *closed = tcase_create("set-up");

	tcase_add_checked_fixture(tc, lent_setup, teardown);
	tcase_add_checked_fixture(closed, lent_setup_closed, teardown);
	tcase_add_test(tc, a_reply_that_fits_nowhere_is_read_by_the_client);
	tcase_add_test(tc, a_reply_with_a_too_small_reply_chunk_uses_a_read_chunk);
	tcase_add_test(tc, an_unused_reply_chunk_is_left_out);
	tcase_add_test(tc, replies_that_fit_inline_use_no_read_chunk);
	tcase_add_test(tc, the_rest_of_a_payload_uses_several_read_chunks);
	tcase_add_test(tc, a_reply_by_read_chunk_can_have_every_other_kind_of_chunk);
	tcase_add_test(closed, a_reply_of_too_many_segments_gets_err_chunk);
	tcase_add_test(closed, no_list_is_longer_than_the_longest);
	tcase_add_test(closed, a_client_that_never_reads_gets_no_read_chunks);
	tcase_add_test(closed, a_client_of_rfc_8166_gets_err_chunk);
	tcase_add_test(closed, no_reply_to_a_reverse_call_uses_read_chunks);
	tcase_add_test(tc, a_payload_longer_than_its_write_chunk_gets_no_read_chunk);
	tcase_add_test(tc, memory_is_claimed_until_done_and_no_more_than_that);
	tcase_add_test(closed, a_protected_call_claims_only_the_proved_reply_size);
	tcase_add_test(tc, an_xid_is_in_use_until_done);
	tcase_add_test(tc, done_frees_nothing_else);
	tcase_add_test(closed, each_reply_by_read_chunk_has_a_receive_for_its_done);
	tcase_add_test(closed, with_one_credit_a_thousand_replies_are_read);
	tcase_add_test(closed, replies_by_read_chunk_are_limited_by_the_granted_credits);
	tcase_add_test(closed, all_granted_credits_can_have_replies_by_read_chunk);
	tcase_add_test(tc, done_asks_for_credits);
	tcase_add_test(closed, sixty_four_without_done_leave_memory_for_others);
	tcase_add_loop_test(closed, a_reply_waits_for_a_key_that_the_device_has_not_now, 0, 2);
	tcase_add_loop_test(closed, a_reply_that_needs_more_keys_than_there_are_is_an_error, 0, 2);
	tcase_add_loop_test(closed, a_connection_may_be_lost_while_a_reply_waits_for_a_key, 0, 2);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, closed);
	return test_main(suite);
}

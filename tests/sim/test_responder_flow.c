// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the server leg with a hand-made client: credits, memory, time, and clients that do not
 * receive Replies.
 */
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/rdma_leg_priv.h"
#include "rpcrdma/work_request.h"
#include "tests/lib/test.h"
#include "tests/sim/client_peer.h"

/* A3.3-3, A3.3-8, D2.2.2-1 */
START_TEST(grants_are_never_zero_nor_above_the_receives)
{
	rig->server.hold = true;
	for (uint32_t xid = 1; xid <= 16; xid++)
		raw_post_call(raw, xid, RIG_CALL_MIN, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.calls, 16);
	rig_answer_held(&rig->server);
	rig_run(rig);
	for (uint32_t i = 0; i < 16; i++) {
		next();
		ck_assert_uint_ge(hdr.credit, 1);
		ck_assert_uint_le(hdr.credit, 32);
	}
	/* Used to the full, it has grown to what is configured. */
	ck_assert_uint_eq(hdr.credit, 32);
	/* The receives for them were posted with it, not with the next Call. */
	ck_assert_uint_ge(rdma_leg_of(rig->server.leg)->conn.recvs_posted, 32);
	rig->server.hold = true;
	for (uint32_t xid = 100; xid < 132; xid++)
		raw_post_call(raw, xid, RIG_CALL_MIN, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.calls, 48);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	rig_answer_held(&rig->server);
	rig_run(rig);
}
END_TEST

START_TEST(a_client_that_asks_for_less_is_granted_less)
{
	uint8_t call[RIG_CALL_MIN];

	begin(1, RPCRDMA_MSG);
	hdr.credit = 3;
	rig_fill_call(call, sizeof(call), 1, 100);
	raw_send_header(raw, &hdr, call, sizeof(call));
	next();
	ck_assert_uint_eq(hdr.credit, 3);
	begin(2, RPCRDMA_MSG);
	hdr.credit = 0;
	rig_fill_call(call, sizeof(call), 2, 100);
	raw_send_header(raw, &hdr, call, sizeof(call));
	next();
	ck_assert_uint_eq(hdr.credit, 1);
}
END_TEST

/* D2.4-2: its credit field, which is here, is not used, and nothing is said. */
START_TEST(a_send_too_short_asks_for_no_credits)
{
	uint8_t bytes[RPCRDMA_MIN_HDR_BYTES];

	rig->server.hold = true;
	raw_post_call(raw, 1, RIG_CALL_MIN, 100);
	rig_run(rig);
	begin(2, RPCRDMA_MSG);
	hdr.credit = 1;
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), sizeof(bytes));
	for (size_t n = 12; n < sizeof(bytes); n++)
		raw_send(raw, bytes, n);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.counters.short_discarded, sizeof(bytes) - 12);
	expect_silence();
	rig_answer_held(&rig->server);
	rig_run(rig);
	next();
	ck_assert_uint_eq(hdr.xid, 1);
	ck_assert_uint_gt(hdr.credit, 1);
}
END_TEST

/* A3.3-6 */
START_TEST(a_client_that_overruns_its_credits_loses_its_connection)
{
	rig->server.hold = true;
	for (uint32_t xid = 1; xid <= 64; xid++)
		raw_post_call(raw, xid, RIG_CALL_MIN, 100);
	expect_closed(LEG_CLOSE_PROTOCOL);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 1);
	ck_assert_uint_eq(rig->server.calls, 32 + 8);
}
END_TEST

/* A3.3-7, X-2: all receives are taken, those beyond the credits too. */
START_TEST(replies_leave_though_no_receive_is_left)
{
	rig->server.hold = true;
	for (uint32_t xid = 1; xid <= 32 + 8; xid++)
		raw_post_call(raw, xid, RIG_CALL_MIN, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.calls, 32 + 8);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	rig->server.hold = false;
	rig_answer_held(&rig->server);
	rig_run(rig);
	for (uint32_t xid = 1; xid <= 32 + 8; xid++)
		expect_inline_reply(xid, 100);
	expect_alive();
}
END_TEST

/* The client's answer to a reverse Call. */
static void reply_reverse(uint32_t xid)
{
	uint8_t reply[100];

	begin(xid, RPCRDMA_MSG);
	hdr.credit = 16;
	rig_fill_reply(reply, sizeof(reply), xid);
	raw_send_header(raw, &hdr, reply, sizeof(reply));
}

/* D2.2.2-1, D1.3.2-1: reverse Calls take no receive from the credits of the client's own Calls. */
START_TEST(each_reverse_call_has_a_receive_in_addition_to_the_credits)
{
	const struct rdma_conn *conn = &rdma_leg_of(rig->server.leg)->conn;
	uint32_t first;

	first = rig_call(&rig->server, RIG_CALL_MIN, 100, 100);
	rig_run(rig);
	next();
	ck_assert_uint_eq(hdr.xid, first);
	reply_reverse(first);
	for (unsigned i = 0; i < 16; i++)
		rig_call(&rig->server, RIG_CALL_MIN, 100, 100);
	rig_run(rig);
	for (uint32_t i = 1; i <= 16; i++)
		next();
	ck_assert_uint_ge(conn->recvs_posted, 16 + conn->grant.granted);
	rig->server.hold = true;
	/* All credits, and all that is kept beyond them. */
	for (uint32_t xid = 1; xid <= 32 + 8; xid++)
		raw_post_call(raw, xid, RIG_CALL_MIN, 100);
	rig_run(rig);
	for (uint32_t i = 1; i <= 16; i++)
		reply_reverse(first + i);
	ck_assert_uint_eq(rig->server.answered, 1 + 16);
	ck_assert_uint_eq(rig->server.calls, 32 + 8);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	rig_answer_held(&rig->server);
	rig_run(rig);
}
END_TEST

/* Admission: nothing is pulled before it has memory, and nobody passes. */
START_TEST(calls_wait_for_memory_in_order)
{
	struct budget_claim all;
	uint8_t call[2000];

	budget_claim_init(&all, NULL, NULL);
	ck_assert(budget_claim(&rig->budget.other, &all, rig->budget.budget.limit_bytes));
	rig_fill_call(call, 2000, 120, 100);
	begin(120, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, 2000, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	begin(121, RPCRDMA_MSG);
	send_call(200, 100);
	ck_assert_uint_eq(rig->server.calls, 0);
	ck_assert_uint_eq(rig->server.counters.memory_waits, 2);
	ck_assert_uint_eq(rig->server.counters.read_chunk_bytes_pulled, 0);
	budget_claim_release(&all);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.calls, 2);
	expect_inline_reply(121, 100); /* the other one has to be pulled first */
	expect_inline_reply(120, 100);
	expect_alive();
}
END_TEST

START_TEST(calls_that_wait_for_memory_end_with_the_connection)
{
	struct budget_claim all;

	budget_claim_init(&all, NULL, NULL);
	ck_assert(budget_claim(&rig->budget.other, &all, rig->budget.budget.limit_bytes));
	begin(122, RPCRDMA_MSG);
	send_call(200, 100);
	ck_assert_uint_eq(rig->budget.account.waiting, 1);
	leg_close(rig->server.leg, LEG_CLOSE_PEER);
	rig_run(rig);
	/* Whatever time the end takes: others are not to wait behind them. */
	ck_assert_uint_eq(rig->server.closing, 1);
	ck_assert_uint_eq(rig->server.waiting_at_closing, 0);
	ck_assert_uint_eq(rig->budget.account.waiting, 0);
	budget_claim_release(&all);
}
END_TEST

START_TEST(a_peer_that_takes_nothing_is_closed_in_time)
{
	begin(130, RPCRDMA_MSG);
	rig->server.hold = true;
	send_call(RIG_CALL_MIN, 100);
	sim_net_silence(rig->net);
	rig_answer_held(&rig->server);
	rig_run_for(rig, 59 * 1000000);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run_for(rig, 2 * 1000000);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_REPLY_STALLED);
}
END_TEST

START_TEST(a_call_in_no_hurry_is_never_stalled)
{
	rig->server.hold = true;
	begin(131, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	rig_run_for(rig, 3600ull * 1000000);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig->server.hold = false;
	rig_answer_held(&rig->server);
	rig_run(rig);
	expect_inline_reply(131, 100);
}
END_TEST

START_TEST(replies_that_come_after_the_close_are_let_go)
{
	rig->server.hold = true;
	begin(132, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	leg_close(rig->server.leg, LEG_CLOSE_PEER);
	rig_answer_held(&rig->server);
	rig_run(rig);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_PEER);
	expect_silence();
	ck_assert(raw->closed);
	ck_assert_int_eq(raw->why, FABRIC_CLOSE_PEER);
}
END_TEST

/* Bad Calls and good ones, from a client that takes no answer: what may wait for it has a bound. */
static void flood(bool good)
{
	uint8_t bytes[128];
	size_t n;

	sim_ep_stop_taking(raw->ep);
	for (uint32_t xid = 1; xid < 1000 && !rig->server.closed; xid++) {
		begin(xid, RPCRDMA_MSG);
		n = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
		rig_fill_call(bytes + n, RIG_CALL_MIN, xid, 100);
		if (!good)
			be32_put(bytes + 16, 2);
		raw_send(raw, bytes, n + RIG_CALL_MIN);
	}
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_REPLY_STALLED);
}

START_TEST(a_client_that_takes_no_answers_is_closed)
{
	flood(true);
}
END_TEST

START_TEST(a_client_that_takes_no_errors_is_closed)
{
	flood(false);
}
END_TEST

START_TEST(progress_puts_the_stall_off)
{
	rig->server.hold = true;
	begin(135, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	begin(136, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	rig_answer_held(&rig->server);
	rig_run_for(rig, 30 * 1000000);
	begin(137, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	sim_ep_stop_taking(raw->ep);
	rig_answer_held(&rig->server);
	rig_run_for(rig, 59 * 1000000);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run_for(rig, 2 * 1000000);
	ck_assert_uint_eq(rig->server.closed, 1);
}
END_TEST

/*
 * A pool whose largest buffer is smaller than the messages: each want of memory is an end in order.
 */
static void reopen_with_pool(size_t bytes)
{
	raw_free(raw);
	rig_end(rig);
	rig_pool_bytes = bytes;
	rig = rig_new(NULL);
	rig_pool_bytes = RIG_POOL_BYTES;
	raw = raw_open_client(rig, pd_4096_inv, sizeof(pd_4096_inv));
}

START_TEST(no_memory_for_a_call_closes)
{
	reopen_with_pool(16384);
	begin(140, RPCRDMA_NOMSG);
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){0, {1, 20000, 0}};
	raw_send_header(raw, &hdr, NULL, 0);
	expect_closed(LEG_CLOSE_RESOURCES);
}
END_TEST

START_TEST(a_call_that_cannot_be_pulled_is_closed_in_time)
{
	begin(138, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, NULL, 5000, FABRIC_REMOTE_READ));
	sim_ep_stop_taking(raw->ep);
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_uint_gt(rig->budget.account.used_bytes, 0);
	rig_run_for(rig, 59 * 1000000);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run_for(rig, 2 * 1000000);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_RECORD_STALLED);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
}
END_TEST

/* A cheap Call every two seconds is no answer to our Reads. */
START_TEST(a_client_that_answers_no_reads_is_closed_whatever_it_sends)
{
	uint32_t xid = 150;

	begin(xid, RPCRDMA_NOMSG);
	add_read(0, raw_lend_slowly(raw, NULL, 2000));
	raw_send_header(raw, &hdr, NULL, 0);
	for (unsigned s = 2; s < 60; s += 2) {
		rig_run_for(rig, 2 * 1000000);
		begin(++xid, RPCRDMA_MSG);
		send_call(RIG_CALL_MIN, 100);
		expect_inline_reply(xid, 100);
	}
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run_for(rig, 3 * 1000000);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_RECORD_STALLED);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
}
END_TEST

/* Conversely: answered Reads do not make up for Replies that the peer does not receive. */
START_TEST(a_client_that_takes_no_replies_is_closed_whatever_it_lets_us_read)
{
	struct fabric_key *keys[32];
	uint8_t bytes[2000];

	rig_fill_call(bytes, sizeof(bytes), 200, 100);
	rig->server.hold = true;
	begin(199, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	begin(200, RPCRDMA_NOMSG);
	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++) {
		keys[i] = raw_lend_slowly(raw, bytes + i * 60, 60);
		add_read(0, keys[i]);
	}
	raw_send_header(raw, &hdr, NULL, 0);
	sim_ep_stop_taking_sends(raw->ep);
	rig_answer_held(&rig->server);
	for (unsigned i = 0; i < 29; i++) {
		fabric_key_ready(keys[i], 60);
		rig_run_for(rig, 2 * 1000000);
	}
	ck_assert_uint_eq(rig->server.closed, 0);
	fabric_key_ready(keys[29], 60);
	rig_run_for(rig, 3 * 1000000);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_REPLY_STALLED);
}
END_TEST

/* Each Read has the time that 64 KiB/s take, in addition to the peer's time to begin. */
static void read_slowly(uint32_t len_bytes, unsigned seconds, bool lives)
{
	uint8_t *call = malloc(len_bytes);
	struct fabric_key *key;

	rig_fill_call(call, len_bytes, 160, 100);
	key = raw_lend_slowly(raw, call, len_bytes);
	begin(160, RPCRDMA_NOMSG);
	add_read(0, key);
	raw_send_header(raw, &hdr, NULL, 0);
	for (unsigned i = 1; i < seconds; i++) {
		rig_run_for(rig, 1000000);
		fabric_key_ready(key, len_bytes / seconds * i);
	}
	rig_run_for(rig, 1000000);
	if (lives) {
		fabric_key_ready(key, len_bytes);
		rig_run(rig);
		expect_inline_reply(160, 100);
	} else {
		ck_assert_int_eq(rig->server.why, LEG_CLOSE_RECORD_STALLED);
	}
	ck_assert_uint_eq(rig->server.closed, !lives);
	free(call);
}

START_TEST(a_slow_but_honest_read_lives)
{
	read_slowly(1024 * 1024, 75, true);
}
END_TEST

START_TEST(a_read_that_is_slower_than_that_does_not)
{
	read_slowly(1024 * 1024, 78, false);
}
END_TEST

/* The wait for a long Read is no reason to look for others' later. */
START_TEST(each_class_is_looked_at_in_its_own_time)
{
	struct fabric_key *key = raw_lend_slowly(raw, NULL, 1024 * 1024);

	begin(170, RPCRDMA_MSG);
	rig->server.hold = true;
	send_call(RIG_CALL_MIN, 100);
	begin(171, RPCRDMA_NOMSG);
	add_read(0, key);
	raw_send_header(raw, &hdr, NULL, 0);
	rig_run_for(rig, 5 * 1000000);
	sim_ep_stop_taking_sends(raw->ep);
	rig_answer_held(&rig->server);
	rig_run_for(rig, 59 * 1000000);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run_for(rig, 2 * 1000000);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_REPLY_STALLED);
}
END_TEST

/* 40 segments of one key; nothing of it is ready. */
static struct fabric_key *send_call_of_segments(uint32_t xid, const uint8_t *bytes)
{
	struct fabric_key *key = raw_lend_slowly(raw, bytes, 4000);

	begin(xid, RPCRDMA_NOMSG);
	for (unsigned i = 0; i < 40; i++)
		hdr.reads[hdr.nreads++] =
			(struct rpcrdma_read_segment){0, {key->rkey, 100, key->addr + 100 * i}};
	raw_send_header(raw, &hdr, NULL, 0);
	return key;
}

/*
 * Waiting Reads hold no work requests, and those of a second Call wait until the first one's are
 * posted.
 */
START_TEST(no_more_reads_are_posted_than_both_ends_agreed_on)
{
	const struct work_request_queues *work_requests =
		&rdma_leg_of(rig->server.leg)->conn.work_requests;
	struct fabric_key *keys[2];
	uint8_t bytes[2][4000];

	for (unsigned i = 0; i < 2; i++) {
		rig_fill_call(bytes[i], sizeof(bytes[i]), 190 + i, 100);
		keys[i] = send_call_of_segments(190 + i, bytes[i]);
		rig_run_for(rig, 1000);
		ck_assert_uint_eq(work_requests->reads, RDMA_READ_DEPTH);
	}
	fabric_key_ready(keys[1], 4000);
	rig_run_for(rig, 1000);
	ck_assert_uint_eq(work_requests->reads, RDMA_READ_DEPTH);
	ck_assert_uint_eq(rig->server.calls, 0);
	fabric_key_ready(keys[0], 4000);
	rig_run(rig);
	ck_assert_uint_eq(sim_net_stats(rig->net)->max_reads, RDMA_READ_DEPTH);
	expect_inline_reply(190, 100);
	expect_inline_reply(191, 100);
	ck_assert_uint_eq(work_requests->reads, 0);
}
END_TEST

/* A Call's claim includes the work requests that its Reads need concurrently. */
START_TEST(a_call_claims_its_work_requests)
{
	size_t least = rpc_msg_cost_bytes(4000) + rpc_msg_cost_bytes(4096 - 28), used;

	send_call_of_segments(180, NULL);
	used = rig->budget.account.used_bytes;
	ck_assert_uint_ge(used, least + RDMA_READ_DEPTH * sizeof(struct work_request));
	ck_assert_uint_lt(used, least + (RDMA_READ_DEPTH + 1) * sizeof(struct work_request));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responder_flow");
	TCase *tc = tcase_create("open");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, grants_are_never_zero_nor_above_the_receives);
	tcase_add_test(tc, a_client_that_asks_for_less_is_granted_less);
	tcase_add_test(tc, a_send_too_short_asks_for_no_credits);
	tcase_add_test(tc, a_client_that_overruns_its_credits_loses_its_connection);
	tcase_add_test(tc, replies_leave_though_no_receive_is_left);
	tcase_add_test(tc, each_reverse_call_has_a_receive_in_addition_to_the_credits);
	tcase_add_test(tc, calls_wait_for_memory_in_order);
	tcase_add_test(tc, calls_that_wait_for_memory_end_with_the_connection);
	tcase_add_test(tc, a_peer_that_takes_nothing_is_closed_in_time);
	tcase_add_test(tc, a_call_in_no_hurry_is_never_stalled);
	tcase_add_test(tc, replies_that_come_after_the_close_are_let_go);
	tcase_add_test(tc, a_client_that_takes_no_answers_is_closed);
	tcase_add_test(tc, a_client_that_takes_no_errors_is_closed);
	tcase_add_test(tc, progress_puts_the_stall_off);
	tcase_add_test(tc, no_memory_for_a_call_closes);
	tcase_add_test(tc, a_call_that_cannot_be_pulled_is_closed_in_time);
	tcase_add_test(tc, a_client_that_answers_no_reads_is_closed_whatever_it_sends);
	tcase_add_test(tc, a_client_that_takes_no_replies_is_closed_whatever_it_lets_us_read);
	tcase_add_test(tc, a_slow_but_honest_read_lives);
	tcase_add_test(tc, a_read_that_is_slower_than_that_does_not);
	tcase_add_test(tc, each_class_is_looked_at_in_its_own_time);
	tcase_add_test(tc, no_more_reads_are_posted_than_both_ends_agreed_on);
	tcase_add_test(tc, a_call_claims_its_work_requests);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

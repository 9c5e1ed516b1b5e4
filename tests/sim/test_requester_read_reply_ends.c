// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the client leg while it Reads Replies: credits, other messages meanwhile, and every way to
 * end.
 */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lib/test.h"
#include "tests/sim/read_reply_peer.h"

static unsigned in_flight(void)
{
	return rdma_leg_of(rig->client.leg)->conn.window.in_flight;
}

/* A Call whose Reply of 5000 bytes is being read, and cannot be before lent_go_on(). */
static uint32_t be_reading(void)
{
	make_call(RIG_CALL_MIN, 5000, 60000);
	next_call();
	lent_answer_slowly(5000);
	ck_assert_uint_eq(in_flight(), 1);
	ck_assert_uint_eq(sends_waiting(), 0);
	return call.xid;
}

/* A3.8-4: a Done is owed, and has a credit. */
START_TEST(a_credit_is_kept_for_each_done)
{
	unsigned grant = _i ? 3 : 1;
	uint32_t xid;

	xid = make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	reply_inline(xid, 100, grant);
	for (unsigned i = 0; i < 2 * grant; i++)
		make_call(RIG_CALL_MIN, 5000, 60000);
	for (unsigned i = 0; i < grant; i++) {
		struct rpcrdma_header hdr;
		uint8_t *reply;

		next_call();
		reply = lent_reply(5000);
		lent_header(&hdr, RPCRDMA_NOMSG);
		hdr.credit = grant;
		lent_put(&hdr, 0, reply, 5000, 1, true);
		free(reply);
		raw_send_header(raw, &hdr, NULL, 0);
	}
	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 0);
	lent_go_on();
	/* Each before the Call that has its credit. */
	for (unsigned i = 1; i <= grant; i++) {
		lent_expect_done(xid + i);
		next_call();
		ck_assert_uint_eq(call.xid, xid + grant + i);
	}
	ck_assert_uint_eq(in_flight(), grant);
	expect_answered(1 + grant);
}
END_TEST

/* Its grant counts from when it comes. */
START_TEST(the_grant_of_a_reply_by_read_chunk_is_obeyed_immediately)
{
	uint32_t xid = be_reading();

	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	ck_assert_uint_eq(call.xid, xid + 1);
	ck_assert_uint_eq(in_flight(), 2);
	reply_inline(xid + 1, 100, 32);
	expect_answered(1);
	lent_go_on();
	lent_expect_done(xid);
	expect_answered(2);
	ck_assert_uint_eq(in_flight(), 0);
}
END_TEST

START_TEST(one_credit_is_enough_for_a_thousand_replies_by_read_chunk)
{
	struct buf_pool_stats before, stats;

	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 1);
	raw_forget(raw);
	buf_pool_stats_get(rig->pool, &before);
	for (unsigned i = 1; i <= 1000; i++) {
		uint32_t len = 24 + 4 * (i * 37 % 5000);
		struct rpcrdma_header hdr;
		uint8_t *reply;

		make_call(RIG_CALL_MIN, len, 24000);
		make_call(RIG_CALL_MIN, 100, 100);
		next_call();
		reply = lent_reply(len);
		lent_header(&hdr, RPCRDMA_NOMSG);
		hdr.credit = 1;
		lent_put(&hdr, 0, reply, len, 1 + i % 5, false);
		free(reply);
		raw_send_header(raw, &hdr, NULL, 0);
		rig_run_for(rig, 5000);
		lent_expect_done(call.xid);
		next_call();
		reply_inline(call.xid, 100, 1);
		expect_answered(2 * i + 1);
		raw_forget(raw);
	}
	ck_assert_uint_eq(in_flight(), 0);
	ck_assert_uint_eq(rig->client.counters.dones_sent, 1000);
	buf_pool_stats_get(rig->pool, &stats);
	ck_assert_uint_eq(stats.in_use_bytes, before.in_use_bytes);
	ck_assert_uint_eq(rig->client_budget.account.used_bytes, 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
}
END_TEST

/* It matches no Call that waits for one. */
START_TEST(a_second_reply_while_one_is_read_is_dropped)
{
	uint32_t xid = be_reading();

	reply_inline(xid, 5000 - 4096, 1);
	lent_answer(5000, 1);
	send_nomsg();
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, 3);
	ck_assert_uint_eq(sends_waiting(), 0);
	lent_go_on();
	lent_expect_done(xid);
	expect_answered(1);
	ck_assert_uint_eq(sends_waiting(), 0);
}
END_TEST

START_TEST(an_error_while_a_reply_is_read_is_dropped)
{
	static const enum rpcrdma_err errors[] = {RPCRDMA_ERR_CHUNK, RPCRDMA_ERR_VERS};
	uint32_t xid = be_reading();
	struct rpcrdma_header hdr;

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_ERROR);
		hdr.error = errors[i];
		hdr.vers_low = hdr.vers_high = 1;
		raw_send_header(raw, &hdr, NULL, 0);
	}
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, 2);
	lent_go_on();
	lent_expect_done(xid);
	expect_answered(1);
}
END_TEST

/* It may have been the Reply to any Call. */
START_TEST(an_undecodable_message_while_a_reply_is_read_closes)
{
	struct rpcrdma_header hdr;
	uint32_t xid = be_reading();

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_NOMSG);
	hdr.reads[0] = hdr.reads[1] = (struct rpcrdma_read_segment){0, {5, 100, 0}};
	hdr.nreads = 2;
	raw_send_header(raw, &hdr, NULL, 0);
	expect_closed(LEG_CLOSE_BAD_REPLY);
}
END_TEST

/* Nor can a key be invalidated that the RPC does not expose any more. */
START_TEST(an_invalidation_while_a_reply_is_read_closes)
{
	struct rpcrdma_header hdr;
	uint8_t bytes[64];
	size_t n;

	be_reading();
	rpcrdma_header_init(&hdr, call.xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_NOMSG);
	n = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
	raw_send_inv(raw, bytes, n, call.segments[0].handle);
	expect_closed(LEG_CLOSE_PROTOCOL);
}
END_TEST

START_TEST(a_key_that_is_not_the_servers_closes)
{
	struct rpcrdma_header hdr;

	make_call(RIG_CALL_MIN, 5000, 60000);
	next_call();
	lent_header(&hdr, RPCRDMA_NOMSG);
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){0, {0xbad, 5000, 0}};
	raw_send_header(raw, &hdr, NULL, 0);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_uint_eq(rig->client.counters.dones_sent, 0);
	ck_assert_uint_eq(rig->client.answered, 0);
}
END_TEST

START_TEST(a_reply_that_cannot_be_read_in_time_closes)
{
	be_reading();
	rig_run_for(rig, 59 * 1000000);
	ck_assert_uint_eq(rig->client.closed, 0);
	rig_run_for(rig, 3 * 1000000);
	expect_closed(LEG_CLOSE_RECORD_STALLED);
	ck_assert_uint_eq(rig->client.counters.dones_sent, 0);
}
END_TEST

START_TEST(a_leg_that_drains_reads_first)
{
	uint32_t xid = be_reading();

	leg_drain(rig->client.leg);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 0);
	lent_go_on();
	lent_expect_done(xid);
	expect_answered(1);
	expect_closed(LEG_CLOSE_SHUTDOWN);
}
END_TEST

START_TEST(a_leg_that_closes_while_it_reads_lets_go)
{
	be_reading();
	if (_i == 0)
		leg_close(rig->client.leg, LEG_CLOSE_LOCAL);
	else if (_i == 1)
		sim_net_cut(rig->net);
	else
		fabric_ep_close(raw->ep);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_uint_eq(rig->client.answered, 0);
	ck_assert_uint_eq(rig->client.counters.dones_sent, 0);
}
END_TEST

/* Whatever breaks, at whatever step. */

enum kind { CUT, FAIL_LOCAL, FAIL_REMOTE, CLOSE };

static void close_client(void *arg)
{
	if (rig->client.leg)
		leg_close(rig->client.leg, LEG_CLOSE_PEER);
}

/* Three RPCs, one for each form of a Reply by read chunk; the connection can end at any moment. */
static void play(void)
{
	static const struct {
		uint32_t call_bytes, reply_bytes, reply_max;
	} rpcs[] = {{9000, 900, 900}, {RIG_CALL_MIN, 50000, 60000}, {9000, 3000, 60000}};

	for (size_t i = 0; i < ARRAY_SIZE(rpcs) && rig->client.leg && !raw->closed; i++) {
		uint32_t len = rpcs[i].reply_bytes, cut = i == 2 ? 1000 : 0;
		const struct raw_recv *recv;
		struct rpcrdma_header hdr;
		uint8_t *reply;

		make_call(rpcs[i].call_bytes, len, rpcs[i].reply_max);
		rig_run(rig);
		while ((recv = raw_next(raw)))
			if (rpcrdma_header_decode(recv->data, recv->len_bytes, &call) ==
				    RPCRDMA_OK &&
			    call.proc != RPCRDMA_DONE)
				break;
		if (!recv || raw->closed)
			return;
		reply = lent_reply(len);
		lent_header(&hdr, cut ? RPCRDMA_MSG : RPCRDMA_NOMSG);
		lent_put(&hdr, cut, reply + cut, len - cut, 6, false);
		raw_send_header(raw, &hdr, reply, cut);
		free(reply);
		rig_run(rig);
	}
}

static void judge(void)
{
	ck_assert_uint_eq(rig->client.wrong, 0);
	ck_assert_uint_eq(rig->client.faults, 0);
	if (rig->client.leg) {
		ck_assert(TAILQ_EMPTY(&rig->client.waiting));
		ck_assert_uint_eq(in_flight(), 0);
	}
	ck_assert_uint_eq(rig->client_budget.account.used_bytes, 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
}

START_TEST(any_failure_leaks_nothing)
{
	enum kind kind = _i % 4;
	unsigned k, ran = 0;

	for (k = 1; k < 2000; k++) {
		struct sim_faults faults = {
			.seed = 7, .max_delay_us = 300, .async_unbind = _i >= 4};

		faults.cut_at_step = kind == CUT ? k : 0;
		faults.fail_wr = kind == FAIL_LOCAL || kind == FAIL_REMOTE ? k : 0;
		faults.fail_status = kind == FAIL_LOCAL ? FABRIC_ERR_LOCAL : FABRIC_ERR_REMOTE;
		faults.hook_at_step = kind == CLOSE ? k : 0;
		faults.hook = close_client;
		teardown();
		rig = rig_new(&faults);
		rig->client.config.version_one = DIALECT_DRAFT03;
		raw = raw_new(rig, pd_4096, sizeof(pd_4096));
		rig->raw_server = raw;
		rig_connect(rig);
		rig_run(rig);
		/* Cut before there was a connection. */
		if (!raw->ep) {
			rig->raw_server = NULL;
			free(raw);
			rig_end(rig);
			lent_setup();
			continue;
		}
		play();
		judge();
		ran += rig->client.answered < 3;
		if (rig->client.answered == 3 && rig->client.leg)
			break;
	}
	ck_assert_uint_lt(k, 2000);
	ck_assert_uint_gt(ran, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("requester_lent_ends");
	TCase *tc = tcase_create("ends");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, lent_setup, teardown);
	tcase_add_loop_test(tc, a_credit_is_kept_for_each_done, 0, 2);
	tcase_add_test(tc, the_grant_of_a_reply_by_read_chunk_is_obeyed_immediately);
	tcase_add_test(tc, one_credit_is_enough_for_a_thousand_replies_by_read_chunk);
	tcase_add_test(tc, a_second_reply_while_one_is_read_is_dropped);
	tcase_add_test(tc, an_error_while_a_reply_is_read_is_dropped);
	tcase_add_test(tc, an_undecodable_message_while_a_reply_is_read_closes);
	tcase_add_test(tc, an_invalidation_while_a_reply_is_read_closes);
	tcase_add_test(tc, a_key_that_is_not_the_servers_closes);
	tcase_add_test(tc, a_reply_that_cannot_be_read_in_time_closes);
	tcase_add_test(tc, a_leg_that_drains_reads_first);
	tcase_add_loop_test(tc, a_leg_that_closes_while_it_reads_lets_go, 0, 3);
	tcase_add_loop_test(tc, any_failure_leaks_nothing, 0, 8);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the client leg with servers that grant zero credits, in dialects that allow it (A3.3-11,
 * A-Δ6).
 */
#include <stdlib.h>

#include "rpcrdma/rdma_leg_priv.h"
#include "rpcrdma/requester.h"
#include "tests/lib/test.h"
#include "tests/sim/read_reply_peer.h"

static void strict(struct rdma_leg_config *config)
{
	config->peer = PEER_STRICT;
}

static void setup_zero(void)
{
	lent_open(NULL, strict);
}

/* Three Calls in flight and three that wait; returns the XID of the first of those. */
static uint32_t three_in_flight(void)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	reply_inline(xid, 100, 3);
	for (int i = 0; i < 6; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(raw->nrecvs, 1 + 3);
	return xid + 1;
}

START_TEST(zero_is_waited_out_while_calls_are_in_flight)
{
	uint32_t xid = three_in_flight();

	reply_inline(xid, 100, 0);
	ck_assert_uint_eq(raw->nrecvs, 4);
	reply_inline(xid + 1, 100, 2);
	ck_assert_uint_eq(raw->nrecvs, 5);
	reply_inline(xid + 2, 100, 0);
	ck_assert_uint_eq(raw->nrecvs, 5);
	/* The last one: now it counts as one. */
	reply_inline(xid + 3, 100, 0);
	ck_assert_uint_eq(raw->nrecvs, 6);
	reply_inline(xid + 4, 100, 2);
	ck_assert_uint_eq(raw->nrecvs, 7);
	reply_inline(xid + 5, 100, 2);
	expect_answered(7);
	ck_assert_uint_eq(rig->client.faults, 0);
	ck_assert_uint_eq(rig->client.counters.credit_zero_obeyed, 3);
	ck_assert_uint_eq(rig->client.counters.credit_zero_received, 0);
}
END_TEST

static void send_error(uint32_t xid)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 0, RPCRDMA_ERROR);
	hdr.error = RPCRDMA_ERR_CHUNK;
	raw_send_header(raw, &hdr, NULL, 0);
}

/* Nothing that ends the last Call brings a grant here. */
START_TEST(zero_counts_as_one_whatever_ended_the_last_call)
{
	uint32_t xid = three_in_flight();
	struct rpcrdma_header hdr;
	uint8_t reply[100];

	reply_inline(xid, 100, 0);
	send_error(xid + 1);
	ck_assert_uint_eq(raw->nrecvs, 4);
	send_error(xid + 2);
	ck_assert_uint_eq(raw->nrecvs, 5);
	reply_inline(xid + 3, 100, 0);
	ck_assert_uint_eq(raw->nrecvs, 6);
	/* A bad Reply. */
	rpcrdma_header_init(&hdr, xid + 4, RPCRDMA_VERSION_ONE, 0, RPCRDMA_MSG);
	hdr.writes[hdr.nwrites++] = (struct rpcrdma_chunk){0, 0, 0};
	rig_fill_reply(reply, 100, xid + 4);
	raw_send_header(raw, &hdr, reply, 100);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
	ck_assert_uint_eq(raw->nrecvs, 7);
}
END_TEST

START_TEST(zero_in_a_reply_that_is_too_big_counts_as_well)
{
	uint32_t xid = three_in_flight();

	reply_inline(xid, 1000, 0);
	ck_assert_uint_eq(rig->client.counters.replies_over_limit, 1);
	ck_assert_uint_eq(raw->nrecvs, 4);
	reply_inline(xid + 1, 100, 0);
	reply_inline(xid + 2, 100, 0);
	ck_assert_uint_eq(raw->nrecvs, 5);
}
END_TEST

/* A Reply is being read: its Call is in flight until RDMA_DONE. */
START_TEST(zero_is_waited_out_while_a_reply_is_read)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);
	struct rpcrdma_header hdr;
	uint8_t *reply;

	next_call();
	make_call(RIG_CALL_MIN, 100, 100);
	reply = lent_reply(100);
	lent_header(&hdr, RPCRDMA_NOMSG);
	hdr.credit = 0;
	lent_put(&hdr, 0, reply, 100, 1, true);
	free(reply);
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_uint_eq(raw->nrecvs, 1);
	lent_go_on();
	lent_expect_done(xid);
	next_call();
	ck_assert_uint_eq(call.xid, xid + 1);
	expect_answered(1);
}
END_TEST

/* A NULL Call of our own holds a credit, and its answer may grant none as well. */
START_TEST(zero_to_a_null_call_is_a_grant)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);
	struct requester *rq = &rdma_leg_of(rig->client.leg)->requester;
	struct call_info like = {.hdr.prog = 100003, .hdr.vers = 3};

	requester_null_reserve_credit(rq);
	reply_inline(xid, 100, 3);
	make_call(RIG_CALL_MIN, 100, 100);
	ck_assert(requester_null_send(rq, 77, &like));
	rig_run_for(rig, 1000);
	reply_inline(77, 24, 0);
	ck_assert_uint_eq(rig->client.counters.null_calls_answered, 1);
	ck_assert_uint_eq(rig->client.counters.credit_zero_obeyed, 1);
	ck_assert(!requester_null_send(rq, 78, &like));
	make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(raw->nrecvs, 3);
	reply_inline(xid + 1, 100, 0);
	ck_assert_uint_eq(raw->nrecvs, 4);
}
END_TEST

#define STALL_US 5000000u

static void stalls(struct rdma_leg_config *config)
{
	strict(config);
	config->leg.stall_timeout_us = STALL_US;
}

/* A server that never raises its grant holds Calls for so long, and no longer. */
START_TEST(zero_holds_calls_for_a_time)
{
	uint32_t xid;

	lent_reopen(NULL, stalls);
	xid = three_in_flight();
	reply_inline(xid, 100, 0);
	rig_run_for(rig, STALL_US - 100000);
	/* Each Reply starts it again, whatever it grants; what grants none sends nothing. */
	reply_inline(xid + 1, 100, 0);
	rig_run_for(rig, STALL_US - 100000);
	ck_assert_uint_eq(raw->nrecvs, 4);
	ck_assert_uint_eq(rig->client.closed, 0);
	rig_run_for(rig, 200000);
	ck_assert_uint_eq(rig->client.counters.credit_zero_stalls, 1);
	expect_closed(LEG_CLOSE_CALL_STALLED);
}
END_TEST

START_TEST(a_call_that_zero_holds_later_has_the_same_time)
{
	uint32_t xid = 0;

	lent_reopen(NULL, stalls);
	reply_inline(make_call(RIG_CALL_MIN, 100, 100), 100, 2);
	for (int i = 0; i < 2; i++)
		xid = make_call(RIG_CALL_MIN, 100, 100);
	reply_inline(xid, 100, 0);
	/* No Call waits: a server can take any time. */
	rig_run_for(rig, 10 * STALL_US);
	make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(raw->nrecvs, 3);
	rig_run_for(rig, STALL_US - 100000);
	ck_assert_uint_eq(rig->client.closed, 0);
	rig_run_for(rig, 200000);
	expect_closed(LEG_CLOSE_CALL_STALLED);
}
END_TEST

START_TEST(a_grant_in_time_ends_the_time)
{
	uint32_t xid;

	lent_reopen(NULL, stalls);
	xid = three_in_flight();
	reply_inline(xid, 100, 0);
	rig_run_for(rig, STALL_US - 100000);
	reply_inline(xid + 1, 100, 16);
	ck_assert_uint_eq(raw->nrecvs, 7);
	/* It grants enough: how long it takes for them is its own affair. */
	rig_run_for(rig, 10 * STALL_US);
	for (uint32_t i = 2; i < 6; i++)
		reply_inline(xid + i, 100, 16);
	expect_answered(7);
	ck_assert_uint_eq(rig->client.counters.credit_zero_stalls, 0);
}
END_TEST

START_TEST(a_grant_of_zero_shows_no_available_credit)
{
	uint32_t xid = three_in_flight();
	struct leg_info info;

	reply_inline(xid, 100, 0);
	leg_info(rig->client.leg, &info);
	ck_assert_uint_eq(info.credits_available, 0);
	ck_assert_uint_eq(info.calls_in_flight_out, 2);
}
END_TEST

/* RFC 8166 has no such grant: it fails its Call, or counts as one. */
START_TEST(elsewhere_zero_is_wrong)
{
	uint32_t xid;

	raw_free(raw);
	rig_end(rig);
	rig = rig_new(NULL);
	rig->client.config.peer = PEER_STRICT;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
	xid = make_call(RIG_CALL_MIN, 100, 100);
	reply_inline(xid, 100, 0);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.credit_zero_obeyed, 0);
}
END_TEST

/* D2.1.2-1: in this dialect, too. */
START_TEST(no_reverse_reply_may_grant_zero)
{
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint8_t reply[100];
	uint32_t len;

	teardown();
	rig = rig_new(NULL);
	rig->server.config.version_one = DIALECT_DRAFT03;
	raw = raw_open_client(rig, pd_4096, sizeof(pd_4096));
	for (int i = 0; i < 3; i++)
		rig_call(&rig->server, RIG_CALL_MIN, 100, 100);
	rig_run_for(rig, 1000);
	for (int i = 0; i < 2; i++) {
		raw_next_header(raw, &hdr, &body, &len);
		rpcrdma_header_init(&hdr, hdr.xid, RPCRDMA_VERSION_ONE, 0, RPCRDMA_MSG);
		rig_fill_reply(reply, 100, hdr.xid);
		raw_send_header(raw, &hdr, reply, 100);
	}
	ck_assert_uint_eq(rig->server.counters.credit_zero_received, 2);
	ck_assert_uint_eq(rig->server.counters.credit_zero_obeyed, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("zero_grant_timeout");
	TCase *tc = tcase_create("zero");

	tcase_add_checked_fixture(tc, setup_zero, teardown);
	tcase_add_test(tc, zero_is_waited_out_while_calls_are_in_flight);
	tcase_add_test(tc, zero_counts_as_one_whatever_ended_the_last_call);
	tcase_add_test(tc, zero_in_a_reply_that_is_too_big_counts_as_well);
	tcase_add_test(tc, zero_is_waited_out_while_a_reply_is_read);
	tcase_add_test(tc, zero_to_a_null_call_is_a_grant);
	tcase_add_test(tc, zero_holds_calls_for_a_time);
	tcase_add_test(tc, a_call_that_zero_holds_later_has_the_same_time);
	tcase_add_test(tc, a_grant_in_time_ends_the_time);
	tcase_add_test(tc, a_grant_of_zero_shows_no_available_credit);
	tcase_add_test(tc, elsewhere_zero_is_wrong);
	tcase_add_test(tc, no_reverse_reply_may_grant_zero);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests a leg whose peer is silent: when and how the leg probes it, and when the connection is
 * closed.
 */
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/rdma_keepalive.h"
#include "tests/lib/test.h"
#include "tests/sim/server_peer.h"

#define SECOND      1000000u
#define KEEPALIVE_S 20u
/* A silence is seen when it has lasted so long, or half as much again. */
#define ASKED_S (KEEPALIVE_S + KEEPALIVE_S / 2)
/* as far from the XID of the Call that it is like as can be. */
#define FAR 0x80000000u

static const struct sim_faults blind = {.no_probe = true};

static void run_s(unsigned s)
{
	rig_run_for(rig, (uint64_t)s * SECOND);
}

/* The client leg before a server, on a fabric with these faults. */
static void watch_server(const struct sim_faults *faults)
{
	rig = rig_new(faults);
	rig->client.config.keepalive_us = KEEPALIVE_S * SECOND;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
}

/* The server leg before a client. */
static void watch_client(const struct sim_faults *faults)
{
	rig = rig_new(faults);
	rig->server.config.keepalive_us = KEEPALIVE_S * SECOND;
	raw = raw_open_client(rig, pd_4096, sizeof(pd_4096));
}

/* A Call is answered, which grants so many credits; the time of silence begins. */
static void answered(uint32_t grant)
{
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	reply_inline(call.xid, 100, grant);
	expect_answered(1);
}

/* A server that has answered one Call and keeps the next. */
static uint32_t setup_in_flight(uint32_t grant)
{
	uint32_t xid;

	watch_server(&blind);
	answered(grant);
	xid = make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	return xid;
}

static unsigned out(void)
{
	struct leg_info info;

	leg_info(rig->client.leg, &info);
	return info.calls_in_flight_out;
}

/*
 * The next Send asks whether the server is there, as the document has a NULL Call of that program;
 * returns its XID.
 */
static uint32_t expect_asked(void)
{
	static const uint32_t zero[4];
	uint8_t like[RIG_CALL_MIN];

	ck_assert_uint_gt(sends_waiting(), 0);
	next_call();
	rig_fill_call(like, sizeof(like), call.xid, 100);
	ck_assert_uint_eq(call.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(call.credit, 32);
	ck_assert(!call.nreads && !call.nwrites && !call.has_reply_chunk);
	ck_assert_uint_eq(call_len, 40);
	/* XID, Call, RPC version, program, its version: as in the Call that it is like. */
	ck_assert_mem_eq(call_body, like, 20);
	ck_assert_uint_eq(be32_get(call_body + 20), 0);
	ck_assert_mem_eq(call_body + 24, zero, 16);
	return call.xid;
}

START_TEST(a_silent_server_is_probed_while_a_call_is_in_flight)
{
	uint32_t xid = setup_in_flight(32);

	run_s(KEEPALIVE_S - 1);
	ck_assert_uint_eq(sends_waiting(), 0);
	run_s(ASKED_S - KEEPALIVE_S + 1);
	ck_assert_uint_eq(expect_asked(), xid + FAR);
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(rig->client.counters.null_calls_sent, 1);
	ck_assert_uint_eq(out(), 1);
	/* The answer is nobody's but ours. */
	reply_inline(call.xid, 24, 32);
	ck_assert_uint_eq(rig->client.counters.null_calls_answered, 1);
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, 0);
	ck_assert_uint_eq(out(), 1);
	expect_answered(1);
	reply_inline(xid, 100, 32);
	expect_answered(2);
}
END_TEST

/*
 * Its host says nothing any more (1), or all of it but the one Call is dropped by a server that
 * hangs (0).
 */
START_TEST(a_server_with_two_unanswered_calls_is_closed)
{
	uint32_t first;

	setup_in_flight(32);
	run_s(ASKED_S);
	first = expect_asked();
	if (_i)
		sim_ep_vanish(raw->ep);
	run_s(KEEPALIVE_S + 1);
	if (!_i)
		ck_assert_uint_ne(expect_asked(), first);
	ck_assert_uint_eq(rig->client.closed, 0);
	run_s(KEEPALIVE_S + 1);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_SILENT);
	ck_assert_uint_eq(rig->client.counters.null_calls_sent, 2);
	ck_assert_uint_eq(rig->client.counters.null_calls_unanswered, 1);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert(TAILQ_EMPTY(&rig->client.waiting));
}
END_TEST

static void answer_error(uint32_t xid, uint32_t error)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_ERROR);
	hdr.error = error;
	hdr.vers_low = hdr.vers_high = RPCRDMA_VERSION_ONE;
	raw_send_header(raw, &hdr, NULL, 0);
}

static void answer_reply(uint32_t xid)
{
	reply_inline(xid, 24, 32);
}

static void answer_no_grant(uint32_t xid)
{
	reply_inline(xid, 24, 0);
}

static void answer_err_vers(uint32_t xid)
{
	answer_error(xid, RPCRDMA_ERR_VERS);
}

static void answer_err_chunk(uint32_t xid)
{
	answer_error(xid, RPCRDMA_ERR_CHUNK);
}

static void answer_unknown_error(uint32_t xid)
{
	answer_error(xid, 99);
}

static void answer_nomsg(uint32_t xid)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_NOMSG);
	raw_send_header(raw, &hdr, NULL, 0);
}

/* Lists that do not decode. */
static void answer_garbage(uint32_t xid)
{
	uint8_t send[64] = {0};

	be32_put(send, xid);
	be32_put(send + 4, RPCRDMA_VERSION_ONE);
	be32_put(send + 8, 32);
	be32_put(send + 12, RPCRDMA_MSG);
	be32_put(send + 16, 77);
	raw_send(raw, send, sizeof(send));
}

static void (*const answers[])(uint32_t xid) = {
	answer_reply,         answer_no_grant, answer_err_vers, answer_err_chunk,
	answer_unknown_error, answer_nomsg,    answer_garbage,
};

START_TEST(a_server_that_answers_in_any_way_is_there)
{
	uint32_t xid = setup_in_flight(32);

	for (unsigned n = 1; n <= 5; n++) {
		run_s(ASKED_S);
		answers[_i](expect_asked());
		ck_assert_uint_eq(rig->client.counters.null_calls_answered, n);
		ck_assert_uint_eq(sends_waiting(), 0);
	}
	ck_assert_uint_eq(rig->client.closed, 0);
	ck_assert_uint_eq(rig->client.faults, 0);
	reply_inline(xid, 100, 32);
	expect_answered(2);
	/* None of them has kept a credit: all but the one that is held back are there. */
	for (unsigned i = 0; i < 40; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(sends_waiting(), 31);
}
END_TEST

START_TEST(a_server_that_answers_the_second_is_there)
{
	setup_in_flight(32);
	for (unsigned n = 0; n < 3; n++) {
		uint32_t first;

		run_s(ASKED_S);
		first = expect_asked();
		run_s(KEEPALIVE_S);
		answer_reply(expect_asked());
		/* The first may be late, or never come. */
		if (n < 2)
			answer_reply(first);
	}
	run_s(KEEPALIVE_S - 1);
	ck_assert_uint_eq(rig->client.closed, 0);
	ck_assert_uint_eq(rig->client.counters.null_calls_unanswered, 0);
}
END_TEST

START_TEST(a_server_that_says_anything_is_not_asked)
{
	uint32_t xid = setup_in_flight(32);

	for (unsigned n = 0; n < 20; n++) {
		make_call(RIG_CALL_MIN, 100, 100);
		next_call();
		reply_inline(call.xid, 100, 32);
		run_s(KEEPALIVE_S - 1);
	}
	ck_assert_uint_eq(rig->client.counters.null_calls_sent, 0);
	reply_inline(xid, 100, 32);
	expect_answered(22);
}
END_TEST

START_TEST(a_server_without_a_call_in_flight_is_not_asked)
{
	watch_server(&blind);
	answered(32);
	run_s(20 * KEEPALIVE_S);
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(rig->client.closed, 0);
	/*
	 * Silence before this Call does not count: the peer is probed before the connection is
	 * closed.
	 */
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	run_s(ASKED_S);
	expect_asked();
	ck_assert_uint_eq(rig->client.closed, 0);
}
END_TEST

START_TEST(no_probe_is_sent_without_keepalive)
{
	open_with(&blind, pd_4096, sizeof(pd_4096));
	answered(32);
	for (unsigned i = 0; i < 32; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	run_s(20 * KEEPALIVE_S);
	/* And keeps no credit back. */
	ck_assert_uint_eq(sends_waiting(), 32);
	ck_assert_uint_eq(rig->client.counters.null_calls_sent, 0);
}
END_TEST

START_TEST(a_fabric_that_watches_is_not_helped)
{
	watch_server(&(struct sim_faults){.no_probe = true, .watches_itself = true});
	answered(32);
	for (unsigned i = 0; i < 32; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	run_s(20 * KEEPALIVE_S);
	ck_assert_uint_eq(sends_waiting(), 32);
	ck_assert_uint_eq(rig->client.counters.null_calls_sent, 0);
	ck_assert_uint_eq(rig->client.closed, 0);
}
END_TEST

/*
 * However long a silence may last, an answer is waited for as long as a NULL Call takes at worst.
 */
START_TEST(an_answer_is_not_waited_for_as_long_as_a_silence)
{
	rig = rig_new(&blind);
	rig->client.config.keepalive_us = 300ull * SECOND;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
	answered(32);
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	run_s(300 - 1);
	ck_assert_uint_eq(sends_waiting(), 0);
	run_s(1 + RDMA_KEEPALIVE_ANSWER_US / SECOND / 2);
	expect_asked();
	run_s(RDMA_KEEPALIVE_ANSWER_US / SECOND);
	expect_asked();
	ck_assert_uint_eq(rig->client.closed, 0);
	run_s(RDMA_KEEPALIVE_ANSWER_US / SECOND);
	ck_assert_uint_eq(rig->client.closed, 1);
}
END_TEST

/* ---- XIDs ---- */

START_TEST(the_xid_is_of_no_call_in_flight_in_either_direction)
{
	uint32_t xid = setup_in_flight(32);

	rig->next_xid = xid + FAR;
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	rig->client.hold = true;
	raw_post_call(raw, xid + FAR + 1, RIG_CALL_MIN, 100);
	run_s(ASKED_S);
	ck_assert_uint_eq(rig->client.calls, 1);
	ck_assert_uint_eq(expect_asked(), xid + FAR + 2);
	/* The next has another. */
	run_s(KEEPALIVE_S);
	ck_assert_uint_eq(expect_asked(), xid + FAR + 3);
	rig_answer_held(&rig->client);
	run_s(1);
	ck_assert_uint_eq(sends_waiting(), 1);
}
END_TEST

START_TEST(a_call_with_our_xid_waits_and_those_behind_it)
{
	uint32_t xid = setup_in_flight(32), ours;

	run_s(ASKED_S);
	ours = expect_asked();
	rig->next_xid = ours;
	make_call(RIG_CALL_MIN, 100, 100);
	make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(sends_waiting(), 0);
	answers[_i](ours);
	ck_assert_uint_eq(sends_waiting(), 2);
	for (uint32_t i = 0; i < 2; i++) {
		next_call();
		ck_assert_uint_eq(call.xid, ours + i);
		reply_inline(call.xid, 100, 32);
	}
	reply_inline(xid, 100, 32);
	expect_answered(4);
	ck_assert_uint_eq(rig->client.closed, 0);
}
END_TEST

START_TEST(a_key_cannot_be_invalidated_in_its_name)
{
	struct rpcrdma_header hdr;
	uint8_t send[64];
	uint32_t ours;
	size_t len;

	setup_in_flight(32);
	make_call(RIG_CALL_MIN, 5000, 60000);
	next_call();
	ck_assert(call.has_reply_chunk);
	hdr = call;
	run_s(ASKED_S);
	ours = expect_asked();
	rpcrdma_header_init(&call, ours, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	len = rpcrdma_header_encode(&call, send, sizeof(send));
	rig_fill_reply(send + len, 24, ours);
	raw_send_inv(raw, send, len + 24, hdr.segments[hdr.reply_chunk.first].handle);
	expect_closed(LEG_CLOSE_PROTOCOL);
}
END_TEST

/* ---- credits ---- */

START_TEST(a_credit_is_kept_back_for_it)
{
	watch_server(&blind);
	answered(4);
	for (unsigned i = 0; i < 5; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(sends_waiting(), 3);
	for (unsigned i = 0; i < 3; i++)
		next_call();
	run_s(ASKED_S);
	expect_asked();
	/* All are out now: it is waited for twice, but not asked again. */
	run_s(KEEPALIVE_S + 1);
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(rig->client.closed, 0);
	if (_i) {
		run_s(KEEPALIVE_S + 1);
		ck_assert_uint_eq(rig->client.closed, 1);
		ck_assert_int_eq(rig->client.why, LEG_CLOSE_SILENT);
		return;
	}
	reply_inline(call.xid, 24, 4);
	run_s(1);
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
}
END_TEST

/*
 * Of a Call that is answered while ours is out its credit is good for another, and no more is kept
 * back.
 */
START_TEST(while_it_is_out_nothing_more_is_kept_back)
{
	uint32_t xid, ours;

	watch_server(&blind);
	answered(4);
	xid = make_call(RIG_CALL_MIN, 100, 100);
	for (unsigned i = 0; i < 4; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	for (unsigned i = 0; i < 3; i++)
		next_call();
	run_s(ASKED_S);
	ours = expect_asked();
	reply_inline(xid, 100, 4);
	ck_assert_uint_eq(sends_waiting(), 1);
	next_call();
	reply_inline(ours, 24, 4);
	ck_assert_uint_eq(sends_waiting(), 0);
	reply_inline(xid + 1, 100, 4);
	ck_assert_uint_eq(sends_waiting(), 1);
}
END_TEST

/* It has said that it takes one Call at a time, and it has one. */
START_TEST(a_server_that_grants_one_credit_is_not_asked)
{
	uint32_t xid;

	watch_server(&blind);
	answered(1);
	xid = make_call(RIG_CALL_MIN, 100, 100);
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	run_s(20 * KEEPALIVE_S);
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(rig->client.closed, 0);
	reply_inline(xid, 100, 1);
	ck_assert_uint_eq(sends_waiting(), 1);
}
END_TEST

START_TEST(a_receive_is_there_for_its_answer)
{
	uint32_t ours[2];

	setup_in_flight(32);
	for (unsigned i = 0; i < 29; i++) {
		make_call(RIG_CALL_MIN, 100, 100);
		next_call();
	}
	run_s(ASKED_S);
	ours[0] = expect_asked();
	run_s(KEEPALIVE_S);
	ours[1] = expect_asked();
	/* With all other messages of the peer. */
	rig->client.hold = true;
	for (uint32_t i = 0; i < 16; i++)
		raw_post_call(raw, i, RIG_CALL_MIN, 100);
	answer_reply(ours[0]);
	answer_reply(ours[1]);
	ck_assert_uint_eq(rig->client.counters.null_calls_answered, 2);
	ck_assert_uint_eq(rig->client.calls, 16);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	rig_answer_held(&rig->client);
}
END_TEST

/* ---- the end of the connection, with one out ---- */

START_TEST(a_leg_that_drains_does_not_wait_for_it)
{
	uint32_t xid = setup_in_flight(32);

	run_s(ASKED_S);
	expect_asked();
	leg_drain(rig->client.leg);
	run_s(1);
	ck_assert_uint_eq(rig->client.closed, 0);
	reply_inline(xid, 100, 32);
	expect_answered(2);
	expect_closed(LEG_CLOSE_SHUTDOWN);
}
END_TEST

START_TEST(a_leg_closes_while_one_is_out)
{
	setup_in_flight(32);
	run_s(ASKED_S);
	expect_asked();
	if (_i)
		sim_net_cut(rig->net);
	else
		leg_close(rig->client.leg, LEG_CLOSE_LOCAL);
	expect_closed(_i ? LEG_CLOSE_LOST : LEG_CLOSE_LOCAL);
	run_s(20 * KEEPALIVE_S);
	ck_assert_uint_eq(rig->client.counters.null_calls_unanswered, 0);
}
END_TEST

/* ---- a fabric that can ask ---- */

/* The side that the test looks at: the leg that connected (0) or the one that accepted (1). */
static struct rig_side *watch_peer(unsigned which, const struct sim_faults *faults)
{
	if (which == 0)
		watch_server(faults);
	else
		watch_client(faults);
	return which == 0 ? &rig->client : &rig->server;
}

static unsigned probes(void)
{
	return sim_net_stats(rig->net)->probes;
}

START_TEST(a_silent_peer_is_probed_and_kept)
{
	struct rig_side *side = watch_peer((unsigned)_i, NULL);

	run_s(10 * KEEPALIVE_S);
	ck_assert_uint_ge(probes(), 6);
	ck_assert_uint_le(probes(), 11);
	ck_assert_uint_eq(side->closed, 0);
	ck_assert_uint_eq(raw->nrecvs, 0);
}
END_TEST

START_TEST(a_vanished_peer_is_closed)
{
	struct rig_side *side = watch_peer((unsigned)(_i & 1), NULL);

	if (_i & 2) {
		side->hold = true;
		raw_post_call(raw, 1, RIG_CALL_MIN, 100);
		if (_i & 1)
			rig_call(side, RIG_CALL_MIN, 100, 100);
		else
			answered(32);
		run_s(1);
	}
	sim_ep_vanish(raw->ep);
	run_s(ASKED_S + SIM_PROBE_TIMEOUT_US / SECOND + 1);
	ck_assert_uint_eq(side->closed, 1);
	ck_assert_int_eq(side->why, LEG_CLOSE_SILENT);
	rig_answer_held(side);
}
END_TEST

START_TEST(a_peer_that_speaks_is_not_probed)
{
	unsigned before;

	watch_client(NULL);
	before = probes();
	for (uint32_t i = 1; i <= 20; i++) {
		raw_post_call(raw, i, RIG_CALL_MIN, 100);
		run_s(KEEPALIVE_S - 1);
	}
	ck_assert_uint_eq(rig->server.calls, 20);
	ck_assert_uint_eq(probes(), before);
}
END_TEST

/* It has no Call of its own that it might send: the host's TCP has to find out. */
START_TEST(an_acceptor_that_cannot_probe_sends_no_probe)
{
	watch_client(&blind);
	raw_post_call(raw, 1, RIG_CALL_MIN, 100);
	rig_call(&rig->server, RIG_CALL_MIN, 100, 100);
	run_s(20 * KEEPALIVE_S);
	ck_assert_uint_eq(rig->server.counters.null_calls_sent, 0);
	ck_assert_uint_eq(rig->server.closed, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watch");
	TCase *tc = tcase_create("NULL Calls");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, a_silent_server_is_probed_while_a_call_is_in_flight);
	tcase_add_loop_test(tc, a_server_with_two_unanswered_calls_is_closed, 0, 2);
	tcase_add_loop_test(tc, a_server_that_answers_in_any_way_is_there, 0, ARRAY_SIZE(answers));
	tcase_add_test(tc, a_server_that_answers_the_second_is_there);
	tcase_add_test(tc, a_server_that_says_anything_is_not_asked);
	tcase_add_test(tc, a_server_without_a_call_in_flight_is_not_asked);
	tcase_add_test(tc, no_probe_is_sent_without_keepalive);
	tcase_add_test(tc, a_fabric_that_watches_is_not_helped);
	tcase_add_test(tc, an_answer_is_not_waited_for_as_long_as_a_silence);
	tcase_add_test(tc, the_xid_is_of_no_call_in_flight_in_either_direction);
	tcase_add_loop_test(tc, a_call_with_our_xid_waits_and_those_behind_it, 0,
			    ARRAY_SIZE(answers));
	tcase_add_test(tc, a_key_cannot_be_invalidated_in_its_name);
	tcase_add_loop_test(tc, a_credit_is_kept_back_for_it, 0, 2);
	tcase_add_test(tc, while_it_is_out_nothing_more_is_kept_back);
	tcase_add_test(tc, a_server_that_grants_one_credit_is_not_asked);
	tcase_add_test(tc, a_receive_is_there_for_its_answer);
	tcase_add_test(tc, a_leg_that_drains_does_not_wait_for_it);
	tcase_add_loop_test(tc, a_leg_closes_while_one_is_out, 0, 2);
	suite_add_tcase(suite, tc);

	tc = tcase_create("probes");
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, a_silent_peer_is_probed_and_kept, 0, 2);
	tcase_add_loop_test(tc, a_vanished_peer_is_closed, 0, 4);
	tcase_add_test(tc, a_peer_that_speaks_is_not_probed);
	tcase_add_test(tc, an_acceptor_that_cannot_probe_sends_no_probe);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

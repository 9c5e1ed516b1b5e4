// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests how the client leg detects the version of a server: a hand-made one, and a leg of this
 * project.
 */
#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

#define STEPS_MAX 5000u

static void setup(void)
{
	v2_begin(NULL);
}

static uint64_t now_us(void)
{
	return loop_now_us(rig->loop);
}

static bool one_only(void)
{
	return version_cache_is_one_only(&v2_memory, (const struct sockaddr *)&rig_addr, now_us());
}

/* The leg is open in version one, and works. */
static void expect_version_one(void)
{
	uint32_t xid = rig_call(&rig->client, RIG_CALL_MIN, 200, 200);

	ck_assert_uint_eq(rig->client.opened, 1);
	v2_run(1);
	v2_next_call(1);
	ck_assert_uint_eq(v2_hdr.xid, xid);
	v2_send_reply(1, xid, 200, 32);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert(one_only());
}

START_TEST(the_first_send_is_init_with_all_that_there_is)
{
	v2_probe();
	v2_next_option(XCHAR_INIT);
	ck_assert_uint_eq(v2_value(XCHAR_RBSIZ), V2_FIRST_BYTES);
	ck_assert_uint_eq(v2_value(XCHAR_RQREMINV), 1);
	ck_assert_uint_eq(v2_value(XCHAR_BRS), XCHAR_BRS_SZLIM);
	ck_assert_uint_le(raw->recvs[0].len_bytes, 1024);
	v2_silence();
}
END_TEST

/* A Call that is given before the leg is open goes when it is. */
START_TEST(no_call_goes_before_the_version_is_settled)
{
	v2_probe();
	v2_next_option(XCHAR_INIT);
	rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run(10);
	v2_silence();
	v2_send_init(v2_hdr.xid, V2_FIRST_BYTES, false);
	v2_next_call(2);
	v2_send_reply(2, v2_hdr.xid, 200, 32);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert(!one_only());
}
END_TEST

START_TEST(err_vers_to_init_leads_to_version_one)
{
	v2_probe();
	v2_next_option(XCHAR_INIT);
	v2_send_err_vers(v2_hdr.xid, 1, 1);
	ck_assert(one_only());
	ck_assert_uint_eq(rig->client.opened, 0);
	v2_run(19);
	expect_version_one();
	ck_assert_uint_eq(rig->client.notes, 1);
}
END_TEST

START_TEST(err_vers_to_init_with_a_range_that_has_two_leads_to_two)
{
	v2_probe();
	v2_next_option(XCHAR_INIT);
	v2_send_err_vers(v2_hdr.xid, 2, 9);
	v2_run(20);
	ck_assert_uint_eq(rig->client.opened, 1);
	rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_next_call(2);
	ck_assert(!one_only());
}
END_TEST

START_TEST(silence_leads_to_version_one_after_a_second)
{
	v2_probe();
	v2_next_option(XCHAR_INIT);
	v2_run(998);
	ck_assert_uint_eq(rig->client.opened, 0);
	ck_assert(!one_only());
	v2_run(1);
	expect_version_one();
	ck_assert_uint_eq(rig->client.notes, 1);
}
END_TEST

/* It answers no Call, since there is none. */
START_TEST(messages_of_an_unknown_version_are_ignored_by_a_probe)
{
	static const uint8_t strange[] = {0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, RPCRDMA_DONE,
					  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

	v2_probe();
	v2_next_option(XCHAR_INIT);
	raw_send(raw, strange, sizeof(strange));
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
	v2_run(1000);
	expect_version_one();
}
END_TEST

/*
 * INVAL_OPTION and BAD_HEADER of version two show that it is spoken, and so does an operation that
 * nobody asked for.
 */
START_TEST(any_message_of_version_two_settles_it)
{
	uint32_t xid;

	v2_probe();
	v2_next_option(XCHAR_INIT);
	xid = v2_hdr.xid;
	switch (_i) {
	case 0:
		v2_send_error(xid, RPCRDMA_ERR_INVAL_OPTION);
		break;
	case 1:
		v2_send_error(xid, RPCRDMA_ERR_CHUNK);
		break;
	case 2:
		v2_send_upd(XCHAR_RBSIZ, 8192, false);
		break;
	case 3:
		v2_send_req(0x777, 16384);
		v2_next_option(XCHAR_RESP);
		ck_assert_uint_eq(v2_hdr.xid, 0x777);
		ck_assert_uint_ne(v2_verdict(0), XCHAR_REJ);
		break;
	case 4:
		v2_send_option(xid, 99, NULL, 0);
		v2_next();
		ck_assert_uint_eq(v2_hdr.error, RPCRDMA_ERR_INVAL_OPTION);
		break;
	case 5:
		v2_send_call(2, 0x888, RIG_CALL_MIN, 100);
		v2_next_reply(2, 0x888, 100);
		break;
	case 6: /* a Reply to nothing */
		v2_send_reply(2, 0x999, 100, 5);
		break;
	}
	ck_assert_uint_eq(rig->client.opened, 1);
	ck_assert(!one_only());
	for (unsigned i = 0; i < 3; i++)
		rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_next_call(2);
	v2_send_reply(2, v2_hdr.xid, 200, 32);
	ck_assert_uint_eq(rig->client.answered, 1);
}
END_TEST

/* The credit of a message that is no error is the grant, else the window stays one. */
START_TEST(the_answer_to_init_grants)
{
	v2_probe();
	v2_next_option(XCHAR_INIT);
	if (_i)
		v2_send_init(v2_hdr.xid, V2_FIRST_BYTES, false);
	else
		v2_send_error(v2_hdr.xid, RPCRDMA_ERR_INVAL_OPTION);
	for (unsigned i = 0; i < 5; i++)
		rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	ck_assert_uint_eq(raw->nrecvs - raw->nread, _i ? 5 : 1);
}
END_TEST

/* Before the first Call an answer that is late still counts. */
START_TEST(a_late_answer_before_the_first_call_settles_version_two)
{
	v2_probe();
	v2_next_option(XCHAR_INIT);
	v2_run(1500);
	ck_assert_uint_eq(rig->client.opened, 1);
	v2_send_init(v2_hdr.xid, V2_FIRST_BYTES, false);
	ck_assert(!one_only());
	rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_next_call(2);
}
END_TEST

/* INIT, BAD_HEADER, ERR_VERS: each was dropped, and the connection is as it was. */
START_TEST(a_late_answer_after_the_first_call_is_dropped)
{
	uint32_t init, xid;

	v2_probe();
	v2_next_option(XCHAR_INIT);
	init = v2_hdr.xid;
	v2_run(1500);
	xid = rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_next_call(1);
	if (_i == 0)
		v2_send_init(init, V2_FIRST_BYTES, false);
	else if (_i == 1)
		v2_send_error(init, RPCRDMA_ERR_CHUNK);
	else
		v2_send_err_vers(init, 1 + _i % 2, 2);
	v2_silence();
	v2_send_reply(1, xid, 200, 32);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert_uint_eq(rig->client.counters.options_late, _i < 2);
	rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_next_call(1);
}
END_TEST

/*
 * After the silence of one who speaks only version two: the Call was not executed, and goes once
 * more.
 */
START_TEST(a_call_of_version_one_that_is_refused_goes_once_more_in_two)
{
	uint32_t xid;

	v2_probe();
	v2_next_option(XCHAR_INIT);
	v2_run(1500);
	xid = rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_next_call(1);
	v2_send_err_vers(xid, 2, 2);
	v2_next_call(2);
	ck_assert_uint_eq(v2_hdr.xid, xid);
	if (_i == 0) {
		v2_send_reply(2, xid, 200, 32);
		ck_assert_uint_eq(rig->client.answered, 1);
	} else {
		v2_send_err_vers(xid, _i, _i);
		v2_silence();
		ck_assert_uint_eq(rig->client.faults, 1);
		ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_ERR_VERS);
	}
	ck_assert_uint_eq(rig->client.counters.calls_sent, 2);
	ck_assert(!one_only());
	rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_next_call(2);
}
END_TEST

START_TEST(without_a_version_in_common_the_leg_closes)
{
	static const struct {
		uint32_t low, high;
	} ranges[] = {{3, 9}, {0, 0}, {2, 1}, {UINT32_MAX, UINT32_MAX}};

	v2_probe();
	v2_next_option(XCHAR_INIT);
	v2_send_err_vers(v2_hdr.xid, ranges[_i].low, ranges[_i].high);
	v2_run(100);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_VERSION);
	ck_assert_uint_eq(rig->client.opened, 0);
	ck_assert_uint_eq(rig->client.counters.calls_sent, 0);
	ck_assert(!one_only());
}
END_TEST

static void expect_lost_in_vain(void)
{
	v2_run(100);
	ck_assert_uint_eq(rig->client.opened, 0);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_uint_eq(rig->client.counters.calls_sent, 0);
	ck_assert(one_only());
}

START_TEST(closed_before_any_answer_is_remembered)
{
	v2_probe();
	rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run((uint32_t)_i * 500);
	fabric_ep_close(raw->ep);
	expect_lost_in_vain();
}
END_TEST

START_TEST(closed_after_err_vers_is_remembered)
{
	v2_probe();
	v2_next_option(XCHAR_INIT);
	rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	raw->step_us = (uint64_t)_i * 2000;
	v2_send_err_vers(v2_hdr.xid, 1, 1);
	fabric_ep_close(raw->ep);
	expect_lost_in_vain();
}
END_TEST

START_TEST(a_probe_that_the_proxy_closes_is_not_remembered)
{
	v2_probe();
	leg_close(rig->client.leg, LEG_CLOSE_PEER);
	v2_run(100);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert(!one_only());
}
END_TEST

START_TEST(a_drain_while_it_probes_ends_a_leg_without_calls)
{
	v2_probe();
	leg_drain(rig->client.leg);
	v2_run(100);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_SHUTDOWN);
	ck_assert(!one_only());
}
END_TEST

/* Whatever the server says: ERR_VERS, INIT, nothing. */
START_TEST(a_drain_while_it_probes_lets_calls_go)
{
	v2_probe();
	v2_next_option(XCHAR_INIT);
	rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	leg_drain(rig->client.leg);
	if (_i == 0)
		v2_send_err_vers(v2_hdr.xid, 1, 1);
	else if (_i == 1)
		v2_send_init(v2_hdr.xid, V2_FIRST_BYTES, false);
	v2_run(1100);
	v2_next_call(_i == 1 ? 2 : 1);
	v2_send_reply(v2_hdr.vers, v2_hdr.xid, 200, 32);
	v2_run(100);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_SHUTDOWN);
}
END_TEST

/* A cut between INIT and its answer is remembered; no other one is. */
START_TEST(a_cut_at_any_step_is_remembered_if_nothing_was_settled)
{
	unsigned steps = 1, probing = 0;

	v2_end();
	for (unsigned k = 1; k <= steps; k++) {
		struct sim_faults faults = {
			.cut_at_step = k, .max_delay_us = _i ? 500 : 0, .seed = k};
		bool in_vain;

		v2_begin(&faults);
		rig_connect(rig);
		for (unsigned i = 0; i < 3; i++)
			rig_call(&rig->client, 100, 200, 200);
		v2_run(3000);
		in_vain = rig->client.counters.options_sent && !rig->client.opened;
		probing += in_vain;
		ck_assert_int_eq(one_only(), in_vain);
		if (!rig->client.opened)
			ck_assert_uint_eq(rig->client.counters.calls_sent, 0);
		steps = sim_net_stats(rig->net)->steps;
		ck_assert_uint_lt(steps, STEPS_MAX);
		v2_end();
	}
	ck_assert_uint_gt(probing, 1);
	ck_assert_uint_gt(steps, 10);
	v2_begin(NULL);
}
END_TEST

/* Both ends ours: 0 and 1 are a release that speaks version one, or one that is configured to. */
START_TEST(the_highest_version_of_both_ends_is_spoken)
{
	uint32_t there = (uint32_t)_i / 3, here = (uint32_t)_i % 3;
	bool two = there == 2 && here == 2;

	rig->server.config.highest_version = there;
	rig->client.config.highest_version = here;
	rig_connect(rig);
	for (unsigned i = 0; i < 8; i++)
		rig_call(&rig->client, 100 + 1500 * i, 12000 - 1400 * i, 12000);
	v2_run(3000);
	for (unsigned i = 0; i < 4; i++)
		rig_call(&rig->server, 100 + 200 * i, 100 + 200 * i, 900);
	v2_run(100);
	ck_assert_uint_eq(rig->client.answered, 8);
	ck_assert_uint_eq(rig->server.answered, 4);
	ck_assert_uint_eq(rig->server.calls, 8);
	ck_assert_uint_eq(rig->client.wrong + rig->server.wrong, 0);
	ck_assert_uint_eq(v2_leg(&rig->client)->conn.limits.dialect->version, two ? 2 : 1);
	ck_assert_uint_eq(v2_leg(&rig->server)->conn.limits.dialect->version, two ? 2 : 1);
	ck_assert_uint_eq(rig->client.counters.options_sent > 0, here == 2);
	ck_assert_int_eq(one_only(), here == 2 && !two);
	v2_no_sim_error();
}
END_TEST

/* An end that has no characteristics speaks version two all the same. */
START_TEST(characteristics_may_be_off_at_either_end)
{
	rig->server.config.characteristics = _i & 1;
	rig->client.config.characteristics = _i & 2;
	v2_open();
	for (unsigned i = 0; i < 40; i++)
		rig_call(&rig->client, 100 + 100 * i, 9000 - 100 * i, 9000);
	v2_run(100);
	ck_assert_uint_eq(rig->client.answered, 40);
	ck_assert_uint_eq(rig->client.wrong, 0);
	v2_no_sim_error();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("v2_versions");
	TCase *tc = tcase_create("v2_versions");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, v2_end);
	tcase_add_test(tc, the_first_send_is_init_with_all_that_there_is);
	tcase_add_test(tc, no_call_goes_before_the_version_is_settled);
	tcase_add_test(tc, err_vers_to_init_leads_to_version_one);
	tcase_add_test(tc, err_vers_to_init_with_a_range_that_has_two_leads_to_two);
	tcase_add_test(tc, silence_leads_to_version_one_after_a_second);
	tcase_add_test(tc, messages_of_an_unknown_version_are_ignored_by_a_probe);
	tcase_add_loop_test(tc, any_message_of_version_two_settles_it, 0, 7);
	tcase_add_loop_test(tc, the_answer_to_init_grants, 0, 2);
	tcase_add_test(tc, a_late_answer_before_the_first_call_settles_version_two);
	tcase_add_loop_test(tc, a_late_answer_after_the_first_call_is_dropped, 0, 4);
	tcase_add_loop_test(tc, a_call_of_version_one_that_is_refused_goes_once_more_in_two, 0, 3);
	tcase_add_loop_test(tc, without_a_version_in_common_the_leg_closes, 0, 4);
	tcase_add_loop_test(tc, closed_before_any_answer_is_remembered, 0, 2);
	tcase_add_loop_test(tc, closed_after_err_vers_is_remembered, 0, 9);
	tcase_add_test(tc, a_probe_that_the_proxy_closes_is_not_remembered);
	tcase_add_test(tc, a_drain_while_it_probes_ends_a_leg_without_calls);
	tcase_add_loop_test(tc, a_drain_while_it_probes_lets_calls_go, 0, 3);
	tcase_add_loop_test(tc, a_cut_at_any_step_is_remembered_if_nothing_was_settled, 0, 2);
	tcase_add_loop_test(tc, the_highest_version_of_both_ends_is_spoken, 0, 9);
	tcase_add_loop_test(tc, characteristics_may_be_off_at_either_end, 0, 4);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

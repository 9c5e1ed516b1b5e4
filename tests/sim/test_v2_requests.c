// SPDX-License-Identifier: BSD-3-Clause
/* Tests REQs of the peer, and the credits and XIDs of proxy-originated messages. */
#include "rpc/xdr.h"
#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

static struct rig_side *side;

static void setup(void)
{
	v2_begin(NULL);
}

START_TEST(a_request_for_a_size_is_met_up_to_the_largest)
{
	static const struct {
		uint32_t bytes, told;
		enum xchar_set verdict;
	} rows[] = {
		{0, 4096, XCHAR_DONE},        {1, 4096, XCHAR_DONE},
		{4095, 4096, XCHAR_DONE},     {4096, 4096, XCHAR_DONE},
		{4097, 4097, XCHAR_DONE},     {65536, 65536, XCHAR_DONE},
		{65537, 65536, XCHAR_REJ},    {UINT32_MAX, 65536, XCHAR_REJ},
		{1u << 31, 65536, XCHAR_REJ}, {8192, 8192, XCHAR_DONE},
		{4096, 4096, XCHAR_DONE},
	};

	side = v2_meet(_i);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		v2_send_req(0x100 + i, rows[i].bytes);
		v2_next_option(XCHAR_RESP);
		ck_assert_uint_eq(v2_hdr.xid, 0x100 + i);
		ck_assert_uint_eq(v2_verdict(0), rows[i].verdict);
		ck_assert_uint_eq(v2_size(side), rows[i].told);
		v2_silence();
	}
}
END_TEST

/* Known among unknown ones; each element has one verdict. */
START_TEST(the_answer_covers_each_element)
{
	uint8_t info[16 * 200 + 4];
	uint32_t n = 200;

	side = v2_meet(_i);
	be32_put(info, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = i == 150 ? XCHAR_RBSIZ : i == 3 ? XCHAR_RQREMINV : 500 + i;

		be32_put(info + 4 + 12 * i, id);
		be32_put(info + 8 + 12 * i, 4);
		be32_put(info + 12 + 12 * i, i == 150 ? 16384 : 0);
	}
	v2_send_option(0x100, XCHAR_REQ, info, 4 + 12 * n);
	v2_next_option(XCHAR_RESP);
	for (uint32_t i = 0; i < n; i++) {
		/*
		 * The connector's keys can be invalidated, as it advertised; the acceptor exposes
		 * none.
		 */
		bool done = i == 150 || (i == 3 && !_i);

		ck_assert_uint_eq(v2_verdict(i), done ? XCHAR_DONE : XCHAR_REJ);
	}
	ck_assert_uint_eq(v2_size(side), 16384);
}
END_TEST

START_TEST(a_request_of_nothing_is_answered_with_nothing)
{
	side = v2_meet(_i);
	v2_send_option(0x100, XCHAR_REQ, "\0\0\0\0", 4);
	v2_next_option(XCHAR_RESP);
	for (unsigned set = 0; set < XCHAR_SETS; set++)
		ck_assert_uint_eq(v2_operation.sets[set].nwords, 0);
}
END_TEST

/* A peer that sends and receives nothing does not make us queue answers without end. */
START_TEST(answers_that_are_not_taken_end_the_connection)
{
	const uint32_t words[] = {1, XCHAR_RBSIZ, 4, 16384};
	uint8_t info[16];
	unsigned n;

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		be32_put(info + 4 * i, words[i]);
	side = v2_meet(_i);
	sim_ep_stop_taking(raw->ep);
	for (n = 0; n < 5000 && !side->closing; n++) {
		v2_post_option(0x10000 + n, XCHAR_REQ, info, sizeof(info));
		rig_run_for(rig, 10);
	}
	ck_assert_uint_lt(n, 300);
	ck_assert_int_eq(side->why, LEG_CLOSE_REPLY_STALLED);
}
END_TEST

/* ---- credits ---- */

/* A grant of zero counts as one. */
START_TEST(a_grant_of_zero_in_an_operation_is_one)
{
	side = &rig->client;
	v2_credit = 0;
	v2_open_client();
	ck_assert_uint_eq(side->counters.credit_zero_received, 1);
	for (unsigned i = 0; i < 3; i++)
		rig_call(side, RIG_CALL_MIN, 200, 200);
	for (unsigned i = 0; i < 3; i++) {
		v2_run(1);
		v2_next_call(2);
		v2_silence();
		v2_send_reply(2, v2_hdr.xid, 200, 1);
	}
	ck_assert_uint_eq(side->answered, 3);
}
END_TEST

/* Zero asked for is one granted, and no fewer receives are there. */
START_TEST(no_credit_asked_for_in_an_operation_is_one_granted)
{
	side = v2_meet(0);
	v2_credit = 0;
	v2_send_req(0x100, 4096);
	v2_next_option(XCHAR_RESP);
	ck_assert_uint_eq(v2_hdr.credit, 1);
	v2_send_call(2, 0x101, RIG_CALL_MIN, 200);
	v2_next_reply(2, 0x101, 200);
	ck_assert_uint_gt(v2_hdr.credit, 1);
}
END_TEST

START_TEST(a_grant_in_an_operation_is_obeyed)
{
	side = &rig->client;
	v2_credit = 5;
	v2_open_client();
	for (unsigned i = 0; i < 10; i++)
		rig_call(side, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	ck_assert_uint_eq(raw->nrecvs - raw->nread, 5);
	v2_credit = 7;
	v2_send_upd(XCHAR_RBSIZ, 4096, false);
	ck_assert_uint_eq(raw->nrecvs - raw->nread, 7);
}
END_TEST

/* Nothing of our own takes the last credit: Calls still go. */
START_TEST(the_last_credit_is_for_calls)
{
	side = &rig->client;
	v2_credit = 1;
	v2_open_client();
	v2_ask(side, 16384);
	v2_raise(side, 16384);
	v2_run(10);
	v2_silence();
	for (unsigned i = 0; i < 3; i++) {
		rig_call(side, RIG_CALL_MIN, 200, 200);
		v2_run(1);
		v2_next_call(2);
		v2_silence();
		v2_send_reply(2, v2_hdr.xid, 200, 1);
	}
	ck_assert_uint_eq(side->answered, 3);
	/* With two there is one to spare, for one at a time. */
	rig_call(side, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_next_call(2);
	v2_send_reply(2, v2_hdr.xid, 200, 2);
	v2_next_option(XCHAR_UPD);
	ck_assert_uint_eq(v2_value(XCHAR_RBSIZ), 16384);
	v2_silence();
	v2_credit = 2;
	v2_send_upd(XCHAR_BRS, XCHAR_BRS_SZLIM, false);
	v2_next_option(XCHAR_REQ);
	v2_silence();
	rig_call(side, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_next_call(2);
	v2_silence();
}
END_TEST

/*
 * The end that accepted sends the next one only when it has received a message since the last
 * (X-11).
 */
START_TEST(the_end_that_accepted_has_one_out_at_a_time)
{
	side = v2_meet(0);
	v2_raise(side, 16384);
	v2_ask(side, 16384);
	v2_run(10);
	v2_next_option(XCHAR_UPD);
	v2_silence();
	v2_send_call(2, 0x200, RIG_CALL_MIN, 200);
	v2_next_reply(2, 0x200, 200);
	v2_next_option(XCHAR_REQ);
	v2_raise(side, 32768);
	v2_run(10);
	v2_silence();
}
END_TEST

/* ---- XIDs ---- */

START_TEST(a_call_with_the_xid_of_our_request_waits)
{
	uint32_t xid;

	side = &rig->client;
	v2_open_client();
	v2_ask(side, 16384);
	v2_run(1);
	v2_next_option(XCHAR_REQ);
	xid = rig->next_xid = v2_hdr.xid;
	for (unsigned i = 0; i < 3; i++)
		rig_call(side, RIG_CALL_MIN, 200, 200);
	v2_run(10);
	v2_silence();
	switch (_i) {
	case 0:
		v2_send_resp(xid, 1u << XCHAR_DONE);
		break;
	case 1:
		v2_send_error(xid, RPCRDMA_ERR_INVAL_OPTION);
		break;
	case 2:
		v2_send_error(xid, RPCRDMA_ERR_CHUNK);
		break;
	}
	for (unsigned i = 0; i < 3; i++) {
		v2_next_call(2);
		ck_assert_uint_eq(v2_hdr.xid, xid + i);
		v2_send_reply(2, v2_hdr.xid, 200, 32);
	}
	ck_assert_uint_eq(side->answered, 3);
	ck_assert_uint_eq(side->faults, 0);
}
END_TEST

/*
 * Its own error ends a message that has no answer, and is not taken as the answer to the waiting
 * Call.
 */
START_TEST(an_error_to_our_update_is_of_no_call_that_waits)
{
	static const uint32_t errors[] = {RPCRDMA_ERR_INVAL_OPTION, RPCRDMA_ERR_CHUNK};
	uint32_t xid;

	side = &rig->client;
	v2_open_client();
	v2_raise(side, 16384);
	v2_run(10);
	v2_next_option(XCHAR_UPD);
	xid = rig->next_xid = v2_hdr.xid;
	rig_call(side, RIG_CALL_MIN, 200, 200);
	v2_run(10);
	v2_silence();
	v2_send_error(xid, errors[_i]);
	v2_next_call(2);
	ck_assert_uint_eq(v2_hdr.xid, xid);
	v2_send_reply(2, xid, 200, 32);
	ck_assert_uint_eq(side->answered, 1);
	ck_assert_uint_eq(side->faults, 0);
	ck_assert_uint_eq(side->counters.unmatched_replies, 0);
}
END_TEST

/* A REQ without a RESP has its credit for a minute or two, also where there comes to be no other. */
START_TEST(a_request_without_an_answer_stops_no_call)
{
	side = &rig->client;
	v2_credit = 3;
	v2_open_client();
	v2_ask(side, 16384);
	rig_call(side, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_next_option(XCHAR_REQ);
	v2_next_call(2);
	v2_send_reply(2, v2_hdr.xid, 200, 1);
	rig_call(side, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_silence();
	v2_run(130000);
	v2_next_call(2);
	v2_send_reply(2, v2_hdr.xid, 200, 1);
	ck_assert_uint_eq(side->answered, 2);
}
END_TEST

/* The counts shown of a connection include Calls, not control messages. */
START_TEST(messages_of_our_own_are_no_calls_in_flight)
{
	struct leg_info info;

	side = v2_meet(_i);
	v2_ask(side, 16384);
	v2_run(1);
	v2_next_option(XCHAR_REQ);
	leg_info(side->leg, &info);
	ck_assert_uint_eq(info.calls_in_flight_out, 0);
	ck_assert_uint_eq(info.calls_in_flight_in, 0);
	ck_assert_str_eq(info.pending, "the peer's size");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("v2_requests");
	TCase *tc = tcase_create("v2_requests");

	tcase_add_checked_fixture(tc, setup, v2_end);
	tcase_add_loop_test(tc, a_request_for_a_size_is_met_up_to_the_largest, 0, 2);
	tcase_add_loop_test(tc, the_answer_covers_each_element, 0, 2);
	tcase_add_loop_test(tc, a_request_of_nothing_is_answered_with_nothing, 0, 2);
	tcase_add_loop_test(tc, answers_that_are_not_taken_end_the_connection, 0, 2);
	tcase_add_test(tc, a_grant_of_zero_in_an_operation_is_one);
	tcase_add_test(tc, a_request_without_an_answer_stops_no_call);
	tcase_add_test(tc, no_credit_asked_for_in_an_operation_is_one_granted);
	tcase_add_test(tc, a_grant_in_an_operation_is_obeyed);
	tcase_add_test(tc, the_last_credit_is_for_calls);
	tcase_add_test(tc, the_end_that_accepted_has_one_out_at_a_time);
	tcase_add_loop_test(tc, a_call_with_the_xid_of_our_request_waits, 0, 3);
	tcase_add_loop_test(tc, an_error_to_our_update_is_of_no_call_that_waits, 0, 2);
	tcase_add_loop_test(tc, messages_of_our_own_are_no_calls_in_flight, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

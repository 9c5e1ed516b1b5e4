// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests invalid RDMA_OPTIONALs to a leg of either role: each has its specified outcome, and the
 * connection stays open.
 */
#include <string.h>

#include "rpc/xdr.h"
#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

#define DONE (1u << XCHAR_DONE)
#define REJ  (1u << XCHAR_REJ)
#define PEND (1u << XCHAR_PEND)

static struct rig_side *side; /* the leg's */

static void setup(void)
{
	v2_begin(NULL);
}

static void expect_alive(void)
{
	static uint32_t xid = 0x66000000;

	if (side == &rig->server) {
		v2_send_call(2, ++xid, RIG_CALL_MIN, 200);
		v2_next_reply(2, xid, 200);
	} else {
		unsigned answered = side->answered;
		uint32_t sent = rig_call(side, RIG_CALL_MIN, 200, 200);

		v2_run(1);
		v2_next_call(2);
		ck_assert_uint_eq(v2_hdr.xid, sent);
		v2_send_reply(2, sent, 200, 32);
		ck_assert_uint_eq(side->answered, answered + 1);
	}
	v2_silence();
}

static void expect_error(uint32_t xid, enum rpcrdma_err err)
{
	v2_next();
	ck_assert_uint_eq(v2_hdr.vers, 2);
	ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_ERROR);
	ck_assert_uint_eq(v2_hdr.xid, xid);
	ck_assert_uint_eq(v2_hdr.error, err);
	v2_silence();
}

static uint32_t send_limit(void)
{
	return v2_leg(side)->conn.limits.send_bytes;
}

/* The leg asks for 32 KiB; returns the XID of its REQ. */
static uint32_t have_it_ask(uint32_t bytes)
{
	v2_ask(side, bytes);
	v2_run(1);
	v2_next_option(XCHAR_REQ);
	ck_assert_uint_eq(v2_value(XCHAR_RBSIZ), bytes);
	return v2_hdr.xid;
}

/* ---- RESP ---- */

START_TEST(a_resp_that_does_not_cover_the_request_rejects_it)
{
	static const unsigned sets[] = {0, DONE | REJ, DONE | PEND, REJ | PEND, DONE | REJ | PEND};

	for (unsigned role = 0; role < 2; role++) {
		side = v2_meet((int)role);
		v2_send_resp(have_it_ask(32768), sets[_i]);
		ck_assert_uint_eq(side->counters.characteristics_wrong, 1);
		ck_assert_uint_eq(send_limit(), V2_FIRST_BYTES);
		expect_alive();
		v2_send_resp(have_it_ask(32768), DONE);
		ck_assert_uint_eq(send_limit(), 32768);
		v2_end();
		v2_begin(NULL);
	}
}
END_TEST

START_TEST(a_resp_to_no_request_is_dropped)
{
	uint32_t xid;

	side = v2_meet(_i);
	v2_send_resp(0x1234, DONE);
	ck_assert_uint_eq(side->counters.characteristics_wrong, 1);
	xid = have_it_ask(32768);
	v2_send_resp(xid + 1, DONE);
	ck_assert_uint_eq(side->counters.characteristics_wrong, 2);
	ck_assert_uint_eq(send_limit(), V2_FIRST_BYTES);
	v2_send_resp(xid, DONE);
	ck_assert_uint_eq(send_limit(), 32768);
	v2_send_resp(xid, REJ);
	ck_assert_uint_eq(side->counters.characteristics_wrong, 3);
	ck_assert_uint_eq(send_limit(), 32768);
	expect_alive();
}
END_TEST

START_TEST(a_pending_request_ends_with_an_upd)
{
	side = v2_meet(_i);
	v2_send_resp(have_it_ask(32768), PEND);
	ck_assert_uint_eq(send_limit(), V2_FIRST_BYTES);
	v2_ask(side, 16384);
	v2_run(1);
	v2_silence();
	v2_send_upd(XCHAR_RBSIZ, 32768, true);
	ck_assert_uint_eq(send_limit(), 32768);
	expect_alive();
	v2_send_resp(have_it_ask(8192), DONE);
	ck_assert_uint_eq(send_limit(), 8192);
}
END_TEST

/*
 * A lower size holds from the moment that it was asked for, until the request is refused (B3.1-4).
 */
START_TEST(a_request_that_is_refused_by_an_error_limits_nothing)
{
	side = v2_meet(_i & 1);
	v2_send_upd(XCHAR_RBSIZ, 32768, false);
	ck_assert_uint_eq(send_limit(), 32768);
	have_it_ask(8192);
	ck_assert_uint_eq(send_limit(), 8192);
	v2_send_error(v2_hdr.xid, _i & 2 ? RPCRDMA_ERR_CHUNK : RPCRDMA_ERR_INVAL_OPTION);
	ck_assert_uint_eq(send_limit(), 32768);
	expect_alive();
}
END_TEST

/* ---- UPD ---- */

START_TEST(an_unrequested_upd_is_obeyed)
{
	side = v2_meet(_i);
	v2_send_upd(XCHAR_RBSIZ, 16384, true);
	ck_assert_uint_eq(send_limit(), 16384);
	ck_assert_uint_eq(side->counters.characteristics_wrong, 1);
	v2_send_upd(XCHAR_RBSIZ, UINT32_MAX, false);
	ck_assert_uint_eq(send_limit(), V2_MAX_BYTES);
	ck_assert_uint_eq(side->counters.recv_lowered_unasked, 0);
	v2_send_upd(XCHAR_RBSIZ, 1, true);
	ck_assert_uint_eq(send_limit(), V2_FIRST_BYTES);
	ck_assert_uint_eq(side->counters.recv_lowered_unasked, 1);
	ck_assert_uint_eq(side->counters.characteristics_wrong, 2);
	v2_send_upd(0xffffff00, 1, true);
	v2_send_upd(0, 1, false);
	ck_assert_uint_eq(side->counters.characteristics_wrong, 2);
	expect_alive();
}
END_TEST

/*
 * A Reply that is due goes by it, too: a longer Send would end the connection and all that is in
 * flight on it.
 */
START_TEST(a_reply_is_limited_by_a_size_that_was_lowered_since)
{
	side = v2_meet(0);
	v2_send_upd(XCHAR_RBSIZ, 32768, false);
	side->hold = true;
	v2_send_call(2, 5, RIG_CALL_MIN, 20000);
	v2_send_call(2, 6, RIG_CALL_MIN, 2000);
	v2_send_upd(XCHAR_RBSIZ, 8192, false);
	rig_answer_held(side);
	v2_run(1);
	v2_next();
	ck_assert_uint_eq(v2_hdr.xid, 5);
	ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_ERROR);
	ck_assert_uint_eq(v2_hdr.error, RPCRDMA_ERR_CHUNK);
	v2_next_reply(2, 6, 2000);
	side->hold = false;
	expect_alive();
}
END_TEST

/* ---- what does not decode ---- */

START_TEST(undecodable_messages_get_bad_header)
{
	static const struct {
		uint32_t op, words;
		uint32_t info[8];
	} rows[] = {
		{XCHAR_INIT, 4, {1, XCHAR_RBSIZ, UINT32_MAX, 4096}},
		{XCHAR_INIT, 2, {UINT32_MAX, 0}},
		{XCHAR_INIT, 4, {1, 77, UINT32_MAX, 0}},
		{XCHAR_INIT, 2, {0, UINT32_MAX}},
		{XCHAR_INIT, 5, {1, XCHAR_RQREMINV, 4, 2, 0}},
		{XCHAR_INIT, 5, {1, XCHAR_BRS, 4, 4, 0}},
		{XCHAR_INIT, 6, {1, XCHAR_RBSIZ, 8, 0, 4096, 0}},
		{XCHAR_INIT, 1, {0}},
		{XCHAR_REQ, 0, {0}},
		{XCHAR_REQ, 3, {1, XCHAR_RBSIZ, 0}},
		{XCHAR_RESP, 2, {0, 0}},
		{XCHAR_RESP, 3, {UINT32_MAX, 0, 0}},
		{XCHAR_UPD, 3, {XCHAR_RBSIZ, 4, 8192}},
		{XCHAR_UPD, 4, {XCHAR_RBSIZ, 4, 8192, 2}},
	};

	side = v2_meet(_i);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t info[8];

		for (unsigned n = 0; n < rows[i].words; n++)
			be32_put((uint8_t *)&info[n], rows[i].info[n]);
		v2_send_option(0x300 + i, rows[i].op, info, rows[i].words * 4);
		expect_error(0x300 + i, RPCRDMA_ERR_CHUNK);
	}
	ck_assert_uint_eq(send_limit(), V2_FIRST_BYTES);
	expect_alive();
}
END_TEST

START_TEST(an_operation_longer_than_its_send_gets_bad_header)
{
	uint8_t bytes[28] = {0, 0, 3, 9, 0, 0, 0, 2, 0, 0, 0, 32, 0, 0, 0, 5, 0, 0, 0, 1};

	side = v2_meet(_i);
	memset(bytes + 20, 0xff, 4);
	raw_send(raw, bytes, sizeof(bytes));
	expect_error(0x309, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

START_TEST(an_unknown_operation_gets_inval_option)
{
	static const uint32_t ops[] = {0, 5, 99, UINT32_MAX};

	side = v2_meet(_i);
	for (unsigned i = 0; i < ARRAY_SIZE(ops); i++) {
		v2_send_option(0x400 + i, ops[i], "abcd", 4);
		expect_error(0x400 + i, RPCRDMA_ERR_INVAL_OPTION);
	}
	ck_assert_uint_eq(side->counters.err_inval_option_sent, ARRAY_SIZE(ops));
	expect_alive();
}
END_TEST

/* ---- INIT ---- */

/* 80,000 bytes of ids that nobody knows, and one at the end that is known. */
static uint32_t put_unknown(uint8_t *info, uint32_t count)
{
	uint8_t *at = info;

	be32_put(at, count + 1);
	for (uint32_t n = 0; n < count; n++) {
		at += 8;
		be32_put(at - 4, 1000 + n);
		be32_put(at, 0);
	}
	be32_put(at + 4, XCHAR_RBSIZ);
	be32_put(at + 8, 4);
	be32_put(at + 12, 16384);
	be32_put(at + 16, 0);
	return (uint32_t)(at + 20 - info);
}

START_TEST(ten_thousand_unknown_ids_are_skipped)
{
	static uint8_t info[100000];
	uint32_t info_bytes = put_unknown(info, 10000);

	rig->client.config.inline_threshold_bytes = 128 * 1024;
	rig->server.config.inline_threshold_bytes = 128 * 1024;
	if (_i) {
		side = &rig->client;
		v2_probe();
		v2_next_option(XCHAR_INIT);
		v2_send_option(v2_hdr.xid, XCHAR_INIT, info, info_bytes);
		ck_assert_uint_eq(side->opened, 1);
	} else {
		side = &rig->server;
		v2_open_server();
		v2_send_option(1, XCHAR_INIT, info, info_bytes);
		v2_next_option(XCHAR_INIT);
	}
	expect_alive();
	ck_assert_uint_eq(send_limit(), 16384);
}
END_TEST

/* As an UPD of each value would be (B4.1-5); it is answered once. */
START_TEST(a_second_init_is_as_an_upd)
{
	side = v2_meet(_i);
	v2_send_init(0x500, 16384, false);
	v2_silence();
	ck_assert_uint_eq(send_limit(), 16384);
	v2_send_init(0x501, 8192, false);
	v2_silence();
	ck_assert_uint_eq(send_limit(), 8192);
	ck_assert_uint_eq(side->counters.recv_lowered_unasked, 1);
	expect_alive();
}
END_TEST

START_TEST(an_init_after_calls_is_answered)
{
	side = &rig->server;
	v2_open_server();
	expect_alive();
	v2_send_init(0x500, 16384, false);
	v2_next_option(XCHAR_INIT);
	ck_assert_uint_eq(v2_hdr.xid, 0x500);
	ck_assert_uint_eq(send_limit(), 16384);
	expect_alive();
}
END_TEST

/*
 * The version is settled by the first Call, and voids what an INIT before it brought.
 */
START_TEST(an_operation_after_a_call_of_version_one_gets_err_vers)
{
	v2_open_server();
	if (_i) {
		v2_send_init(1, 16384, true);
		v2_next_option(XCHAR_INIT);
	}
	v2_send_call(1, 2, RIG_CALL_MIN, 200);
	v2_next_reply(1, 2, 200);
	v2_send_init(3, 32768, true);
	v2_next();
	ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_ERROR);
	ck_assert_uint_eq(v2_hdr.error, RPCRDMA_ERR_VERS);
	ck_assert_uint_eq(v2_hdr.vers_low, 1);
	ck_assert_uint_eq(v2_hdr.vers_high, 1);
	side = &rig->server;
	ck_assert_uint_eq(send_limit(), 4096);
	v2_send_call(1, 4, RIG_CALL_MIN, 200);
	v2_next_reply(1, 4, 200);
}
END_TEST

/* Whatever it is: it is of version two, and the leg is open. */
START_TEST(any_version_two_message_during_the_probe_settles_version_two)
{
	side = &rig->client;
	v2_probe();
	v2_next_option(XCHAR_INIT);
	switch (_i) {
	case 0:
		v2_send_option(v2_hdr.xid, XCHAR_INIT, "\0\0\0\1", 4);
		v2_next();
		ck_assert_uint_eq(v2_hdr.error, RPCRDMA_ERR_CHUNK);
		break;
	case 1:
		v2_send_resp(v2_hdr.xid, DONE);
		ck_assert_uint_eq(side->counters.characteristics_wrong, 1);
		break;
	case 2:
		v2_send_upd(XCHAR_RBSIZ, 1, true);
		break;
	case 3:
		v2_send_req(v2_hdr.xid, UINT32_MAX);
		v2_next_option(XCHAR_RESP);
		ck_assert_uint_eq(v2_verdict(0), XCHAR_REJ);
		break;
	}
	ck_assert_uint_eq(side->opened, 1);
	expect_alive();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("v2_hostile");
	TCase *tc = tcase_create("v2_hostile");

	tcase_add_checked_fixture(tc, setup, v2_end);
	tcase_add_loop_test(tc, a_resp_that_does_not_cover_the_request_rejects_it, 0, 5);
	tcase_add_loop_test(tc, a_resp_to_no_request_is_dropped, 0, 2);
	tcase_add_loop_test(tc, a_pending_request_ends_with_an_upd, 0, 2);
	tcase_add_loop_test(tc, a_request_that_is_refused_by_an_error_limits_nothing, 0, 4);
	tcase_add_loop_test(tc, an_unrequested_upd_is_obeyed, 0, 2);
	tcase_add_test(tc, a_reply_is_limited_by_a_size_that_was_lowered_since);
	tcase_add_loop_test(tc, undecodable_messages_get_bad_header, 0, 2);
	tcase_add_loop_test(tc, an_operation_longer_than_its_send_gets_bad_header, 0, 2);
	tcase_add_loop_test(tc, an_unknown_operation_gets_inval_option, 0, 2);
	tcase_add_loop_test(tc, ten_thousand_unknown_ids_are_skipped, 0, 2);
	tcase_add_loop_test(tc, a_second_init_is_as_an_upd, 0, 2);
	tcase_add_test(tc, an_init_after_calls_is_answered);
	tcase_add_loop_test(tc, an_operation_after_a_call_of_version_one_gets_err_vers, 0, 2);
	tcase_add_loop_test(tc, any_version_two_message_during_the_probe_settles_version_two, 0, 4);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

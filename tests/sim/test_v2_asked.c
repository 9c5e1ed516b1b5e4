// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests Replies while the leg has asked its peer for a lower Receive size (B3.1-4). Until the peer
 * has answered, no Send is longer than the requested size, and no Reply is lost that a conforming
 * peer expects.
 */
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

#define DONE        (1u << XCHAR_DONE)
#define REJ         (1u << XCHAR_REJ)
#define PEND        (1u << XCHAR_PEND)

#define LARGE_BYTES 32768u
#define REPLY_BYTES (20052u - RPCRDMA_MIN_HDR_BYTES) /* a Send of 20,052 bytes */
#define CALL_XID    0x777u

static uint32_t req_xid;

/* The server leg, its client with large receives, and a REQ of the leg for a lower size that has no RESP. */
static void setup_asked(void)
{
	static const uint8_t pd[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

	v2_begin(NULL);
	raw = raw_new(rig, pd, sizeof(pd));
	raw->params.recv_size_bytes = LARGE_BYTES;
	v2_open_server();
	v2_settle();
	v2_send_upd(XCHAR_RBSIZ, LARGE_BYTES, false);
	v2_ask(&rig->server, V2_FIRST_BYTES);
	v2_run(1);
	v2_next_option(XCHAR_REQ);
	ck_assert_uint_eq(v2_value(XCHAR_RBSIZ), V2_FIRST_BYTES);
	req_xid = v2_hdr.xid;
}

/* Its Reply has no way but inline. */
static void call_without_chunk(void)
{
	v2_send_call(2, CALL_XID, RIG_CALL_MIN, REPLY_BYTES);
	ck_assert_uint_eq(rig->server.calls, 2);
}

/* The same, where its payload may be moved: there is none. */
static void call_with_write_chunk(uint32_t xid)
{
	struct rpcrdma_header hdr;
	uint8_t call[RIG_CALL_MIN];

	rpcrdma_header_init(&hdr, xid, 2, 32, RPCRDMA_MSG);
	hdr.nwrites = hdr.nsegments = 1;
	hdr.segments[0] = raw_segment(raw_lend(raw, NULL, 64, FABRIC_REMOTE_WRITE));
	hdr.writes[0] = (struct rpcrdma_chunk){0, 1, 64};
	rig_fill_call(call, sizeof(call), xid, REPLY_BYTES);
	raw_send_header(raw, &hdr, call, sizeof(call));
}

static void call_with_reply_chunk(uint32_t xid)
{
	struct rpcrdma_header hdr;
	uint8_t call[RIG_CALL_MIN];

	rpcrdma_header_init(&hdr, xid, 2, 32, RPCRDMA_MSG);
	hdr.has_reply_chunk = true;
	hdr.segments[0] = raw_segment(raw_lend(raw, NULL, LARGE_BYTES, FABRIC_REMOTE_WRITE));
	hdr.reply_chunk = (struct rpcrdma_chunk){0, 1, LARGE_BYTES};
	hdr.nsegments = 1;
	rig_fill_call(call, sizeof(call), xid, REPLY_BYTES);
	raw_send_header(raw, &hdr, call, sizeof(call));
}

static void expect_inline(uint32_t xid, uint32_t reply_bytes)
{
	static uint8_t want[LARGE_BYTES];

	v2_next();
	ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(v2_hdr.xid, xid);
	ck_assert_uint_eq(v2_len, reply_bytes);
	rig_fill_reply(want, reply_bytes, xid);
	ck_assert_mem_eq(v2_body, want, reply_bytes);
	v2_silence();
}

static void expect_bad_header(void)
{
	v2_next();
	ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_ERROR);
	ck_assert_uint_eq(v2_hdr.vers, 2);
	ck_assert_uint_eq(v2_hdr.xid, CALL_XID);
	ck_assert_uint_eq(v2_hdr.error, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.replies_too_big, 1);
	v2_silence();
}

/* The leg serves on; what fits the lower size is inline. */
static void expect_alive(void)
{
	v2_send_call(2, CALL_XID + 1, RIG_CALL_MIN, 3000);
	v2_next_reply(2, CALL_XID + 1, 3000);
	ck_assert_uint_eq(rig->server.counters.characteristics_wrong, 0);
	v2_no_sim_error();
}

/* A peer that says nothing of the REQ: the Call is answered all the same, and in time. */
START_TEST(without_an_answer_to_the_request_a_long_reply_is_an_error)
{
	call_without_chunk();
	v2_silence();
	expect_alive();
	v2_run(4990);
	v2_silence();
	v2_run(20);
	expect_bad_header();
	expect_alive();
}
END_TEST

START_TEST(a_long_reply_goes_by_chunk_where_there_is_one)
{
	call_with_reply_chunk(CALL_XID);
	v2_next();
	ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(v2_hdr.reply_chunk.len_bytes, REPLY_BYTES);
	v2_silence();
	expect_alive();
}
END_TEST

/* Its Call crossed the REQ. */
START_TEST(a_peer_that_counts_on_more_is_asked_for_what_it_has)
{
	call_without_chunk();
	v2_send_resp(req_xid, PEND);
	v2_next_option(XCHAR_REQ);
	ck_assert_uint_eq(v2_value(XCHAR_RBSIZ), LARGE_BYTES);
	v2_silence();
	v2_send_resp(v2_hdr.xid, _i ? REJ : DONE);
	expect_inline(CALL_XID, REPLY_BYTES);
	ck_assert_uint_eq(rig->server.counters.err_chunk_sent, 0);
	expect_alive();
}
END_TEST

START_TEST(a_rejected_request_sets_no_limit)
{
	call_without_chunk();
	v2_silence();
	if (_i)
		v2_send_error(req_xid, RPCRDMA_ERR_CHUNK);
	else
		v2_send_resp(req_xid, REJ);
	expect_inline(CALL_XID, REPLY_BYTES);
	expect_alive();
}
END_TEST

/* It has said itself that its receives are smaller. */
START_TEST(what_is_granted_is_the_end_of_a_longer_reply)
{
	call_without_chunk();
	v2_silence();
	v2_send_resp(req_xid, DONE);
	expect_bad_header();
	expect_alive();
}
END_TEST

/* Each is answered, in the order in which they came. */
START_TEST(several_replies_wait)
{
	for (uint32_t i = 0; i < 5; i++)
		v2_send_call(2, CALL_XID + i, RIG_CALL_MIN, REPLY_BYTES + i);
	v2_silence();
	v2_send_resp(req_xid, REJ);
	for (uint32_t i = 0; i < 5; i++) {
		v2_next();
		ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_MSG);
		ck_assert_uint_eq(v2_hdr.xid, CALL_XID + i);
		ck_assert_uint_eq(v2_len, REPLY_BYTES + i);
	}
	v2_silence();
	v2_no_sim_error();
}
END_TEST

/* Whatever a peer says while a lower size pends costs nothing of the number of Calls in flight. */
START_TEST(calls_are_judged_once_while_a_lower_size_pends)
{
	const struct responder *rpcs = &v2_leg(&rig->server)->responder;
	const unsigned held = 16;
	uint64_t nexamined = rpcs->nexamined;

	rig->server.hold = true;
	v2_send_resp(req_xid, PEND);
	for (uint32_t i = 0; i < held; i++)
		call_with_reply_chunk(CALL_XID + i);
	v2_run(1);
	ck_assert_uint_eq(rpcs->nexamined, nexamined + held);
	for (uint32_t i = 0; i < 50; i++)
		v2_send_init(0x200 + i, LARGE_BYTES, true);
	v2_silence();
	ck_assert_uint_eq(rpcs->nexamined, nexamined + held);
	v2_send_call(2, CALL_XID + held, RIG_CALL_MIN, REPLY_BYTES);
	v2_next_option(XCHAR_REQ);
	ck_assert_uint_eq(v2_value(XCHAR_RBSIZ), LARGE_BYTES);
	ck_assert_uint_eq(rpcs->nexamined, nexamined + held + 1);
	rig->server.hold = false;
	rig_answer_held(&rig->server);
	v2_no_sim_error();
}
END_TEST

/* Whatever a peer says meanwhile costs nothing of a Reply's length or of their number. */
START_TEST(replies_that_wait_are_not_looked_at_with_each_message)
{
	const unsigned waiting = 8;
	unsigned looks;

	for (uint32_t i = 0; i < waiting; i++)
		call_with_write_chunk(CALL_XID + i);
	v2_silence();
	looks = fake_reply_looks;
	ck_assert_uint_eq(looks, waiting);
	for (uint32_t i = 0; i < 50; i++) {
		v2_send_upd(XCHAR_RBSIZ, LARGE_BYTES - i * 4, false);
		v2_send_init(0x200 + i, LARGE_BYTES, true);
	}
	v2_silence();
	ck_assert_uint_eq(fake_reply_looks, looks);
	v2_send_resp(req_xid, REJ);
	for (uint32_t i = 0; i < waiting; i++) {
		v2_next();
		ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_MSG);
		ck_assert_uint_eq(v2_hdr.xid, CALL_XID + i);
	}
	v2_silence();
	ck_assert_uint_eq(fake_reply_looks, looks + waiting);
	v2_no_sim_error();
}
END_TEST

/* The connection ends while one waits: nothing is left of it. */
START_TEST(a_reply_that_waits_ends_with_its_connection)
{
	call_without_chunk();
	if (_i)
		fabric_ep_close(raw->ep);
	else
		leg_close(rig->server.leg, LEG_CLOSE_LOCAL);
	v2_run(2000);
	ck_assert_uint_eq(rig->server.closed, 1);
}
END_TEST

/* A drain lets it go first. */
START_TEST(a_drain_waits_for_it)
{
	call_without_chunk();
	leg_drain(rig->server.leg);
	v2_run(1);
	ck_assert_uint_eq(rig->server.closed, 0);
	v2_run(5100);
	expect_bad_header();
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_SHUTDOWN);
}
END_TEST

/* Two legs: the Call and the REQ for less cross each other, and the Reply arrives. */
START_TEST(no_call_is_lost_that_crosses_a_request)
{
	struct sim_faults faults = {.max_delay_us = (uint32_t)_i % 4 * 1500, .seed = (uint32_t)_i};

	v2_end();
	raw = NULL;
	v2_begin(&faults);
	v2_open();
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	v2_run(100);
	v2_raise(&rig->client, LARGE_BYTES);
	for (unsigned i = 0; i < 100; i++) {
		rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
		v2_run(10);
	}
	ck_assert_uint_eq(v2_size(&rig->client), LARGE_BYTES);
	rig->server.hold = _i & 1;
	rig_call(&rig->client, RIG_CALL_MIN, REPLY_BYTES, REPLY_BYTES);
	v2_ask(&rig->server, V2_FIRST_BYTES);
	v2_run(100);
	rig_answer_held(&rig->server);
	rig->server.hold = false;
	v2_run(100);
	ck_assert_uint_eq(rig->client.answered, 102);
	ck_assert_uint_eq(rig->client.wrong + rig->client.faults, 0);
	ck_assert_uint_eq(rig->server.counters.err_chunk_sent, 0);
	ck_assert_uint_eq(rig->server.counters.characteristics_wrong, 0);
	ck_assert_uint_eq(rig->client.counters.characteristics_wrong, 0);
	ck_assert_uint_eq(rig->server.counters.recv_lowered_unasked, 0);
	v2_no_sim_error();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("v2_asked");
	TCase *tc = tcase_create("v2_asked");

	tcase_add_checked_fixture(tc, setup_asked, v2_end);
	tcase_add_test(tc, without_an_answer_to_the_request_a_long_reply_is_an_error);
	tcase_add_test(tc, a_long_reply_goes_by_chunk_where_there_is_one);
	tcase_add_loop_test(tc, a_peer_that_counts_on_more_is_asked_for_what_it_has, 0, 2);
	tcase_add_loop_test(tc, a_rejected_request_sets_no_limit, 0, 2);
	tcase_add_test(tc, what_is_granted_is_the_end_of_a_longer_reply);
	tcase_add_test(tc, several_replies_wait);
	tcase_add_test(tc, calls_are_judged_once_while_a_lower_size_pends);
	tcase_add_test(tc, replies_that_wait_are_not_looked_at_with_each_message);
	tcase_add_loop_test(tc, a_reply_that_waits_ends_with_its_connection, 0, 2);
	tcase_add_test(tc, a_drain_waits_for_it);
	tcase_add_loop_test(tc, no_call_is_lost_that_crosses_a_request, 0, 16);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

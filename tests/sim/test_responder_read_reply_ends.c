// SPDX-License-Identifier: BSD-3-Clause
/* Tests Replies by read chunk that end in other ways than by RDMA_DONE. */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/draft03/responder_read_reply.h"
#include "tests/lib/test.h"
#include "tests/sim/read_reply_client.h"

#define HOSTILE_STEP 100000u

/* A3.8-3 */
START_TEST(without_done_the_connection_closes_in_time)
{
	call_lent(40, 5000);
	expect_lent(40, 5000);
	rig_run_for(rig, TIMEOUT_US - 10000);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run_for(rig, 20000);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_REPLY_STALLED);
	ck_assert_ptr_nonnull(strstr(rig->server.detail, "no RDMA_DONE for Reply 0x28"));
	ck_assert_uint_eq(rig->server.counters.lent_timeouts, 1);
}
END_TEST

/* One timer is all there is: each has its own time all the same. */
START_TEST(each_reply_has_its_own_time)
{
	call_lent(41, 5000);
	rig_run_for(rig, 20 * S);
	call_lent(42, 5000);
	rig_run_for(rig, 5 * S);
	send_done(41);
	rig_run_for(rig, 24 * S);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run_for(rig, 2 * S);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_REPLY_STALLED);
	ck_assert_ptr_nonnull(strstr(rig->server.detail, "0x2a"));
}
END_TEST

START_TEST(done_in_time_ends_the_limit)
{
	for (uint32_t xid = 43; xid < 46; xid++) {
		call_lent(xid, 5000);
		rig_run_for(rig, 25 * S);
		send_done(xid);
	}
	rig_run_for(rig, 100 * S);
	ck_assert_uint_eq(rig->server.counters.lent_timeouts, 0);
	expect_alive();
}
END_TEST

START_TEST(or_its_memory_is_taken_back_alone)
{
	rig->server.config.done_policy = DONE_POLICY_WITHDRAW;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	call_lent(50, 5000);
	rig_run_for(rig, 20 * S);
	call_lent(51, 6000);
	rig_run_for(rig, 11 * S);
	ck_assert_uint_eq(rig->server.counters.lent_timeouts, 1);
	ck_assert_uint_eq(rig->server.notes, 1);
	expect_lent(51, 6000);
	send_done(50); /* too late */
	ck_assert_uint_eq(rig->server.counters.dones_ignored, 1);
	call_lent(50, 7000);
	expect_lent(50, 7000);
	rig_run_for(rig, 60 * S);
	ck_assert_uint_eq(rig->server.counters.lent_timeouts, 3);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	expect_alive();
	expect_dead(&lent.reads[0].seg);
}
END_TEST

START_TEST(a_leg_that_drains_waits_for_done)
{
	call_lent(60, 5000);
	call_lent(61, 5000);
	leg_drain(rig->server.leg);
	rig_run_for(rig, S);
	send_done(60);
	ck_assert_uint_eq(rig->server.closed, 0);
	expect_lent(61, 5000);
	send_done(61);
	expect_closed(LEG_CLOSE_SHUTDOWN);
}
END_TEST

START_TEST(a_leg_that_drains_waits_no_longer_than_for_that)
{
	rig->server.config.done_policy = _i ? DONE_POLICY_WITHDRAW : DONE_POLICY_CLOSE;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	call_lent(62, 5000);
	leg_drain(rig->server.leg);
	rig_run_for(rig, TIMEOUT_US - 10000);
	ck_assert_uint_eq(rig->server.closed, 0);
	expect_closed(_i ? LEG_CLOSE_SHUTDOWN : LEG_CLOSE_REPLY_STALLED);
}
END_TEST

/* What is lent then goes with it: the bench looks for what is left. */
START_TEST(a_connection_can_close_with_exposed_replies)
{
	lent_reopen(&(struct sim_faults){.async_unbind = _i & 1});
	call_lent(63, 5000);
	call_lent(64, 5000);
	if (_i & 2)
		leg_close(rig->server.leg, LEG_CLOSE_LOCAL);
	else
		fabric_ep_close(raw->ep);
	expect_closed(_i & 2 ? LEG_CLOSE_LOCAL : LEG_CLOSE_PEER);
}
END_TEST

/* The client is done with the XID and uses it, while the device still unbinds the key. */
START_TEST(keys_that_die_slowly_hold_memory_and_nothing_else)
{
	bool waited = false;

	lent_reopen(&(struct sim_faults){.async_unbind = true, .max_delay_us = 100000, .seed = 5});
	raw->step_us = S;
	for (uint32_t i = 0; i < 20; i++) {
		call_lent(65, 5000);
		expect_lent(65, 5000);
		post_done(65, 32);
		while (rig->server.counters.dones_received <= i)
			rig_run_for(rig, 100);
		waited |= rig->budget.account.used_bytes > 0;
	}
	ck_assert(waited);
	rig_run(rig);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	expect_alive();
}
END_TEST

/* Keys that are being unbound hold nobody up who drains. */
START_TEST(a_leg_may_end_while_keys_are_unbound)
{
	lent_reopen(&(struct sim_faults){
		.async_unbind = true, .max_delay_us = 100000, .seed = (uint64_t)_i + 1});
	raw->step_us = S;
	call_lent(66, 5000);
	post_done(66, 32);
	while (rig->server.counters.dones_received < 1)
		rig_run_for(rig, 100);
	if (_i & 1)
		leg_drain(rig->server.leg);
	else
		leg_close(rig->server.leg, LEG_CLOSE_LOCAL);
	expect_closed(_i & 1 ? LEG_CLOSE_SHUTDOWN : LEG_CLOSE_LOCAL);
}
END_TEST

START_TEST(where_a_key_is_missing_the_call_gets_err_chunk)
{
	rig_end(rig);
	lent_rig(&(struct sim_faults){.fail_bind = (unsigned)_i, .async_unbind = _i == 3});
	rig->server.config.max_segment_bytes = 2000;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	begin(67, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 5000);
	raw_expect_error(raw, 67, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.replies_lent, 0);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	call_lent(67, 5000);
	expect_lent(67, 5000);
	send_done(67);
	expect_alive();
}
END_TEST

/* Wherever the network breaks, nothing is left over. */
START_TEST(a_connection_that_breaks_anywhere_leaves_nothing)
{
	rig_end(rig);
	lent_rig(&(struct sim_faults){.async_unbind = _i & 1,
				      .max_delay_us = 5000,
				      .seed = (uint64_t)_i + 1,
				      .cut_at_step = (unsigned)_i + 1});
	rig->server.config.done_policy = _i & 2 ? DONE_POLICY_WITHDRAW : DONE_POLICY_CLOSE;
	raw = raw_new(rig, pd_4096_inv, sizeof(pd_4096_inv));
	raw_connect(raw);
	for (uint32_t xid = 1; xid <= 6; xid++) {
		raw_post_call(raw, xid, RIG_CALL_MIN, 5000);
		rig_run_for(rig, HOSTILE_STEP);
		post_done(xid / 2 + 1, 32);
		rig_run_for(rig, xid * 1000);
	}
	rig_run_for(rig, TIMEOUT_US);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responder_lent_ends");
	TCase *tc = tcase_create("open");
	TCase *closed = tcase_create("set-up");

	tcase_add_checked_fixture(tc, lent_setup, teardown);
	tcase_add_checked_fixture(closed, lent_setup_closed, teardown);
	tcase_add_test(tc, without_done_the_connection_closes_in_time);
	tcase_add_test(tc, each_reply_has_its_own_time);
	tcase_add_test(tc, done_in_time_ends_the_limit);
	tcase_add_test(closed, or_its_memory_is_taken_back_alone);
	tcase_add_test(tc, a_leg_that_drains_waits_for_done);
	tcase_add_loop_test(closed, a_leg_that_drains_waits_no_longer_than_for_that, 0, 2);
	tcase_add_loop_test(closed, a_connection_can_close_with_exposed_replies, 0, 4);
	tcase_add_test(closed, keys_that_die_slowly_hold_memory_and_nothing_else);
	tcase_add_loop_test(closed, a_leg_may_end_while_keys_are_unbound, 0, 8);
	tcase_add_loop_test(closed, where_a_key_is_missing_the_call_gets_err_chunk, 1, 4);
	tcase_add_loop_test(closed, a_connection_that_breaks_anywhere_leaves_nothing, 0, 120);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, closed);
	return test_main(suite);
}

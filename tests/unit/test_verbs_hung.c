// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests a fake device that hangs in one call: its connection waits for the call, and the loop keeps
 * running.
 */
#include <errno.h>

#include "fabric/verbs/mw_detect.h"
#include "fabric/verbs/verbs_ep.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"
#include "tests/unit/verbs_scene.h"

#define PATIENCE_S 20

/* The loop that runs here is not the one that the call blocks. */
static void wait_until_blocked(void)
{
	struct time_limit limit;

	time_limit_begin(&limit, PATIENCE_S);
	while (!fake.blocked && !time_limit_passed(&limit))
		fake_loop_run(scene.loop);
	ck_assert(fake.blocked);
}

/* A timer of the loop fires meanwhile: what a watchdog looks for. */
static void loop_turns(void)
{
	fake_loop_advance(scene.loop, 60 * (uint64_t)SECOND);
	ck_assert(fake.blocked);
}

/* As far as the device lets it. */
static void ask(void)
{
	ck_assert_int_eq(fabric_connect(scene.fabric, (struct sockaddr *)&scene.addr, &scene.params,
					&scene_events, NULL, &scene.ep),
			 0);
	scene_event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	if (!fake.blocked)
		scene_event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

/* From where ask() stopped. */
static void go_on_asking(void)
{
	if (!fake.ninline)
		scene_event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	scene_answered();
}

static void request(void)
{
	verbs_fake_request();
	fake_loop_run(scene.loop);
}

static const enum verbs_fake_call set_up_calls[] = {VERBS_FAKE_QUERY_DEVICE, VERBS_FAKE_ALLOC_PD,
						    VERBS_FAKE_CREATE_CQ,    VERBS_FAKE_CREATE_QP,
						    VERBS_FAKE_REG_MR,       VERBS_FAKE_MODIFY_QP};

/* Either end. */
START_TEST(a_set_up_waits_for_a_call_that_hangs)
{
	bool accepts = _i % 2;

	scene_begin(IB, 0);
	scene.params.recv_count = scene.params.recv_max = 8;
	fake.blocks = set_up_calls[_i / 2];
	if (accepts)
		request();
	else
		ask();
	if (accepts && !fake.blocked)
		ck_assert_int_eq(fabric_ep_accept(scene.ep, &scene.params), 0);
	wait_until_blocked();
	ck_assert_uint_eq(scene.closed, 0);
	verbs_fake_release();
	fake_loop_run(scene.loop);
	if (accepts && fake.conn.qp_num == 0) {
		ck_assert_uint_eq(scene.requested, 1);
		ck_assert_int_eq(fabric_ep_accept(scene.ep, &scene.params), 0);
		fake_loop_run(scene.loop);
	} else if (!accepts) {
		go_on_asking();
	}
	if (accepts)
		scene_event(RDMA_CM_EVENT_ESTABLISHED, 0);
	ck_assert_uint_eq(scene.established, 1);
	scene_ended();
}
END_TEST

/* Decisions made while a call hangs are executed when it has returned. */
START_TEST(a_set_up_may_end_while_a_call_hangs)
{
	scene_begin(IB, 0);
	fake.blocks = set_up_calls[_i / 3];
	if (fake.blocks == VERBS_FAKE_MODIFY_QP || fake.blocks == VERBS_FAKE_REG_MR)
		fake.blocks = VERBS_FAKE_CREATE_QP;
	ask();
	wait_until_blocked();
	switch (_i % 3) {
	case 0:
		fabric_ep_close(scene.ep);
		break;
	case 1:
		scene_event(RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
		break;
	default:
		fabric_ep_abort(scene.ep);
	}
	loop_turns();
	ck_assert_uint_eq(scene.closed, 0);
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, _i % 3 == 1 ? FABRIC_CLOSE_LOST : FABRIC_CLOSE_LOCAL);
	scene_end();
}
END_TEST

static const enum verbs_fake_call end_calls[] = {
	VERBS_FAKE_DESTROY_QP, VERBS_FAKE_DESTROY_CQ, VERBS_FAKE_DEREG_MR,
	VERBS_FAKE_DEALLOC_PD, VERBS_FAKE_DEALLOC_MW, VERBS_FAKE_DESTROY_ID,
};

/* Nothing is given back before the device has let go of it. */
START_TEST(an_end_waits_for_a_call_that_hangs)
{
	struct buf *buf;

	scene_begin(IB, WINDOWS);
	scene_connected();
	buf = buf_get(scene.pool, 100);
	ck_assert_int_eq(scene_lend(0, buf), 0);
	scene_post(0, buf);
	fake_loop_run(scene.loop);
	fake.blocks = end_calls[_i % ARRAY_SIZE(end_calls)];
	verbs_fake_event(_i < (int)ARRAY_SIZE(end_calls) ? RDMA_CM_EVENT_DISCONNECTED
							 : RDMA_CM_EVENT_DEVICE_REMOVAL,
			 0);
	wait_until_blocked();
	ck_assert_uint_eq(scene.ending, 1);
	if (fake.blocks == VERBS_FAKE_DESTROY_QP) {
		ck_assert_uint_eq(scene.dones, 0);
		ck_assert(!fabric_key_unbind(&scene.keys[0]));
	}
	loop_turns();
	ck_assert_uint_eq(scene.closed, 0);
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_uint_eq(scene.dones, 1);
	ck_assert(fabric_key_unbind(&scene.keys[0]));
	buf_put(buf);
	scene_end();
}
END_TEST

/*
 * The search for ends must not wait for the device; messages that had arrived are delivered before.
 */
START_TEST(a_close_is_reported_before_the_device_has_finished)
{
	const bool aside = _i == 1;

	scene_begin(aside ? IWARP : IB, 0);
	scene_connected();
	fake.blocks = aside ? VERBS_FAKE_MODIFY_QP : VERBS_FAKE_DESTROY_QP;
	if (aside) {
		verbs_fake_async(IBV_EVENT_QP_FATAL);
		wait_until_blocked();
	}
	verbs_fake_done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 10);
	verbs_fake_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	wait_until_blocked();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.recvs, 1);
	ck_assert_uint_eq(scene.ending, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_PEER);
	ck_assert_uint_eq(scene.closed, 0);
	fabric_ep_close(scene.ep);
	fabric_ep_abort(scene.ep);
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.ending, 1);
	scene_end();
}
END_TEST

/* Nor is an end reported that the user asked for, or that of a connection that never existed. */
START_TEST(a_known_close_is_not_reported_early)
{
	scene_begin(IB, 0);
	if (_i == 0) {
		scene_ask();
		scene_event(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	} else {
		scene_connected();
		if (_i == 1)
			fabric_ep_close(scene.ep);
		else
			fabric_ep_abort(scene.ep);
		scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	}
	ck_assert_uint_eq(scene.ending, 0);
	scene_end();
}
END_TEST

/* What the manager says of it may come first. */
START_TEST(a_connect_that_hangs_is_waited_for)
{
	const bool answered = _i < 2;

	scene_begin(_i % 2 ? IWARP : IB, 0);
	fake.blocks = VERBS_FAKE_CONNECT;
	ask();
	wait_until_blocked();
	verbs_fake_event(!answered ? RDMA_CM_EVENT_REJECTED
			 : _i % 2  ? RDMA_CM_EVENT_ESTABLISHED
				   : RDMA_CM_EVENT_CONNECT_RESPONSE,
			 0);
	fake_loop_advance(scene.loop, SECOND);
	ck_assert(fake.blocked);
	ck_assert_uint_eq(scene.closed, 0);
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.established, answered);
	ck_assert_uint_eq(scene.closed, !answered);
	if (answered)
		scene_ended();
	else
		scene_end();
}
END_TEST

/* Nothing of the device is watched by then: its last connection has let go of it. */
START_TEST(a_device_can_be_removed_while_its_last_connection_is_destroyed)
{
	scene_begin(IB, 0);
	scene_connected();
	fake.blocks = VERBS_FAKE_DESTROY_ID;
	verbs_fake_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	wait_until_blocked();
	scene_event(RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	ck_assert_uint_eq(scene.closed, 0);
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_PEER);
	scene_end();
}
END_TEST

/* More than what is carried inline. */
static void post(unsigned i, struct buf *buf)
{
	scene.send_wr[i] = (struct fabric_wr){
		.op = FABRIC_SEND, .nsge = 1, .sge = {{buf, buf->mem, 100}}, .done = scene_on_done};
	ck_assert_int_eq(fabric_post(scene.ep, &scene.send_wr[i]), 0);
}

/* In order, and what was posted behind it too. */
START_TEST(work_waits_for_its_memory_to_be_registered)
{
	struct buf *known, *unknown;

	scene_begin(IB, WINDOWS);
	scene_connected();
	known = buf_get(scene.pool, 1024);
	unknown = buf_get(scene.pool, 60000);
	post(0, known);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.nsends, 1);
	fake.blocks = VERBS_FAKE_REG_MR;
	post(1, unknown);
	post(2, known);
	fabric_recv_post(scene.ep, 1, 1024);
	wait_until_blocked();
	loop_turns();
	ck_assert_uint_eq(fake.nsends, 1);
	ck_assert_uint_eq(fake.nrecvs, 3);
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.nsends, 3);
	ck_assert_uint_eq(fake.sends[1].addr, (uintptr_t)unknown->mem);
	ck_assert_uint_eq(fake.sends[2].addr, (uintptr_t)known->mem);
	ck_assert_uint_eq(fake.sends[1].wr.wr_id, SEQ(1));
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert_uint_eq(scene.dones, 3);
	buf_put(known);
	buf_put(unknown);
	scene_end();
}
END_TEST

/* No Send that may tell the peer of receives passes them. */
START_TEST(a_send_stays_behind_receives_whose_memory_is_being_registered)
{
	struct buf *buf;

	scene_begin(IB, WINDOWS);
	scene_connected();
	buf = buf_get(scene.pool, 1024);
	fake.blocks = VERBS_FAKE_REG_MR;
	fabric_recv_post(scene.ep, 1, 60000);
	post(0, buf);
	wait_until_blocked();
	ck_assert_uint_eq(fake.nrecvs, 2);
	ck_assert_uint_eq(fake.nsends, 0);
	if (_i)
		fake.register_errno = ENOMEM;
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.nrecvs, _i ? 2 : 3);
	ck_assert_uint_eq(fake.nsends, _i ? 0 : 1);
	ck_assert_uint_eq(scene.closed, _i);
	if (_i)
		ck_assert_int_eq(scene.why, FABRIC_CLOSE_RESOURCES);
	else
		scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	buf_put(buf);
	scene_end();
}
END_TEST

/* Its peer has the connection by then, and so gets no rejection. */
START_TEST(an_accept_that_comes_back_too_late_is_not_taken_back)
{
	scene_begin(_i ? IWARP : IB, 0);
	request();
	fake.blocks = VERBS_FAKE_ACCEPT;
	ck_assert_int_eq(fabric_ep_accept(scene.ep, &scene.params), 0);
	wait_until_blocked();
	fabric_ep_close(scene.ep);
	loop_turns();
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_uint_eq(fake.rejects, 0);
	ck_assert_uint_eq(fake.disconnects, !_i);
	scene_end();
}
END_TEST

/* What says that the peer is there may come before the accept has come back. */
START_TEST(a_peer_may_confirm_before_its_accept_has_come_back)
{
	scene_begin(IB, 0);
	request();
	fake.blocks = VERBS_FAKE_ACCEPT;
	ck_assert_int_eq(fabric_ep_accept(scene.ep, &scene.params), 0);
	wait_until_blocked();
	if (_i == 0)
		scene_event(RDMA_CM_EVENT_ESTABLISHED, 0);
	else if (_i == 1)
		scene_done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 10);
	else
		verbs_fake_async(IBV_EVENT_COMM_EST);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.established, 0);
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.notifies, _i > 0);
	if (_i == 2)
		scene_event(RDMA_CM_EVENT_ESTABLISHED, 0);
	ck_assert_uint_eq(scene.established, 1);
	ck_assert_uint_eq(scene.recvs, _i == 1);
	scene_ended();
}
END_TEST

static struct ibv_context other_device, hung_device;

static void *try_hung_device(void *arg)
{
	const struct ibv_device_attr attr = {.device_cap_flags = WINDOWS};

	return verbs_mw_detect(&hung_device, &attr, arg) ? arg : NULL;
}

/* Of another device, by a thread of that. */
START_TEST(a_device_is_tried_while_the_trial_of_another_hangs)
{
	const struct ibv_device_attr attr = {.device_cap_flags = WINDOWS};
	struct verbs_config config = scene_config();
	pthread_t thread;

	scene_begin(IB, WINDOWS);
	scene_connected();
	other_device = hung_device = *verbs_ep_of(scene.ep)->device->context;
	fake.blocks = VERBS_FAKE_ALLOC_PD;
	ck_assert_int_eq(pthread_create(&thread, NULL, try_hung_device, &config), 0);
	wait_until_blocked();
	fake.blocks = VERBS_FAKE_NO_CALL;
	ck_assert(verbs_mw_detect(&other_device, &attr, &config));
	ck_assert(fake.blocked);
	verbs_fake_release();
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	scene_ended();
}
END_TEST

/* Where connections come all the time there is always one that holds the device. */
START_TEST(a_device_that_could_not_be_opened_is_opened_for_the_next)
{
	struct verbs_config config = scene_config();
	struct fabric_ep *first, *second;
	struct time_limit limit;

	config.pd_scope = VERBS_PD_WORKER;
	scene_begin_as(IB, 0, &config);
	fake.blocks = VERBS_FAKE_QUERY_DEVICE;
	ask();
	wait_until_blocked();
	first = scene.ep;
	ck_assert_int_eq(fabric_connect(scene.fabric, (struct sockaddr *)&scene.addr, &scene.params,
					&scene_events, NULL, &second),
			 0);
	scene_event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	fake.no_pd = true;
	sem_post(&fake.go);
	time_limit_begin(&limit, PATIENCE_S);
	while (!verbs_state_over(verbs_ep_of(first)->state) && !time_limit_passed(&limit))
		fake_loop_run(scene.loop);
	wait_until_blocked();
	fake.no_pd = false;
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_RESOURCES);
	scene.closed = 0;
	scene.ep = second;
	fabric_ep_free(first);
	scene_event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	scene_answered();
	ck_assert_uint_eq(scene.established, 1);
	scene_ended();
}
END_TEST

/* However many of other connections stand before it. */
START_TEST(the_events_before_an_end_are_read_when_it_is_looked_for)
{
	scene_begin(_i ? IWARP : IB, 0);
	scene_connected();
	for (unsigned i = 0; i < 15; i++)
		verbs_fake_event(RDMA_CM_EVENT_ESTABLISHED, 0);
	verbs_fake_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	fabric_ep_check_disconnect(scene.ep);
	ck_assert_uint_eq(scene.ending, 0);
	/* In this loop iteration the end is read, and in the next it is reported. */
	(void)loop_run_tasks(scene.loop);
	(void)loop_run_tasks(scene.loop);
	ck_assert_uint_eq(scene.ending, 1);
	fake_loop_run(scene.loop);
	scene_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_hung");
	TCase *tc = tcase_create("verbs_hung");

	tcase_add_loop_test(tc, a_set_up_waits_for_a_call_that_hangs, 0,
			    2 * ARRAY_SIZE(set_up_calls));
	tcase_add_loop_test(tc, a_set_up_may_end_while_a_call_hangs, 0,
			    3 * ARRAY_SIZE(set_up_calls));
	tcase_add_loop_test(tc, an_end_waits_for_a_call_that_hangs, 0, 2 * ARRAY_SIZE(end_calls));
	tcase_add_loop_test(tc, a_close_is_reported_before_the_device_has_finished, 0, 2);
	tcase_add_loop_test(tc, a_known_close_is_not_reported_early, 0, 3);
	tcase_add_loop_test(tc, a_connect_that_hangs_is_waited_for, 0, 4);
	tcase_add_test(tc, a_device_can_be_removed_while_its_last_connection_is_destroyed);
	tcase_add_test(tc, work_waits_for_its_memory_to_be_registered);
	tcase_add_loop_test(tc, a_send_stays_behind_receives_whose_memory_is_being_registered, 0,
			    2);
	tcase_add_loop_test(tc, an_accept_that_comes_back_too_late_is_not_taken_back, 0, 2);
	tcase_add_loop_test(tc, a_peer_may_confirm_before_its_accept_has_come_back, 0, 3);
	tcase_add_test(tc, a_device_is_tried_while_the_trial_of_another_hangs);
	tcase_add_test(tc, a_device_that_could_not_be_opened_is_opened_for_the_next);
	tcase_add_loop_test(tc, the_events_before_an_end_are_read_when_it_is_looked_for, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

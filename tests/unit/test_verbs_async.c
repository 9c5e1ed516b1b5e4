// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests asynchronous events of a fake device: which thread reads them, and their effect on the
 * named connections.
 */
#include <malloc.h>
#include <string.h>

#include "fabric/verbs/async_event.h"
#include "fabric/verbs/verbs.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"
#include "tests/unit/verbs_scene.h"

#define PATIENCE_S 2

START_TEST(a_completion_queue_that_fails_ends_its_connection)
{
	scene_begin(IB, 0);
	scene_connected();
	verbs_fake_async(IBV_EVENT_CQ_ERR);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_LOST);
	ck_assert_str_eq(scene.detail, "the completion queue failed");
	ck_assert_uint_eq(fake.asyncs_acked, 1);
	scene_end();
}
END_TEST

/* siw leaves it as it is. */
START_TEST(over_iwarp_a_queue_pair_that_fails_is_put_into_error)
{
	static const enum ibv_event_type types[] = {IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR,
						    IBV_EVENT_QP_ACCESS_ERR};

	scene_begin(_i < 3 ? IWARP : IB, 0);
	scene_connected();
	verbs_fake_async(types[_i % 3]);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.asyncs_acked, 1);
	ck_assert_uint_eq(fake.qp_errors, _i < 3);
	ck_assert_uint_eq(scene.closed, 0);
	scene_ended();
}
END_TEST

START_TEST(many_events_of_one_connection_are_reported_once)
{
	scene_begin(IWARP, 0);
	scene_connected();
	for (unsigned i = 0; i < 10; i++)
		verbs_fake_async(i == 5 ? IBV_EVENT_CQ_ERR : IBV_EVENT_QP_FATAL);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.asyncs_acked, 10);
	ck_assert_uint_le(fake.qp_errors, 1);
	ck_assert_uint_eq(scene.closed, 1);
	scene_end();
}
END_TEST

/*
 * libibverbs may not wait then until events of a queue are acknowledged, so none is in anybody's
 * hand.
 */
START_TEST(no_event_is_read_while_a_queue_is_destroyed)
{
	struct verbs_device *device;

	scene_begin(IWARP, 0);
	scene_connected();
	device = verbs_ep_of(scene.ep)->device;
	verbs_async_block(device);
	verbs_fake_async(IBV_EVENT_QP_FATAL);
	for (unsigned i = 0; i < 3; i++)
		fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.asyncs_acked, 0);
	verbs_async_unblock(device);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.asyncs_acked, 1);
	ck_assert_uint_eq(fake.qp_errors, 1);
	scene_ended();
}
END_TEST

/* ---- two workers on one device ---- */

static struct rdma_cm_id *id1;
static struct loop *loop2;
static struct fabric *fabric2;
static struct fabric_ep *ep2;

static uint64_t events_read(const struct fabric *fabric)
{
	return ((const struct verbs_counters *)fabric->counters)->async_events;
}

static void event2(enum rdma_cm_event_type type)
{
	verbs_fake_event(type, 0);
	fake_loop_run(loop2);
}

/* The second one's connection is the last that was made. */
static void two_workers(void)
{
	struct verbs_config config = {.setup_timeout_us = SETUP_S * SECOND};

	scene_begin(IB, 0);
	scene_connected();
	id1 = fake.id;
	loop2 = fake_loop_new();
	fabric2 = verbs_fabric_new(loop2, scene.pool, &config);
	scene_await(loop2, fabric2);
	ck_assert_int_eq(fabric_connect(fabric2, (struct sockaddr *)&scene.addr, &scene.params,
					&scene_events, NULL, &ep2),
			 0);
	event2(RDMA_CM_EVENT_ADDR_RESOLVED);
	event2(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* The first one's peer disconnects. */
static void end1(void)
{
	fake.id = id1;
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
}

static void end2(void)
{
	fabric_ep_free(ep2);
	fabric_free(fabric2);
	fake_loop_free(loop2);
	scene.closed--;
}

START_TEST(one_worker_reads_and_the_owner_acts)
{
	two_workers();
	event2(RDMA_CM_EVENT_CONNECT_RESPONSE);
	verbs_fake_async(IBV_EVENT_CQ_ERR);
	fake_loop_run(loop2);
	ck_assert_uint_eq(fake.asyncs_acked, 0);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.asyncs_acked, 1);
	ck_assert_uint_eq(events_read(scene.fabric), 1);
	ck_assert_uint_eq(scene.closed, 0);
	fake_loop_run(loop2);
	ck_assert_uint_eq(scene.closed, 1);
	end2();
	end1();
	scene_end();
}
END_TEST

/* The event that was read comes too late. */
START_TEST(an_endpoint_that_is_freed_meanwhile_is_not_touched)
{
	mallopt(M_PERTURB, 0x5a);
	two_workers();
	verbs_fake_async(IBV_EVENT_CQ_ERR);
	verbs_fake_async(IBV_EVENT_QP_FATAL);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.asyncs_acked, 2);
	fabric_ep_close(ep2);
	(void)loop_run_tasks(loop2);
	fake_loop_run(loop2);
	ck_assert_uint_eq(scene.closed, 1);
	fabric_ep_free(ep2);
	ep2 = NULL;
	fake_loop_run(loop2);
	end2();
	end1();
	scene_end();
}
END_TEST

START_TEST(another_worker_takes_over)
{
	two_workers();
	event2(RDMA_CM_EVENT_CONNECT_RESPONSE);
	end1();
	ck_assert_uint_eq(scene.closed, 1);
	verbs_fake_async(IBV_EVENT_CQ_ERR);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.asyncs_acked, 0);
	fake_loop_run(loop2);
	ck_assert_uint_eq(events_read(fabric2), 1);
	ck_assert_uint_eq(scene.closed, 2);
	end2();
	scene_end();
}
END_TEST

/*
 * Nothing completes any more: each worker closes its connections there, once, whether or not the
 * connection manager reports it, too.
 */
START_TEST(all_workers_end_their_connections_on_a_device_that_fails)
{
	const struct verbs_counters *counters, *counters2;

	two_workers();
	event2(RDMA_CM_EVENT_CONNECT_RESPONSE);
	counters = scene.fabric->counters;
	counters2 = fabric2->counters;
	verbs_fake_async(IBV_EVENT_DEVICE_FATAL);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(fake.asyncs_acked, 1);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_str_eq(scene.detail, "the device failed");
	if (_i)
		event2(RDMA_CM_EVENT_DEVICE_REMOVAL);
	else
		fake_loop_run(loop2);
	ck_assert_uint_eq(scene.closed, 2);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_LOST);
	if (!_i)
		ck_assert_str_eq(scene.detail, "the device failed");
	ck_assert_uint_eq(counters->device_removals, 1);
	ck_assert_uint_eq(counters2->device_removals, 1);
	ck_assert_uint_eq(fake.qps, 0);
	end2();
	scene_end();
}
END_TEST

/* ---- two devices ---- */

static void run_until(bool (*holds)(void))
{
	struct time_limit limit;

	time_limit_begin(&limit, PATIENCE_S);
	while (!holds() && !time_limit_passed(&limit))
		fake_loop_run(scene.loop);
	ck_assert(holds());
}

static bool is_blocked(void)
{
	return fake.blocked;
}

static bool is_closed(void)
{
	return scene.closed > 0;
}

/* However long that takes. */
START_TEST(events_of_a_device_are_read_while_a_queue_of_another_is_destroyed)
{
	scene_begin(IB, 0);
	scene_connected();
	id1 = fake.id;
	fake.other_device = true;
	ck_assert_int_eq(fabric_connect(scene.fabric, (struct sockaddr *)&scene.addr, &scene.params,
					&scene_events, NULL, &ep2),
			 0);
	scene_event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	scene_event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	scene_answered();
	ck_assert_uint_eq(scene.established, 2);
	fake.blocks = VERBS_FAKE_DESTROY_QP;
	fake.id = id1;
	verbs_fake_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	run_until(is_blocked);
	fake.blocks = VERBS_FAKE_NO_CALL;
	verbs_fake_async(IBV_EVENT_DEVICE_FATAL);
	run_until(is_closed);
	ck_assert(fake.blocked);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_str_eq(scene.detail, "the device failed");
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 2);
	fabric_ep_free(ep2);
	scene.closed--;
	scene_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_async");
	TCase *tc;

	tc = tcase_create("one worker");
	tcase_add_test(tc, a_completion_queue_that_fails_ends_its_connection);
	tcase_add_loop_test(tc, over_iwarp_a_queue_pair_that_fails_is_put_into_error, 0, 6);
	tcase_add_test(tc, many_events_of_one_connection_are_reported_once);
	tcase_add_test(tc, no_event_is_read_while_a_queue_is_destroyed);
	suite_add_tcase(suite, tc);

	tc = tcase_create("two workers");
	tcase_add_test(tc, one_worker_reads_and_the_owner_acts);
	tcase_add_test(tc, an_endpoint_that_is_freed_meanwhile_is_not_touched);
	tcase_add_test(tc, another_worker_takes_over);
	tcase_add_loop_test(tc, all_workers_end_their_connections_on_a_device_that_fails, 0, 2);
	suite_add_tcase(suite, tc);

	tc = tcase_create("two devices");
	tcase_add_test(tc, events_of_a_device_are_read_while_a_queue_of_another_is_destroyed);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

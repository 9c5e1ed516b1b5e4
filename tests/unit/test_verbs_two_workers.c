// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests two workers on a fake device that has few memory windows: which ones a worker keeps, and
 * for which the other waits.
 */
#include <errno.h>

#include "fabric/verbs/async_event.h"
#include "fabric/verbs/pd.h"
#include "fabric/verbs/verbs.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"
#include "tests/unit/verbs_scene.h"

#define PATIENCE_S 20

static struct loop *loop2;
static struct fabric *fabric2;
static struct fabric_ep *ep2;
static struct fabric_key key2;
static struct rdma_cm_id *id2;

static void on_unbound2(struct fabric_key *key)
{
}

static int lend2(struct buf *buf)
{
	key2 = (struct fabric_key){.buf = buf,
				   .mem = buf->mem,
				   .len_bytes = 100,
				   .ready_bytes = 100,
				   .rights = FABRIC_REMOTE_READ,
				   .unbound = on_unbound2};
	return fabric_key_bind(ep2, &key2);
}

static void event2(enum rdma_cm_event_type type)
{
	verbs_fake_event(type, 0);
	fake_loop_run(loop2);
}

static void take_back(void)
{
	ck_assert(!fabric_key_unbind(&scene.keys[0]));
	fake_loop_run(scene.loop);
	scene_done(SEQ(1), IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(scene.unbound, 1);
}

/*
 * The device has one window, which the first worker has used, and has back if @idle. The second
 * wants one.
 */
static struct buf *two_workers(bool idle)
{
	struct verbs_config config = scene_config();
	struct buf *buf;

	scene_begin(IB, WINDOWS);
	fake.max_windows = 1;
	loop2 = fake_loop_new();
	fabric2 = verbs_fabric_new(loop2, scene.pool, &config);
	scene_await(loop2, fabric2);
	ck_assert_int_eq(fabric_connect(fabric2, (struct sockaddr *)&scene.addr, &scene.params,
					&scene_events, NULL, &ep2),
			 0);
	event2(RDMA_CM_EVENT_ADDR_RESOLVED);
	event2(RDMA_CM_EVENT_ROUTE_RESOLVED);
	event2(RDMA_CM_EVENT_CONNECT_RESPONSE);
	id2 = fake.id;
	/* It was allocated ahead. */
	ck_assert(verbs_pds_free_windows(verbs_ep_of(ep2)->device));
	fake_loop_run(loop2);
	scene.established = 0;
	scene_connected();
	buf = buf_get(scene.pool, 100);
	ck_assert_int_eq(scene_lend(0, buf), 0);
	fake_loop_run(scene.loop);
	if (idle)
		take_back();
	ck_assert_uint_eq(fake.windows, 1);
	ck_assert_int_eq(lend2(buf), -EAGAIN);
	ck_assert(fabric_key_await(ep2, 0));
	fake_loop_run(loop2);
	ck_assert_uint_eq(scene.keys_free, 0);
	fake_loop_run(scene.loop);
	return buf;
}

static void end_two(struct buf *buf)
{
	ck_assert_uint_eq(fake.windows, 0);
	fake_loop_run(loop2);
	ck_assert_uint_eq(scene.keys_free, 1);
	/* It is allocated on a helper thread. */
	ck_assert_int_eq(lend2(buf), -EAGAIN);
	ck_assert(fabric_key_await(ep2, 0));
	fake_loop_run(loop2);
	ck_assert_uint_eq(scene.keys_free, 2);
	ck_assert_int_eq(lend2(buf), 0);
	fake_loop_run(loop2);
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	scene.closed = 0;
	fake.id = id2;
	event2(RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert(fabric_key_unbind(&key2));
	fabric_ep_free(ep2);
	fabric_free(fabric2);
	fake_loop_free(loop2);
	buf_put(buf);
	scene_end();
}

/* Without a timer's help. */
START_TEST(a_window_unused_by_another_worker_is_given)
{
	end_two(two_workers(true));
}
END_TEST

START_TEST(a_window_used_by_another_worker_is_given_when_returned)
{
	struct buf *buf = two_workers(false);

	fake_loop_run(loop2);
	ck_assert_uint_eq(scene.keys_free, 0);
	take_back();
	end_two(buf);
}
END_TEST

/* Windows that are being allocated are waited for, and no other must free its retained ones. */
START_TEST(a_worker_keeps_its_windows_while_the_device_has_more)
{
	struct buf *buf = two_workers(true);
	const struct verbs_device *device = verbs_ep_of(scene.ep)->device;
	unsigned kept;

	fake.max_windows = 0;
	fake_loop_advance(scene.loop, VERBS_KEY_RETRY_US);
	ck_assert_int_eq(scene_lend(0, buf), -EAGAIN);
	fake_loop_run(scene.loop);
	ck_assert_int_eq(scene_lend(0, buf), 0);
	fake_loop_run(scene.loop);
	kept = device->shared->nfree_windows;
	ck_assert_uint_gt(kept, 0);
	fake_loop_run(loop2);
	(void)verbs_pds_free_windows(verbs_ep_of(ep2)->device);
	fake_loop_run(loop2);
	scene.keys_free = 0;
	ck_assert_int_eq(lend2(buf), -EAGAIN);
	ck_assert(fabric_key_await(ep2, 0));
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(device->shared->nfree_windows, kept);
	fake_loop_run(loop2);
	ck_assert_uint_eq(scene.keys_free, 1);
	ck_assert_int_eq(lend2(buf), 0);
	fake_loop_run(loop2);
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert(fabric_key_unbind(&scene.keys[0]));
	scene.closed = 0;
	fake.id = id2;
	event2(RDMA_CM_EVENT_DISCONNECTED);
	ck_assert(fabric_key_unbind(&key2));
	fabric_ep_free(ep2);
	fabric_free(fabric2);
	fake_loop_free(loop2);
	buf_put(buf);
	scene_end();
}
END_TEST

/* Even if Calls of its own wait. */
START_TEST(a_worker_that_gave_a_window_does_not_take_it_back_immediately)
{
	struct buf *buf = two_workers(false);
	struct rdma_cm_id *id1;

	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	ck_assert(fabric_key_await(scene.ep, 0));
	fake_loop_run(scene.loop);
	ck_assert(!fabric_key_unbind(&scene.keys[0]));
	fake_loop_run(scene.loop);
	verbs_fake_done(SEQ(1), IBV_WC_SUCCESS, 0);
	/* As soon as it is woken, before the other worker is. */
	while (!scene.unbound || !scene.keys_free)
		fake_loop_run(scene.loop);
	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	ck_assert(fabric_key_await(scene.ep, 0));
	fake_loop_run(scene.loop);
	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	ck_assert(fabric_key_await(scene.ep, 0));
	fake_loop_run(loop2);
	ck_assert_int_eq(lend2(buf), -EAGAIN);
	fake_loop_run(loop2);
	ck_assert_int_eq(lend2(buf), 0);
	fake_loop_run(loop2);
	/* Its turn comes again. */
	id1 = fake.id;
	fake.id = id2;
	event2(RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert(fabric_key_unbind(&key2));
	fabric_ep_free(ep2);
	fabric_free(fabric2);
	fake_loop_free(loop2);
	scene.closed = 0;
	fake_loop_advance(scene.loop, VERBS_KEY_RETRY_US);
	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	fake_loop_run(scene.loop);
	ck_assert_int_eq(scene_lend(1, buf), 0);
	fake_loop_run(scene.loop);
	fake.id = id1;
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert(fabric_key_unbind(&scene.keys[1]));
	buf_put(buf);
	scene_end();
}
END_TEST

static void wait_until_blocked(unsigned registered)
{
	struct time_limit limit;

	time_limit_begin(&limit, PATIENCE_S);
	while ((fake.registered < registered || !fake.blocked) && !time_limit_passed(&limit))
		fake_loop_run(scene.loop);
	ck_assert(fake.blocked);
	fake_loop_run(scene.loop);
}

static void query_again(void)
{
	ck_assert(fabric_key_await(ep2, 0));
	fake_loop_run(loop2);
	fake_loop_run(scene.loop);
}

/* The first worker lets go of its device while it is asked for windows, and asked again. */
START_TEST(a_worker_that_gives_windows_can_end_meanwhile)
{
	struct buf *buf = two_workers(true), *unknown = buf_get(scene.pool, 60000);
	struct verbs_device *device = verbs_ep_of(scene.ep)->device;
	unsigned registered;

	fake_loop_run(loop2);
	ck_assert_int_eq(lend2(buf), -EAGAIN);
	fake_loop_run(loop2);
	ck_assert_int_eq(lend2(buf), 0);
	fake_loop_run(loop2);
	fake.max_windows = 4;
	fake_loop_advance(scene.loop, VERBS_KEY_RETRY_US);
	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	fake_loop_run(scene.loop);
	ck_assert_int_eq(scene_lend(1, buf), 0);
	fake_loop_run(scene.loop);
	/* The device's thread stands before it allocates windows … */
	fake.blocks = VERBS_FAKE_REG_MR;
	scene.send_wr[1] = (struct fabric_wr){.op = FABRIC_SEND,
					      .nsge = 1,
					      .sge = {{unknown, unknown->mem, 100}},
					      .done = scene_on_done};
	ck_assert_int_eq(fabric_post(scene.ep, &scene.send_wr[1]), 0);
	wait_until_blocked(0);
	ck_assert_int_eq(scene_lend(2, buf), 0);
	ck_assert_uint_eq(device->shared->nfree_windows, 1);
	/* … and its only connection ends. */
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	query_again();
	ck_assert(device->yielding);
	fake.max_windows = 5;
	registered = fake.registered;
	fake.blocks = VERBS_FAKE_DESTROY_QP;
	sem_post(&fake.go);
	wait_until_blocked(registered + 1);
	ck_assert_uint_eq(device->shared->nfree_windows, 1);
	query_again();
	ck_assert(device->yield_again);
	verbs_fake_release();
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert(fabric_key_unbind(&scene.keys[1]));
	ck_assert(fabric_key_unbind(&scene.keys[2]));
	scene.closed = 0;
	fake.id = id2;
	event2(RDMA_CM_EVENT_DISCONNECTED);
	ck_assert(fabric_key_unbind(&key2));
	fabric_ep_free(ep2);
	fabric_free(fabric2);
	fake_loop_free(loop2);
	buf_put(unknown);
	buf_put(buf);
	scene_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_two_workers");
	TCase *tc = tcase_create("windows");

	tcase_add_test(tc, a_window_unused_by_another_worker_is_given);
	tcase_add_test(tc, a_window_used_by_another_worker_is_given_when_returned);
	tcase_add_test(tc, a_worker_keeps_its_windows_while_the_device_has_more);
	tcase_add_test(tc, a_worker_that_gave_a_window_does_not_take_it_back_immediately);
	tcase_add_test(tc, a_worker_that_gives_windows_can_end_meanwhile);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

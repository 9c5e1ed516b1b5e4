// SPDX-License-Identifier: BSD-3-Clause
/* Tests which devices expose memory by memory windows: those that report them and allocate one. */
#include <errno.h>
#include <string.h>

#include "fabric/verbs/async_event.h"
#include "fabric/verbs/key.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_scene.h"

#define TYPE_1 IBV_DEVICE_MEM_WINDOW

static const struct {
	unsigned cap_flags;
	int max_mw, alloc_mw_errno;
	bool windows;
	const char *found;
} rows[] = {
	/* mlx5 */
	{TYPE_1 | WINDOWS, 1 << 24, 0, true, "memory windows"},
	/* mlx4 reports no number of them */
	{TYPE_1 | WINDOWS, 0, 0, true, "memory windows"},
	/* bnxt_re reports them, and its library has no function for them */
	{TYPE_1 | WINDOWS, 65536, EOPNOTSUPP, false, "allocates none"},
	/* irdma of the second generation allocates what it does not report */
	{TYPE_1, 65536, 0, false, "reports no memory windows of type 2"},
	/* hns, qedr */
	{0, 0, EOPNOTSUPP, false, "reports no memory windows of type 2"},
};

static void begin(int row)
{
	scene_begin(IB, rows[row].cap_flags);
	fake.max_mw = rows[row].max_mw;
	fake.alloc_mw_errno = rows[row].alloc_mw_errno;
}

START_TEST(memory_is_exposed_by_a_window_if_one_was_allocated)
{
	const struct verbs_counters *counters;
	struct buf *buf;

	begin(_i);
	buf = buf_get(scene.pool, 100);
	scene_connected();
	ck_assert_uint_eq(fake.windows, rows[_i].windows ? VERBS_WINDOWS_EP : 0);
	ck_assert_int_eq(scene_lend(0, buf), 0);
	counters = scene.fabric->counters;
	ck_assert_uint_eq(counters->windows_bound, rows[_i].windows);
	ck_assert_uint_eq(counters->regions_lent, !rows[_i].windows);
	ck_assert_ptr_nonnull(strstr(scene.found, rows[_i].found));
	fake_loop_run(scene.loop);
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert(fabric_key_unbind(&scene.keys[0]));
	buf_put(buf);
	scene_end();
}
END_TEST

/*
 * A device is released with its last connection, but is tried and reported once only. Others are
 * allocated for keys.
 */
START_TEST(a_device_is_tried_once_and_logged_once)
{
	begin(_i);
	for (unsigned i = 0; i < 3; i++) {
		scene_connected();
		scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
		ck_assert_uint_eq(scene.closed, 1);
		ck_assert_uint_eq(scene.founds, 1);
		ck_assert_uint_eq(fake.window_calls,
				  (rows[_i].cap_flags & WINDOWS ? 1 : 0) +
					  (rows[_i].windows ? (i + 1) * VERBS_WINDOWS_EP : 0));
		if (i == 2)
			break;
		fabric_ep_free(scene.ep);
		scene.closed = scene.established = 0;
	}
	scene_end();
}
END_TEST

/* It is tried again, and meanwhile memory is registered. */
START_TEST(a_device_that_has_none_left_is_tried_again)
{
	const struct verbs_counters *counters;
	struct buf *buf;

	scene_begin(IB, WINDOWS);
	buf = buf_get(scene.pool, 100);
	fake.alloc_mw_errno = ENOMEM;
	scene_connected();
	ck_assert_int_eq(scene_lend(0, buf), 0);
	counters = scene.fabric->counters;
	ck_assert_uint_eq(counters->regions_lent, 1);
	ck_assert_ptr_nonnull(strstr(scene.found, "allocates none"));
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert(fabric_key_unbind(&scene.keys[0]));
	fabric_ep_free(scene.ep);
	scene.closed = scene.established = 0;
	fake.alloc_mw_errno = 0;
	scene_connected();
	ck_assert_int_eq(scene_lend(0, buf), 0);
	ck_assert_uint_eq(counters->windows_bound, 1);
	ck_assert_uint_eq(scene.founds, 2);
	fake_loop_run(scene.loop);
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert(fabric_key_unbind(&scene.keys[0]));
	buf_put(buf);
	scene_end();
}
END_TEST

/* ---- a device that has no window left ---- */

static struct buf *begin_with_windows(unsigned max_windows)
{
	scene_begin(IB, WINDOWS);
	fake.max_windows = max_windows;
	scene_connected();
	return buf_get(scene.pool, 100);
}

static void end_with_keys(struct buf *buf, unsigned nkeys)
{
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	for (unsigned i = 0; i < nkeys; i++)
		ck_assert(fabric_key_unbind(&scene.keys[i]));
	buf_put(buf);
	scene_end();
}

START_TEST(a_returned_window_wakes_a_waiter)
{
	struct buf *buf = begin_with_windows(1);

	ck_assert_int_eq(scene_lend(0, buf), 0);
	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	ck_assert(fabric_key_await(scene.ep, 0));
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.keys_free, 0);
	ck_assert(!fabric_key_unbind(&scene.keys[0]));
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.keys_free, 0);
	scene_done(SEQ(1), IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(scene.keys_free, 1);
	ck_assert_int_eq(scene_lend(1, buf), 0);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.keys_free, 1);
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert(fabric_key_unbind(&scene.keys[1]));
	buf_put(buf);
	scene_end();
}
END_TEST

/* All that the device has are another process's. */
START_TEST(a_window_is_tried_for_again_after_a_while)
{
	struct buf *buf = begin_with_windows(1);

	ck_assert_int_eq(scene_lend(0, buf), 0);
	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	for (unsigned i = 1; i <= 3; i++) {
		ck_assert(fabric_key_await(scene.ep, 0));
		fake_loop_advance(scene.loop, VERBS_KEY_RETRY_US - 1);
		ck_assert_uint_eq(scene.keys_free, i - 1);
		fake_loop_advance(scene.loop, 1);
		ck_assert_uint_eq(scene.keys_free, i);
		ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	}
	/* It is allocated on a helper thread, which wakes the loop that waits. */
	fake_loop_run(scene.loop);
	fake.max_windows = 2;
	ck_assert(fabric_key_await(scene.ep, 0));
	fake_loop_advance(scene.loop, VERBS_KEY_RETRY_US);
	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	ck_assert(fabric_key_await(scene.ep, 0));
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.keys_free, 5);
	ck_assert_int_eq(scene_lend(1, buf), 0);
	fake_loop_run(scene.loop);
	end_with_keys(buf, 2);
}
END_TEST

/* All that the device has stay another process's. */
START_TEST(a_window_is_not_waited_for_without_end)
{
	struct buf *buf = begin_with_windows(1);
	unsigned tries = 0;

	fake.alloc_mw_errno = ENOMEM;
	ck_assert(verbs_pds_free_windows(verbs_ep_of(scene.ep)->device));
	for (; tries < 10000; tries++) {
		ck_assert_int_eq(scene_lend(0, buf), -EAGAIN);
		if (!fabric_key_await(scene.ep, 0))
			break;
		fake_loop_advance(scene.loop, VERBS_KEY_RETRY_US);
	}
	ck_assert_uint_eq(tries, VERBS_KEY_WAIT_US / VERBS_KEY_RETRY_US);
	/* Nor does the next one, until there is one. */
	ck_assert(!fabric_key_await(scene.ep, 0));
	fake_loop_run(scene.loop);
	fake.alloc_mw_errno = 0;
	/* It is allocated on a helper thread. */
	ck_assert_int_eq(scene_lend(0, buf), -EAGAIN);
	fake_loop_run(scene.loop);
	ck_assert_int_eq(scene_lend(0, buf), 0);
	fake_loop_run(scene.loop);
	/* It is in use here, and returns when the server answers, which can take any time. */
	fake_loop_advance(scene.loop, VERBS_KEY_WAIT_US);
	ck_assert(fabric_key_await(scene.ep, 0));
	ck_assert(!fabric_key_unbind(&scene.keys[0]));
	fake_loop_run(scene.loop);
	scene_done(SEQ(1), IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(scene.unbound, 1);
	end_with_keys(buf, 0);
}
END_TEST

static void give_back(unsigned seq)
{
	ck_assert(!fabric_key_unbind(&scene.keys[0]));
	fake_loop_run(scene.loop);
	scene_done(SEQ(seq), IBV_WC_SUCCESS, 0);
}

/* There is one of the two that are needed. */
START_TEST(a_second_window_is_not_waited_for_without_end)
{
	struct buf *buf = begin_with_windows(1);

	for (unsigned i = 0; i <= 7; i++) {
		ck_assert_int_eq(scene_lend(0, buf), 0);
		ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
		ck_assert(fabric_key_await(scene.ep, 1) == (i < 6));
		give_back(1 + 2 * i);
		fake_loop_advance(scene.loop, VERBS_KEY_WAIT_US / 6);
	}
	/* A connection that needs no second one has enough; and then a minute restarts. */
	ck_assert_int_eq(scene_lend(0, buf), 0);
	give_back(17);
	ck_assert_int_eq(scene_lend(0, buf), 0);
	ck_assert(fabric_key_await(scene.ep, 1));
	fake_loop_run(scene.loop);
	end_with_keys(buf, 1);
}
END_TEST

/* It would find too few again. */
START_TEST(a_key_returned_by_its_own_user_wakes_no_waiter)
{
	struct buf *buf = begin_with_windows(1);

	ck_assert_int_eq(scene_lend(0, buf), 0);
	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	ck_assert(fabric_key_await(scene.ep, 1));
	ck_assert(!fabric_key_unbind(&scene.keys[0]));
	fake_loop_run(scene.loop);
	scene_done(SEQ(1), IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(scene.unbound, 1);
	ck_assert_uint_eq(scene.keys_free, 0);
	fake_loop_advance(scene.loop, VERBS_KEY_RETRY_US);
	ck_assert_uint_eq(scene.keys_free, 1);
	end_with_keys(buf, 0);
}
END_TEST

/*
 * What cannot be registered now will not be later, unless another region goes: locked memory has a
 * limit.
 */
START_TEST(a_claim_waits_for_a_region_while_others_are_in_use)
{
	struct buf *buf;

	scene_begin(IB, 0);
	buf = buf_get(scene.pool, 100);
	scene_connected();
	fake.register_errno = ENOMEM;
	ck_assert_int_eq(scene_lend(0, buf), -EAGAIN);
	ck_assert(!fabric_key_await(scene.ep, 0));
	fake.register_errno = 0;
	ck_assert_int_eq(scene_lend(0, buf), 0);
	fake.register_errno = ENOMEM;
	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	ck_assert(!fabric_key_await(scene.ep, 1));
	ck_assert(fabric_key_unbind(&scene.keys[0]));
	fake.register_errno = 0;
	ck_assert_int_eq(scene_lend(0, buf), 0);
	fake.register_errno = ENOMEM;
	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	ck_assert(fabric_key_await(scene.ep, 0));
	ck_assert(fabric_key_unbind(&scene.keys[0]));
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.keys_free, 1);
	end_with_keys(buf, 0);
}
END_TEST

START_TEST(an_endpoint_that_waits_for_a_key_can_close)
{
	struct buf *buf = begin_with_windows(1);

	ck_assert_int_eq(scene_lend(0, buf), 0);
	ck_assert_int_eq(scene_lend(1, buf), -EAGAIN);
	ck_assert(fabric_key_await(scene.ep, 0));
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert(!fabric_key_await(scene.ep, 0));
	fake_loop_advance(scene.loop, VERBS_KEY_RETRY_US);
	ck_assert_uint_eq(scene.keys_free, 0);
	ck_assert(fabric_key_unbind(&scene.keys[0]));
	buf_put(buf);
	scene_end();
}
END_TEST

/* ---- many in use at one time ---- */

#define MANY 100u

static struct fabric_key many[MANY];
static unsigned nunbound;

static void on_unbound(struct fabric_key *key)
{
	nunbound++;
}

/* All together. */
static void lend_many(struct buf *buf)
{
	for (unsigned i = 0; i < MANY; i++) {
		many[i] = (struct fabric_key){.buf = buf,
					      .mem = buf->mem,
					      .len_bytes = 100,
					      .ready_bytes = 100,
					      .rights = FABRIC_REMOTE_WRITE,
					      .unbound = on_unbound};
		/* More are allocated on a helper thread. */
		while (fabric_key_bind(scene.ep, &many[i]))
			fake_loop_run(scene.loop);
	}
	nunbound = 0;
	for (unsigned i = 0; i < MANY; i++)
		ck_assert(!fabric_key_unbind(&many[i]));
	fake_loop_run(scene.loop);
	scene_done(SEQ(2 * MANY - 1), IBV_WC_SUCCESS, 0);
	ck_assert_uint_eq(nunbound, MANY);
}

static void pass(uint64_t us)
{
	fake_loop_advance(scene.loop, us);
	fake_loop_run(scene.loop);
}

/* Some at a time, so that other commands of the device need not wait long. */
START_TEST(windows_unused_for_long_are_freed)
{
	struct buf *buf = begin_with_windows(0);
	unsigned windows;

	lend_many(buf);
	windows = fake.windows;
	ck_assert_uint_ge(windows, MANY);
	/* They were in use in this period. */
	pass(BUF_POOL_PERIOD_US);
	ck_assert_uint_eq(fake.windows, windows);
	pass(BUF_POOL_PERIOD_US);
	ck_assert_uint_eq(fake.windows, windows - VERBS_WINDOWS_AGED);
	pass(BUF_POOL_PAUSE_US);
	ck_assert_uint_eq(fake.windows, windows - 2 * VERBS_WINDOWS_AGED);
	for (unsigned i = 0; i < MANY / VERBS_WINDOWS_AGED; i++)
		pass(BUF_POOL_PAUSE_US);
	ck_assert_uint_eq(fake.windows, VERBS_WINDOWS_EP);
	pass(2ull * BUF_POOL_PERIOD_US);
	ck_assert_uint_eq(fake.windows, VERBS_WINDOWS_EP);
	ck_assert_int_eq(scene_lend(0, buf), 0);
	fake_loop_run(scene.loop);
	end_with_keys(buf, 1);
}
END_TEST

int main(void)
{
	const int nrows = sizeof(rows) / sizeof(rows[0]);
	Suite *suite = suite_create("verbs_windows");
	TCase *tc = tcase_create("trial");

	tcase_add_loop_test(tc, memory_is_exposed_by_a_window_if_one_was_allocated, 0, nrows);
	tcase_add_loop_test(tc, a_device_is_tried_once_and_logged_once, 0, nrows);
	tcase_add_test(tc, a_device_that_has_none_left_is_tried_again);
	suite_add_tcase(suite, tc);
	tc = tcase_create("none left");
	tcase_add_test(tc, a_returned_window_wakes_a_waiter);
	tcase_add_test(tc, a_window_is_tried_for_again_after_a_while);
	tcase_add_test(tc, a_window_is_not_waited_for_without_end);
	tcase_add_test(tc, a_second_window_is_not_waited_for_without_end);
	tcase_add_test(tc, a_key_returned_by_its_own_user_wakes_no_waiter);
	tcase_add_test(tc, a_claim_waits_for_a_region_while_others_are_in_use);
	tcase_add_test(tc, an_endpoint_that_waits_for_a_key_can_close);
	suite_add_tcase(suite, tc);
	tc = tcase_create("many");
	tcase_add_test(tc, windows_unused_for_long_are_freed);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

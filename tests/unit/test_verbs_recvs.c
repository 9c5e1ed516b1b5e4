// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests Receives of the verbs fabric on a fake device: their sizes, and the memory that they hold.
 */
#include <errno.h>

#include "fabric/verbs/verbs_config.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_scene.h"

#define SMALL  1024u /* of the receives that the scene begins with */
#define LARGE  65536u
#define PLACES 8u /* scene.params.recv_max */

static unsigned used; /* receives that a Send has taken */

static size_t in_use(void)
{
	struct buf_pool_stats stats;

	buf_pool_stats_get(scene.pool, &stats);
	return stats.in_use_bytes;
}

static void connected(enum ibv_transport_type transport)
{
	scene_begin(transport, WINDOWS);
	scene_connected();
	used = 0;
}

/* The receive that was posted first takes a Send. */
static void take(uint32_t bytes)
{
	ck_assert_uint_lt(used, fake.nrecvs);
	scene_done(fake.recvs[used++].wr_id, IBV_WC_SUCCESS, bytes);
}

static void take_all(void)
{
	while (used < fake.nrecvs && !scene.closed)
		take(10);
}

/* ---- memory ---- */

/* None of them is asked to hold a Send: there is nothing to wait for. */
START_TEST(idle_places_give_large_buffers_back_when_the_size_is_lowered)
{
	connected(_i ? IWARP : IB);
	fabric_recv_post(scene.ep, PLACES - scene.params.recv_count, LARGE);
	take_all();
	ck_assert_uint_ge(in_use(), (PLACES - scene.params.recv_count) * LARGE);
	ck_assert_uint_eq(fabric_recv_resize(scene.ep, SMALL), FABRIC_RECV_KEPT);
	ck_assert_uint_le(in_use(), PLACES * SMALL);
	scene_ended();
}
END_TEST

START_TEST(large_buffers_are_returned_when_a_lower_size_is_posted)
{
	connected(IB);
	fabric_recv_post(scene.ep, PLACES - scene.params.recv_count, LARGE);
	take_all();
	fabric_recv_post(scene.ep, 1, SMALL);
	ck_assert_uint_le(in_use(), PLACES * SMALL);
	scene_ended();
}
END_TEST

/* A small buffer is of no use either, so that no slot holds more than its Receive will have. */
START_TEST(small_buffers_are_returned_when_the_size_is_raised)
{
	connected(IB);
	take_all();
	ck_assert_uint_eq(fabric_recv_resize(scene.ep, LARGE), FABRIC_RECV_KEPT);
	ck_assert_uint_eq(in_use(), 0);
	scene_ended();
}
END_TEST

/* A posted receive cannot be withdrawn: its memory is back as soon as a Send has used it. */
START_TEST(posted_large_ones_are_back_after_as_many_sends)
{
	struct buf_pool_stats stats;

	connected(_i ? IWARP : IB);
	scene.refill_bytes = LARGE;
	fabric_recv_post(scene.ep, PLACES - scene.params.recv_count, LARGE);
	for (unsigned i = 0; i < PLACES; i++)
		take(10);
	ck_assert_uint_eq(in_use(), PLACES * LARGE);
	scene.refill_bytes = SMALL;
	ck_assert_uint_eq(fabric_recv_resize(scene.ep, SMALL), FABRIC_RECV_KEPT);
	for (unsigned i = 0; i < PLACES; i++) {
		ck_assert_uint_eq(in_use(), i * SMALL + (PLACES - i) * LARGE);
		take(10);
		ck_assert_uint_eq(scene.last.size_bytes, LARGE);
	}
	buf_pool_stats_get(scene.pool, &stats);
	ck_assert_uint_eq(stats.in_use_bytes, PLACES * SMALL);
	/*
	 * Nothing is left between small ones, which are in one slab: the large ones' slabs may go.
	 */
	ck_assert_uint_le(stats.slab_bytes - stats.empty_bytes, (_i ? 256u : 1024u) * 1024u);
	take(SMALL);
	ck_assert_uint_eq(scene.last.size_bytes, SMALL);
	scene_ended();
}
END_TEST

/* ---- sizes that change under load ---- */

/*
 * More are asked for than the queue has places, so that some wait for one, with the size that was
 * asked for.
 */
START_TEST(sizes_change_a_hundred_times_in_the_order_of_posting)
{
	static const uint32_t sizes[] = {LARGE, SMALL, 24576, 4096, 40960};
	uint32_t wanted[VERBS_FAKE_MAX];
	unsigned nwanted = 0;

	connected(_i ? IWARP : IB);
	while (nwanted < scene.params.recv_count)
		wanted[nwanted++] = SMALL;
	for (unsigned change = 0; change < 100; change++) {
		uint32_t size = sizes[change % ARRAY_SIZE(sizes)];

		ck_assert_uint_eq(fabric_recv_resize(scene.ep, size), FABRIC_RECV_KEPT);
		fabric_recv_post(scene.ep, 3 + change % 3, size);
		for (unsigned i = 0; i < 3 + change % 3; i++)
			wanted[nwanted++] = size;
		while (nwanted - used > PLACES + 3) {
			take(10);
			ck_assert_uint_eq(scene.last.size_bytes, wanted[used - 1]);
		}
		ck_assert_uint_le(fake.nrecvs - used, PLACES);
		ck_assert_uint_le(in_use(), PLACES * LARGE);
	}
	take_all();
	ck_assert_uint_eq(used, nwanted);
	ck_assert_uint_eq(fake.nrecvs, nwanted);
	ck_assert_mem_eq(fake.recv_bytes, wanted, nwanted * sizeof(wanted[0]));
	ck_assert_uint_eq(scene.closed, 0);
	scene_ended();
}
END_TEST

START_TEST(the_completion_queue_holds_all_entries_of_both_queues)
{
	connected(_i ? IWARP : IB);
	ck_assert_uint_eq(fake.max_recv_wr, PLACES);
	ck_assert_uint_ge(fake.cq_entries, fake.max_send_wr + fake.max_recv_wr);
	scene_ended();
}
END_TEST

/* ---- unavailable resources ---- */

START_TEST(memory_that_cannot_be_locked_ends_the_connection_and_says_so)
{
	connected(_i ? IWARP : IB);
	fake.register_errno = ENOMEM;
	fabric_recv_post(scene.ep, 1, LARGE);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_RESOURCES);
	ck_assert_str_eq(
		scene.detail,
		"memory cannot be registered (Cannot allocate memory): is LimitMEMLOCK set?");
	scene_end();
}
END_TEST

START_TEST(a_receive_that_the_pool_does_not_have_ends_the_connection)
{
	connected(IB);
	fabric_recv_post(scene.ep, 1, 2 * LARGE);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_RESOURCES);
	ck_assert_str_eq(scene.detail, "no memory for a receive");
	scene_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_recvs");
	TCase *tc;

	tc = tcase_create("memory");
	tcase_add_loop_test(tc, idle_places_give_large_buffers_back_when_the_size_is_lowered, 0, 2);
	tcase_add_test(tc, large_buffers_are_returned_when_a_lower_size_is_posted);
	tcase_add_test(tc, small_buffers_are_returned_when_the_size_is_raised);
	tcase_add_loop_test(tc, posted_large_ones_are_back_after_as_many_sends, 0, 2);
	suite_add_tcase(suite, tc);

	tc = tcase_create("sizes that change");
	tcase_add_loop_test(tc, sizes_change_a_hundred_times_in_the_order_of_posting, 0, 2);
	tcase_add_loop_test(tc, the_completion_queue_holds_all_entries_of_both_queues, 0, 2);
	suite_add_tcase(suite, tc);

	tc = tcase_create("what cannot be had");
	tcase_add_loop_test(tc, memory_that_cannot_be_locked_ends_the_connection_and_says_so, 0, 2);
	tcase_add_test(tc, a_receive_that_the_pool_does_not_have_ends_the_connection);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

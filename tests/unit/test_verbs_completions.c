// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests completions of a fake device: which core they interrupt, and how many events one loop
 * iteration handles.
 */
#include <errno.h>

#include "fabric/verbs/cq.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_scene.h"

/* Three vectors, as verbs_fake.c has them. */
START_TEST(each_worker_has_a_completion_vector)
{
	struct verbs_config config = scene_config();

	config.vector = (unsigned)_i;
	scene_begin_as(IB, 0, &config);
	scene_connected();
	ck_assert_int_eq(fake.cq_vector, _i % 3);
	scene_ended();
}
END_TEST

START_TEST(a_turn_takes_up_to_sixteen_events)
{
	const struct verbs_counters *counters;

	scene_begin(IB, 0);
	scene.params.recv_count = scene.params.recv_max = 20;
	scene_connected();
	counters = scene.fabric->counters;
	for (unsigned i = 0; i < 20; i++)
		verbs_fake_done(fake.recvs[i].wr_id, IBV_WC_SUCCESS, 10);
	verbs_channel_ready(verbs_ep_of(scene.ep)->device);
	ck_assert_uint_eq(counters->completion_events, 16);
	fake_loop_run(scene.loop);
	ck_assert_uint_eq(counters->completion_events, 20);
	ck_assert_uint_eq(scene.recvs, 20);
	scene_ended();
}
END_TEST

/* No event will ever report the outcome of the lost one. */
START_TEST(a_poll_that_fails_ends_the_connection)
{
	scene_begin(IB, 0);
	scene_connected();
	fake.poll_errno = EINVAL;
	scene_done(fake.recvs[0].wr_id, IBV_WC_SUCCESS, 10);
	ck_assert_uint_eq(scene.recvs, 0);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_LOST);
	ck_assert_str_eq(scene.detail, "the completion queue cannot be polled");
	scene_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_completions");
	TCase *tc = tcase_create("verbs_completions");

	tcase_add_loop_test(tc, each_worker_has_a_completion_vector, 0, 5);
	tcase_add_test(tc, a_turn_takes_up_to_sixteen_events);
	tcase_add_test(tc, a_poll_that_fails_ends_the_connection);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

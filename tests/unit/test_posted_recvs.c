// SPDX-License-Identifier: BSD-3-Clause
/* Tests Receives in runs of one size. */
#include <errno.h>
#include <signal.h>

#include "fabric/posted_recvs.h"
#include "tests/lib/test.h"

static struct posted_recvs runs;

static void setup(void)
{
	posted_recvs_init(&runs);
}

static void teardown(void)
{
	posted_recvs_fini(&runs);
}

static uint32_t take(void)
{
	uint32_t size = 0;

	ck_assert(posted_recvs_first(&runs, &size));
	posted_recvs_consume(&runs);
	return size;
}

START_TEST(receives_are_used_in_the_order_in_which_they_were_posted)
{
	uint32_t size;

	ck_assert(!posted_recvs_first(&runs, &size));
	ck_assert_int_eq(posted_recvs_add(&runs, 2, 4096), 0);
	ck_assert_int_eq(posted_recvs_add(&runs, 1, 100), 0);
	ck_assert_int_eq(posted_recvs_add(&runs, 1, 4096), 0);
	ck_assert_uint_eq(take(), 4096);
	ck_assert_uint_eq(take(), 4096);
	ck_assert_uint_eq(take(), 100);
	ck_assert_uint_eq(take(), 4096);
	ck_assert(!posted_recvs_first(&runs, &size));
}
END_TEST

START_TEST(receives_of_one_size_are_one_run)
{
	for (unsigned i = 0; i < 3 * POSTED_RECVS_MAX_RUNS; i++)
		ck_assert_int_eq(posted_recvs_add(&runs, 1, 4096), 0);
	ck_assert_uint_eq(runs.count, 1);
	/* None at all is no run. */
	ck_assert_int_eq(posted_recvs_add(&runs, 0, 100), 0);
	ck_assert_uint_eq(runs.count, 1);
}
END_TEST

START_TEST(receives_without_memory_change_their_size_together)
{
	uint32_t size;

	ck_assert_uint_eq(posted_recvs_smallest(&runs), UINT32_MAX);
	ck_assert_uint_eq(posted_recvs_largest(&runs), 0);
	posted_recvs_resize(&runs, 1, 100);
	ck_assert(!posted_recvs_first(&runs, &size));
	ck_assert_int_eq(posted_recvs_add(&runs, 2, 4096), 0);
	ck_assert_int_eq(posted_recvs_add(&runs, 1, 100), 0);
	ck_assert_uint_eq(posted_recvs_smallest(&runs), 100);
	ck_assert_uint_eq(posted_recvs_largest(&runs), 4096);
	ck_assert_uint_eq(posted_recvs_bytes(&runs), 2 * 4096 + 100);
	posted_recvs_resize(&runs, 1, 8192);
	ck_assert_uint_eq(posted_recvs_smallest(&runs), 4096);
	ck_assert_uint_eq(take(), 4096);
	ck_assert_uint_eq(posted_recvs_smallest(&runs), 8192);
	posted_recvs_resize(&runs, 0, 50);
	ck_assert_uint_eq(posted_recvs_largest(&runs), 50);
	ck_assert_uint_eq(take(), 50);
	ck_assert_uint_eq(take(), 50);
	ck_assert(!posted_recvs_first(&runs, &size));
	/* One alone, kept. */
	ck_assert_int_eq(posted_recvs_add(&runs, 1, 4096), 0);
	posted_recvs_resize(&runs, 1, 100);
	ck_assert_uint_eq(take(), 4096);
	ck_assert(!posted_recvs_first(&runs, &size));
}
END_TEST

START_TEST(sizes_that_change_under_use_keep_their_order)
{
	uint32_t posted = 0, used = 0;

	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < round % 13; i++)
			ck_assert_int_eq(posted_recvs_add(&runs, 1, ++posted), 0);
		for (unsigned i = 0; i < round % 11 && used < posted; i++)
			ck_assert_uint_eq(take(), ++used);
	}
	while (used < posted)
		ck_assert_uint_eq(take(), ++used);
}
END_TEST

START_TEST(runs_are_bounded)
{
	for (unsigned i = 0; i < POSTED_RECVS_MAX_RUNS; i++)
		ck_assert_int_eq(posted_recvs_add(&runs, 1, i), 0);
	ck_assert_int_eq(posted_recvs_add(&runs, 1, 1), -ENOMEM);
	/* One more of the last size is still welcome, and what is posted stays. */
	ck_assert_int_eq(posted_recvs_add(&runs, 1, POSTED_RECVS_MAX_RUNS - 1), 0);
	for (unsigned i = 0; i < POSTED_RECVS_MAX_RUNS; i++)
		ck_assert_uint_eq(take(), i);
	ck_assert_uint_eq(take(), POSTED_RECVS_MAX_RUNS - 1);
}
END_TEST

START_TEST(removing_from_an_empty_queue_aborts)
{
	posted_recvs_consume(&runs);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("posted_recvs");
	TCase *tc = tcase_create("runs");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, receives_are_used_in_the_order_in_which_they_were_posted);
	tcase_add_test(tc, receives_of_one_size_are_one_run);
	tcase_add_test(tc, receives_without_memory_change_their_size_together);
	tcase_add_test(tc, sizes_that_change_under_use_keep_their_order);
	tcase_add_test(tc, runs_are_bounded);
	tcase_add_test_raise_signal(tc, removing_from_an_empty_queue_aborts, SIGABRT);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

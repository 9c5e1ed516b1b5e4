// SPDX-License-Identifier: BSD-3-Clause
/* Tests that time limits of tests grow with the slowness of the machine only. */
#include "tests/lib/time_limit.h"

#include <stdlib.h>

#include "tests/lib/test.h"

START_TEST(an_idle_machine_has_bare_limits)
{
	ck_assert_double_eq(time_limit_factor_of(0.05, 0.05, 0, 2), 1);
	ck_assert_double_eq(time_limit_factor_of(0.01, 0.05, 2, 2), 1);
	ck_assert_double_eq(time_limit_factor_of(0.01, 0.05, 1, 0), 1);
}
END_TEST

START_TEST(slow_work_and_load_raise_the_factor)
{
	ck_assert_double_eq(time_limit_factor_of(0.20, 0.05, 0, 2), 4);
	ck_assert_double_eq(time_limit_factor_of(0.05, 0.05, 6, 2), 3);
	ck_assert_double_eq(time_limit_factor_of(0.20, 0.05, 6, 2), 4);
}
END_TEST

START_TEST(the_factor_is_bounded)
{
	ck_assert_double_eq(time_limit_factor_of(1000, 0.05, 0, 2), TIME_LIMIT_FACTOR_MAX);
	ck_assert_double_eq(time_limit_factor_of(0.05, 0.05, 1e6, 1), TIME_LIMIT_FACTOR_MAX);
}
END_TEST

START_TEST(the_machine_of_the_limits_can_be_another_one)
{
	double factor;

	setenv("TIME_LIMIT_WORK_S", "0.0001", 1);
	factor = time_limit_factor();
	ck_assert_double_gt(factor, 10);
	unsetenv("TIME_LIMIT_WORK_S");
}
END_TEST

START_TEST(the_load_that_counts_can_be_set)
{
	setenv("TIME_LIMIT_WORK_S", "1000", 1);
	setenv("TIME_LIMIT_LOAD", "1e6", 1);
	ck_assert_double_eq(time_limit_factor(), TIME_LIMIT_FACTOR_MAX);
	setenv("TIME_LIMIT_LOAD", "0", 1);
	ck_assert_double_eq(time_limit_factor(), 1);
	unsetenv("TIME_LIMIT_LOAD");
	unsetenv("TIME_LIMIT_WORK_S");
}
END_TEST

START_TEST(a_limit_passes)
{
	struct time_limit limit;

	time_limit_begin(&limit, 1000);
	ck_assert(!time_limit_passed(&limit));
	ck_assert_int_gt(time_limit_left_ms(&limit), 900000);
	time_limit_begin(&limit, 0);
	ck_assert(time_limit_passed(&limit));
	ck_assert_int_eq(time_limit_left_ms(&limit), 0);
}
END_TEST

/* The limit is in the past for an idle machine, and in the future for one that is ten times slower. */
START_TEST(a_limit_that_has_passed_grows_on_a_slow_machine)
{
	struct time_limit limit;

	time_limit_begin(&limit, 1000);
	limit.begin -= 2000;
	setenv("TIME_LIMIT_WORK_S", "0.0001", 1);
	ck_assert(!time_limit_passed(&limit));
	ck_assert_double_gt(limit.factor, 10);
	ck_assert_int_gt(time_limit_left_ms(&limit), 0);
	unsetenv("TIME_LIMIT_WORK_S");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("time_limit");
	TCase *tc = tcase_create("time_limit");

	tcase_add_test(tc, an_idle_machine_has_bare_limits);
	tcase_add_test(tc, slow_work_and_load_raise_the_factor);
	tcase_add_test(tc, the_factor_is_bounded);
	tcase_add_test(tc, the_machine_of_the_limits_can_be_another_one);
	tcase_add_test(tc, the_load_that_counts_can_be_set);
	tcase_add_test(tc, a_limit_passes);
	tcase_add_test(tc, a_limit_that_has_passed_grows_on_a_slow_machine);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

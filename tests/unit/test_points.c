// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests which passing assertions are sent to libcheck: the linker replaces its _mark_point() by
 * __wrap__mark_point().
 */
#include <stdbool.h>
#include <time.h>

#include "tests/lib/test.h"

#define MANY 1000000u

static unsigned sent, last_line;

void __wrap__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line)
{
	(void)file;
	sent++;
	last_line = (unsigned)line;
}

static double coarse_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double tick_s(void)
{
	struct timespec tick;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return (double)tick.tv_sec + (double)tick.tv_nsec / 1e9;
}

START_TEST(the_first_are_sent_one_by_one)
{
	for (unsigned i = 1; i <= TEST_POINTS_EXACT; i++) {
		test_point("a", (int)i);
		if (sent != i || last_line != i)
			ck_abort_msg("point %u: %u were sent, the last for line %u", i, sent,
				     last_line);
	}
}
END_TEST

START_TEST(later_ones_once_in_a_tick)
{
	double begin;
	unsigned before;

	for (unsigned i = 0; i < TEST_POINTS_EXACT; i++)
		test_point("a", 1);
	begin = coarse_s();
	before = sent;
	for (unsigned i = 0; i < MANY; i++)
		test_point("a", 2);
	ck_assert_msg(sent - before <= (coarse_s() - begin) / tick_s() + 1.5, "%u of %u were sent",
		      sent - before, MANY);
	before = sent;
	while (sent == before)
		test_point("a", 3);
	if (last_line != 3)
		ck_abort_msg("the last point was not sent in the next tick");
}
END_TEST

START_TEST(assertions_are_such_points)
{
	ck_assert(true);
	if (sent != 1 || last_line != __LINE__ - 1)
		ck_abort_msg("an assertion sent %u points, the last for line %u", sent, last_line);
	ck_assert_int_eq(1, 1);
	ck_assert_ptr_null(NULL);
	if (sent != 3)
		ck_abort_msg("three assertions sent %u points", sent);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("points");
	TCase *tc = tcase_create("points");

	tcase_add_test(tc, the_first_are_sent_one_by_one);
	tcase_add_test(tc, later_ones_once_in_a_tick);
	tcase_add_test(tc, assertions_are_such_points);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

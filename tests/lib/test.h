/* SPDX-License-Identifier: BSD-3-Clause */
/* Included by every unit test: libcheck, and a main() that runs one suite and reports in TAP. */
#ifndef TESTS_LIB_TEST_H
#define TESTS_LIB_TEST_H

#include <check.h>

/**
 * test_point - take the place of libcheck's _mark_point(), which every assertion that passes calls
 *
 * libcheck sends each point to the parent, for which the parent moves some KiB of memory: a case of a million assertions
 * would spend most of its time so. Sends the first TEST_POINTS_EXACT points of a case, then one at most for each tick of
 * the coarse clock (4 ms). So the line of a crash or of a timeout is exact, or that of an assertion a few
 * milliseconds before.
 */
void test_point(const char *file, int line);
#define TEST_POINTS_EXACT       1000u
#define _mark_point(file, line) test_point(file, line)

/**
 * test_add - take the place of libcheck's _tcase_add_test(), which every tcase_add_*() calls
 *
 * Leaves the test out if TEST_ONLY is in the environment and does not have its name: a function, or several with blanks
 * between. The other arguments are those of _tcase_add_test().
 */
void test_add(TCase *tc, const TTest *test, int signal, int exit_value, int start, int end);
#define _tcase_add_test(tc, test, signal, exit_value, start, end)                                  \
	test_add(tc, test, signal, exit_value, start, end)

/**
 * test_main - run a suite in a network of its own, report in TAP on standard output
 *
 * Where the machine permits no namespace (tests/lib/namespace.h) the suite runs in the network of whoever
 * started it and a note says so: it holds all the same, unless another program takes a port that it expects.
 *
 * Limits of cases (tcase_set_timeout(), CK_DEFAULT_TIMEOUT) are for an idle machine: they are multiplied by
 * time_limit_factor() as it is when the program starts, and by a margin, unless CK_TIMEOUT_MULTIPLIER is set, as it is by
 * tests/lib/timed.sh.
 *
 * Returns what main() returns: 0 whatever failed, since TAP carries the verdicts.
 */
int test_main(Suite *suite);

#endif

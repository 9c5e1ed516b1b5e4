/* SPDX-License-Identifier: BSD-3-Clause */
/* Included by every unit test: libcheck, and a main() that runs one suite and reports in TAP. */
#ifndef TESTS_LIB_TEST_H
#define TESTS_LIB_TEST_H

#include <check.h>

/**
 * test_point - Replaces libcheck's _mark_point(), which every passing assertion calls
 *
 * libcheck sends each point to the parent, for which the parent moves some KiB of memory: a case of
 * a million assertions would spend most of its time on that. test_point() sends the first
 * TEST_POINTS_EXACT points of a case, then at most one for each tick of the coarse clock (4 ms). So
 * the line of a crash or of a timeout is exact, or that of an assertion a few milliseconds before.
 */
void test_point(const char *file, int line);
#define TEST_POINTS_EXACT       1000u
#define _mark_point(file, line) test_point(file, line)

/**
 * test_add - Replaces libcheck's _tcase_add_test(), which every tcase_add_*() calls
 *
 * Leaves the test out if TEST_ONLY is in the environment and does not have its name: a function, or
 * several with blanks between. The other arguments are those of _tcase_add_test().
 */
void test_add(TCase *tc, const TTest *test, int signal, int exit_value, int start, int end);
#define _tcase_add_test(tc, test, signal, exit_value, start, end)                                  \
	test_add(tc, test, signal, exit_value, start, end)

/**
 * test_main - Runs a suite in a network of its own and reports in TAP on standard output
 *
 * Where the machine permits no namespace (tests/lib/namespace.h) the suite runs in the caller's
 * network, and a note says so. It still passes unless another program uses a port that it expects.
 *
 * Limits of cases (tcase_set_timeout(), CK_DEFAULT_TIMEOUT) are for an idle machine. They are
 * multiplied by time_limit_factor() at the program's start and by a margin, unless
 * CK_TIMEOUT_MULTIPLIER is set, as tests/lib/timed.sh does.
 *
 * Returns what main() returns: 0 even after failures, since TAP carries the verdicts.
 */
int test_main(Suite *suite);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What every unit test includes: check, and a main that speaks TAP. */
#ifndef TESTS_LIB_TEST_H
#define TESTS_LIB_TEST_H

#include <check.h>

/**
 * test_main - run a suite, report in TAP on standard output
 *
 * Returns what main() returns: 0 whatever failed, since TAP carries the verdicts.
 */
int test_main(Suite *suite);

#endif

// SPDX-License-Identifier: BSD-3-Clause
/* Runs a check suite and reports in TAP. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/lib/namespace.h"
#include "tests/lib/time_limit.h"

/* How much slower the machine may become while the program runs. */
#define LIMIT_MARGIN 3

/* Check reads the variable when a case is made, which is before test_main() is called. */
__attribute__((constructor)) static void scale_limits(void)
{
	char text[32];

	if (getenv("CK_TIMEOUT_MULTIPLIER"))
		return;
	snprintf(text, sizeof(text), "%.1f", LIMIT_MARGIN * time_limit_factor());
	setenv("CK_TIMEOUT_MULTIPLIER", text, 1);
}

void test_point(const char *file, int line)
{
	static _Thread_local unsigned sent;
	static _Thread_local struct timespec sent_at;
	struct timespec now;

	if (sent < TEST_POINTS_EXACT) {
		sent++;
	} else {
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
		if (now.tv_sec == sent_at.tv_sec && now.tv_nsec == sent_at.tv_nsec)
			return;
		sent_at = now;
	}
	(_mark_point)(file, line);
}

int test_main(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int error = namespace_enter();

	if (error) {
		printf("# shares the ports of this machine: unshare says \"%s\" (needs root, or user namespaces)\n",
		       strerror(-error));
		fflush(stdout);
	}
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	srunner_free(runner);
	return 0;
}

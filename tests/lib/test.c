// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/test.h"

#include <stdbool.h>
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

/* Whether a word of text, with blanks between, is name. */
static bool has_word(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (; *text; text += strcspn(text, " ")) {
		text += strspn(text, " ");
		if (strcspn(text, " ") == length && !memcmp(text, name, length))
			return true;
	}
	return false;
}

void test_add(TCase *tc, const TTest *test, int signal, int exit_value, int start, int end)
{
	const char *only = getenv("TEST_ONLY");

	if (!only || has_word(only, test->name))
		(_tcase_add_test)(tc, test, signal, exit_value, start, end);
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

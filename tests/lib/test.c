// SPDX-License-Identifier: BSD-3-Clause
/* Runs a check suite and reports in TAP. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/namespace.h"

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

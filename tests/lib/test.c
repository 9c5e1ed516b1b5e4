// SPDX-License-Identifier: BSD-3-Clause
/* Runs a check suite and reports in TAP. */
#include "tests/lib/test.h"

int test_main(Suite *suite)
{
	SRunner *runner = srunner_create(suite);

	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	srunner_free(runner);
	return 0;
}

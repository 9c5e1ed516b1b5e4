// SPDX-License-Identifier: BSD-3-Clause
/* What came of a check of a service's servers. */
#include "daemon/health/check_report.h"

const char *check_step_name(enum check_step_id step)
{
	static const char *const names[] = {
#define CHECK_STEP_NAME(name, text) [CHECK_##name] = (text),
		CHECK_STEPS(CHECK_STEP_NAME)
#undef CHECK_STEP_NAME
	};

	return names[step];
}

const char *check_result_name(enum check_result result)
{
	static const char *const names[] = {[CHECK_NOT_TRIED] = "not tried",
					    [CHECK_PASSED] = "passed",
					    [CHECK_FAILED] = "failed"};

	return names[result];
}

const char *check_grade_name(enum check_grade grade)
{
	static const char *const names[] = {[CHECK_GOOD] = "good",
					    [CHECK_IS_DEGRADED] = "degraded",
					    [CHECK_HAS_FAILED] = "failed"};

	return names[grade];
}

enum check_grade check_grade_server(const struct check_server *server)
{
	enum check_grade grade = CHECK_GOOD;

	for (unsigned i = 0; i < CHECK_STEP_COUNT; i++)
		if (server->steps[i].result == CHECK_FAILED && grade == CHECK_GOOD)
			grade = i <= CHECK_INLINE_CALL ? CHECK_HAS_FAILED : CHECK_IS_DEGRADED;
	/* One whose turn never came is not known to be good. */
	if (server->steps[CHECK_CONNECT].result == CHECK_NOT_TRIED)
		grade = CHECK_IS_DEGRADED;
	return grade;
}

enum check_grade check_grade(const struct check_report *report)
{
	unsigned counts[3] = {0};

	for (unsigned i = 0; i < report->nservers; i++)
		counts[check_grade_server(&report->servers[i])]++;
	if (counts[CHECK_GOOD] == report->nservers)
		return CHECK_GOOD;
	return counts[CHECK_HAS_FAILED] == report->nservers ? CHECK_HAS_FAILED : CHECK_IS_DEGRADED;
}

// SPDX-License-Identifier: BSD-3-Clause
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

static bool has(const struct check_server *server, enum check_step_id step,
		enum check_result result)
{
	return server->steps[step].result == result;
}

enum check_grade check_grade_server(const struct check_server *server)
{
	bool mounts = has(server, CHECK_INLINE_CALL, CHECK_PASSED);

	if (has(server, CHECK_CONNECT, CHECK_FAILED) || has(server, CHECK_NULL, CHECK_FAILED) ||
	    has(server, CHECK_INLINE_CALL, CHECK_FAILED) ||
	    (has(server, CHECK_MOUNT, CHECK_FAILED) && !mounts))
		return CHECK_HAS_FAILED;
	/* A server that was not tried is not known to be good. */
	if (has(server, CHECK_CONNECT, CHECK_NOT_TRIED) || has(server, CHECK_MOUNT, CHECK_FAILED) ||
	    has(server, CHECK_LONG_CALL, CHECK_FAILED) ||
	    has(server, CHECK_LONG_REPLY, CHECK_FAILED))
		return CHECK_IS_DEGRADED;
	return CHECK_GOOD;
}

enum check_grade check_grade(const struct check_report *report, uint32_t unused)
{
	unsigned counts[3] = {0}, used = 0;

	for (unsigned i = 0; i < report->nservers; i++) {
		if (unused >> i & 1)
			continue;
		counts[check_grade_server(&report->servers[i])]++;
		used++;
	}
	if (counts[CHECK_HAS_FAILED] == used)
		return CHECK_HAS_FAILED;
	return counts[CHECK_GOOD] == used ? CHECK_GOOD : CHECK_IS_DEGRADED;
}

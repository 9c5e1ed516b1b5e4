/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a check of a service's servers (check_steps.h): plain data. */
#ifndef DAEMON_HEALTH_CHECK_REPORT_H
#define DAEMON_HEALTH_CHECK_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/config/config_value.h"
#include "leg/leg.h"

#define CHECK_STEPS(X)                                                                             \
	X(CONNECT, "connect")                                                                      \
	X(NULL, "null")                                                                            \
	X(MOUNT, "mount")                                                                          \
	X(INLINE_CALL, "inline_call")                                                              \
	X(LONG_CALL, "long_call")                                                                  \
	X(LONG_REPLY, "long_reply")

enum check_step_id {
#define CHECK_STEP_ENUM(name, text) CHECK_##name,
	CHECK_STEPS(CHECK_STEP_ENUM) CHECK_STEP_COUNT
#undef CHECK_STEP_ENUM
};

enum check_result { CHECK_NOT_TRIED, CHECK_PASSED, CHECK_FAILED };
enum check_grade { CHECK_GOOD, CHECK_IS_DEGRADED, CHECK_HAS_FAILED };

#define CHECK_WHAT_BYTES 320u

struct check_step {
	enum check_result result;
	uint64_t took_us;
	enum leg_close why;          /* if it failed without a Reply */
	char what[CHECK_WHAT_BYTES]; /* the result, or why it was not tried; "": nothing */
	const char *advice;          /* what to do; NULL: nothing */
};

struct check_server {
	char server[CONFIG_URI_TEXT_BYTES];
	struct check_step steps[CHECK_STEP_COUNT];
};

struct check_report {
	bool with_mount; /* the mount step was requested; else it is not shown */
	unsigned nservers;
	struct check_server *servers;
};

/** check_step_name, check_result_name, check_grade_name - Return the name, as in JSON. */
const char *check_step_name(enum check_step_id step);
const char *check_result_name(enum check_result result);
const char *check_grade_name(enum check_grade grade);
/**
 * check_grade_server - Returns failed if no mount would work there, degraded if some operations
 * would fail, else good.
 */
enum check_grade check_grade_server(const struct check_server *server);
/**
 * check_grade - Returns the grade of the servers in use: failed if all have failed or there is
 * none, good if all are good, else degraded.
 * @unused: bit mask of servers to which no new client is sent
 */
enum check_grade check_grade(const struct check_report *report, uint32_t unused);

#endif

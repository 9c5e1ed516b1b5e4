/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first line and the exit status of `check` and `status --exit-code`, by the conventions of
 * monitoring plugins (Nagios, Icinga and others): "WARNING - text | performance data".
 */
#ifndef DAEMON_CTL_PLUGIN_LINE_H
#define DAEMON_CTL_PLUGIN_LINE_H

#include <jansson.h>
#include <stdio.h>

enum plugin_status { PLUGIN_OK, PLUGIN_WARNING, PLUGIN_CRITICAL, PLUGIN_UNKNOWN };

/** plugin_status_result - Returns the result for an answer to status. */
enum plugin_status plugin_status_result(const json_t *answer);
/** plugin_status_print - Prints its line: the worst problem, and how many others there are. */
void plugin_status_print(const json_t *answer, FILE *out);
/** plugin_check_result - Returns the result for an answer to check. */
enum plugin_status plugin_check_result(const json_t *answer);
/**
 * plugin_check_print - Prints its line: the service, whether it is drained, and for each server
 * whether it is disabled and the first failed step.
 */
void plugin_check_print(const json_t *answer, FILE *out);
#define PLUGIN_CHECK_DRAINED "drained: new clients are refused until 'resume'"
/** plugin_check_order - Returns "drain" or "down" if that has disabled the server, else NULL. */
const char *plugin_check_order(const json_t *server);
/** plugin_failure_print - Prints the line for a command without a result; @why: one line. */
void plugin_failure_print(enum plugin_status status, const char *why, FILE *out);

#endif

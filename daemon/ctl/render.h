/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the daemon's answers, whose members daemon/view/answer.h lists, as text. */
#ifndef DAEMON_CTL_RENDER_H
#define DAEMON_CTL_RENDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/control/control_request.h"

/** render_status - Prints a screen of 80 by 24; with @all everything. Returns 0 or -ENOMEM. */
int render_status(const json_t *answer, const json_t *extra, bool all, FILE *out) MUST_CHECK;
/** render_services - Prints a line per service, then problems. Returns 0 or -ENOMEM. */
int render_services(const json_t *answer, bool all, FILE *out) MUST_CHECK;
/**
 * render_connections - Prints a line per connection, by service and number; with @all, or if the
 * answer has a "selection", a vertical list of each. Returns 0 or -ENOMEM.
 */
int render_connections(const json_t *answer, bool all, FILE *out) MUST_CHECK;
/**
 * render_latency - Prints a line per operation; for a single one, or with @all, the distribution.
 * Returns 0 or -ENOMEM.
 */
int render_latency(const json_t *answer, bool all, FILE *out) MUST_CHECK;
/** render_stats - Prints the counters of each service, by module. Returns 0 or -ENOMEM. */
int render_stats(const json_t *answer, const json_t *meanings, bool all, FILE *out) MUST_CHECK;
/** render_counters - Prints descriptions of the counters. Returns 0 or -ENOMEM. */
int render_counters(const json_t *answer, FILE *out) MUST_CHECK;

/**
 * render_answer - Prints an answer.
 * @command: the command that it answers
 * @answer:  the JSON; a missing member is printed as "-"
 * @extra:   additional answers, or NULL; see below
 * @all:     print every column, however long lines get, every counter, and members that this client
 *           does not know
 *
 * For stats @extra is the answer to counters, with their descriptions. For status it is {"time_s":
 * now, "services": [as of services], "latency": its answer, "connections": [as of connections]}.
 * Members that an older daemon does not know are missing; so is "connections" if the list is too
 * long.
 *
 * Returns 0 or -ENOMEM.
 */
int render_answer(enum control_command_id command, const json_t *answer, const json_t *extra,
		  bool all, FILE *out) MUST_CHECK;

/**
 * render_trace_titles - Prints the titles above the lines of trace (daemon/control/cmd_trace.c).
 * @all: for every column, else for those that fit 80 columns
 */
void render_trace_titles(bool all, FILE *out);
/** render_trace_line - Prints a finished RPC, or how many were missed; ignores other lines. */
void render_trace_line(const json_t *line, bool all, FILE *out);

#endif

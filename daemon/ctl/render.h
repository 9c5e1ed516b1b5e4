/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's answers, whose members daemon/view/answer.h lists, as text for an administrator. */
#ifndef DAEMON_CTL_RENDER_H
#define DAEMON_CTL_RENDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/control/control_request.h"

/** render_status - one screen of 80 by 24; with @all everything. Returns 0 or -ENOMEM. */
int render_status(const json_t *answer, const json_t *beside, bool all, FILE *out) MUST_CHECK;
/** render_services - a line for each service, then what is out of the ordinary. Returns 0 or -ENOMEM. */
int render_services(const json_t *answer, bool all, FILE *out) MUST_CHECK;
/** render_connections - a line for each connection, by service and number. Returns 0 or -ENOMEM. */
int render_connections(const json_t *answer, bool all, FILE *out) MUST_CHECK;
/** render_latency - a line for each operation of a service; of one alone, or with @all, how they spread. */
int render_latency(const json_t *answer, bool all, FILE *out) MUST_CHECK;
/** render_stats - the counters of each service, by module. Returns 0 or -ENOMEM. */
int render_stats(const json_t *answer, const json_t *meanings, bool all, FILE *out) MUST_CHECK;
/** render_counters - what they mean. Returns 0 or -ENOMEM. */
int render_counters(const json_t *answer, FILE *out) MUST_CHECK;

/**
 * render_answer - print an answer
 * @command:  the command that it answers
 * @answer:   the JSON; what is missing in it is printed as "-"
 * @beside:   what was asked besides, or NULL: of stats the answer to counters, by which each is explained; of status
 *	       {"time_s": now, "services": [as of services], "latency": its answer, "connections": [as of connections]},
 *	       without what an older daemon does not answer, or one with too many connections
 * @all:      every column, however long the lines get; every counter; and what this client does not know
 *
 * Returns 0 or -ENOMEM.
 */
int render_answer(enum control_command_id command, const json_t *answer, const json_t *beside,
		  bool all, FILE *out) MUST_CHECK;

/** render_trace_titles - what stands above the lines of trace (daemon/control/trace.c). */
void render_trace_titles(FILE *out);
/** render_trace_line - an RPC that is over, or how many were missed; nothing of anything else. */
void render_trace_line(const json_t *line, FILE *out);

#endif

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

/** render_check - the servers of a service and the steps that each was tried with. */
void render_check(const json_t *answer, FILE *out);
/** render_config - the configuration in force, as a file. */
void render_config(const json_t *answer, FILE *out);
/** render_reload, render_drain, render_resume, render_disconnect - what such a command has changed. */
void render_reload(const json_t *answer, FILE *out);
void render_drain(const json_t *answer, FILE *out);
void render_resume(const json_t *answer, FILE *out);
void render_disconnect(const json_t *answer, FILE *out);

/**
 * render_answer - print an answer
 * @command:  the command that it answers
 * @answer:   the JSON; what is missing in it is printed as "-"
 * @beside:   what was asked besides (beside.h), or NULL
 * @all:      every column, however long the lines get; every counter; and what this client does not know
 *
 * Returns 0 or -ENOMEM.
 */
int render_answer(enum control_command_id command, const json_t *answer, const json_t *beside,
		  bool all, FILE *out) MUST_CHECK;

#endif

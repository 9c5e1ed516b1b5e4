/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's answers, whose members daemon/control/query.h lists, as text for an administrator. */
#ifndef DAEMON_CTL_RENDER_H
#define DAEMON_CTL_RENDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/control/control_request.h"

#define RENDER_BYTES 32u

/**
 * render_answer - print an answer
 * @command: the command that it answers
 * @answer:  the JSON; what is missing in it is printed as "-"
 * @all:     of counters: those that are zero too
 *
 * Returns 0 or -ENOMEM.
 */
int render_answer(enum control_command_id command, const json_t *answer, bool all,
		  FILE *out) MUST_CHECK;

/** render_bytes - "0 B", "1023 B", "1.5 KiB" … Returns @text. */
const char *render_bytes(uint64_t bytes, char text[RENDER_BYTES]);
/** render_duration - "0s", "1m02s", "3h04m", "5d06h". Returns @text. */
const char *render_duration(double seconds, char text[RENDER_BYTES]);

#endif

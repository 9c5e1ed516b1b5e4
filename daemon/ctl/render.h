/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's answers, whose members daemon/view/answer.h lists, as text for an administrator. */
#ifndef DAEMON_CTL_RENDER_H
#define DAEMON_CTL_RENDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/control/control_request.h"

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

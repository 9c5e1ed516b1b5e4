/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands that the client does itself, by what it asks the daemon or without it. */
#ifndef DAEMON_CTL_OWN_COMMANDS_H
#define DAEMON_CTL_OWN_COMMANDS_H

#include "base/compiler.h"
#include "daemon/control/control_request.h"
#include "daemon/ctl/options.h"

/**
 * own_command - does one
 * @options:  with the socket, which need not be there
 * @argument: its words with a space between them, or NULL
 *
 * What fails is said. Returns the status to exit with.
 */
typedef int own_command(const struct options *options, const char *argument);

/** own_command_find - that of a command, or NULL if the daemon is asked for its answer. */
own_command *own_command_find(const struct control_command *command);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that rpcrdma-proxyctl implements itself, with or without the daemon. */
#ifndef DAEMON_CTL_OWN_COMMANDS_H
#define DAEMON_CTL_OWN_COMMANDS_H

#include "daemon/ctl/options.h"

/**
 * own_command - Runs a local command.
 * @options:  include the socket, which need not exist
 * @argument: the words of the command, separated by spaces, or NULL
 *
 * Prints errors. Returns the exit status.
 */
typedef int own_command(const struct options *options, const char *argument);

/** own_capture - Writes RPC messages to options->output as they pass the daemon. */
own_command own_capture;
/** own_support - Writes a support bundle: everything needed to diagnose a problem remotely, without secrets. */
own_command own_support;
/** own_top - Shows the current activity of the daemon, refreshed periodically. */
own_command own_top;
/** own_trace - Prints RPCs as they finish. */
own_command own_trace;

#endif

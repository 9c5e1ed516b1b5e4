/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that rpcrdma-proxyctl implements itself, with or without the daemon. */
#ifndef DAEMON_CTL_LOCAL_COMMANDS_H
#define DAEMON_CTL_LOCAL_COMMANDS_H

#include "daemon/ctl/options.h"

/**
 * local_command - Runs a local command.
 * @options:  include the socket, which need not exist
 * @argument: the words of the command, separated by spaces, or NULL
 *
 * Prints errors. Returns the exit status.
 */
typedef int local_command(const struct options *options, const char *argument);

/** local_capture - Writes RPC messages to options->output as they pass the daemon. */
local_command local_capture;
/**
 * local_support - Writes a support bundle: everything needed to diagnose a problem remotely,
 * without secrets.
 */
local_command local_support;
/** local_top - Shows the current activity of the daemon, refreshed periodically. */
local_command local_top;
/** local_trace - Prints RPCs as they finish. */
local_command local_trace;

#endif

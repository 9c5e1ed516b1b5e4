/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands that the client does itself, by what it asks the daemon or without it. */
#ifndef DAEMON_CTL_OWN_COMMANDS_H
#define DAEMON_CTL_OWN_COMMANDS_H

#include "daemon/ctl/options.h"

/**
 * own_command - does one
 * @options:  with the socket, which need not be there
 * @argument: its words with a space between them, or NULL
 *
 * What fails is said. Returns the status to exit with.
 */
typedef int own_command(const struct options *options, const char *argument);

/** own_capture - messages as they pass the daemon, written to options->output. */
own_command own_capture;
/** own_support - what somebody needs to know who is to find out, far from here, what is wrong: in one archive, without secrets. */
own_command own_support;
/** own_top - what the daemon does now, asked again and again. */
own_command own_top;
/** own_trace - RPCs as they finish. */
own_command own_trace;

#endif

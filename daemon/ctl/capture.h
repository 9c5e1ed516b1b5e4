/* SPDX-License-Identifier: BSD-3-Clause */
/* capture: messages as they pass the daemon, written to a file. */
#ifndef DAEMON_CTL_CAPTURE_H
#define DAEMON_CTL_CAPTURE_H

#include "daemon/ctl/options.h"

/** capture - an own_command (daemon/ctl/own_commands.h), which writes to options->output. */
int capture(const struct options *options, const char *argument);

#endif

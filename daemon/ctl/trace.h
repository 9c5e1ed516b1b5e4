/* SPDX-License-Identifier: BSD-3-Clause */
/* trace: RPCs as they finish. */
#ifndef DAEMON_CTL_TRACE_H
#define DAEMON_CTL_TRACE_H

#include "daemon/ctl/options.h"

/** trace - an own_command */
int trace(const struct options *options, const char *argument);

#endif

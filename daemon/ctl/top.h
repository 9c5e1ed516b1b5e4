/* SPDX-License-Identifier: BSD-3-Clause */
/* top: what the daemon does now, asked again and again. */
#ifndef DAEMON_CTL_TOP_H
#define DAEMON_CTL_TOP_H

#include "daemon/ctl/options.h"

/** top_run - show it; @service: that one alone, or NULL. See own_commands.h. */
int top_run(const struct options *options, const char *service);

#endif

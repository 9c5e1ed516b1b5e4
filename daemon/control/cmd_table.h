/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket of a proxy: maps each command to the module that answers it.
 *
 * Each answer also has "schema" (daemon/control/control.h). daemon/view/answer.h lists the members
 * of most answers, daemon/control/cmd_actions.h those of commands that change something.
 *
 * The answer to check is made here:
 *
 *	{"service", "result": "good", "degraded" or "failed",
 *	 "servers": [{"server", "result",
 *	              "steps": [{"step", "result": "passed", "failed" or "not tried", "took_us",
 *	                         "what", "advice"}]}]}
 */
#ifndef DAEMON_CONTROL_CMD_TABLE_H
#define DAEMON_CONTROL_CMD_TABLE_H

#include "base/compiler.h"
#include "daemon/control/control.h"
#include "daemon/view/snapshot_collect.h"

struct cmd_table;

/**
 * cmd_table_open - Opens the control socket of a proxy and logs failures.
 * @snapshot_collector: of that proxy; closed after the control socket
 *
 * Close it before the proxy is stopped. Returns 0 or a negative errno.
 */
int cmd_table_open(struct proxy *proxy, struct snapshot_collector *snapshot_collector,
		   struct cmd_table **out) MUST_CHECK;

/** cmd_table_close - Closes the control socket; accepts NULL. */
void cmd_table_close(struct cmd_table *queries);

#endif

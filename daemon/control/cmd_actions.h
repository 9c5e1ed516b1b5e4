/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of the control socket that change something: target, reload, drain, resume, disconnect.
 *
 * target      {"service", "target", "order"}
 * reload      {"reloaded": true, "kept": [NAME], "changed": [NAME], "added": [NAME],
 *              "removed": [NAME], "held": [KEY], "warnings": [LINE]},
 *             or {"error", "errors": [LINE]}
 * drain       {"draining": [NAME]}
 * resume      {"resumed": [NAME]}, or {"error", "errors": [LINE]}
 * disconnect  {"disconnected": a count}
 */
#ifndef DAEMON_CONTROL_CMD_ACTIONS_H
#define DAEMON_CONTROL_CMD_ACTIONS_H

#include <jansson.h>

#include "base/compiler.h"
#include "daemon/control/control_request.h"
#include "daemon/proxy/proxy.h"

/* @answer: a new reference; NULL if memory ran out. */
typedef void cmd_actions_done_fn(void *done_arg, json_t *answer);

/**
 * cmd_actions_run - Runs @command.
 * @who:  the client and its user, for the log
 * @done: called once with @done_arg, during this call or later: reload and resume wait for a file
 *        and for name servers
 */
void cmd_actions_run(struct proxy *proxy, enum control_command_id command, const char *argument,
		     const char *who, cmd_actions_done_fn *done, void *done_arg);

#endif

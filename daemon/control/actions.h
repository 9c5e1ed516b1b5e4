/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the commands of the control socket do that change something: reload, drain, resume, disconnect.
 *
 * reload      {"reloaded": true, "kept": [NAME], "changed": [NAME], "added": [NAME], "removed": [NAME],
 *              "held": [KEY], "warnings": [LINE]}, or {"error", "errors": [LINE]}
 * drain       {"draining": [NAME]}
 * resume      {"resumed": [NAME]}, or {"error", "errors": [LINE]}
 * disconnect  {"disconnected": a count}
 */
#ifndef DAEMON_CONTROL_ACTIONS_H
#define DAEMON_CONTROL_ACTIONS_H

#include <jansson.h>

#include "base/compiler.h"
#include "daemon/control/control_request.h"
#include "daemon/proxy/proxy.h"

/* @answer: a new reference; NULL without memory. */
typedef void action_done_fn(void *done_arg, json_t *answer);

/**
 * action_run - do what @command says
 * @who:  for the log: the client and its user
 * @done: called with @done_arg once: now; or later for reload and resume, which wait for a file and for name servers
 */
void action_run(struct proxy *proxy, enum control_command_id command, const char *argument,
		const char *who, action_done_fn *done, void *done_arg);

#endif

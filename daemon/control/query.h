/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket of a proxy: maps each command to the module that answers it.
 *
 * Each answer also has "schema" (daemon/control/control.h). daemon/view/answer.h lists the members of most answers,
 * daemon/control/actions.h those of commands that change something.
 *
 * check        {"service", "result": "good", "degraded" or "failed", "servers": [{"server", "result", "steps":
 *               [{"step", "result": "passed", "failed" or "not tried", "took_us", "what", "advice"}]}]}
 */
#ifndef DAEMON_CONTROL_QUERY_H
#define DAEMON_CONTROL_QUERY_H

#include "base/compiler.h"
#include "daemon/control/control.h"
#include "daemon/view/gather.h"

struct query_control;

/**
 * query_control_open - Opens the control socket of a proxy and logs failures.
 * @gathering: of that proxy; closed after the control socket
 *
 * Close it before the proxy is stopped. Returns 0 or a negative errno.
 */
int query_control_open(struct proxy *proxy, struct gathering *gathering,
		       struct query_control **out) MUST_CHECK;

/** query_control_close - Closes the control socket; accepts NULL. */
void query_control_close(struct query_control *queries);

#endif

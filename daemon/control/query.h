/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket of a proxy: who answers which command.
 *
 * Each answer has "schema" besides (daemon/control/control.h). What most of them have in them is in daemon/view/answer.h;
 * that of commands that change something in daemon/control/actions.h.
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
 * query_control_open - open the control socket of a proxy
 * @gathering: of that proxy; closed after it
 *
 * To be closed before the proxy is stopped. What fails is logged. Returns 0 or a negative errno.
 */
int query_control_open(struct proxy *proxy, struct gathering *gathering,
		       struct query_control **out) MUST_CHECK;

/** query_control_close - close the control socket; accepts NULL. */
void query_control_close(struct query_control *queries);

#endif

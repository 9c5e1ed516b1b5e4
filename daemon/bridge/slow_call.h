/* SPDX-License-Identifier: BSD-3-Clause */
/* A line in the log for each Call that took as long as slow_log_ms says. */
#ifndef DAEMON_BRIDGE_SLOW_CALL_H
#define DAEMON_BRIDGE_SLOW_CALL_H

#include "daemon/bridge/bridge_impl.h"
#include "daemon/bridge/call_report.h"

/** slow_call_look - tell of an RPC if it was slow, and the service asks for that; the client took @client_us. */
void slow_call_look(const struct bridge *bridge, const struct call_end *end,
		    const struct call_report *report, uint32_t client_us);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A line in the log for each Call that took as long as slow_log_ms says. */
#ifndef DAEMON_BRIDGE_SLOW_CALL_H
#define DAEMON_BRIDGE_SLOW_CALL_H

#include "daemon/bridge/bridge_impl.h"

/* What is told of a Call that is over; good where slow_call_is_looked_for(). */
struct call_report {
	uint32_t xid, status; /* of call_status_of() */
	uint32_t request_bytes, reply_bytes;
	uint32_t took_us[CALL_STAGE_COUNT]; /* the client's stage is not over */
};

/** slow_call_is_looked_for - whether the service asks for such lines. */
static inline bool slow_call_is_looked_for(const struct bridge *bridge)
{
	return bridge->ws->service->config->slow_log_ms != 0;
}
/** slow_call_report - what will be told of @x. */
void slow_call_report(const struct exchange *x, struct call_report *report);
/** slow_call_look - tell of it if it was slow; the client took @client_us. */
void slow_call_look(const struct bridge *bridge, const struct call_end *end,
		    const struct call_report *report, uint32_t client_us);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A line in the log for each Call that took as long as slow_log_ms says. */
#ifndef DAEMON_BRIDGE_SLOW_CALL_H
#define DAEMON_BRIDGE_SLOW_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/bridge/bridge_state.h"
#include "leg/exchange.h"

/* What is told of an RPC that is over but for its client's stage. */
struct call_report {
	bool wanted; /* else nothing else here is good */
	bool callback, sent, answered;
	uint8_t call_forms[2], reply_forms[2];
	uint32_t xid, status; /* of call_status_of() */
	uint32_t request_bytes, reply_bytes;
	uint32_t took_us[CALL_STAGE_COUNT]; /* the client's stage is not over */
};

/** slow_call_look - tell of an RPC if it was slow, and the service asks for that; the client took @client_us. */
void slow_call_look(const struct bridge *bridge, const struct call_end *end,
		    const struct call_report *report, uint32_t client_us);

#endif

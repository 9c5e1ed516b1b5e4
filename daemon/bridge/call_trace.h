/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports single RPCs of a bridge: to the slow log, and to taps. */
#ifndef DAEMON_BRIDGE_CALL_TRACE_H
#define DAEMON_BRIDGE_CALL_TRACE_H

#include "daemon/bridge/bridge_state.h"

/* Data of an RPC for its report, copied when all stages but the client stage have ended. */
struct call_record {
	bool wanted; /* else no other member is valid */
	bool callback, sent, answered;
	uint8_t call_forms[2], reply_forms[2];
	uint32_t xid, prog, vers;
	uint32_t status; /* from call_status_of() */
	uint32_t request_bytes, reply_bytes;
	uint32_t stage_elapsed_us[CALL_STAGE_COUNT]; /* except the client stage, which still runs */
};

/** bridge_has_taps - Returns whether the worker of the bridge has taps. */
static inline bool bridge_has_taps(const struct bridge *bridge)
{
	return !LIST_EMPTY(&bridge->ws->env->taps);
}

/**
 * call_trace_is_on - Returns whether the slow log or a tap is on; one branch per RPC if neither is.
 */
static inline bool call_trace_is_on(const struct bridge *bridge)
{
	return (bridge->ws->service->config->slow_log_ms != 0) | bridge_has_taps(bridge);
}
/**
 * call_trace_record - Fills @report from @x, a Call of @side's peer. Only if call_trace_is_on().
 */
void call_trace_record(const struct bridge_side *side, const struct exchange *x, bool answered,
		       struct call_record *report);
/**
 * call_trace - Writes a wanted report to the slow log and the taps. @client_us: duration of the
 * client stage
 */
void call_trace(const struct bridge *bridge, const struct call_end *end,
		const struct call_record *report, uint32_t client_us);

/** call_trace_message - Copies a complete Call of @side's peer, or the Reply to it, to the taps. */
void call_trace_message(const struct bridge_side *side, const struct exchange *x, bool is_reply);
/** call_trace_close - Notifies the taps of the end of this bridge. */
void call_trace_close(const struct bridge *bridge);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is told of single RPCs that pass a bridge: the log of those that took long, and taps. */
#ifndef DAEMON_BRIDGE_CALL_TELL_H
#define DAEMON_BRIDGE_CALL_TELL_H

#include "daemon/bridge/bridge_state.h"

/* What is told of an RPC that is over but for its client's stage. */
struct call_report {
	bool wanted; /* else nothing else here is good */
	bool callback, sent, answered;
	uint8_t call_forms[2], reply_forms[2];
	uint32_t xid, status; /* of call_status_of() */
	uint32_t request_bytes, reply_bytes;
	uint32_t took_us[CALL_STAGE_COUNT]; /* the client's stage is not over */
};

/** bridge_is_tapped - whether there are taps at its worker. */
static inline bool bridge_is_tapped(const struct bridge *bridge)
{
	return !LIST_EMPTY(&bridge->ws->ground->taps);
}

/** call_tell_is_wanted - whether anybody is to be told: one branch for an RPC where nobody is. */
static inline bool call_tell_is_wanted(const struct bridge *bridge)
{
	return (bridge->ws->service->config->slow_log_ms != 0) | bridge_is_tapped(bridge);
}
/** call_tell_report - what will be told of @x, a Call of @side's peer, where somebody is to be told. */
void call_tell_report(const struct bridge_side *side, const struct exchange *x, bool answered,
		      struct call_report *report);
/** call_tell - tell of it; the client took @client_us. For a report that is wanted. */
void call_tell(const struct bridge *bridge, const struct call_end *end,
	       const struct call_report *report, uint32_t client_us);

/** call_tell_message - the Call of @side's peer, or the Reply to it, is here and whole: for taps. */
void call_tell_message(const struct bridge_side *side, const struct exchange *x, bool is_reply);
/** call_tell_end - no message of this bridge follows: for taps. */
void call_tell_end(const struct bridge *bridge);

#endif

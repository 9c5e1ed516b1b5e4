// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/bridge_state.h"

STATE_TABLE(bridge_states, BRIDGE_STATES);

void bridge_set_state(struct bridge *bridge, enum bridge_state to)
{
	uint64_t now_us = loop_now_us(bridge_loop(bridge));

	bridge_debug(bridge, "%s now, after %.3f s %s", state_name(&bridge_states, to),
		     (now_us - bridge->state.since_us) / 1e6,
		     state_name(&bridge_states, bridge->state.now));
	state_move(&bridge->state, &bridge_states, to, now_us);
}

// SPDX-License-Identifier: BSD-3-Clause
/* The verbs fabric's state tables. */
#include "fabric/verbs/states.h"

STATE_TABLE(verbs_ep_states, VERBS_EP_STATES);
STATE_TABLE(verbs_key_states, VERBS_KEY_STATES);

enum verbs_parting verbs_parting(enum verbs_ep_state state, bool iwarp)
{
	switch (state) {
	case VERBS_ADOPTED:
	case VERBS_REQUESTED:
	case VERBS_ACCEPTING:
		return VERBS_PART_REJECT;
	case VERBS_CONNECTING:
		return iwarp ? VERBS_PART_ABANDON : VERBS_PART_SILENTLY;
	case VERBS_ACCEPTED:
		return iwarp ? VERBS_PART_ABANDON : VERBS_PART_DISCONNECT;
	case VERBS_OPEN:
	case VERBS_FLUSHED:
	case VERBS_DRAINING:
	case VERBS_DISCONNECTING:
		return VERBS_PART_DISCONNECT;
	default:
		return VERBS_PART_SILENTLY;
	}
}

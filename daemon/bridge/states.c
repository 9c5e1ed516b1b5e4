// SPDX-License-Identifier: BSD-3-Clause
/* The states of a bridge. */
#include "daemon/bridge/bridge.h"

STATE_TABLE(bridge_states, BRIDGE_STATES);

/* SPDX-License-Identifier: BSD-3-Clause */
/* How a bridge stands with the door of its service (daemon/service/door.h), and what it says there of itself. */
#ifndef DAEMON_BRIDGE_STANDING_H
#define DAEMON_BRIDGE_STANDING_H

#include "daemon/bridge/bridge_impl.h"

/** standing_begin - the bridge is made: @guest is its own, until door_leave(). */
void standing_begin(struct bridge *bridge, struct guest *guest);
/** standing_wait - for stall_timeout_s the client need not say anything; its server is not sought yet. */
void standing_wait(struct bridge *bridge);
/** standing_silent - that time is over. */
void standing_silent(struct bridge *bridge);
/**
 * standing_seek - its server is going to be sought
 *
 * Returns false if there is no room for it: then its end is decided.
 */
bool standing_seek(struct bridge *bridge) MUST_CHECK;
/** standing_reached - its server is reached. */
void standing_reached(struct bridge *bridge);
/** standing_carry - it has given its first Call. Returns false if it had to go: then its end is decided. */
bool standing_carry(struct bridge *bridge) MUST_CHECK;

#endif

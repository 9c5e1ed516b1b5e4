/* SPDX-License-Identifier: BSD-3-Clause */
/* How a bridge stands with the door of its service (daemon/service/door.h), and what it says there of itself. */
#ifndef DAEMON_BRIDGE_STANDING_H
#define DAEMON_BRIDGE_STANDING_H

#include <stdbool.h>

#include "base/compiler.h"

struct bridge;
struct guest;
struct worker_service;

/** bridges_end_expelled - close those of a service on this worker that have to go for others. */
void bridges_end_expelled(struct worker_service *ws);

/** bridges_end_ordered - close those of a service on this worker whose server was taken down, if orders have changed. */
void bridges_end_ordered(struct worker_service *ws);

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
/** bridge_client_half_closed - handle that event of the client's leg, whose side is @arg. */
void bridge_client_half_closed(void *arg);
/**
 * standing_half_closed_goes_on - tell the door which unanswered Call is the oldest now, and begin its time limit anew
 *
 * Call it when a Call of a half-closed client begins or ends.
 */
void standing_half_closed_goes_on(struct bridge *bridge);
/** standing_half_closed_waited - close a half-closed connection if its client took nothing in half_closed_timeout_s. */
void standing_half_closed_waited(struct bridge *bridge);
/** standing_reached - its server is reached. */
void standing_reached(struct bridge *bridge);
/** standing_carry - it has given its first Call. Returns false if it had to go: then its end is decided. */
bool standing_carry(struct bridge *bridge) MUST_CHECK;

#endif

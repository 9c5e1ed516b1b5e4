/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports the progress of a bridge to the connection limits (daemon/service/door.h), and runs its idle timer. */
#ifndef DAEMON_BRIDGE_STANDING_H
#define DAEMON_BRIDGE_STANDING_H

#include <stdbool.h>

#include "base/compiler.h"

struct bridge;
struct guest;
struct worker_service;

/** bridges_end_expelled - Closes the evicted bridges of a service on this worker. */
void bridges_end_expelled(struct worker_service *ws);

/** bridges_end_ordered - Closes the bridges of a service on this worker whose server has been disabled. */
void bridges_end_ordered(struct worker_service *ws);

/** standing_begin - Gives the new bridge its connection slot @guest, until door_leave(); starts the idle timer. */
void standing_begin(struct bridge *bridge, struct guest *guest);
/** standing_wait - Starts the idle timer, stall_timeout_s, of a client whose upstream has not started. */
void standing_wait(struct bridge *bridge);
/** standing_silent - Closes the bridge after that time, unless the client sent something or waits for memory. */
void standing_silent(struct bridge *bridge);
/**
 * standing_seek - Counts the connection against the limits, before its upstream starts.
 *
 * Returns true, or false if a limit rejects it; then the bridge is closing.
 */
bool standing_seek(struct bridge *bridge) MUST_CHECK;
/** bridge_client_half_closed - Handles the half-close of the client leg. @arg: the bridge_side */
void bridge_client_half_closed(void *arg);
/**
 * standing_half_closed_goes_on - Reports the oldest unanswered Call to the limits, and restarts the time limit.
 *
 * To be called when a Call of a half-closed client starts or finishes.
 */
void standing_half_closed_goes_on(struct bridge *bridge);
/** standing_half_closed_waited - Closes a half-closed bridge after half_closed_timeout_s without progress. */
void standing_half_closed_waited(struct bridge *bridge);
/** standing_reached - Reports the open server leg. */
void standing_reached(struct bridge *bridge);
/** standing_carry - Reports the first Call. Returns false if the bridge was evicted and is closing. */
bool standing_carry(struct bridge *bridge) MUST_CHECK;

#endif

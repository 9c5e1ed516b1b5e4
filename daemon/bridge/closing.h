/* SPDX-License-Identifier: BSD-3-Clause */
/* How a bridge ends. */
#ifndef DAEMON_BRIDGE_CLOSING_H
#define DAEMON_BRIDGE_CLOSING_H

#include "daemon/service/close_text.h"
#include "leg/leg.h"

struct bridge;
struct upstream;

/**
 * bridge_close - close both legs for @why, on account of @by
 * @detail: what is known beyond that, or ""
 *
 * The first reason is the bridge's, logged and counted once; with it a client may be held for a moment before its leg
 * closes. Another one has what is left close sooner: a client that is held is held no longer.
 */
void bridge_close(struct bridge *bridge, enum leg_close why, enum close_by by, const char *detail);

/**
 * bridge_drain - end it between Calls: for LEG_CLOSE_SHUTDOWN, when none that it has passed on is without its Reply
 *
 * Reverse Calls count, too. One that is not open yet has passed nothing on, and ends at once. There is no time limit:
 * bridge_close() is the caller's. Doing it again does nothing.
 */
void bridge_drain(struct bridge *bridge);

/** bridge_reap - the task that frees a bridge whose legs are over. @arg: the bridge. */
void bridge_reap(void *arg);

/* Events of the client's leg, for which @arg is the side, and of the upstream. */

/** bridge_client_closing - the client's leg is going to end. */
void bridge_client_closing(void *arg, enum leg_close why, const char *detail);
/** bridge_client_closed - … is over. */
void bridge_client_closed(void *arg);
/** bridge_server_closing - the server cannot be reached, or the leg that did reach it closes. */
void bridge_server_closing(struct upstream *upstream, enum leg_close why, const char *detail);
/** bridge_server_closed - nothing is left of the upstream that could call back. */
void bridge_server_closed(struct upstream *upstream);

#endif

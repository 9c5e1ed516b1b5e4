/* SPDX-License-Identifier: BSD-3-Clause */
/* Closing of a bridge. */
#ifndef DAEMON_BRIDGE_BRIDGE_CLOSE_H
#define DAEMON_BRIDGE_BRIDGE_CLOSE_H

#include "daemon/service/close_reason_text.h"
#include "leg/leg.h"

struct bridge;
struct upstream;

/**
 * bridge_close - Closes both legs for the reason @why.
 * @by:     the side that caused it
 * @detail: more about the reason, or ""
 *
 * The first call sets the reason of the bridge, which is logged and counted once. A client that has
 * received no data can first stay in the tarpit for a moment. A second call closes the client leg
 * immediately.
 */
void bridge_close(struct bridge *bridge, enum leg_close why, enum close_by by, const char *detail);

/**
 * bridge_drain - Closes for LEG_CLOSE_SHUTDOWN once every Call in flight, in either direction, has
 * its Reply.
 *
 * A bridge that is not open yet has forwarded nothing and closes immediately. Draining has no time
 * limit; the caller enforces one with bridge_close(). A second call does nothing.
 */
void bridge_drain(struct bridge *bridge);

/** bridge_reap - Frees a bridge whose legs have closed; a loop task. @arg: the bridge */
void bridge_reap(void *arg);

/* Events of the client leg, whose @arg is the bridge_side, and of the upstream. */

/** bridge_client_closing - Closes the bridge because the client leg closes. */
void bridge_client_closing(void *arg, enum leg_close why, const char *detail);
/** bridge_client_closed - Handles the end of the client leg. */
void bridge_client_closed(void *arg);
/**
 * bridge_server_closing - Closes the bridge because the server is unreachable or the server leg
 * closes.
 */
void bridge_server_closing(struct upstream *upstream, enum leg_close why, const char *detail);
/** bridge_server_closed - Handles the last callback of the upstream. */
void bridge_server_closed(struct upstream *upstream);

#endif

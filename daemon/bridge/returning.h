/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records what identifies the client of a bridge when it reconnects (daemon/service/clients.h): its unanswered
 * Calls, the Calls answered last, and the source port of the upstream connection.
 */
#ifndef DAEMON_BRIDGE_RETURNING_H
#define DAEMON_BRIDGE_RETURNING_H

#include "daemon/bridge/bridge_state.h"
#include "daemon/service/incoming.h"

/** bridge_enters_privileged - Returns whether the client is privileged, as far as the accepted connection shows. */
bool bridge_enters_privileged(const struct bridge *bridge, const struct incoming *in);
/**
 * bridge_enter - Registers the client with the service.
 * @superseded, @resumed: callbacks of struct client_owner; their arg is the bridge
 *
 * Returns 0 or -ENOMEM.
 */
int bridge_enter(struct bridge *bridge, const struct incoming *in, void (*superseded)(void *arg),
		 void (*resumed)(void *arg)) MUST_CHECK;
/** bridge_pin - Returns the source address and port of the upstream, or the ones it asks for before it opens. */
struct client_pin bridge_pin(const struct bridge *bridge);
/** bridge_leave - Retains the source port for the client after the upstream closed. A second call does nothing. */
void bridge_leave(struct bridge *bridge);

/** bridge_call_ends - Removes a Call that has its Reply or a fault, and puts its reference. */
void bridge_call_ends(struct bridge *bridge, struct exchange *x);
/** bridge_calls_stay - Discards the unanswered Calls of a closing bridge, and registers their fingerprints. */
void bridge_calls_stay(struct bridge *bridge);
/** bridge_calls_half_closed - Registers fingerprints already now: the client can reconnect before this closes. */
void bridge_calls_half_closed(struct bridge *bridge);

#endif

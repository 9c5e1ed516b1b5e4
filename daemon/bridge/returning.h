/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By what the client of a bridge will be known when it comes back (daemon/service/clients.h): the Calls that it
 * waits for, those answered last, and the port of the upstream connection.
 */
#ifndef DAEMON_BRIDGE_RETURNING_H
#define DAEMON_BRIDGE_RETURNING_H

#include "daemon/bridge/bridge_state.h"
#include "daemon/service/incoming.h"

/** bridge_enters_privileged - whether its client is privileged, as far as is known when it comes. */
bool bridge_enters_privileged(const struct bridge *bridge, const struct incoming *in);
/**
 * bridge_enter - be among the clients of the service
 * @superseded, @resumed: of struct client_owner; their arg is the bridge
 *
 * Returns 0 or -ENOMEM.
 */
int bridge_enter(struct bridge *bridge, const struct incoming *in, void (*superseded)(void *arg),
		 void (*resumed)(void *arg)) MUST_CHECK;
/** bridge_pin - from where its upstream comes, or is to come. */
struct client_pin bridge_pin(const struct bridge *bridge);
/** bridge_leave - the upstream is over: its port stays behind. Nothing the second time. */
void bridge_leave(struct bridge *bridge);

/** bridge_call_ends - it has a Reply, or a fault; the reference that was kept is put. */
void bridge_call_ends(struct bridge *bridge, struct exchange *x);
/** bridge_calls_stay - the end is decided: what is not answered now never is here. */
void bridge_calls_stay(struct bridge *bridge);
/** bridge_calls_half_closed - leave the marks of unanswered Calls: the client may be back before its connection ends. */
void bridge_calls_half_closed(struct bridge *bridge);

#endif

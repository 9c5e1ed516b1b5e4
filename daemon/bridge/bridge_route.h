/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes the Calls of a client by their program:
 *
 *	NFS, NFSACL     to a server of `connect`
 *	MOUNT           to a server of `mount`, or nowhere if that is "off"
 *	all others      nowhere
 *
 * The first Call selects the route of the connection: MOUNT selects `mount`, unless that is "off";
 * any other program selects `connect`. A Call with another route gets PROG_UNAVAIL, as from a
 * server without the program. With mount = "connect" all Calls go to `connect`.
 */
#ifndef DAEMON_BRIDGE_BRIDGE_ROUTE_H
#define DAEMON_BRIDGE_BRIDGE_ROUTE_H

#include <stdbool.h>

#include "base/compiler.h"
#include "daemon/bridge/bridge_state.h"

/** bridge_route_is_single - Returns whether all Calls go to `connect`. */
static inline bool bridge_route_is_single(const struct bridge *bridge)
{
	return bridge->ws->service->config->mount.way == MOUNT_CONNECT;
}
/**
 * bridge_route_choose - Decides the route of the connection from its first Call @x, unless decided
 * already.
 */
void bridge_route_choose(struct bridge *bridge, const struct exchange *x);
/**
 * bridge_route_matches - Returns whether @x has the route of its connection; after
 * bridge_route_choose().
 */
bool bridge_route_matches(const struct bridge *bridge, const struct exchange *x) MUST_CHECK;
/**
 * bridge_route_first_reply - Looks at the first Reply @x of the server.
 *
 * With a wrong port in connect, a client can be at a server that has no NFS, and with mount =
 * "connect", a client of MOUNT at a server that has no MOUNT. The first such client of the service
 * makes a warning. Linux clients ask for MOUNT on a connection of its own, so the first Reply
 * tells.
 */
void bridge_route_first_reply(struct bridge *bridge, const struct exchange *x);
/**
 * bridge_route_reject - Rejects the Call @x of the client, which is in bridge->calls.list and not
 * forwarded.
 */
void bridge_route_reject(struct bridge *bridge, struct exchange *x);

#endif

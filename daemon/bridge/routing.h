/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes the Calls of a client by their program:
 *
 *	NFS, NFSACL     to a server of `connect`
 *	MOUNT           to a server of `mount`, or nowhere if that is "off"
 *	all others      nowhere
 *
 * The first Call decides the route of the connection; a first Call that goes nowhere selects `connect`. Any Call with
 * another route gets PROG_UNAVAIL, as from a server without the program. With mount = "connect" all Calls go to `connect`.
 */
#ifndef DAEMON_BRIDGE_ROUTING_H
#define DAEMON_BRIDGE_ROUTING_H

#include <stdbool.h>

#include "base/compiler.h"
#include "daemon/bridge/bridge_state.h"

/** routing_is_plain - Returns whether all Calls go to `connect`. */
static inline bool routing_is_plain(const struct bridge *bridge)
{
	return bridge->ws->service->config->mount.way == MOUNT_CONNECT;
}
/** routing_begin - Decides the route of the connection from its first Call @x, unless decided already. */
void routing_begin(struct bridge *bridge, const struct exchange *x);
/** routing_takes - Returns whether @x has the route of its connection; after routing_begin(). */
bool routing_takes(const struct bridge *bridge, const struct exchange *x) MUST_CHECK;
/** routing_refuse - Rejects the Call @x of the client, which is in bridge->calls.list and not forwarded. */
void routing_refuse(struct bridge *bridge, struct exchange *x);

#endif

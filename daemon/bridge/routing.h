/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the Calls of a client go, by their program, where those of MOUNT have a way of their own (`mount`).
 *
 *	NFS, NFSACL     connect
 *	MOUNT           as mount says; nowhere if it is "off"
 *	all others      nowhere
 *
 * A connection leads one way, that of its first Call; one that goes nowhere counts as one for connect. Any other Call gets
 * PROG_UNAVAIL, as from a server that has no such program. With mount = "connect" all Calls go there.
 */
#ifndef DAEMON_BRIDGE_ROUTING_H
#define DAEMON_BRIDGE_ROUTING_H

#include <stdbool.h>

#include "base/compiler.h"
#include "daemon/bridge/bridge_state.h"

/** routing_is_plain - whether all Calls go to the same server, whatever they are. */
static inline bool routing_is_plain(const struct bridge *bridge)
{
	return bridge->ws->service->config->mount.way == MOUNT_CONNECT;
}
/** routing_begin - its first Call is @x: decide where it leads, unless that is decided. */
void routing_begin(struct bridge *bridge, const struct exchange *x);
/** routing_takes - whether @x goes where its connection leads, which is decided. */
bool routing_takes(const struct bridge *bridge, const struct exchange *x) MUST_CHECK;
/** routing_refuse - answer a Call of the client's that does not; it is among bridge->calls.list, and nobody else has it. */
void routing_refuse(struct bridge *bridge, struct exchange *x);

#endif

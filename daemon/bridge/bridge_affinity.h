/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records what identifies the client of a bridge when it reconnects
 * (daemon/service/client_affinity.h): its unanswered Calls, the Calls answered last, and the source
 * port of the upstream connection.
 */
#ifndef DAEMON_BRIDGE_BRIDGE_AFFINITY_H
#define DAEMON_BRIDGE_BRIDGE_AFFINITY_H

#include "daemon/bridge/bridge_state.h"
#include "daemon/service/accepted_conn.h"

/**
 * bridge_affinity_is_privileged - Returns whether the client is privileged, as far as the accepted
 * connection shows.
 */
bool bridge_affinity_is_privileged(const struct bridge *bridge, const struct accepted_conn *in);
/**
 * bridge_affinity_register - Registers the client with the service.
 * @superseded, @resumed: callbacks of struct client_owner; their arg is the bridge
 *
 * Returns 0 or -ENOMEM.
 */
int bridge_affinity_register(struct bridge *bridge, const struct accepted_conn *in,
			     void (*superseded)(void *arg), void (*resumed)(void *arg)) MUST_CHECK;
/**
 * bridge_affinity_source - Returns the source address and port of the upstream; before it opens,
 * the preferred ones.
 */
struct source_affinity bridge_affinity_source(const struct bridge *bridge);
/**
 * bridge_affinity_retain - Retains the source port for the client after the upstream closed. A
 * second call does nothing.
 */
void bridge_affinity_retain(struct bridge *bridge);

/**
 * bridge_affinity_call_done - Removes a Call that has a Reply or a fault, and drops its reference.
 */
void bridge_affinity_call_done(struct bridge *bridge, struct exchange *x);
/**
 * bridge_affinity_closing - Discards the unanswered Calls of a closing bridge, and registers their
 * fingerprints.
 */
void bridge_affinity_closing(struct bridge *bridge);
/**
 * bridge_affinity_half_closed - Registers the fingerprints of a half-closed client's Calls: it can
 * reconnect before this connection closes.
 */
void bridge_affinity_half_closed(struct bridge *bridge);

#endif

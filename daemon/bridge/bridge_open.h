/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening of a bridge: handlers of the events of its client leg and of its upstream. */
#ifndef DAEMON_BRIDGE_BRIDGE_OPEN_H
#define DAEMON_BRIDGE_BRIDGE_OPEN_H

#include "daemon/bridge/bridge_state.h"

/* Events of the client leg; @arg is the bridge_side. */

/** bridge_client_requested - Handles a client that waits to be accepted. */
void bridge_client_requested(void *arg);
/**
 * bridge_detect_protocol - Detects whether a waiting client speaks TCP or RDMA; a loop task. @arg:
 * the bridge
 */
void bridge_detect_protocol(void *arg);
/** bridge_server_connecting - Handles the resolved name of the server. */
void bridge_server_connecting(struct upstream *upstream);
/** bridge_server_opened - Handles the open server leg @leg. */
void bridge_server_opened(struct upstream *upstream, struct leg *leg);
/**
 * bridge_server_replied - Logs the bridge as open, if the server had been down until this Reply.
 */
void bridge_server_replied(struct bridge *bridge);
/** bridge_has_forwarded_call - Returns whether a Call of the client was forwarded to the server. */
bool bridge_has_forwarded_call(struct upstream *upstream);
/** bridge_client_opened - Handles the open client leg. */
void bridge_client_opened(void *arg);

/**
 * bridge_reroute - Replaces the open upstream by one to a MOUNT server, because of the first Call.
 */
void bridge_reroute(struct bridge *bridge);
/**
 * bridge_reroute_continue - Connects to the MOUNT server once the first leg has closed; a loop
 * task. @arg: the bridge
 */
void bridge_reroute_continue(void *arg);
/**
 * bridge_client_called - Handles a Call, or a part of it, that arrives before a server is
 * connected.
 */
void bridge_client_called(struct bridge *bridge);
/**
 * bridge_recheck_old_conn - Checks whether the client's previous connection has closed. @arg: the
 * bridge
 */
void bridge_recheck_old_conn(void *arg);
/** bridge_old_conn_poll - The same, for a timer; stops waiting after OLD_CONN_LIMIT_US. */
void bridge_old_conn_poll(struct bridge *bridge);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening of a bridge: handlers of the events of its client leg and of its upstream. */
#ifndef DAEMON_BRIDGE_OPENING_H
#define DAEMON_BRIDGE_OPENING_H

#include "daemon/bridge/bridge_state.h"

/* Events of the client leg; @arg is the bridge_side. */

/** bridge_client_requested - Handle a client that waits to be accepted. */
void bridge_client_requested(void *arg);
/** bridge_settle - Detect whether a waiting client speaks TCP or RDMA; a loop task. @arg: the bridge */
void bridge_settle(void *arg);
/** bridge_server_connecting - Handle the resolved name of the server. */
void bridge_server_connecting(struct upstream *upstream);
/** bridge_server_opened - Handle the open server leg @leg. */
void bridge_server_opened(struct upstream *upstream, struct leg *leg);
/** bridge_server_answered - Log the bridge as open, if the server had been down until this Reply. */
void bridge_server_answered(struct bridge *bridge);
/** bridge_has_called - Return whether a Call of the client was forwarded to the server. */
bool bridge_has_called(struct upstream *upstream);
/** bridge_client_opened - Handle the open client leg. */
void bridge_client_opened(void *arg);

/** bridge_reroute - Replace the open upstream by one to a MOUNT server, where the first Call goes. */
void bridge_reroute(struct bridge *bridge);
/** bridge_reroute_on - Connect to the MOUNT server once the first leg has closed; a loop task. @arg: the bridge */
void bridge_reroute_on(void *arg);
/** bridge_client_called - Handle a Call, or more of one, that arrived before a server is connected. */
void bridge_client_called(struct bridge *bridge);
/** bridge_seek_on - Check again whether the client's previous connection has closed. @arg: the bridge */
void bridge_seek_on(void *arg);
/** bridge_reclaim_again - Check the same on a timer; stop waiting after RECLAIM_LIMIT_US. */
void bridge_reclaim_again(struct bridge *bridge);

#endif

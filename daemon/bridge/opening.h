/* SPDX-License-Identifier: BSD-3-Clause */
/* How a bridge opens: events of its client's leg, for which @arg is the side, and of its upstream. */
#ifndef DAEMON_BRIDGE_OPENING_H
#define DAEMON_BRIDGE_OPENING_H

#include "daemon/bridge/bridge_state.h"

/** bridge_client_requested - the client is here, and waits to be accepted. */
void bridge_client_requested(void *arg);
/** bridge_settle - the task of a client that may be TCP or RDMA, and waits to be accepted. @arg: the bridge. */
void bridge_settle(void *arg);
/** bridge_server_connecting - the server's name is resolved. */
void bridge_server_connecting(struct upstream *upstream);
/** bridge_server_opened - the server is reached, by @leg. */
void bridge_server_opened(struct upstream *upstream, struct leg *leg);
/** bridge_server_answered - the server did not answer before, and does now. */
void bridge_server_answered(struct bridge *bridge);
/** bridge_has_called - returns whether a Call of the client's was passed on to the server. */
bool bridge_has_called(struct upstream *upstream);
/** bridge_client_opened - the client is accepted. */
void bridge_client_opened(void *arg);

/** bridge_reroute - its first Call does not go to the server that is reached: seek that to which it does. */
void bridge_reroute(struct bridge *bridge);
/** bridge_reroute_on - the task once the first server's leg is over. @arg: the bridge. */
void bridge_reroute_on(void *arg);
/** bridge_client_called - a Call of the client's is here, or more of one, and no server yet. */
void bridge_client_called(struct bridge *bridge);
/** bridge_seek_on - the client's old connection may be over. @arg: the bridge. */
void bridge_seek_on(void *arg);
/** bridge_reclaim_again - ask once more whether the old connection has ended; past its time limit it is waited for no longer. */
void bridge_reclaim_again(struct bridge *bridge);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* How a bridge ends. */
#ifndef DAEMON_BRIDGE_CLOSING_H
#define DAEMON_BRIDGE_CLOSING_H

#include "daemon/bridge/bridge_impl.h"

/** bridge_reap - the task that frees a bridge whose legs are over. @arg: the bridge. */
void bridge_reap(void *arg);

/* Events of the client's leg, for which @arg is the side, and of the upstream. */

/** bridge_client_closing - the client's leg is going to end. */
void bridge_client_closing(void *arg, enum leg_close why, const char *detail);
/** bridge_client_closed - … is over. */
void bridge_client_closed(void *arg);
/** bridge_server_closing - the server cannot be reached, or the leg that did reach it closes. */
void bridge_server_closing(struct upstream *upstream, enum leg_close why, const char *detail);
/** bridge_server_closed - nothing is left of the upstream that could call back. */
void bridge_server_closed(struct upstream *upstream);

#endif

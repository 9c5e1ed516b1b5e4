/* SPDX-License-Identifier: BSD-3-Clause */
/* How a bridge opens: events of its legs, for which @arg is the side. */
#ifndef DAEMON_BRIDGE_OPENING_H
#define DAEMON_BRIDGE_OPENING_H

#include "daemon/bridge/bridge_impl.h"

/** bridge_client_requested - the client is here, and waits to be accepted. */
void bridge_client_requested(void *arg);
/** bridge_server_connecting - the server's name is resolved. */
void bridge_server_connecting(void *arg);
/** bridge_server_opened - the server is reached, by @leg. */
void bridge_server_opened(void *arg, struct leg *leg);
/** bridge_client_opened - the client is accepted. */
void bridge_client_opened(void *arg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What passes through a bridge: events of either leg, for which @arg is the side. */
#ifndef DAEMON_BRIDGE_PASSING_H
#define DAEMON_BRIDGE_PASSING_H

#include "daemon/bridge/bridge_state.h"

/** bridge_call - a Call that the peer of this side has sent. */
void bridge_call(void *arg, struct exchange *x);
/** bridge_reply - the Reply to a Call that this side was given, or a fault. */
void bridge_reply(void *arg, struct exchange *x);
/** bridge_more - a message that was given up before it was complete has grown. */
void bridge_more(void *arg, struct exchange *x);
/** bridge_call_ready - this side takes Calls again. */
void bridge_call_ready(void *arg);
/** bridge_note - something worth a line in the log. */
void bridge_note(void *arg, const char *text);

/* The same of the server's leg, for which @arg is the upstream. */
void bridge_server_call(void *arg, struct exchange *x);
void bridge_server_reply(void *arg, struct exchange *x);
void bridge_server_more(void *arg, struct exchange *x);
void bridge_server_call_ready(void *arg);
void bridge_server_note(void *arg, const char *text);

#endif

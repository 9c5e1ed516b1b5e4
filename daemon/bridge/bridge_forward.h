/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwards Calls and Replies between the legs: handlers of leg events. @arg is the bridge_side of
 * the leg.
 */
#ifndef DAEMON_BRIDGE_BRIDGE_FORWARD_H
#define DAEMON_BRIDGE_BRIDGE_FORWARD_H

#include "daemon/bridge/bridge_state.h"

/** bridge_forward_call - Forwards a Call of the peer of this side. */
void bridge_forward_call(void *arg, struct exchange *x);
/**
 * bridge_forward_reply - Forwards the Reply, or the fault, to a Call that was sent on this side.
 */
void bridge_forward_reply(void *arg, struct exchange *x);
/**
 * bridge_forward_more - Forwards more bytes of a message that was delivered before it was complete.
 */
void bridge_forward_more(void *arg, struct exchange *x);
/**
 * bridge_forward_resume - Makes the other leg deliver Calls again, because this leg can send them.
 */
void bridge_forward_resume(void *arg);
/** bridge_note - Logs a note of the leg. */
void bridge_note(void *arg, const char *text);

/* The same for the server leg, whose @arg is the upstream. */
void bridge_server_call(void *arg, struct exchange *x);
void bridge_server_reply(void *arg, struct exchange *x);
void bridge_server_more(void *arg, struct exchange *x);
void bridge_server_call_ready(void *arg);
void bridge_server_note(void *arg, const char *text);

#endif

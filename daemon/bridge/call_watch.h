/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for Calls that wait long for the server: the bridges of a service on one worker, each LATE_CALLS_LOOK_US, some
 * in a turn of the loop. An RPC costs a look at one flag; without bridges nothing is done.
 */
#ifndef DAEMON_BRIDGE_CALL_WATCH_H
#define DAEMON_BRIDGE_CALL_WATCH_H

#include "daemon/bridge/bridge_state.h"

#define CALL_WATCH_SLICE 1000u /* bridges and late Calls that a turn looks at */

/** call_watch_begin - there is a bridge in the list; without memory for a timer the next one is waited for. */
void call_watch_begin(struct worker_service *ws);
/** call_watch_end - there may be none any more. */
void call_watch_end(struct worker_service *ws);
/** call_watch_over - a Call of a bridge that has late ones (bridge->calls.late) is over; @answered: by the server. */
void call_watch_over(struct bridge *bridge, const struct exchange *x, bool answered);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds Calls that have waited long for the server. A timer scans the bridges of a service on one worker every
 * LATE_CALLS_LOOK_US, a bounded number in one iteration of the event loop. Each RPC only tests one flag. The timer
 * exists only while the service has bridges.
 */
#ifndef DAEMON_BRIDGE_CALL_WATCH_H
#define DAEMON_BRIDGE_CALL_WATCH_H

#include "daemon/bridge/bridge_state.h"

#define CALL_WATCH_SLICE 1000u /* bridges plus late Calls scanned in one iteration */

/** call_watch_begin - Starts the scan after a bridge was added; without memory the next call tries again. */
void call_watch_begin(struct worker_service *ws);
/** call_watch_end - Stops the scan if no bridge is left. */
void call_watch_end(struct worker_service *ws);
/**
 * call_watch_over - Accounts for a finished Call of a bridge whose calls.late is set.
 * @answered: the server replied to it
 */
void call_watch_over(struct bridge *bridge, const struct exchange *x, bool answered);

#endif

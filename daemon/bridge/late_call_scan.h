/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds Calls that have waited long for the server. A timer scans the bridges of a service on one
 * worker every LATE_CALLS_SCAN_US, LATE_CALL_SCAN_BATCH per iteration of the event loop. An RPC
 * itself only tests one flag. The timer exists only while the service has bridges.
 */
#ifndef DAEMON_BRIDGE_LATE_CALL_SCAN_H
#define DAEMON_BRIDGE_LATE_CALL_SCAN_H

#include "daemon/bridge/bridge_state.h"

#define LATE_CALL_SCAN_BATCH 1000u /* bridges plus late Calls scanned in one iteration */

/**
 * late_call_scan_start - Starts the scan after a bridge was added; without memory the next call
 * tries again.
 */
void late_call_scan_start(struct worker_service *ws);
/** late_call_scan_stop - Stops the scan if no bridge is left. */
void late_call_scan_stop(struct worker_service *ws);
/**
 * late_call_scan_done - Accounts for a finished Call, if the bridge has calls.late set.
 * @answered: the server replied to it
 */
void late_call_scan_done(struct bridge *bridge, const struct exchange *x, bool answered);

#endif

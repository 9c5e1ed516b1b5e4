/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports the progress of a bridge to the connection limits (daemon/service/conn_limits.h), and
 * runs its idle timer.
 */
#ifndef DAEMON_BRIDGE_BRIDGE_LIMITS_H
#define DAEMON_BRIDGE_BRIDGE_LIMITS_H

#include <stdbool.h>

#include "base/compiler.h"

struct bridge;
struct conn_slot;
struct worker_service;

/** bridge_limits_close_evicted - Closes the evicted bridges of a service on this worker. */
void bridge_limits_close_evicted(struct worker_service *ws);

/**
 * bridge_limits_close_disabled - Closes the bridges to disabled servers, of a service on this
 * worker.
 */
void bridge_limits_close_disabled(struct worker_service *ws);

/**
 * bridge_limits_start - Gives a new bridge its connection slot @slot, which the bridge frees by
 * conn_slot_free(), and calls bridge_limits_idle_start().
 */
void bridge_limits_start(struct bridge *bridge, struct conn_slot *slot);
/**
 * bridge_limits_idle_start - Starts or restarts the idle timer (stall_timeout_s), which runs until
 * the upstream starts: bridge_limits_connecting() stops it.
 */
void bridge_limits_idle_start(struct bridge *bridge);
/**
 * bridge_limits_idle_expired - Closes the bridge when its idle timer expires, unless the client has
 * sent something or waits for memory.
 */
void bridge_limits_idle_expired(struct bridge *bridge);
/**
 * bridge_limits_connecting - Counts the connection against the limits, before its upstream starts.
 *
 * Returns true, or false if a limit rejects it; then the bridge is closing.
 */
bool bridge_limits_connecting(struct bridge *bridge) MUST_CHECK;
/** bridge_client_half_closed - Handles the half-close of the client leg. @arg: the bridge_side */
void bridge_client_half_closed(void *arg);
/**
 * bridge_limits_half_closed_progress - Reports the oldest unanswered Call to the limits, and
 * restarts the time limit.
 *
 * To be called when a Call of a half-closed client starts or finishes.
 */
void bridge_limits_half_closed_progress(struct bridge *bridge);
/**
 * bridge_limits_half_closed_expired - Closes a half-closed bridge after half_closed_timeout_s
 * without progress.
 */
void bridge_limits_half_closed_expired(struct bridge *bridge);
/** bridge_limits_connected - Reports the open server leg. */
void bridge_limits_connected(struct bridge *bridge);
/**
 * bridge_limits_first_call - Reports the first Call. Returns false if the bridge was evicted and is
 * closing.
 */
bool bridge_limits_first_call(struct bridge *bridge) MUST_CHECK;

#endif

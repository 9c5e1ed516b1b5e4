/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands accepted connections to workers, on the main thread, while descriptors are left. */
#ifndef DAEMON_PROXY_ACCEPT_H
#define DAEMON_PROXY_ACCEPT_H

#include "daemon/service/listener.h"

/* Interval of the warning that clients wait for descriptors. */
#define ACCEPT_SHORTAGE_LOG_US 60000000u

/* Event handlers for the listener of a service; the arg is its struct proxy_service. */
extern const struct listener_events accept_events;

/**
 * accept_max_connections - Returns how many connections, of two descriptors each, the free
 * descriptors allow.
 */
unsigned accept_max_connections(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Periodic health checks, which find a server that is down before a client needs it.
 *
 * Every probe_interval_s the servers without a client connection get a NULL Call, over a separate
 * connection (daemon/health/health.h). Servers with a client connection are not checked: a Reply to
 * a client is better evidence.
 *
 * A server that has become doubtful (daemon/service/server_health.h) is checked immediately, even
 * if probe_interval_s is 0, but at most once in HEALTH_TIMER_DOUBT_US. MOUNT servers
 * (daemon/service/servers.h) are checked only when they are doubtful, by a NULL Call of MOUNT.
 */
#ifndef DAEMON_PROXY_HEALTH_TIMER_H
#define DAEMON_PROXY_HEALTH_TIMER_H

#include "base/compiler.h"
#include "daemon/proxy/proxy_priv.h"

#define HEALTH_TIMER_DOUBT_US 5000000u

/** health_timer_start - Starts the checks. Returns 0 or -ENOMEM. */
int health_timer_start(struct proxy_service *ps) MUST_CHECK;
/**
 * health_timer_stop - Stops the checks. Calls @on_drained with @arg on the main thread when a
 * running check has finished.
 */
void health_timer_stop(struct proxy_service *ps, void (*on_drained)(void *arg), void *arg);
/** health_timer_check_doubtful - Checks the doubtful servers, if any, unless a check is running. */
void health_timer_check_doubtful(struct proxy_service *ps);
/** health_timer_is_busy - Returns whether a check is running. */
bool health_timer_is_busy(const struct proxy_service *ps);
/** health_timer_fini - Frees the timers; aborts a running check and waits for its end. */
void health_timer_fini(struct proxy_service *ps);

#endif

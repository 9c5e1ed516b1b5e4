/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Periodic health checks, which find a server that is down before a client needs it.
 *
 * Every probe_interval_s the servers without a client connection get a NULL Call, over a separate connection
 * (daemon/health/health.h). Servers with a client connection are not checked: a Reply to a client is better evidence.
 *
 * A server that has become doubtful (daemon/service/server_state.h) is checked immediately, also without
 * probe_interval_s, but at most once in PROBING_DOUBT_US. MOUNT servers (daemon/service/targets.h) are checked
 * only when they are doubtful, by a separate NULL of MOUNT.
 */
#ifndef DAEMON_PROXY_PROBING_H
#define DAEMON_PROXY_PROBING_H

#include "base/compiler.h"
#include "daemon/proxy/proxy_parts.h"

#define PROBING_DOUBT_US 5000000u

/** probing_begin - Starts the checks. Returns 0 or -ENOMEM. */
int probing_begin(struct proxy_service *ps) MUST_CHECK;
/** probing_end - Stops the checks; @emptied is called on the main thread when a running check has finished. */
void probing_end(struct proxy_service *ps, void (*emptied)(void *arg), void *arg);
/** probing_look - Checks the doubtful servers, if any, unless a check is running. */
void probing_look(struct proxy_service *ps);
/** probing_is_out - Returns whether a check is running. */
bool probing_is_out(const struct proxy_service *ps);
/** probing_fini - Frees the timers; aborts a running check and waits for its end. */
void probing_fini(struct proxy_service *ps);

#endif

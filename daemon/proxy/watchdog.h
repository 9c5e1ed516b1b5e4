/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects workers whose event loop is stuck. The main loop pings every worker periodically. The
 * health endpoints of HTTP show the result. While all workers respond, it also feeds systemd's
 * watchdog (WatchdogSec=); otherwise systemd restarts the daemon.
 */
#ifndef DAEMON_PROXY_WATCHDOG_H
#define DAEMON_PROXY_WATCHDOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/loop.h"

struct watchdog;
struct worker;

/**
 * watchdog_new - Starts the checks.
 * @workers: outlive it; free them after their loops have run all posted functions
 *
 * Returns 0 or -ENOMEM.
 */
int watchdog_new(struct loop *loop, struct worker *const *workers, size_t nworkers,
		 struct watchdog **out) MUST_CHECK;
/** watchdog_is_alive - Returns whether worker @i responded at the last check. */
bool watchdog_is_alive(const struct watchdog *watchdog, size_t i);
/** watchdog_free - Frees the watchdog after the workers have ended. Accepts NULL. */
void watchdog_free(struct watchdog *watchdog);

#endif

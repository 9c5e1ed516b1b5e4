/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feeding systemd's watchdog (WatchdogSec=), which restarts the daemon when it is not fed any more: while the main loop
 * and the loop of each worker have turned since the last time.
 */
#ifndef DAEMON_PROXY_WATCHDOG_H
#define DAEMON_PROXY_WATCHDOG_H

#include "base/compiler.h"
#include "base/loop.h"

struct watchdog;
struct worker;

/**
 * watchdog_new - begin to feed; sets @out to NULL where nobody watches
 * @workers: outlive it, and may not be freed before their loops have run what was posted to them
 *
 * Returns 0 or -ENOMEM.
 */
int watchdog_new(struct loop *loop, struct worker *const *workers, size_t nworkers,
		 struct watchdog **out) MUST_CHECK;
/** watchdog_free - feed it no more; the workers have ended; accepts NULL. */
void watchdog_free(struct watchdog *watchdog);

#endif

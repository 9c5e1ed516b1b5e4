/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the loop of each worker turns: looked at from the main loop, for who asks over HTTP, and for systemd's watchdog
 * (WatchdogSec=), which is fed while all of them have turned since the last time, and else restarts the daemon.
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
 * watchdog_new - begin to look
 * @workers: outlive it, and may not be freed before their loops have run what was posted to them
 *
 * Returns 0 or -ENOMEM.
 */
int watchdog_new(struct loop *loop, struct worker *const *workers, size_t nworkers,
		 struct watchdog **out) MUST_CHECK;
/** watchdog_turns - whether the loop of worker @i has turned, when it was last looked at. */
bool watchdog_turns(const struct watchdog *watchdog, size_t i);
/** watchdog_free - look no more; the workers have ended; accepts NULL. */
void watchdog_free(struct watchdog *watchdog);

#endif

// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/watchdog.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/base/sd_notify.h"
#include "daemon/proxy/worker.h"

/* Checks per watchdog interval of systemd; without its watchdog, one check every CHECK_US. */
#define CHECKS_PER_INTERVAL 4u
#define CHECK_US            5000000u

struct heartbeat {
	struct worker *worker;
	atomic_bool responded; /* the worker has responded to the ping */
	bool stuck_logged;     /* the worker is stuck, and that is logged */
};

struct watchdog {
	struct loop *loop;
	struct loop_timer *timer;
	uint64_t check_us;
	size_t nheartbeats;
	struct heartbeat heartbeats[];
};

/* Runs on the worker's thread. */
static void on_ping(void *arg)
{
	atomic_store(&((struct heartbeat *)arg)->responded, true);
}

/* Pings a worker again after its response. Returns whether it responded to the last ping. */
static bool check_worker(struct heartbeat *heartbeat)
{
	if (!atomic_load(&heartbeat->responded)) {
		if (!heartbeat->stuck_logged)
			log_warning(NULL, "worker %u: event loop is stuck",
				    heartbeat->worker->index);
		heartbeat->stuck_logged = true;
		return false;
	}
	heartbeat->stuck_logged = false;
	atomic_store(&heartbeat->responded, false);
	if (event_loop_post(heartbeat->worker->loop, on_ping, heartbeat))
		atomic_store(&heartbeat->responded,
			     true); /* out of memory: not a fault of the worker */
	return true;
}

static void on_timer(void *arg)
{
	struct watchdog *watchdog = arg;
	bool all = true;

	for (size_t i = 0; i < watchdog->nheartbeats; i++)
		all &= check_worker(&watchdog->heartbeats[i]);
	if (all)
		sd_notify_watchdog();
	loop_timer_set(watchdog->loop, watchdog->timer, watchdog->check_us);
}

int watchdog_new(struct loop *loop, struct worker *const *workers, size_t nworkers,
		 struct watchdog **out)
{
	uint64_t interval_us = sd_notify_watchdog_us();
	struct watchdog *watchdog;

	*out = NULL;
	watchdog = calloc(1, sizeof(*watchdog) + nworkers * sizeof(struct heartbeat));
	if (!watchdog)
		return -ENOMEM;
	watchdog->loop = loop;
	watchdog->check_us = interval_us ? interval_us / CHECKS_PER_INTERVAL : CHECK_US;
	watchdog->nheartbeats = nworkers;
	for (size_t i = 0; i < nworkers; i++) {
		watchdog->heartbeats[i].worker = workers[i];
		atomic_init(&watchdog->heartbeats[i].responded, true);
	}
	watchdog->timer = loop_timer_new(loop, on_timer, watchdog);
	if (!watchdog->timer) {
		free(watchdog);
		return -ENOMEM;
	}
	loop_timer_set(loop, watchdog->timer, 0);
	*out = watchdog;
	return 0;
}

bool watchdog_is_alive(const struct watchdog *watchdog, size_t i)
{
	return !watchdog->heartbeats[i].stuck_logged;
}

void watchdog_free(struct watchdog *watchdog)
{
	if (!watchdog)
		return;
	loop_timer_free(watchdog->loop, watchdog->timer);
	free(watchdog);
}

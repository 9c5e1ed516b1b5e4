// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/watchdog.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/base/sd.h"
#include "daemon/proxy/worker.h"

/* Checks per watchdog interval of systemd; without its watchdog, one check every CHECK_US. */
#define LOOKS    4u
#define CHECK_US 5000000u

struct beat {
	struct worker *worker;
	atomic_bool turned; /* the worker has responded to the ping */
	bool told;          /* the worker is stuck, and that is logged */
};

struct watchdog {
	struct loop *loop;
	struct loop_timer *timer;
	uint64_t look_us;
	size_t nbeats;
	struct beat beats[];
};

/* Runs on the worker's thread. */
static void turn(void *arg)
{
	atomic_store(&((struct beat *)arg)->turned, true);
}

/* Pings a worker again after its response. Returns whether it responded to the last ping. */
static bool look(struct beat *beat)
{
	if (!atomic_load(&beat->turned)) {
		if (!beat->told)
			log_warning(NULL, "worker %u: event loop is stuck", beat->worker->index);
		beat->told = true;
		return false;
	}
	beat->told = false;
	atomic_store(&beat->turned, false);
	if (event_loop_post(beat->worker->loop, turn, beat))
		atomic_store(&beat->turned, true); /* out of memory: not a fault of the worker */
	return true;
}

static void on_look(void *arg)
{
	struct watchdog *watchdog = arg;
	bool all = true;

	for (size_t i = 0; i < watchdog->nbeats; i++)
		all &= look(&watchdog->beats[i]);
	if (all)
		sd_feed_watchdog();
	loop_timer_set(watchdog->loop, watchdog->timer, watchdog->look_us);
}

int watchdog_new(struct loop *loop, struct worker *const *workers, size_t nworkers,
		 struct watchdog **out)
{
	uint64_t interval_us = sd_watchdog_us();
	struct watchdog *watchdog;

	*out = NULL;
	watchdog = calloc(1, sizeof(*watchdog) + nworkers * sizeof(struct beat));
	if (!watchdog)
		return -ENOMEM;
	watchdog->loop = loop;
	watchdog->look_us = interval_us ? interval_us / LOOKS : CHECK_US;
	watchdog->nbeats = nworkers;
	for (size_t i = 0; i < nworkers; i++) {
		watchdog->beats[i].worker = workers[i];
		atomic_init(&watchdog->beats[i].turned, true);
	}
	watchdog->timer = loop_timer_new(loop, on_look, watchdog);
	if (!watchdog->timer) {
		free(watchdog);
		return -ENOMEM;
	}
	loop_timer_set(loop, watchdog->timer, 0);
	*out = watchdog;
	return 0;
}

bool watchdog_turns(const struct watchdog *watchdog, size_t i)
{
	return !watchdog->beats[i].told;
}

void watchdog_free(struct watchdog *watchdog)
{
	if (!watchdog)
		return;
	loop_timer_free(watchdog->loop, watchdog->timer);
	free(watchdog);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Which worker a connection goes to. */
#include "daemon/proxy/placement.h"

#include "daemon/base/thread.h"
#include "daemon/proxy/worker.h"

void placement_look(struct worker *const *workers, size_t nworkers, uint64_t now_us)
{
	for (size_t i = 0; i < nworkers; i++)
		if (gauge_is_due(&workers[i]->gauge, now_us))
			gauge_look(&workers[i]->gauge, now_us, thread_cpu_us(workers[i]->thread));
}

/* Of one more connection. */
static uint64_t cost(const struct worker *worker)
{
	unsigned weight = GAUGE_PARTS + (PLACEMENT_WEIGHT - 1) * worker->gauge.busy;

	return ((uint64_t)atomic_load(&worker->connections) + 1) * weight;
}

struct worker *placement_choose(struct worker *const *workers, size_t nworkers, uint64_t turn,
				uint64_t now_us)
{
	struct worker *best = workers[turn % nworkers];

	placement_look(workers, nworkers, now_us);
	for (size_t i = 1; i < nworkers; i++) {
		struct worker *worker = workers[(turn + i) % nworkers];

		if (cost(worker) < cost(best))
			best = worker;
	}
	return best;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/worker_select.h"

#include "daemon/base/thread.h"
#include "daemon/proxy/worker.h"

void worker_select_update(struct worker *const *workers, size_t nworkers, uint64_t now_us)
{
	for (size_t i = 0; i < nworkers; i++)
		if (now_us >= workers[i]->load.at_us + WORKER_LOAD_US)
			worker_load_update(&workers[i]->load, now_us,
					   thread_cpu_us(workers[i]->thread));
}

static uint64_t cost(const struct worker *worker)
{
	unsigned weight = WORKER_LOAD_PARTS + (WORKER_SELECT_WEIGHT - 1) * worker->load.busy;

	return ((uint64_t)atomic_load(&worker->connections) + 1) * weight;
}

struct worker *worker_select(struct worker *const *workers, size_t nworkers, uint64_t rr_index,
			     uint64_t now_us)
{
	struct worker *best = workers[rr_index % nworkers];

	worker_select_update(workers, nworkers, now_us);
	for (size_t i = 1; i < nworkers; i++) {
		struct worker *worker = workers[(rr_index + i) % nworkers];

		if (cost(worker) < cost(best))
			best = worker;
	}
	return best;
}

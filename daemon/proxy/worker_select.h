/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the worker of a new connection: the one with the fewest connections, weighted by load.
 *
 * A bulk transfer delays the other clients of its worker, so connections of a busy worker count for
 * more. A fully busy worker gets a quarter of the connections of an idle one, never less: a
 * connection stays on its worker, and future load is unknown.
 *
 * All functions run on the main thread.
 */
#ifndef DAEMON_PROXY_WORKER_SELECT_H
#define DAEMON_PROXY_WORKER_SELECT_H

#include <stddef.h>
#include <stdint.h>

/* Weight of a connection on a fully busy worker; on an idle worker it is 1. */
#define WORKER_SELECT_WEIGHT 4u
struct worker;

/**
 * worker_select_update - Measures the load of workers whose measurement is older than
 * WORKER_LOAD_US.
 */
void worker_select_update(struct worker *const *workers, size_t nworkers, uint64_t now_us);
/**
 * worker_select - Returns the worker with the lowest cost.
 * @nworkers: at least 1
 * @rr_index: round-robin index, which decides between workers of equal cost
 */
struct worker *worker_select(struct worker *const *workers, size_t nworkers, uint64_t rr_index,
			     uint64_t now_us);

#endif

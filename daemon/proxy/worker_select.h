/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which worker a connection goes to.
 *
 * That is the one with the fewest connections, but those of a busy worker count for more: beside one client that moves
 * bulk, others would wait for each turn of it. A worker that was busy all the time of late gets a fourth of what an idle
 * one gets. It never gets less, for a connection stays where it is, and nobody knows how busy a worker will be.
 *
 * Everything here belongs to the main thread.
 */
#ifndef DAEMON_PROXY_WORKER_SELECT_H
#define DAEMON_PROXY_WORKER_SELECT_H

#include <stddef.h>
#include <stdint.h>

/* What a connection of a worker that is busy all the time counts for; of an idle one's 1. */
#define WORKER_SELECT_WEIGHT 4u
struct worker;

/** worker_select_update - measure those that are due: a connection that comes then finds fresh figures. */
void worker_select_update(struct worker *const *workers, size_t nworkers, uint64_t now_us);
/** worker_select - the best worker, of at least one; the next from @turn among equals. */
struct worker *worker_select(struct worker *const *workers, size_t nworkers, uint64_t turn,
			     uint64_t now_us);

#endif

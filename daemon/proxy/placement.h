/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which worker a connection goes to.
 *
 * That is the one with the fewest connections, where each connection counts for more the less time its worker has had
 * to spare of late: beside one client that moves bulk, others would wait for each turn of it. A worker that is busy
 * all the time gets a fourth of what an idle one gets, and never less: how busy it is now says little of what it will
 * be, and a connection stays where it is.
 *
 * Everything here belongs to the main thread.
 */
#ifndef DAEMON_PROXY_PLACEMENT_H
#define DAEMON_PROXY_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

/* What a connection of a worker that is busy all the time counts for; of an idle one's 1. */
#define PLACEMENT_WEIGHT 4u

struct worker;

/** placement_look - gauge those that are due, so that what is found out when a connection comes is of late. */
void placement_look(struct worker *const *workers, size_t nworkers, uint64_t now_us);
/** placement_choose - the best worker, of at least one; the next from @turn among equals. */
struct worker *placement_choose(struct worker *const *workers, size_t nworkers, uint64_t turn,
				uint64_t now_us);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one worker shows of itself, taken on its thread in slices, so that the bytes of its connections wait for no
 * more than a slice.
 */
#ifndef DAEMON_VIEW_SNAPSHOT_H
#define DAEMON_VIEW_SNAPSHOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/account.h"
#include "base/compiler.h"
#include "daemon/service/call_stats.h"
#include "daemon/service/worker_service.h"
#include "daemon/view/load.h"
#include "daemon/view/stats.h"

/* All zero is nothing. */
struct memory_use {
	size_t claimed_bytes;
	size_t waiting;     /* claims */
	uint64_t oldest_us; /* how long the one that waits longest has waited */
};

/** memory_use_of - what an account shows, in its own thread. */
struct memory_use memory_use_of(const struct budget_account *account);
/** memory_use_add - add what another one shows. */
void memory_use_add(struct memory_use *sum, const struct memory_use *part);
/** memory_use_put - set it in a JSON object. */
void memory_use_put(const struct memory_use *use, json_t *object);

#define SNAPSHOT_SLICE 100u /* bridges, or services, in one turn of the loop */
#define SNAPSHOT_CALLS 50u  /* of these the statistics of a service's Calls are worth */
#define SNAPSHOT_US    100u /* a slice takes no longer, but for the last bridge or service in it */

/* All zero but for what is to be taken. */
struct snapshot {
	unsigned worker;     /* its number, for the connections */
	size_t most;         /* of the connections those with the oldest Calls, so many; 0: all */
	uint64_t *ages_us;   /* … of that size: how old these are, 0 without a Call */
	json_t *connections; /* an array to be filled, or NULL */
	struct stats *stats; /* one a service, to be added to, or NULL */
	struct call_stats *calls;   /* the same */
	struct load *loads;         /* the same */
	uint64_t (*clock_us)(void); /* NULL: slices take as long as they take */
	size_t service;             /* where the next slice begins */
	bool within;                /* it is in the midst of this service's bridges */
};

/**
 * snapshot_slice - take the next SNAPSHOT_SLICE
 * @services: the worker's, the same each time, or fewer if some have gone
 * @now_us:   of the worker's loop
 *
 * Bridges may come and go between slices: each one that is there from the first slice to the last is in the
 * snapshot, once; those that come in between need not be. One snapshot of a worker's connections is taken at a time.
 * Returns whether anything is left for another slice.
 */
bool snapshot_slice(struct snapshot *snapshot, struct worker_service *const *services,
		    size_t nservices, uint64_t now_us);

#endif

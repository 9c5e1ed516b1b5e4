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
#include "daemon/bridge/bridge.h"
#include "daemon/service/call_stats.h"
#include "daemon/service/worker_service.h"
#include "daemon/view/stats.h"

/* ---- what the connections of a service are about at this moment, added up: plain numbers, for metrics ---- */

/* By the RDMA end of a connection, or TCP if it has none; "none" while its server is not reached and it may have one yet. */
#define LOAD_FABRICS(X)                                                                            \
	X(NONE, "none")                                                                            \
	X(TCP, "tcp")                                                                              \
	X(IWARP, "iwarp")                                                                          \
	X(VERBS, "verbs")

enum load_fabric {
#define LOAD_FABRIC_ENUM(name, text) LOAD_FABRIC_##name,
	LOAD_FABRICS(LOAD_FABRIC_ENUM) LOAD_FABRIC_COUNT
#undef LOAD_FABRIC_ENUM
};

/** load_fabric_name - "iwarp" … */
const char *load_fabric_name(enum load_fabric fabric);

/* Of one side's RDMA ends. */
struct load_credits {
	uint64_t granted, used, waited; /* waited for: Calls held */
};

/* All zero is nothing. */
struct load {
	uint64_t connections[LOAD_FABRIC_COUNT];
	uint64_t in_flight; /* Calls of clients without a Reply */
	uint64_t oldest_us; /* how old the oldest of them is; 0: there is none */
	struct load_credits credits[STATS_SIDES]; /* zero of TCP */
	uint64_t fabric_fallbacks;                /* since the start */
};

/** load_merge - add those of another worker. */
void load_merge(struct load *sum, const struct load *part);

/* ---- memory ---- */

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

/* ---- a snapshot ---- */

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

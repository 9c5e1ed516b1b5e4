/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes a snapshot of one worker on its thread, in slices: its connections never wait longer than a
 * slice.
 */
#ifndef DAEMON_VIEW_SNAPSHOT_H
#define DAEMON_VIEW_SNAPSHOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget_account.h"
#include "base/compiler.h"
#include "daemon/bridge/bridge.h"
#include "daemon/service/call_stats.h"
#include "daemon/service/worker_service.h"
#include "daemon/view/stats.h"

/* ---- current sums over the connections of a service, for metrics ---- */

/*
 * The RDMA fabric of a connection, or TCP if neither leg is RDMA. "none": its server is not
 * connected yet.
 */
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

/** load_fabric_name - Returns "none", "tcp", "iwarp" or "verbs". */
const char *load_fabric_name(enum load_fabric fabric);

/* Credits of all RDMA legs of one side. */
struct load_credits {
	uint64_t granted, used, waited; /* waited: Calls queued for a credit */
};

/* All zero: empty. */
struct conn_load {
	uint64_t connections[LOAD_FABRIC_COUNT];
	uint64_t in_flight;                       /* Calls of clients without a Reply */
	uint64_t oldest_us;                       /* age of the oldest; 0: none */
	struct load_credits credits[STATS_SIDES]; /* zero over TCP */
	uint64_t fabric_fallbacks;                /* since the start */
};

/** conn_load_merge - Adds the sums of another worker. */
void conn_load_merge(struct conn_load *sum, const struct conn_load *part);

/* ---- memory ---- */

/* All zero: empty. */
struct memory_use {
	size_t claimed_bytes;
	size_t waiting;     /* claims */
	uint64_t oldest_us; /* age of the oldest waiting claim */
};

/** memory_use_of - Returns the current use of an account. Call it on the account's thread. */
struct memory_use memory_use_of(const struct budget_account *account);
/** memory_use_add - Adds the use of another account. */
void memory_use_add(struct memory_use *sum, const struct memory_use *part);
/** memory_use_put - Adds the use as members to a JSON object. */
void memory_use_put(const struct memory_use *use, json_t *object);

/* ---- a snapshot ---- */

#define SNAPSHOT_SLICE 100u /* bridges or services per loop iteration */
#define SNAPSHOT_CALLS 50u  /* cost of a service's Call statistics, in bridges */
#define SNAPSHOT_US    100u /* time limit of a slice; its last bridge or service can exceed it */

/* Set the inputs and zero the rest. */
struct snapshot {
	unsigned worker; /* its index, shown with each connection */
	/* show only this many connections, those with the oldest Calls; 0: all */
	size_t max_connections;
	uint64_t *ages_us;          /* age of the oldest Call of each of them; 0: no Call */
	json_t *connections;        /* array to fill, or NULL */
	struct stats *stats;        /* one per service, to add to, or NULL */
	struct call_stats *calls;   /* likewise */
	struct conn_load *loads;    /* likewise */
	uint64_t (*clock_us)(void); /* NULL: no time limit */
	size_t service;             /* index where the next slice starts */
	bool in_service;            /* the last slice ended within this service's bridges */
};

/**
 * snapshot_slice - Takes the next SNAPSHOT_SLICE items.
 * @services: of the worker; the same for each slice, or fewer if some were removed
 * @now_us:   time of the worker's loop
 *
 * Bridges can open and close between slices. A bridge that exists from the first slice to the last
 * is in the snapshot exactly once; a bridge that opens in between can be missing. Take one snapshot
 * of a worker's connections at a time. Returns true while items are left for another slice.
 */
bool snapshot_slice(struct snapshot *snapshot, struct worker_service *const *services,
		    size_t nservices, uint64_t now_us);

#endif

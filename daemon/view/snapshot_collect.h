/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collects snapshots of all workers on the main thread.
 *
 * Each worker takes its part of a snapshot on its own thread, without locks, a few connections per
 * loop iteration (daemon/view/snapshot.h). So the parts differ slightly in time. One snapshot is
 * taken at a time; concurrent requests for the same data share it.
 */
#ifndef DAEMON_VIEW_SNAPSHOT_COLLECT_H
#define DAEMON_VIEW_SNAPSHOT_COLLECT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/compiler.h"
#include "daemon/proxy/proxy.h"
#include "daemon/service/call_stats.h"
#include "daemon/view/snapshot.h"
#include "daemon/view/stats.h"
#include "fabric/buf_pool.h"

/* What to collect. Memory is always included, because it costs little. */
#define COLLECT_CONNECTIONS 0x1u  /* each connection, as JSON */
#define COLLECT_STATS       0x2u  /* counters */
#define COLLECT_CALLS       0x4u  /* statistics of Calls */
#define COLLECT_LOAD        0x8u  /* sums over all connections */
#define COLLECT_LEAVING     0x10u /* include removed services that are draining */
/*
 * Like COLLECT_CONNECTIONS, but only the COLLECT_OLDEST_MAX connections of each worker with the
 * oldest Calls.
 */
#define COLLECT_OLDEST     0x20u

#define COLLECT_OLDEST_MAX 50u

/* A snapshot of all workers. Arrays have an entry for each service, in the order of the file. */
struct collected {
	struct proxy *proxy;
	size_t nservices;
	struct proxy_service **services;
	struct stats *stats;        /* all zero if not requested */
	struct call_stats *calls;   /* likewise */
	struct conn_load *loads;    /* likewise */
	struct memory_use *memory;  /* claimed memory */
	struct budget_stats budget; /* at the start of the snapshot */
	struct buf_pool_stats pool;
	uint64_t uncharged_bytes; /* maximum that the connections use outside the budget */
	json_t *connections;      /* an array; empty if not requested */
};

struct snapshot_collector;

/**
 * snapshot_collector_new - Creates the collector of a proxy's snapshots. Returns NULL if memory ran
 * out.
 */
struct snapshot_collector *snapshot_collector_new(struct proxy *proxy);

/**
 * snapshot_collector_close - Stops collecting, before the proxy is stopped; accepts NULL.
 *
 * Waiting requests get done() with NULL. A snapshot in progress is freed later, in the main
 * thread's loop or together with that loop.
 */
void snapshot_collector_close(struct snapshot_collector *snapshot_collector);

/**
 * snapshot_collect - Requests a snapshot.
 * @wants: COLLECT_*
 * @done:  called once with @arg on the main thread, during this call or later. Its snapshot is
 *         valid during done() only; NULL: no snapshot could be taken
 */
void snapshot_collect(struct snapshot_collector *snapshot_collector, unsigned wants,
		      void (*done)(void *arg, const struct collected *collected), void *arg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all workers have, gathered on the main thread.
 *
 * Each worker takes its part of a snapshot on its own thread, a few connections in a turn of its loop
 * (daemon/view/snapshot.h); nothing is locked. Parts may so be a moment apart. Snapshots are taken one after the other;
 * who asks for what somebody waits for already has the same one.
 */
#ifndef DAEMON_VIEW_GATHER_H
#define DAEMON_VIEW_GATHER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/compiler.h"
#include "daemon/proxy/proxy.h"
#include "daemon/service/call_stats.h"
#include "daemon/view/snapshot.h"
#include "daemon/view/stats.h"
#include "fabric/pool.h"

/* What is wanted besides memory, which costs nothing. */
#define GATHER_CONNECTIONS 0x1u  /* each of them, as JSON */
#define GATHER_STATS       0x2u  /* counters */
#define GATHER_CALLS       0x4u  /* what became of Calls */
#define GATHER_LOAD        0x8u  /* what connections are about, added up */
#define GATHER_LEAVING     0x10u /* services, too, that are out of the file and drain */
/* As GATHER_CONNECTIONS, but of each worker GATHER_OLDEST_MOST, by their oldest Calls. */
#define GATHER_OLDEST      0x20u

#define GATHER_OLDEST_MOST 50u

/* A snapshot; lists have an entry for each service, in the order of the file. */
struct gathered {
	const struct proxy *proxy;
	size_t nservices;
	struct proxy_service **services;
	struct stats *stats;        /* all zero if they are not wanted */
	struct call_stats *calls;   /* the same */
	struct load *loads;         /* the same */
	struct memory_use *memory;  /* claimed */
	struct budget_stats budget; /* when it began */
	struct pool_stats pool;
	uint64_t beside_bytes; /* what the connections then can take beside the budget, at most */
	json_t *connections;   /* an array; empty if they are not wanted */
};

struct gathering;

/** gathering_new - begin to take snapshots of a proxy; NULL without memory. */
struct gathering *gathering_new(struct proxy *proxy);

/**
 * gathering_close - take no more; before the proxy is stopped
 *
 * Who waits for one has done() with NULL. What is under way ends later, in the main thread's loop or when that is freed.
 * Accepts NULL.
 */
void gathering_close(struct gathering *gathering);

/**
 * gather_ask - have a snapshot
 * @wants: GATHER_*
 * @done:  called once with @arg, on the main thread, now or later; what it is given is good during the call, and NULL if it
 *	   cannot be had
 */
void gather_ask(struct gathering *gathering, unsigned wants,
		void (*done)(void *arg, const struct gathered *gathered), void *arg);

#endif

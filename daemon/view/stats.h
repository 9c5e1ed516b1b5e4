/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of one service, gathered from whoever keeps them.
 *
 * A thread fills a `struct stats` with copies of its counters, module by module. The struct is plain memory:
 * it crosses to another thread as a copy, and is added there to those of the other workers.
 */
#ifndef DAEMON_VIEW_STATS_H
#define DAEMON_VIEW_STATS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/counter.h"
#include "daemon/service/worker_service.h"

#define STATS_MAX_MODULES  8u
#define STATS_MAX_COUNTERS 96u /* of one module */

/* Whose connections: the clients', or those to servers. What is not told apart is among the clients'. */
enum stats_side { STATS_CLIENT, STATS_UPSTREAM, STATS_SIDES };

struct stats_module {
	const char *name;                 /* "tcp", "rdma", "iwarp", "verbs" */
	const struct counter_desc *table; /* as many values as it has names */
	uint64_t values[STATS_SIDES][STATS_MAX_COUNTERS];
};

/* All zero is an empty one. */
struct stats {
	size_t nmodules;
	struct stats_module modules[STATS_MAX_MODULES];
	uint64_t closes[CLOSE_BY_COUNT]
		       [LEG_CLOSE_COUNT]; /* connections, by the one reason of each */
};

#define STATS_CLOSE_NAME_BYTES 32u

/**
 * stats_add - add a module's counters
 * @module: its name, static; the same name twice is added up
 * @table:  the counters' table
 * @values: a struct or array as the table describes; copied
 */
void stats_add(struct stats *stats, enum stats_side side, const char *module,
	       const struct counter_desc *table, const void *values);
/** stats_add_closes - add connections that closed. */
void stats_add_closes(struct stats *stats, const uint64_t closes[CLOSE_BY_COUNT][LEG_CLOSE_COUNT]);
/** stats_value - the counter @name of a module on one side; 0 of a module that is not there. Its name must exist. */
uint64_t stats_value(const struct stats *stats, enum stats_side side, const char *module,
		     const char *name);
/** stats_merge - add all of @part to @sum. */
void stats_merge(struct stats *sum, const struct stats *part);

/** stats_close_name - a reason as the control socket names it: "too_many". Returns @text. */
const char *stats_close_name(enum leg_close why, char text[STATS_CLOSE_NAME_BYTES]);

/**
 * stats_json - {"tcp": {"calls_received": 5, …}, …, "closes": {"client": {"peer": 3, …}, "server": …, "proxy": …}}
 * @help: what they mean instead: {"tcp": {"calls_received": "Calls …", …}, …, "closes": {"peer": "…", …}}
 *
 * A new reference, NULL without memory.
 */
json_t *stats_json(const struct stats *stats, bool help) MUST_CHECK;

#endif

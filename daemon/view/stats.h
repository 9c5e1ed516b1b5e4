/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of one service, collected from all modules.
 *
 * A thread copies its counters to a `struct stats`, module by module. The main thread adds up the
 * structs of all workers.
 */
#ifndef DAEMON_VIEW_STATS_H
#define DAEMON_VIEW_STATS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/counters.h"
#include "daemon/service/worker_service.h"

#define STATS_MAX_MODULES  8u
#define STATS_MAX_COUNTERS 96u /* per module */

/* Connections of clients, or to servers. Counters that do not distinguish them count as client. */
enum stats_side { STATS_CLIENT, STATS_UPSTREAM, STATS_SIDES };

struct stats_module {
	const char *name;                 /* "tcp", "tls", "rdma", "iwarp", "verbs" */
	const struct counter_desc *table; /* names and order of the values */
	uint64_t values[STATS_SIDES][STATS_MAX_COUNTERS];
};

/* All zero: empty. */
struct stats {
	size_t nmodules;
	struct stats_module modules[STATS_MAX_MODULES];
	/* closed connections, each with one reason */
	uint64_t closes[CLOSE_BY_COUNT][LEG_CLOSE_COUNT];
};

#define STATS_CLOSE_NAME_BYTES 32u

/**
 * stats_add - Adds the counters of a module.
 * @module: its name, static; counters of the same name are summed
 * @table:  describes the counters
 * @values: a struct or array as the table describes; copied
 */
void stats_add(struct stats *stats, enum stats_side side, const char *module,
	       const struct counter_desc *table, const void *values);
/** stats_add_closes - Adds closed connections. */
void stats_add_closes(struct stats *stats, const uint64_t closes[CLOSE_BY_COUNT][LEG_CLOSE_COUNT]);
/**
 * stats_value - Returns the counter @name of a module on one side; 0 if the module is missing.
 * @name must exist.
 */
uint64_t stats_value(const struct stats *stats, enum stats_side side, const char *module,
		     const char *name);
/** stats_merge - Adds all counters of @part to @sum. */
void stats_merge(struct stats *sum, const struct stats *part);

/**
 * stats_close_name - Writes a close reason as the control socket shows it, "too_many". Returns
 * @text.
 */
const char *stats_close_name(enum leg_close why, char text[STATS_CLOSE_NAME_BYTES]);

/**
 * stats_json - Returns {"tcp": {"calls_received": 5, …}, …, "closes": {"client": {"peer": 3, …},
 * "server": …, "proxy": …}}, a new reference, or NULL if memory ran out.
 * @help: returns the descriptions instead: {"tcp": {"calls_received": "Calls …", …}, …, "closes":
 *        {"peer": "…", …}}
 */
json_t *stats_json(const struct stats *stats, bool help) MUST_CHECK;

#endif

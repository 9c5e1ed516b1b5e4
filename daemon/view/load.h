/* SPDX-License-Identifier: BSD-3-Clause */
/* What the connections of a service are about at this moment, added up: plain numbers, for metrics. */
#ifndef DAEMON_VIEW_LOAD_H
#define DAEMON_VIEW_LOAD_H

#include <stdint.h>

#include "daemon/bridge/bridge.h"
#include "daemon/view/stats.h"

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

/** load_add_bridge - add one; @now_us: of its loop. */
void load_add_bridge(struct load *load, const struct bridge *bridge, uint64_t now_us);
/** load_merge - add those of another worker. */
void load_merge(struct load *sum, const struct load *part);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of metrics, and the functions that write their samples. */
#ifndef DAEMON_HTTP_METRICS_TABLE_H
#define DAEMON_HTTP_METRICS_TABLE_H

#include "daemon/http/http_server.h"
#include "daemon/http/metrics_text.h"
#include "daemon/view/snapshot_collect.h"

/* Source of all metrics. */
struct metrics_source {
	const struct collected *collected; /* collected with METRICS_WANTS */
	const uint64_t *http_statuses;     /* HTTP_STATUS_COUNT entries */
};

#define METRICS_WANTS (COLLECT_STATS | COLLECT_CALLS | COLLECT_LOAD)

struct metrics_service;
struct metrics_operation;
struct metrics_leg;

/*
 * A metric. One of the functions is set: it writes all samples, or those of one object, or returns
 * its value.
 */
struct metrics_family {
	const char *name; /* NULL after the last one */
	enum metrics_type type;
	const char *help;
	void (*write)(struct metrics_text *text, const struct metrics_source *source);
	void (*service)(struct metrics_text *text, const struct metrics_service *service);
	double (*value)(const struct metrics_service *service); /* the only sample of a service */
	double (*server)(const struct nfs_server *server, const struct server_stats *info);
	void (*operation)(struct metrics_text *text, const struct metrics_operation *seen);
	void (*side)(struct metrics_text *text, const struct metrics_leg *side);
};

/* In the order of the output. */
extern const struct metrics_family metrics_families[];

/** metrics_write - Writes all families, including those without samples. */
void metrics_write(struct metrics_text *text, const struct metrics_source *source);

#endif

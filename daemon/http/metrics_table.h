/* SPDX-License-Identifier: BSD-3-Clause */
/* Which metrics there are, and what writes the samples of each. */
#ifndef DAEMON_HTTP_METRICS_TABLE_H
#define DAEMON_HTTP_METRICS_TABLE_H

#include "daemon/http/http_server.h"
#include "daemon/http/metrics_text.h"
#include "daemon/view/gather.h"

/* Where all of them come from. */
struct metrics_source {
	const struct gathered *gathered; /* with METRICS_WANTS */
	const uint64_t *http_ends;       /* of HTTP_END_COUNT */
};

#define METRICS_WANTS (GATHER_STATS | GATHER_CALLS | GATHER_LOAD)

struct metrics_service;
struct metrics_operation;
struct metrics_side;

/* One of the functions: what writes all samples, or those of one thing, or the value of one. */
struct metrics_family {
	const char *name; /* NULL behind the last one */
	enum metrics_type type;
	const char *help;
	void (*write)(struct metrics_text *text, const struct metrics_source *source);
	void (*service)(struct metrics_text *text, const struct metrics_service *service);
	double (*value)(const struct metrics_service *service); /* the one of a service */
	double (*target)(const struct target *target, const struct target_info *info);
	void (*operation)(struct metrics_text *text, const struct metrics_operation *seen);
	void (*side)(struct metrics_text *text, const struct metrics_side *side);
};

/* In the order in which they are shown. */
extern const struct metrics_family metrics_families[];

/** metrics_write - all families, those without samples too. */
void metrics_write(struct metrics_text *text, const struct metrics_source *source);

#endif

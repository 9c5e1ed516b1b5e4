/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of top: rates between two samples. */
#ifndef DAEMON_CTL_TOP_ROWS_H
#define DAEMON_CTL_TOP_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "daemon/ctl/top_view.h"

/* The daemon's answers at a time. */
struct top_sample {
	json_t *status, *latency, *connections; /* one of latency and connections is NULL */
	double at_s;
};

/* Texts point into the sample. */
struct top_row {
	const char *text[TOP_TEXTS];
	bool has_oldest; /* a connection: `oldest` is set */
	struct oldest_call oldest;
	double value[TOP_VALUES];
	double share[CALL_TOTALS_STAGES]; /* of the time */
	bool idle;
};

/* Starts zeroed. */
struct top_rows {
	struct top_row *list;
	size_t count, busy;
	double interval_s; /* NAN: no previous sample */
	/* Sums of all rows, shown or not. */
	double calls, errors, in_bytes, out_bytes;
};

/** top_sample_fini - Releases the answers and zeroes the sample. */
void top_sample_fini(struct top_sample *sample);

/**
 * top_rows_make - Builds and sorts the rows.
 * @rows: its previous content is freed
 * @then: the previous sample, or all zero
 *
 * If a counter has decreased, it was reset, and its value counts as the change. Returns 0 or
 * -ENOMEM.
 */
int top_rows_make(struct top_rows *rows, const struct top_view *view, const struct top_sample *then,
		  const struct top_sample *now) MUST_CHECK;
/** top_rows_fini - Frees the rows. */
void top_rows_fini(struct top_rows *rows);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of top: what has come from one question to the next, a second. */
#ifndef DAEMON_CTL_TOP_ROWS_H
#define DAEMON_CTL_TOP_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "daemon/ctl/top_view.h"

/* What the daemon has answered at a time. */
struct top_sample {
	json_t *status, *latency, *connections; /* one of the last two is NULL */
	double at_s;
};

/* Texts are those of the sample, and good as long. */
struct top_row {
	const char *text[TOP_TEXTS];
	bool has_oldest; /* a connection has a Call … */
	struct oldest_call oldest;
	double value[TOP_VALUES];
	double share[CALL_SUMS_STAGES]; /* of the time */
	bool idle;
};

/* All zero at first. */
struct top_rows {
	struct top_row *list;
	size_t count, busy;
	double interval_s; /* NAN: there was no question before */
	/* Of all, shown or not. */
	double calls, errors, in_bytes, out_bytes;
};

/** top_sample_fini - let its answers go; all zero again. */
void top_sample_fini(struct top_sample *sample);

/**
 * top_rows_make - make and sort them
 * @rows: what was in it is freed
 * @then: of the question before, or all zero
 *
 * A counter that has become less was reset meanwhile: what it has counted since is what is new. Returns 0 or -ENOMEM.
 */
int top_rows_make(struct top_rows *rows, const struct top_view *view, const struct top_sample *then,
		  const struct top_sample *now) MUST_CHECK;
/** top_rows_fini - free them. */
void top_rows_fini(struct top_rows *rows);

#endif

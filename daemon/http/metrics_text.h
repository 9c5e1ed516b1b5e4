/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics as text: Prometheus's format 0.0.4, or OpenMetrics 1.0.
 *
 * These differ in the names of counters' families, and in the end that OpenMetrics has. Names of series are the same.
 */
#ifndef DAEMON_HTTP_METRICS_TEXT_H
#define DAEMON_HTTP_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/durations.h"

#define METRICS_MAX_BYTES (16u << 20) /* of one text: a longer one is none */

enum metrics_type { METRICS_GAUGE, METRICS_COUNTER, METRICS_HISTOGRAM };

struct metrics_label {
	const char *name; /* NULL: the last one is before it */
	const char *value;
};
#define METRICS_LABELS(...) ((const struct metrics_label[]){__VA_ARGS__, {NULL, NULL}})
#define METRICS_NO_LABELS   ((const struct metrics_label[]){{NULL, NULL}})

struct metrics_text {
	bool is_open;     /* OpenMetrics */
	bool failed;      /* no memory, or too long: nothing more is written */
	const char *name; /* of the family */
	FILE *out;        /* into data */
	size_t bytes;
	char *data;
};

/** metrics_text_init - nothing so far; to be ended by metrics_text_end(), and not to be copied. */
void metrics_text_init(struct metrics_text *text, bool is_open);
/**
 * metrics_text_family - its samples follow
 * @name: the whole of it, with _total of a counter; static
 */
void metrics_text_family(struct metrics_text *text, const char *name, enum metrics_type type,
			 const char *help);
/** metrics_text_put - a sample of a gauge or a counter. Values of labels may have any bytes. */
void metrics_text_put(struct metrics_text *text, const struct metrics_label *labels, double value);
/** metrics_text_put_durations - a histogram's samples, in seconds: each second limit from 2^-14 to 2^6. */
void metrics_text_put_durations(struct metrics_text *text, const struct metrics_label *labels,
				const struct durations *durations);
/** metrics_text_end - the text is complete. Returns it, to be freed, or NULL if it failed. */
char *metrics_text_end(struct metrics_text *text, size_t *bytes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes metrics as text: Prometheus format 0.0.4, or OpenMetrics 1.0.
 *
 * The formats differ in the family names of counters and in the end marker of OpenMetrics. The
 * series have the same names.
 */
#ifndef DAEMON_HTTP_METRICS_TEXT_H
#define DAEMON_HTTP_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/histogram.h"

#define METRICS_MAX_BYTES (16u << 20) /* limit of a text; a longer one fails */

enum metrics_type { METRICS_GAUGE, METRICS_COUNTER, METRICS_HISTOGRAM };

struct metrics_label {
	const char *name; /* NULL after the last one */
	const char *value;
};
#define METRICS_LABELS(...) ((const struct metrics_label[]){__VA_ARGS__, {NULL, NULL}})
#define METRICS_NO_LABELS   ((const struct metrics_label[]){{NULL, NULL}})

struct metrics_text {
	bool is_open;     /* OpenMetrics */
	bool failed;      /* memory ran out or the text is too long: nothing more is written */
	const char *name; /* of the current family */
	FILE *out;        /* writes to data */
	size_t bytes;
	char *data;
};

/** metrics_text_init - Starts a text. End it with metrics_text_end(); do not copy the struct. */
void metrics_text_init(struct metrics_text *text, bool is_open);
/**
 * metrics_text_family - Starts a family; its samples follow.
 * @name: the whole name, with the _total of a counter; static
 */
void metrics_text_family(struct metrics_text *text, const char *name, enum metrics_type type,
			 const char *help);
/** metrics_text_put - Adds a sample of a gauge or a counter. Label values can contain any bytes. */
void metrics_text_put(struct metrics_text *text, const struct metrics_label *labels, double value);
/**
 * metrics_text_put_durations - Adds a histogram's samples, in seconds, with every other limit from
 * 2^-14 to 2^6.
 */
void metrics_text_put_durations(struct metrics_text *text, const struct metrics_label *labels,
				const struct histogram *histogram);
/** metrics_text_end - Ends the text. Returns it, which the caller frees, or NULL if it failed. */
char *metrics_text_end(struct metrics_text *text, size_t *bytes);

#endif

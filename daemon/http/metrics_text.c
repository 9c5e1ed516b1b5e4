// SPDX-License-Identifier: BSD-3-Clause
/* Metrics as text. */
#include "daemon/http/metrics_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 16384u
#define VALUE_BYTES 32u

/* Where histograms have limits: 2^-14, 2^-12 … 2^6 s. */
#define LIMIT_FIRST_LOG2 (-14)
#define LIMIT_LAST_LOG2  6
#define LIMIT_STEP_LOG2  2

void metrics_text_init(struct metrics_text *text, bool is_open)
{
	*text = (struct metrics_text){.is_open = is_open};
}

static bool make_room(struct metrics_text *text, size_t bytes)
{
	size_t room_bytes = text->room_bytes ? text->room_bytes : FIRST_BYTES;
	char *data;

	if (text->failed || bytes > METRICS_MAX_BYTES - text->bytes) {
		text->failed = true;
		return false;
	}
	while (room_bytes < text->bytes + bytes)
		room_bytes *= 2;
	if (room_bytes == text->room_bytes)
		return true;
	data = realloc(text->data, room_bytes);
	if (!data) {
		text->failed = true;
		return false;
	}
	text->data = data;
	text->room_bytes = room_bytes;
	return true;
}

static void add_bytes(struct metrics_text *text, const char *data, size_t bytes)
{
	if (!make_room(text, bytes))
		return;
	memcpy(text->data + text->bytes, data, bytes);
	text->bytes += bytes;
}

static void add(struct metrics_text *text, const char *data)
{
	add_bytes(text, data, strlen(data));
}

/* What is not UTF-8 would end the scrape, so that bytes beyond ASCII are not shown as they are. */
static void add_value(struct metrics_text *text, const char *value)
{
	for (; *value; value++) {
		if (*value == '\n')
			add(text, "\\n");
		else if (*value == '"' || *value == '\\')
			add_bytes(text, (const char[]){'\\', *value}, 2);
		else
			add_bytes(text, (unsigned char)*value < 0x80 ? value : "?", 1);
	}
}

static void add_labels(struct metrics_text *text, const struct metrics_label *labels,
		       const char *limit)
{
	char between = '{';

	for (; labels->name; labels++) {
		add_bytes(text, &between, 1);
		add(text, labels->name);
		add(text, "=\"");
		add_value(text, labels->value);
		add(text, "\"");
		between = ',';
	}
	if (limit) {
		add_bytes(text, &between, 1);
		add(text, "le=\"");
		add(text, limit);
		add(text, "\"");
		between = ',';
	}
	if (between == ',')
		add(text, "}");
}

static void add_sample(struct metrics_text *text, const char *suffix,
		       const struct metrics_label *labels, const char *limit, double value)
{
	char number[VALUE_BYTES];

	add(text, text->name);
	add(text, suffix);
	add_labels(text, labels, limit);
	snprintf(number, sizeof(number),
		 value == floor(value) && fabs(value) < 0x1p53 ? " %.0f\n" : " %.15g\n", value);
	add(text, number);
}

static const char *const type_names[] = {[METRICS_GAUGE] = "gauge",
					 [METRICS_COUNTER] = "counter",
					 [METRICS_HISTOGRAM] = "histogram"};

void metrics_text_family(struct metrics_text *text, const char *name, enum metrics_type type,
			 const char *help)
{
	size_t len = strlen(name);

	/* OpenMetrics has the suffix in the names of a counter's samples, not in that of their family. */
	if (text->is_open && type == METRICS_COUNTER)
		len -= strlen("_total");
	text->name = name;
	add(text, "# HELP ");
	add_bytes(text, name, len);
	add(text, " ");
	add(text, help);
	add(text, "\n# TYPE ");
	add_bytes(text, name, len);
	add(text, " ");
	add(text, type_names[type]);
	add(text, "\n");
}

void metrics_text_put(struct metrics_text *text, const struct metrics_label *labels, double value)
{
	add_sample(text, "", labels, NULL, value);
}

/* The bucket that ends at 2^@log2 s. */
static unsigned bucket_to(int log2)
{
	return (unsigned)(log2 + DURATIONS_TICKS_LOG2);
}

void metrics_text_put_durations(struct metrics_text *text, const struct metrics_label *labels,
				const struct durations *durations)
{
	char limit[VALUE_BYTES];
	uint64_t sum = 0;
	unsigned i = 0;

	for (int log2 = LIMIT_FIRST_LOG2; log2 <= LIMIT_LAST_LOG2; log2 += LIMIT_STEP_LOG2) {
		while (i <= bucket_to(log2))
			sum += durations->counts[i++];
		/* OpenMetrics wants a point in each limit. */
		snprintf(limit, sizeof(limit), log2 < 0 ? "%.15g" : "%.1f", ldexp(1, log2));
		add_sample(text, "_bucket", labels, limit, (double)sum);
	}
	while (i < DURATIONS_BUCKETS)
		sum += durations->counts[i++];
	add_sample(text, "_bucket", labels, "+Inf", (double)sum);
	add_sample(text, "_sum", labels, NULL, (double)durations->sum_us / 1e6);
	add_sample(text, "_count", labels, NULL, (double)sum);
}

char *metrics_text_end(struct metrics_text *text, size_t *bytes)
{
	if (text->is_open)
		add(text, "# EOF\n");
	if (text->failed) {
		free(text->data);
		return NULL;
	}
	*bytes = text->bytes;
	return text->data;
}

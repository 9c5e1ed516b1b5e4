// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/http/metrics_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES 32u

/* Limits of histogram buckets: 2^-14, 2^-12 … 2^6 s. */
#define LIMIT_FIRST_LOG2 (-14)
#define LIMIT_LAST_LOG2  6
#define LIMIT_STEP_LOG2  2

void metrics_text_init(struct metrics_text *text, bool is_open)
{
	*text = (struct metrics_text){.is_open = is_open};
	text->out = open_memstream(&text->data, &text->bytes);
	text->failed = !text->out;
}

/* Invalid UTF-8 would abort the scrape, so bytes beyond ASCII become '?'. */
static void put_value(const char *value, FILE *out)
{
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", out);
		else if (*value == '"' || *value == '\\')
			fprintf(out, "\\%c", *value);
		else
			fputc((unsigned char)*value < 0x80 ? *value : '?', out);
	}
}

static void put_labels(const struct metrics_label *labels, const char *limit, FILE *out)
{
	char between = '{';

	for (; labels->name; labels++) {
		fprintf(out, "%c%s=\"", between, labels->name);
		put_value(labels->value, out);
		fputc('"', out);
		between = ',';
	}
	if (limit)
		fprintf(out, "%cle=\"%s\"", between, limit);
	if (limit || between == ',')
		fputc('}', out);
}

static void add_sample(struct metrics_text *text, const char *suffix,
		       const struct metrics_label *labels, const char *limit, double value)
{
	if (text->failed)
		return;
	fprintf(text->out, "%s%s", text->name, suffix);
	put_labels(labels, limit, text->out);
	fprintf(text->out, value == floor(value) && fabs(value) < 0x1p53 ? " %.0f\n" : " %.15g\n",
		value);
	text->failed = ftello(text->out) > METRICS_MAX_BYTES;
}

static const char *const type_names[] = {[METRICS_GAUGE] = "gauge",
					 [METRICS_COUNTER] = "counter",
					 [METRICS_HISTOGRAM] = "histogram"};

void metrics_text_family(struct metrics_text *text, const char *name, enum metrics_type type,
			 const char *help)
{
	int len = (int)strlen(name);

	/* OpenMetrics: the samples of a counter have the suffix, the family has not. */
	if (text->is_open && type == METRICS_COUNTER)
		len -= (int)strlen("_total");
	text->name = name;
	if (!text->failed)
		fprintf(text->out, "# HELP %.*s %s\n# TYPE %.*s %s\n", len, name, help, len, name,
			type_names[type]);
}

void metrics_text_put(struct metrics_text *text, const struct metrics_label *labels, double value)
{
	add_sample(text, "", labels, NULL, value);
}

/* Returns the bucket that ends at 2^@log2 s. */
static unsigned bucket_to(int log2)
{
	return (unsigned)(log2 + HISTOGRAM_TICKS_LOG2);
}

void metrics_text_put_durations(struct metrics_text *text, const struct metrics_label *labels,
				const struct histogram *histogram)
{
	char limit[VALUE_BYTES];
	uint64_t sum = 0;
	unsigned i = 0;

	for (int log2 = LIMIT_FIRST_LOG2; log2 <= LIMIT_LAST_LOG2; log2 += LIMIT_STEP_LOG2) {
		while (i <= bucket_to(log2))
			sum += histogram->counts[i++];
		/* OpenMetrics requires a decimal point in each limit. */
		snprintf(limit, sizeof(limit), log2 < 0 ? "%.15g" : "%.1f", ldexp(1, log2));
		add_sample(text, "_bucket", labels, limit, (double)sum);
	}
	while (i < HISTOGRAM_BUCKETS)
		sum += histogram->counts[i++];
	add_sample(text, "_bucket", labels, "+Inf", (double)sum);
	add_sample(text, "_sum", labels, NULL, (double)histogram->sum_us / 1e6);
	add_sample(text, "_count", labels, NULL, (double)sum);
}

char *metrics_text_end(struct metrics_text *text, size_t *bytes)
{
	if (!text->out)
		return NULL;
	if (text->is_open)
		fputs("# EOF\n", text->out);
	if (fclose(text->out))
		text->failed = true;
	if (text->failed) {
		free(text->data);
		return NULL;
	}
	*bytes = text->bytes;
	return text->data;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/call_totals.h"

#include <math.h>

static const char *const stages[CALL_TOTALS_STAGES] = {"receive", "memory", "credit", "server",
						       "client"};

const char *call_totals_stage(unsigned stage)
{
	return stages[stage];
}

/* Returns the sum of the durations; a negative one, after a reset of the counters, counts as 0. */
static double seconds(const json_t *times)
{
	double sum_s = json_number_value(json_object_get(times, "sum_s"));

	return sum_s > 0 ? sum_s : 0;
}

static void add_counts(struct call_totals *sums, const json_t *counts)
{
	for (size_t i = 0; i < json_array_size(counts); i++) {
		json_int_t count = json_integer_value(json_array_get(counts, i));

		if (count <= 0)
			continue;
		sums->counts[i < CALL_TOTALS_BUCKETS ? i : CALL_TOTALS_BUCKETS - 1] +=
			(uint64_t)count;
		sums->timed_calls += (uint64_t)count;
	}
}

void call_totals_add(struct call_totals *sums, const json_t *operation)
{
	const json_t *whole = json_object_get(operation, "whole");
	const json_t *parts = json_object_get(operation, "stages");

	sums->calls += json_number(operation, "calls");
	sums->errors += json_number(operation, "errors");
	sums->request_bytes += json_number(operation, "request_bytes");
	sums->reply_bytes += json_number(operation, "reply_bytes");
	sums->took_s += seconds(whole);
	add_counts(sums, json_object_get(whole, "counts"));
	for (unsigned i = 0; i < CALL_TOTALS_STAGES; i++)
		sums->stage_s[i] += seconds(json_object_get(parts, stages[i]));
}

void call_totals_add_all(struct call_totals *sums, const json_t *service)
{
	const char *name;
	json_t *operation;

	json_object_foreach(json_object_get(service, "operations"), name, operation)
	{
		call_totals_add(sums, operation);
	}
}

static bool is_less(const struct call_totals *a, const struct call_totals *b)
{
	bool less = a->calls < b->calls || a->errors < b->errors ||
		    a->timed_calls < b->timed_calls || a->request_bytes < b->request_bytes ||
		    a->reply_bytes < b->reply_bytes || a->took_s < b->took_s;

	for (unsigned i = 0; i < CALL_TOTALS_STAGES; i++)
		less |= a->stage_s[i] < b->stage_s[i];
	for (unsigned i = 0; i < CALL_TOTALS_BUCKETS; i++)
		less |= a->counts[i] < b->counts[i];
	return less;
}

void call_totals_since(struct call_totals *sums, const struct call_totals *earlier)
{
	if (is_less(sums, earlier))
		return;
	sums->calls -= earlier->calls;
	sums->errors -= earlier->errors;
	sums->request_bytes -= earlier->request_bytes;
	sums->reply_bytes -= earlier->reply_bytes;
	sums->timed_calls -= earlier->timed_calls;
	sums->took_s -= earlier->took_s;
	for (unsigned i = 0; i < CALL_TOTALS_STAGES; i++)
		sums->stage_s[i] -= earlier->stage_s[i];
	for (unsigned i = 0; i < CALL_TOTALS_BUCKETS; i++)
		sums->counts[i] -= earlier->counts[i];
}

double call_totals_mean(const struct call_totals *sums)
{
	return sums->timed_calls ? sums->took_s / (double)sums->timed_calls : NAN;
}

double call_totals_quantile(const struct call_totals *sums, const json_t *limits, double q)
{
	double due = q * (double)sums->timed_calls;
	uint64_t passed = 0;

	for (size_t i = 0; sums->timed_calls && i < CALL_TOTALS_BUCKETS; i++) {
		const json_t *limit = json_array_get(limits, i);

		passed += sums->counts[i];
		if ((double)passed >= due)
			return json_is_number(limit) ? json_number_value(limit) : INFINITY;
	}
	return NAN;
}

double call_totals_share(const struct call_totals *sums, unsigned stage)
{
	double all_s = 0;

	for (unsigned i = 0; i < CALL_TOTALS_STAGES; i++)
		all_s += sums->stage_s[i];
	return all_s > 0 ? sums->stage_s[stage] / all_s : NAN;
}

const char *call_totals_time_text(double seconds, char text[CELL_BYTES])
{
	if (isnan(seconds))
		snprintf(text, CELL_BYTES, "-");
	else if (isinf(seconds))
		snprintf(text, CELL_BYTES, "long");
	else
		humanize_time(seconds, text);
	return text;
}

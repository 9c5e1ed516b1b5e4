// SPDX-License-Identifier: BSD-3-Clause
/* Durations of Calls: a line per operation, or the distribution of one. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "daemon/ctl/call_totals.h"
#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/render.h"

static void cell_seconds(struct table *table, const json_t *value)
{
	char text[CELL_BYTES] = "-";

	if (json_is_number(value))
		humanize_time(json_number_value(value), text);
	table_cell(table, "%s", text);
}

/* Mean duration. */
static void cell_mean(struct table *table, const json_t *times)
{
	double sum_s = json_number_value(json_object_get(times, "sum_s"));
	uint64_t count = json_number(times, "count");
	char text[CELL_BYTES];

	table_cell(table, "%s", count ? humanize_time(sum_s / (double)count, text) : "-");
}

static int print_operations(const json_t *operations, bool all, FILE *out)
{
	static const struct table_column columns[] = {
		{.title = "OPERATION", .min_width = 9}, {.title = "CALLS", .right = true},
		{.title = "ERR", .right = true},        {.title = "P50", .right = true},
		{.title = "P99", .right = true},        {.title = "RECV", .right = true},
		{.title = "MEM", .right = true},        {.title = "CREDIT", .right = true},
		{.title = "SERVER", .right = true},     {.title = "CLIENT", .right = true},
	};
	const char *name;
	struct table table;
	json_t *operation;

	table_init(&table, columns, ARRAY_SIZE(columns));
	json_object_foreach((json_t *)operations, name, operation)
	{
		const json_t *whole = json_object_get(operation, "whole");
		const json_t *parts = json_object_get(operation, "stages");

		table_cell(&table, "%s", name);
		cell_number(&table, operation, "calls");
		cell_number(&table, operation, "errors");
		cell_seconds(&table, json_object_get(whole, "p50_s"));
		cell_seconds(&table, json_object_get(whole, "p99_s"));
		for (size_t i = 0; i < CALL_TOTALS_STAGES; i++)
			cell_mean(&table, json_object_get(parts, call_totals_stage((unsigned)i)));
	}
	return table_finish(&table, "  ", all ? 0 : TABLE_LINE, out);
}

/* Returns how many Calls of stage @i, or in total for @i after the last stage, are in a bucket. */
static json_int_t count_of(const json_t *operation, size_t i, size_t bucket)
{
	const json_t *times = i < CALL_TOTALS_STAGES
				      ? json_object_get(json_object_get(operation, "stages"),
							call_totals_stage((unsigned)i))
				      : json_object_get(operation, "whole");

	return json_integer_value(json_array_get(json_object_get(times, "counts"), bucket));
}

/* Adds a line unless the bucket is empty. */
static void cells_bucket(struct table *table, const json_t *operation, const json_t *limits,
			 size_t bucket)
{
	json_int_t any = 0;

	for (size_t i = 0; i <= CALL_TOTALS_STAGES; i++)
		any |= count_of(operation, i, bucket);
	if (!any)
		return;
	if (json_is_number(json_array_get(limits, bucket)))
		cell_seconds(table, json_array_get(limits, bucket));
	else
		table_cell(table, "longer");
	for (size_t i = 0; i <= CALL_TOTALS_STAGES; i++) {
		json_int_t count = count_of(operation, i, bucket);

		table_cell(table, count ? "%" PRId64 : ".", (int64_t)count);
	}
}

static int print_spread(const json_t *operation, const json_t *limits, FILE *out)
{
	static const struct table_column columns[] = {
		{.title = "BELOW", .right = true},  {.title = "RECV", .right = true},
		{.title = "MEM", .right = true},    {.title = "CREDIT", .right = true},
		{.title = "SERVER", .right = true}, {.title = "CLIENT", .right = true},
		{.title = "TOTAL", .right = true},
	};
	struct table table;

	table_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t bucket = 0; bucket <= json_array_size(limits); bucket++)
		cells_bucket(&table, operation, limits, bucket);
	return table_finish(&table, "    ", 0, out);
}

static void print_facts(const char *name, const json_t *operation, FILE *out)
{
	const json_t *errors = json_object_get(operation, "errors_by_status");
	char calls[CELL_BYTES], in[CELL_BYTES], back[CELL_BYTES];
	const char *status;
	json_t *count;

	fprintf(out, "  %s: %s Calls, %s in, %s back", name,
		humanize_count(json_number(operation, "calls"), calls),
		humanize_bytes(json_number(operation, "request_bytes"), in),
		humanize_bytes(json_number(operation, "reply_bytes"), back));
	if (json_number(operation, "unanswered"))
		fprintf(out, "; %s without an answer",
			humanize_count(json_number(operation, "unanswered"), calls));
	json_object_foreach((json_t *)errors, status, count)
	{
		fprintf(out, "; %s %s", status,
			humanize_count((uint64_t)json_integer_value(count), calls));
	}
	fprintf(out, "\n");
}

static int print_spreads(const json_t *operations, const json_t *limits, FILE *out)
{
	const char *name;
	json_t *operation;

	json_object_foreach((json_t *)operations, name, operation)
	{
		int rc;

		print_facts(name, operation, out);
		rc = print_spread(operation, limits, out);
		if (rc)
			return rc;
	}
	return 0;
}

int render_latency(const json_t *answer, bool all, FILE *out)
{
	const json_t *limits = json_object_get(answer, "limits_s");
	const char *service, *one = json_string_value(json_object_get(answer, "operation"));
	json_t *entry;
	int rc;

	json_object_foreach(json_object_get(answer, "services"), service, entry)
	{
		const json_t *operations = json_object_get(entry, "operations");

		if (!json_object_size(operations)) {
			fprintf(out, "%s  (no %s yet)\n", service, one ? one : "Calls");
			continue;
		}
		fprintf(out, "%s\n", service);
		rc = print_operations(operations, all, out);
		if (!rc && (all || one))
			rc = print_spreads(operations, limits, out);
		if (rc)
			return rc;
	}
	return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/top_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ctl/json_cells.h"

/* State while rows are built. */
struct row_builder {
	struct top_rows *rows;
	const struct top_view *view;
	const struct top_sample *then, *now;
};

void top_sample_fini(struct top_sample *sample)
{
	json_decref(sample->status);
	json_decref(sample->latency);
	json_decref(sample->connections);
	*sample = (struct top_sample){0};
}

void top_rows_fini(struct top_rows *rows)
{
	free(rows->list);
	*rows = (struct top_rows){0};
}

static bool is_wanted(const struct row_builder *row_builder, const char *service)
{
	return !*row_builder->view->service || !strcmp(row_builder->view->service, service);
}

/* Returns a rate per second; NAN without a previous sample. */
static double rate(const struct row_builder *row_builder, double count)
{
	return count / row_builder->rows->interval_s;
}

static void add_row(struct row_builder *row_builder, const struct top_row *row)
{
	struct top_rows *rows = row_builder->rows;

	rows->busy += !row->idle;
	if (!row->idle || row_builder->view->idle)
		rows->list[rows->count++] = *row;
}

/* ---- operations ---- */

static const json_t *operations_of(const json_t *latency, const char *service)
{
	return json_object_get(json_object_get(json_object_get(latency, "services"), service),
			       "operations");
}

static void add_operation(struct row_builder *row_builder, const char *service, const char *name,
			  const json_t *operation)
{
	const json_t *before =
		json_object_get(operations_of(row_builder->then->latency, service), name);
	const json_t *limits = json_object_get(row_builder->now->latency, "limits_s");
	struct top_row row = {.text = {service, name}};
	struct call_totals sums = {0}, earlier = {0};
	struct top_rows *rows = row_builder->rows;

	call_totals_add(&sums, operation);
	call_totals_add(&earlier, before);
	call_totals_since(&sums, &earlier);
	row.idle = !sums.calls && !sums.timed_calls;
	row.value[TOP_CALLS] = rate(row_builder, (double)sums.calls);
	row.value[TOP_ERRORS] = rate(row_builder, (double)sums.errors);
	row.value[TOP_BYTES] =
		rate(row_builder, (double)sums.request_bytes + (double)sums.reply_bytes);
	row.value[TOP_MEAN] = call_totals_mean(&sums);
	row.value[TOP_P99] = call_totals_quantile(&sums, limits, 0.99);
	for (unsigned i = 0; i < CALL_TOTALS_STAGES; i++) {
		row.value[TOP_STAGES + i] = rate(row_builder, sums.stage_s[i]);
		row.share[i] = call_totals_share(&sums, i);
	}
	rows->calls += row.value[TOP_CALLS];
	rows->errors += row.value[TOP_ERRORS];
	rows->in_bytes += rate(row_builder, (double)sums.request_bytes);
	rows->out_bytes += rate(row_builder, (double)sums.reply_bytes);
	add_row(row_builder, &row);
}

static int make_operations(struct row_builder *row_builder)
{
	json_t *services = json_object_get(row_builder->now->latency, "services");
	const char *service, *name;
	json_t *entry, *operation;
	size_t most = 1;

	json_object_foreach(services, service, entry)
	{
		most += json_object_size(json_object_get(entry, "operations"));
	}
	row_builder->rows->list = calloc(most, sizeof(struct top_row));
	if (!row_builder->rows->list)
		return -ENOMEM;
	json_object_foreach(services, service, entry)
	{
		if (!is_wanted(row_builder, service))
			continue;
		json_object_foreach(json_object_get(entry, "operations"), name, operation)
		{
			add_operation(row_builder, service, name, operation);
		}
	}
	return 0;
}

/* ---- connections ---- */

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = json_number(*(json_t *const *)a, "id");
	uint64_t y = json_number(*(json_t *const *)b, "id");

	return (x > y) - (x < y);
}

/* Returns the connections of an answer, sorted by number; NULL if memory ran out. */
static json_t **by_id(const json_t *list)
{
	size_t n = json_array_size(list);
	json_t **sorted = calloc(n + 1, sizeof(json_t *));

	for (size_t i = 0; sorted && i < n; i++)
		sorted[i] = json_array_get(list, i);
	if (sorted)
		qsort(sorted, n, sizeof(json_t *), compare_ids);
	return sorted;
}

static double counter_delta(const json_t *before, const json_t *after, const char *key)
{
	double from = (double)json_integer_value(json_object_get(before, key));
	double to = (double)json_integer_value(json_object_get(after, key));

	return to < from ? to : to - from;
}

static double number_or(const json_t *object, const char *key, double otherwise)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : otherwise;
}

static void add_connection(struct row_builder *row_builder, const json_t *before,
			   const json_t *connection)
{
	const json_t *client = json_object_get(connection, "client");
	const json_t *earlier = json_object_get(before, "client");
	struct top_rows *rows = row_builder->rows;
	struct top_row row = {
		.text = {json_text(connection, "service"), json_text(connection, "client_address")},
	};
	double calls = counter_delta(before, connection, "calls_total");
	double from = counter_delta(earlier, client, "bytes_received");
	double to = counter_delta(earlier, client, "bytes_sent");

	row.has_oldest = oldest_call_get(connection, &row.oldest);
	row.value[TOP_NUMBER] = number_or(connection, "id", NAN);
	row.value[TOP_CALLS] = rate(row_builder, calls);
	row.value[TOP_IN_FLIGHT] = number_or(client, "calls_in", NAN);
	row.value[TOP_OLDEST] = row.has_oldest ? row.oldest.age_s : NAN;
	row.value[TOP_FROM] = rate(row_builder, from);
	row.value[TOP_TO] = rate(row_builder, to);
	row.idle = !(row.value[TOP_IN_FLIGHT] > 0) && !row.has_oldest && calls <= 0 && from <= 0 &&
		   to <= 0;
	rows->calls += row.value[TOP_CALLS];
	rows->in_bytes += row.value[TOP_FROM];
	rows->out_bytes += row.value[TOP_TO];
	add_row(row_builder, &row);
}

static int make_connections(struct row_builder *row_builder)
{
	const json_t *list = row_builder->now->connections, *connection;
	size_t nearlier = json_array_size(row_builder->then->connections), i;
	json_t **earlier = by_id(row_builder->then->connections);

	row_builder->rows->errors = NAN;
	row_builder->rows->list = calloc(json_array_size(list) + 1, sizeof(struct top_row));
	if (!earlier || !row_builder->rows->list) {
		free(earlier);
		return -ENOMEM;
	}
	json_array_foreach((json_t *)list, i, connection)
	{
		json_t **before =
			bsearch(&connection, earlier, nearlier, sizeof(json_t *), compare_ids);

		if (is_wanted(row_builder, json_text(connection, "service")))
			add_connection(row_builder, before ? *before : NULL, connection);
	}
	free(earlier);
	return 0;
}

/* ---- their order ---- */

/* Unknown values sort lowest. */
static int compare_numbers(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(b) ? (isnan(a) ? 0 : -1) : 1;
	return (a < b) - (a > b);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct top_view *view = arg;
	const struct top_column *by = top_sorted_by(view);
	const struct top_row *x = a, *y = b;
	int order = by->text ? strcmp(x->text[by->index], y->text[by->index])
			     : compare_numbers(x->value[by->index], y->value[by->index]);

	if (view->reverse[view->kind])
		order = -order;
	if (!order)
		order = strcmp(x->text[TOP_TEXT_SERVICE], y->text[TOP_TEXT_SERVICE]);
	if (!order)
		order = strcmp(x->text[TOP_TEXT_NAME], y->text[TOP_TEXT_NAME]);
	return order;
}

int top_rows_make(struct top_rows *rows, const struct top_view *view, const struct top_sample *then,
		  const struct top_sample *now)
{
	struct row_builder row_builder = {.rows = rows, .view = view, .then = then, .now = now};
	int rc;

	top_rows_fini(rows);
	rows->interval_s = then->status ? now->at_s - then->at_s : NAN;
	rc = view->kind == TOP_OPERATIONS ? make_operations(&row_builder)
					  : make_connections(&row_builder);
	if (!rc)
		qsort_r(rows->list, rows->count, sizeof(struct top_row), compare_rows,
			(void *)view);
	return rc;
}

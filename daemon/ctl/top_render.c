// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/top_render.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "daemon/ctl/json_cells.h"

#define MIB  1048576.0
#define WIDE 100u /* width of a line with all columns of connections */

static const char help[] = "Keys of rpcrdma-proxyctl top:\n"
			   "\n"
			   "  c, Tab       operations or connections\n"
			   "  < >          sort by the column to the left or right\n"
			   "  R            reverse the order\n"
			   "  i            show or hide idle rows\n"
			   "  n, #         number of rows\n"
			   "  u, o         show only one service\n"
			   "  d, s         refresh interval in seconds\n"
			   "  Space        refresh now\n"
			   "  h, ?         this help\n"
			   "  q            quit\n"
			   "\n"
			   "Press any key to return.\n";

/* Writes "1,234" for large rates, "0.5" for small ones, "-" if unknown. */
static const char *rate_text(double rate, char text[CELL_BYTES])
{
	if (isnan(rate))
		snprintf(text, CELL_BYTES, "-");
	else if (rate < 99.95)
		snprintf(text, CELL_BYTES, "%.1f", rate);
	else
		humanize_count(rate < 1e18 ? (uint64_t)(rate + 0.5) : UINT64_MAX, text);
	return text;
}

static const char *bytes_text(double rate, char text[CELL_BYTES])
{
	if (isnan(rate))
		snprintf(text, CELL_BYTES, "-");
	else
		humanize_bytes(rate < 1e18 ? (uint64_t)(rate + 0.5) : UINT64_MAX, text);
	return text;
}

/* ---- the top ---- */

static void print_rates(const struct top_rows *rows, FILE *out)
{
	char calls[CELL_BYTES], errors[CELL_BYTES], in[CELL_BYTES], back[CELL_BYTES];

	if (isnan(rows->interval_s)) {
		fprintf(out, "rates not available yet");
		return;
	}
	fprintf(out, "Calls/s %s, ", rate_text(rows->calls, calls));
	if (!isnan(rows->errors))
		fprintf(out, "errors/s %s, ", rate_text(rows->errors, errors));
	fprintf(out, "%s/s in, %s/s back, over %.1f s", bytes_text(rows->in_bytes, in),
		bytes_text(rows->out_bytes, back), rows->interval_s);
}

static void print_top(const struct top_view *view, const struct top_rows *rows,
		      const json_t *status, FILE *out)
{
	const json_t *memory = json_object_get(status, "memory");
	char up[CELL_BYTES], connections[CELL_BYTES], claimed[CELL_BYTES], limit[CELL_BYTES];

	fprintf(out, "version %s, up %s, services %" PRIu64 ", %s open, memory %s of %s\n",
		json_text(status, "version"),
		cell_duration_text(json_number_value(json_object_get(status, "uptime_s")), up),
		json_number(status, "services"),
		humanize_count(json_number(status, "connections"), connections),
		humanize_bytes(json_number(memory, "claimed_bytes"), claimed),
		humanize_bytes(json_number(memory, "limit_bytes"), limit));
	print_rates(rows, out);
	fputc('\n', out);
	fprintf(out, "%s by %s%s", view->kind == TOP_OPERATIONS ? "operations" : "connections",
		top_sorted_by(view)->title, view->reverse[view->kind] ? ", reversed" : "");
	if (*view->service)
		fprintf(out, ", only service %s", view->service);
	if (rows->count > view->rows)
		fprintf(out, ", %u of %zu", view->rows, rows->count);
	fputc('\n', out);
}

static void print_message(const struct top_view *view, const char *error, FILE *out)
{
	const char *asked = top_prompt_text(view);

	if (asked)
		fprintf(out, "%s%s", asked, view->typed);
	else if (view->note)
		fprintf(out, "%s", view->note);
	else if (error)
		fprintf(out, "the daemon says: %s", error);
	fputc('\n', out);
}

/* ---- the rows ---- */

static void cell_rate(struct table *table, double rate)
{
	char text[CELL_BYTES];

	table_cell(table, "%s", rate_text(rate, text));
}

static void cell_time(struct table *table, double seconds)
{
	char text[CELL_BYTES];

	table_cell(table, "%s", call_totals_time_text(seconds, text));
}

/* "  0   0  12  88   0" */
static void cell_shares(struct table *table, const double share[CALL_TOTALS_STAGES])
{
	char text[CALL_TOTALS_STAGES * 4 + 1];
	size_t used = 0;

	for (unsigned i = 0; i < CALL_TOTALS_STAGES; i++) {
		const char *between = i ? " " : "";

		if (isnan(share[i]))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s  -",
						 between);
		else
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%3u", between,
						 (unsigned)(share[i] * 100 + 0.5));
	}
	table_cell(table, "%s", text);
}

static void cells_operation(struct table *table, const struct top_row *row)
{
	table_cell(table, "%s", row->text[TOP_TEXT_SERVICE]);
	table_cell(table, "%s", row->text[TOP_TEXT_NAME]);
	cell_rate(table, row->value[TOP_CALLS]);
	cell_rate(table, row->value[TOP_ERRORS]);
	cell_rate(table, row->value[TOP_BYTES] / MIB);
	cell_time(table, row->value[TOP_MEAN]);
	cell_time(table, row->value[TOP_P99]);
	cell_shares(table, row->share);
}

static void cells_connection(struct table *table, const struct top_row *row)
{
	char age[CELL_BYTES] = "-";

	if (row->has_oldest)
		cell_duration_text(row->oldest.age_s, age);
	table_cell(table, "%.0f", row->value[TOP_NUMBER]);
	table_cell(table, "%s", row->text[TOP_TEXT_NAME]);
	table_cell(table, "%s", row->text[TOP_TEXT_SERVICE]);
	cell_rate(table, row->value[TOP_CALLS]);
	if (isnan(row->value[TOP_IN_FLIGHT]))
		table_cell(table, "-");
	else
		table_cell(table, "%.0f", row->value[TOP_IN_FLIGHT]);
	table_cell(table, "%s", age);
	if (row->has_oldest)
		table_cell(table, "%s %s", row->oldest.operation, row->oldest.stage);
	else
		table_cell(table, "-");
}

static const struct table_column operation_columns[] = {
	{.title = "SERVICE", .min_width = 7}, {.title = "OPERATION", .min_width = 9},
	{.title = "CALLS/S", .right = true},  {.title = "ERR/S", .right = true},
	{.title = "MIB/S", .right = true},    {.title = "MEAN", .right = true},
	{.title = "P99", .right = true},      {.title = "REC MEM CRE SRV CLI"},
};

/* IPv4 addresses and ports are never cut: they are arguments of disconnect. */
static const struct table_column connection_columns[] = {
	{.title = "ID", .right = true},         {.title = "CLIENT", .min_width = 21},
	{.title = "SERVICE", .min_width = 7},   {.title = "CALLS/S", .right = true},
	{.title = "CALLS", .right = true},      {.title = "OLDEST", .right = true},
	{.title = "OPERATION", .min_width = 9},
};

/*
 * Lines narrower than WIDE show only the column that sorts them: the others would need the space of
 * addresses.
 */
static const struct {
	struct table_column column;
	unsigned value;
} byte_columns[] = {
	{{.title = "MIB IN", .right = true}, TOP_FROM},
	{{.title = "MIB OUT", .right = true}, TOP_TO},
};

#define CONNECTION_COLUMNS (ARRAY_SIZE(connection_columns) + ARRAY_SIZE(byte_columns))

static bool shows_bytes(const struct top_view *view, size_t i, unsigned columns)
{
	const struct top_column *by = top_sorted_by(view);

	return !columns || columns >= WIDE || (!by->text && by->index == byte_columns[i].value);
}

static int print_operations(const struct top_rows *rows, size_t shown, unsigned columns, FILE *out)
{
	struct table table;

	table_init(&table, operation_columns, ARRAY_SIZE(operation_columns));
	for (size_t i = 0; i < shown; i++)
		cells_operation(&table, &rows->list[i]);
	return table_finish(&table, "", columns, out);
}

static int print_connections(const struct top_view *view, const struct top_rows *rows, size_t shown,
			     unsigned columns, FILE *out)
{
	struct table_column those[CONNECTION_COLUMNS];
	size_t n = ARRAY_SIZE(connection_columns);
	struct table table;

	memcpy(those, connection_columns, sizeof(connection_columns));
	for (size_t b = 0; b < ARRAY_SIZE(byte_columns); b++)
		if (shows_bytes(view, b, columns))
			those[n++] = byte_columns[b].column;
	table_init(&table, those, n);
	for (size_t i = 0; i < shown; i++) {
		cells_connection(&table, &rows->list[i]);
		for (size_t b = 0; b < ARRAY_SIZE(byte_columns); b++)
			if (shows_bytes(view, b, columns))
				cell_rate(&table, rows->list[i].value[byte_columns[b].value] / MIB);
	}
	return table_finish(&table, "", columns, out);
}

static int print_rows(const struct top_view *view, const struct top_rows *rows, unsigned columns,
		      FILE *out)
{
	size_t shown = rows->count < view->rows ? rows->count : view->rows;

	if (view->kind == TOP_OPERATIONS)
		return print_operations(rows, shown, columns, out);
	return print_connections(view, rows, shown, columns, out);
}

int top_render(const struct top_view *view, const struct top_rows *rows, const json_t *status,
	       const char *error, unsigned columns, FILE *out)
{
	if (view->help) {
		fputs(help, out);
		return 0;
	}
	print_top(view, rows, status, out);
	print_message(view, error, out);
	return print_rows(view, rows, columns, out);
}

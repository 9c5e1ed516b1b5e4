// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ctl/connection_details.h"
#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/render.h"

/* Adds the age of the oldest Call, and "READ server"; "-" without a Call. */
static void cells_oldest(struct table *table, const json_t *connection)
{
	struct oldest_call oldest;
	char age[CELL_BYTES];

	if (!oldest_call_get(connection, &oldest)) {
		table_cell(table, "-");
		table_cell(table, "-");
		return;
	}
	table_cell(table, "%s", cell_duration_text(oldest.age_s, age));
	table_cell(table, "%s %s", oldest.operation, oldest.stage);
}

/* "10.0.0.3:712", with " TLS" if the client uses it. */
static void cell_client(struct table *table, const json_t *connection)
{
	const json_t *tls = json_object_get(json_object_get(connection, "client"), "tls");

	table_cell(table, "%.100s%s", json_text(connection, "client_address"),
		   json_is_object(tls) ? " TLS" : "");
}

static void add_row(struct table *table, const json_t *connection)
{
	const json_t *client = json_object_get(connection, "client");

	cell_number(table, connection, "id");
	cell_text(table, connection, "service");
	cell_client(table, connection);
	cell_text(table, connection, "state");
	cell_duration(table, connection, "age_s");
	cell_number(table, client, "calls_in");
	cells_oldest(table, connection);
}

static const struct table_column columns[] = {
	{.title = "ID", .right = true},       {.title = "SERVICE", .min_width = 7},
	{.title = "CLIENT", .min_width = 10}, {.title = "STATE", .min_width = 6},
	{.title = "AGE", .right = true},      {.title = "CALLS", .right = true},
	{.title = "OLDEST", .right = true},   {.title = "OPERATION", .min_width = 9},
};

static int compare(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	int order = strcmp(json_text(x, "service"), json_text(y, "service"));
	uint64_t i = json_number(x, "id"), j = json_number(y, "id");

	return order ? order : (i > j) - (i < j);
}

static int print_table(json_t *const *sorted, size_t n, FILE *out)
{
	struct table table;

	table_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < n; i++)
		add_row(&table, sorted[i]);
	return table_finish(&table, "", TABLE_LINE, out);
}

static void print_details(json_t *const *sorted, size_t n, bool all, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			fputc('\n', out);
		connection_details_print(sorted[i], all, out);
	}
	if (!n)
		fputs("no connections\n", out);
}

int render_connections(const json_t *answer, bool all, FILE *out)
{
	json_t *list = json_object_get(answer, "connections");
	size_t n = json_array_size(list);
	json_t **sorted = calloc(n + 1, sizeof(json_t *));
	int rc = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sorted[i] = json_array_get(list, i);
	qsort(sorted, n, sizeof(json_t *), compare);
	if (all || json_object_get(answer, "selection"))
		print_details(sorted, n, all, out);
	else
		rc = print_table(sorted, n, out);
	free(sorted);
	return rc;
}

// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/render.h"

static void cell_profile(struct table *table, const json_t *leg)
{
	if (json_is_string(json_object_get(leg, "peer_profile")))
		table_cell(table, "%s: %s", json_text(leg, "peer_profile"),
			   json_text(leg, "peer_profile_why"));
	else
		table_cell(table, "-");
}

/* Prints "; 64 KiB WHAT", or nothing if an older daemon does not report it. */
static void put_bytes(const json_t *leg, const char *key, const char *what, FILE *out)
{
	char amount[CELL_BYTES];

	if (json_is_integer(json_object_get(leg, key)))
		fprintf(out, "; %s %s", humanize_bytes(json_number(leg, key), amount), what);
}

/* Prints "; 3 WHAT", or nothing for zero. */
static void put_count(const json_t *leg, const char *key, const char *what, FILE *out)
{
	if (json_number(leg, key))
		fprintf(out, "; %" PRIu64 " %s", json_number(leg, key), what);
}

/*
 * Prints "version 2 (dialect); inline 4.0 KiB in, 1.0 KiB out; 64 KiB receives; 320 KiB posted; …"
 */
static void put_rdma(const json_t *leg, FILE *out)
{
	const char *dialect = json_string_value(json_object_get(leg, "dialect"));
	const char *pending = json_string_value(json_object_get(leg, "pending"));
	char ours[CELL_BYTES], theirs[CELL_BYTES];

	fprintf(out, "version %" PRIu64, json_number(leg, "rpcrdma_version"));
	if (dialect)
		fprintf(out, " (%s)", dialect);
	if (json_is_integer(json_object_get(leg, "inline_recv_bytes")))
		fprintf(out, "; inline %s in, %s out",
			humanize_bytes(json_number(leg, "inline_recv_bytes"), ours),
			humanize_bytes(json_number(leg, "inline_send_bytes"), theirs));
	put_bytes(leg, "recv_size_bytes", "receives", out);
	put_bytes(leg, "peer_recv_size_bytes", "peer receives", out);
	put_bytes(leg, "recv_posted_bytes", "posted", out);
	if (json_is_integer(json_object_get(leg, "peer_reads_max")))
		fprintf(out, "; configured: %" PRIu64 " concurrent Reads",
			json_number(leg, "peer_reads_max"));
	put_count(leg, "replies_lent", "read-chunk Replies", out);
	put_count(leg, "calls_abandoned", "reverse Calls abandoned", out);
	if (pending)
		fprintf(out, "; %s", pending);
}

/* Adds the cell; "-" for TCP. */
static void cell_rdma(struct table *table, const json_t *leg)
{
	bool is_rdma = json_is_integer(json_object_get(leg, "rpcrdma_version"));
	char *text = NULL;
	size_t bytes;
	FILE *out = is_rdma ? open_memstream(&text, &bytes) : NULL;

	if (out) {
		put_rdma(leg, out);
		fclose(out);
	}
	table_cell(table, "%s", text ? text : "-");
	free(text);
}

/* Adds "open 12 s", or "open -" if the age is unknown; "-" without a leg. */
static void cell_state(struct table *table, const json_t *object)
{
	const json_t *age = json_object_get(object, "state_age_s");
	char text[CELL_BYTES] = "-";

	if (json_is_number(age))
		cell_duration_text(json_number_value(age), text);
	if (json_is_object(object))
		table_cell(table, "%s %s", json_text(object, "state"), text);
	else
		table_cell(table, "-");
}

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

static void cells_brief(struct table *table, const json_t *connection)
{
	const json_t *client = json_object_get(connection, "client");

	cell_number(table, connection, "id");
	cell_text(table, connection, "service");
	cell_text(table, connection, "client_address");
	cell_text(table, connection, "state");
	cell_duration(table, connection, "age_s");
	cell_number(table, client, "calls_in");
	cells_oldest(table, connection);
}

static void cells_all(struct table *table, const json_t *connection)
{
	const json_t *client = json_object_get(connection, "client");
	const json_t *upstream = json_object_get(connection, "upstream");

	cell_number(table, connection, "id");
	cell_text(table, connection, "service");
	cell_number(table, connection, "worker");
	table_cell(table, "%s %s", json_text(client, "kind"),
		   json_text(connection, "client_address"));
	cell_state(table, client);
	table_cell(table, "%s %s", json_text(upstream, "kind"), json_text(upstream, "peer"));
	cell_text(table, upstream, "local");
	cell_state(table, upstream);
	cell_state(table, connection);
	cell_duration(table, connection, "age_s");
	cell_number(table, connection, "calls_total");
	cell_number(table, client, "calls_in");
	cells_oldest(table, connection);
	cell_number(table, client, "calls_out");
	cell_number(table, upstream, "calls_held");
	cell_number(table, client, "credits_granted");
	cell_number(table, upstream, "credits_used");
	cell_number(table, upstream, "credits_available");
	cell_bytes(table, client, "bytes_received");
	cell_bytes(table, client, "bytes_sent");
	cell_bytes(table, upstream, "bytes_sent");
	cell_bytes(table, upstream, "bytes_received");
	cell_profile(table, upstream);
	cell_rdma(table, client);
	cell_rdma(table, upstream);
}

static const struct table_column brief_columns[] = {
	{.title = "ID", .right = true},       {.title = "SERVICE", .min_width = 7},
	{.title = "CLIENT", .min_width = 10}, {.title = "STATE", .min_width = 6},
	{.title = "AGE", .right = true},      {.title = "CALLS", .right = true},
	{.title = "OLDEST", .right = true},   {.title = "OPERATION", .min_width = 9},
};

static const struct table_column all_columns[] = {
	{.title = "ID", .right = true},
	{.title = "SERVICE"},
	{.title = "WORKER", .right = true},
	{.title = "CLIENT"},
	{.title = "CLIENT STATE"},
	{.title = "SERVER"},
	{.title = "SOURCE"},
	{.title = "SERVER STATE"},
	{.title = "STATE"},
	{.title = "AGE", .right = true},
	{.title = "TOTAL CALLS", .right = true},
	{.title = "CALLS", .right = true},
	{.title = "OLDEST", .right = true},
	{.title = "OPERATION"},
	{.title = "REVERSE", .right = true},
	{.title = "NO CREDIT", .right = true},
	{.title = "GRANTED CREDITS", .right = true},
	{.title = "USED CREDITS", .right = true},
	{.title = "FREE CREDITS", .right = true},
	{.title = "FROM CLIENT", .right = true},
	{.title = "TO CLIENT", .right = true},
	{.title = "TO SERVER", .right = true},
	{.title = "FROM SERVER", .right = true},
	{.title = "PEER PROFILE"},
	{.title = "CLIENT RDMA"},
	{.title = "SERVER RDMA"},
};

static int compare(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	int order = strcmp(json_text(x, "service"), json_text(y, "service"));
	uint64_t i = json_number(x, "id"), j = json_number(y, "id");

	return order ? order : (i > j) - (i < j);
}

/* Known members of a leg. */
static const char known_of_leg[] =
	"kind state state_age_s local peer calls_in calls_out calls_held "
	"credits_granted credits_available credits_used inline_send_bytes "
	"inline_recv_bytes rpcrdma_version recv_size_bytes peer_recv_size_bytes "
	"recv_posted_bytes peer_reads_max replies_lent calls_abandoned dialect "
	"pending peer_profile peer_profile_why bytes_received bytes_sent";

static void print_unknown(const json_t *connection, FILE *out)
{
	static const char known[] =
		"id service worker state state_age_s age_s client_address calls_total "
		"client upstream oldest_call_age_s oldest_call_operation "
		"oldest_call_stage oldest_untaken_age_s oldest_untaken_operation";
	char name[CELL_BYTES];

	snprintf(name, sizeof(name), "%llu", (unsigned long long)json_number(connection, "id"));
	cells_print_unknown(connection, known, name, out);
	cells_print_unknown(json_object_get(connection, "client"), known_of_leg, name, out);
	cells_print_unknown(json_object_get(connection, "upstream"), known_of_leg, name, out);
}

int render_connections(const json_t *answer, bool all, FILE *out)
{
	json_t *list = json_object_get(answer, "connections");
	size_t n = json_array_size(list);
	json_t **sorted = calloc(n + 1, sizeof(json_t *));
	struct table table;
	int rc;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sorted[i] = json_array_get(list, i);
	qsort(sorted, n, sizeof(json_t *), compare);
	table_init(&table, all ? all_columns : brief_columns,
		   all ? ARRAY_SIZE(all_columns) : ARRAY_SIZE(brief_columns));
	for (size_t i = 0; i < n; i++)
		(all ? cells_all : cells_brief)(&table, sorted[i]);
	rc = table_finish(&table, "", all ? 0 : TABLE_LINE, out);
	for (size_t i = 0; all && i < n; i++)
		print_unknown(sorted[i], out);
	free(sorted);
	return rc;
}

// SPDX-License-Identifier: BSD-3-Clause
/* The state of the daemon on one screen: problems, then a line per service. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/ctl/call_totals.h"
#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/problem_lines.h"
#include "daemon/ctl/render.h"
#include "daemon/ctl/server_lines.h"

#define SCREEN_LINES   23u /* of 24, one for the shell prompt */
#define SCREEN_OTHERS  6u  /* two at the top, empty lines, titles, and one to spare */
#define SERVICES_SHOWN 12u
#define PROBLEM_LINES  5u /* minimum */

struct screen {
	const json_t *status, *extra, *problems;
	bool all;
	FILE *out;
};

/* ---- the top ---- */

/* Prints "up since 2026-11-25 21:43 (1h02m)". */
static void print_since(const struct screen *screen)
{
	json_int_t now_s = json_integer_value(json_object_get(screen->extra, "time_s"));
	double uptime_s = json_number_value(json_object_get(screen->status, "uptime_s"));
	char since[CELL_BYTES], text[CELL_BYTES];
	struct tm tm;
	time_t start_s;

	cell_duration_text(uptime_s, text);
	if (now_s > 0 && uptime_s >= 0 && uptime_s < (double)now_s) {
		start_s = (time_t)((double)now_s - uptime_s);
		if (localtime_r(&start_s, &tm) &&
		    strftime(since, sizeof(since), "%Y-%m-%d %H:%M", &tm)) {
			fprintf(screen->out, "up since %s (%s)", since, text);
			return;
		}
	}
	fprintf(screen->out, "up for %s", text);
}

static void print_top(const struct screen *screen)
{
	const json_t *memory = json_object_get(screen->status, "memory");
	char services[CELL_BYTES], connections[CELL_BYTES], claimed[CELL_BYTES], limit[CELL_BYTES];

	fprintf(screen->out, "version %s, ", json_text(screen->status, "version"));
	print_since(screen);
	fprintf(screen->out, ", process %" PRIu64 ", log level %s\n",
		json_number(screen->status, "pid"), json_text(screen->status, "log_level"));
	fprintf(screen->out, "services %s, workers %" PRIu64 ", connections %s, memory %s of %s\n",
		humanize_count(json_number(screen->status, "services"), services),
		json_number(screen->status, "workers"),
		humanize_count(json_number(screen->status, "connections"), connections),
		humanize_bytes(json_number(memory, "claimed_bytes"), claimed),
		humanize_bytes(json_number(memory, "limit_bytes"), limit));
}

static int print_memory(const json_t *memory, FILE *out)
{
	static const struct table_column columns[] = {{.title = NULL}, {.title = NULL}};
	char a[CELL_BYTES], b[CELL_BYTES], c[CELL_BYTES];
	struct table table;

	table_init(&table, columns, ARRAY_SIZE(columns));
	table_cell(&table, "claimed by RPCs");
	table_cell(&table, "%s of %s, peak %s",
		   humanize_bytes(json_number(memory, "claimed_bytes"), a),
		   humanize_bytes(json_number(memory, "limit_bytes"), b),
		   humanize_bytes(json_number(memory, "peak_bytes"), c));
	table_cell(&table, "waiting for memory");
	cell_waiting(&table, memory);
	table_cell(&table, "outside the limit");
	table_cell(&table, "up to %s",
		   humanize_bytes(json_number(memory, "beside_limit_bytes"), a));
	table_cell(&table, "buffers");
	table_cell(&table, "%s in use, %s mapped",
		   humanize_bytes(json_number(memory, "in_use_bytes"), a),
		   humanize_bytes(json_number(memory, "mapped_bytes"), b));
	return table_finish(&table, "", 0, out);
}

/* ---- the services ---- */

/* Finds the oldest Call over all connections of a service. Returns false if there is none. */
static bool oldest_of(const json_t *connections, const char *name, struct oldest_call *found)
{
	const json_t *connection;
	struct oldest_call oldest;
	bool any = false;
	size_t i;

	json_array_foreach((json_t *)connections, i, connection)
	{
		if (strcmp(json_text(connection, "service"), name) != 0 ||
		    !oldest_call_get(connection, &oldest) || (any && oldest.age_s <= found->age_s))
			continue;
		*found = oldest;
		any = true;
	}
	return any;
}

static void cell_most(struct table *table, const struct call_totals *sums)
{
	unsigned most = 0;
	double share;

	for (unsigned i = 1; i < CALL_TOTALS_STAGES; i++)
		if (sums->stage_s[i] > sums->stage_s[most])
			most = i;
	share = call_totals_share(sums, most);
	if (isnan(share))
		table_cell(table, "-");
	else
		table_cell(table, "%s %.0f%%", call_totals_stage(most), share * 100);
}

static void cell_oldest(struct table *table, const json_t *connections, const char *name)
{
	struct oldest_call oldest;
	char age[CELL_BYTES];

	if (!connections)
		table_cell(table, "not queried");
	else if (!oldest_of(connections, name, &oldest))
		table_cell(table, "-");
	else
		table_cell(table, "%s %s %s", cell_duration_text(oldest.age_s, age),
			   oldest.operation, oldest.stage);
}

static void cells_service(struct table *table, const struct screen *screen, const json_t *service)
{
	const json_t *latency = json_object_get(screen->extra, "latency");
	const json_t *limits = json_object_get(latency, "limits_s");
	const char *state = server_condition(json_object_get(service, "server"));
	const char *name = json_text(service, "name");
	char calls[CELL_BYTES], p50[CELL_BYTES], p99[CELL_BYTES];
	struct call_totals sums = {0};

	call_totals_add_all(&sums, json_object_get(json_object_get(latency, "services"), name));
	if (json_is_true(json_object_get(service, "draining")))
		state = "drained";
	table_cell(table, "%s", name);
	table_cell(table, "%s", state);
	cell_number(table, service, "connections");
	table_cell(table, "%s", humanize_count(sums.calls, calls));
	table_cell(table, "%s",
		   call_totals_time_text(call_totals_quantile(&sums, limits, 0.5), p50));
	table_cell(table, "%s",
		   call_totals_time_text(call_totals_quantile(&sums, limits, 0.99), p99));
	cell_most(table, &sums);
	cell_oldest(table, json_object_get(screen->extra, "connections"), name);
}

/* Marks up to @nfree services of that rank to be shown. Returns how many more can be shown. */
static size_t show_services(const struct screen *screen, enum problem_rank rank, bool *show,
			    size_t nfree)
{
	const json_t *services = json_object_get(screen->extra, "services"), *service;
	size_t i;

	json_array_foreach((json_t *)services, i, service)
	{
		const char *name = json_text(service, "name");

		if (!nfree || show[i] || problem_rank_of_service(screen->problems, name) != rank)
			continue;
		show[i] = true;
		nfree--;
	}
	return nfree;
}

/* If not all services fit, prints those with the worst problems, in the order of the file. */
static int print_services(const struct screen *screen)
{
	static const struct table_column columns[] = {
		{.title = "SERVICE", .min_width = 7},
		{.title = "SERVER"},
		{.title = "OPEN", .right = true},
		{.title = "CALLS", .right = true},
		{.title = "P50", .right = true},
		{.title = "P99", .right = true},
		{.title = "MOST TIME"},
		{.title = "OLDEST CALL", .min_width = 11, .prose = true},
	};
	const json_t *services = json_object_get(screen->extra, "services"), *service;
	size_t n = json_array_size(services), nfree = SERVICES_SHOWN, i;
	bool *show = calloc(n + 1, sizeof(*show));
	struct table table;
	int rc;

	if (!show)
		return -ENOMEM;
	if (screen->all || n <= SERVICES_SHOWN)
		nfree = n;
	for (unsigned rank = 0; rank <= PROBLEM_RANKS; rank++)
		nfree = show_services(screen, rank, show, nfree);
	table_init(&table, columns, ARRAY_SIZE(columns));
	json_array_foreach((json_t *)services, i, service)
	{
		if (show[i])
			cells_service(&table, screen, service);
	}
	rc = table_finish(&table, "", screen->all ? 0 : TABLE_LINE, screen->out);
	if (!screen->all && n > SERVICES_SHOWN)
		fprintf(screen->out, "and %zu more services\n", n - SERVICES_SHOWN);
	free(show);
	return rc;
}

/* ---- all of it ---- */

static int print_screen(const struct screen *screen)
{
	size_t services = json_array_size(json_object_get(screen->extra, "services"));
	size_t shown = services < SERVICES_SHOWN ? services : SERVICES_SHOWN;
	size_t most = SCREEN_LINES - SCREEN_OTHERS - shown;
	int rc;

	print_top(screen);
	fputc('\n', screen->out);
	most = most > PROBLEM_LINES ? most : PROBLEM_LINES;
	rc = problem_lines_print(screen->problems, screen->all ? 0 : most, screen->out);
	fputc('\n', screen->out);
	if (!rc)
		rc = print_services(screen);
	if (rc || !screen->all)
		return rc;
	fputc('\n', screen->out);
	return print_memory(json_object_get(screen->status, "memory"), screen->out);
}

int render_status(const json_t *answer, const json_t *extra, bool all, FILE *out)
{
	static const char known[] =
		"schema version pid uptime_s log_level log_lines_dropped services workers "
		"connections memory services_leaving stopping problems host";
	const struct screen screen = {.status = answer,
				      .extra = extra,
				      .problems = json_object_get(answer, "problems"),
				      .all = all,
				      .out = out};
	int rc = print_screen(&screen);

	cells_print_unknown(answer, known, NULL, out);
	return rc;
}

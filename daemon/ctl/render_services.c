// SPDX-License-Identifier: BSD-3-Clause
#include <inttypes.h>
#include <string.h>

#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/render.h"
#include "daemon/ctl/server_lines.h"

/*
 * Adds "ok", "silent 35 s", "disabled", or "down 35 s: Connection refused"; "-" if the server has
 * not been tried yet.
 */
static void cell_server(struct table *table, const json_t *server)
{
	const json_t *age = json_object_get(server, "condition_age_s");
	const char *error = json_string_value(json_object_get(server, "error"));
	const char *state = server_condition(server);
	char text[CELL_BYTES] = "";

	if (!age)
		age = json_object_get(server, "state_age_s");
	if ((!strcmp(state, "down") || !strcmp(state, "silent")) && json_is_number(age))
		cell_duration_text(json_number_value(age), text);
	if (strcmp(state, "down") != 0)
		error = NULL;
	table_cell(table, "%s%s%s%s%s", state, text[0] ? " " : "", text, error ? ": " : "",
		   error ? error : "");
}

/* Adds "tcp://filer-a:2049 +1" for the first of several. */
static void cell_connect(struct table *table, const json_t *service)
{
	size_t n = json_array_size(json_object_get(service, "targets"));

	if (n > 1)
		table_cell(table, "%s +%zu", json_text(service, "connect"), n - 1);
	else
		cell_text(table, service, "connect");
}

static uint64_t refused_sum(const json_t *refused)
{
	uint64_t sum = 0;
	const char *why;
	json_t *count;

	json_object_foreach((json_t *)refused, why, count) sum +=
		(uint64_t)json_integer_value(count);
	return sum;
}

/* The connections that count against the limit, unless the daemon is older. */
static uint64_t active_connections(const json_t *service)
{
	bool reported = json_is_integer(json_object_get(service, "active"));

	return json_number(service, reported ? "active" : "connections");
}

static void cells_brief(struct table *table, const json_t *service)
{
	cell_text(table, service, "name");
	cell_connect(table, service);
	cell_server(table, json_object_get(service, "server"));
	table_cell(table, "%" PRIu64 "/%" PRIu64, active_connections(service),
		   json_number(service, "max_connections"));
	table_cell(table, "%" PRIu64, refused_sum(json_object_get(service, "refused")));
}

/* Adds all listeners, if the daemon reports more than one. */
static void cell_listens(struct table *table, const json_t *service)
{
	const json_t *listens = json_object_get(service, "listens"), *one;
	char text[CELL_BYTES] = "";
	size_t i, at = 0;

	json_array_foreach((json_t *)listens, i, one)
	{
		int n = snprintf(text + at, sizeof(text) - at, "%s%s", i ? ", " : "",
				 json_string_value(one) ? json_string_value(one) : "");

		at += (size_t)n < sizeof(text) - at ? (size_t)n : sizeof(text) - at - 1;
	}
	if (json_array_size(listens) > 1)
		table_cell(table, "%s", text);
	else
		cell_text(table, service, "listen");
}

static void cells_all(struct table *table, const json_t *service)
{
	const json_t *memory = json_object_get(service, "memory");
	const json_t *server = json_object_get(service, "server");

	cell_text(table, service, "name");
	cell_listens(table, service);
	cell_connect(table, service);
	cell_server(table, server);
	cell_text(table, server, "address");
	cell_number(table, service, "connections");
	cell_number(table, service, "max_connections");
	cell_number(table, service, "max_connections_per_client");
	cell_number(table, service, "connections_total");
	cell_number(table, service, "half_open");
	cell_number(table, service, "held");
	cell_bytes(table, memory, "claimed_bytes");
	cell_waiting(table, memory);
	table_cell(table, "%" PRIu64, refused_sum(json_object_get(service, "refused")));
}

/* Returns whether the line of a server shows the problem, too. */
static bool is_of_server_line(const json_t *problem)
{
	static const char *const ids[] = {"one_server_down", "one_server_disabled", "mount_down"};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (!strcmp(json_text(problem, "id"), ids[i]))
			return true;
	return false;
}

/* Prints the problems of a service, and the lines of its servers. */
static void print_problems(const json_t *service, bool all, FILE *out)
{
	const json_t *problems = json_object_get(service, "problems"), *problem;
	size_t i;

	json_array_foreach((json_t *)problems, i, problem)
	{
		if (!is_of_server_line(problem))
			fprintf(out, "%s: %s\n", json_text(service, "name"),
				json_text(problem, "text"));
	}
	server_lines_print(service, all, out);
}

int render_services(const json_t *answer, bool all, FILE *out)
{
	static const struct table_column brief[] = {
		{.title = "SERVICE", .min_width = 7},
		{.title = "CONNECTS TO", .min_width = 11},
		{.title = "SERVER", .min_width = 8, .prose = true},
		{.title = "OPEN/MAX", .right = true},
		{.title = "REFUSED", .right = true},
	};
	static const struct table_column every[] = {
		{.title = "SERVICE"},
		{.title = "LISTENS ON"},
		{.title = "CONNECTS TO"},
		{.title = "SERVER"},
		{.title = "SERVER ADDRESS"},
		{.title = "OPEN", .right = true},
		{.title = "MAX", .right = true},
		{.title = "PER CLIENT", .right = true},
		{.title = "TOTAL", .right = true},
		{.title = "HALF-OPEN", .right = true},
		{.title = "TARPIT", .right = true},
		{.title = "MEMORY", .right = true},
		{.title = "WAITING", .right = true},
		{.title = "REFUSED", .right = true},
	};
	static const char known[] =
		"name listen listens connect server connections max_connections "
		"max_connections_per_client connections_total half_open held memory "
		"refused draining balance targets mount mount_targets max_connections_from active problems";
	json_t *services = json_object_get(answer, "services"), *service;
	struct table table;
	size_t i;
	int rc;

	table_init(&table, all ? every : brief, all ? ARRAY_SIZE(every) : ARRAY_SIZE(brief));
	json_array_foreach(services, i, service)(all ? cells_all : cells_brief)(&table, service);
	rc = table_finish(&table, "", all ? 0 : TABLE_LINE, out);
	json_array_foreach(services, i, service)
	{
		print_problems(service, all, out);
		if (all)
			cells_print_unknown(service, known, json_text(service, "name"), out);
	}
	return rc;
}

// SPDX-License-Identifier: BSD-3-Clause
/* Services as text: what an administrator looks for first, and below it, in words, what is out of the ordinary. */
#include <inttypes.h>
#include <string.h>

#include "daemon/ctl/cells.h"
#include "daemon/ctl/render_parts.h"

/* "ok", "down 35 s: Connection refused"; "-" of a server that nobody has asked for yet. */
static void cell_server(struct table *table, const json_t *server)
{
	const json_t *age = json_object_get(server, "state_age_s");
	const char *error = json_string_value(json_object_get(server, "error"));
	const char *state = json_text(server, "state");
	char text[CELL_BYTES] = "";

	if (!strcmp(state, "unknown"))
		state = "-";
	if (!strcmp(state, "down") && json_is_number(age))
		cell_duration_text(json_number_value(age), text);
	table_cell(table, "%s%s%s%s%s", state, text[0] ? " " : "", text, error ? ": " : "",
		   error ? error : "");
}

/* "tcp://filer-a:2049 +1": the first of several. */
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

static void cells_brief(struct table *table, const json_t *service)
{
	cell_text(table, service, "name");
	cell_connect(table, service);
	cell_server(table, json_object_get(service, "server"));
	table_cell(table, "%" PRIu64 "/%" PRIu64, json_number(service, "connections"),
		   json_number(service, "max_connections"));
	table_cell(table, "%" PRIu64, refused_sum(json_object_get(service, "refused")));
}

static void cells_all(struct table *table, const json_t *service)
{
	const json_t *memory = json_object_get(service, "memory");
	const json_t *server = json_object_get(service, "server");

	cell_text(table, service, "name");
	cell_text(table, service, "listen");
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

/* What the server's cell may have no room for. */
static void tell_server(const char *name, const json_t *service, FILE *out)
{
	const json_t *server = json_object_get(service, "server");
	/* Of a name that does not resolve there is no address. */
	bool has_address = json_is_string(json_object_get(server, "address"));
	const json_t *age = json_object_get(server, "state_age_s");
	char text[CELL_BYTES];

	if (strcmp(json_text(server, "state"), "down") != 0)
		return;
	fprintf(out, "%s: server %s is down", name,
		has_address ? json_text(server, "address") : json_text(service, "connect"));
	if (json_is_number(age))
		fprintf(out, " for %s", cell_duration_text(json_number_value(age), text));
	fprintf(out, ": %s; attempts: %" PRIu64 ", clients that wait: %" PRIu64 "\n",
		json_text(server, "error"), json_number(server, "attempts_failed"),
		json_number(server, "waiting_clients"));
}

static void tell_target(const char *name, const json_t *target, FILE *out)
{
	const json_t *age = json_object_get(target, "state_age_s");
	const char *state = json_text(target, "state"), *order = json_text(target, "order");
	const char *error = json_string_value(json_object_get(target, "last_error"));
	char text[CELL_BYTES];

	fprintf(out, "%s: server %s: %s", name, json_text(target, "connect"),
		strcmp(state, "unknown") ? state : "not asked yet");
	if (json_is_number(age))
		fprintf(out, " for %s", cell_duration_text(json_number_value(age), text));
	if (strcmp(order, "up"))
		fprintf(out, ", told to be %s", strcmp(order, "drain") ? order : "drained");
	fprintf(out, "; connections: %" PRIu64 ", attempts: %" PRIu64 ", failed: %" PRIu64 "%s%s\n",
		json_number(target, "connections"), json_number(target, "attempts"),
		json_number(target, "failures"), error ? ": " : "", error ? error : "");
}

/* One server is told of above, and only what is out of the ordinary. */
static void tell_targets(const char *name, const json_t *targets, bool all, FILE *out)
{
	const json_t *target;
	size_t i;

	json_array_foreach(targets, i, target)
	{
		bool ordered = strcmp(json_text(target, "order"), "up") != 0;

		if (json_array_size(targets) > 1 || ordered || all)
			tell_target(name, target, out);
	}
}

/* It may be reached, and shown as such, and not answer. */
static void tell_late(const char *name, const json_t *server, FILE *out)
{
	if (json_number(server, "late_calls"))
		fprintf(out, "%s: Calls that have waited long for the server: %" PRIu64 "\n", name,
			json_number(server, "late_calls"));
}

static void tell_memory(const char *name, const json_t *memory, FILE *out)
{
	double oldest_s = json_number_value(json_object_get(memory, "oldest_wait_s"));
	char text[CELL_BYTES];

	if (json_number(memory, "waiting_claims"))
		fprintf(out, "%s: RPCs that wait for memory: %" PRIu64 ", the first for %s\n", name,
			json_number(memory, "waiting_claims"), cell_duration_text(oldest_s, text));
}

/* The reasons are words with _ between them. */
static void tell_refused(const char *name, const json_t *refused, FILE *out)
{
	const char *why;
	json_t *count;

	json_object_foreach((json_t *)refused, why, count)
	{
		fprintf(out, "%s: connections refused: %" PRId64 ": ", name,
			(int64_t)json_integer_value(count));
		for (const char *c = why; *c; c++)
			fputc(*c == '_' ? ' ' : *c, out);
		fputc('\n', out);
	}
}

static void tell(const json_t *service, bool all, FILE *out)
{
	static const char *const known[] = {"name",
					    "listen",
					    "connect",
					    "server",
					    "connections",
					    "max_connections",
					    "max_connections_per_client",
					    "connections_total",
					    "half_open",
					    "held",
					    "memory",
					    "refused",
					    "draining",
					    "balance",
					    "targets",
					    NULL};
	const char *name = json_text(service, "name");

	if (json_is_true(json_object_get(service, "draining")))
		fprintf(out, "%s: drained: nobody gets in until resume\n", name);
	tell_server(name, service, out);
	tell_targets(name, json_object_get(service, "targets"), all, out);
	tell_late(name, json_object_get(service, "server"), out);
	tell_memory(name, json_object_get(service, "memory"), out);
	tell_refused(name, json_object_get(service, "refused"), out);
	if (all)
		cells_print_unknown(service, known, name, out);
}

int render_services(const json_t *answer, bool all, FILE *out)
{
	static const struct table_column brief[] = {
		{.title = "SERVICE", .least = 7},
		{.title = "CONNECTS TO", .least = 11},
		{.title = "SERVER", .least = 8, .prose = true},
		{.title = "OPEN/MAX", .right = true},
		{.title = "REFUSED", .right = true},
	};
	static const struct table_column every[] = {
		{.title = "SERVICE"},
		{.title = "LISTENS ON"},
		{.title = "CONNECTS TO"},
		{.title = "SERVER"},
		{.title = "ITS ADDRESS"},
		{.title = "OPEN", .right = true},
		{.title = "MAX", .right = true},
		{.title = "PER CLIENT", .right = true},
		{.title = "TOTAL", .right = true},
		{.title = "HALF-OPEN", .right = true},
		{.title = "HELD", .right = true},
		{.title = "MEMORY", .right = true},
		{.title = "WAITING", .right = true},
		{.title = "REFUSED", .right = true},
	};
	json_t *services = json_object_get(answer, "services"), *service;
	struct table table;
	size_t i;
	int rc;

	table_init(&table, all ? every : brief, all ? ARRAY_SIZE(every) : ARRAY_SIZE(brief));
	json_array_foreach(services, i, service)(all ? cells_all : cells_brief)(&table, service);
	rc = cells_finish(&table, "", all ? 0 : TABLE_LINE, out);
	json_array_foreach(services, i, service) tell(service, all, out);
	return rc;
}

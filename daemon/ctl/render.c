// SPDX-License-Identifier: BSD-3-Clause
/* Answers as text: one function per command. */
#include "daemon/ctl/render.h"

#include <errno.h>
#include <inttypes.h>

#include "daemon/ctl/table.h"

const char *render_bytes(uint64_t bytes, char text[RENDER_BYTES])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(text, RENDER_BYTES, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return text;
}

const char *render_duration(double seconds, char text[RENDER_BYTES])
{
	uint64_t s = seconds > 0 && seconds < 1e12 ? (uint64_t)seconds : 0;

	if (s < 60)
		snprintf(text, RENDER_BYTES, "%" PRIu64 "s", s);
	else if (s < 3600)
		snprintf(text, RENDER_BYTES, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(text, RENDER_BYTES, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
	else
		snprintf(text, RENDER_BYTES, "%" PRIu64 "d%02" PRIu64 "h", s / 86400,
			 s / 3600 % 24);
	return text;
}

/* ---- members of the answer ---- */

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "-";
}

static uint64_t number_of(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static void cell_number(struct table *table, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_integer(value))
		table_cell(table, "%" PRId64, (int64_t)json_integer_value(value));
	else
		table_cell(table, "-");
}

static void cell_bytes(struct table *table, const json_t *object, const char *key)
{
	char text[RENDER_BYTES];

	if (json_is_integer(json_object_get(object, key)))
		table_cell(table, "%s", render_bytes(number_of(object, key), text));
	else
		table_cell(table, "-");
}

static void cell_duration(struct table *table, const json_t *object, const char *key)
{
	char text[RENDER_BYTES];

	table_cell(table, "%s",
		   render_duration(json_number_value(json_object_get(object, key)), text));
}

static int finish(struct table *table, const char *indent, FILE *out)
{
	int rc = table_print(table, indent, out);

	table_fini(table);
	return rc;
}

/* How many claims wait for memory, and for how long the first of them has. */
static void cell_waiting(struct table *table, const json_t *memory)
{
	double oldest_s = json_number_value(json_object_get(memory, "oldest_wait_s"));
	char age[RENDER_BYTES];

	if (number_of(memory, "waiting_claims"))
		table_cell(table, "%llu, up to %s",
			   (unsigned long long)number_of(memory, "waiting_claims"),
			   render_duration(oldest_s, age));
	else
		table_cell(table, "0");
}

/* ---- status ---- */

static int render_status(const json_t *answer, FILE *out)
{
	static const struct table_column columns[] = {{NULL, false}, {NULL, false}};
	const json_t *memory = json_object_get(answer, "memory");
	char up[RENDER_BYTES], a[RENDER_BYTES], b[RENDER_BYTES], c[RENDER_BYTES];
	struct table table;

	table_init(&table, columns, ARRAY_SIZE(columns));
	table_cell(&table, "version");
	table_cell(&table, "%s", text_of(answer, "version"));
	table_cell(&table, "process");
	cell_number(&table, answer, "pid");
	table_cell(&table, "up for");
	table_cell(&table, "%s",
		   render_duration(json_number_value(json_object_get(answer, "uptime_s")), up));
	table_cell(&table, "log level");
	table_cell(&table, "%s", text_of(answer, "log_level"));
	table_cell(&table, "log lines dropped");
	cell_number(&table, answer, "log_lines_dropped");
	table_cell(&table, "services");
	cell_number(&table, answer, "services");
	table_cell(&table, "workers");
	cell_number(&table, answer, "workers");
	table_cell(&table, "connections");
	cell_number(&table, answer, "connections");
	table_cell(&table, "claimed by RPCs");
	table_cell(&table, "%s of %s, %s at most so far",
		   render_bytes(number_of(memory, "claimed_bytes"), a),
		   render_bytes(number_of(memory, "limit_bytes"), b),
		   render_bytes(number_of(memory, "peak_bytes"), c));
	table_cell(&table, "waiting for memory");
	cell_waiting(&table, memory);
	table_cell(&table, "beside the limit");
	table_cell(&table, "up to %s", render_bytes(number_of(memory, "beside_limit_bytes"), a));
	table_cell(&table, "buffers");
	table_cell(&table, "%s in use, %s mapped",
		   render_bytes(number_of(memory, "in_use_bytes"), a),
		   render_bytes(number_of(memory, "mapped_bytes"), b));
	return finish(&table, "", out);
}

/* ---- services ---- */

static void cell_refused(struct table *table, const json_t *refused)
{
	uint64_t sum = 0;
	const char *why;
	json_t *count;

	json_object_foreach((json_t *)refused, why, count) sum +=
		(uint64_t)json_integer_value(count);
	table_cell(table, "%" PRIu64, sum);
}

static void print_refused(const json_t *service, FILE *out)
{
	const json_t *refused = json_object_get(service, "refused");
	const char *why;
	json_t *count;

	json_object_foreach((json_t *)refused, why, count)
		fprintf(out, "%s refused %" PRId64 ": %s\n", text_of(service, "name"),
			(int64_t)json_integer_value(count), why);
}

static int render_services(const json_t *answer, FILE *out)
{
	static const struct table_column columns[] = {
		{"SERVICE", false}, {"LISTENS ON", false}, {"CONNECTS TO", false},
		{"NOW", true},      {"LIMIT", true},       {"TOTAL", true},
		{"MEMORY", true},   {"WAIT FOR IT", true}, {"REFUSED", true},
	};
	const json_t *services = json_object_get(answer, "services"), *memory;
	char claimed[RENDER_BYTES];
	struct table table;
	json_t *service;
	size_t i;
	int rc;

	table_init(&table, columns, ARRAY_SIZE(columns));
	json_array_foreach((json_t *)services, i, service)
	{
		table_cell(&table, "%s", text_of(service, "name"));
		table_cell(&table, "%s", text_of(service, "listen"));
		table_cell(&table, "%s", text_of(service, "connect"));
		cell_number(&table, service, "connections");
		cell_number(&table, service, "max_connections");
		cell_number(&table, service, "connections_total");
		memory = json_object_get(service, "memory");
		table_cell(&table, "%s", render_bytes(number_of(memory, "claimed_bytes"), claimed));
		cell_waiting(&table, memory);
		cell_refused(&table, json_object_get(service, "refused"));
	}
	rc = finish(&table, "", out);
	json_array_foreach((json_t *)services, i, service) print_refused(service, out);
	return rc;
}

/* ---- connections ---- */

static bool is_rdma(const json_t *leg)
{
	return number_of(leg, "rpcrdma_version") != 0;
}

static void cell_credits(struct table *table, const json_t *leg, const char *key)
{
	if (is_rdma(leg))
		cell_number(table, leg, key);
	else
		table_cell(table, "-");
}

static void cell_profile(struct table *table, const json_t *leg)
{
	if (json_is_string(json_object_get(leg, "peer_profile")))
		table_cell(table, "%s: %s", text_of(leg, "peer_profile"),
			   text_of(leg, "peer_profile_why"));
	else
		table_cell(table, "-");
}

/* "open 12s", or "open -" of one that does not tell since when; "-" for none. */
static void cell_state(struct table *table, const json_t *object)
{
	const json_t *age = json_object_get(object, "state_age_s");
	char text[RENDER_BYTES] = "-";

	if (json_is_number(age))
		render_duration(json_number_value(age), text);
	if (json_is_object(object))
		table_cell(table, "%s %s", text_of(object, "state"), text);
	else
		table_cell(table, "-");
}

static void cells_connection(struct table *table, const json_t *connection)
{
	const json_t *client = json_object_get(connection, "client");
	const json_t *upstream = json_object_get(connection, "upstream");

	cell_number(table, connection, "id");
	table_cell(table, "%s", text_of(connection, "service"));
	table_cell(table, "%s %s", text_of(client, "kind"), text_of(connection, "client_address"));
	cell_state(table, client);
	table_cell(table, "%s %s", text_of(upstream, "kind"), text_of(upstream, "peer"));
	cell_state(table, upstream);
	cell_state(table, connection);
	cell_duration(table, connection, "age_s");
	cell_number(table, client, "calls_in");
	cell_number(table, client, "calls_out");
	cell_number(table, upstream, "calls_held");
	cell_credits(table, client, "credits_granted");
	cell_credits(table, upstream, "credits_available");
	cell_bytes(table, client, "bytes_received");
	cell_bytes(table, client, "bytes_sent");
	cell_profile(table, upstream);
}

static int render_connections(const json_t *answer, FILE *out)
{
	static const struct table_column columns[] = {
		{"ID", true},        {"SERVICE", false},
		{"CLIENT", false},   {"ITS STATE", false},
		{"UPSTREAM", false}, {"ITS STATE", false},
		{"STATE", false},    {"AGE", true},
		{"CALLS", true},     {"REVERSE", true},
		{"HELD", true},      {"GRANTED", true},
		{"CREDITS", true},   {"FROM CLIENT", true},
		{"TO CLIENT", true}, {"PEER PROFILE", false},
	};
	const json_t *connections = json_object_get(answer, "connections");
	json_t *connection;
	struct table table;
	size_t i;

	table_init(&table, columns, ARRAY_SIZE(columns));
	json_array_foreach((json_t *)connections, i, connection)
		cells_connection(&table, connection);
	return finish(&table, "", out);
}

/* ---- stats ---- */

static int render_module(const char *name, const json_t *counters, const json_t *help, bool all,
			 FILE *out)
{
	static const struct table_column columns[] = {{NULL, false}, {NULL, true}, {NULL, false}};
	struct table table;
	const char *counter;
	json_t *value;

	table_init(&table, columns, ARRAY_SIZE(columns));
	json_object_foreach((json_t *)counters, counter, value)
	{
		if (!all && json_integer_value(value) == 0)
			continue;
		table_cell(&table, "%s", counter);
		table_cell(&table, "%" PRId64, (int64_t)json_integer_value(value));
		table_cell(&table, "%s", text_of(help, counter));
	}
	if (table.ncells)
		fprintf(out, "  %s\n", name);
	return finish(&table, "    ", out);
}

static int render_stats(const json_t *answer, bool all, FILE *out)
{
	const json_t *services = json_object_get(answer, "services");
	const json_t *help = json_object_get(answer, "help");
	const char *service, *module;
	json_t *modules, *counters;
	int rc = 0;

	json_object_foreach((json_t *)services, service, modules)
	{
		fprintf(out, "%s\n", service);
		json_object_foreach(modules, module, counters)
		{
			rc = render_module(module, counters, json_object_get(help, module), all,
					   out);
			if (rc)
				return rc;
		}
	}
	return rc;
}

int render_answer(enum control_command_id command, const json_t *answer, bool all, FILE *out)
{
	switch (command) {
	case CONTROL_COMMAND_STATUS:
		return render_status(answer, out);
	case CONTROL_COMMAND_SERVICES:
		return render_services(answer, out);
	case CONTROL_COMMAND_CONNECTIONS:
		return render_connections(answer, out);
	case CONTROL_COMMAND_STATS:
		return render_stats(answer, all, out);
	case CONTROL_COMMAND_COUNTERS:
	case CONTROL_COMMAND_LOG:
		fprintf(out, "log level is %s\n", text_of(answer, "level"));
		return 0;
	case CONTROL_COMMAND_STOP:
		fprintf(out, "stopping\n");
		return 0;
	}
	return -EINVAL;
}

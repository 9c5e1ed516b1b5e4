// SPDX-License-Identifier: BSD-3-Clause
/* Answers as text: which one, and the short ones. */
#include "daemon/ctl/render.h"

#include <errno.h>

#include "daemon/ctl/cells.h"
#include "daemon/ctl/render_parts.h"

static void memory_cells(struct table *table, const json_t *memory)
{
	char a[CELL_BYTES], b[CELL_BYTES], c[CELL_BYTES];

	table_cell(table, "claimed by RPCs");
	table_cell(table, "%s of %s, %s at most so far",
		   amount_bytes(json_number(memory, "claimed_bytes"), a),
		   amount_bytes(json_number(memory, "limit_bytes"), b),
		   amount_bytes(json_number(memory, "peak_bytes"), c));
	table_cell(table, "waiting for memory");
	cell_waiting(table, memory);
	table_cell(table, "beside the limit");
	table_cell(table, "up to %s", amount_bytes(json_number(memory, "beside_limit_bytes"), a));
	table_cell(table, "buffers");
	table_cell(table, "%s in use, %s mapped",
		   amount_bytes(json_number(memory, "in_use_bytes"), a),
		   amount_bytes(json_number(memory, "mapped_bytes"), b));
}

static int render_status(const json_t *answer, FILE *out)
{
	static const char *const known[] = {"schema",   "version",          "pid",
					    "uptime_s", "log_level",        "log_lines_dropped",
					    "services", "workers",          "connections",
					    "memory",   "services_leaving", "stopping",
					    NULL};
	static const struct table_column columns[] = {{.title = NULL}, {.title = NULL}};
	struct table table;
	int rc;

	table_init(&table, columns, ARRAY_SIZE(columns));
	table_cell(&table, "version");
	cell_text(&table, answer, "version");
	table_cell(&table, "process");
	cell_number(&table, answer, "pid");
	table_cell(&table, "up for");
	cell_duration(&table, answer, "uptime_s");
	table_cell(&table, "log level");
	cell_text(&table, answer, "log_level");
	table_cell(&table, "log lines dropped");
	cell_number(&table, answer, "log_lines_dropped");
	table_cell(&table, "services");
	cell_number(&table, answer, "services");
	table_cell(&table, "workers");
	cell_number(&table, answer, "workers");
	table_cell(&table, "connections");
	cell_number(&table, answer, "connections");
	if (json_number(answer, "services_leaving")) {
		table_cell(&table, "services that leave");
		cell_number(&table, answer, "services_leaving");
	}
	if (json_is_true(json_object_get(answer, "stopping"))) {
		table_cell(&table, "stopping");
		table_cell(&table, "when connections have ended");
	}
	memory_cells(&table, json_object_get(answer, "memory"));
	rc = cells_finish(&table, "", 0, out);
	cells_print_unknown(answer, known, NULL, out);
	return rc;
}

int render_answer(enum control_command_id command, const json_t *answer, const json_t *meanings,
		  bool all, FILE *out)
{
	switch (command) {
	case CONTROL_COMMAND_STATUS:
		return render_status(answer, out);
	case CONTROL_COMMAND_SERVICES:
		return render_services(answer, all, out);
	case CONTROL_COMMAND_CONNECTIONS:
		return render_connections(answer, all, out);
	case CONTROL_COMMAND_LATENCY:
		return render_latency(answer, all, out);
	case CONTROL_COMMAND_STATS:
		return render_stats(answer, meanings, all, out);
	case CONTROL_COMMAND_COUNTERS:
		return render_counters(answer, out);
	case CONTROL_COMMAND_CONFIG:
		render_config(answer, out);
		return 0;
	case CONTROL_COMMAND_CHECK:
		render_check(answer, out);
		return 0;
	case CONTROL_COMMAND_SUPPORT: /* no answer of the daemon's, or none that ends */
	case CONTROL_COMMAND_TRACE:
		return 0;
	case CONTROL_COMMAND_TARGET:
		fprintf(out, "%s: server %s: %s\n", json_text(answer, "service"),
			json_text(answer, "target"), json_text(answer, "order"));
		return 0;
	case CONTROL_COMMAND_LOG:
		fprintf(out, "log level is %s\n", json_text(answer, "level"));
		return 0;
	case CONTROL_COMMAND_RELOAD:
		render_reload(answer, out);
		return 0;
	case CONTROL_COMMAND_DRAIN:
		render_drain(answer, out);
		return 0;
	case CONTROL_COMMAND_RESUME:
		render_resume(answer, out);
		return 0;
	case CONTROL_COMMAND_DISCONNECT:
		render_disconnect(answer, out);
		return 0;
	case CONTROL_COMMAND_STOP:
		fprintf(out, "stopping\n");
		return 0;
	}
	return -EINVAL;
}

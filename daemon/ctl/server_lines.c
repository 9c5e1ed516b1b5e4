// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/server_lines.h"

#include <inttypes.h>
#include <string.h>

#include "daemon/ctl/json_cells.h"

/* Writes " for 35 s", or "" if unknown. Returns @text. */
static const char *for_how_long(const json_t *object, char text[CELL_BYTES])
{
	const json_t *age = json_object_get(object, "state_age_s");
	char duration[CELL_BYTES];

	text[0] = '\0';
	if (json_is_number(age))
		snprintf(text, CELL_BYTES, " for %.20s",
			 cell_duration_text(json_number_value(age), duration));
	return text;
}

/* @what: "server" or "MOUNT by" */
static void print_server(const char *name, const char *what, const json_t *target, FILE *out)
{
	const char *state = json_text(target, "state"), *order = json_text(target, "order");
	const char *error = json_string_value(json_object_get(target, "last_error"));
	bool ordered = strcmp(order, "up") != 0;
	char text[CELL_BYTES];

	fprintf(out,
		"%s: %s %s: %s%s%s%s; connections: %" PRIu64 ", attempts: %" PRIu64
		", failed: %" PRIu64 "%s%s\n",
		name, what, json_text(target, "connect"),
		strcmp(state, "unknown") ? state : "not tried yet", for_how_long(target, text),
		ordered ? ", administratively " : "",
		!ordered                 ? ""
		: strcmp(order, "drain") ? order
					 : "drained",
		json_number(target, "connections"), json_number(target, "attempts"),
		json_number(target, "failures"), error ? ": " : "", error ? error : "");
}

const char *server_condition(const json_t *server)
{
	const char *condition = json_string_value(json_object_get(server, "condition"));

	if (!condition)
		condition = json_text(server, "state");
	return strcmp(condition, "unknown") ? condition : "-";
}

void server_lines_print(const json_t *service, bool all, FILE *out)
{
	bool several = json_array_size(json_object_get(service, "targets")) > 1;
	const char *name = json_text(service, "name");
	const json_t *target;
	size_t i;

	json_array_foreach(json_object_get(service, "targets"), i, target)
	{
		if (all || several)
			print_server(name, "server", target, out);
	}
	if (all && json_is_string(json_object_get(service, "mount")))
		fprintf(out, "%s: mount: %s\n", name, json_text(service, "mount"));
	json_array_foreach(json_object_get(service, "mount_targets"), i, target)
	{
		if (all || !strcmp(json_text(target, "state"), "down"))
			print_server(name, "MOUNT by", target, out);
	}
}

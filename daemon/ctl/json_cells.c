// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/json_cells.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *cell_duration_text(double seconds, char text[CELL_BYTES])
{
	uint64_t s = seconds > 0 && seconds < 1e12 ? (uint64_t)seconds : 0;

	if (s < 60)
		snprintf(text, CELL_BYTES, "%" PRIu64 " s", s);
	else if (s < 3600)
		snprintf(text, CELL_BYTES, "%" PRIu64 "m%02" PRIu64 "s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(text, CELL_BYTES, "%" PRIu64 "h%02" PRIu64 "m", s / 3600, s / 60 % 60);
	else
		snprintf(text, CELL_BYTES, "%" PRIu64 "d%02" PRIu64 "h", s / 86400, s / 3600 % 24);
	return text;
}

const char *json_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "-";
}

uint64_t json_number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* The daemon checks acknowledgements only this often, so younger Replies may have arrived. */
#define UNACKED_MIN_S 0.1

bool oldest_call_get(const json_t *connection, struct oldest_call *oldest)
{
	const json_t *call = json_object_get(connection, "oldest_call_age_s");
	const json_t *untaken = json_object_get(connection, "oldest_untaken_age_s");

	if (json_is_number(untaken) && json_number_value(untaken) >= UNACKED_MIN_S &&
	    !(json_is_number(call) && json_number_value(call) > json_number_value(untaken))) {
		*oldest = (struct oldest_call){json_number_value(untaken),
					       json_text(connection, "oldest_untaken_operation"),
					       "client"};
		return true;
	}
	*oldest = (struct oldest_call){json_number_value(call),
				       json_text(connection, "oldest_call_operation"),
				       json_text(connection, "oldest_call_stage")};
	return json_is_number(call);
}

void cell_text(struct table *table, const json_t *object, const char *key)
{
	table_cell(table, "%s", json_text(object, key));
}

void cell_number(struct table *table, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_integer(value))
		table_cell(table, "%" PRId64, (int64_t)json_integer_value(value));
	else
		table_cell(table, "-");
}

void cell_bytes(struct table *table, const json_t *object, const char *key)
{
	char text[CELL_BYTES] = "-";

	if (json_is_integer(json_object_get(object, key)))
		humanize_bytes(json_number(object, key), text);
	table_cell(table, "%s", text);
}

void cell_duration(struct table *table, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	char text[CELL_BYTES] = "-";

	if (json_is_number(value))
		cell_duration_text(json_number_value(value), text);
	table_cell(table, "%s", text);
}

void cell_waiting(struct table *table, const json_t *memory)
{
	double oldest_s = json_number_value(json_object_get(memory, "oldest_wait_s"));
	char age[CELL_BYTES];

	if (json_number(memory, "waiting_claims"))
		table_cell(table, "%" PRIu64 ", up to %s", json_number(memory, "waiting_claims"),
			   cell_duration_text(oldest_s, age));
	else
		table_cell(table, "0");
}

static bool is_known(const char *key, const char *known)
{
	size_t len;

	for (; *known; known += len + (known[len] == ' ')) {
		len = strcspn(known, " ");
		if (strlen(key) == len && !memcmp(key, known, len))
			return true;
	}
	return false;
}

void cells_print_unknown(const json_t *object, const char *known, const char *name, FILE *out)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		char *text;

		if (is_known(key, known))
			continue;
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(12));
		fprintf(out, "%s%s%s: %s\n", name ? name : "", name ? ": " : "", key,
			text ? text : "-");
		free(text);
	}
}

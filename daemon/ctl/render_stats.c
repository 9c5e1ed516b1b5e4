// SPDX-License-Identifier: BSD-3-Clause
/* Counters in groups: one per module, and closed connections per side. */
#include <inttypes.h>
#include <string.h>

#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/render.h"

static int print_group(const char *name, const char *side, const json_t *counters,
		       const json_t *meanings, bool all, FILE *out)
{
	static const struct table_column columns[] = {
		{.title = NULL}, {.right = true}, {.title = NULL}};
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
		table_cell(&table, "%s", meanings ? json_text(meanings, counter) : "");
	}
	fprintf(out, "  %s%s%s%s\n", name, side ? " by the " : "", side ? side : "",
		table.ncells ? "" : "  (all zero)");
	return table_finish(&table, "    ", 0, out);
}

/* Prints a group, or several if its members are objects. */
static int print_module(const char *name, const json_t *module, const json_t *meanings, bool all,
			FILE *out)
{
	const json_t *first = json_object_iter_value(json_object_iter((json_t *)module));
	const char *side;
	json_t *counters;
	int rc;

	if (!json_is_object(first))
		return print_group(name, NULL, module, meanings, all, out);
	json_object_foreach((json_t *)module, side, counters)
	{
		rc = print_group(name, side, counters, meanings, all, out);
		if (rc)
			return rc;
	}
	return 0;
}

int render_stats(const json_t *answer, const json_t *meanings, bool all, FILE *out)
{
	const json_t *services = json_object_get(answer, "services");
	const json_t *texts = json_object_get(meanings, "counters");
	const char *service, *name;
	json_t *modules, *module;
	int rc;

	json_object_foreach((json_t *)services, service, modules)
	{
		fprintf(out, "%s\n", service);
		json_object_foreach(modules, name, module)
		{
			rc = print_module(name, module, json_object_get(texts, name), all, out);
			if (rc)
				return rc;
		}
	}
	return 0;
}

int render_counters(const json_t *answer, FILE *out)
{
	static const struct table_column columns[] = {{.title = NULL}, {.title = NULL}};
	const char *name, *counter;
	json_t *module, *meaning;
	struct table table;
	int rc;

	json_object_foreach(json_object_get(answer, "counters"), name, module)
	{
		fprintf(out, "%s\n", name);
		table_init(&table, columns, ARRAY_SIZE(columns));
		json_object_foreach(module, counter, meaning)
		{
			table_cell(&table, "%s", counter);
			cell_text(&table, module, counter);
		}
		rc = table_finish(&table, "  ", 0, out);
		if (rc)
			return rc;
	}
	return 0;
}

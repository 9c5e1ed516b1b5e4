// SPDX-License-Identifier: BSD-3-Clause
/* What a command has changed, and what is in force, as text. */
#include "daemon/ctl/cells.h"
#include "daemon/ctl/render.h"

/* "changed: to-filer, exports"; nothing of an empty list. */
static void print_list(const json_t *answer, const char *key, const char *title, FILE *out)
{
	const json_t *list = json_object_get(answer, key);
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s%s", i ? ", " : title, json_string_value(json_array_get(list, i)),
			i + 1 == n ? "\n" : "");
}

static void print_lines(const json_t *answer, const char *key, FILE *out)
{
	const json_t *list = json_object_get(answer, key);

	for (size_t i = 0; i < json_array_size(list); i++)
		fprintf(out, "%s\n", json_string_value(json_array_get(list, i)));
}

void render_reload(const json_t *answer, FILE *out)
{
	static const char known[] = "schema reloaded kept changed added removed held warnings";

	fprintf(out, "reloaded\n");
	print_list(answer, "kept", "kept: ", out);
	print_list(answer, "changed", "changed: ", out);
	print_list(answer, "added", "added: ", out);
	print_list(answer, "removed", "removed: ", out);
	print_list(answer, "held", "as they were until a restart: ", out);
	print_lines(answer, "warnings", out);
	cells_print_unknown(answer, known, NULL, out);
}

void render_config(const json_t *answer, FILE *out)
{
	fprintf(out, "# What %s comes to.\n", json_text(answer, "file"));
	print_lines(answer, "lines", out);
}

static void print_or_none(const json_t *answer, const char *key, const char *title,
			  const char *none, FILE *out)
{
	print_list(answer, key, title, out);
	if (!json_array_size(json_object_get(answer, key)))
		fprintf(out, "%s\n", none);
}

void render_drain(const json_t *answer, FILE *out)
{
	print_or_none(answer, "draining", "draining: ", "there are no services", out);
}

void render_resume(const json_t *answer, FILE *out)
{
	print_or_none(answer, "resumed", "resumed: ", "nothing was drained", out);
}

void render_disconnect(const json_t *answer, FILE *out)
{
	fprintf(out, "connections closed: %llu\n",
		(unsigned long long)json_number(answer, "disconnected"));
}

// SPDX-License-Identifier: BSD-3-Clause
/* What a check of a service's servers found, as text. */
#include "daemon/ctl/cells.h"
#include "daemon/ctl/render.h"

static void print_step(const json_t *step, FILE *out)
{
	const json_t *took = json_object_get(step, "took_us");
	const char *what = json_string_value(json_object_get(step, "what"));
	const char *advice = json_string_value(json_object_get(step, "advice"));

	fprintf(out, "  %-11s  %-9s", json_text(step, "step"), json_text(step, "result"));
	if (json_is_integer(took))
		fprintf(out, "  %8.1f ms", (double)json_integer_value(took) / 1000);
	else if (what)
		fprintf(out, "  %11s", "");
	fprintf(out, "%s%s\n", what ? "  " : "", what ? what : "");
	if (advice)
		fprintf(out, "  what to do: %s\n", advice);
}

void render_check(const json_t *answer, FILE *out)
{
	const json_t *servers = json_object_get(answer, "servers");

	for (size_t i = 0; i < json_array_size(servers); i++) {
		const json_t *server = json_array_get(servers, i);
		const json_t *steps = json_object_get(server, "steps");

		fprintf(out, "%s: %s\n", json_text(server, "server"), json_text(server, "result"));
		for (size_t k = 0; k < json_array_size(steps); k++)
			print_step(json_array_get(steps, k), out);
	}
	if (json_array_size(servers) != 1)
		fprintf(out, "%s: %s\n", json_text(answer, "service"), json_text(answer, "result"));
}

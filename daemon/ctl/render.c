// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/render.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/plugin_line.h"

/* Prints "changed: to-filer, exports"; nothing for an empty list. */
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

static void render_reload(const json_t *answer, FILE *out)
{
	static const char known[] = "schema reloaded kept changed added removed held warnings "
				    "tls_renewed";

	fprintf(out, "reloaded\n");
	print_list(answer, "kept", "kept: ", out);
	print_list(answer, "changed", "changed: ", out);
	print_list(answer, "added", "added: ", out);
	print_list(answer, "removed", "removed: ", out);
	print_list(answer, "tls_renewed", "changed TLS files: ", out);
	print_list(answer, "held", "not applied, needs a restart: ", out);
	print_lines(answer, "warnings", out);
	cells_print_unknown(answer, known, NULL, out);
}

static void render_config(const json_t *answer, FILE *out)
{
	fprintf(out, "# Effective configuration of %s\n", json_text(answer, "file"));
	print_lines(answer, "lines", out);
}

static void print_or_none(const json_t *answer, const char *key, const char *title,
			  const char *none, FILE *out)
{
	print_list(answer, key, title, out);
	if (!json_array_size(json_object_get(answer, key)))
		fprintf(out, "%s\n", none);
}

static void render_disconnect(const json_t *answer, FILE *out)
{
	fprintf(out, "connections closed: %llu\n",
		(unsigned long long)json_number(answer, "disconnected"));
}

static void print_step(const json_t *step, FILE *out)
{
	const json_t *elapsed = json_object_get(step, "took_us");
	const char *what = json_string_value(json_object_get(step, "what"));
	const char *advice = json_string_value(json_object_get(step, "advice"));

	fprintf(out, "  %-11s  %-9s", json_text(step, "step"), json_text(step, "result"));
	if (json_is_integer(elapsed))
		fprintf(out, "  %8.1f ms", (double)json_integer_value(elapsed) / 1000);
	else if (what)
		fprintf(out, "  %11s", "");
	fprintf(out, "%s%s\n", what ? "  " : "", what ? what : "");
	if (advice)
		fprintf(out, "  what to do: %s\n", advice);
}

/* Prints "tcp://filer:2049: good, disabled by 'target down'", and how to enable the server. */
static void print_server(const json_t *server, const char *service, FILE *out)
{
	const json_t *steps = json_object_get(server, "steps");
	const char *order = plugin_check_order(server);

	fprintf(out, "%s: %s", json_text(server, "server"), json_text(server, "result"));
	if (order)
		fprintf(out, ", disabled by 'target %s'", order);
	fputc('\n', out);
	for (size_t k = 0; k < json_array_size(steps); k++)
		print_step(json_array_get(steps, k), out);
	if (order)
		fprintf(out, "  what to do: 'rpcrdma-proxyctl target %s %s up'\n", service,
			json_text(server, "server"));
}

static void render_check(const json_t *answer, FILE *out)
{
	const json_t *servers = json_object_get(answer, "servers");
	const char *service = json_text(answer, "service");
	bool drained = json_is_true(json_object_get(answer, "drained"));

	for (size_t i = 0; i < json_array_size(servers); i++)
		print_server(json_array_get(servers, i), service, out);
	if (json_array_size(servers) == 1 && !drained)
		return;
	fprintf(out, "%s: %s%s\n", service, json_text(answer, "result"),
		drained ? ", " PLUGIN_CHECK_DRAINED : "");
	if (drained)
		fprintf(out, "  what to do: 'rpcrdma-proxyctl resume %s'\n", service);
}

int render_answer(enum control_command_id command, const json_t *answer, const json_t *extra,
		  bool all, FILE *out)
{
	switch (command) {
	case CONTROL_COMMAND_STATUS:
		return render_status(answer, extra, all, out);
	case CONTROL_COMMAND_SERVICES:
		return render_services(answer, all, out);
	case CONTROL_COMMAND_CONNECTIONS:
		return render_connections(answer, all, out);
	case CONTROL_COMMAND_LATENCY:
		return render_latency(answer, all, out);
	case CONTROL_COMMAND_STATS:
		return render_stats(answer, extra, all, out);
	case CONTROL_COMMAND_COUNTERS:
		return render_counters(answer, out);
	case CONTROL_COMMAND_CONFIG:
		render_config(answer, out);
		return 0;
	case CONTROL_COMMAND_CHECK:
		render_check(answer, out);
		return 0;
	case CONTROL_COMMAND_SUPPORT: /* commands without a single answer */
	case CONTROL_COMMAND_TOP:
	case CONTROL_COMMAND_TRACE:
	case CONTROL_COMMAND_CAPTURE:
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
		print_or_none(answer, "draining", "draining: ", "no services", out);
		return 0;
	case CONTROL_COMMAND_RESUME:
		print_or_none(answer, "resumed", "resumed: ", "no service was drained", out);
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

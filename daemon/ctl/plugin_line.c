// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/plugin_line.h"

#include <inttypes.h>
#include <string.h>

#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/problem_lines.h"

static const char *const words[] = {
	[PLUGIN_OK] = "OK",
	[PLUGIN_WARNING] = "WARNING",
	[PLUGIN_CRITICAL] = "CRITICAL",
	[PLUGIN_UNKNOWN] = "UNKNOWN",
};

/* Prints text before the performance data, which begin with '|'. */
static void print_text(const char *text, FILE *out)
{
	for (; *text; text++)
		fputc(*text == '|' ? '/' : *text, out);
}

static void print_word(enum plugin_status status, FILE *out)
{
	fprintf(out, "%s - ", words[status]);
}

/* ---- status ---- */

static size_t count_rank(const json_t *problems, enum problem_rank rank)
{
	const json_t *problem;
	size_t i, n = 0;

	json_array_foreach((json_t *)problems, i, problem) n += problem_rank(problem) == rank;
	return n;
}

enum plugin_status plugin_status_result(const json_t *answer)
{
	const json_t *problems = json_object_get(answer, "problems");

	if (!json_is_array(problems))
		return PLUGIN_UNKNOWN;
	if (count_rank(problems, PROBLEM_RANK_CRITICAL))
		return PLUGIN_CRITICAL;
	return count_rank(problems, PROBLEM_RANK_WARNING) ? PLUGIN_WARNING : PLUGIN_OK;
}

static void print_worst(const json_t *problems, FILE *out)
{
	const json_t *worst = json_array_get(problems, 0);
	const char *service = json_string_value(json_object_get(worst, "service"));
	size_t others = count_rank(problems, PROBLEM_RANK_CRITICAL) +
			count_rank(problems, PROBLEM_RANK_WARNING) - 1;

	if (service)
		fprintf(out, "%s: ", service);
	print_text(json_text(worst, "text"), out);
	if (others)
		fprintf(out, " (and %zu more)", others);
}

/* 'label'=value[unit];[warning];[critical];[minimum];[maximum] */
static void print_performance(const json_t *answer, const json_t *problems, FILE *out)
{
	const json_t *memory = json_object_get(answer, "memory");

	fprintf(out,
		" | connections=%" PRIu64 ";;;0 memory=%" PRIu64 "B;;;0;%" PRIu64
		" critical=%zu;;;0 warning=%zu;;;0\n",
		json_number(answer, "connections"), json_number(memory, "claimed_bytes"),
		json_number(memory, "limit_bytes"), count_rank(problems, PROBLEM_RANK_CRITICAL),
		count_rank(problems, PROBLEM_RANK_WARNING));
}

void plugin_status_print(const json_t *answer, FILE *out)
{
	const json_t *problems = json_object_get(answer, "problems");
	enum plugin_status status = plugin_status_result(answer);

	print_word(status, out);
	if (status == PLUGIN_UNKNOWN)
		fputs("the daemon is older than this client and does not report problems", out);
	else if (status == PLUGIN_OK)
		fputs("no problems", out);
	else
		print_worst(problems, out);
	print_performance(answer, problems, out);
}

/* ---- check ---- */

enum plugin_status plugin_check_result(const json_t *answer)
{
	const char *result = json_text(answer, "result");

	if (!strcmp(result, "good"))
		return PLUGIN_OK;
	return !strcmp(result, "degraded") ? PLUGIN_WARNING : PLUGIN_CRITICAL;
}

const char *plugin_check_order(const json_t *server)
{
	const char *order = json_string_value(json_object_get(server, "order"));

	return order && strcmp(order, "up") != 0 ? order : NULL;
}

/* Prints "; tcp://filer:2049: connect: Connection refused" for the first failed step. */
static void print_failed_step(const json_t *server, FILE *out)
{
	const json_t *steps = json_object_get(server, "steps"), *step;
	const char *what, *order = plugin_check_order(server);
	size_t i;

	if (order)
		fprintf(out, "; %s: disabled by 'target %s'", json_text(server, "server"), order);

	json_array_foreach((json_t *)steps, i, step)
	{
		if (strcmp(json_text(step, "result"), "failed") != 0)
			continue;
		what = json_string_value(json_object_get(step, "what"));
		fprintf(out, "; %s: %s failed%s", json_text(server, "server"),
			json_text(step, "step"), what ? ": " : "");
		print_text(what ? what : "", out);
		return;
	}
}

void plugin_check_print(const json_t *answer, FILE *out)
{
	const json_t *servers = json_object_get(answer, "servers"), *server;
	size_t i;

	print_word(plugin_check_result(answer), out);
	fprintf(out, "%s is %s", json_text(answer, "service"), json_text(answer, "result"));
	if (json_is_true(json_object_get(answer, "drained")))
		fputs("; " PLUGIN_CHECK_DRAINED, out);
	json_array_foreach((json_t *)servers, i, server) print_failed_step(server, out);
	fputc('\n', out);
}

/* ---- without a result ---- */

void plugin_failure_print(enum plugin_status status, const char *why, FILE *out)
{
	print_word(status, out);
	print_text(why, out);
	fputc('\n', out);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/problem_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ctl/ctl_error.h"
#include "daemon/ctl/json_cells.h"

#define INDENT      4u               /* of continued lines */
#define CURE_PREFIX "  what to do: " /* as in the answer to check */

enum problem_rank problem_rank(const json_t *problem)
{
	static const char *const names[] = {"critical", "warning", "notice"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(json_text(problem, "severity"), names[i]))
			return (enum problem_rank)i;
	return PROBLEM_RANK_WARNING;
}

enum problem_rank problem_rank_of_service(const json_t *problems, const char *service)
{
	enum problem_rank worst = PROBLEM_RANKS, rank;
	const json_t *problem;
	size_t i;

	json_array_foreach((json_t *)problems, i, problem)
	{
		rank = problem_rank(problem);
		if (rank < worst && !strcmp(json_text(problem, "service"), service))
			worst = rank;
	}
	return worst;
}

/* Returns the length of the part of @text that fits @width columns, broken at a space if possible. */
static size_t fitting(const char *text, size_t width)
{
	size_t len = strlen(text), at = width;

	if (len <= width)
		return len;
	while (at && text[at] != ' ')
		at--;
	return at ? at : width;
}

/* Prints @text on lines of @line columns; 0: on one line. Returns the number of lines. */
static size_t print_wrapped(const char *text, size_t line, FILE *out)
{
	size_t used = 0, lines = 0, len;

	do {
		len = line ? fitting(text, line - used) : strlen(text);
		fprintf(out, "%*s%.*s\n", (int)used, "", (int)len, text);
		text += len + strspn(text + len, " ");
		used = INDENT;
		lines++;
	} while (*text);
	return lines;
}

/* Returns "SERVICE: text", which the caller frees, or NULL without memory. */
static char *problem_text(const json_t *problem)
{
	const char *service = json_string_value(json_object_get(problem, "service"));
	char *text;

	if (asprintf(&text, "%s%s%s", service ? service : "", service ? ": " : "",
		     json_text(problem, "text")) < 0)
		return NULL;
	return text;
}

/* Adds the number of lines to @lines. Returns 0 or -ENOMEM. */
static int print_full(const json_t *problem, size_t line, FILE *out, size_t *lines)
{
	const char *cure = json_string_value(json_object_get(problem, "cure"));
	char *text = problem_text(problem), *advice = NULL;

	if (!text)
		return -ENOMEM;
	*lines += print_wrapped(text, line, out);
	free(text);
	if (!cure || !cure[0])
		return 0;
	if (asprintf(&advice, CURE_PREFIX "%s", cure) < 0)
		return -ENOMEM;
	*lines += print_wrapped(advice, line, out);
	free(advice);
	return 0;
}

static int print_all(const json_t *problems, size_t line, FILE *out, size_t *lines)
{
	const json_t *problem;
	size_t i;
	int rc;

	json_array_foreach((json_t *)problems, i, problem)
	{
		rc = print_full(problem, line, out, lines);
		if (rc)
			return rc;
	}
	return 0;
}

static int print_cut(const json_t *problem, FILE *out)
{
	char *text = problem_text(problem);

	if (!text)
		return -ENOMEM;
	if (strlen(text) > TABLE_LINE)
		fprintf(out, "%.*s" TABLE_CUT "\n", (int)(TABLE_LINE - strlen(TABLE_CUT)), text);
	else
		fprintf(out, "%s\n", text);
	free(text);
	return 0;
}

/* Prints a line for each problem, but at most @most with the one that says where the rest is. */
static int print_brief(const json_t *problems, size_t most, FILE *out)
{
	size_t n = json_array_size(problems), shown = n < most ? n : most - 1;

	for (size_t i = 0; i < shown; i++)
		if (print_cut(json_array_get(problems, i), out))
			return -ENOMEM;
	if (shown < n)
		fprintf(out, "and %zu more: ", n - shown);
	fputs("'" PROGRAM " -a status' shows all, and what to do\n", out);
	return 0;
}

int problem_lines_print(const json_t *problems, size_t most, FILE *out)
{
	char *full = NULL;
	size_t bytes, lines = 0;
	FILE *text;
	int rc;

	if (!json_array_size(problems)) {
		fputs(json_is_array(problems)
			      ? "no problems\n"
			      : "problems: not reported: the daemon is older than this client\n",
		      out);
		return 0;
	}
	if (!most)
		return print_all(problems, 0, out, &lines);
	text = open_memstream(&full, &bytes);
	if (!text)
		return -ENOMEM;
	rc = print_all(problems, TABLE_LINE, text, &lines);
	if (fclose(text))
		rc = -ENOMEM;
	if (!rc && lines <= most)
		fputs(full, out);
	else if (!rc)
		rc = print_brief(problems, most, out);
	free(full);
	return rc;
}

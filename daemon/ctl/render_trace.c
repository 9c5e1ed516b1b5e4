// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lines are printed one by one, so columns have a fixed width. With all columns a longer text shifts
 * the next ones. Otherwise operation and client use the space that the last column leaves, and what
 * does not fit is cut in its middle.
 */
#include "daemon/ctl/render.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/table.h"

#define ALL_COLUMNS       "%-12s %-14s %-21s %-12s %10s %10s  %-28s %8s  "
#define STAGE_SHOWN_SHARE 100u /* show a stage that took at least 1/100 of the total */

/* The columns that fit TABLE_LINE, and spaces between them: 80 in all. */
#define ID_WIDTH        6u
#define CLIENT_WIDTH    15u
#define OPERATION_WIDTH 12u
#define RESULT_WIDTH    22u
#define TEXT_BYTES      256u

void render_trace_titles(bool all, FILE *out)
{
	if (all)
		fprintf(out, ALL_COLUMNS "%s\n", "TIME (UTC)", "CONNECTION", "CLIENT", "OPERATION",
			"CALL", "REPLY", "TRANSFER", "DURATION", "STAGES");
	else
		fprintf(out, "%-12s %*s %-*s %-*s %8s %s\n", "TIME (UTC)", (int)ID_WIDTH, "ID",
			(int)CLIENT_WIDTH, "CLIENT", (int)OPERATION_WIDTH, "OPERATION", "DURATION",
			"SLOWEST STAGE OR ERROR");
}

/* Gets the time of day with milliseconds from "2026-11-25T22:57:07.581943Z". */
static void time_text(const json_t *line, char text[CELL_BYTES])
{
	const char *time = json_text(line, "time");

	snprintf(text, CELL_BYTES, "%.12s", strlen(time) > 23 ? time + 11 : time);
}

static void bytes_text(const json_t *line, const char *key, char text[CELL_BYTES])
{
	if (json_is_integer(json_object_get(line, key)))
		humanize_bytes(json_number(line, key), text);
	else
		snprintf(text, CELL_BYTES, "-");
}

/* "record>short long>record": the forms of the Call on both sides, and of the Reply back. */
static void carried_text(const json_t *line, char text[2 * CELL_BYTES])
{
	const json_t *carried = json_object_get(line, "carried");
	bool callback = json_is_true(json_object_get(line, "callback"));
	const json_t *from = json_object_get(carried, callback ? "upstream" : "client");
	const json_t *to = json_object_get(carried, callback ? "client" : "upstream");

	snprintf(text, 2 * CELL_BYTES, "%.8s>%.8s %.8s>%.8s", json_text(from, "call"),
		 json_text(to, "call"), json_text(to, "reply"), json_text(from, "reply"));
}

static void print_stages(const json_t *line, FILE *out)
{
	double whole_s = json_number_value(json_object_get(line, "took_s"));
	const char *stage, *apart = "";
	json_t *elapsed;

	json_object_foreach(json_object_get(line, "stages_s"), stage, elapsed)
	{
		double s = json_number_value(elapsed);
		char text[CELL_BYTES];

		if (s <= 0 || s * STAGE_SHOWN_SHARE < whole_s)
			continue;
		fprintf(out, "%s%s %s", apart, stage, humanize_time(s, text));
		apart = ", ";
	}
}

/* Returns "NFS4ERR_NOENT", from an older daemon "NOENT"; NULL if there is none. */
static const char *error_text(const json_t *line)
{
	const char *name = json_string_value(json_object_get(line, "error_name"));

	return name ? name : json_string_value(json_object_get(line, "error"));
}

static void print_outcome(const json_t *line, FILE *out)
{
	const char *error = error_text(line);

	if (!json_is_true(json_object_get(line, "answered")))
		fputs("; no answer", out);
	else if (error)
		fprintf(out, "; %s", error);
}

static void print_client_name(const json_t *line, FILE *out)
{
	const char *name = json_string_value(json_object_get(line, "client_name"));

	if (name)
		fprintf(out, "; client %s", name);
}

static void print_all(const json_t *line, FILE *out)
{
	char time[CELL_BYTES], in[CELL_BYTES], back[CELL_BYTES], elapsed[CELL_BYTES];
	char connection[3 * CELL_BYTES], carried[2 * CELL_BYTES];

	time_text(line, time);
	snprintf(connection, sizeof(connection), "%.64s#%" PRIu64, json_text(line, "service"),
		 json_number(line, "connection"));
	bytes_text(line, "request_bytes", in);
	bytes_text(line, "reply_bytes", back);
	carried_text(line, carried);
	humanize_time(json_number_value(json_object_get(line, "took_s")), elapsed);
	fprintf(out, ALL_COLUMNS, time, connection, json_text(line, "client_address"),
		json_text(line, "operation"), in, back, carried, elapsed);
	print_stages(line, out);
	print_outcome(line, out);
	print_client_name(line, out);
	fputc('\n', out);
}

/* ---- lines of 80 columns ---- */

/* Copies @from, with its middle cut to fit @width. */
static void cut(const char *from, size_t width, char text[TEXT_BYTES])
{
	size_t len = strlen(from), kept = width - strlen(TABLE_CUT), head = (kept + 1) / 2;

	if (len <= width)
		snprintf(text, TEXT_BYTES, "%s", from);
	else
		snprintf(text, TEXT_BYTES, "%.*s" TABLE_CUT "%s", (int)head, from,
			 from + len - (kept - head));
}

/* "server 34 ms", an error, or "no answer". */
static void result_text(const json_t *line, char text[TEXT_BYTES])
{
	const char *stage, *slowest = "-", *error = error_text(line);
	char time[CELL_BYTES] = "", whole[TEXT_BYTES];
	double longest_s = 0;
	json_t *elapsed;

	json_object_foreach(json_object_get(line, "stages_s"), stage, elapsed)
	{
		if (json_number_value(elapsed) <= longest_s)
			continue;
		longest_s = json_number_value(elapsed);
		slowest = stage;
		humanize_time(longest_s, time);
	}
	if (!json_is_true(json_object_get(line, "answered")))
		error = "no answer";
	snprintf(whole, sizeof(whole), "%s%s%s", error ? error : slowest, error ? "" : " ",
		 error ? "" : time);
	cut(whole, RESULT_WIDTH, text);
}

/* Writes a text of at least @width columns, and takes columns beyond that from @spare. */
static void wide_text(const char *from, size_t width, size_t *spare, char text[TEXT_BYTES])
{
	size_t wanted = strlen(from) > width ? strlen(from) - width : 0;
	size_t more = wanted < *spare ? wanted : *spare;

	cut(from, width + more, text);
	*spare -= more;
}

/* "[fe80::1]:9" without the port and the brackets. */
static void host_text(const json_t *line, char text[TEXT_BYTES])
{
	const char *address = json_text(line, "client_address");

	if (*address == '[')
		snprintf(text, TEXT_BYTES, "%.*s", (int)strcspn(address + 1, "]"), address + 1);
	else
		snprintf(text, TEXT_BYTES, "%.*s", (int)strcspn(address, ":"), address);
}

static void print_line(const json_t *line, FILE *out)
{
	char time[CELL_BYTES], elapsed[CELL_BYTES], result[TEXT_BYTES], host[TEXT_BYTES];
	char operation[TEXT_BYTES], client[TEXT_BYTES], id[CELL_BYTES];
	size_t spare, more;

	time_text(line, time);
	humanize_time(json_number_value(json_object_get(line, "took_s")), elapsed);
	host_text(line, host);
	result_text(line, result);
	snprintf(id, sizeof(id), "%" PRIu64, json_number(line, "connection"));
	spare = RESULT_WIDTH - strlen(result);
	more = strlen(id) > ID_WIDTH ? strlen(id) - ID_WIDTH : 0;
	spare -= more < spare ? more : spare;
	wide_text(json_text(line, "operation"), OPERATION_WIDTH, &spare, operation);
	wide_text(host, CLIENT_WIDTH, &spare, client);
	fprintf(out, "%-12s %*s %-*s %-*s %8s %s\n", time, (int)ID_WIDTH, id, (int)CLIENT_WIDTH,
		client, (int)OPERATION_WIDTH, operation, elapsed, result);
}

void render_trace_line(const json_t *line, bool all, FILE *out)
{
	if (json_object_get(line, "missed"))
		fprintf(out,
			"-- %" PRIu64
			" RPCs missed: they came faster than this program read them\n",
			json_number(line, "missed"));
	if (!json_object_get(line, "operation"))
		return;
	if (all)
		print_all(line, out);
	else
		print_line(line, out);
}

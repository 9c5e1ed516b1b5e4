// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lines are printed one by one, so columns have a fixed width; a longer text shifts the next ones.
 */
#include "daemon/ctl/render.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/ctl/json_cells.h"

#define COLUMNS           "%-12s %-14s %-21s %-12s %10s %10s  %-28s %8s  "
#define STAGE_SHOWN_SHARE 100u /* show a stage that took at least 1/100 of the total */

void render_trace_titles(FILE *out)
{
	fprintf(out, COLUMNS "%s\n", "TIME (UTC)", "CONNECTION", "CLIENT", "OPERATION", "CALL",
		"REPLY", "TRANSFER", "DURATION", "STAGES");
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

static void print_outcome(const json_t *line, FILE *out)
{
	const char *error = json_string_value(json_object_get(line, "error"));

	if (!json_is_true(json_object_get(line, "answered")))
		fputs("; no answer", out);
	else if (error)
		fprintf(out, "; %s", error);
}

void render_trace_line(const json_t *line, FILE *out)
{
	char time[CELL_BYTES], in[CELL_BYTES], back[CELL_BYTES], elapsed[CELL_BYTES];
	char connection[3 * CELL_BYTES], carried[2 * CELL_BYTES];

	if (json_object_get(line, "missed"))
		fprintf(out,
			"-- %" PRIu64
			" RPCs missed: they came faster than this program read them\n",
			json_number(line, "missed"));
	if (!json_object_get(line, "operation"))
		return;
	time_text(line, time);
	snprintf(connection, sizeof(connection), "%.64s#%" PRIu64, json_text(line, "service"),
		 json_number(line, "connection"));
	bytes_text(line, "request_bytes", in);
	bytes_text(line, "reply_bytes", back);
	carried_text(line, carried);
	humanize_time(json_number_value(json_object_get(line, "took_s")), elapsed);
	fprintf(out, COLUMNS, time, connection, json_text(line, "client_address"),
		json_text(line, "operation"), in, back, carried, elapsed);
	print_stages(line, out);
	print_outcome(line, out);
	fputc('\n', out);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/table.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void table_init(struct table *table, const struct table_column *columns, size_t ncolumns)
{
	assert(ncolumns && ncolumns <= TABLE_MAX_COLUMNS);
	*table = (struct table){.columns = columns, .ncolumns = ncolumns};
}

void table_fini(struct table *table)
{
	for (size_t i = 0; i < table->ncells; i++)
		free(table->cells[i]);
	free(table->cells);
}

static bool table_grow(struct table *table)
{
	size_t capacity = table->capacity ? 2 * table->capacity : 64;
	char **cells;

	if (table->ncells < table->capacity)
		return true;
	cells = realloc(table->cells, capacity * sizeof(*cells));
	if (!cells)
		return false;
	table->cells = cells;
	table->capacity = capacity;
	return true;
}

void table_cell(struct table *table, const char *format, ...)
{
	va_list ap;
	int len;

	if (table->nomem || !table_grow(table)) {
		table->nomem = true;
		return;
	}
	va_start(ap, format);
	len = vasprintf(&table->cells[table->ncells], format, ap);
	va_end(ap);
	if (len < 0)
		table->nomem = true;
	else
		table->ncells++;
}

/* Cuts a text longer than @width in its middle, or at its end. */
static void put_cut(const char *text, int width, bool prose, FILE *out)
{
	int kept = width - (int)strlen(TABLE_CUT), head = prose ? kept : (kept + 1) / 2;

	fprintf(out, "%.*s" TABLE_CUT "%s", head, text,
		text + strlen(text) - (size_t)(kept - head));
}

static void put(const char *text, int width, bool right, bool padded, FILE *out)
{
	if (right)
		fprintf(out, "%*s", width, text);
	else
		fprintf(out, "%-*s", padded ? width : 0, text);
}

static void print_cell(const struct table *table, size_t column, const char *text, size_t width,
		       FILE *out)
{
	const struct table_column *is = &table->columns[column];

	fputs(column ? "  " : "", out);
	if (strlen(text) > width)
		put_cut(text, (int)width, is->prose, out);
	else
		put(text, (int)width, is->right, column + 1 < table->ncolumns, out);
}

static void measure(const struct table *table, size_t width[TABLE_MAX_COLUMNS])
{
	bool titles = table->columns[0].title != NULL;

	for (size_t c = 0; c < table->ncolumns; c++)
		width[c] = titles ? strlen(table->columns[c].title) : 0;
	for (size_t i = 0; i < table->ncells; i++) {
		size_t len = strlen(table->cells[i]);

		if (len > width[i % table->ncolumns])
			width[i % table->ncolumns] = len;
	}
}

/* Returns the widest column that can still be cut, or ncolumns. */
static size_t widest(const struct table *table, const size_t width[TABLE_MAX_COLUMNS])
{
	size_t found = table->ncolumns;

	for (size_t c = 0; c < table->ncolumns; c++)
		if (table->columns[c].min_width && width[c] > table->columns[c].min_width &&
		    (found == table->ncolumns || width[c] > width[found]))
			found = c;
	return found;
}

static void fit(const struct table *table, size_t width[TABLE_MAX_COLUMNS], size_t line)
{
	size_t sum = 2 * (table->ncolumns - 1), c;

	for (c = 0; c < table->ncolumns; c++)
		sum += width[c];
	while (sum > line && (c = widest(table, width)) < table->ncolumns) {
		width[c]--;
		sum--;
	}
}

int table_print(const struct table *table, const char *indent, size_t line, FILE *out)
{
	size_t width[TABLE_MAX_COLUMNS], indented = strlen(indent);
	bool titles = table->columns[0].title != NULL;

	if (table->nomem)
		return -ENOMEM;
	assert(table->ncells % table->ncolumns == 0);
	measure(table, width);
	if (line)
		fit(table, width, line > indented ? line - indented : 0);
	if (titles)
		fputs(indent, out);
	for (size_t c = 0; titles && c < table->ncolumns; c++)
		print_cell(table, c, table->columns[c].title, width[c], out);
	if (titles)
		fputc('\n', out);
	for (size_t i = 0; i < table->ncells; i++) {
		size_t c = i % table->ncolumns;

		if (c == 0)
			fputs(indent, out);
		print_cell(table, c, table->cells[i], width[c], out);
		if (c + 1 == table->ncolumns)
			fputc('\n', out);
	}
	return 0;
}

int table_finish(struct table *table, const char *indent, size_t line, FILE *out)
{
	int rc = table_print(table, indent, line, out);

	table_fini(table);
	return rc;
}

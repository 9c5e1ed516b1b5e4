/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints tables whose columns fit their widest cell or are cut to fit a line. */
#ifndef DAEMON_CTL_TABLE_H
#define DAEMON_CTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/compiler.h"

#define TABLE_MAX_COLUMNS 26u
#define TABLE_LINE        80u /* default terminal width */
#define TABLE_CUT         ".."

struct table_column {
	const char *title;  /* NULL in every column: no title line */
	bool right;         /* right-aligned, for numbers */
	unsigned min_width; /* minimum width if cut, title included; 0: never cut */
	bool prose;         /* cut at the end: the beginning matters most */
};

struct table {
	const struct table_column *columns;
	size_t ncolumns, ncells, capacity;
	char **cells; /* row by row */
	bool nomem;
};

/** table_init - Starts an empty table; @columns must stay valid until table_fini(). */
void table_init(struct table *table, const struct table_column *columns, size_t ncolumns);
/** table_fini - Frees the cells. */
void table_fini(struct table *table);
/** table_cell - Adds the next cell, left to right and row by row. */
void PRINTF_LIKE(2, 3) table_cell(struct table *table, const char *format, ...);
/**
 * table_print - Prints the table, each line after @indent.
 * @line: line width: cuts columns that allow it, widest first, until lines fit; 0: no limit
 *
 * A cut cell has TABLE_CUT in its middle, or at its end in a column of prose. Returns 0 or -ENOMEM.
 */
int table_print(const struct table *table, const char *indent, size_t line, FILE *out) MUST_CHECK;
/** table_finish - Prints the table as table_print() does and frees it. Returns 0 or -ENOMEM. */
int table_finish(struct table *table, const char *indent, size_t line, FILE *out) MUST_CHECK;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of text, as wide as what stands in them, or cut to fit a line. */
#ifndef DAEMON_CTL_TABLE_H
#define DAEMON_CTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/compiler.h"

#define TABLE_MAX_COLUMNS 26u
#define TABLE_LINE        80u /* of a terminal that nobody has made wider */
#define TABLE_CUT         ".."

struct table_column {
	const char *title; /* NULL in every column: no line of titles */
	bool right;        /* numbers stand to the right */
	unsigned least; /* may be cut to so many characters, its title included; 0: is never cut */
	bool prose;     /* what is cut of it is its end: the beginning says what it is */
};

struct table {
	const struct table_column *columns;
	size_t ncolumns, ncells, room;
	char **cells; /* row by row */
	bool nomem;
};

/** table_init - an empty table; @columns stay the caller's until table_fini(). */
void table_init(struct table *table, const struct table_column *columns, size_t ncolumns);
/** table_fini - free the cells. */
void table_fini(struct table *table);
/** table_cell - the next cell, from left to right and row by row. */
void PRINTF_LIKE(2, 3) table_cell(struct table *table, const char *format, ...);
/**
 * table_print - print it, each line behind @indent
 * @line: columns that may be cut are, the widest first, until a line has so many characters; 0: none is
 *
 * A cell that is cut has TABLE_CUT in its middle, and keeps its ends; one of prose has it at its end.
 * Returns 0 or -ENOMEM.
 */
int table_print(const struct table *table, const char *indent, size_t line, FILE *out) MUST_CHECK;
/** table_finish - print it as table_print() does, and free it. Returns 0 or -ENOMEM. */
int table_finish(struct table *table, const char *indent, size_t line, FILE *out) MUST_CHECK;

#endif

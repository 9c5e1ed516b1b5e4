/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of text, as wide as what stands in them. */
#ifndef DAEMON_CTL_TABLE_H
#define DAEMON_CTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/compiler.h"

#define TABLE_MAX_COLUMNS 16u

struct table_column {
	const char *title; /* NULL in every column: no line of titles */
	bool right;        /* numbers stand to the right */
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
/** table_print - print it, each line behind @indent. Returns 0 or -ENOMEM. */
int table_print(const struct table *table, const char *indent, FILE *out) MUST_CHECK;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of the daemon's answers as cells of a table. What is missing, or null, is "-". */
#ifndef DAEMON_CTL_CELLS_H
#define DAEMON_CTL_CELLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/base/amount.h"
#include "daemon/ctl/table.h"

#define CELL_BYTES AMOUNT_TEXT_BYTES

/** cell_duration_text - "0 s", "1m02s", "3h04m", "5d06h". Returns @text. */
const char *cell_duration_text(double seconds, char text[CELL_BYTES]);

/** json_text - a member that is a string, or "-". */
const char *json_text(const json_t *object, const char *key);
/** json_number - a member that is an integer, or 0. */
uint64_t json_number(const json_t *object, const char *key);

/* The Call of a connection that is the oldest: it has no Reply, or its client has not taken it. */
struct oldest_call {
	double age_s;
	const char *operation, *stage; /* of the answer, or "-" */
};

/** oldest_call_get - that one; returns whether there is any. */
bool oldest_call_get(const json_t *connection, struct oldest_call *oldest);

/** cell_text - a member that is a string. */
void cell_text(struct table *table, const json_t *object, const char *key);
/** cell_number - a member that is an integer. */
void cell_number(struct table *table, const json_t *object, const char *key);
/** cell_bytes - a number of bytes, in full. */
void cell_bytes(struct table *table, const json_t *object, const char *key);
/** cell_duration - a number of seconds. */
void cell_duration(struct table *table, const json_t *object, const char *key);
/** cell_waiting - how many RPCs wait for memory, and for how long the first of them has. */
void cell_waiting(struct table *table, const json_t *memory);

/**
 * cells_print_unknown - the members that this client has no cell for, a line each
 * @known: the names of the others, with a space between
 * @name:  of what they are members; NULL: it is not said
 */
void cells_print_unknown(const json_t *object, const char *known, const char *name, FILE *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes members of the daemon's answers as table cells; "-" if missing or null. */
#ifndef DAEMON_CTL_JSON_CELLS_H
#define DAEMON_CTL_JSON_CELLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/base/humanize.h"
#include "daemon/ctl/table.h"

#define CELL_BYTES HUMANIZE_TEXT_BYTES

/** cell_duration_text - Writes "0 s", "1m02s", "3h04m" or "5d06h" to @text. Returns @text. */
const char *cell_duration_text(double seconds, char text[CELL_BYTES]);

/** json_text - Returns a string member, or "-". */
const char *json_text(const json_t *object, const char *key);
/** json_number - Returns an integer member, or 0. */
uint64_t json_number(const json_t *object, const char *key);

/*
 * The oldest unfinished Call of a connection: it has no Reply, or the client has not acknowledged
 * its Reply.
 */
struct oldest_call {
	double age_s;
	const char *operation, *stage; /* strings of the answer, or "-" */
};

/** oldest_call_get - Gets the oldest Call. Returns false if there is none. */
bool oldest_call_get(const json_t *connection, struct oldest_call *oldest);

/** cell_text - Adds a string member. */
void cell_text(struct table *table, const json_t *object, const char *key);
/** cell_number - Adds an integer member. */
void cell_number(struct table *table, const json_t *object, const char *key);
/** cell_bytes - Adds a number of bytes, without a unit. */
void cell_bytes(struct table *table, const json_t *object, const char *key);
/** cell_duration - Adds a number of seconds as a duration. */
void cell_duration(struct table *table, const json_t *object, const char *key);
/** cell_waiting - Adds how many RPCs wait for memory, and how long the oldest has waited. */
void cell_waiting(struct table *table, const json_t *memory);

/**
 * cells_print_unknown - Prints the members that this client does not know, one per line.
 * @known: the names of known members, separated by spaces
 * @name:  of the object, as a prefix; NULL: none
 */
void cells_print_unknown(const json_t *object, const char *known, const char *name, FILE *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints everything about one connection as a vertical list on lines of 80 columns. */
#ifndef DAEMON_CTL_CONNECTION_DETAILS_H
#define DAEMON_CTL_CONNECTION_DETAILS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/**
 * connection_details_print - Prints the connection, its client and its server, one fact per line.
 * @connection: an element of the answer to connections
 * @all:        also print members that this client does not know
 *
 * Omits members that are null, because they do not apply. Breaks a long value between words.
 */
void connection_details_print(const json_t *connection, bool all, FILE *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the servers of a service: all together in a word, and each on a line of `services`. */
#ifndef DAEMON_CTL_SERVER_LINES_H
#define DAEMON_CTL_SERVER_LINES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/**
 * server_condition - Returns what clients meet, such as "ok" or "silent"; "-" if no client has needed
 * a server yet.
 * @server: the member "server" of a service. An older daemon has its state only
 */
const char *server_condition(const json_t *server);
/** server_lines_shown - Returns whether the servers have lines: several, or with @all any. */
bool server_lines_shown(const json_t *service, bool all);
/** server_lines_print - Prints these lines, and those of MOUNT servers that are down, or all. */
void server_lines_print(const json_t *service, bool all, FILE *out);

#endif

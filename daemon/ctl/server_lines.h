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
/**
 * server_lines_print - Prints a line for each of several servers, and each MOUNT server that is down.
 * @all: for each server
 */
void server_lines_print(const json_t *service, bool all, FILE *out);

#endif

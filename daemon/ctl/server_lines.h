/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the servers of a service, a line each, below the table of `services`. */
#ifndef DAEMON_CTL_SERVER_LINES_H
#define DAEMON_CTL_SERVER_LINES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/** server_lines_shown - Returns whether the servers have lines: several, or with @all any. */
bool server_lines_shown(const json_t *service, bool all);
/** server_lines_print - Prints these lines, and those of MOUNT servers that are down, or all. */
void server_lines_print(const json_t *service, bool all, FILE *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a configuration in the syntax of the file. */
#ifndef DAEMON_CONFIG_CONFIG_PRINT_H
#define DAEMON_CONFIG_CONFIG_PRINT_H

#include <stdio.h>

#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"

/**
 * config_print - Writes @config to @out so that config_load() reads the same configuration from it.
 *
 * It prints every key that applies to a service, and marks defaults. A comment says where the
 * daemon does not use the value: a log level that was changed, a limit of memory.
 */
void config_print(const struct config *config, FILE *out);

/**
 * config_print_value - Prints the value of a key in @base (struct config or struct service_config).
 */
void config_print_value(const struct config_key *key, const void *base, FILE *out);
/**
 * config_print_globals, config_print_service - Print the keys outside the services, or one service.
 */
void config_print_globals(const struct config *config, FILE *out);
void config_print_service(const struct service_config *service, FILE *out);

#endif

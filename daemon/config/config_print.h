/* SPDX-License-Identifier: BSD-3-Clause */
/* A configuration as a file would have it. */
#ifndef DAEMON_CONFIG_CONFIG_PRINT_H
#define DAEMON_CONFIG_CONFIG_PRINT_H

#include <stdio.h>

#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"

/**
 * config_print - write @config to @out so that config_load() reads the same from it
 *
 * Every key that means something for its service is there; one that has its default has that said behind it.
 */
void config_print(const struct config *config, FILE *out);

/** config_print_value - the value of one key in @base, which is as in config_keys.h, as the file would have it. */
void config_print_value(const struct config_key *key, const void *base, FILE *out);
/** config_print_globals, config_print_service - the parts of that: what stands outside the services, and one of them. */
void config_print_globals(const struct config *config, FILE *out);
void config_print_service(const struct service_config *service, FILE *out);

#endif

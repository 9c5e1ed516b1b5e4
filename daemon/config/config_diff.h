/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares two configurations to find what a reload changes. */
#ifndef DAEMON_CONFIG_CONFIG_DIFF_H
#define DAEMON_CONFIG_CONFIG_DIFF_H

#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/config/config.h"

/**
 * config_service_equal - Returns whether two services have equal keys and the same share of memory.
 */
bool config_service_equal(const struct service_config *a, const struct service_config *b);

/**
 * config_keep_restart_keys - Copies the values of keys that need a restart from @old to @config.
 * @not_applied:   gets the names of changed keys among them, one per line
 * @errors: gets the reasons if @config cannot work with these values, one per line
 *
 * Returns 0, -EINVAL or -ENOMEM.
 */
int config_keep_restart_keys(struct config *config, const struct config *old, FILE *not_applied,
			     FILE *errors) MUST_CHECK;

#endif

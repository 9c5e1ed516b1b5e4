/* SPDX-License-Identifier: BSD-3-Clause */
/* Two readings of the configuration file compared, to find out what a reload changes. */
#ifndef DAEMON_CONFIG_CONFIG_SAME_H
#define DAEMON_CONFIG_CONFIG_SAME_H

#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/config/config.h"

/** config_service_same - whether two services have the same value of each key, and the same part of the memory. */
bool config_service_same(const struct service_config *a, const struct service_config *b);

/**
 * config_hold_fixed - have @config keep what only a restart changes, as @old has it
 * @held:   gets the names of the keys that are kept against the file, one a line
 * @errors: gets what makes that impossible, one a line
 *
 * Returns 0, -EINVAL or -ENOMEM.
 */
int config_hold_fixed(struct config *config, const struct config *old, FILE *held,
		      FILE *errors) MUST_CHECK;

#endif

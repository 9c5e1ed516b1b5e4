/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks for -t whether the configuration can work on this host.
 *
 * All results are warnings, since the file can be meant for another host. The daemon itself does
 * not run these checks.
 */
#ifndef DAEMON_CONFIG_CONFIG_CHECK_H
#define DAEMON_CONFIG_CONFIG_CHECK_H

#include <stdint.h>
#include <stdio.h>

#include "daemon/base/resolver.h"
#include "daemon/config/config.h"

#define CONFIG_CHECK_NAMES_MS 5000u /* for config_check_names() */

/**
 * config_check_host - Writes warnings to @out about settings that this host does not meet.
 * @memory_bytes: of this host; 0: unknown
 *
 * The directory of the default control socket need not exist: systemd creates it.
 */
void config_check_host(const struct config *config, uint64_t memory_bytes, FILE *out);

/**
 * config_check_names - Writes warnings to @out about names of servers or listeners that do not
 * resolve.
 * @resolver:   resolves all names concurrently
 * @timeout_ms: time limit of all lookups
 */
void config_check_names(const struct config *config, const struct resolver *resolver,
			unsigned timeout_ms, FILE *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What -t looks at beside the file: whether this host is such that the configuration can work. It may be another host
 * than the one that the file is for, so all of it is warnings; and the daemon itself waits for none of it.
 */
#ifndef DAEMON_CONFIG_CONFIG_CHECK_H
#define DAEMON_CONFIG_CONFIG_CHECK_H

#include <stdint.h>
#include <stdio.h>

#include "daemon/base/resolver.h"
#include "daemon/config/config.h"

#define CONFIG_CHECK_NAMES_MS 5000u /* for config_check_names() */

/** config_check_memory_bytes - the memory of this host; 0 if it is not known. */
uint64_t config_check_memory_bytes(void);

/**
 * config_check_host - say on @out what of this host does not fit
 * @memory_bytes: config_check_memory_bytes()
 *
 * The folder of the default control socket may be missing: the unit makes it.
 */
void config_check_host(const struct config *config, uint64_t memory_bytes, FILE *out);

/**
 * config_check_names - say on @out which names, of servers or to listen at, do not resolve
 * @resolver:   all names are asked for at once
 * @timeout_ms: a name without an answer until then is told as such, and asked for no more
 */
void config_check_names(const struct config *config, const struct resolver *resolver,
			unsigned timeout_ms, FILE *out);

#endif

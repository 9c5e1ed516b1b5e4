/* SPDX-License-Identifier: BSD-3-Clause */
/* The defaults of keys, also of those that depend on other keys or on the host. */
#ifndef DAEMON_CONFIG_CONFIG_PRESET_H
#define DAEMON_CONFIG_CONFIG_PRESET_H

#include <stdint.h>

#include "daemon/config/config_keys.h"

/**
 * config_preset - Returns the default of a number, bool or choice.
 * @base: struct config or struct service_config of the key, with its addresses and the file's keys
 */
uint32_t config_preset(const struct config_key *key, const void *base);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads single values from libconfig's tree. */
#ifndef DAEMON_CONFIG_CONFIG_READ_H
#define DAEMON_CONFIG_CONFIG_READ_H

#include <libconfig.h>
#include <stdbool.h>

#include "daemon/config/config_keys.h"
#include "daemon/config/config_parse.h"

/** config_type_text - Returns the type of a setting: "a string", "a group { }" … */
const char *config_type_text(const config_setting_t *setting);

/**
 * config_value_read - Reads the value of a key from the setting @s, or reports an error.
 * @key:  of any type except CONFIG_KEY_SERVICES, which holds groups
 * @base: the struct config or struct service_config that the key belongs to
 */
void config_value_read(struct config_ctx *r, const config_setting_t *s,
		       const struct config_key *key, void *base);
/** config_value_default - Sets the value of a key to its default. */
void config_value_default(struct config_ctx *r, const struct config_key *key, void *base);

#endif

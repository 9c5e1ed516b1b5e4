/* SPDX-License-Identifier: BSD-3-Clause */
/* What a setting of the configuration file is, and is not. */
#ifndef DAEMON_CONFIG_CONFIG_TYPE_H
#define DAEMON_CONFIG_CONFIG_TYPE_H

#include <libconfig.h>
#include <stdbool.h>

#include "daemon/config/config_keys.h"
#include "daemon/config/config_reader.h"

/** config_type_text - "a string", "a group { }" …: what a setting is. */
const char *config_type_text(const config_setting_t *setting);

/** config_report_type - a key's setting is not what it is to be. */
void config_report_type(struct config_reader *r, const config_setting_t *s,
			const struct config_key *key, const char *wanted);
/** config_is_array - whether it holds several values: libconfig has two kinds of that. */
bool config_is_array(const config_setting_t *s);

#endif

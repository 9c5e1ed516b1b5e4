/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the groups of the configuration file: global keys, defaults and services. */
#ifndef DAEMON_CONFIG_CONFIG_SERVICES_H
#define DAEMON_CONFIG_CONFIG_SERVICES_H

#include <libconfig.h>
#include <stdbool.h>

#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_parse.h"

/**
 * config_in_scope - Returns whether a key of that scope applies to @service, whose listen and
 * connect are set.
 */
bool config_in_scope(const struct service_config *service, enum config_key_scope scope);

/**
 * config_group_read - Sets the defaults of a group and reads it into @base, including its services.
 */
void config_group_read(struct config_ctx *r, const config_setting_t *group,
		       const struct config_key *keys, void *base);
/** config_services_read - Reads a list of services and appends them to @config. */
void config_services_read(struct config_ctx *r, const config_setting_t *s,
			  const struct config_key *key, struct config *config);
/** config_defaults_read - Reads the group `defaults`; call it before services are read. */
void config_defaults_read(struct config_ctx *r, const config_setting_t *root,
			  struct config *config);
/**
 * config_upstreams_check - Reports services of this file that connect to a service of this daemon;
 * call it after all are read.
 */
void config_upstreams_check(struct config_ctx *r, const struct config *config);

#endif

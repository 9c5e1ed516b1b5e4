/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the groups of the configuration file: the file's own, and its services. */
#ifndef DAEMON_CONFIG_CONFIG_SERVICES_H
#define DAEMON_CONFIG_CONFIG_SERVICES_H

#include <libconfig.h>
#include <stdbool.h>

#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_parse.h"

/** config_in_scope - whether a key of that scope does; where @service listens and connects is known. */
bool config_in_scope(const struct service_config *service, enum config_key_scope scope);

/** config_group_read - one group by its table into @base, defaults first; services in it are read too. */
void config_group_read(struct config_reader *r, const config_setting_t *group,
		       const struct config_key *keys, void *base);
/** config_services_read - a list of services, behind those that @config has. */
void config_services_read(struct config_reader *r, const config_setting_t *s,
			  const struct config_key *key, struct config *config);
/** config_defaults_read - what the file has for services that do not say; before these are read. */
void config_defaults_read(struct config_reader *r, const config_setting_t *root,
			  struct config *config);
/** config_upstreams_check - that no service of this reader's list connects to another; once all of them are known. */
void config_upstreams_check(struct config_reader *r, const struct config *config);

#endif

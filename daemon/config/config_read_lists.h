/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading lists of addresses and prefixes; the arguments are those of config_value_read(). */
#ifndef DAEMON_CONFIG_CONFIG_READ_LISTS_H
#define DAEMON_CONFIG_CONFIG_READ_LISTS_H

#include <libconfig.h>

#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_reader.h"

/** config_read_sources - addresses of this host, each once. */
void config_read_sources(struct config_reader *r, const config_setting_t *s,
			 const struct config_key *key, struct service_config *service);
/** config_read_allow - prefixes of clients. */
void config_read_allow(struct config_reader *r, const config_setting_t *s,
		       const struct config_key *key, struct service_config *service);
/** config_read_prefixes - prefixes in the place of those that @cidrs has. */
void config_read_prefixes(struct config_reader *r, const config_setting_t *s,
			  const struct config_key *key, struct config_cidrs *cidrs);
/** config_read_hosts - names of hosts. */
void config_read_hosts(struct config_reader *r, const config_setting_t *s,
		       const struct config_key *key, struct config_hosts *hosts);
/** config_preset_prefixes - those of the key's default. */
void config_preset_prefixes(struct config_reader *r, const struct config_key *key,
			    struct config_cidrs *cidrs);

#endif

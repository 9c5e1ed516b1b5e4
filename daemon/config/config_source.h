/* SPDX-License-Identifier: BSD-3-Clause */
/* Where connections to servers come from: what no single key of that shows. */
#ifndef DAEMON_CONFIG_CONFIG_SOURCE_H
#define DAEMON_CONFIG_CONFIG_SOURCE_H

#include <libconfig.h>

#include "daemon/config/config.h"
#include "daemon/config/config_reader.h"

#define CONFIG_LOCALHOST_ADDRS 2u /* that the name has: IPv4 and IPv6 */

/**
 * config_source_addrs - the addresses that a URI shows: of a literal, or of "localhost"
 *
 * Returns how many; 0 for another name.
 */
size_t config_source_addrs(const struct config_uri *uri,
			   struct sockaddr_storage addrs[static CONFIG_LOCALHOST_ADDRS]);

/** config_source_check - report at @group, of @service, which addresses do not go together. */
void config_source_check(struct config_reader *r, const config_setting_t *group,
			 const struct service_config *service);

#endif

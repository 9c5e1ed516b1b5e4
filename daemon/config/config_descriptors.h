/* SPDX-License-Identifier: BSD-3-Clause */
/* How many descriptors the connections that a configuration allows can take. */
#ifndef DAEMON_CONFIG_CONFIG_DESCRIPTORS_H
#define DAEMON_CONFIG_CONFIG_DESCRIPTORS_H

#include <stdint.h>
#include <stdio.h>

#include "daemon/config/config.h"

#define CONFIG_DESCRIPTORS_KEPT                                                                    \
	72u /* for the control socket's clients, what they watch, and name servers */
#define CONFIG_DESCRIPTORS_CONNECTION 2u /* a socket on either side, at most */
#define CONFIG_DESCRIPTORS_HELD       512u /* of a service, for who is turned away: two each here, too */

/** config_connections - the sum of the services' max_connections. */
uint64_t config_connections(const struct config *config);
/** config_descriptors - what is enough for as many connections; the formula is in rpcrdma-proxy.conf(5). */
uint64_t config_descriptors(const struct config *config);
/** config_descriptors_least - with fewer the daemon cannot start: what it takes itself, and one connection. */
uint64_t config_descriptors_least(const struct config *config);
/** config_descriptors_print - say on @out how many that is. */
void config_descriptors_print(const struct config *config, FILE *out);
/** config_descriptors_warn - say on @out if that is more than @limit. */
void config_descriptors_warn(const struct config *config, uint64_t limit, FILE *out);

#endif

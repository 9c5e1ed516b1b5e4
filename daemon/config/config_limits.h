/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of a service: its limit, and its share of the descriptors.
 *
 * With max_connections = "auto" the limit is the least of
 *
 *	ports        the source ports below 1024, if source_port = "reserved" allows no others
 *	descriptors  two for each connection, of those that are free once the daemon listens
 *	memory       half of what memory_limit_mib leaves of this host's memory, by the most that a
 *	             connection of the service can use; not less than CONFIG_AUTO_SHARE connections,
 *	             because few connections use that much at a time
 *
 * while other services have no connections. The daemon counts its free descriptors once, at its start,
 * so a number does not change if other services come and go. Descriptors that several services want are divided by
 * shares, when connections are accepted (daemon/proxy/accept.c).
 */
#ifndef DAEMON_CONFIG_CONFIG_LIMITS_H
#define DAEMON_CONFIG_CONFIG_LIMITS_H

#include <stdint.h>
#include <stdio.h>

#include "daemon/config/config.h"

#define CONFIG_CONNECTIONS_MAX 1000000u

/**
 * config_limits_resolve - Sets max_connections of the services with "auto", by config->host.
 *
 * Due again after a change of workers or memory_limit_mib.
 */
void config_limits_resolve(struct config *config);
/** config_limit_name - Returns "file", "ports", "descriptors" or "memory": what the limit is from. */
const char *config_limit_name(enum config_limit limit);
/**
 * config_reserved_ports - Returns how many source ports below 1024 the service has; UINT32_MAX: any
 * number.
 */
uint32_t config_reserved_ports(const struct service_config *service);
#define CONFIG_LIMIT_TEXT_BYTES 128u
/**
 * config_limit_text - Writes what the limit is from, for the log. Returns @text; "" if it is from the
 * file.
 */
const char *config_limit_text(const struct service_config *service,
			      char text[static CONFIG_LIMIT_TEXT_BYTES]);

/** config_limits_print - Writes to @out what "auto" comes to, one line per service. For -tv. */
void config_limits_print(const struct config *config, FILE *out);

#endif

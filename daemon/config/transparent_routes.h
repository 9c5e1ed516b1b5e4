/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints and checks the requirements of source = "client" on a host: CAP_NET_RAW, and routes that
 * lead the servers' packets for clients to the proxy's sockets.
 *
 * If the server is on this host, the routes return packets that this host sends from its loopback
 * addresses. If the server is another host, the routes deliver packets from its port that pass this
 * host to local sockets, whatever their destination. So clients that are routed through this host
 * can reach that port only by the proxy.
 */
#ifndef DAEMON_CONFIG_TRANSPARENT_ROUTES_H
#define DAEMON_CONFIG_TRANSPARENT_ROUTES_H

#include <stdio.h>

#include "daemon/config/config.h"

/**
 * transparent_routes_print - Prints the commands that set the routes for -t, each once; nothing if
 * none is needed.
 */
void transparent_routes_print(const struct config *config, FILE *out);

/**
 * transparent_routes_missing - Reports which of the capability and the routes are missing for
 * @service.
 * @report: called with @arg for each, with a sentence that follows the service's name
 *
 * Addresses of named servers are unknown and not checked. The check uses sample clients from allow,
 * or any client.
 */
void transparent_routes_missing(const struct service_config *service,
				void (*report)(void *arg, const struct service_config *service,
					       const char *text),
				void *arg);

#endif

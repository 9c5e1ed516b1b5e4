/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a host needs whose services come to their servers from the addresses of clients (source = "client"): the
 * capability to do that, and routes by which what servers send to clients comes to this host's own sockets.
 *
 * What this host itself sends from its loopback addresses is led back to it, which nothing else has a use for. Of a
 * server elsewhere what it sends from its port comes here as long as it sends it this way, and is led to the sockets
 * then, whoever it is for: clients cannot reach that port of it through this host but by the proxy.
 */
#ifndef DAEMON_CONFIG_CONFIG_ROUTES_H
#define DAEMON_CONFIG_CONFIG_ROUTES_H

#include <stdio.h>

#include "daemon/config/config.h"

/** config_routes_print - the commands that make the routes, each once; nothing if no service needs any. For -t. */
void config_routes_print(const struct config *config, FILE *out);

/**
 * config_routes_lacks - what of that this process and this host do not have for @service
 * @told: called with each, as a sentence that follows on the service's name
 *
 * Of servers by name the addresses are not known. Clients are those of allow, or any.
 */
void config_routes_lacks(const struct service_config *service,
			 void (*told)(void *arg, const struct service_config *service,
				      const char *text),
			 void *arg);

#endif

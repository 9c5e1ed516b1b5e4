/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which clients of a service are taken for privileged on their hosts, so that connections for them come to the server from
 * ports below 1024 (daemon/service/incoming.h).
 */
#ifndef DAEMON_CONFIG_CONFIG_PORTS_H
#define DAEMON_CONFIG_CONFIG_PORTS_H

#include <stdio.h>

#include "daemon/config/config.h"

/** config_ports_print - a line for each way by which clients come to a service with a TCP server. For -t. */
void config_ports_print(const struct config *config, FILE *out);

#endif

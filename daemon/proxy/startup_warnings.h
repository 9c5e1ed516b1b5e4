/* SPDX-License-Identifier: BSD-3-Clause */
/* Start-up warnings about missing capabilities and limits. */
#ifndef DAEMON_PROXY_STARTUP_WARNINGS_H
#define DAEMON_PROXY_STARTUP_WARNINGS_H

#include "daemon/config/config.h"

/**
 * startup_warnings_log - Logs warnings about missing descriptors, locked memory, ports below 1024
 * and routes.
 * @max_connections: the number that the descriptors allow
 */
void startup_warnings_log(const struct config *config, unsigned max_connections);

#endif

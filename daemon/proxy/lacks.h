/* SPDX-License-Identifier: BSD-3-Clause */
/* Start-up warnings about missing capabilities and limits. */
#ifndef DAEMON_PROXY_LACKS_H
#define DAEMON_PROXY_LACKS_H

#include "daemon/config/config.h"

/**
 * lacks_tell - Logs warnings about missing descriptors, locked memory, ports below 1024 and routes.
 * @max_connections: the number that the descriptors allow
 */
void lacks_tell(const struct config *config, unsigned max_connections);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the system does not let the daemon have, told at the start. */
#ifndef DAEMON_PROXY_LACKS_H
#define DAEMON_PROXY_LACKS_H

#include "daemon/config/config.h"

/**
 * lacks_tell - warn of what is missing: ports below 1024, descriptors, locked memory
 * @max_connections: that there are descriptors for
 *
 * Warnings only: the daemon goes on with what it has.
 */
void lacks_tell(const struct config *config, unsigned max_connections);

#endif

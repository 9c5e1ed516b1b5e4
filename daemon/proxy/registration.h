/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers with rpcbind, as NFS, the listeners of services that are configured so. */
#ifndef DAEMON_PROXY_REGISTRATION_H
#define DAEMON_PROXY_REGISTRATION_H

#include "daemon/proxy/proxy_parts.h"

/**
 * registration_update - Registers the current listeners with rpcbind, and unregisters all others.
 *
 * rpcbind has one address per netid, so the first listener in the file is registered. Logs failures.
 */
void registration_update(struct proxy *proxy);
/** registration_end - Unregisters everything; waits at most one second. */
void registration_end(struct proxy *proxy);

#endif

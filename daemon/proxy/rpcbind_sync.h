/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers listeners with rpcbind as servers of NFS and MOUNT, for services with `register`. */
#ifndef DAEMON_PROXY_RPCBIND_SYNC_H
#define DAEMON_PROXY_RPCBIND_SYNC_H

#include "daemon/proxy/proxy_priv.h"

/**
 * rpcbind_sync_update - Registers the current listeners with rpcbind, and unregisters all others.
 *
 * rpcbind has one address per netid, so only the first listener of a netid is registered: for NFS,
 * and for MOUNT if its service has register = "mount" and serves MOUNT. Logs failures.
 */
void rpcbind_sync_update(struct proxy *proxy);
/** rpcbind_sync_end - Unregisters everything; waits at most one second. */
void rpcbind_sync_end(struct proxy *proxy);

#endif

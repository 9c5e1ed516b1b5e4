/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The servers of a service to which Calls of MOUNT go, where these have a way of their own (`mount`).
 *
 * By "rpcbind" there is one for each of the service's servers, on the same host, known by rpcbind's address there; else it
 * is the one address that the file names. What is known of them is kept apart: where mountd does not run, NFS may be
 * served all the same. What an administrator orders of a server holds for both.
 */
#ifndef DAEMON_SERVICE_MOUNT_SERVERS_H
#define DAEMON_SERVICE_MOUNT_SERVERS_H

#include "daemon/config/config.h"
#include "daemon/service/targets.h"

/** mount_servers_of - their addresses; none where MOUNT goes where everything does, or nowhere. */
struct server_uris mount_servers_of(const struct service_config *config);

#endif

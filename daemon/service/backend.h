/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of servers as one thread connects to them: its connections that wait for DNS answers, and for rpcbind's port
 * of MOUNT. A worker has one for the NFS servers of each service and one for its MOUNT servers; a health check has one
 * for each connection.
 */
#ifndef DAEMON_SERVICE_BACKEND_H
#define DAEMON_SERVICE_BACKEND_H

#include "base/compiler.h"
#include "daemon/service/mount_desk.h"
#include "daemon/service/server_name.h"
#include "daemon/service/targets.h"

struct worker_ground;

struct backend {
	struct targets *targets;
	struct name_desk *names;         /* one per server */
	struct mount_desk *mount_places; /* one per server; NULL: rpcbind is not queried */
};

/**
 * backend_init - Initializes it, without waiting connections
 * @servers:      outlive it
 * @asks_rpcbind: @servers are rpcbind services, to be queried for the port of MOUNT
 * @env:          of the thread; outlives it
 *
 * backend_fini() is due even on failure. Returns 0 or -ENOMEM.
 */
int backend_init(struct backend *backend, struct targets *targets, bool asks_rpcbind,
		 const struct worker_ground *ground) MUST_CHECK;
/** backend_fini - Frees it; no connection may wait. Accepts an all-zero @backend. */
void backend_fini(struct backend *backend);
/** backend_woken - Calls name_desk_woken() for each server. */
void backend_woken(struct backend *backend);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of servers, with the connections of one thread that wait for DNS answers or for the port
 * of MOUNT from rpcbind. A worker has a backend for the NFS servers of each service and one for its
 * MOUNT servers. A health check has one for each connection.
 */
#ifndef DAEMON_SERVICE_BACKEND_H
#define DAEMON_SERVICE_BACKEND_H

#include "base/compiler.h"
#include "daemon/service/dns_cache.h"
#include "daemon/service/mountd_cache.h"
#include "daemon/service/servers.h"

struct worker_env;

struct backend {
	struct servers *servers;
	struct dns_waiters *names;          /* one per server */
	struct mountd_cache *mountd_caches; /* one per server; NULL: rpcbind is not queried */
};

/**
 * backend_init - Initializes it, without waiting connections
 * @servers:      outlive it
 * @asks_rpcbind: @servers are rpcbind services, to be queried for the port of MOUNT
 * @env:          of the thread; outlives it
 *
 * backend_fini() is due even on failure. Returns 0 or -ENOMEM.
 */
int backend_init(struct backend *backend, struct servers *servers, bool asks_rpcbind,
		 const struct worker_env *env) MUST_CHECK;
/** backend_fini - Frees it; no connection may wait. Accepts an all-zero @backend. */
void backend_fini(struct backend *backend);
/** backend_woken - Calls dns_waiters_woken() for each server. */
void backend_woken(struct backend *backend);

#endif

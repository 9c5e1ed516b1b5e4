/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of servers as one thread connects to them: who waits on that thread for their names, and for rpcbind's answer
 * where MOUNT listens. A worker has one for the servers of each service and one for those of MOUNT, a check one for
 * each connection that it makes.
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
	struct name_desk *names;         /* one a target */
	struct mount_desk *mount_places; /* one a target; NULL: rpcbind is not asked */
};

/**
 * backend_init - nobody waits yet
 * @targets:      outlive it
 * @asks_rpcbind: whether these are rpcbind, which is asked where MOUNT listens
 * @ground:       of the thread; outlives it
 *
 * To be undone by backend_fini(), also on failure. Returns 0 or -ENOMEM.
 */
int backend_init(struct backend *backend, struct targets *targets, bool asks_rpcbind,
		 const struct worker_ground *ground) MUST_CHECK;
/** backend_fini - nobody may wait. Accepts one that is all zero. */
void backend_fini(struct backend *backend);
/** backend_woken - name_desk_woken() of each target. */
void backend_woken(struct backend *backend);

#endif

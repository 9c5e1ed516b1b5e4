/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the steps of a check one after the other, server by server, on one loop. */
#ifndef DAEMON_HEALTH_CHECK_STEPS_H
#define DAEMON_HEALTH_CHECK_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/health/check_conn.h"
#include "daemon/health/check_mount.h"
#include "daemon/health/check_report.h"

#define CHECK_LIMIT_US 100000000u /* time limit for all servers; later steps are not tried */

struct check_steps_config {
	struct check_env *env;
	const struct self_connect *listen_addrs;
	const struct service_config *service;
	struct service_tls *tls; /* its certificates; outlives the check */
	const struct server_uris
		*servers; /* of the service, or with checks_mount its MOUNT servers */
	bool checks_mount;
	enum check_step_id last;     /* last step to try; with checks_mount CHECK_NULL */
	uint32_t skipped_servers;    /* bit mask of servers to skip */
	struct check_report *report; /* with its servers, all steps CHECK_NOT_TRIED */
	/*
	 * Called when all is done and no other callback can follow. From check_steps_start(), or
	 * later.
	 */
	void (*finished)(void *arg);
	void *arg;
};

struct check_steps {
	struct check_steps_config config;
	struct service_net net; /* of its connections */
	bool has_net;
	struct check_conn *conn; /* NULL: closing, or not opened yet */
	struct check_server *at;
	enum check_step_id step;
	bool connected, ends;
	bool asks_mount; /* the server has no NFS: procedure 0 of MOUNT follows */
	bool mounting;   /* obtaining an NFSv3 file handle; the connection waits */
	struct check_mount mount;
	uint64_t began_us, until_us;
	uint32_t xid, nfs_version;
	uint32_t getattr_bytes; /* size of one result; 0: unknown */
};

/** check_steps_start - Starts with the first server; @steps is the caller's, until finished(). */
void check_steps_start(struct check_steps *steps, const struct check_steps_config *config);
/** check_steps_abort - Aborts: finished() follows as soon as possible. */
void check_steps_abort(struct check_steps *steps);

#endif

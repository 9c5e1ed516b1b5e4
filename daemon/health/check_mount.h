/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Obtains an NFSv3 file handle as a client of the service does. MOUNT is where the service sends its
 * clients' Calls to it: at the server itself, over the same transport, by a connection of its own
 * (mount = "connect"); at the port that the server's rpcbind names; or at the address in the file. It
 * returns the exports and the handle of the first export. Then it unmounts.
 */
#ifndef DAEMON_HEALTH_CHECK_MOUNT_H
#define DAEMON_HEALTH_CHECK_MOUNT_H

#include "base/compiler.h"
#include "daemon/health/check_conn.h"
#include "daemon/health/check_report.h"
#include "daemon/health/check_rpc.h"

struct check_mount_config {
	/* as for the check's own connection; its callback is ignored */
	struct check_conn_config conn;
	enum mount_mode way;          /* of the service, not MOUNT_OFF */
	const struct config_uri *uri; /* MOUNT_AT: of MOUNT; else the server; outlives this */
	uint64_t until_us;            /* time limit, on the loop's clock */
	/* Called at the end, when no other callback can follow. */
	void (*finished)(void *arg);
	void *arg;
};

struct check_mount {
	struct check_mount_config config;
	struct config_uri uri; /* where it connects */
	char port[8];
	struct check_conn *conn;
	bool at_mount, ends; /* at_mount: connecting to MOUNT, after rpcbind; ends: aborted */
	uint32_t xid;
	unsigned nexports;
	char path[NFS3_PATH_BYTES + 1];
	struct nfs3_handle handle; /* the result; 0 bytes: none */
	struct check_step *step;   /* gets the result */
	int stage;
};

/**
 * check_mount_start - Starts; @mount and @step are the caller's, until finished(), which can precede
 * the return.
 */
void check_mount_start(struct check_mount *mount, const struct check_mount_config *config,
		       struct check_step *step);
/** check_mount_abort - Aborts: finished() follows as soon as possible; no effect after finished(). */
void check_mount_abort(struct check_mount *mount);

#endif

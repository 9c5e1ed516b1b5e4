/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Obtains an NFSv3 file handle as a client does: it asks rpcbind for the port of MOUNT, unless that
 * is configured, and MOUNT for the exports and the handle of the first export. Then it unmounts.
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
	char *host;        /* of the server, or of MOUNT; outlives this */
	const char *port;  /* of MOUNT; NULL: query rpcbind */
	uint64_t until_us; /* time limit, on the loop's clock */
	/* Called at the end, when no other callback can follow. */
	void (*over)(void *arg);
	void *arg;
};

struct check_mount {
	struct check_mount_config config;
	struct config_uri uri;
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
 * check_mount_start - Starts; @mount and @step are the caller's, until over(), which can precede
 * the return.
 */
void check_mount_start(struct check_mount *mount, const struct check_mount_config *config,
		       struct check_step *step);
/** check_mount_abort - Aborts: over() follows as soon as possible; no effect after over(). */
void check_mount_abort(struct check_mount *mount);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way to a file handle of NFSv3, as a client goes it: rpcbind of the server's host says where MOUNT listens, unless
 * the service does, and MOUNT what is exported, and the handle of the first of that. Nothing stays mounted.
 */
#ifndef DAEMON_HEALTH_MOUNT_TRIP_H
#define DAEMON_HEALTH_MOUNT_TRIP_H

#include "base/compiler.h"
#include "daemon/health/check_conn.h"
#include "daemon/health/check_report.h"
#include "daemon/health/check_rpc.h"

struct mount_trip_config {
	struct check_conn_config conn; /* as of the check's own; what it is told by is not used */
	char *host;                    /* of the server, or of MOUNT; outlives the trip */
	const char *port;              /* of MOUNT; NULL: rpcbind is asked */
	uint64_t until_us;             /* by the loop of its ground: then it is given up */
	/* It is over, and nothing is left that could call back. */
	void (*over)(void *arg);
	void *arg;
};

struct mount_trip {
	struct mount_trip_config config;
	struct config_uri uri;
	char port[8];
	struct check_conn *conn;
	bool at_mount, ends; /* past rpcbind; given up */
	uint32_t xid;
	unsigned nexports;
	char path[NFS3_PATH_BYTES + 1];
	struct nfs3_handle handle; /* what it is all about; of no bytes: there is none */
	struct check_step *step;   /* what came of it goes here */
	int stage;
};

/**
 * mount_trip_begin - @trip and @step are the caller's, until over()
 *
 * over() may come before this returns.
 */
void mount_trip_begin(struct mount_trip *trip, const struct mount_trip_config *config,
		      struct check_step *step);
/** mount_trip_give_up - over() comes as soon as it can; nothing if it has come. */
void mount_trip_give_up(struct mount_trip *trip);

#endif

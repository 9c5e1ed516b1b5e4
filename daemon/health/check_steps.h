/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a check, one after the other, server by server: on one loop. */
#ifndef DAEMON_HEALTH_CHECK_STEPS_H
#define DAEMON_HEALTH_CHECK_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/health/check_conn.h"
#include "daemon/health/check_report.h"
#include "daemon/health/mount_trip.h"

#define CHECK_LIMIT_US 100000000u /* for all servers together; what is left then is not tried */

struct check_steps_config {
	struct check_ground *ground;
	const struct own_doors *doors;
	const struct service_config *service;
	const struct server_uris *servers; /* of it, or with to_mount of MOUNT */
	bool to_mount;
	enum check_step_id last;     /* the last step that is tried; with to_mount CHECK_NULL */
	uint32_t left_out;           /* servers that are not tried, a bit each */
	struct check_report *report; /* with its servers, of which nothing was tried */
	/* All is done, and nothing is left that could call back. From check_steps_begin(), or later. */
	void (*over)(void *arg);
	void *arg;
};

struct check_steps {
	struct check_steps_config config;
	struct service_net net; /* of its connections */
	bool has_net;
	struct check_conn *conn; /* NULL: it goes, or there was none */
	struct check_server *at;
	enum check_step_id step;
	bool connected, ends;
	bool on_trip; /* to a file handle of NFSv3; the connection waits */
	struct mount_trip trip;
	uint64_t began_us, until_us;
	uint32_t xid, nfs_version;
	uint32_t getattr_bytes; /* the results of one; 0: not known */
};

/** check_steps_begin - with the first server; @steps is the caller's, until over(). */
void check_steps_begin(struct check_steps *steps, const struct check_steps_config *config);
/** check_steps_give_up - over() comes as soon as it can. */
void check_steps_give_up(struct check_steps *steps);

#endif

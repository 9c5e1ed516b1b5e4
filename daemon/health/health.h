/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Health checks of servers, and the thread that runs them. The daemon creates the thread at start,
 * because its loop needs descriptors, which can be exhausted later.
 */
#ifndef DAEMON_HEALTH_HEALTH_H
#define DAEMON_HEALTH_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/config/config.h"
#include "daemon/health/check_report.h"

struct health;
struct job_threads;
struct reserved_ports;
struct service_tls;

/**
 * health_new - Starts the thread. Returns 0 or a negative errno.
 * @reserved_ports, @jobs: of the process; outlive the thread
 */
int health_new(struct reserved_ports *reserved_ports, struct job_threads *jobs,
	       struct health **out) MUST_CHECK;
/**
 * health_free - Ends the thread. Accepts NULL. Returns true; or false if a check has not ended: its
 * memory, and what the checks share with others, stay in use until the process exits.
 */
bool health_free(struct health *health);

/*
 * A check tries what a client needs of each server, one step after the other:
 *
 *	connect      its name, its address, the fabric
 *	null         procedure 0 of NFS, or of MOUNT
 *	mount        only on request: an NFSv3 file handle, by rpcbind and MOUNT, as `mount` says
 *	inline_call  a small COMPOUND of NFSv4.0: PUTROOTFH, GETATTR
 *	long_call    a Call that does not fit into a Send: LOOKUP of a name longer than any file's
 *	long_reply   a Reply that does not fit into a Send: many GETATTRs
 *
 * A check changes nothing on the server, and reads only public data. A step that the server does
 * not allow is skipped without a fault. After a lost connection the next step opens another one.
 *
 * Checks run on their own thread, so they delay no client.
 */
struct self_connect;

struct check_config {
	struct health *health; /* whose thread runs the check */
	struct loop *loop;     /* of the thread that gets done(); outlives the check */
	const struct self_connect *listen_addrs;
	struct config *config; /* contains @service; the check takes a reference */
	const struct service_config *service;
	struct service_tls *tls; /* of the service; the check takes a reference */
	bool with_mount;         /* also try MOUNT, and NFSv3 on a server without NFSv4 */
	/* try the MOUNT servers instead (daemon/service/servers.h), up to CHECK_NULL */
	bool checks_mount;
	enum check_step_id last;  /* last step to try */
	uint32_t skipped_servers; /* bit mask of servers to skip */
	/* Called when all is done, on the thread of @loop. check_free() is due. */
	void (*done)(void *arg, const struct check_report *report);
	void *arg;
};

struct check;

/**
 * check_start - Starts a check; on the thread of @config->loop, like all functions below. Returns 0
 * or -ENOMEM.
 */
int check_start(const struct check_config *config, struct check **out) MUST_CHECK;
/** check_abort - Aborts: done() follows as soon as possible, with the results so far. */
void check_abort(struct check *check);
/**
 * check_free - Frees a check after done(); before it, aborts the check without calling done()
 *
 * A check that does not end in time, e.g. because a name server does not respond, is left until the
 * process exits.
 */
void check_free(struct check *check);

#endif

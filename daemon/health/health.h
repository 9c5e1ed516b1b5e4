/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of servers, and the thread in which they are tried, with its loop. The daemon has one, which is there before
 * anybody connects: to make a loop takes descriptors, which may be short later.
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
struct ports;

/** health_new - start it; @ports: of the process, outlive it. Returns 0 or a negative errno. */
int health_new(struct ports *ports, struct health **out) MUST_CHECK;
/** health_free - end it. One that is left with a check is left to the end of the process. Accepts NULL. */
void health_free(struct health *health);

/*
 * A check of a service's servers: what a client needs of each is tried, one step after the other.
 *
 *	connect      its name, its address, the fabric
 *	null         procedure 0 of NFS, or of MOUNT
 *	mount        only if it is asked for: a file handle of NFSv3, by rpcbind and MOUNT, as `mount` has it
 *	inline_call  a small COMPOUND of NFSv4.0: PUTROOTFH, GETATTR
 *	long_call    one that no Send holds: LOOKUP of a name that is longer than any
 *	long_reply   one whose Reply no Send holds: many GETATTRs
 *
 * Nothing is changed on the server, and what is asked for may be had by anybody. A step that the server does not
 * allow is not tried, and no fault. Where a connection is lost, the next step has another one.
 *
 * Checks have a thread of their own, so that they hold nobody up.
 */
struct own_doors;

struct check_config {
	struct health *health; /* in whose thread it is done */
	struct loop *loop;     /* whose thread is told; it outlives the check */
	const struct own_doors *doors;
	struct config *config; /* that @service is in: counted once more */
	const struct service_config *service;
	bool with_mount; /* MOUNT, too, and for a server without NFSv4 its NFSv3 */
	bool to_mount; /* instead: the servers of MOUNT (daemon/service/targets.h), up to CHECK_NULL */
	enum check_step_id last; /* the last step that is tried */
	uint32_t left_out;       /* servers that are not tried, a bit each */
	/* All is done: in the thread of @loop. check_free() is due. */
	void (*done)(void *arg, const struct check_report *report);
	void *arg;
};

struct check;

/** check_start - begin; in the thread of @config->loop, as all below. Returns 0 or -ENOMEM. */
int check_start(const struct check_config *config, struct check **out) MUST_CHECK;
/** check_give_up - done() comes as soon as it can, with what there is by then. */
void check_give_up(struct check *check);
/**
 * check_free - after done(), or before: then what is under way is given up, and done() is not called
 *
 * A check that does not come to its end in time, as one whose name server is silent, is left to the end of the process.
 */
void check_free(struct check *check);

#endif

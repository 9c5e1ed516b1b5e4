/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cache of mountd's port on one server, with the connections of one worker that wait for it.
 *
 * One rpcbind query runs at a time, for all connections that wait. Its answer is kept for a minute, and dropped if it
 * proves wrong: after a server restart MOUNT can have another port. A failure goes to the waiting connections and is
 * not kept.
 *
 * Belongs to one thread; workers share nothing.
 */
#ifndef DAEMON_SERVICE_MOUNT_DESK_H
#define DAEMON_SERVICE_MOUNT_DESK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/base/resolver.h"
#include "daemon/config/own_doors.h"
#include "leg/leg.h"

#define MOUNT_PORT_KEPT_US 60000000u
#define MOUNT_ANSWER_US    2000000u /* time limit for rpcbind, over all addresses */

struct port_query;

/* The result for a connection that waits; valid during done(). */
struct mount_place {
	/* The server's addresses with the port of MOUNT, the one that answered first; none: see error */
	const struct sockaddr_storage *addrs;
	size_t naddrs;
	const char *error; /* without addresses: a sentence */
	bool kept;         /* from the cache, so it can be outdated */
};

struct mount_wait {
	TAILQ_ENTRY(mount_wait) entry;
	void (*done)(void *arg, const struct mount_place *place);
	void *arg;
	bool waits;
};
TAILQ_HEAD(mount_wait_list, mount_wait);

struct mount_desk {
	struct loop *loop;
	struct mount_wait_list waits;
	struct loop_task task; /* calls done() of all waits */
	struct port_query *query;
	struct sockaddr_storage
		addrs[RESOLVER_MAX_ADDRS]; /* of the server, with the port of rpcbind */
	size_t naddrs, at;                 /* the address that is queried */
	uint64_t until_us;                 /* time limit over all addresses */
	struct sockaddr_storage places[RESOLVER_MAX_ADDRS]; /* naddrs results */
	bool known, kept;  /* `found` is valid; it was before the first of the waits */
	uint64_t known_us; /* when it became valid */
	char error[LEG_DETAIL_BYTES];
};

/** mount_desk_init - Initializes an empty cache. */
void mount_desk_init(struct mount_desk *desk, struct loop *loop);
/** mount_desk_fini - Frees it; no connection may wait. Accepts all zero. */
void mount_desk_fini(struct mount_desk *desk);

/**
 * mount_desk_wait - Has @done called once, from a task or an event, within MOUNT_ANSWER_US
 * @wait:  the caller's, until @done or mount_desk_leave()
 * @addrs: the server's @naddrs addresses with the port of rpcbind, at least one; copied
 */
void mount_desk_wait(struct mount_desk *desk, struct mount_wait *wait,
		     const struct sockaddr_storage *addrs, size_t naddrs,
		     void (*done)(void *arg, const struct mount_place *place), void *arg);
/** mount_desk_leave - Cancels a wait; no effect after @done, or if @wait is all zero. */
void mount_desk_leave(struct mount_desk *desk, struct mount_wait *wait);
/**
 * mount_place_is_own - Returns whether a connection to an address of @place could reach one of @doors
 *
 * rpcbind can name a port of this daemon. Any thread; @doors may be NULL: none.
 */
bool mount_place_is_own(const struct mount_place *place, const struct own_doors *doors);
/** mount_desk_forget - Drops the answer if it contains @place, where MOUNT does not listen. */
void mount_desk_forget(struct mount_desk *desk, const struct sockaddr_storage *place);

#endif

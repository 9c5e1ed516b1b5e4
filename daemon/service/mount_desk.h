/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where MOUNT listens at a server, as rpcbind there says: what one worker knows of it, and where its connections wait.
 *
 * One question at a time, for all who wait. Its answer is kept for a minute, and dropped where it turns out to be wrong:
 * a server that was started again may have MOUNT at another port. A failure is for those who wait, and not kept.
 *
 * A desk belongs to one thread, and asks for itself: nothing is shared with other workers.
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
#define MOUNT_ANSWER_US    2000000u /* for rpcbind to answer, at all addresses together */

struct port_query;

/* What one who waits is told; good while it is told. */
struct mount_place {
	/* Of the server with the port of MOUNT, that which has said it first; none: it is not to be had … */
	const struct sockaddr_storage *addrs;
	size_t naddrs;
	const char *error; /* … and a sentence why */
	bool kept;         /* it may be old */
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
	struct loop_task task; /* tells those who wait */
	struct port_query *query;
	struct sockaddr_storage addrs[RESOLVER_MAX_ADDRS];  /* of the server, with rpcbind's port */
	size_t naddrs, at;                                  /* which one is asked */
	uint64_t until_us;                                  /* for all of them */
	struct sockaddr_storage places[RESOLVER_MAX_ADDRS]; /* naddrs of them */
	bool known, kept;  /* these are good; they were before who waits came */
	uint64_t known_us; /* since when */
	char error[LEG_DETAIL_BYTES];
};

/** mount_desk_init - nothing is known yet. */
void mount_desk_init(struct mount_desk *desk, struct loop *loop);
/** mount_desk_fini - nobody may wait. Accepts one that is all zero. */
void mount_desk_fini(struct mount_desk *desk);

/**
 * mount_desk_wait - have @done called once, from a task or an event, with what is known by then
 * @wait:  the caller's, until then or mount_desk_leave()
 * @addrs: of the server, with rpcbind's port; @naddrs of them, at least one. Copied
 *
 * That takes MOUNT_ANSWER_US at most.
 */
void mount_desk_wait(struct mount_desk *desk, struct mount_wait *wait,
		     const struct sockaddr_storage *addrs, size_t naddrs,
		     void (*done)(void *arg, const struct mount_place *place), void *arg);
/** mount_desk_leave - @done will not be called; nothing if it was, or @wait is all zero. */
void mount_desk_leave(struct mount_desk *desk, struct mount_wait *wait);
/**
 * mount_place_is_own - return whether a connection to an address of @place could come to one of @doors
 *
 * rpcbind may name a port of this daemon. Any thread; NULL: there are no doors.
 */
bool mount_place_is_own(const struct mount_place *place, const struct own_doors *doors);
/** mount_desk_forget - MOUNT does not listen there, if that is what is known. */
void mount_desk_forget(struct mount_desk *desk, const struct sockaddr_storage *place);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cache of the DNS lookups of one server name, shared by all connections of a service.
 *
 * One lookup runs at a time, whichever worker starts it. Its answer serves all connections that wait, and those that
 * arrive within SERVER_NAME_KEPT_US. If a later lookup fails, or takes longer than SERVER_NAME_SILENT_US, the last good
 * answer is used: a dead name server must not stop file service while the addresses are known. But NXDOMAIN is an
 * answer and invalidates the last one, because the address can belong to another host by now. The same applies if this
 * daemon listens on every address of the name.
 *
 * Threads: a server_name belongs to the service; its lock guards the answers. Each worker has a name_desk, on its own
 * thread, where connections wait; it delivers the answer to a few connections per loop iteration. A lookup ends on its
 * own thread, which stores the answer and wakes the name_desks that wait.
 */
#ifndef DAEMON_SERVICE_SERVER_NAME_H
#define DAEMON_SERVICE_SERVER_NAME_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/base/log.h"
#include "daemon/base/resolver.h"
#include "daemon/config/own_doors.h"
#include "leg/leg.h"

#define SERVER_NAME_KEPT_US   5000000u /* how long an answer is used */
#define SERVER_NAME_ERROR_US  1000000u /* how long an error is used, without a good answer */
#define SERVER_NAME_SILENT_US 1000000u /* after this the last good answer is used, … */
#define SERVER_NAME_STALE_US                                                                       \
	86400000000u /* … if it is no older than this: time to repair a name server */
#define SERVER_NAME_PER_TURN                                                                       \
	4u /* connections that get the answer in one iteration; each then connects */

struct name_answer; /* reference-counted, immutable */
struct name_desk;

struct server_name {
	const char *host, *port;
	enum transport transport;
	const char *service;     /* name, for the log */
	struct log_limit *lines; /* for stale answers and dropped addresses; NULL: no log lines */
	const struct own_doors *
		doors; /* addresses of this daemon, which are dropped; set by the owner. NULL: none */
	pthread_mutex_t lock; /* guards what follows */
	TAILQ_HEAD(, name_desk) desks;
	struct name_answer *good;    /* the last answer with addresses; NULL: none */
	struct name_answer *pending; /* filled in by the running lookup; NULL: none runs */
	struct name_answer *come;    /* filled in, not yet processed */
	bool out, tried;             /* a lookup is running; one has completed */
	bool old_told;               /* the stale answer was logged since the last lookup started */
	uint64_t out_us, tried_us;   /* when the lookup started, and when the last one completed */
	uint64_t good_us;            /* when `good` arrived */
	const char *error;           /* of the last lookup; NULL: none */
	enum leg_close why;
};

/* The result for a connection that waits. */
struct name_result {
	const struct sockaddr_storage *addrs; /* in the order to try; valid during done() */
	size_t naddrs;
	enum leg_close why; /* without addresses: the reason, … */
	const char *error;  /* … and a sentence for the log; valid during done() */
};

struct name_wait {
	TAILQ_ENTRY(name_wait) entry;
	void (*done)(void *arg, const struct name_result *result);
	void *arg;
	bool waits;
};
TAILQ_HEAD(name_wait_list, name_wait);

struct name_desk {
	TAILQ_ENTRY(name_desk)
	entry;       /* in `name->waiters_list`; guarded by its lock, like `wanted` */
	bool wanted; /* wake it when an answer arrives */
	struct server_name *name;
	struct loop *loop;
	const struct resolver *resolver;
	void (*wake)(void *arg);
	void *arg;
	struct name_wait_list waits;
	struct loop_task task;
	struct loop_timer *timer;
};

/**
 * server_name_init - Initializes an empty cache
 * @uri, @service, @lines: outlive it; @lines may be NULL: nothing is logged
 */
void server_name_init(struct server_name *name, const struct config_uri *uri, const char *service,
		      struct log_limit *lines);
/** server_name_fini - Frees the cache. No thread may wait for it, and no lookup may run (resolver_quiesce()). */
void server_name_fini(struct server_name *name);
/** server_name_is_sought - Returns whether a lookup is running; any thread. */
bool server_name_is_sought(struct server_name *name);
/** server_name_unresolved - Writes the sentence for LEG_CLOSE_NO_ADDRESS into @text. Returns @text. */
const char *server_name_unresolved(const struct server_name *name, const char *why,
				   char text[LEG_DETAIL_BYTES]);

/**
 * name_desk_init - Initializes the waiting connections of one thread for @name
 * @loop: of that thread, which makes every call except @wake
 * @wake: called from any thread, under the name's lock; must have name_desk_woken() called on that thread soon
 *
 * name_desk_fini() is due even on failure. Returns 0 or -ENOMEM.
 */
int name_desk_init(struct name_desk *desk, struct server_name *name, struct loop *loop,
		   const struct resolver *resolver, void (*wake)(void *arg), void *arg) MUST_CHECK;
/** name_desk_fini - Frees it; no connection may wait. Accepts all zero. */
void name_desk_fini(struct name_desk *desk);
/** name_desk_woken - Delivers an answer if one has arrived; no effect if no connection waits. */
void name_desk_woken(struct name_desk *desk);

/**
 * name_desk_wait - Has @done called once, from a task, with the addresses of the name
 * @wait: the caller's, until @done or name_desk_leave()
 *
 * Has no time limit.
 */
void name_desk_wait(struct name_desk *desk, struct name_wait *wait,
		    void (*done)(void *arg, const struct name_result *result), void *arg);
/** name_desk_leave - Cancels a wait; no effect after @done, or if @wait is all zero. */
void name_desk_leave(struct name_desk *desk, struct name_wait *wait);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name of a service's server, as all connections of the service share it.
 *
 * One look-up of it at a time, whichever worker asks; its answer is for all who wait, and for who comes in the next
 * seconds. The last good answer serves when a later look-up fails, or is silent for a second: a name server that does
 * not answer is to cost file service nothing while the addresses are known. But that a name has no address (any more)
 * is an answer, and ends the use of the last one: another host may have its address by now. So is that it has only
 * addresses at which this very daemon listens.
 *
 * Threads: a server_name belongs to the service, and what it knows is under its lock. Each worker has a name_desk for
 * it, on its own thread, where connections wait; they get the answer a few a turn. An answer comes on a thread of its
 * own, which puts it down and has the desks woken that wait.
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

#define SERVER_NAME_KEPT_US   5000000u /* an answer is for all who come in that time */
#define SERVER_NAME_ERROR_US  1000000u /* … and an error, while there is no good answer */
#define SERVER_NAME_SILENT_US 1000000u /* then the last good answer will do, … */
#define SERVER_NAME_STALE_US                                                                       \
	86400000000u            /* … if it is no older: name servers are mended in a day */
#define SERVER_NAME_PER_TURN 4u /* who get an answer, and each connects */

struct name_answer; /* one that has come: counted, and not changed any more */
struct name_desk;

struct server_name {
	const char *host, *port;
	enum transport transport;
	const char *service;           /* its name, for the log */
	struct log_limit *lines;       /* about old answers, and addresses left out; NULL: none */
	const struct own_doors *doors; /* that are no upstream; set by who knows them. NULL: none */
	pthread_mutex_t lock;          /* of what follows */
	TAILQ_HEAD(, name_desk) desks;
	struct name_answer *good;    /* the last one with addresses; NULL: none */
	struct name_answer *pending; /* to be filled in by the look-up that is out; NULL: none is */
	struct name_answer *come;    /* filled in, and nobody has looked at it */
	bool out, tried;             /* a look-up is out; one has come back */
	bool old_told;               /* that the good one is old, since the last look-up began */
	uint64_t out_us, tried_us;   /* since when */
	uint64_t good_us;            /* when the good one came */
	const char *error;           /* of the last one that came back; NULL: none */
	enum leg_close why;
};

/* What one who waits is told. */
struct name_result {
	const struct sockaddr_storage *addrs; /* in the order to try them; good while it is told */
	size_t naddrs;
	enum leg_close why; /* without addresses: why, … */
	const char *error;  /* … and a sentence for the log; good while it is told */
};

struct name_wait {
	TAILQ_ENTRY(name_wait) entry;
	void (*done)(void *arg, const struct name_result *result);
	void *arg;
	bool waits;
};
TAILQ_HEAD(name_wait_list, name_wait);

struct name_desk {
	TAILQ_ENTRY(name_desk) entry; /* of the name's desks: under its lock, as is wanted */
	bool wanted;                  /* to be woken */
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
 * server_name_init - nothing is known of it yet
 * @uri, @service, @lines: outlive it; @lines may be NULL: the log is told nothing
 */
void server_name_init(struct server_name *name, const struct config_uri *uri, const char *service,
		      struct log_limit *lines);
/** server_name_fini - no desk may be left, and no look-up be out (resolver_quiesce()). */
void server_name_fini(struct server_name *name);
/** server_name_is_sought - whether a look-up of it is out; any thread. */
bool server_name_is_sought(struct server_name *name);
/** server_name_unresolved - the sentence that goes with LEG_CLOSE_NO_ADDRESS. Returns @text. */
const char *server_name_unresolved(const struct server_name *name, const char *why,
				   char text[LEG_DETAIL_BYTES]);

/**
 * name_desk_init - a place to wait for @name
 * @loop: the desk's own, as is every call but @wake
 * @wake: called from any thread, under the name's lock: to bring about name_desk_woken() on the desk's own, soon
 *
 * To be undone by name_desk_fini(), also on failure. Returns 0 or -ENOMEM.
 */
int name_desk_init(struct name_desk *desk, struct server_name *name, struct loop *loop,
		   const struct resolver *resolver, void (*wake)(void *arg), void *arg) MUST_CHECK;
/** name_desk_fini - nobody may wait. Accepts one that is all zero. */
void name_desk_fini(struct name_desk *desk);
/** name_desk_woken - there may be an answer; for nothing if nobody waits. */
void name_desk_woken(struct name_desk *desk);

/**
 * name_desk_wait - have @done called once, from a task, with what is known of the name by then
 * @wait: the caller's, until then or name_desk_leave()
 *
 * There is no time limit here.
 */
void name_desk_wait(struct name_desk *desk, struct name_wait *wait,
		    void (*done)(void *arg, const struct name_result *result), void *arg);
/** name_desk_leave - @done will not be called; nothing if it was, or @wait is all zero. Others wait on. */
void name_desk_leave(struct name_desk *desk, struct name_wait *wait);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cache of the DNS lookups of one server name, shared by all connections of a service.
 *
 * One lookup runs at a time, for all workers. All waiting connections get its answer, and those
 * that arrive within DNS_CACHE_KEPT_US. If a later lookup fails, or takes longer than
 * DNS_CACHE_SILENT_US, the last good answer is used: a dead name server must not stop file service
 * while the addresses are known.
 *
 * NXDOMAIN invalidates the last good answer, because the address can belong to another host by now.
 * So does an answer that contains only addresses on which this daemon listens.
 *
 * Threads: a dns_cache belongs to the service; its lock guards the answers. Each worker has a
 * dns_waiters with its waiting connections, and delivers the answer to a few of them per loop
 * iteration. A lookup has its own thread, which stores the answer and wakes the workers that wait.
 */
#ifndef DAEMON_SERVICE_DNS_CACHE_H
#define DAEMON_SERVICE_DNS_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/base/log.h"
#include "daemon/base/resolver.h"
#include "daemon/config/self_connect.h"
#include "leg/leg.h"

#define DNS_CACHE_KEPT_US   5000000u /* how long an answer is used */
#define DNS_CACHE_ERROR_US  1000000u /* how long an error is used, without a good answer */
#define DNS_CACHE_SILENT_US 1000000u /* after this the last good answer is used, … */
/* … if it is not older than this */
#define DNS_CACHE_STALE_US 86400000000u
/* connections that get the answer in one iteration; each then connects */
#define DNS_CACHE_PER_ITERATION 4u

struct dns_answer; /* reference-counted, immutable */
struct dns_waiters;

struct dns_cache {
	const char *host, *port;
	enum transport transport;
	const char *service;     /* name, for the log */
	struct log_limit *lines; /* for stale answers and dropped addresses; NULL: no log lines */
	/* own listen addresses, removed from answers; set by the owner. NULL: none */
	const struct self_connect *listen_addrs;
	pthread_mutex_t lock; /* guards what follows */
	TAILQ_HEAD(, dns_waiters) waiters_list;
	struct dns_answer *good;    /* the last answer with addresses; NULL: none */
	struct dns_answer *pending; /* filled in by the running lookup; NULL: none runs */
	struct dns_answer *arrived; /* filled in, not yet processed */
	bool in_progress, tried;    /* a lookup is running; one has completed */
	bool stale_logged;          /* the stale answer was logged since the last lookup started */
	/* when the lookup started, and when the last one completed */
	uint64_t started_us, tried_us;
	uint64_t good_us;  /* when `good` arrived */
	const char *error; /* of the last lookup; NULL: none */
	enum leg_close why;
};

/* The result for a connection that waits. */
struct dns_result {
	const struct sockaddr_storage *addrs; /* in the order to try; valid during done() */
	size_t naddrs;
	enum leg_close why; /* without addresses: the reason, … */
	const char *error;  /* … and a sentence for the log; valid during done() */
};

struct dns_wait {
	TAILQ_ENTRY(dns_wait) entry;
	void (*done)(void *arg, const struct dns_result *result);
	void *arg;
	bool waits;
};
TAILQ_HEAD(dns_wait_list, dns_wait);

struct dns_waiters {
	TAILQ_ENTRY(dns_waiters)
	entry;       /* in `name->waiters_list`; guarded by its lock, like `wanted` */
	bool wanted; /* wake it when an answer arrives */
	struct dns_cache *name;
	struct loop *loop;
	const struct resolver *resolver;
	void (*wake)(void *arg);
	void *arg;
	struct dns_wait_list waits;
	struct loop_task task;
	struct loop_timer *timer;
};

/**
 * dns_cache_init - Initializes an empty cache
 * @uri, @service, @lines: outlive it; @lines may be NULL: nothing is logged
 */
void dns_cache_init(struct dns_cache *name, const struct config_uri *uri, const char *service,
		    struct log_limit *lines);
/**
 * dns_cache_fini - Frees the cache. No thread may wait for it, and no lookup may run
 * (resolver_quiesce()).
 */
void dns_cache_fini(struct dns_cache *name);
/** dns_cache_is_resolving - Returns whether a lookup is running; any thread. */
bool dns_cache_is_resolving(struct dns_cache *name);
/**
 * dns_cache_unresolved - Writes the sentence for LEG_CLOSE_NO_ADDRESS into @text. Returns @text.
 */
const char *dns_cache_unresolved(const struct dns_cache *name, const char *why,
				 char text[LEG_DETAIL_BYTES]);

/**
 * dns_waiters_init - Initializes the waiting connections of one thread for @name
 * @loop: the loop of that thread; only that thread calls functions for @waiters
 * @wake: called from any thread, under the name's lock; makes the thread of @loop call
 *        dns_waiters_woken() soon
 *
 * dns_waiters_fini() is due even on failure. Returns 0 or -ENOMEM.
 */
int dns_waiters_init(struct dns_waiters *waiters, struct dns_cache *name, struct loop *loop,
		     const struct resolver *resolver, void (*wake)(void *arg),
		     void *arg) MUST_CHECK;
/** dns_waiters_fini - Frees it; no connection may wait. Accepts all zero. */
void dns_waiters_fini(struct dns_waiters *waiters);
/** dns_waiters_woken - Delivers an answer if one has arrived; no effect if no connection waits. */
void dns_waiters_woken(struct dns_waiters *waiters);

/**
 * dns_waiters_add - Waits for the addresses of the name; a task then calls @done once
 * @wait: the caller's, until @done or dns_waiters_remove()
 *
 * Has no time limit.
 */
void dns_waiters_add(struct dns_waiters *waiters, struct dns_wait *wait,
		     void (*done)(void *arg, const struct dns_result *result), void *arg);
/** dns_waiters_remove - Cancels a wait; no effect after done(), or if @wait is all zero. */
void dns_waiters_remove(struct dns_waiters *waiters, struct dns_wait *wait);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cache of mountd's port on one server, with the connections of one worker that wait for it.
 *
 * One rpcbind query runs at a time, for all waiting connections. Its answer is cached for a minute.
 * It is dropped earlier if it proves wrong: after a server restart MOUNT can have another port. A
 * failure is reported to the waiting connections and not cached.
 *
 * Belongs to one thread; workers share nothing.
 */
#ifndef DAEMON_SERVICE_MOUNTD_CACHE_H
#define DAEMON_SERVICE_MOUNTD_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/base/resolver.h"
#include "daemon/config/self_connect.h"
#include "leg/leg.h"

#define MOUNTD_CACHE_KEPT_US   60000000u
#define MOUNTD_CACHE_ANSWER_US 2000000u /* time limit for rpcbind, over all addresses */

struct rpcb_getaddr;

/* The result for a connection that waits; valid during done(). */
struct mountd_addr {
	/*
	 * The server's addresses with the port of MOUNT. The address that answered is the first.
	 * None: see `error`.
	 */
	const struct sockaddr_storage *addrs;
	size_t naddrs;
	const char *error; /* without addresses: a sentence */
	bool cached;       /* from the cache, so it can be outdated */
};

struct mountd_wait {
	TAILQ_ENTRY(mountd_wait) entry;
	void (*done)(void *arg, const struct mountd_addr *addr);
	void *arg;
	bool waits;
};
TAILQ_HEAD(mountd_wait_list, mountd_wait);

struct mountd_cache {
	struct loop *loop;
	struct mountd_wait_list waits;
	struct loop_task task; /* calls done() of all waits */
	struct rpcb_getaddr *query;
	/* of the server, with the port of rpcbind */
	struct sockaddr_storage addrs[RESOLVER_MAX_ADDRS];
	size_t naddrs, at;                                 /* the address that is queried */
	uint64_t until_us;                                 /* time limit over all addresses */
	struct sockaddr_storage found[RESOLVER_MAX_ADDRS]; /* naddrs results */
	/* known: `found` is valid; cached: it was valid before the first of `waits` */
	bool known, cached;
	uint64_t known_us; /* when it became valid */
	char error[LEG_DETAIL_BYTES];
};

/** mountd_cache_init - Initializes an empty cache. */
void mountd_cache_init(struct mountd_cache *cache, struct loop *loop);
/** mountd_cache_fini - Frees it; no connection may wait. Accepts all zero. */
void mountd_cache_fini(struct mountd_cache *cache);

/**
 * mountd_cache_wait - Calls @done once, from a task or an event, within MOUNTD_CACHE_ANSWER_US
 * @wait:  the caller's, until @done or mountd_cache_cancel()
 * @addrs: the server's @naddrs addresses with the port of rpcbind, at least one; copied
 */
void mountd_cache_wait(struct mountd_cache *cache, struct mountd_wait *wait,
		       const struct sockaddr_storage *addrs, size_t naddrs,
		       void (*done)(void *arg, const struct mountd_addr *addr), void *arg);
/** mountd_cache_cancel - Cancels a wait; no effect after done(), or if @wait is all zero. */
void mountd_cache_cancel(struct mountd_cache *cache, struct mountd_wait *wait);
/**
 * mountd_addr_is_own - Returns whether a connection to an address of @addr could reach one of
 * @listen_addrs
 *
 * rpcbind can name a port of this daemon. Any thread; @listen_addrs may be NULL: none.
 */
bool mountd_addr_is_own(const struct mountd_addr *addr, const struct self_connect *listen_addrs);
/** mountd_cache_invalidate - Drops the answer if it contains @addr, where MOUNT does not listen. */
void mountd_cache_invalidate(struct mountd_cache *cache, const struct sockaddr_storage *addr);

#endif

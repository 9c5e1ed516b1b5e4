// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/mountd_cache.h"

#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/rpcbind/rpcb_getaddr.h"
#include "nfs/proc_table.h"

#define MOUNT_VERSION 3u /* of NFSv3; servers have the other versions at the same port */

/* Each done() can cancel other waits; new ones are added only from tasks. */
static void complete_waits(void *arg)
{
	struct mountd_cache *cache = arg;
	const struct mountd_addr addr = {
		.addrs = cache->found,
		.naddrs = cache->known ? cache->naddrs : 0,
		.error = cache->error,
		.cached = cache->cached,
	};
	struct mountd_wait *wait;

	while ((wait = TAILQ_FIRST(&cache->waits))) {
		TAILQ_REMOVE(&cache->waits, wait, entry);
		wait->waits = false;
		wait->done(wait->arg, &addr);
	}
}

static void query_next(struct mountd_cache *cache);

/* The address that answered is the first; the others serve clients that cannot use it. */
static void set_found(struct mountd_cache *cache, uint16_t port)
{
	size_t n = 0;

	cache->found[n++] = cache->addrs[cache->at];
	for (size_t i = 0; i < cache->naddrs; i++)
		if (i != cache->at)
			cache->found[n++] = cache->addrs[i];
	while (n--)
		sockaddr_set_port((struct sockaddr *)&cache->found[n], port);
}

static void on_done(void *arg, uint16_t port, const char *error)
{
	struct mountd_cache *cache = arg;
	char text[ADDRESS_TEXT_BYTES];

	cache->query = NULL;
	if (port) {
		set_found(cache, port);
		cache->known = true;
		cache->cached = false;
		cache->known_us = loop_now_us(cache->loop);
		complete_waits(cache);
		return;
	}
	snprintf(cache->error, sizeof(cache->error),
		 "rpcbind at %s did not return the port of MOUNT: %s",
		 address_text((const struct sockaddr *)&cache->addrs[cache->at], text), error);
	cache->at++;
	query_next(cache);
}

/* Each address gets an equal share of the remaining time. */
static void query_next(struct mountd_cache *cache)
{
	uint64_t now_us = loop_now_us(cache->loop);

	for (; cache->at < cache->naddrs && now_us < cache->until_us; cache->at++) {
		const struct rpcb_getaddr_config config = {
			.loop = cache->loop,
			.rpcbind = (const struct sockaddr *)&cache->addrs[cache->at],
			.program = NFS_PROGRAM_MOUNT,
			.version = MOUNT_VERSION,
			.timeout_us = (cache->until_us - now_us) / (cache->naddrs - cache->at),
			.done = on_done,
			.arg = cache,
		};
		int rc = rpcb_getaddr_new(&config, &cache->query);

		if (!rc)
			return;
		snprintf(cache->error, sizeof(cache->error), "cannot query rpcbind: %s",
			 strerror(-rc));
	}
	loop_defer(cache->loop, &cache->task);
}

static bool is_known(const struct mountd_cache *cache, const struct sockaddr_storage *addrs,
		     size_t naddrs)
{
	if (!cache->known || loop_now_us(cache->loop) - cache->known_us >= MOUNTD_CACHE_KEPT_US)
		return false;
	for (size_t i = 0; i < naddrs; i++)
		if (sockaddr_same_host((const struct sockaddr *)&cache->found[0],
				       (const struct sockaddr *)&addrs[i]))
			return true;
	return false;
}

static void query_start(struct mountd_cache *cache, const struct sockaddr_storage *addrs,
			size_t naddrs)
{
	/* The connections that waited for the last result have left. */
	loop_task_cancel(cache->loop, &cache->task);
	cache->known = false;
	cache->naddrs = naddrs < RESOLVER_MAX_ADDRS ? naddrs : RESOLVER_MAX_ADDRS;
	memmove(cache->addrs, addrs, cache->naddrs * sizeof(*addrs)); /* @addrs can be its own */
	cache->error[0] = '\0';
	cache->at = 0;
	cache->until_us = loop_now_us(cache->loop) + MOUNTD_CACHE_ANSWER_US;
	query_next(cache);
}

void mountd_cache_wait(struct mountd_cache *cache, struct mountd_wait *wait,
		       const struct sockaddr_storage *addrs, size_t naddrs,
		       void (*done)(void *arg, const struct mountd_addr *addr), void *arg)
{
	bool first = TAILQ_EMPTY(&cache->waits) && !cache->query;

	*wait = (struct mountd_wait){.done = done, .arg = arg, .waits = true};
	TAILQ_INSERT_TAIL(&cache->waits, wait, entry);
	if (!first)
		return; /* a query or the task is pending */
	if (is_known(cache, addrs, naddrs)) {
		cache->cached = true;
		loop_defer(cache->loop, &cache->task);
	} else {
		query_start(cache, addrs, naddrs);
	}
}

void mountd_cache_cancel(struct mountd_cache *cache, struct mountd_wait *wait)
{
	if (!wait->waits)
		return;
	wait->waits = false;
	TAILQ_REMOVE(&cache->waits, wait, entry);
}

bool mountd_addr_is_own(const struct mountd_addr *addr, const struct self_connect *listen_addrs)
{
	for (size_t i = 0; i < addr->naddrs; i++)
		if (self_connect_matches(listen_addrs, TRANSPORT_TCP,
					 (const struct sockaddr *)&addr->addrs[i]))
			return true;
	return false;
}

static bool has_address(const struct mountd_cache *cache, const struct sockaddr_storage *addr)
{
	for (size_t i = 0; i < cache->naddrs; i++)
		if (sockaddr_equal((const struct sockaddr *)&cache->found[i],
				   (const struct sockaddr *)addr))
			return true;
	return false;
}

void mountd_cache_invalidate(struct mountd_cache *cache, const struct sockaddr_storage *addr)
{
	if (cache->known && has_address(cache, addr)) {
		cache->known = false;
		/* The waiting connections must not get the wrong answer. */
		if (!TAILQ_EMPTY(&cache->waits) && !cache->query)
			query_start(cache, cache->addrs, cache->naddrs);
	}
}

void mountd_cache_init(struct mountd_cache *cache, struct loop *loop)
{
	*cache = (struct mountd_cache){.loop = loop};
	TAILQ_INIT(&cache->waits);
	loop_task_init(&cache->task, complete_waits, cache);
}

void mountd_cache_fini(struct mountd_cache *cache)
{
	if (!cache->loop)
		return;
	loop_task_cancel(cache->loop, &cache->task);
	rpcb_getaddr_free(cache->query);
}

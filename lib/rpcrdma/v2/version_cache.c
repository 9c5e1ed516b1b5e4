// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/v2/version_cache.h"

#include <string.h>

#include "base/sockaddr.h"

int version_cache_init(struct version_cache *cache)
{
	cache->count = 0;
	return -pthread_mutex_init(&cache->lock, NULL);
}

void version_cache_fini(struct version_cache *cache)
{
	pthread_mutex_destroy(&cache->lock);
}

/* Returns the index of @addr, or the count if it is absent. */
static unsigned find(const struct version_cache *cache, const struct sockaddr *addr)
{
	unsigned at = 0;

	while (at < cache->count &&
	       !sockaddr_equal((const struct sockaddr *)&cache->known[at].addr, addr))
		at++;
	return at;
}

static void drop(struct version_cache *cache, unsigned at)
{
	cache->known[at] = cache->known[--cache->count];
}

static unsigned oldest(const struct version_cache *cache)
{
	unsigned at = 0;

	for (unsigned i = 1; i < cache->count; i++)
		if (cache->known[i].until_us < cache->known[at].until_us)
			at = i;
	return at;
}

bool version_cache_is_one_only(struct version_cache *cache, const struct sockaddr *addr,
			       uint64_t now_us)
{
	bool one_only = false;
	unsigned at;

	pthread_mutex_lock(&cache->lock);
	at = find(cache, addr);
	if (at < cache->count && now_us < cache->known[at].until_us)
		one_only = true;
	else if (at < cache->count)
		drop(cache, at);
	pthread_mutex_unlock(&cache->lock);
	return one_only;
}

void version_cache_remember(struct version_cache *cache, const struct sockaddr *addr,
			    uint64_t now_us)
{
	unsigned at;

	pthread_mutex_lock(&cache->lock);
	at = find(cache, addr);
	if (at == cache->count && at == VERSION_CACHE_MAX)
		at = oldest(cache);
	else if (at == cache->count)
		cache->count++;
	memset(&cache->known[at].addr, 0, sizeof(cache->known[at].addr));
	memcpy(&cache->known[at].addr, addr, sockaddr_bytes(addr));
	cache->known[at].until_us = now_us + VERSION_CACHE_US;
	pthread_mutex_unlock(&cache->lock);
}

void version_cache_forget(struct version_cache *cache, const struct sockaddr *addr)
{
	unsigned at;

	pthread_mutex_lock(&cache->lock);
	at = find(cache, addr);
	if (at < cache->count)
		drop(cache, at);
	pthread_mutex_unlock(&cache->lock);
}

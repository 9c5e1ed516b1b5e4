// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/v2/version_cache.h"

#include <string.h>

#include "base/sockaddr.h"

int version_cache_init(struct version_cache *memory)
{
	memory->count = 0;
	return -pthread_mutex_init(&memory->lock, NULL);
}

void version_cache_fini(struct version_cache *memory)
{
	pthread_mutex_destroy(&memory->lock);
}

/* Returns the index of @addr, or the count if it is absent. */
static unsigned find(const struct version_cache *memory, const struct sockaddr *addr)
{
	unsigned at = 0;

	while (at < memory->count &&
	       !sockaddr_equal((const struct sockaddr *)&memory->known[at].addr, addr))
		at++;
	return at;
}

static void drop(struct version_cache *memory, unsigned at)
{
	memory->known[at] = memory->known[--memory->count];
}

static unsigned oldest(const struct version_cache *memory)
{
	unsigned at = 0;

	for (unsigned i = 1; i < memory->count; i++)
		if (memory->known[i].until_us < memory->known[at].until_us)
			at = i;
	return at;
}

bool version_cache_says_one(struct version_cache *memory, const struct sockaddr *addr,
			    uint64_t now_us)
{
	bool says_one = false;
	unsigned at;

	pthread_mutex_lock(&memory->lock);
	at = find(memory, addr);
	if (at < memory->count && now_us < memory->known[at].until_us)
		says_one = true;
	else if (at < memory->count)
		drop(memory, at);
	pthread_mutex_unlock(&memory->lock);
	return says_one;
}

void version_cache_remember(struct version_cache *memory, const struct sockaddr *addr,
			    uint64_t now_us)
{
	unsigned at;

	pthread_mutex_lock(&memory->lock);
	at = find(memory, addr);
	if (at == memory->count && at == VERSION_CACHE_MAX)
		at = oldest(memory);
	else if (at == memory->count)
		memory->count++;
	memset(&memory->known[at].addr, 0, sizeof(memory->known[at].addr));
	memcpy(&memory->known[at].addr, addr, sockaddr_bytes(addr));
	memory->known[at].until_us = now_us + VERSION_CACHE_US;
	pthread_mutex_unlock(&memory->lock);
}

void version_cache_forget(struct version_cache *memory, const struct sockaddr *addr)
{
	unsigned at;

	pthread_mutex_lock(&memory->lock);
	at = find(memory, addr);
	if (at < memory->count)
		drop(memory, at);
	pthread_mutex_unlock(&memory->lock);
}

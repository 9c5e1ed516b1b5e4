/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cache of servers that speak version one only, so that connections do not probe them again
 * (draft-cel-nfsv4-rpcrdma-version-two-00 section 5.2; E5.2-2). The connections of a service share
 * it on all threads; each server address has its own entry.
 */
#ifndef RPCRDMA_V2_VERSION_CACHE_H
#define RPCRDMA_V2_VERSION_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Lifetime of an entry: an updated server must be detected again. */
#define VERSION_CACHE_US 600000000u
/* Most entries; the oldest one is replaced. */
#define VERSION_CACHE_MAX 16u

struct version_cache {
	pthread_mutex_t lock;
	unsigned count;
	struct {
		struct sockaddr_storage addr;
		uint64_t until_us; /* on the loops' clock */
	} known[VERSION_CACHE_MAX];
};

/** version_cache_init - Initializes an empty cache. Returns 0 or a negative errno. */
int version_cache_init(struct version_cache *cache);
/** version_cache_fini - Frees the cache. */
void version_cache_fini(struct version_cache *cache);

/**
 * version_cache_is_one_only - Returns true if only version one should be tried at @addr, port
 * included; any thread.
 */
bool version_cache_is_one_only(struct version_cache *cache, const struct sockaddr *addr,
			       uint64_t now_us);
/**
 * version_cache_remember - Records for VERSION_CACHE_US that @addr speaks, or seems to speak,
 * version one only.
 */
void version_cache_remember(struct version_cache *cache, const struct sockaddr *addr,
			    uint64_t now_us);
/** version_cache_forget - Removes @addr, which has shown that it speaks more. */
void version_cache_forget(struct version_cache *cache, const struct sockaddr *addr);

#endif

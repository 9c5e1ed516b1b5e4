/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which servers are taken for ones that speak version one only, so that a connection to them does not begin with an
 * attempt at a higher one (draft-cel-nfsv4-rpcrdma-version-two-00 section 5.2; E5.2-2). It is kept over the
 * connections of a service, whichever threads they are on, for each address by itself.
 */
#ifndef RPCRDMA_V2_VERSION_CACHE_H
#define RPCRDMA_V2_VERSION_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* A server that was updated is to be found out anew. */
#define VERSION_CACHE_US 600000000u
/* Beyond that the one that was remembered longest ago is forgotten. */
#define VERSION_CACHE_MAX 16u

struct version_cache {
	pthread_mutex_t lock;
	unsigned count;
	struct {
		struct sockaddr_storage addr;
		uint64_t until_us; /* by the loops' clock */
	} known[VERSION_CACHE_MAX];
};

/** version_cache_init - nothing is known. Returns 0 or a negative errno. */
int version_cache_init(struct version_cache *memory);
/** version_cache_fini - free what it takes. */
void version_cache_fini(struct version_cache *memory);

/** version_cache_says_one - whether nothing but version one is to be tried at @addr, port included; any thread. */
bool version_cache_says_one(struct version_cache *memory, const struct sockaddr *addr,
			    uint64_t now_us);
/** version_cache_remember - @addr speaks version one only, or seems to: from now on for VERSION_CACHE_US. */
void version_cache_remember(struct version_cache *memory, const struct sockaddr *addr,
			    uint64_t now_us);
/** version_cache_forget - @addr has shown that it speaks more. */
void version_cache_forget(struct version_cache *memory, const struct sockaddr *addr);

#endif

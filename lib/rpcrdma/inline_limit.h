/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inline limit: how long a Send may be in one direction, transport header included. Pure.
 *
 * It is the least of what this end can, what is known of such a peer, and what the peer has told: in its private
 * data at first, and later whenever a version of the protocol lets it. Any of the three may be raised or lowered
 * while RPCs are in flight: these go by the terms that they were planned with (rpc_terms.h).
 */
#ifndef RPCRDMA_INLINE_LIMIT_H
#define RPCRDMA_INLINE_LIMIT_H

#include <stdint.h>

struct inline_limit {
	uint32_t own_bytes; /* a multiple of 1024, from RPCRDMA_INLINE_MIN to RPCRDMA_INLINE_MAX */
	uint32_t profile_bytes; /* UINT32_MAX: none known */
	uint32_t peer_bytes;    /* 0: it has told nothing yet */
	uint32_t agreed_bytes;  /* in force; 0 until the peer has told */
};

/**
 * inline_limit_init - nothing agreed yet
 * @own_bytes:     what is configured; brought to what private data can say
 * @profile_bytes: what is known of such a peer; 0: nothing
 */
void inline_limit_init(struct inline_limit *limit, uint32_t own_bytes, uint32_t profile_bytes);
/** inline_limit_offer - what to tell the peer: the least of what this end can and the profile. */
uint32_t inline_limit_offer(const struct inline_limit *limit);
/** inline_limit_own - this end can so much from now on. */
void inline_limit_own(struct inline_limit *limit, uint32_t own_bytes);
/** inline_limit_peer - the peer has told its limit, at least RPCRDMA_INLINE_MIN; from now on there is one. */
void inline_limit_peer(struct inline_limit *limit, uint32_t peer_bytes);

#endif

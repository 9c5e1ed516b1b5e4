/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inline limit: how long a Send may be in one direction, transport header included. Pure.
 *
 * It is the least of what this end can, what is known of such a peer, and what the peer has told in its private data. What
 * characteristics tell later is another matter (characteristics.h); rdma_conn_agree() brings both together.
 */
#ifndef RPCRDMA_INLINE_LIMIT_H
#define RPCRDMA_INLINE_LIMIT_H

#include <stdint.h>

struct inline_limit {
	uint32_t own_bytes; /* a multiple of 1024, from RPCRDMA_INLINE_MIN to RPCRDMA_INLINE_MAX */
	uint32_t profile_bytes; /* UINT32_MAX: none known */
	uint32_t peer_bytes;    /* 0: it has told nothing yet */
};

/**
 * inline_limit_init - the peer has told nothing yet
 * @own_bytes:     what is configured; brought to what private data can say
 * @profile_bytes: what is known of such a peer; 0: nothing
 */
void inline_limit_init(struct inline_limit *limit, uint32_t own_bytes, uint32_t profile_bytes);
/** inline_limit_offer - what to tell the peer: the least of what this end can and the profile. */
uint32_t inline_limit_offer(const struct inline_limit *limit);
/** inline_limit_peer - the peer has told its limit, at least RPCRDMA_INLINE_MIN. */
void inline_limit_peer(struct inline_limit *limit, uint32_t peer_bytes);
/**
 * inline_limit_agreed - the one in force
 * @floor_bytes: what each end can by default in the version that is spoken: less that is told counts as that, and so
 *               does nothing (E2.3-1, X-14)
 */
uint32_t inline_limit_agreed(const struct inline_limit *limit, uint32_t floor_bytes);

#endif

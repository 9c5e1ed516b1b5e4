/* SPDX-License-Identifier: BSD-3-Clause */
/* CM private data (RFC 8797, draft-ietf-nfsv4-rpcrdma-cm-pvt-data-05 sections 4 and 5), and the limits that come of them. */
#ifndef RPCRDMA_PRIVATE_DATA_H
#define RPCRDMA_PRIVATE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RPCRDMA_PRIVATE_DATA_BYTES 8u
#define RPCRDMA_INLINE_MIN         1024u
#define RPCRDMA_INLINE_MAX         (256u * 1024u)

struct rpcrdma_private_data {
	bool remote_invalidation;
	uint32_t send_bytes; /* largest Send its sender makes; a multiple of 1024 */
	uint32_t recv_bytes; /* size of the receives that its sender posts; likewise */
};

/**
 * rpcrdma_private_data_decode - find and decode what the peer sent, or set the defaults
 * @data, @len: CM private data as reported, which may be padded, and may begin with data of others (RFC 8797 section 5.2)
 * @pd:         1024, 1024 and no remote invalidation unless the data conform (C4.1.1-1, C4.1.2-1)
 *
 * Where the identifier stands at the beginning, only what stands there counts; else the first place counts where the
 * identifier, version one and the rest of the eight octets stand. Returns true if the data conform.
 */
bool rpcrdma_private_data_decode(const uint8_t *data, size_t len, struct rpcrdma_private_data *pd);

/** rpcrdma_private_data_encode - sizes are rounded down to 1024, held within 1 to 256 KiB. */
void rpcrdma_private_data_encode(const struct rpcrdma_private_data *pd,
				 uint8_t to[RPCRDMA_PRIVATE_DATA_BYTES]);

/*
 * The inline limit: how long a Send may be in one direction, transport header included. Pure.
 *
 * It is the least of what this end can, what is known of such a peer, and what the peer has told in its private data. What
 * characteristics tell later is another matter (v2/characteristics.h); rdma_conn_agree() brings both together.
 */
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

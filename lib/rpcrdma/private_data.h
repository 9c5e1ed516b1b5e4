/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes and decodes CM private data (RFC 8797, draft-ietf-nfsv4-rpcrdma-cm-pvt-data-05 sections 4
 * and 5), and derives the inline thresholds.
 */
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
	uint32_t send_bytes; /* longest Send of the end that sent this; a multiple of 1024 */
	uint32_t recv_bytes; /* size of its Receives; a multiple of 1024 */
};

/**
 * rpcrdma_private_data_decode - Finds and decodes the peer's private data, or sets the defaults.
 * @data, @len: CM private data as reported; can be padded, and can follow data of other layers (RFC
 *              8797 section 5.2)
 * @pd:         defaults (1024, 1024, no remote invalidation) unless the data conform (C4.1.1-1,
 *              C4.1.2-1)
 *
 * If the identifier is at the beginning, only that position counts. Otherwise the first position
 * that has the identifier, version one and all eight octets counts. Returns true if the data
 * conform.
 */
bool rpcrdma_private_data_decode(const uint8_t *data, size_t len, struct rpcrdma_private_data *pd);

/**
 * rpcrdma_private_data_encode - Encodes @pd; rounds sizes down to multiples of 1024, between 1 and
 * 256 KiB.
 */
void rpcrdma_private_data_encode(const struct rpcrdma_private_data *pd,
				 uint8_t to[RPCRDMA_PRIVATE_DATA_BYTES]);

/*
 * The inline threshold: the longest Send in one direction, transport header included. Pure.
 *
 * It is the smallest of the configured size, the limit of the peer's quirks, and the size in the
 * peer's private data. Sizes advertised later by characteristics are separate
 * (v2/characteristics.h); rdma_conn_update_limits() combines both.
 */
struct inline_threshold {
	uint32_t own_bytes; /* a multiple of 1024, from RPCRDMA_INLINE_MIN to RPCRDMA_INLINE_MAX */
	uint32_t profile_bytes; /* UINT32_MAX: no limit */
	uint32_t peer_bytes;    /* 0: nothing advertised yet */
};

/**
 * inline_threshold_init - Initializes a threshold; the peer has advertised nothing yet.
 * @own_bytes:     configured; rounded to what private data can express
 * @profile_bytes: limit of the peer's quirks; 0: none
 */
void inline_threshold_init(struct inline_threshold *limit, uint32_t own_bytes,
			   uint32_t profile_bytes);
/**
 * inline_threshold_offer - Returns the size to advertise: the smaller of the configured size and
 * the quirk.
 */
uint32_t inline_threshold_offer(const struct inline_threshold *limit);
/**
 * inline_threshold_set_peer - Sets the size that the peer advertised, at least RPCRDMA_INLINE_MIN.
 */
void inline_threshold_set_peer(struct inline_threshold *limit, uint32_t peer_bytes);
/**
 * inline_threshold_agreed - Returns the threshold in force.
 * @floor_bytes: default of the version; a smaller advertised size counts as this (E2.3-1, X-14)
 */
uint32_t inline_threshold_agreed(const struct inline_threshold *limit, uint32_t floor_bytes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the most memory that an RDMA leg can need. Pure. */
#ifndef RPCRDMA_MEMORY_BOUND_H
#define RPCRDMA_MEMORY_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leg/exchange.h"

/* The parts of a leg's configuration that determine its memory. */
struct memory_bound_params {
	bool accepted; /* the leg accepted: its peer is a client */
	uint32_t credits;
	uint32_t inline_threshold_bytes;
	uint32_t recv_max_bytes; /* largest size of its Receives; 0: it does not change */
	bool config_protocol;
	bool reverse_chunks;
	bool read_chunk_replies; /* the dialect has read-chunk Replies */
};

/**
 * memory_bound_reply - Returns the memory that a leg can need for a Reply in addition to its
 * buffer.
 */
struct reply_memory memory_bound_reply(const struct memory_bound_params *sizes);

/**
 * memory_bound_recvs - Returns how many Receives a leg can post: for its Calls, the peer's Calls,
 * and the reserve.
 */
unsigned memory_bound_recvs(const struct memory_bound_params *sizes);
/** memory_bound_recvs_bytes - Returns the memory of those Receives. */
size_t memory_bound_recvs_bytes(const struct memory_bound_params *sizes);

/**
 * memory_bound_uncharged_bytes - Returns the most memory that a leg can hold without a claim.
 *
 * This counts:
 * - Receives of the initial size (a claim covers larger ones);
 * - headers and short bodies of Sends;
 * - for each Call of the peer, its small objects and the kept part of its chunk lists;
 * - short reverse Calls with their Replies, and the placeholders of timed-out ones
 *   (reverse_timeout.h);
 * - exposed Replies, except for their RPCs;
 * - for each Call, the record of the parts of its Reply that the peer has written.
 */
size_t memory_bound_uncharged_bytes(const struct memory_bound_params *sizes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the most memory that an RDMA leg can need. Pure. */
#ifndef RPCRDMA_RDMA_MEMORY_H
#define RPCRDMA_RDMA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leg/exchange.h"

/* The parts of a leg's configuration that determine its memory. */
struct rdma_sizes {
	bool accepted; /* the leg accepted: its peer is a client */
	uint32_t credits;
	uint32_t inline_threshold_bytes;
	uint32_t recv_max_bytes; /* largest size of its Receives; 0: it does not change */
	bool config_protocol;
	bool reverse_chunks;
	bool lent_replies; /* the dialect has read-chunk Replies */
};

/** rdma_reply_room - Returns what a leg can need for the Reply to a Call in addition to the Reply's buffer. */
struct reply_room rdma_reply_room(const struct rdma_sizes *sizes);

/** rdma_receives - Returns how many Receives a leg can post: for its Calls, the peer's Calls, and the reserve. */
unsigned rdma_receives(const struct rdma_sizes *sizes);
/** rdma_receives_bytes - Returns the memory of those Receives. */
size_t rdma_receives_bytes(const struct rdma_sizes *sizes);

/**
 * rdma_beside_bytes - Returns the most memory that a leg can hold without a claim.
 *
 * This counts:
 * - Receives of the initial size (a claim covers larger ones);
 * - headers and short bodies of Sends;
 * - for each Call of the peer, its small objects and the kept part of its chunk lists;
 * - short reverse Calls with their Replies, and the placeholders of timed-out ones (requester_late.h);
 * - exposed Replies, except for their RPCs;
 * - for each Call, the record of the parts of its Reply that the peer has written.
 */
size_t rdma_beside_bytes(const struct rdma_sizes *sizes);

#endif

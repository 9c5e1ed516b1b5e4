/* SPDX-License-Identifier: BSD-3-Clause */
/* What memory an RDMA leg may come to take. Pure. */
#ifndef RPCRDMA_RDMA_MEMORY_H
#define RPCRDMA_RDMA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leg/exchange.h"

/* What of a leg's configuration says how much memory it may take. */
struct rdma_sizes {
	bool accepted; /* its peer is a client */
	uint32_t credits;
	uint32_t inline_threshold_bytes;
	uint32_t
		recv_max_bytes; /* the largest that its receives may become; 0: they stay as they are */
	bool config_protocol;
	bool reverse_chunks;
	bool lent_replies; /* its dialect has them */
};

/** rdma_reply_room - what a leg may take for the Reply to a Call that it is given, beside the buffer for it. */
struct reply_room rdma_reply_room(const struct rdma_sizes *sizes);

/** rdma_receives - how many receives a leg may post, for its Calls and the peer's, and in reserve. */
unsigned rdma_receives(const struct rdma_sizes *sizes);
/** rdma_receives_bytes - what the receives come to that a leg may post, for its Calls and the peer's, and in reserve. */
size_t rdma_receives_bytes(const struct rdma_sizes *sizes);

/**
 * rdma_beside_bytes - what a leg can come to hold that no claim covers
 *
 * Receives, the headers and short bodies of Sends, for each Call of the peer its small objects and what is kept of its
 * chunks, short reverse Calls with their Replies, what is left of reverse Calls without an answer (requester_late.h), and
 * what Replies that are lent take beside their RPCs, and which parts of a Reply its peer has written. While receives are larger than at first that is in a claim.
 */
size_t rdma_beside_bytes(const struct rdma_sizes *sizes);

#endif

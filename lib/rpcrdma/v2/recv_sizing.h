/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which receive sizes the messages of a connection of version two want. Pure.
 *
 * Messages are sorted into classes by their length, a power of two each. Where those of a class went by chunk
 * RECV_SIZING_OFTEN times within RECV_SIZING_US, and would fit, a receive that holds the class is wanted. When less will do
 * again is another matter (optional_msgs.h).
 */
#ifndef RPCRDMA_V2_RECV_SIZING_H
#define RPCRDMA_V2_RECV_SIZING_H

#include <stdint.h>

#include "rpcrdma/rpc_terms.h"

#define RECV_SIZING_OFTEN   16u
#define RECV_SIZING_US      60000000u
#define RECV_SIZING_CLASSES 8u /* up to 4096, 8192 … 524288 bytes */

struct recv_sizing {
	uint32_t max_bytes; /* no more is ever wanted; a multiple of 1024 */
	uint64_t since_us;  /* of the counts */
	uint32_t by_chunk[RECV_SIZING_CLASSES];
};

/** recv_sizing_init - nothing sent yet; at @now_us, on the clock of all that follows. */
void recv_sizing_init(struct recv_sizing *wish, uint32_t max_bytes, uint64_t now_us);
/**
 * recv_sizing_by_chunk - a message that is @bytes long as one Send, header included, goes by chunk
 *
 * Returns the receive size that is wanted for such, a multiple of 1024, or 0: none. What is wanted is said at each
 * RECV_SIZING_OFTEN-th message of a class, so that a wish that could not be met comes again.
 */
uint32_t recv_sizing_by_chunk(struct recv_sizing *wish, uint64_t bytes, uint64_t now_us);

/* What the Calls and Replies of a connection want. */
struct conn_sizes {
	struct recv_sizing calls, replies; /* that went by chunk */
	uint32_t wanted_there_bytes;       /* … so the peer's is to be that; 0: no new wish */
	uint32_t wanted_here_bytes;        /* … and ours that */
};

/**
 * conn_sizes_note - note a Call that was sent
 * @call_bytes:  how long a Send with it would be, if it goes by chunk; else 0
 * @reply_bytes: the same of its longest Reply
 * @terms:       those in force
 */
void conn_sizes_note(struct conn_sizes *sizes, uint64_t call_bytes, uint64_t reply_bytes,
		     const struct rpc_terms *terms, uint64_t now_us);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses a receive size from the lengths of recent messages in one direction. Pure.
 *
 * Messages are counted in classes of length, one per power of two. If RECV_SIZING_OFTEN messages of
 * a class went by chunk within RECV_SIZING_US and would fit inline, a Receive that holds the class
 * is wanted. optional_msgs.h decides when smaller Receives suffice again.
 */
#ifndef RPCRDMA_V2_RECV_SIZING_H
#define RPCRDMA_V2_RECV_SIZING_H

#include <stdint.h>

#include "rpcrdma/rpc_limits.h"

#define RECV_SIZING_OFTEN   16u
#define RECV_SIZING_US      60000000u
#define RECV_SIZING_CLASSES 8u /* up to 4096, 8192 … 524288 bytes */

struct recv_sizing {
	uint32_t max_bytes; /* upper limit; a multiple of 1024 */
	uint64_t since_us;  /* start of the counting period */
	uint32_t by_chunk[RECV_SIZING_CLASSES];
};

/** recv_sizing_init - Initializes the counts; @now_us is on the clock of all later calls. */
void recv_sizing_init(struct recv_sizing *sizing, uint32_t max_bytes, uint64_t now_us);
/**
 * recv_sizing_by_chunk - Counts a message that goes by chunk. @bytes: its length as one Send,
 * header included. Returns the wanted receive size, a multiple of 1024, or 0. It returns a size at
 * every RECV_SIZING_OFTEN-th message of a class, so that a failed request is repeated.
 */
uint32_t recv_sizing_by_chunk(struct recv_sizing *sizing, uint64_t bytes, uint64_t now_us);

/* Sizes wanted for the Calls and Replies of a connection. */
struct conn_sizes {
	struct recv_sizing calls, replies; /* messages that went by chunk */
	/* … so the peer should have Receives of this size; 0: no new request */
	uint32_t wanted_there_bytes;
	uint32_t wanted_here_bytes; /* … and this end of this size */
};

/**
 * conn_sizes_note - Counts a sent Call.
 * @call_bytes:  length of a Send with it, if it goes by chunk; otherwise 0
 * @reply_bytes: the same for its longest Reply
 * @limits:      limits in force
 */
void conn_sizes_note(struct conn_sizes *sizes, uint64_t call_bytes, uint64_t reply_bytes,
		     const struct rpc_limits *limits, uint64_t now_us);

#endif

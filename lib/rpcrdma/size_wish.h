/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which receive size the messages of one direction want. Pure.
 *
 * Messages are sorted into classes by their length, a power of two each. Where those of a class went by chunk
 * SIZE_WISH_OFTEN times within SIZE_WISH_US, and would fit, a receive that holds the class is wanted. When less will do
 * again is another matter (rdma_options.h).
 */
#ifndef RPCRDMA_SIZE_WISH_H
#define RPCRDMA_SIZE_WISH_H

#include <stdint.h>

#define SIZE_WISH_OFTEN   16u
#define SIZE_WISH_US      60000000u
#define SIZE_WISH_CLASSES 8u /* up to 4096, 8192 … 524288 bytes */

struct size_wish {
	uint32_t max_bytes; /* no more is ever wanted; a multiple of 1024 */
	uint64_t since_us;  /* of the counts */
	uint32_t by_chunk[SIZE_WISH_CLASSES];
};

/** size_wish_init - nothing sent yet; at @now_us, on the clock of all that follows. */
void size_wish_init(struct size_wish *wish, uint32_t max_bytes, uint64_t now_us);
/**
 * size_wish_by_chunk - a message that is @bytes long as one Send, header included, goes by chunk
 *
 * Returns the receive size that is wanted for such, a multiple of 1024, or 0: none. What is wanted is said at each
 * SIZE_WISH_OFTEN-th message of a class, so that a wish that could not be met comes again.
 */
uint32_t size_wish_by_chunk(struct size_wish *wish, uint64_t bytes, uint64_t now_us);

#endif

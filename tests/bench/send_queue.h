/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of messages to send: it stores short heads, and the data after them stay in the file's
 * memory.
 */
#ifndef TESTS_BENCH_SEND_QUEUE_H
#define TESTS_BENCH_SEND_QUEUE_H

#include "tests/e2e/net.h"

/* Bytes of @heads, and the following data in the file. */
struct send_piece {
	uint64_t offset;
	uint32_t head_bytes, data_bytes, pad_bytes;
};

struct send_queue {
	struct buf heads;
	size_t heads_sent; /* bytes of sent pieces */
	struct send_piece *pieces;
	size_t first, end, cap;
	size_t sent; /* bytes of the first piece */
};

/**
 * send_queue_put - Queues one message as a record. @message: all but the data; its XID is replaced.
 * @data_bytes: from @offset of the file, followed by XDR padding
 *
 * Returns the end of the message's copy in the queue, where the caller can change it; valid until
 * the next call.
 */
uint8_t *send_queue_put(struct send_queue *queue, const struct buf *message, uint32_t xid,
			uint64_t offset, uint32_t data_bytes);
/** send_queue_spoil - Makes the first data byte of the last message wrong; it must have data. */
void send_queue_spoil(struct send_queue *queue);
/** send_queue_flush - Sends what @fd accepts. Returns 0 if that is all, 1 if not, or -errno. */
int send_queue_flush(struct send_queue *queue, int fd);
/** send_queue_pieces - Returns the number of queued pieces. */
static inline size_t send_queue_pieces(const struct send_queue *queue)
{
	return queue->end - queue->first;
}
void send_queue_fini(struct send_queue *queue);

#endif

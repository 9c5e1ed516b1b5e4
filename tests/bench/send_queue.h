/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of messages to send: it stores short heads, and the data after them stay in the file's
 * memory.
 */
#ifndef TESTS_BENCH_SEND_QUEUE_H
#define TESTS_BENCH_SEND_QUEUE_H

#include "tests/e2e/net.h"

/* Bytes of @heads, and what follows them out of the file. */
struct send_piece {
	uint64_t offset;
	uint32_t head_bytes, data_bytes, pad_bytes;
};

struct send_queue {
	struct buf heads;
	size_t heads_sent; /* bytes of pieces that are gone */
	struct send_piece *pieces;
	size_t first, end, cap;
	size_t sent; /* bytes of the first piece */
};

/**
 * send_queue_put - one message as a record
 * @message: all but the data; its XID is replaced
 * @data_bytes: from @offset of the file; they are followed by what XDR pads them with
 *
 * Returns the end of the message's copy in the queue, to be mended; good until the next call.
 */
uint8_t *send_queue_put(struct send_queue *queue, const struct buf *message, uint32_t xid,
			uint64_t offset, uint32_t data_bytes);
/** send_queue_spoil - the first byte of the data of the last message will be wrong; it has data. */
void send_queue_spoil(struct send_queue *queue);
/** send_queue_flush - send what @fd takes: 0 if that is all, 1 if not, -errno. */
int send_queue_flush(struct send_queue *queue, int fd);
/** send_queue_pieces - how many are waiting. */
static inline size_t send_queue_pieces(const struct send_queue *queue)
{
	return queue->end - queue->first;
}
void send_queue_fini(struct send_queue *queue);

#endif

// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/iwarp/tx_batch.h"

#include <assert.h>

void iwarp_tx_batch_reset(struct iwarp_tx_batch *batch)
{
	batch->unsent_bytes = 0;
	batch->iov_head = batch->iov_tail = 0;
	batch->frame_head = batch->frame_tail = 0;
	batch->overhead_used = 0;
}

bool iwarp_tx_batch_fits(const struct iwarp_tx_batch *batch, unsigned pieces,
			 unsigned overhead_bytes)
{
	return batch->iov_tail + pieces <= BATCH_IOV && batch->frame_tail < BATCH_FRAMES &&
	       batch->overhead_used + overhead_bytes <= BATCH_OVERHEAD_BYTES;
}

/* A piece that starts where the last one ends extends it. */
static void piece_add(struct iwarp_tx_batch *batch, uint8_t *mem, size_t len_bytes)
{
	batch->unsent_bytes += len_bytes;
	if (batch->iov_tail > batch->iov_head) {
		struct iovec *last = &batch->iov[batch->iov_tail - 1];

		if ((uint8_t *)last->iov_base + last->iov_len == mem) {
			last->iov_len += len_bytes;
			return;
		}
	}
	assert(batch->iov_tail < BATCH_IOV);
	batch->iov[batch->iov_tail].iov_base = mem;
	batch->iov[batch->iov_tail].iov_len = len_bytes;
	batch->iov_tail++;
}

uint8_t *iwarp_tx_batch_alloc(struct iwarp_tx_batch *batch, size_t len_bytes)
{
	uint8_t *mem = batch->overhead + batch->overhead_used;

	assert(batch->overhead_used + len_bytes <= BATCH_OVERHEAD_BYTES);
	batch->overhead_used += (unsigned)len_bytes;
	piece_add(batch, mem, len_bytes);
	return mem;
}

void iwarp_tx_batch_append(struct iwarp_tx_batch *batch, const uint8_t *mem, size_t len_bytes)
{
	piece_add(batch, (uint8_t *)mem, len_bytes);
}

void iwarp_tx_batch_frame_end(struct iwarp_tx_batch *batch, uint64_t start, uint64_t end, bool fpdu)
{
	struct iwarp_tx_frame *frame = &batch->frames[batch->frame_tail++];
	const struct iovec *last = &batch->iov[batch->iov_tail - 1];

	frame->start = start;
	frame->end = end;
	frame->iov = batch->iov_tail - 1;
	frame->iov_end = (const uint8_t *)last->iov_base + last->iov_len;
	frame->fpdu = fpdu;
}

unsigned iwarp_tx_batch_sent(struct iwarp_tx_batch *batch, size_t len_bytes, uint64_t position)
{
	unsigned fpdus = 0;

	assert(len_bytes <= batch->unsent_bytes);
	batch->unsent_bytes -= len_bytes;
	while (len_bytes > 0) {
		struct iovec *first = &batch->iov[batch->iov_head];

		if (len_bytes < first->iov_len) {
			first->iov_base = (uint8_t *)first->iov_base + len_bytes;
			first->iov_len -= len_bytes;
			break;
		}
		len_bytes -= first->iov_len;
		batch->iov_head++;
	}
	while (batch->frame_head < batch->frame_tail &&
	       batch->frames[batch->frame_head].end <= position) {
		fpdus += batch->frames[batch->frame_head].fpdu;
		batch->frame_head++;
	}
	return fpdus;
}

uint64_t iwarp_tx_batch_truncate(struct iwarp_tx_batch *batch, uint64_t position)
{
	const struct iwarp_tx_frame *frame = &batch->frames[batch->frame_head];
	struct iovec *last;

	if (batch->frame_head == batch->frame_tail)
		return position;
	if (frame->start >= position) {
		batch->iov_tail = batch->iov_head;
		batch->frame_tail = batch->frame_head;
		batch->unsent_bytes = 0;
		return position;
	}
	last = &batch->iov[frame->iov];
	last->iov_len = (size_t)(frame->iov_end - (const uint8_t *)last->iov_base);
	batch->iov_tail = frame->iov + 1;
	batch->frame_tail = batch->frame_head + 1;
	batch->unsent_bytes = frame->end - position;
	return frame->end;
}

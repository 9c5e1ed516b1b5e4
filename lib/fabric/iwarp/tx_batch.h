/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit batch: the FPDUs that a connection has ready to send, as an iovec array.
 *
 * Payload pieces reference other memory. Start-up frames, headers, padding and CRC are in the
 * batch's own memory, where the end of one FPDU and the start of the next form one piece. A
 * connection has a batch only while it has data to send.
 */
#ifndef FABRIC_IWARP_TX_BATCH_H
#define FABRIC_IWARP_TX_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define BATCH_IOV            1024u /* limit of one writev */
#define BATCH_FRAMES         512u
#define BATCH_OVERHEAD_BYTES (24u * 1024u)

/* A frame: an FPDU or a start-up frame. */
struct iwarp_tx_frame {
	uint64_t start, end; /* positions in the stream */
	const uint8_t *iov_end;
	unsigned iov; /* index of the piece in which it ends */
	bool fpdu;
};

struct iwarp_tx_batch {
	uint64_t unsent_bytes;
	unsigned iov_head, iov_tail;
	unsigned frame_head, frame_tail;
	unsigned overhead_used;
	struct iovec iov[BATCH_IOV];
	struct iwarp_tx_frame frames[BATCH_FRAMES];
	uint8_t overhead[BATCH_OVERHEAD_BYTES];
};

/** iwarp_tx_batch_reset - Empties the batch. */
void iwarp_tx_batch_reset(struct iwarp_tx_batch *batch);
/**
 * iwarp_tx_batch_fits - Returns true if a frame of @pieces pieces and @overhead_bytes own bytes
 * fits.
 */
bool iwarp_tx_batch_fits(const struct iwarp_tx_batch *batch, unsigned pieces,
			 unsigned overhead_bytes);
/**
 * iwarp_tx_batch_alloc - Appends @len_bytes of the batch's own memory; returns where to write them.
 */
uint8_t *iwarp_tx_batch_alloc(struct iwarp_tx_batch *batch, size_t len_bytes);
/** iwarp_tx_batch_append - Appends memory of another owner, who must keep it until it is sent. */
void iwarp_tx_batch_append(struct iwarp_tx_batch *batch, const uint8_t *mem, size_t len_bytes);
/** iwarp_tx_batch_frame_end - Ends a frame from @start to @end: all appended since the last one. */
void iwarp_tx_batch_frame_end(struct iwarp_tx_batch *batch, uint64_t start, uint64_t end,
			      bool fpdu);
/**
 * iwarp_tx_batch_sent - Removes @len_bytes that were sent, up to @position. Returns the number of
 * FPDUs that completed.
 */
unsigned iwarp_tx_batch_sent(struct iwarp_tx_batch *batch, size_t len_bytes, uint64_t position);
/**
 * iwarp_tx_batch_truncate - Removes every frame of which no byte has been sent.
 * @position: stream position up to which bytes have been sent
 *
 * Returns the position after the remaining bytes.
 */
uint64_t iwarp_tx_batch_truncate(struct iwarp_tx_batch *batch, uint64_t position);

#endif

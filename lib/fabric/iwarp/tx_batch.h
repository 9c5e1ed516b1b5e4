/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a connection has ready to send: an array of pieces, some in memory of others (payload), some
 * in the batch's own (start-up frames, headers, padding and CRC, where one FPDU's end and the next
 * one's start are one piece). A connection has a batch only while it has something to send.
 */
#ifndef FABRIC_IWARP_TX_BATCH_H
#define FABRIC_IWARP_TX_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define BATCH_IOV        1024u /* what one writev takes */
#define BATCH_FRAMES     512u
#define BATCH_GLUE_BYTES (24u * 1024u)

/* A frame: an FPDU or a start-up frame. */
struct iwarp_tx_frame {
	uint64_t start, end;    /* positions in the stream */
	const uint8_t *iov_end; /* its end in memory */
	unsigned iov;           /* the piece that it ends in */
	bool fpdu;
};

struct iwarp_tx_batch {
	uint64_t unsent_bytes;
	unsigned iov_head, iov_tail;
	unsigned frame_head, frame_tail;
	unsigned glue_used;
	struct iovec iov[BATCH_IOV];
	struct iwarp_tx_frame frames[BATCH_FRAMES];
	uint8_t glue[BATCH_GLUE_BYTES];
};

/** iwarp_batch_reset - make it empty. */
void iwarp_batch_reset(struct iwarp_tx_batch *batch);
/** iwarp_batch_room - whether a frame of @pieces pieces and @glue_bytes bytes of glue fits. */
bool iwarp_batch_room(const struct iwarp_tx_batch *batch, unsigned pieces, unsigned glue_bytes);
/** iwarp_batch_glue - append @len_bytes of the batch's own memory; returns where to write them. */
uint8_t *iwarp_batch_glue(struct iwarp_tx_batch *batch, size_t len_bytes);
/** iwarp_batch_ref - append memory of somebody else, who keeps it until it is sent. */
void iwarp_batch_ref(struct iwarp_tx_batch *batch, const uint8_t *mem, size_t len_bytes);
/** iwarp_batch_frame_end - what was appended since the last frame is one frame from @start to @end. */
void iwarp_batch_frame_end(struct iwarp_tx_batch *batch, uint64_t start, uint64_t end, bool fpdu);
/** iwarp_batch_sent - @len_bytes went out, up to @position; returns how many FPDUs that completed. */
unsigned iwarp_batch_sent(struct iwarp_tx_batch *batch, size_t len_bytes, uint64_t position);
/**
 * iwarp_batch_cut - drop every frame of which nothing has been sent
 * @position: up to where the stream has been sent
 *
 * Returns the position behind what is left.
 */
uint64_t iwarp_batch_cut(struct iwarp_tx_batch *batch, uint64_t position);

#endif

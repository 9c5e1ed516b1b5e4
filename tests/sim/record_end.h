/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An end of a stream in memory that sends and receives records. It queues without a limit, and
 * delivers whole messages.
 */
#ifndef TESTS_SIM_RECORD_END_H
#define TESTS_SIM_RECORD_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"

struct record_end_events {
	/* Delivers a whole message; the callee can send. */
	void (*received)(void *arg, const uint8_t *msg, uint32_t len_bytes);
	/*
	 * Reports that @have_bytes of an incomplete message have arrived; optional; the callee can
	 * send.
	 */
	void (*grown)(void *arg, const uint8_t *msg, uint32_t have_bytes, uint32_t len_bytes);
};

struct record_end {
	const struct record_end_events *events;
	void *arg;
	uint32_t fragment_bytes; /* of the records that it sends; 0: one fragment each */
	struct stream *stream;   /* NULL: not connected yet */
	bool is_over; /* closed here, by the owner or because the peer has ended or reset it */
	bool got_end, got_reset; /* the reason that the stream reported */
	uint8_t *in, *out; /* in: an incomplete record; out: the queued bytes, from out_at on */
	size_t in_bytes, in_room, out_at, out_bytes, out_room;
};

/** record_end_start - Handles that the stream is connected; sends the queued bytes. */
void record_end_start(struct record_end *end, struct stream *stream);
/** record_end_send - Queues a message; does nothing if the end is over. */
void record_end_send(struct record_end *end, const uint8_t *msg, uint32_t len_bytes);
/**
 * record_end_shutdown - Shuts down sending after the queued bytes; all of them must have been
 * written.
 */
void record_end_shutdown(struct record_end *end);
/** record_end_close - Closes the connection; does nothing if it is over, or was never up. */
void record_end_close(struct record_end *end, bool reset);
/** record_end_fini - After record_end_close(): frees its memory. Not inside of its events. */
void record_end_fini(struct record_end *end);

#endif

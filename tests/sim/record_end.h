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
	/* A whole message; the callee may send. */
	void (*received)(void *arg, const uint8_t *msg, uint32_t len_bytes);
	/* More has come of a message that is not whole, of which @have_bytes are here; optional, and the callee may send. */
	void (*grown)(void *arg, const uint8_t *msg, uint32_t have_bytes, uint32_t len_bytes);
};

struct record_end {
	const struct record_end_events *events;
	void *arg;
	uint32_t fragment_bytes; /* of the records that it sends; 0: one fragment each */
	struct stream *stream;   /* NULL: not connected yet */
	bool is_over; /* closed here, by the owner or since the peer has ended or reset it */
	bool got_end, got_reset; /* why: what the stream has said */
	uint8_t *in, *out; /* in: a record that still comes; out: what is queued, from out_at on */
	size_t in_bytes, in_room, out_at, out_bytes, out_room;
};

/** record_end_start - the end's stream is connected; what has been queued for it goes out. */
void record_end_start(struct record_end *end, struct stream *stream);
/** record_end_send - queue a message; nothing if the end is over. */
void record_end_send(struct record_end *end, const uint8_t *msg, uint32_t len_bytes);
/** record_end_shutdown - send no more after what is queued is gone; all of it must have been written. */
void record_end_shutdown(struct record_end *end);
/** record_end_close - end the connection; nothing if it is over, or was never up. */
void record_end_close(struct record_end *end, bool reset);
/** record_end_fini - after record_end_close(): free what it has. Not inside of its events. */
void record_end_fini(struct record_end *end);

#endif

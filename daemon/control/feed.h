/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams bytes to a client of the control socket, through a bounded queue.
 *
 * A client that reads nothing for FEED_STALL_US is lost. So is one that sends more than FEED_HEARD_BYTES in all, which
 * are ignored. A client that ends its sending side requests the end; the queued bytes are still sent to it.
 */
#ifndef DAEMON_CONTROL_FEED_H
#define DAEMON_CONTROL_FEED_H

#include <stddef.h>

#include "base/compiler.h"
#include "base/loop.h"

#define FEED_STALL_US    5000000u
#define FEED_HEARD_BYTES 4096u

struct feed;

struct feed_events {
	/* The queue has more space than before. Never called from within a call. */
	void (*room)(void *arg);
	/* The client wants no more: call feed_end(). Called once. */
	void (*enough)(void *arg);
	/* The client disconnected or reads nothing: call feed_free(). @why is constant text, part of a sentence. */
	void (*lost)(void *arg, const char *why);
	/* After feed_end(): everything is sent. Call feed_free(). */
	void (*over)(void *arg);
};

/**
 * feed_new - Starts streaming to a client.
 * @fd:         non-blocking; duplicated, so the caller keeps it
 * @room_bytes: capacity of the queue
 *
 * Returns NULL if memory or descriptors ran out.
 */
struct feed *feed_new(struct loop *loop, int fd, size_t room_bytes,
		      const struct feed_events *events, void *arg) MUST_CHECK;
/** feed_free - Closes the connection and frees @feed; accepts NULL. Events may call it. */
void feed_free(struct feed *feed);
/** feed_room - Returns how many bytes feed_put() accepts now. */
size_t feed_room(const struct feed *feed);
/** feed_put - Queues @len bytes, at most feed_room(). A later loop iteration sends them. */
void feed_put(struct feed *feed, const void *data, size_t len);
/** feed_end - Ends the stream. over() or lost() follows in a later loop iteration as the last event. */
void feed_end(struct feed *feed);

#endif

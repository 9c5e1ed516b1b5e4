/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of the control socket that is sent bytes for as long as it takes them.
 *
 * What waits for it has a bound. One that has not taken anything of it for FEED_STALL_US is lost, and so is one that
 * says more than FEED_HEARD_BYTES in all, which nobody wants to hear. A client that ends its sending side asks for the
 * end; what is queued then still goes to it.
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
	/* There is more room than there was; not from inside a call. */
	void (*room)(void *arg);
	/* The client wants no more: feed_end() is due. Once. */
	void (*enough)(void *arg);
	/* It has gone, or takes nothing: feed_free() is due. @why is a part of a sentence, constant. */
	void (*lost)(void *arg, const char *why);
	/* After feed_end(): all has been taken, and feed_free() is due. */
	void (*over)(void *arg);
};

/**
 * feed_new - send to a client
 * @fd:         non-blocking; a duplicate is made, so that it stays the caller's
 * @room_bytes: that may wait for the client
 *
 * Returns NULL without memory or descriptors.
 */
struct feed *feed_new(struct loop *loop, int fd, size_t room_bytes,
		      const struct feed_events *events, void *arg) MUST_CHECK;
/** feed_free - close at once; accepts NULL. Allowed in its own events. */
void feed_free(struct feed *feed);
/** feed_room - how many bytes feed_put() takes now. */
size_t feed_room(const struct feed *feed);
/** feed_put - send @len bytes, for which there is room; they leave in a later turn of the loop. */
void feed_put(struct feed *feed, const void *data, size_t len);
/** feed_end - nothing follows: over() or lost() is the last event, in a later turn. */
void feed_end(struct feed *feed);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tap: copies of what passes the workers, for somebody on the main thread who watches.
 *
 *	worker ── tap_put() ──▶ the tap's queue ── tap_take() ──▶ main thread
 *
 * A worker never waits for who watches, only for another worker that puts something in: what the queue has no room for
 * is counted, and gone. A worker has a list of the taps that are open (daemon/proxy/tapping.h); while there are none, a
 * Call costs one branch.
 *
 * A tap is counted, since a worker may still put into it when the main thread has closed it.
 */
#ifndef DAEMON_TAP_TAP_H
#define DAEMON_TAP_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "daemon/tap/tap_request.h"

struct loop;
struct tap;

/* A tap in the list of a worker. */
struct tap_seat {
	LIST_ENTRY(tap_seat) entry;
	struct tap *tap; /* a reference */
};
LIST_HEAD(tap_seats, tap_seat);

struct tap_config {
	struct tap_request request; /* what is wanted, and how much of it */
	size_t queue_bytes; /* that wait for the main thread at most; twice as much memory is taken */
	struct loop *loop; /* the main thread's */
	/* From another thread to @loop: event_loop_post(). */
	int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg);
	/* In @loop: there is something to take. Not after tap_close(). */
	void (*filled)(void *arg);
	void *arg;
};

/** tap_new - an open tap with one reference; NULL without memory. */
struct tap *tap_new(const struct tap_config *config) MUST_CHECK;
/** tap_ref - one more reference; returns @tap. Any thread. */
struct tap *tap_ref(struct tap *tap);
/** tap_unref - one reference less; any thread; accepts NULL. */
void tap_unref(struct tap *tap);
/** tap_config - what it was made with; constant. */
const struct tap_config *tap_config(const struct tap *tap);

/**
 * tap_put - copy a record to the tap; any thread
 * @head: its fixed part
 * @body: what follows it, @body_bytes long; may be NULL
 *
 * Without room it is counted as missed, as is what comes until the main thread begins to take what waits.
 */
void tap_put(struct tap *tap, const void *head, size_t head_bytes, const void *body,
	     size_t body_bytes);

/**
 * tap_take - take what is there, in its order; the main thread
 * @each:   called for each record, aligned for any type, good during the call; returns whether to go on: what is left
 *	    comes with the next tap_take()
 * @missed: set to how many were missed behind those that have been taken by now, since it was last told
 *
 * Returns whether anything is left.
 */
bool tap_take(struct tap *tap, bool (*each)(void *arg, const void *record, size_t bytes), void *arg,
	      uint64_t *missed);

/**
 * tap_close - the main thread wants no more: nothing is put in, and filled() is not called any more
 *
 * What is in it can still be taken. The reference stays the caller's.
 */
void tap_close(struct tap *tap);

#endif

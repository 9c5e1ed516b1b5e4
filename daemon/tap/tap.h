/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tap: copies messages from the workers to a trace or capture client on the main thread.
 *
 *	worker ── tap_put() ──▶ the tap's queue ── tap_drain() ──▶ main thread
 *
 * A worker never waits for the client: records that do not fit into the queue are counted and
 * dropped. It can wait for another worker that puts a record. Each worker has a list of open taps
 * (daemon/proxy/tap_attach.h); while that is empty, a tap costs a Call one branch.
 *
 * A tap is reference-counted, since a worker can still put records after the main thread has closed
 * it.
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
struct tap_subscriber {
	LIST_ENTRY(tap_subscriber) entry;
	struct tap *tap; /* counted reference */
};
LIST_HEAD(tap_subscribers, tap_subscriber);

struct tap_config {
	struct tap_request request; /* the filter and the limits */
	/* most bytes that wait for the main thread; twice as much memory is used */
	size_t queue_bytes;
	struct loop *loop; /* the main thread's */
	/* Posts to @loop from another thread: event_loop_post(). */
	int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg);
	/* Called in @loop when the queue has records; not after tap_close(). */
	void (*filled)(void *arg);
	void *arg;
};

/** tap_new - Creates an open tap with one reference. Returns NULL without memory. */
struct tap *tap_new(const struct tap_config *config) MUST_CHECK;
/** tap_ref - Adds a reference. Returns @tap. Any thread. */
struct tap *tap_ref(struct tap *tap);
/** tap_unref - Drops a reference; any thread. Accepts NULL. */
void tap_unref(struct tap *tap);
/** tap_config - Returns the constant configuration. */
const struct tap_config *tap_config(const struct tap *tap);

/**
 * tap_put - Copies a record to the tap; any thread
 * @head: its fixed part
 * @body: the rest, @body_bytes long; can be NULL
 *
 * If the queue is full, the record counts as missed. So do all further records until the main
 * thread begins to empty the queue.
 */
void tap_put(struct tap *tap, const void *head, size_t head_bytes, const void *body,
	     size_t body_bytes);

/**
 * tap_drain - Takes the waiting records in order; main thread
 * @each:   called for each record, which is aligned for any type and valid during the call. Returns
 *          whether to continue; if not, the rest stays for the next tap_drain()
 * @missed: set to the number of records missed after those taken so far, since the last report
 *
 * Returns whether records are left.
 */
bool tap_drain(struct tap *tap, bool (*each)(void *arg, const void *record, size_t bytes),
	       void *arg, uint64_t *missed);

/**
 * tap_close - Closes the tap: no record is added and filled() is not called any more; main thread
 *
 * Waiting records can still be taken. The caller keeps its reference.
 */
void tap_close(struct tap *tap);

#endif

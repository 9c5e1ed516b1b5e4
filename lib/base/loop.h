/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop as lib/ sees it: descriptors, timers, deferred tasks and the time.
 *
 * lib/ never blocks and reads no clock; its callers pass a loop. The daemon's loop is based on
 * libevent (daemon/base/loop.c). The tests' loop has a clock that tests advance
 * (tests/lib/fake_loop.h).
 *
 * Concurrency: a loop and all objects made from it belong to one thread.
 *
 * One iteration of a loop: descriptor callbacks, then expired timers, then the tasks deferred so
 * far. A task that one of these defers runs in the next iteration. So one deferred task can write
 * the output of a whole iteration by one system call.
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/compiler.h"

struct loop;
struct loop_io;    /* a watched descriptor */
struct loop_timer; /* a one-shot timer */

#define LOOP_READ  0x01u
#define LOOP_WRITE 0x02u
#define LOOP_ERROR 0x04u /* loop_io_set() failed: the descriptor cannot be watched */
#define LOOP_LOST  0x08u /* the connection has ended both ways: it broke, or both sides closed */
#define LOOP_END   0x10u /* the peer has closed its sending side; input may be unread */

/* A task that runs at the end of an iteration; embedded in the object that it serves. */
struct loop_task {
	TAILQ_ENTRY(loop_task) entry;
	void (*fn)(void *arg);
	void *arg;
	bool queued;
};
TAILQ_HEAD(loop_task_list, loop_task);

struct loop_ops {
	uint64_t (*now_us)(struct loop *loop);
	struct loop_io *(*io_new)(struct loop *loop, int fd, void (*fn)(void *arg, unsigned events),
				  void *arg);
	void (*io_set)(struct loop_io *io, unsigned events);
	void (*io_free)(struct loop_io *io);
	struct loop_timer *(*timer_new)(struct loop *loop, void (*fn)(void *arg), void *arg);
	void (*timer_set)(struct loop_timer *timer, uint64_t delay_us);
	void (*timer_clear)(struct loop_timer *timer);
	void (*timer_free)(struct loop_timer *timer);
	/* Called when tasks were queued: do not sleep before running them. */
	void (*kick)(struct loop *loop);
};

struct loop {
	const struct loop_ops *ops;
	/* Time of this iteration, if the implementation caches it; 0: call now_us(). */
	uint64_t iteration_us;
	struct loop_task_list tasks;
};

/** loop_now_us - Returns the monotonic time of this iteration in microseconds. */
static inline uint64_t loop_now_us(struct loop *loop)
{
	return loop->iteration_us ? loop->iteration_us : loop->ops->now_us(loop);
}

/**
 * loop_io_new - Registers a descriptor
 * @loop: the loop
 * @fd:   non-blocking descriptor, owned by the caller; close it after loop_io_free()
 * @fn:   called with the LOOP_* events that are ready, or with LOOP_ERROR
 * @arg:  for @fn
 *
 * Nothing is watched until loop_io_set(). Returns NULL without memory.
 */
static inline struct loop_io *loop_io_new(struct loop *loop, int fd,
					  void (*fn)(void *arg, unsigned events), void *arg)
{
	return loop->ops->io_new(loop, fd, fn, arg);
}

/**
 * loop_timer_new - Creates a timer, not yet set
 *
 * It fires once per loop_timer_set(). Returns NULL without memory.
 */
static inline struct loop_timer *loop_timer_new(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	return loop->ops->timer_new(loop, fn, arg);
}

/**
 * loop_io_set - Watches for exactly these LOOP_* events from now on; 0 for none
 *
 * LOOP_READ and LOOP_WRITE are level-triggered. LOOP_LOST is reported once each time that it is
 * added, even if the connection ended long ago. Input and the peer's end of stream do not wake a
 * caller that watches only for LOOP_LOST. LOOP_END is requested together with LOOP_LOST and
 * reported once. Changing LOOP_WRITE costs a system call; changing other events costs one only the
 * first time, and after unwanted input has arrived.
 *
 * If the descriptor cannot be watched, for lack of memory or of the system's watches, a task
 * reports LOOP_ERROR alone, once per call. No further event will be reported: close a connection,
 * and retry later for anything that must survive.
 */
void loop_io_set(struct loop *loop, struct loop_io *io, unsigned events);
/** loop_io_free - Stops watching. Accepts NULL. Allowed inside its own callback. */
void loop_io_free(struct loop *loop, struct loop_io *io);
/**
 * loop_timer_set - Starts or restarts the timer: it fires once after @delay_us microseconds. It
 * cannot fail.
 */
void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t delay_us);
/** loop_timer_clear - Stops the timer. Accepts NULL and a timer that is not set. */
void loop_timer_clear(struct loop *loop, struct loop_timer *timer);
/** loop_timer_free - Stops and frees the timer. Accepts NULL. Allowed inside its own callback. */
void loop_timer_free(struct loop *loop, struct loop_timer *timer);

/** loop_task_init - Initializes a task; it is not queued yet. */
void loop_task_init(struct loop_task *task, void (*fn)(void *arg), void *arg);
/**
 * loop_defer - Queues the task to run once at the end of this iteration. Does nothing if it is
 * queued.
 */
void loop_defer(struct loop *loop, struct loop_task *task);
/** loop_task_cancel - Removes the task from the queue. Does nothing if it is not queued. */
void loop_task_cancel(struct loop *loop, struct loop_task *task);
/**
 * loop_run_tasks - Runs the queued tasks; for implementations of a loop, once at the end of each
 * iteration
 *
 * Tasks queued by these tasks stay for the next iteration. Returns true if there are any.
 */
bool loop_run_tasks(struct loop *loop);

#endif

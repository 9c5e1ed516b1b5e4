/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop as lib/ sees it: descriptors, timers, deferred tasks and the time.
 *
 * lib/ waits for nothing and reads no clock by itself; it is given a loop. The daemon's loop stands on
 * libevent (daemon/base/loop.c); the tests' loop has a clock that moves when told (tests/lib/fake_loop.h).
 *
 * Concurrency: a loop and everything made from it belong to one thread.
 *
 * One turn of a loop: descriptor callbacks, then due timers, then deferred tasks until none is left
 * (a task that defers itself again runs in the next turn). Output made in a turn is flushed by such a
 * task, so that it leaves in one system call.
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
#define LOOP_ERROR 0x04u /* what loop_io_set() asked for cannot be had */
#define LOOP_LOST                                                                                  \
	0x08u /* the connection has ended both ways: it broke, or both its ends were closed */
#define LOOP_END 0x10u /* the peer has ended what it sends, of which some may be unread */

/* A task to run at the end of this turn; embedded in the object that it serves. */
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
	void (*kick)(struct loop *loop); /* tasks were queued: do not sleep before running them */
};

struct loop {
	const struct loop_ops *ops;
	uint64_t turn_us; /* the time of this turn, as an implementation keeps it; 0: ask that */
	struct loop_task_list tasks;
};

/** loop_now_us - monotonic time in microseconds, as of this turn of the loop. */
static inline uint64_t loop_now_us(struct loop *loop)
{
	return loop->turn_us ? loop->turn_us : loop->ops->now_us(loop);
}

/**
 * loop_io_new - watch a descriptor
 * @loop: the loop
 * @fd:   non-blocking descriptor; stays the caller's, who closes it after loop_io_free()
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
 * loop_timer_new - make a timer, not yet set
 *
 * It fires once per loop_timer_set(). Returns NULL without memory.
 */
static inline struct loop_timer *loop_timer_new(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	return loop->ops->timer_new(loop, fn, arg);
}

/**
 * loop_io_set - watch for exactly these LOOP_* events from now on, 0 for none
 *
 * LOOP_READ and LOOP_WRITE are level-triggered. LOOP_LOST is said once each time that it is newly asked for, also if
 * it has held for long; neither bytes nor the peer's end of the stream alone wake who watches for nothing else.
 * LOOP_END goes with it, and is said once. All but LOOP_WRITE may be switched as often as one likes: it is a system call
 * the first time, and after something has come to be read that nobody wanted.
 *
 * What cannot be watched, for want of memory or of the system's watches, is told by LOOP_ERROR alone, from a task, once
 * for each call: nobody will hear of that descriptor again, so a connection is to be given up, and what must live is
 * to be asked for again later.
 */
void loop_io_set(struct loop *loop, struct loop_io *io, unsigned events);
/** loop_io_free - stop watching; accepts NULL; allowed inside its own callback. */
void loop_io_free(struct loop *loop, struct loop_io *io);
/** loop_timer_set - (re)start: fire once after @delay_us microseconds. It does not fail. */
void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t delay_us);
/** loop_timer_clear - do not fire; accepts NULL and a timer that is not set. */
void loop_timer_clear(struct loop *loop, struct loop_timer *timer);
/** loop_timer_free - clear and free; accepts NULL; allowed inside its own callback. */
void loop_timer_free(struct loop *loop, struct loop_timer *timer);

/** loop_task_init - prepare a task; it is not queued yet. */
void loop_task_init(struct loop_task *task, void (*fn)(void *arg), void *arg);
/** loop_defer - run the task once at the end of this turn; does nothing if it is queued already. */
void loop_defer(struct loop *loop, struct loop_task *task);
/** loop_task_cancel - take the task out of the queue; does nothing if it is not queued. */
void loop_task_cancel(struct loop *loop, struct loop_task *task);
/**
 * loop_run_tasks - run what is queued; for implementations of a loop, once at the end of each turn
 *
 * Tasks queued by the tasks themselves stay for the next turn. Returns true if there are such.
 */
bool loop_run_tasks(struct loop *loop);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's event loop: implements base/loop.h on libevent. Only daemon/http/http_server.c uses libevent too, for
 * evhttp.
 *
 * Threads: one thread at a time creates, runs and frees a loop. Everything created from the loop, and everything that
 * its callbacks reach, belongs to the thread that runs it. Other threads can only call event_loop_kick() and
 * event_loop_post(): this is how connections, control requests and snapshots cross threads. The arg of a posted
 * function belongs to the loop's thread from then on.
 *
 * An iteration runs descriptor callbacks, due timers and deferred tasks. A descriptor ready for both reading and
 * writing gets one callback for each; a task reports a lost connection. The time is read once per iteration, at the
 * first call of loop_now_us().
 */
#ifndef DAEMON_BASE_LOOP_H
#define DAEMON_BASE_LOOP_H

#include "base/compiler.h"
#include "base/loop.h"

struct event_base;

/** event_loop_new - Creates a loop. Returns NULL without memory or descriptors. */
struct loop *event_loop_new(void);

/**
 * event_loop_free - Frees a loop that does not run
 *
 * First runs everything that was posted and has not run, in order, on the calling thread. Every descriptor watch and
 * timer must have been freed. Accepts NULL.
 */
void event_loop_free(struct loop *loop);

/**
 * event_loop_finish - Runs everything that was posted to a loop that will not run any more
 *
 * In order, on the calling thread. So what the posted functions need does not have to outlive the loop.
 */
void event_loop_finish(struct loop *loop);

/**
 * event_loop_base - Returns the libevent base, for daemon/http/http_server.c only
 *
 * Its events are part of the loop's iterations; what libevent has deferred is freed by event_loop_free().
 */
struct event_base *event_loop_base(struct loop *loop);

/** event_loop_run - Iterates until event_loop_stop(); finishes the current iteration then. */
void event_loop_run(struct loop *loop);

/** event_loop_stop - Ends event_loop_run(). On the loop's thread only, or before it runs: other threads post this. */
void event_loop_stop(struct loop *loop);

/**
 * event_loop_post - Has @fn called on the loop's thread; any thread
 * @loop: not being freed
 * @fn:   called once, in an iteration or in event_loop_free(); functions posted by one thread run in order
 * @arg:  for @fn
 *
 * Returns 0; or -ENOMEM: @fn is not called, and @arg stays the caller's.
 */
int event_loop_post(struct loop *loop, void (*fn)(void *arg), void *arg) MUST_CHECK;

/** event_loop_on_kick - Sets the function for event_loop_kick(); before the loop runs. */
void event_loop_on_kick(struct loop *loop, void (*fn)(void *arg), void *arg);
/**
 * event_loop_kick - Has that function called once on the loop's thread, soon; any thread; cannot fail
 *
 * Several kicks can result in one call. Kicks after the loop has stopped have no effect.
 */
void event_loop_kick(struct loop *loop);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's event loop: implements base/loop.h on libevent. Only daemon/http/http_server.c uses
 * libevent too, for evhttp.
 *
 * Threads: one thread at a time creates, runs and frees a loop. Everything that the loop's
 * callbacks reach belongs to that thread. Other threads can only call event_loop_kick() and
 * event_loop_post(). Connections, control requests and snapshots cross threads in this way. The arg
 * of a posted function belongs to the loop's thread from then on.
 *
 * An iteration runs descriptor callbacks, due timers and deferred tasks. A descriptor that is ready
 * for reading and for writing gets one callback for each. A task reports a lost connection. The
 * first loop_now_us() of an iteration reads the clock.
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
 * First runs the posted functions that have not run, in order, on the calling thread. Every
 * descriptor watch and timer must have been freed before. Accepts NULL.
 */
void event_loop_free(struct loop *loop);

/**
 * event_loop_finish - Runs the remaining posted functions of a loop that will not run any more
 *
 * They run in order on the calling thread. After that, objects that they use can be freed before
 * the loop.
 */
void event_loop_finish(struct loop *loop);

/**
 * event_loop_base - Returns the libevent base, for daemon/http/http_server.c only
 *
 * Its events are part of the loop's iterations; what libevent has deferred is freed by
 * event_loop_free().
 */
struct event_base *event_loop_base(struct loop *loop);

/** event_loop_run - Iterates until event_loop_stop(); finishes the current iteration then. */
void event_loop_run(struct loop *loop);

/**
 * event_loop_stop - Ends event_loop_run(). Only on the loop's thread, or before the loop runs;
 * another thread posts a function that calls it.
 */
void event_loop_stop(struct loop *loop);

/**
 * event_loop_post - Makes the loop call @fn on its thread; any thread
 * @loop: not being freed
 * @fn:   called once: in an iteration, or in event_loop_finish() or event_loop_free(). Functions
 *        that one thread posts run in order
 * @arg:  for @fn
 *
 * Returns 0 or -ENOMEM; after an error @fn is not called, and the caller still owns @arg.
 */
int event_loop_post(struct loop *loop, void (*fn)(void *arg), void *arg) MUST_CHECK;

/** event_loop_on_kick - Sets the function for event_loop_kick(); before the loop runs. */
void event_loop_on_kick(struct loop *loop, void (*fn)(void *arg), void *arg);
/**
 * event_loop_kick - Makes the loop call that function soon; any thread; cannot fail
 *
 * Several kicks can result in one call. Kicks after the loop has stopped have no effect.
 */
void event_loop_kick(struct loop *loop);

#endif

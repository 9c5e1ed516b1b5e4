/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's loop: base/loop.h on libevent. Nobody else uses that, but daemon/http/http_server.c its evhttp.
 *
 * Concurrency: one thread at a time makes a loop, runs it, and frees it. Everything that is made
 * from the loop, and everything that is reached from its callbacks, belongs to the thread that runs
 * it. All that another thread may do with a loop is event_loop_kick(), and event_loop_post(): how connections,
 * control requests and snapshots cross from one thread to another. What is posted has left its
 * thread: the arg belongs to the loop's thread from then on.
 *
 * A turn: descriptor callbacks, due timers, deferred tasks. A descriptor that is ready both ways
 * gets one callback for each; that its connection is lost is told by a task. The time stands still within a
 * turn, as of the first question for it.
 */
#ifndef DAEMON_BASE_LOOP_H
#define DAEMON_BASE_LOOP_H

#include "base/compiler.h"
#include "base/loop.h"

struct event_base;

/** event_loop_new - make a loop. Returns NULL without memory or descriptors. */
struct loop *event_loop_new(void);

/**
 * event_loop_free - free a loop that does not run
 *
 * What was posted and has not run yet is run first, in order, by the caller; so nothing that was
 * posted is lost. Every descriptor watch and timer must have been freed. Accepts NULL.
 */
void event_loop_free(struct loop *loop);

/**
 * event_loop_finish - run what was posted to a loop that will not run any more
 *
 * By the caller, in order: what it needs need not outlive the loop then.
 */
void event_loop_finish(struct loop *loop);

/**
 * event_loop_base - what the loop stands on, for daemon/http/http_server.c alone
 *
 * Events of its own are part of the loop's turns; what waits to be freed at event_loop_free() is freed there.
 */
struct event_base *event_loop_base(struct loop *loop);

/** event_loop_run - turn until event_loop_stop(); the turn that was stopped is finished first. */
void event_loop_run(struct loop *loop);

/** event_loop_stop - end the run; in the loop's thread only, or before it runs: others post this. */
void event_loop_stop(struct loop *loop);

/**
 * event_loop_post - have a function run in the loop's thread; from any thread
 * @loop: a loop that is not being freed
 * @fn:   run once, in a turn of the loop or in event_loop_free(); what one thread posts runs in order
 * @arg:  for @fn
 *
 * Returns 0 or -ENOMEM: then @fn will not be called and @arg is still the caller's.
 */
int event_loop_post(struct loop *loop, void (*fn)(void *arg), void *arg) MUST_CHECK;

/** event_loop_on_kick - what event_loop_kick() is to run; before the loop runs. */
void event_loop_on_kick(struct loop *loop, void (*fn)(void *arg), void *arg);
/**
 * event_loop_kick - have that run once in the loop's thread, soon; from any thread, and cannot fail
 *
 * Several kicks may make one run. Those that come after the loop has stopped make none.
 */
void event_loop_kick(struct loop *loop);

#endif

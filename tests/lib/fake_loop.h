/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event loop for tests. The test moves its clock. The loop polls descriptors and never blocks.
 */
#ifndef TESTS_LIB_FAKE_LOOP_H
#define TESTS_LIB_FAKE_LOOP_H

#include "base/loop.h"

/** fake_loop_new - Returns a loop at time zero. */
struct loop *fake_loop_new(void);
/** fake_loop_free - Frees the loop; every timer and descriptor watch must have been freed. */
void fake_loop_free(struct loop *loop);
/**
 * fake_loop_run - Runs ready descriptors, deferred tasks and due timers until nothing is left to
 * do.
 */
void fake_loop_run(struct loop *loop);
/** fake_loop_advance - Moves the clock by @us and runs each timer at its time. */
void fake_loop_advance(struct loop *loop, uint64_t us);
/**
 * fake_loop_post - Like event_loop_post(): the task runs with the deferred tasks, and the loop
 * frees it afterwards.
 */
int fake_loop_post(struct loop *loop, void (*fn)(void *arg), void *arg);
/**
 * fake_loop_await - Calls @await with @arg whenever nothing is left to do. @await waits for another
 * thread that has work for the loop
 *
 * It returns false if there is no such thread, or if the loop must not wait for it.
 */
void fake_loop_await(struct loop *loop, bool (*await)(void *arg), void *arg);
/**
 * fake_loop_blind - While @blind, no descriptor can be watched: loop_io_set() ends in LOOP_ERROR.
 */
void fake_loop_blind(struct loop *loop, bool blind);

#endif

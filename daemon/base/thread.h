/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the daemon beside the main one. */
#ifndef DAEMON_BASE_THREAD_H
#define DAEMON_BASE_THREAD_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "base/compiler.h"

/**
 * thread_start - run @fn(@arg) on a thread that takes no signals: those are the main thread's
 * @name: of 15 characters at most; copied
 * @out:  to be joined or detached
 *
 * Returns 0 or a negative errno.
 */
int thread_start(const char *name, void *(*fn)(void *arg), void *arg, pthread_t *out) MUST_CHECK;
/** thread_cpu_us - the processor time that @thread has had, which has not been joined; 0 where that is not told. */
uint64_t thread_cpu_us(pthread_t thread);
/** thread_cond_init - initialize @cond for pthread_cond_timedwait() with times of CLOCK_MONOTONIC, as thread_deadline() has them. */
void thread_cond_init(pthread_cond_t *cond);
/** thread_deadline - return when @timeout_ms milliseconds will have passed, by CLOCK_MONOTONIC. */
struct timespec thread_deadline(unsigned timeout_ms);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts threads of the daemon, and helps to wait for them. */
#ifndef DAEMON_BASE_THREAD_H
#define DAEMON_BASE_THREAD_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "base/compiler.h"

/**
 * thread_start - Runs @fn(@arg) on a new thread with all signals blocked, since the main thread
 * handles them
 * @name: at most 15 characters; copied
 * @out:  join or detach it
 *
 * Returns 0 or a negative errno.
 */
int thread_start(const char *name, void *(*fn)(void *arg), void *arg, pthread_t *out) MUST_CHECK;
/** thread_cpu_us - Returns the CPU time of @thread, which has not been joined; 0 if unavailable. */
uint64_t thread_cpu_us(pthread_t thread);
/**
 * thread_cond_init - Initializes @cond for pthread_cond_timedwait() with times from
 * thread_deadline().
 */
void thread_cond_init(pthread_cond_t *cond);
/** thread_deadline - Returns the time of CLOCK_MONOTONIC in @timeout_ms milliseconds. */
struct timespec thread_deadline(unsigned timeout_ms);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the daemon beside the main one. */
#ifndef DAEMON_BASE_THREAD_H
#define DAEMON_BASE_THREAD_H

#include <pthread.h>

#include "base/compiler.h"

/**
 * thread_start - run @fn(@arg) on a thread that takes no signals: those are the main thread's
 * @name: of 15 characters at most; copied
 * @out:  to be joined or detached
 *
 * Returns 0 or a negative errno.
 */
int thread_start(const char *name, void *(*fn)(void *arg), void *arg, pthread_t *out) MUST_CHECK;

#endif

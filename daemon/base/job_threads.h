/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads for computations that would delay the other connections of a loop: the cryptography of
 * TLS handshakes (struct tls_runner in tls/tls_stream.h).
 *
 * The process has one set of threads. They have a lower priority than the workers, and start with
 * the first jobs. Each owner has a queue of its own, on one loop: a service on a worker, or a
 * health check. The threads take one job of each queue in turn, and each queue is bounded, so no
 * owner delays the others for long.
 *
 * Only a queue's loop uses the queue; the threads reach it under a lock. Functions of the set can
 * be called by any thread.
 */
#ifndef DAEMON_BASE_JOB_THREADS_H
#define DAEMON_BASE_JOB_THREADS_H

#include "base/compiler.h"
#include "base/loop.h"
#include "tls/tls_stream.h"

#define JOB_THREADS_MAX  4u   /* per process */
#define JOB_THREADS_NICE 10   /* added to the niceness of the process */
#define JOB_QUEUE_MAX    256u /* jobs of one queue that no thread has begun */

struct job_threads;
struct job_queue;

/**
 * job_threads_new - Creates a set of threads; none is started yet
 * @count: how many threads it has at most; JOB_THREADS_MAX if that is less
 *
 * Returns NULL without memory.
 */
struct job_threads *job_threads_new(unsigned count);
/** job_threads_free - Waits for the threads to end; no queue is left. Accepts NULL. */
void job_threads_free(struct job_threads *threads);

/**
 * job_queue_new - Creates a queue without jobs
 * @threads: outlives it
 * @loop:    of the calling thread
 * @post:    event_loop_post(), or a test's replacement
 *
 * Returns NULL without memory.
 */
struct job_queue *job_queue_new(struct job_threads *threads, struct loop *loop,
				int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg));
/**
 * job_queue_runner - Returns the runner that adds jobs to @queue
 *
 * Its run() is only for the queue's loop. It returns -EAGAIN if JOB_QUEUE_MAX jobs wait, or without
 * memory, or if no thread can be started.
 */
struct tls_runner *job_queue_runner(struct job_queue *queue);
/**
 * job_queue_free - Ends all jobs and frees the queue
 *
 * Jobs that no thread has begun are not executed. Those that run are waited for, some milliseconds.
 * done() of all is called, by this function. It can be called within a done(). Accepts NULL.
 */
void job_queue_free(struct job_queue *queue);

#endif

// SPDX-License-Identifier: BSD-3-Clause
/*
 * One lock guards the set and the lists of all queues: a job takes much longer than its way
 * through the lists.
 *
 * A thread that has finished a job posts the queue to its loop, unless it is posted already. The
 * posted function cannot be recalled, so it holds a reference: after job_queue_free() it finds no
 * jobs, and drops the reference.
 */
#include "daemon/base/job_threads.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/thread.h"

#define RETRY_NS 1000000L /* between attempts to post to a loop */

struct job {
	STAILQ_ENTRY(job) entry;
	void (*work)(void *arg);
	void (*done)(void *arg);
	void *arg;
};
STAILQ_HEAD(job_list, job);

struct job_queue {
	struct tls_runner runner;
	struct job_threads *threads;
	struct loop *loop;
	int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg);
	/* What follows is guarded by threads->lock. */
	TAILQ_ENTRY(job_queue) entry; /* in threads->ready, while jobs wait */
	struct job_list waiting, finished;
	unsigned nwaiting, nrunning;
	unsigned refs; /* the owner's, one of each running job, and one while posted */
	bool is_posted, is_freed;
	pthread_cond_t idle_signal; /* the last running job has ended, after is_freed */
};
TAILQ_HEAD(job_queue_list, job_queue);

struct job_threads {
	pthread_mutex_t lock; /* guards what follows, and the queues */
	pthread_cond_t work_signal;
	struct job_queue_list ready; /* queues with waiting jobs; the first has its turn */
	unsigned nwaiting;           /* jobs that no thread has begun, of all queues */
	unsigned max, nstarted, nidle;
	bool stopping;
	pthread_t list[JOB_THREADS_MAX];
};

static void lock(const struct job_queue *queue)
{
	pthread_mutex_lock(&queue->threads->lock);
}

static void unlock(const struct job_queue *queue)
{
	pthread_mutex_unlock(&queue->threads->lock);
}

/* Under the lock, which it releases. */
static void put_and_unlock(struct job_queue *queue)
{
	bool is_last = --queue->refs == 0;

	unlock(queue);
	if (!is_last)
		return;
	pthread_cond_destroy(&queue->idle_signal);
	free(queue);
}

/* Calls done() of the finished jobs. Under the lock, which it releases meanwhile. */
static void report_finished(struct job_queue *queue)
{
	struct job *job;

	while ((job = STAILQ_FIRST(&queue->finished))) {
		STAILQ_REMOVE_HEAD(&queue->finished, entry);
		unlock(queue);
		job->done(job->arg);
		free(job);
		lock(queue);
	}
}

/* On the loop's thread. */
static void on_posted(void *arg)
{
	struct job_queue *queue = arg;

	lock(queue);
	queue->is_posted = false;
	report_finished(queue);
	put_and_unlock(queue);
}

/* ---- the threads ---- */

/* Under the lock. A post fails only for lack of memory; the lock is released until the next try. */
static void post_finished(struct job_queue *queue)
{
	while (!queue->is_posted && !queue->is_freed) {
		if (!queue->post(queue->loop, on_posted, queue)) {
			queue->is_posted = true;
			queue->refs++;
			return;
		}
		unlock(queue);
		nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
		lock(queue);
	}
}

/* Executes the next job of @queue. Under the lock, which it releases meanwhile. */
static void run_job(struct job_threads *threads, struct job_queue *queue)
{
	struct job *job = STAILQ_FIRST(&queue->waiting);

	STAILQ_REMOVE_HEAD(&queue->waiting, entry);
	TAILQ_REMOVE(&threads->ready, queue, entry);
	threads->nwaiting--;
	if (--queue->nwaiting)
		TAILQ_INSERT_TAIL(&threads->ready, queue, entry);
	queue->nrunning++;
	queue->refs++;
	unlock(queue);
	job->work(job->arg);
	lock(queue);
	STAILQ_INSERT_TAIL(&queue->finished, job, entry);
	post_finished(queue);
	if (--queue->nrunning == 0 && queue->is_freed)
		pthread_cond_signal(&queue->idle_signal);
	put_and_unlock(queue);
	pthread_mutex_lock(&threads->lock);
}

static void *thread_main(void *arg)
{
	struct job_threads *threads = arg;

	const id_t self = (id_t)gettid();

	/*
	 * Only for the calling thread, on Linux; the kernel limits the value. Without it handshakes
	 * compete with the workers.
	 */
	(void)setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + JOB_THREADS_NICE);
	pthread_mutex_lock(&threads->lock);
	while (!threads->stopping) {
		if (!TAILQ_EMPTY(&threads->ready)) {
			run_job(threads, TAILQ_FIRST(&threads->ready));
			continue;
		}
		threads->nidle++;
		pthread_cond_wait(&threads->work_signal, &threads->lock);
		threads->nidle--;
	}
	pthread_mutex_unlock(&threads->lock);
	return NULL;
}

/*
 * Starts another thread if the idle ones have jobs already. Under the lock. Returns whether there
 * is any thread: that another one cannot be started does not matter then.
 */
static bool provide_thread(struct job_threads *threads)
{
	char name[16];

	if (threads->nwaiting < threads->nidle || threads->nstarted == threads->max)
		return true;
	snprintf(name, sizeof(name), "job-%u", threads->nstarted % 10u);
	if (!thread_start(name, thread_main, threads, &threads->list[threads->nstarted]))
		threads->nstarted++;
	return threads->nstarted > 0;
}

struct job_threads *job_threads_new(unsigned count)
{
	struct job_threads *threads = calloc(1, sizeof(*threads));

	if (!threads)
		return NULL;
	threads->max = count < JOB_THREADS_MAX ? count : JOB_THREADS_MAX;
	pthread_mutex_init(&threads->lock, NULL);
	pthread_cond_init(&threads->work_signal, NULL);
	TAILQ_INIT(&threads->ready);
	return threads;
}

void job_threads_free(struct job_threads *threads)
{
	if (!threads)
		return;
	pthread_mutex_lock(&threads->lock);
	assert(TAILQ_EMPTY(&threads->ready));
	threads->stopping = true;
	pthread_cond_broadcast(&threads->work_signal);
	pthread_mutex_unlock(&threads->lock);
	for (unsigned i = 0; i < threads->nstarted; i++)
		pthread_join(threads->list[i], NULL);
	pthread_cond_destroy(&threads->work_signal);
	pthread_mutex_destroy(&threads->lock);
	free(threads);
}

/* ---- queues ---- */

/* Under the lock. */
static int queue_add(struct job_queue *queue, struct job *job)
{
	struct job_threads *threads = queue->threads;

	if (queue->nwaiting == JOB_QUEUE_MAX || !provide_thread(threads))
		return -EAGAIN;
	STAILQ_INSERT_TAIL(&queue->waiting, job, entry);
	threads->nwaiting++;
	if (queue->nwaiting++ == 0)
		TAILQ_INSERT_TAIL(&threads->ready, queue, entry);
	pthread_cond_signal(&threads->work_signal);
	return 0;
}

static int queue_run(struct tls_runner *runner, struct loop *loop, void (*work)(void *arg),
		     void (*done)(void *arg), void *arg)
{
	struct job_queue *queue = container_of(runner, struct job_queue, runner);
	struct job *job = malloc(sizeof(*job));
	int rc;

	assert(loop == queue->loop);
	if (!job)
		return -EAGAIN;
	*job = (struct job){.work = work, .done = done, .arg = arg};
	lock(queue);
	rc = queue_add(queue, job);
	unlock(queue);
	if (rc)
		free(job);
	return rc;
}

struct job_queue *job_queue_new(struct job_threads *threads, struct loop *loop,
				int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg))
{
	struct job_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->runner.run = queue_run;
	queue->threads = threads;
	queue->loop = loop;
	queue->post = post;
	queue->refs = 1;
	STAILQ_INIT(&queue->waiting);
	STAILQ_INIT(&queue->finished);
	pthread_cond_init(&queue->idle_signal, NULL);
	return queue;
}

struct tls_runner *job_queue_runner(struct job_queue *queue)
{
	return &queue->runner;
}

void job_queue_free(struct job_queue *queue)
{
	if (!queue)
		return;
	lock(queue);
	queue->is_freed = true;
	if (queue->nwaiting)
		TAILQ_REMOVE(&queue->threads->ready, queue, entry);
	STAILQ_CONCAT(&queue->finished, &queue->waiting);
	queue->threads->nwaiting -= queue->nwaiting;
	queue->nwaiting = 0;
	while (queue->nrunning)
		pthread_cond_wait(&queue->idle_signal, &queue->threads->lock);
	report_finished(queue);
	put_and_unlock(queue);
}

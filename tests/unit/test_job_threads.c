// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the threads for TLS handshakes: where work and its end run, turns between queues, limits,
 * and queues that are freed at any time.
 */
#include "daemon/base/job_threads.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/loop.h"
#include "daemon/base/thread.h"
#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"

#define LOOPS 3u
#define JOBS  2000u /* of each loop */

static struct job_threads *threads;
static struct loop *loop;
static struct job_queue *queue;
static sem_t may_end;
static atomic_uint begun, worked;
static unsigned dones, wanted;
static char order[JOB_QUEUE_MAX + 8];
static atomic_uint nordered;

static void await(atomic_uint *count, unsigned least)
{
	struct time_limit limit;

	time_limit_begin(&limit, 20);
	while (atomic_load(count) < least) {
		ck_assert(!time_limit_passed(&limit));
		sched_yield();
	}
}

/* By their names: a sanitizer has a thread, too. */
static unsigned job_threads(void)
{
	char name[16], path[64];
	struct dirent *entry;
	unsigned count = 0;
	DIR *dir = opendir("/proc/self/task");

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (!file)
			continue;
		count += fgets(name, sizeof(name), file) && !strncmp(name, "job-", 4);
		fclose(file);
	}
	closedir(dir);
	return count;
}

static void block(void *arg)
{
	atomic_fetch_add(&begun, 1);
	sem_wait(&may_end);
	atomic_fetch_add(&worked, 1);
}

static void count(void *arg)
{
	atomic_fetch_add(&worked, 1);
}

/* Work of the queue that @arg names, by a letter. */
static void note_order(void *arg)
{
	order[atomic_fetch_add(&nordered, 1)] = *(const char *)arg;
}

static void on_done(void *arg)
{
	if (++dones == wanted)
		event_loop_stop(loop);
}

static int add(struct job_queue *to, void (*work)(void *arg), void *arg)
{
	struct tls_runner *runner = job_queue_runner(to);

	return runner->run(runner, loop, work, on_done, arg);
}

static void add_all(struct job_queue *to, unsigned jobs, void (*work)(void *arg), void *arg)
{
	for (unsigned i = 0; i < jobs; i++)
		ck_assert_int_eq(add(to, work, arg), 0);
}

static void run_until(unsigned all)
{
	wanted = all;
	if (dones < all)
		event_loop_run(loop);
	ck_assert_uint_eq(dones, all);
}

static void begin(unsigned nthreads)
{
	threads = job_threads_new(nthreads);
	ck_assert_ptr_nonnull(threads);
	queue = job_queue_new(threads, loop, event_loop_post);
	ck_assert_ptr_nonnull(queue);
}

static void setup(void)
{
	sem_init(&may_end, 0, 0);
	atomic_store(&begun, 0);
	atomic_store(&worked, 0);
	atomic_store(&nordered, 0);
	dones = wanted = 0;
	loop = event_loop_new();
	ck_assert_ptr_nonnull(loop);
}

static void teardown(void)
{
	job_queue_free(queue);
	event_loop_free(loop);
	job_threads_free(threads);
	threads = NULL;
	queue = NULL;
	sem_destroy(&may_end);
}

/* ---- where it runs ---- */

static pthread_t worked_on, ended_on;
static int had_priority;

static void note_thread(void *arg)
{
	worked_on = pthread_self();
	had_priority = getpriority(PRIO_PROCESS, (id_t)gettid());
}

static void note_end(void *arg)
{
	ck_assert_ptr_eq(arg, &worked_on);
	ended_on = pthread_self();
	event_loop_stop(loop);
}

START_TEST(work_runs_on_a_thread_of_low_priority_and_its_end_on_the_loop)
{
	const int priority = getpriority(PRIO_PROCESS, (id_t)gettid());
	struct tls_runner *runner;

	begin(2);
	ck_assert_uint_eq(job_threads(), 0);
	runner = job_queue_runner(queue);
	ck_assert_int_eq(runner->run(runner, loop, note_thread, note_end, &worked_on), 0);
	ck_assert_uint_eq(job_threads(), 1);
	event_loop_run(loop);
	ck_assert(pthread_equal(ended_on, pthread_self()));
	ck_assert(!pthread_equal(worked_on, pthread_self()));
	ck_assert_int_eq(had_priority,
			 priority + JOB_THREADS_NICE < 19 ? priority + JOB_THREADS_NICE : 19);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)gettid()), priority);
}
END_TEST

START_TEST(threads_start_as_jobs_need_them_up_to_their_number)
{
	begin(JOB_THREADS_MAX + 1);
	for (unsigned i = 1; i <= JOB_THREADS_MAX; i++) {
		add_all(queue, 1, block, NULL);
		await(&begun, i);
		ck_assert_uint_eq(job_threads(), i);
	}
	add_all(queue, 3, block, NULL);
	ck_assert_uint_eq(job_threads(), JOB_THREADS_MAX);
	for (unsigned i = 0; i < JOB_THREADS_MAX + 3; i++)
		sem_post(&may_end);
	run_until(JOB_THREADS_MAX + 3);
	ck_assert_uint_eq(job_threads(), JOB_THREADS_MAX);
}
END_TEST

START_TEST(two_jobs_at_once_start_two_threads)
{
	begin(2);
	add_all(queue, 2, block, NULL);
	await(&begun, 2);
	sem_post(&may_end);
	sem_post(&may_end);
	run_until(2);
	add_all(queue, 2, block, NULL);
	await(&begun, 4);
	sem_post(&may_end);
	sem_post(&may_end);
	run_until(4);
}
END_TEST

/* ---- turns and limits ---- */

START_TEST(a_full_queue_takes_no_job_and_delays_the_others_by_one)
{
	char name_a[] = "a", name_b[] = "b";
	struct job_queue *other;

	begin(1);
	other = job_queue_new(threads, loop, event_loop_post);
	ck_assert_ptr_nonnull(other);
	add_all(queue, 1, block, NULL);
	await(&begun, 1);
	add_all(queue, JOB_QUEUE_MAX, note_order, name_a);
	ck_assert_int_eq(add(queue, note_order, name_a), -EAGAIN);
	add_all(other, 2, note_order, name_b);
	sem_post(&may_end);
	run_until(JOB_QUEUE_MAX + 3);
	ck_assert_int_eq(strncmp(order, "ababaaa", 7), 0);
	ck_assert_uint_eq(atomic_load(&nordered), JOB_QUEUE_MAX + 2);
	add_all(queue, 1, note_order, name_a);
	run_until(JOB_QUEUE_MAX + 4);
	job_queue_free(other);
}
END_TEST

static unsigned failures_left;

static int fail_to_post(struct loop *to, void (*fn)(void *arg), void *arg)
{
	if (failures_left) {
		failures_left--;
		return -ENOMEM;
	}
	return event_loop_post(to, fn, arg);
}

START_TEST(an_end_is_reported_however_often_there_is_no_memory)
{
	struct job_queue *scarce;

	begin(1);
	failures_left = 3;
	scarce = job_queue_new(threads, loop, fail_to_post);
	add_all(scarce, 2, count, NULL);
	run_until(2);
	ck_assert_uint_eq(failures_left, 0);
	job_queue_free(scarce);
}
END_TEST

static int never_post(struct loop *to, void (*fn)(void *arg), void *arg)
{
	atomic_fetch_add(&begun, 1);
	return -ENOMEM;
}

START_TEST(a_queue_is_freed_while_there_is_no_memory_for_its_ends)
{
	struct job_queue *scarce;

	begin(1);
	scarce = job_queue_new(threads, loop, never_post);
	add_all(scarce, 2, count, NULL);
	await(&begun, 1);
	job_queue_free(scarce);
	ck_assert_uint_eq(dones, 2);
}
END_TEST

/* ---- the end of a queue ---- */

static void *post_later(void *arg)
{
	/* The queue is freed or about to be: either way it waits for the job. */
	for (int i = 0; i < 1000; i++)
		sched_yield();
	sem_post(&may_end);
	return NULL;
}

START_TEST(a_freed_queue_waits_for_running_jobs_and_omits_waiting_ones)
{
	pthread_t thread;

	begin(1);
	add_all(queue, 1, block, NULL);
	await(&begun, 1);
	add_all(queue, 5, count, NULL);
	ck_assert_int_eq(thread_start("later", post_later, NULL, &thread), 0);
	job_queue_free(queue);
	queue = NULL;
	ck_assert_uint_eq(dones, 6);
	ck_assert_uint_eq(atomic_load(&worked), 1);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(other_queues_go_on_after_one_was_freed)
{
	char name_a[] = "a";
	struct job_queue *other;

	begin(1);
	other = job_queue_new(threads, loop, event_loop_post);
	add_all(other, 1, block, NULL);
	await(&begun, 1);
	add_all(queue, 3, count, NULL);
	add_all(other, 1, note_order, name_a);
	job_queue_free(queue);
	queue = NULL;
	ck_assert_uint_eq(dones, 3);
	sem_post(&may_end);
	run_until(5);
	ck_assert_uint_eq(atomic_load(&worked), 1);
	ck_assert_uint_eq(atomic_load(&nordered), 1);
	job_queue_free(other);
}
END_TEST

/* The loop runs the posted function only after the queue has been freed. */
START_TEST(a_queue_can_be_freed_with_its_ends_on_the_way)
{
	begin(1);
	add_all(queue, 4, count, NULL);
	await(&worked, 4);
	job_queue_free(queue);
	queue = NULL;
	ck_assert_uint_eq(dones, 4);
	event_loop_finish(loop);
	ck_assert_uint_eq(dones, 4);
}
END_TEST

static void free_queue(void *arg)
{
	dones++;
	job_queue_free(queue);
	queue = NULL;
	event_loop_stop(loop);
}

START_TEST(a_queue_can_be_freed_by_one_of_its_ends)
{
	struct tls_runner *runner;

	begin(1);
	runner = job_queue_runner(queue);
	ck_assert_int_eq(runner->run(runner, loop, count, free_queue, NULL), 0);
	add_all(queue, 5, count, NULL);
	event_loop_run(loop);
	ck_assert_uint_eq(dones, 6);
}
END_TEST

/* ---- many at once ---- */

struct worker_of_test {
	struct loop *loop;
	struct job_queue *queue;
	unsigned sum, left;
	pthread_t thread;
	struct loop_timer *timer;
	unsigned unsent;
};

/* A job's own memory: written by the thread, read by its loop. */
struct sum_job {
	struct worker_of_test *worker;
	unsigned number, square;
};

static void square(void *arg)
{
	struct sum_job *job = arg;

	job->square = job->number * job->number;
}

static void add_square(void *arg)
{
	struct sum_job *job = arg;
	struct worker_of_test *worker = job->worker;

	worker->sum += job->square;
	free(job);
	if (--worker->left == 0)
		event_loop_stop(worker->loop);
}

/* Fills the queue; what it does not take follows a moment later. */
static void send_jobs(void *arg)
{
	struct worker_of_test *worker = arg;
	struct tls_runner *runner = job_queue_runner(worker->queue);

	while (worker->unsent) {
		struct sum_job *job = malloc(sizeof(*job));

		*job = (struct sum_job){.worker = worker, .number = worker->unsent};
		if (runner->run(runner, worker->loop, square, add_square, job)) {
			free(job);
			loop_timer_set(worker->loop, worker->timer, 1000);
			return;
		}
		worker->unsent--;
	}
}

static void *worker_run(void *arg)
{
	struct worker_of_test *worker = arg;

	worker->queue = job_queue_new(threads, worker->loop, event_loop_post);
	worker->timer = loop_timer_new(worker->loop, send_jobs, worker);
	loop_timer_set(worker->loop, worker->timer, 0);
	event_loop_run(worker->loop);
	loop_timer_free(worker->loop, worker->timer);
	job_queue_free(worker->queue);
	event_loop_free(worker->loop);
	return NULL;
}

START_TEST(loops_share_the_threads)
{
	struct worker_of_test workers[LOOPS];
	unsigned expected = 0;

	begin(JOB_THREADS_MAX);
	for (unsigned i = 1; i <= JOBS; i++)
		expected += i * i;
	for (unsigned i = 0; i < LOOPS; i++) {
		workers[i] = (struct worker_of_test){
			.loop = event_loop_new(), .left = JOBS, .unsent = JOBS};
		ck_assert_int_eq(thread_start("test", worker_run, &workers[i], &workers[i].thread),
				 0);
	}
	for (unsigned i = 0; i < LOOPS; i++) {
		pthread_join(workers[i].thread, NULL);
		ck_assert_uint_eq(workers[i].sum, expected);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("job_threads");
	TCase *tc = tcase_create("job_threads");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, work_runs_on_a_thread_of_low_priority_and_its_end_on_the_loop);
	tcase_add_test(tc, threads_start_as_jobs_need_them_up_to_their_number);
	tcase_add_test(tc, two_jobs_at_once_start_two_threads);
	tcase_add_test(tc, a_full_queue_takes_no_job_and_delays_the_others_by_one);
	tcase_add_test(tc, an_end_is_reported_however_often_there_is_no_memory);
	tcase_add_test(tc, a_queue_is_freed_while_there_is_no_memory_for_its_ends);
	tcase_add_test(tc, a_freed_queue_waits_for_running_jobs_and_omits_waiting_ones);
	tcase_add_test(tc, other_queues_go_on_after_one_was_freed);
	tcase_add_test(tc, a_queue_can_be_freed_with_its_ends_on_the_way);
	tcase_add_test(tc, a_queue_can_be_freed_by_one_of_its_ends);
	tcase_add_test(tc, loops_share_the_threads);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

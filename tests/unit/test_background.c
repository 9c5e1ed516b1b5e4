// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests blocking work on a helper thread: the loop keeps running, and gets an event at the end of
 * the work unless the work was detached.
 */
#include "daemon/base/background.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "daemon/base/loop.h"
#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"

static struct loop *loop;
static struct background *background;
static struct loop_timer *timer;
static sem_t go_on;
static atomic_uint begun, dropped;
static unsigned dones, turns;
static pthread_t ran_on;

static void run(void *arg)
{
	ran_on = pthread_self();
	atomic_fetch_add(&begun, 1);
	sem_wait(&go_on);
}

static void on_done(void *arg)
{
	ck_assert_ptr_eq(arg, &go_on);
	ck_assert(!pthread_equal(ran_on, pthread_self()));
	dones++;
	event_loop_stop(loop);
}

static void on_drop(void *arg)
{
	ck_assert_ptr_eq(arg, &go_on);
	atomic_fetch_add(&dropped, 1);
}

/* A few turns of the loop while the work blocks; then it may go on. */
static void on_timer(void *arg)
{
	if (++turns == 5)
		sem_post(&go_on);
	loop_timer_set(loop, timer, 1000);
}

static void start(void)
{
	const struct background_work work = {
		.run = run, .done = on_done, .drop = on_drop, .arg = &go_on};

	ck_assert_int_eq(background_start(loop, "test", &work, &background), 0);
}

static void setup(void)
{
	sem_init(&go_on, 0, 0);
	atomic_store(&begun, 0);
	atomic_store(&dropped, 0);
	dones = turns = 0;
	loop = event_loop_new();
	ck_assert_ptr_nonnull(loop);
	timer = loop_timer_new(loop, on_timer, NULL);
	ck_assert_ptr_nonnull(timer);
}

static void end_loop(void)
{
	loop_timer_free(loop, timer);
	event_loop_free(loop);
	loop = NULL;
}

static void teardown(void)
{
	if (loop)
		end_loop();
	sem_destroy(&go_on);
}

static void await(atomic_uint *count)
{
	struct time_limit limit;

	time_limit_begin(&limit, 20);
	while (!atomic_load(count)) {
		ck_assert(!time_limit_passed(&limit));
		sched_yield();
	}
}

START_TEST(the_loop_turns_while_the_work_blocks)
{
	start();
	loop_timer_set(loop, timer, 1000);
	event_loop_run(loop);
	ck_assert_uint_eq(dones, 1);
	ck_assert_uint_ge(turns, 5);
	ck_assert_uint_eq(atomic_load(&dropped), 0);
}
END_TEST

START_TEST(a_loop_can_end_before_the_work)
{
	start();
	await(&begun);
	background_detach(background);
	end_loop();
	ck_assert_uint_eq(atomic_load(&dropped), 0);
	sem_post(&go_on);
	await(&dropped);
	ck_assert_uint_eq(dones, 0);
}
END_TEST

/* Before, while and after it tells the loop. */
START_TEST(a_job_is_dropped_exactly_once_at_any_stage)
{
	sem_post(&go_on);
	start();
	await(&begun);
	for (int i = 0; i < _i; i++)
		sched_yield();
	background_detach(background);
	end_loop();
	await(&dropped);
	ck_assert_uint_eq(atomic_load(&dropped), 1);
	ck_assert_uint_eq(dones, 0);
}
END_TEST

static unsigned threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned count = 0;

	ck_assert_ptr_nonnull(dir);
	for (const struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

START_TEST(a_result_for_a_stopped_loop_is_dropped)
{
	unsigned before = threads();
	struct time_limit limit;

	sem_post(&go_on);
	start();
	time_limit_begin(&limit, 20);
	while (threads() > before || !atomic_load(&begun)) {
		ck_assert(!time_limit_passed(&limit));
		sched_yield();
	}
	background_detach(background);
	end_loop();
	ck_assert_uint_eq(atomic_load(&dropped), 1);
	ck_assert_uint_eq(dones, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("background");
	TCase *tc = tcase_create("background");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_loop_turns_while_the_work_blocks);
	tcase_add_test(tc, a_loop_can_end_before_the_work);
	tcase_add_loop_test(tc, a_job_is_dropped_exactly_once_at_any_stage, 0, 40);
	tcase_add_test(tc, a_result_for_a_stopped_loop_is_dropped);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the daemon's loop: order within an iteration, freeing inside callbacks, posting from other
 * threads.
 */
#include "daemon/base/loop.h"
#include "tests/lib/test.h"

#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct loop *loop;
static int fds[2];
static char trace[64];
static struct loop_io *io;
static struct loop_timer *timer;
static struct loop_task task;

static void mark(const char *what)
{
	strncat(trace, what, sizeof(trace) - strlen(trace) - 1);
}

static void stop(void *arg)
{
	event_loop_stop(loop);
}

static void setup(void)
{
	loop = event_loop_new();
	ck_assert_ptr_nonnull(loop);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	trace[0] = '\0';
	io = NULL;
	timer = NULL;
}

static void teardown(void)
{
	loop_io_free(loop, io);
	loop_timer_free(loop, timer);
	event_loop_free(loop);
	close(fds[0]);
	close(fds[1]);
}

static void task_once(void *arg)
{
	mark("T");
	event_loop_stop(loop);
}

static void timer_marks(void *arg)
{
	mark("t");
	loop_defer(loop, &task);
}

static void read_marks(void *arg, unsigned events)
{
	mark(events & LOOP_READ ? "r" : "w");
	if (events & LOOP_READ)
		loop_io_set(loop, io, 0);
	loop_defer(loop, &task);
}

START_TEST(tasks_run_after_the_callbacks_of_their_turn)
{
	loop_task_init(&task, task_once, NULL);
	io = loop_io_new(loop, fds[0], read_marks, NULL);
	timer = loop_timer_new(loop, timer_marks, NULL);
	loop_timer_set(loop, timer, 0);
	loop_io_set(loop, io, LOOP_READ);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	event_loop_run(loop);
	ck_assert_str_eq(trace, "rtT");
}
END_TEST

static void task_again(void *arg)
{
	int *left = arg;

	if (--*left > 0)
		loop_defer(loop, &task);
	else
		event_loop_stop(loop);
}

/* The run would never end if it slept before a task that is queued. */
START_TEST(the_loop_does_not_sleep_while_tasks_remain)
{
	int left = 1000;

	loop_task_init(&task, task_again, &left);
	loop_defer(loop, &task);
	event_loop_run(loop);
	ck_assert_int_eq(left, 0);
}
END_TEST

static void level_count(void *arg, unsigned events)
{
	int *count = arg;
	char byte;

	ck_assert_uint_eq(events, LOOP_READ);
	ck_assert_int_eq(read(fds[0], &byte, 1), 1);
	if (++*count == 3)
		event_loop_stop(loop);
}

START_TEST(a_descriptor_is_reported_as_long_as_it_is_ready)
{
	int count = 0;

	io = loop_io_new(loop, fds[0], level_count, &count);
	loop_io_set(loop, io, LOOP_READ);
	ck_assert_int_eq(write(fds[1], "abc", 3), 3);
	event_loop_run(loop);
	ck_assert_int_eq(count, 3);
}
END_TEST

static void write_then_read(void *arg, unsigned events)
{
	mark(events == LOOP_READ ? "r" : events == LOOP_WRITE ? "w" : "?");
	if (events == LOOP_WRITE) {
		loop_io_set(loop, io, LOOP_READ);
		ck_assert_int_eq(write(fds[1], "x", 1), 1);
	} else {
		loop_io_set(loop, io, 0);
		event_loop_stop(loop);
	}
}

START_TEST(exactly_the_events_that_were_set_are_watched)
{
	io = loop_io_new(loop, fds[0], write_then_read, NULL);
	loop_io_set(loop, io, LOOP_WRITE);
	event_loop_run(loop);
	ck_assert_str_eq(trace, "wr");
}
END_TEST

static void free_both_ways(void *arg, unsigned events)
{
	mark("x");
	loop_io_free(loop, io);
	io = NULL;
	loop_timer_set(loop, timer, 0);
}

static void free_timer(void *arg)
{
	mark("f");
	loop_timer_free(loop, timer);
	timer = NULL;
	event_loop_stop(loop);
}

/* Readable and writable at once: the callback for one way frees the watch, the other never comes. */
START_TEST(watches_and_timers_may_be_freed_in_their_own_callback)
{
	io = loop_io_new(loop, fds[0], free_both_ways, NULL);
	timer = loop_timer_new(loop, free_timer, NULL);
	loop_io_set(loop, io, LOOP_READ | LOOP_WRITE);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	event_loop_run(loop);
	ck_assert_str_eq(trace, "xf");
}
END_TEST

static void timer_checks(void *arg)
{
	uint64_t *due_us = arg;

	ck_assert_uint_ge(loop_now_us(loop), *due_us);
	event_loop_stop(loop);
}

START_TEST(a_timer_is_never_early_and_a_cleared_one_is_silent)
{
	struct loop_timer *silent = loop_timer_new(loop, timer_marks, NULL);
	uint64_t due_us;

	timer = loop_timer_new(loop, timer_checks, &due_us);
	for (unsigned i = 1; i <= 10; i++) {
		loop_timer_set(loop, silent, 0);
		loop_timer_clear(loop, silent);
		due_us = loop_now_us(loop) + i * 100;
		loop_timer_set(loop, timer, i * 100);
		event_loop_run(loop);
	}
	loop_timer_free(loop, silent);
	ck_assert_str_eq(trace, "");
}
END_TEST

static void time_stands(void *arg)
{
	uint64_t now_us = loop_now_us(loop);

	for (volatile int i = 0; i < 100000; i++)
		;
	ck_assert_uint_eq(loop_now_us(loop), now_us);
	event_loop_stop(loop);
}

START_TEST(the_time_stands_still_within_a_turn)
{
	timer = loop_timer_new(loop, time_stands, NULL);
	loop_timer_set(loop, timer, 0);
	event_loop_run(loop);
}
END_TEST

#define POSTERS 4
#define POSTS   2000

struct poster {
	pthread_t thread;
	int next; /* which post is due: the loop's thread alone looks at it */
};

struct post {
	struct poster *poster;
	int number;
};

static int posts_run;

static void count_post(void *arg)
{
	struct post *post = arg;

	ck_assert_int_eq(post->number, post->poster->next++);
	free(post);
	if (++posts_run == POSTERS * POSTS)
		event_loop_stop(loop);
}

static void *post_many(void *arg)
{
	for (int i = 0; i < POSTS; i++) {
		struct post *post = malloc(sizeof(*post));

		*post = (struct post){arg, i};
		if (event_loop_post(loop, count_post, post))
			abort();
	}
	return NULL;
}

START_TEST(posts_from_threads_run_once_each_in_order)
{
	struct poster posters[POSTERS] = {0};

	posts_run = 0;
	for (int i = 0; i < POSTERS; i++)
		ck_assert_int_eq(pthread_create(&posters[i].thread, NULL, post_many, &posters[i]),
				 0);
	event_loop_run(loop);
	for (int i = 0; i < POSTERS; i++)
		pthread_join(posters[i].thread, NULL);
	ck_assert_int_eq(posts_run, POSTERS * POSTS);
}
END_TEST

static void *post_stop(void *arg)
{
	return event_loop_post(loop, stop, NULL) ? arg : NULL;
}

START_TEST(a_post_wakes_a_loop_that_sleeps)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, post_stop, NULL), 0);
	event_loop_run(loop);
	pthread_join(thread, NULL);
}
END_TEST

static char post_a[] = "a", post_b[] = "b", post_c[] = "c";

static void mark_post(void *arg)
{
	mark(arg);
	if (arg == post_a)
		ck_assert_int_eq(event_loop_post(loop, mark_post, post_c), 0);
}

START_TEST(tasks_posted_before_free_are_run)
{
	struct loop *keep = event_loop_new();
	struct loop *gone = loop;

	ck_assert_int_eq(event_loop_post(gone, mark_post, post_a), 0);
	ck_assert_int_eq(event_loop_post(gone, mark_post, post_b), 0);
	event_loop_free(gone);
	loop = keep;
	ck_assert_str_eq(trace, "abc");
}
END_TEST

/* ---- without memory ---- */

static bool no_memory;

static void *try_malloc(size_t bytes)
{
	return no_memory ? NULL : malloc(bytes);
}

static void *try_realloc(void *old, size_t bytes)
{
	return no_memory ? NULL : realloc(old, bytes);
}

static void setup_memory(void)
{
	event_set_mem_functions(try_malloc, try_realloc, free);
	no_memory = false;
	setup();
}

static void mark_events(void *arg, unsigned events)
{
	mark(events == LOOP_ERROR ? "e" : events == LOOP_READ ? "r" : "?");
	event_loop_stop(loop);
}

static void free_io(void *arg, unsigned events)
{
	mark(events == LOOP_ERROR ? "e" : "?");
	loop_io_free(loop, io);
	io = NULL;
	event_loop_stop(loop);
}

START_TEST(a_watch_failure_is_reported_once_and_can_be_retried)
{
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	io = loop_io_new(loop, fds[0], mark_events, NULL);
	no_memory = true;
	loop_io_set(loop, io, LOOP_READ);
	ck_assert_str_eq(trace, "");
	event_loop_run(loop);
	ck_assert_str_eq(trace, "e");
	loop_io_set(loop, io, LOOP_READ);
	event_loop_run(loop);
	ck_assert_str_eq(trace, "ee");
	no_memory = false;
	loop_io_set(loop, io, LOOP_READ);
	event_loop_run(loop);
	ck_assert_str_eq(trace, "eer");
}
END_TEST

/* Of the kernel's own errors: it does not watch a file. */
START_TEST(an_unwatchable_descriptor_is_reported)
{
	char path[] = "/tmp/test-loop-XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	io = loop_io_new(loop, fd, free_io, NULL);
	loop_io_set(loop, io, LOOP_READ | LOOP_WRITE);
	event_loop_run(loop);
	ck_assert_str_eq(trace, "e");
	close(fd);
}
END_TEST

START_TEST(a_cancelled_watch_gets_no_events)
{
	io = loop_io_new(loop, fds[0], mark_events, NULL);
	no_memory = true;
	loop_io_set(loop, io, LOOP_READ);
	if (_i) {
		loop_io_set(loop, io, 0);
	} else {
		loop_io_free(loop, io);
		io = NULL;
	}
	loop_task_init(&task, task_once, NULL);
	loop_defer(loop, &task);
	event_loop_run(loop);
	ck_assert_str_eq(trace, "T");
}
END_TEST

#define TIMERS 100u

static unsigned fired;
static uint64_t fired_us[TIMERS];

static void on_one_of_many(void *arg)
{
	fired_us[(size_t)arg] = loop_now_us(loop);
	if (++fired == TIMERS - 1)
		event_loop_stop(loop);
}

/* More than libevent has room for when it can have no more. */
START_TEST(timers_fire_also_without_memory_for_them)
{
	struct loop_timer *timers[TIMERS];
	uint64_t start_us, due_us[TIMERS];

	fired = 0;
	for (size_t i = 0; i < TIMERS; i++)
		timers[i] = loop_timer_new(loop, on_one_of_many, (void *)i);
	no_memory = true;
	start_us = loop_now_us(loop);
	for (size_t i = 0; i < TIMERS; i++) {
		due_us[i] = start_us + 1000 * (TIMERS - i);
		loop_timer_set(loop, timers[i], 1000 * (TIMERS - i));
	}
	loop_timer_clear(loop, timers[TIMERS / 2]);
	event_loop_run(loop);
	for (size_t i = 0; i < TIMERS; i++) {
		if (i == TIMERS / 2)
			ck_assert_uint_eq(fired_us[i], 0);
		else
			ck_assert_uint_ge(fired_us[i], due_us[i]);
		loop_timer_free(loop, timers[i]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_loop");
	TCase *tc = tcase_create("event_loop");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, tasks_run_after_the_callbacks_of_their_turn);
	tcase_add_test(tc, the_loop_does_not_sleep_while_tasks_remain);
	tcase_add_test(tc, a_descriptor_is_reported_as_long_as_it_is_ready);
	tcase_add_test(tc, exactly_the_events_that_were_set_are_watched);
	tcase_add_test(tc, watches_and_timers_may_be_freed_in_their_own_callback);
	tcase_add_test(tc, a_timer_is_never_early_and_a_cleared_one_is_silent);
	tcase_add_test(tc, the_time_stands_still_within_a_turn);
	tcase_add_test(tc, posts_from_threads_run_once_each_in_order);
	tcase_add_test(tc, a_post_wakes_a_loop_that_sleeps);
	tcase_add_test(tc, tasks_posted_before_free_are_run);
	suite_add_tcase(suite, tc);
	tc = tcase_create("without memory");
	tcase_add_checked_fixture(tc, setup_memory, teardown);
	tcase_add_test(tc, a_watch_failure_is_reported_once_and_can_be_retried);
	tcase_add_test(tc, an_unwatchable_descriptor_is_reported);
	tcase_add_loop_test(tc, a_cancelled_watch_gets_no_events, 0, 2);
	tcase_add_test(tc, timers_fire_also_without_memory_for_them);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

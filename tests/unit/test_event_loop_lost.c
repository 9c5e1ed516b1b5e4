// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests that the daemon's loop reports the loss of a connection that is not read immediately, and
 * still sleeps.
 */
#include "daemon/base/loop.h"
#include "tests/lib/test.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUIET_US  50000u /* of which the loop is to sleep all but a few turns */
#define QUIET_MAX 12u    /* turns: those of the timer, and of what was on its way */
#define MANY      200u

/* libevent comes to these instead of the C library's. */

static unsigned turns, asked;

int epoll_wait(int fd, struct epoll_event *events, int maxevents, int timeout)
{
	turns++;
	return (int)syscall(SYS_epoll_pwait, fd, events, maxevents, timeout, NULL, 0);
}

int epoll_ctl(int fd, int op, int of, struct epoll_event *event)
{
	asked++;
	return (int)syscall(SYS_epoll_ctl, fd, op, of, event);
}

struct watched {
	int fd, peer;
	struct loop_io *io;
	unsigned told, events;
	struct watched *free_too; /* with itself, when it is called */
};

static struct loop *loop;
static struct loop_timer *timer;
static int listener;
static struct watched one;
static unsigned told;

static void on_time(void *arg)
{
	event_loop_stop(loop);
}

static void unwatch(struct watched *w)
{
	loop_io_free(loop, w->io);
	w->io = NULL;
}

static void on_event(void *arg, unsigned events)
{
	struct watched *w = arg;

	w->told++;
	w->events |= events;
	told++;
	if (w->free_too) {
		unwatch(w->free_too);
		unwatch(w);
	}
}

static void connect_one(struct watched *w)
{
	struct sockaddr_in in;
	socklen_t len = sizeof(in);

	memset(w, 0, sizeof(*w));
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&in, &len), 0);
	w->peer = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(w->peer, (struct sockaddr *)&in, len), 0);
	w->fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	ck_assert_int_ge(w->fd, 0);
	w->io = loop_io_new(loop, w->fd, on_event, w);
}

static void disconnect(struct watched *w)
{
	loop_io_free(loop, w->io);
	close(w->fd);
	if (w->peer >= 0)
		close(w->peer);
}

static void reset(struct watched *w)
{
	const struct linger linger = {.l_onoff = 1};

	setsockopt(w->peer, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(w->peer);
	w->peer = -1;
}

static void setup(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	loop = event_loop_new();
	timer = loop_timer_new(loop, on_time, NULL);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&in, sizeof(in)), 0);
	ck_assert_int_eq(listen(listener, 16), 0);
	connect_one(&one);
	told = 0;
}

static void teardown(void)
{
	disconnect(&one);
	loop_timer_free(loop, timer);
	event_loop_free(loop);
	close(listener);
}

/* Lets the loop run for a while; returns how often it came round. */
static unsigned run(void)
{
	turns = 0;
	loop_timer_set(loop, timer, QUIET_US);
	event_loop_run(loop);
	ck_assert_uint_gt(turns, 0);
	return turns;
}

static void fill(int fd)
{
	static char bytes[65536];

	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
}

#define AFTER_BYTES 1
#define AFTER_FIN   2
#define WHILE_FULL  4
#define AFTER_READ  8 /* reading was wanted before */
#define ALL_WAYS    (AFTER_BYTES | AFTER_FIN | WHILE_FULL | AFTER_READ)

static void want_reading(int way)
{
	if (way & AFTER_READ)
		loop_io_set(loop, one.io, LOOP_READ);
}

START_TEST(a_reset_is_heard_and_nothing_before_it)
{
	want_reading(_i);
	loop_io_set(loop, one.io, LOOP_LOST);
	if (_i & WHILE_FULL)
		fill(one.fd);
	if (_i & AFTER_BYTES)
		ck_assert_int_eq(send(one.peer, "unread", 6, 0), 6);
	if (_i & AFTER_FIN)
		ck_assert_int_eq(shutdown(one.peer, SHUT_WR), 0);
	ck_assert_uint_le(run(), QUIET_MAX);
	ck_assert_uint_eq(one.told, 0);
	reset(&one);
	ck_assert_uint_le(run(), QUIET_MAX);
	ck_assert_uint_eq(one.told, 1);
	ck_assert_uint_eq(one.events, LOOP_LOST);
	/* It is watched still. */
	ck_assert_uint_le(run(), QUIET_MAX);
	ck_assert_uint_eq(one.told, 1);
}
END_TEST

START_TEST(the_end_of_the_peers_data_is_reported_once)
{
	want_reading(_i);
	loop_io_set(loop, one.io, LOOP_LOST | LOOP_END);
	if (_i & WHILE_FULL)
		fill(one.fd);
	if (_i & AFTER_BYTES)
		ck_assert_int_eq(send(one.peer, "unread", 6, 0), 6);
	ck_assert_uint_le(run(), QUIET_MAX);
	ck_assert_uint_eq(one.told, 0);
	if (_i & AFTER_FIN)
		loop_io_set(loop, one.io, 0);
	ck_assert_int_eq(shutdown(one.peer, SHUT_WR), 0);
	ck_assert_uint_le(run(), QUIET_MAX);
	loop_io_set(loop, one.io, 0);
	loop_io_set(loop, one.io, LOOP_LOST | LOOP_END);
	ck_assert_uint_le(run(), QUIET_MAX);
	ck_assert_uint_eq(one.told, 1);
	ck_assert_uint_eq(one.events, LOOP_END);
	reset(&one);
	ck_assert_uint_le(run(), QUIET_MAX);
	ck_assert_uint_eq(one.told, 2);
	ck_assert_uint_eq(one.events, LOOP_END | LOOP_LOST);
}
END_TEST

/* While it is full only the watched event can report it, and that is readiness for writing. */
START_TEST(a_full_descriptor_gets_both_events)
{
	fill(one.fd);
	want_reading(_i ? AFTER_READ : 0);
	loop_io_set(loop, one.io, LOOP_LOST | LOOP_WRITE);
	ck_assert_uint_le(run(), QUIET_MAX);
	ck_assert_uint_eq(one.told, 0);
	reset(&one);
	run();
	ck_assert_uint_eq(one.events, LOOP_LOST | LOOP_WRITE);
}
END_TEST

START_TEST(an_unwatched_loss_is_reported_when_watched)
{
	loop_io_set(loop, one.io, LOOP_LOST);
	loop_io_set(loop, one.io, 0);
	reset(&one);
	run();
	ck_assert_uint_eq(one.told, 0);
	for (unsigned i = 1; i <= 3; i++) {
		loop_io_set(loop, one.io, LOOP_LOST);
		ck_assert_uint_eq(one.told, i - 1);
		run();
		ck_assert_uint_eq(one.told, i);
		loop_io_set(loop, one.io, 0);
	}
	/* Not by one that takes it back in the same turn. */
	loop_io_set(loop, one.io, LOOP_LOST);
	loop_io_set(loop, one.io, 0);
	run();
	ck_assert_uint_eq(one.told, 3);
}
END_TEST

START_TEST(only_the_first_watch_is_a_system_call)
{
	asked = 0;
	for (unsigned i = 0; i < 1000; i++)
		loop_io_set(loop, one.io, i % 2 ? LOOP_LOST : 0);
	ck_assert_uint_eq(asked, 1);
	/* Reading has its own, as ever. */
	loop_io_set(loop, one.io, LOOP_READ);
	ck_assert_uint_eq(asked, 2);
}
END_TEST

/* As a connection does whose input is blocked now and then, with nothing to be read meanwhile. */
START_TEST(reading_that_is_wanted_again_is_a_system_call_only_after_bytes)
{
	asked = 0;
	for (unsigned i = 0; i < 1000; i++)
		loop_io_set(loop, one.io, i % 2 ? LOOP_LOST | LOOP_END : LOOP_READ);
	ck_assert_uint_eq(asked, 1);
	ck_assert_int_eq(send(one.peer, "unread", 6, 0), 6);
	ck_assert_uint_le(run(), QUIET_MAX);
	ck_assert_uint_eq(one.told, 0);
	ck_assert_uint_eq(asked, 3);
	loop_io_set(loop, one.io, LOOP_READ);
	ck_assert_uint_eq(asked, 4);
	run();
	ck_assert_uint_gt(one.told, 0);
	ck_assert_uint_eq(one.events, LOOP_READ);
}
END_TEST

START_TEST(all_losses_of_one_iteration_are_reported)
{
	struct watched *many = calloc(MANY, sizeof(*many));

	for (unsigned i = 0; i < MANY; i++) {
		connect_one(&many[i]);
		loop_io_set(loop, many[i].io, LOOP_LOST);
	}
	for (unsigned i = 0; i < MANY; i++)
		reset(&many[i]);
	ck_assert_uint_le(run(), QUIET_MAX + 2 * MANY / 64);
	ck_assert_uint_eq(told, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		ck_assert_uint_eq(many[i].told, 1);
		disconnect(&many[i]);
	}
	free(many);
}
END_TEST

START_TEST(a_callback_can_free_another_lost_descriptor)
{
	struct watched other;

	connect_one(&other);
	one.free_too = &other;
	other.free_too = &one;
	loop_io_set(loop, one.io, LOOP_LOST);
	loop_io_set(loop, other.io, LOOP_LOST);
	reset(&one);
	reset(&other);
	run();
	ck_assert_uint_eq(told, 1);
	disconnect(&other);
}
END_TEST

/* Not of sockets: the kernel watches no file. */
START_TEST(an_unwatchable_descriptor_is_reported)
{
	struct watched file = {.peer = -1};
	char path[] = "/tmp/test-lost-XXXXXX";

	file.fd = mkstemp(path);
	unlink(path);
	file.io = loop_io_new(loop, file.fd, on_event, &file);
	loop_io_set(loop, file.io, LOOP_LOST);
	ck_assert_uint_eq(file.told, 0);
	run();
	ck_assert_uint_eq(file.told, 1);
	ck_assert_uint_eq(file.events, LOOP_ERROR);
	disconnect(&file);
}
END_TEST

/* It may come while only a loss is waited for. */
START_TEST(an_unwatched_end_is_reported_when_watched)
{
	loop_io_set(loop, one.io, LOOP_LOST);
	ck_assert_int_eq(shutdown(one.peer, SHUT_WR), 0);
	ck_assert_uint_le(run(), QUIET_MAX);
	ck_assert_uint_eq(one.told, 0);
	loop_io_set(loop, one.io, LOOP_LOST | LOOP_END);
	ck_assert_uint_le(run(), QUIET_MAX);
	ck_assert_uint_eq(one.told, 1);
	ck_assert_uint_eq(one.events, LOOP_END);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_loop_lost");
	TCase *tc = tcase_create("lost");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_reset_is_heard_and_nothing_before_it, 0, ALL_WAYS + 1);
	tcase_add_loop_test(tc, the_end_of_the_peers_data_is_reported_once, 0, ALL_WAYS + 1);
	tcase_add_loop_test(tc, a_full_descriptor_gets_both_events, 0, 2);
	tcase_add_test(tc, an_unwatched_loss_is_reported_when_watched);
	tcase_add_test(tc, an_unwatched_end_is_reported_when_watched);
	tcase_add_test(tc, only_the_first_watch_is_a_system_call);
	tcase_add_test(tc, reading_that_is_wanted_again_is_a_system_call_only_after_bytes);
	tcase_add_test(tc, all_losses_of_one_iteration_are_reported);
	tcase_add_test(tc, a_callback_can_free_another_lost_descriptor);
	tcase_add_test(tc, an_unwatchable_descriptor_is_reported);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests the tarpit: rejected connections stay open for a moment, and are then closed. */
#include "daemon/service/lobby.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

#define MANY (DOOR_HELD_MAX + 44u)

static struct service_config config = {.max_connections = 1};
static struct loop *loop;
static struct door door;
static struct lobby lobby;
static int clients[MANY];
static unsigned wakes;

static void wake(void *arg)
{
	wakes++;
}

static void setup(void)
{
	loop = fake_loop_new();
	wakes = 0;
	ck_assert_int_eq(door_init(&door, &config), 0);
	ck_assert_int_eq(lobby_init(&lobby, loop, &door, wake, NULL), 0);
}

static unsigned held(void)
{
	struct door_counts counts;

	door_counts_get(&door, &counts);
	ck_assert_uint_eq(counts.held, lobby.count);
	return counts.held;
}

static void teardown(void)
{
	lobby_fini(&lobby);
	ck_assert_uint_eq(held(), 0);
	door_fini(&door);
	fake_loop_free(loop);
}

static int come(void)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	lobby_hold(&lobby, &(struct incoming){.fd = fds[1]}, LEG_CLOSE_NOT_ALLOWED);
	return fds[0];
}

static bool is_open(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0) < 0 && errno == EAGAIN;
}

START_TEST(each_is_held_for_the_same_time)
{
	int first = come(), second, third;

	fake_loop_advance(loop, 200000);
	second = come();
	third = come();
	fake_loop_advance(loop, 299999);
	ck_assert(is_open(first) && is_open(second));
	fake_loop_advance(loop, 1);
	ck_assert(!is_open(first) && is_open(second) && is_open(third));
	ck_assert_uint_eq(held(), 2);
	fake_loop_advance(loop, 199999);
	ck_assert(is_open(second) && is_open(third));
	fake_loop_advance(loop, 1);
	ck_assert(!is_open(second) && !is_open(third));
	ck_assert_uint_eq(held(), 0);
	/* And again, once it was empty. */
	close(first);
	first = come();
	fake_loop_advance(loop, 499999);
	ck_assert(is_open(first));
	fake_loop_advance(loop, 1);
	ck_assert(!is_open(first));
	close(first);
	close(second);
	close(third);
}
END_TEST

START_TEST(of_too_many_the_oldest_goes_at_once)
{
	for (unsigned i = 0; i < MANY; i++) {
		clients[i] = come();
		fake_loop_advance(loop, 1000);
	}
	ck_assert_uint_eq(held(), DOOR_HELD_MAX);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(is_open(clients[i]), i >= MANY - DOOR_HELD_MAX);
	/* The others have their time. */
	fake_loop_advance(loop, DOOR_HOLD_US - 1000 * DOOR_HELD_MAX);
	ck_assert(!is_open(clients[MANY - DOOR_HELD_MAX]));
	ck_assert(is_open(clients[MANY - DOOR_HELD_MAX + 1]));
	fake_loop_advance(loop, DOOR_HOLD_US);
	ck_assert_uint_eq(held(), 0);
	for (unsigned i = 0; i < MANY; i++)
		close(clients[i]);
}
END_TEST

/* Bridges are held by the same door, on other threads. */
START_TEST(one_that_goes_for_another_threads_is_looked_for)
{
	struct guest *others[DOOR_HELD_MAX];
	struct door_side side;
	int first = come();

	door_side_init(&side, NULL, NULL);
	for (unsigned i = 0; i < DOOR_HELD_MAX; i++)
		others[i] = door_enter_held(&door, &side, NULL, 0);
	ck_assert_uint_eq(wakes, 1);
	ck_assert(is_open(first));
	lobby_look(&lobby);
	ck_assert(!is_open(first));
	for (unsigned i = 0; i < DOOR_HELD_MAX; i++)
		door_leave(others[i]);
	close(first);
}
END_TEST

START_TEST(the_end_of_the_lobby_is_that_of_all)
{
	for (unsigned i = 0; i < 10; i++)
		clients[i] = come();
	lobby_fini(&lobby);
	for (unsigned i = 0; i < 10; i++) {
		ck_assert(!is_open(clients[i]));
		close(clients[i]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lobby");
	TCase *tc = tcase_create("lobby");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_is_held_for_the_same_time);
	tcase_add_test(tc, of_too_many_the_oldest_goes_at_once);
	tcase_add_test(tc, one_that_goes_for_another_threads_is_looked_for);
	tcase_add_test(tc, the_end_of_the_lobby_is_that_of_all);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

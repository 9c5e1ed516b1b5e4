// SPDX-License-Identifier: BSD-3-Clause
/* Tests the tarpit: rejected connections stay open for a moment, and are then closed. */
#include "daemon/service/tarpit.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

#define MANY (CONN_LIMITS_TARPIT_MAX + 44u)

static struct service_config config = {.max_connections = 1};
static struct loop *loop;
static struct conn_limits limits;
static struct tarpit tarpit;
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
	ck_assert_int_eq(conn_limits_init(&limits, &config), 0);
	ck_assert_int_eq(tarpit_init(&tarpit, loop, &limits, wake, NULL), 0);
}

static unsigned held(void)
{
	struct conn_limits_counts counts;

	conn_limits_counts_get(&limits, &counts);
	ck_assert_uint_eq(counts.tarpit, tarpit.count);
	return counts.tarpit;
}

static void teardown(void)
{
	tarpit_fini(&tarpit);
	ck_assert_uint_eq(held(), 0);
	conn_limits_fini(&limits);
	fake_loop_free(loop);
}

static int come(void)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	tarpit_add(&tarpit, &(struct accepted_conn){.fd = fds[1]}, LEG_CLOSE_NOT_ALLOWED);
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
	ck_assert_uint_eq(held(), CONN_LIMITS_TARPIT_MAX);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(is_open(clients[i]), i >= MANY - CONN_LIMITS_TARPIT_MAX);
	/* The others have their time. */
	fake_loop_advance(loop, CONN_LIMITS_TARPIT_US - 1000 * CONN_LIMITS_TARPIT_MAX);
	ck_assert(!is_open(clients[MANY - CONN_LIMITS_TARPIT_MAX]));
	ck_assert(is_open(clients[MANY - CONN_LIMITS_TARPIT_MAX + 1]));
	fake_loop_advance(loop, CONN_LIMITS_TARPIT_US);
	ck_assert_uint_eq(held(), 0);
	for (unsigned i = 0; i < MANY; i++)
		close(clients[i]);
}
END_TEST

/* Bridges are held by the same door, on other threads. */
START_TEST(the_tarpit_evicts_for_connections_of_other_threads)
{
	struct conn_slot *others[CONN_LIMITS_TARPIT_MAX];
	struct conn_limits_thread side;
	int first = come();

	conn_limits_thread_init(&side, NULL, NULL);
	for (unsigned i = 0; i < CONN_LIMITS_TARPIT_MAX; i++)
		others[i] = conn_limits_add_tarpit(&limits, &side, NULL, 0);
	ck_assert_uint_eq(wakes, 1);
	ck_assert(is_open(first));
	tarpit_evict(&tarpit);
	ck_assert(!is_open(first));
	for (unsigned i = 0; i < CONN_LIMITS_TARPIT_MAX; i++)
		conn_slot_free(others[i]);
	close(first);
}
END_TEST

START_TEST(the_end_of_the_lobby_is_that_of_all)
{
	for (unsigned i = 0; i < 10; i++)
		clients[i] = come();
	tarpit_fini(&tarpit);
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
	tcase_add_test(tc, the_tarpit_evicts_for_connections_of_other_threads);
	tcase_add_test(tc, the_end_of_the_lobby_is_that_of_all);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

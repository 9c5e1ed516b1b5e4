// SPDX-License-Identifier: BSD-3-Clause
/* Tests which reserved ports are free for a destination, and the order of their use. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "stream/reserved_ports.h"
#include "tests/lib/test.h"

#define THREADS 4u
#define ROUNDS  20000u
#define HELD    60u /* ports of a thread at once */

static const struct sockaddr_storage nowhere;
static struct reserved_ports *reserved_ports;
static struct reserved_ports_map *map;
static uint64_t now_us;

static struct sockaddr_storage address(const char *text, uint16_t port)
{
	struct sockaddr_storage addr = {0};
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr;

	if (inet_pton(AF_INET, text, &in->sin_addr) == 1)
		in->sin_family = AF_INET;
	else
		in6->sin6_family = AF_INET6;
	if (in6->sin6_family == AF_INET6)
		ck_assert_int_eq(inet_pton(AF_INET6, text, &in6->sin6_addr), 1);
	in->sin_port = htons(port);
	return addr;
}

static struct reserved_ports_map *get(const char *text, uint16_t port)
{
	struct sockaddr_storage addr = address(text, port);
	struct reserved_ports_map *got =
		reserved_ports_map_get(reserved_ports, &addr, &nowhere, now_us);

	ck_assert_ptr_nonnull(got);
	return got;
}

static void setup(void)
{
	now_us = 5000000;
	reserved_ports = reserved_ports_new();
	ck_assert_ptr_nonnull(reserved_ports);
	map = get("192.0.2.1", 2049);
}

static void teardown(void)
{
	reserved_ports_map_put(map, now_us);
	reserved_ports_free(reserved_ports);
}

static void take_all(struct reserved_ports_map *from)
{
	for (unsigned i = 0; i < RESERVED_PORTS_COUNT; i++)
		ck_assert_uint_ne(reserved_ports_take_any(from, 0, now_us), 0);
	ck_assert_uint_eq(reserved_ports_take_any(from, 0, now_us), 0);
}

START_TEST(each_port_is_taken_once)
{
	bool seen[RESERVED_PORTS_FIRST + 1] = {false};

	for (unsigned i = 0; i < RESERVED_PORTS_COUNT; i++) {
		uint16_t port = reserved_ports_take_any(map, 17, now_us);

		ck_assert_uint_ge(port, RESERVED_PORTS_LAST);
		ck_assert_uint_le(port, RESERVED_PORTS_FIRST);
		ck_assert(!seen[port]);
		seen[port] = true;
	}
	ck_assert_uint_eq(reserved_ports_take_any(map, 17, now_us), 0);
	reserved_ports_release(map, 700, now_us);
	ck_assert_uint_eq(reserved_ports_take_any(map, 17, now_us), 700);
}
END_TEST

/* The client of a port that was given back may yet come back for it. */
START_TEST(the_port_given_back_last_is_taken_last)
{
	uint16_t first, port = 0;

	first = reserved_ports_take_any(map, 0, now_us);
	reserved_ports_release(map, first, now_us);
	for (unsigned i = 1; i < RESERVED_PORTS_COUNT; i++) {
		port = reserved_ports_take_any(map, 0, ++now_us);
		ck_assert_uint_ne(port, first);
		reserved_ports_release(map, port, now_us);
	}
	ck_assert_uint_eq(reserved_ports_take_any(map, 0, ++now_us), first);
}
END_TEST

START_TEST(users_begin_at_different_ports)
{
	unsigned first = reserved_ports_rr_start(reserved_ports),
		 second = reserved_ports_rr_start(reserved_ports);

	ck_assert_uint_ne(first, second);
	ck_assert_uint_lt(second, RESERVED_PORTS_COUNT);
	ck_assert_uint_ne(reserved_ports_take_any(map, first, now_us),
			  reserved_ports_take_any(map, second, now_us));
}
END_TEST

START_TEST(a_port_in_use_elsewhere_is_skipped_for_a_while)
{
	take_all(map);
	reserved_ports_set_in_use(map, 800, now_us);
	ck_assert_uint_eq(reserved_ports_take_any(map, 0, now_us + RESERVED_PORTS_IN_USE_US - 1),
			  0);
	ck_assert_uint_eq(reserved_ports_take_any(map, 0, now_us + RESERVED_PORTS_IN_USE_US), 800);
}
END_TEST

START_TEST(a_requested_port_is_given_unless_a_connection_uses_it)
{
	ck_assert(reserved_ports_take_port(map, 900));
	ck_assert(!reserved_ports_take_port(map, 900));
	reserved_ports_set_in_use(map, 900, now_us);
	ck_assert(reserved_ports_take_port(map, 900));
	reserved_ports_release(map, 900, now_us);
	ck_assert(reserved_ports_take_port(map, 900));
	take_all(get("192.0.2.2", 2049));
}
END_TEST

/* Those are nobody's here: the kernel knows. */
START_TEST(ports_of_no_map_may_always_be_taken)
{
	static const uint16_t others[] = {1, RESERVED_PORTS_LAST - 1, RESERVED_PORTS_FIRST + 1,
					  40000};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		ck_assert(reserved_ports_take_port(map, others[i]));
		ck_assert(reserved_ports_take_port(map, others[i]));
		reserved_ports_release(map, others[i], now_us);
		reserved_ports_set_in_use(map, others[i], now_us);
	}
	take_all(map);
}
END_TEST

START_TEST(each_destination_and_source_has_its_own_ports)
{
	struct sockaddr_storage here = address("192.0.2.9", 5), dest = address("192.0.2.1", 2049);
	struct reserved_ports_map *from_here =
		reserved_ports_map_get(reserved_ports, &dest, &here, now_us);

	take_all(map);
	take_all(get("192.0.2.1", 2050));
	take_all(get("192.0.2.2", 2049));
	take_all(get("2001:db8::1", 2049));
	take_all(from_here);
	/* The same connection, however its addresses are written. */
	ck_assert_ptr_eq(get("::ffff:192.0.2.1", 2049), map);
	here = address("192.0.2.9", 6);
	ck_assert_ptr_eq(reserved_ports_map_get(reserved_ports, &dest, &here, now_us), from_here);
}
END_TEST

static bool is_remembered(const char *text)
{
	struct reserved_ports_map *again = get(text, 2049);
	bool remembered = reserved_ports_take_any(again, 0, now_us) != RESERVED_PORTS_FIRST;

	reserved_ports_map_put(again, now_us);
	return remembered;
}

/* Leaves the port that is taken first as the last one to be taken. */
static void use_once(const char *text)
{
	struct reserved_ports_map *used = get(text, 2049);

	reserved_ports_release(used, reserved_ports_take_any(used, 0, now_us), now_us);
	reserved_ports_map_put(used, now_us);
}

START_TEST(released_ports_are_remembered_while_clients_can_return)
{
	use_once("192.0.2.5");
	now_us += RESERVED_PORTS_KEEP_US;
	ck_assert(is_remembered("192.0.2.5"));
	use_once("192.0.2.6");
	now_us += RESERVED_PORTS_KEEP_US + 1;
	reserved_ports_map_put(get("192.0.2.7", 2049), now_us);
	ck_assert(!is_remembered("192.0.2.6"));
}
END_TEST

START_TEST(destinations_without_a_connection_have_a_bound)
{
	uint16_t port = reserved_ports_take_any(map, 0, now_us);
	char text[32];

	for (unsigned i = 0; i <= RESERVED_PORTS_IDLE_MAX; i++) {
		snprintf(text, sizeof(text), "198.51.100.%u", i);
		now_us++;
		use_once(text);
	}
	/* The one that was used longest ago was removed; ports with a connection stay. */
	ck_assert(is_remembered("198.51.100.1"));
	ck_assert(!is_remembered("198.51.100.0"));
	ck_assert_ptr_eq(get("192.0.2.1", 2049), map);
	ck_assert(!reserved_ports_take_port(map, port));
}
END_TEST

static atomic_uint owners[RESERVED_PORTS_FIRST + 1];
static atomic_uint doubles, misses;

static void *take_and_give(void *arg)
{
	unsigned turn = reserved_ports_rr_start(reserved_ports);
	uint16_t held[HELD];
	uint64_t at_us = now_us;

	for (unsigned i = 0; i < ROUNDS / HELD; i++) {
		struct reserved_ports_map *mine = get("192.0.2.1", 2049);

		for (unsigned j = 0; j < HELD; j++) {
			held[j] = reserved_ports_take_any(mine, turn, ++at_us);
			atomic_fetch_add(&misses, !held[j]);
			atomic_fetch_add(&doubles, atomic_fetch_add(&owners[held[j]], 1) != 0);
		}
		for (unsigned j = 0; j < HELD; j++) {
			atomic_fetch_sub(&owners[held[j]], 1);
			reserved_ports_release(mine, held[j], at_us);
		}
		reserved_ports_map_put(mine, at_us);
	}
	return NULL;
}

START_TEST(threads_never_have_the_same_port)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_give, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(doubles, 0);
	/* There are enough for all. */
	ck_assert_uint_eq(misses, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ports");
	TCase *tc = tcase_create("ports");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, each_port_is_taken_once);
	tcase_add_test(tc, the_port_given_back_last_is_taken_last);
	tcase_add_test(tc, users_begin_at_different_ports);
	tcase_add_test(tc, a_port_in_use_elsewhere_is_skipped_for_a_while);
	tcase_add_test(tc, a_requested_port_is_given_unless_a_connection_uses_it);
	tcase_add_test(tc, ports_of_no_map_may_always_be_taken);
	tcase_add_test(tc, each_destination_and_source_has_its_own_ports);
	tcase_add_test(tc, released_ports_are_remembered_while_clients_can_return);
	tcase_add_test(tc, destinations_without_a_connection_have_a_bound);
	tcase_add_test(tc, threads_never_have_the_same_port);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

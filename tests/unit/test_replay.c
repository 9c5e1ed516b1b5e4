// SPDX-License-Identifier: BSD-3-Clause
/* The memory of source ports: the same client first, then the same address, each entry once. */
#include "daemon/service/replay.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "tests/lib/test.h"

static struct replay *replay;

static struct sockaddr_in in4(const char *addr, uint16_t port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(port)};

	ck_assert_int_eq(inet_pton(AF_INET, addr, &sin.sin_addr), 1);
	return sin;
}

static void store(const char *addr, uint16_t client_port, uint16_t port, uint64_t now_us)
{
	struct sockaddr_in sin = in4(addr, client_port);

	replay_store(replay, (struct sockaddr *)&sin, port, now_us);
}

static uint16_t take(const char *addr, uint16_t client_port, uint64_t now_us)
{
	struct sockaddr_in sin = in4(addr, client_port);

	return replay_take(replay, (struct sockaddr *)&sin, now_us);
}

static void setup(void)
{
	replay = replay_new();
	ck_assert_ptr_nonnull(replay);
}

static void teardown(void)
{
	replay_free(replay);
}

START_TEST(the_same_client_port_is_preferred)
{
	store("10.0.0.1", 700, 901, 1);
	store("10.0.0.1", 701, 902, 2);
	store("10.0.0.2", 700, 903, 3);
	ck_assert_uint_eq(take("10.0.0.1", 700, 4), 901);
	ck_assert_uint_eq(take("10.0.0.1", 700, 4), 902);
	ck_assert_uint_eq(take("10.0.0.1", 700, 4), 0);
	ck_assert_uint_eq(take("10.0.0.2", 999, 4), 903);
}
END_TEST

START_TEST(the_latest_closed_of_the_address_comes_next)
{
	store("10.0.0.1", 700, 901, 1);
	store("10.0.0.1", 701, 902, 2);
	ck_assert_uint_eq(take("10.0.0.1", 5000, 3), 902);
}
END_TEST

START_TEST(entries_expire)
{
	store("10.0.0.1", 700, 901, 0);
	ck_assert_uint_eq(take("10.0.0.1", 700, REPLAY_REMEMBER_US + 1), 0);
	store("10.0.0.1", 700, 902, 10);
	ck_assert_uint_eq(take("10.0.0.1", 700, REPLAY_REMEMBER_US + 10), 902);
}
END_TEST

START_TEST(the_table_is_bounded)
{
	for (unsigned i = 0; i <= REPLAY_MAX_ENTRIES; i++)
		store("10.0.0.1", 1000 + i, 2000 + i, 1);
	/* The first has gone; another of that address is given. */
	ck_assert_uint_eq(take("10.0.0.1", 1000, 1), 2000 + REPLAY_MAX_ENTRIES);
	ck_assert_uint_eq(take("10.0.0.1", 1001, 1), 2001);
}
END_TEST

START_TEST(v4_mapped_addresses_are_the_same_client)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(700)};

	ck_assert_int_eq(inet_pton(AF_INET6, "::ffff:10.0.0.1", &in6.sin6_addr), 1);
	store("10.0.0.1", 700, 901, 1);
	ck_assert_uint_eq(replay_take(replay, (struct sockaddr *)&in6, 2), 901);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("replay");
	TCase *tc = tcase_create("replay");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_same_client_port_is_preferred);
	tcase_add_test(tc, the_latest_closed_of_the_address_comes_next);
	tcase_add_test(tc, entries_expire);
	tcase_add_test(tc, the_table_is_bounded);
	tcase_add_test(tc, v4_mapped_addresses_are_the_same_client);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

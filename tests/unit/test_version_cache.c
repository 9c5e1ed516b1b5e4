// SPDX-License-Identifier: BSD-3-Clause
/* Tests the cache of the versions that servers speak. */
#include <arpa/inet.h>
#include <stdio.h>

#include "base/sockaddr.h"
#include "rpcrdma/v2/version_cache.h"
#include "tests/lib/test.h"

static struct version_cache memory;

static void setup(void)
{
	ck_assert_int_eq(version_cache_init(&memory), 0);
}

static void teardown(void)
{
	version_cache_fini(&memory);
}

static const struct sockaddr *server(unsigned n)
{
	static struct sockaddr_in addr;

	addr = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(20049)};
	addr.sin_addr.s_addr = htonl(0x0a000000u + n);
	return (const struct sockaddr *)&addr;
}

START_TEST(a_server_is_remembered_for_ten_minutes)
{
	ck_assert(!version_cache_is_one_only(&memory, server(1), 5));
	version_cache_remember(&memory, server(1), 5);
	ck_assert(version_cache_is_one_only(&memory, server(1), 5));
	ck_assert(!version_cache_is_one_only(&memory, server(2), 5));
	ck_assert(version_cache_is_one_only(&memory, server(1), 4 + VERSION_CACHE_US));
	ck_assert(!version_cache_is_one_only(&memory, server(1), 5 + VERSION_CACHE_US));
	ck_assert_uint_eq(memory.count, 0);
}
END_TEST

START_TEST(a_repeated_entry_lasts_longer)
{
	version_cache_remember(&memory, server(1), 5);
	version_cache_remember(&memory, server(1), 1000);
	ck_assert_uint_eq(memory.count, 1);
	ck_assert(version_cache_is_one_only(&memory, server(1), 999 + VERSION_CACHE_US));
}
END_TEST

START_TEST(a_server_that_speaks_more_is_forgotten)
{
	for (unsigned i = 0; i < 3; i++)
		version_cache_remember(&memory, server(i), i);
	version_cache_forget(&memory, server(0));
	version_cache_forget(&memory, server(7));
	ck_assert(!version_cache_is_one_only(&memory, server(0), 5));
	ck_assert(version_cache_is_one_only(&memory, server(1), 5));
	ck_assert(version_cache_is_one_only(&memory, server(2), 5));
}
END_TEST

START_TEST(of_too_many_the_oldest_goes)
{
	for (unsigned i = 0; i <= VERSION_CACHE_MAX; i++)
		version_cache_remember(&memory, server(i), 10 + (i + 3) % VERSION_CACHE_MAX);
	ck_assert_uint_eq(memory.count, VERSION_CACHE_MAX);
	for (unsigned i = 0; i <= VERSION_CACHE_MAX; i++)
		ck_assert_int_eq(version_cache_is_one_only(&memory, server(i), 30),
				 i != VERSION_CACHE_MAX - 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("version_cache");
	TCase *tc = tcase_create("memory");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_server_is_remembered_for_ten_minutes);
	tcase_add_test(tc, a_repeated_entry_lasts_longer);
	tcase_add_test(tc, a_server_that_speaks_more_is_forgotten);
	tcase_add_test(tc, of_too_many_the_oldest_goes);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

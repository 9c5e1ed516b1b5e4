// SPDX-License-Identifier: BSD-3-Clause
/* Tests the number of connections per client address. */
#include "daemon/service/client_limits.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "tests/lib/test.h"

#define MANY 5000u

static struct client_limits counts;

static void setup(void)
{
	ck_assert_int_eq(client_limits_init(&counts), 0);
}

static void teardown(void)
{
	client_limits_fini(&counts);
}

static struct sockaddr_storage v4(uint32_t addr, uint16_t port)
{
	struct sockaddr_storage storage = {0};
	struct sockaddr_in *in = (struct sockaddr_in *)&storage;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(addr);
	in->sin_port = htons(port);
	return storage;
}

static struct sockaddr_storage v6(const char *text)
{
	struct sockaddr_storage storage = {0};
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&storage;

	in6->sin6_family = AF_INET6;
	ck_assert_int_eq(inet_pton(AF_INET6, text, &in6->sin6_addr), 1);
	return storage;
}

static int add(struct sockaddr_storage addr, unsigned most, struct client_limit **out)
{
	return client_limits_add(&counts, (struct sockaddr *)&addr, most, out);
}

START_TEST(an_address_has_as_many_as_it_may)
{
	struct client_limit *a, *b, *none = NULL;

	ck_assert_int_eq(add(v4(0x0a000001, 1), 2, &a), 0);
	ck_assert_int_eq(add(v4(0x0a000001, 2), 2, &b), 0);
	ck_assert_int_eq(add(v4(0x0a000001, 3), 2, &none), -EDQUOT);
	ck_assert_ptr_null(none);
	/* Another one is another one's matter. */
	ck_assert_int_eq(add(v4(0x0a000002, 1), 2, &none), 0);
	client_limits_remove(&counts, a);
	ck_assert_int_eq(add(v4(0x0a000001, 3), 2, &a), 0);
	ck_assert_uint_eq(client_limits_addresses(&counts), 2);
	client_limits_remove(&counts, a);
	client_limits_remove(&counts, b);
	client_limits_remove(&counts, none);
	ck_assert_uint_eq(client_limits_addresses(&counts), 0);
}
END_TEST

START_TEST(a_v4_mapped_address_is_that_of_ipv4)
{
	struct client_limit *a, *none;

	ck_assert_int_eq(add(v4(0x0a000001, 1), 1, &a), 0);
	ck_assert_int_eq(add(v6("::ffff:10.0.0.1"), 1, &none), -EDQUOT);
	ck_assert_int_eq(add(v6("::10.0.0.1"), 1, &none), 0);
	client_limits_remove(&counts, none);
	client_limits_remove(&counts, a);
}
END_TEST

/* They come and go in another order. */
START_TEST(many_addresses_are_distinguished)
{
	static struct client_limit *all[MANY];
	struct client_limit *none;

	for (uint32_t i = 0; i < MANY; i++)
		ck_assert_int_eq(add(v4(i, 0), 1, &all[i]), 0);
	ck_assert_uint_eq(client_limits_addresses(&counts), MANY);
	for (uint32_t i = 0; i < MANY; i += 2)
		client_limits_remove(&counts, all[i]);
	for (uint32_t i = 0; i < MANY; i++)
		ck_assert_int_eq(add(v4(i, 0), 1, i % 2 ? &none : &all[i]), i % 2 ? -EDQUOT : 0);
	for (uint32_t i = MANY; i-- > 0;)
		client_limits_remove(&counts, all[i]);
	ck_assert_uint_eq(client_limits_addresses(&counts), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("client_limits");
	TCase *tc = tcase_create("client_limits");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, an_address_has_as_many_as_it_may);
	tcase_add_test(tc, a_v4_mapped_address_is_that_of_ipv4);
	tcase_add_test(tc, many_addresses_are_distinguished);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

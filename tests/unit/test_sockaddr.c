// SPDX-License-Identifier: BSD-3-Clause
/* Tests IPv4 and IPv6 socket addresses. */
#include "base/sockaddr.h"

#include <arpa/inet.h>
#include <string.h>

#include "tests/lib/test.h"

static struct sockaddr_storage address(int family, const char *text)
{
	struct sockaddr_storage addr = {.ss_family = (sa_family_t)family};
	void *host = family == AF_INET6 ? (void *)&((struct sockaddr_in6 *)&addr)->sin6_addr
					: (void *)&((struct sockaddr_in *)&addr)->sin_addr;

	if (text)
		ck_assert_int_eq(inet_pton(family, text, host), 1);
	return addr;
}

START_TEST(each_family_has_its_length_and_its_port)
{
	struct sockaddr_storage v4 = address(AF_INET, "10.0.0.3"), v6 = address(AF_INET6, "::1");

	ck_assert_uint_eq(sockaddr_bytes((struct sockaddr *)&v4), sizeof(struct sockaddr_in));
	ck_assert_uint_eq(sockaddr_bytes((struct sockaddr *)&v6), sizeof(struct sockaddr_in6));
	sockaddr_set_port((struct sockaddr *)&v4, 712);
	sockaddr_set_port((struct sockaddr *)&v6, 65535);
	ck_assert_uint_eq(((struct sockaddr_in *)&v4)->sin_port, htons(712));
	ck_assert_uint_eq(sockaddr_port((struct sockaddr *)&v4), 712);
	ck_assert_uint_eq(sockaddr_port((struct sockaddr *)&v6), 65535);
}
END_TEST

START_TEST(ipv4_and_its_v4_mapped_form_are_one_host)
{
	struct sockaddr_storage v4 = address(AF_INET, "10.0.0.3");
	struct sockaddr_storage mapped = address(AF_INET6, "::ffff:10.0.0.3");
	struct sockaddr_storage other = address(AF_INET6, "::10.0.0.3");
	struct in6_addr a, b;

	ck_assert(sockaddr_host((struct sockaddr *)&v4, &a));
	ck_assert(sockaddr_host((struct sockaddr *)&mapped, &b));
	ck_assert_mem_eq(&a, &b, sizeof(a));
	ck_assert(sockaddr_host((struct sockaddr *)&other, &b));
	ck_assert_mem_ne(&a, &b, sizeof(a));
}
END_TEST

START_TEST(an_address_of_another_family_has_nothing)
{
	struct sockaddr_storage none = address(AF_UNSPEC, NULL), before = none;
	struct in6_addr host;

	memset(&host, 0xee, sizeof(host));
	ck_assert(!sockaddr_host((struct sockaddr *)&none, &host));
	ck_assert_mem_eq(&host, &in6addr_any, sizeof(host));
	sockaddr_set_port((struct sockaddr *)&none, 712);
	ck_assert_mem_eq(&none, &before, sizeof(none));
	ck_assert_uint_eq(sockaddr_port((struct sockaddr *)&none), 0);
	ck_assert_uint_eq(sockaddr_bytes((struct sockaddr *)&none), 0);
}
END_TEST

START_TEST(two_are_equal_if_host_and_port_are)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(2049)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(2049)};
	struct sockaddr_storage none = {0};

	inet_pton(AF_INET, "10.0.0.1", &four.sin_addr);
	inet_pton(AF_INET6, "::ffff:10.0.0.1", &six.sin6_addr);
	ck_assert(sockaddr_equal((struct sockaddr *)&four, (struct sockaddr *)&six));
	six.sin6_port = htons(2050);
	ck_assert(!sockaddr_equal((struct sockaddr *)&four, (struct sockaddr *)&six));
	six.sin6_port = four.sin_port;
	inet_pton(AF_INET6, "::ffff:10.0.0.2", &six.sin6_addr);
	ck_assert(!sockaddr_equal((struct sockaddr *)&four, (struct sockaddr *)&six));
	ck_assert(!sockaddr_equal((struct sockaddr *)&none, (struct sockaddr *)&none));
}
END_TEST

START_TEST(a_v4_mapped_address_becomes_the_one_that_it_stands_for)
{
	struct sockaddr_storage v4 = address(AF_INET, "10.0.0.3");
	struct sockaddr_storage mapped = address(AF_INET6, "::ffff:10.0.0.3");
	struct sockaddr_storage v6 = address(AF_INET6, "::10.0.0.3"), before;

	sockaddr_set_port((struct sockaddr *)&v4, 712);
	sockaddr_set_port((struct sockaddr *)&mapped, 712);
	sockaddr_unmap(&mapped);
	ck_assert(!memcmp(&mapped, &v4, sizeof(v4)));
	sockaddr_unmap(&mapped);
	ck_assert(!memcmp(&mapped, &v4, sizeof(v4)));
	before = v6;
	sockaddr_unmap(&v6);
	ck_assert(!memcmp(&v6, &before, sizeof(v6)));
}
END_TEST

START_TEST(a_loopback_address_is_known)
{
	static const struct {
		int family;
		const char *text;
		bool is;
	} rows[] = {
		{AF_INET, "127.0.0.1", true},         {AF_INET, "127.255.0.9", true},
		{AF_INET, "128.0.0.1", false},        {AF_INET6, "::1", true},
		{AF_INET6, "::ffff:127.0.0.1", true}, {AF_INET6, "::ffff:126.0.0.1", false},
		{AF_INET6, "::127.0.0.1", false},     {AF_UNIX, NULL, false},
	};
	struct sockaddr_storage addr = address(rows[_i].family, rows[_i].text);

	ck_assert_int_eq(sockaddr_is_loopback((struct sockaddr *)&addr), rows[_i].is);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sockaddr");
	TCase *tc = tcase_create("sockaddr");

	tcase_add_test(tc, each_family_has_its_length_and_its_port);
	tcase_add_test(tc, ipv4_and_its_v4_mapped_form_are_one_host);
	tcase_add_test(tc, an_address_of_another_family_has_nothing);
	tcase_add_test(tc, two_are_equal_if_host_and_port_are);
	tcase_add_test(tc, a_v4_mapped_address_becomes_the_one_that_it_stands_for);
	tcase_add_loop_test(tc, a_loopback_address_is_known, 0, 8);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

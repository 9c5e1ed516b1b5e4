// SPDX-License-Identifier: BSD-3-Clause
/* Tests addresses as text. */
#include "daemon/base/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "tests/lib/test.h"

START_TEST(ipv4_has_a_colon_before_its_port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(712)};
	char text[ADDRESS_TEXT_BYTES];

	inet_pton(AF_INET, "10.0.0.3", &in.sin_addr);
	ck_assert_str_eq(address_text((struct sockaddr *)&in, text), "10.0.0.3:712");
}
END_TEST

START_TEST(ipv6_stands_in_brackets_and_v4_mapped_as_ipv4)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(20049)};
	char text[ADDRESS_TEXT_BYTES];

	inet_pton(AF_INET6, "fe80::1", &in6.sin6_addr);
	ck_assert_str_eq(address_text((struct sockaddr *)&in6, text), "[fe80::1]:20049");
	inet_pton(AF_INET6, "::ffff:10.0.0.3", &in6.sin6_addr);
	ck_assert_str_eq(address_text((struct sockaddr *)&in6, text), "10.0.0.3:20049");
}
END_TEST

START_TEST(the_longest_address_fits)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(65535)};
	char text[ADDRESS_TEXT_BYTES];

	inet_pton(AF_INET6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", &in6.sin6_addr);
	ck_assert_str_eq(address_text((struct sockaddr *)&in6, text),
			 "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
}
END_TEST

START_TEST(no_family_is_a_dash)
{
	struct sockaddr_storage none = {0};
	char text[ADDRESS_TEXT_BYTES];

	ck_assert_str_eq(address_text((struct sockaddr *)&none, text), "-");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("address");
	TCase *tc = tcase_create("address");

	tcase_add_test(tc, ipv4_has_a_colon_before_its_port);
	tcase_add_test(tc, ipv6_stands_in_brackets_and_v4_mapped_as_ipv4);
	tcase_add_test(tc, the_longest_address_fits);
	tcase_add_test(tc, no_family_is_a_dash);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests loop detection: to which of its own listeners a daemon would connect. */
#include "daemon/config/self_connect.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "daemon/base/resolver.h"
#include "tests/lib/test.h"

static struct self_connect listeners;

static struct sockaddr_storage address(const char *host, const char *port)
{
	struct resolver_answer answer;

	ck_assert(resolver_literal(host, port, &answer));
	return answer.addrs[0];
}

static void teardown(void)
{
	self_connect_fini(&listeners);
}

static void open_door(enum transport transport, const char *host)
{
	struct sockaddr_storage addr = address(host, "2049");

	ck_assert_int_eq(self_connect_add(&listeners, transport, (const struct sockaddr *)&addr),
			 0);
}

static bool is_own(enum transport transport, const char *host, const char *port)
{
	struct sockaddr_storage addr = address(host, port);

	return self_connect_matches(&listeners, transport, (const struct sockaddr *)&addr);
}

/* 192.0.2.0/24 and 2001:db8::/32 are for documentation: no host has them. */
static const struct {
	const char *door, *to;
	bool is_own;
} hosts[] = {
	{"127.0.0.1", "127.0.0.1", true},
	{"127.0.0.1", "::ffff:127.0.0.1", true},
	{"::ffff:127.0.0.1", "127.0.0.1", true},
	{"127.0.0.1", "127.0.0.2", false},
	{"127.0.0.1", "::1", false},
	{"127.0.0.1", "192.0.2.1", false},
	{"192.0.2.1", "192.0.2.1", true},
	{"192.0.2.1", "127.0.0.1", false},
	{"::1", "::1", true},
	{"::1", "127.0.0.1", false},
	{"0.0.0.0", "127.0.0.1", true},
	{"0.0.0.0", "127.99.0.1", true},
	{"0.0.0.0", "::ffff:127.0.0.1", true},
	{"0.0.0.0", "::1", false},
	{"0.0.0.0", "192.0.2.1", false},
	{"::", "::1", true},
	{"::", "127.0.0.1", true},
	{"::", "127.99.0.1", true},
	{"::", "192.0.2.1", false},
	{"::", "2001:db8::1", false},
	/* Each link has its own. */
	{"fe80::1%1", "fe80::1%1", true},
	{"fe80::1%1", "fe80::1%2", false},
	/* To nowhere is to the loopback. */
	{"127.0.0.1", "0.0.0.0", true},
	{"::1", "::", true},
	{"::1", "0.0.0.0", false},
	{"::", "0.0.0.0", true},
	{"192.0.2.1", "0.0.0.0", false},
};

START_TEST(an_address_is_own_if_a_listener_takes_it)
{
	open_door(TRANSPORT_TCP, hosts[_i].door);
	ck_assert(is_own(TRANSPORT_TCP, hosts[_i].to, "2049") == hosts[_i].is_own);
	ck_assert(!is_own(TRANSPORT_TCP, hosts[_i].to, "2050"));
}
END_TEST

START_TEST(transports_meet_where_they_share_a_port)
{
	/* By listener, then by the connecting fabric: tcp, rdma, iwarp, verbs. */
	static const char *const expected[] = {"1110", "1111", "1111", "0111"};

	for (int listen = 0; listen < 4; listen++) {
		open_door((enum transport)listen, "127.0.0.1");
		for (int connect = 0; connect < 4; connect++)
			ck_assert(is_own((enum transport)connect, "127.0.0.1", "2049") ==
				  (expected[listen][connect] == '1'));
		self_connect_fini(&listeners);
	}
}
END_TEST

START_TEST(any_of_several_is_own)
{
	ck_assert(!is_own(TRANSPORT_TCP, "127.0.0.1", "2049"));
	open_door(TRANSPORT_TCP, "192.0.2.1");
	ck_assert(!is_own(TRANSPORT_TCP, "127.0.0.1", "2049"));
	open_door(TRANSPORT_IWARP, "127.0.0.1");
	ck_assert(is_own(TRANSPORT_TCP, "127.0.0.1", "2049"));
	ck_assert(is_own(TRANSPORT_TCP, "192.0.2.1", "2049"));
	ck_assert(!self_connect_matches(NULL, TRANSPORT_TCP, (const struct sockaddr *)&hosts));
}
END_TEST

static const struct {
	const char *listen, *connect;
	bool is_own;
} uris[] = {
	{"tcp://127.0.0.1:2049", "tcp://127.0.0.1:2049", true},
	{"tcp://127.0.0.1:2049", "tcp://127.0.0.1:2050", false},
	{"tcp://127.0.0.1:2049", "tcp://127.0.0.2:2049", false},
	{"tcp://127.0.0.1:2049", "tcp://localhost:2049", true},
	{"tcp://LOCALHOST:2049", "tcp://[::1]:2049", true},
	{"tcp://:2049", "tcp://localhost:2049", true},
	{"tcp://[::]:2049", "tcp://127.0.0.1:2049", true},
	{"tcp://0.0.0.0:2049", "tcp://127.0.0.1:2049", true},
	{"rdma://:20049", "tcp://127.0.0.1:20049", true},
	{"rdma://:20049", "rdma://127.0.0.1:20049", true},
	{"verbs://:2049", "tcp://127.0.0.1:2049", false},
	{"tcp://:2049", "verbs://127.0.0.1:2049", false},
	{"tcp://:2049", "tcp://192.0.2.1:2049", false},
	/* The addresses of a name are not known yet, unless it is the same name. */
	{"tcp://:2049", "tcp://filer:2049", false},
	{"tcp://filer:2049", "tcp://Filer:2049", true},
	{"verbs://filer:2049", "tcp://filer:2049", false},
};

START_TEST(a_service_of_the_file_is_found)
{
	struct service_config services[2] = {0};
	const struct config config = {.nservices = 2, .services = services};

	ck_assert_ptr_null(config_uri_parse("tcp://192.0.2.9:1", true, &services[0].listen));
	ck_assert_ptr_null(config_uri_parse(uris[_i].connect, false, &services[0].connect));
	ck_assert_ptr_null(config_uri_parse(uris[_i].listen, true, &services[1].listen));
	ck_assert_ptr_null(config_uri_parse("tcp://192.0.2.9:2", false, &services[1].connect));
	ck_assert_ptr_eq(self_connect_find(&config, &services[0].connect),
			 uris[_i].is_own ? &services[1] : NULL);
	ck_assert_ptr_null(self_connect_find(&config, &services[1].connect));
	for (int i = 0; i < 2; i++) {
		config_uri_fini(&services[i].listen);
		config_uri_fini(&services[i].connect);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("self_connect");
	TCase *tc = tcase_create("self_connect");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, an_address_is_own_if_a_listener_takes_it, 0, ARRAY_SIZE(hosts));
	tcase_add_test(tc, transports_meet_where_they_share_a_port);
	tcase_add_test(tc, any_of_several_is_own);
	tcase_add_loop_test(tc, a_service_of_the_file_is_found, 0, ARRAY_SIZE(uris));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

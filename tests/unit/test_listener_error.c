// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the messages for a service that cannot listen: each cause with its remedy, to the letter.
 */
#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/service/listen_error.h"
#include "tests/lib/test.h"

#define PORT_CURE                                                                                    \
	"is another NFS server using it? See ss -ltnp (the kernel's NFS server is listed without a " \
	"process)"

static const struct {
	enum transport transport;
	const char *addr;
	uint16_t port;
	int err;
	const char *text;
} rows[] = {
	{TRANSPORT_TCP, "127.0.0.1", 111, EACCES,
	 "cannot listen on tcp://127.0.0.1:111: Permission denied: a port below 1024 needs "
	 "CAP_NET_BIND_SERVICE, which the unit grants"},
	{TRANSPORT_TCP, "127.0.0.1", 2049, EACCES,
	 "cannot listen on tcp://127.0.0.1:2049: Permission denied"},
	{TRANSPORT_TCP, "127.0.0.1", 2049, EADDRINUSE,
	 "cannot listen on tcp://127.0.0.1:2049: Address already in use: " PORT_CURE},
	{TRANSPORT_IWARP, "::", 20049, EADDRINUSE,
	 "cannot listen on iwarp://[::]:20049: Address already in use: " PORT_CURE},
	{TRANSPORT_RDMA, "::", 20049, EADDRINUSE,
	 "cannot listen on rdma://[::]:20049: Address already in use: " PORT_CURE},
	{TRANSPORT_VERBS, "192.0.2.1", 20049, EADDRINUSE,
	 "cannot listen on verbs://192.0.2.1:20049: Address already in use: is another NFS server "
	 "using it over RDMA? See rdma resource show cm_id"},
	{TRANSPORT_TCP, "192.0.2.1", 2049, EADDRNOTAVAIL,
	 "cannot listen on tcp://192.0.2.1:2049: Cannot assign requested address: is that address "
	 "on an interface of this host, and up?"},
	{TRANSPORT_VERBS, "192.0.2.1", 20049, ENODEV,
	 "cannot listen on verbs://192.0.2.1:20049: No such device: that address is not on an RDMA "
	 "device (see rdma link); iwarp:// needs no device"},
	{TRANSPORT_TCP, "::", 2049, EAFNOSUPPORT,
	 "cannot listen on tcp://[::]:2049: Address family not supported by protocol: does this "
	 "host have IPv6? 0.0.0.0 means every IPv4 address"},
	{TRANSPORT_TCP, "127.0.0.1", 2049, ENOMEM,
	 "cannot listen on tcp://127.0.0.1:2049: Cannot allocate memory"},
};

START_TEST(each_cause_has_its_cure)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *ai;
	char text[LISTEN_ERROR_BYTES];

	ck_assert_int_eq(getaddrinfo(rows[_i].addr, NULL, &hints, &ai), 0);
	sockaddr_set_port(ai->ai_addr, rows[_i].port);
	listen_error_address(rows[_i].transport, ai->ai_addr, -rows[_i].err, text, sizeof(text));
	ck_assert_str_eq(text, rows[_i].text);
	freeaddrinfo(ai);
}
END_TEST

START_TEST(a_name_that_does_not_resolve_is_named)
{
	char host[] = "nowhere.example", port[] = "2049", text[LISTEN_ERROR_BYTES];
	const struct config_uri uri = {.transport = TRANSPORT_TCP, .host = host, .port = port};

	listen_error_name(&uri, gai_strerror(EAI_NONAME), text, sizeof(text));
	ck_assert_str_eq(
		text,
		"cannot listen on tcp://nowhere.example:2049: the name nowhere.example does "
		"not resolve: Name or service not known. Check the name in /etc/hosts or DNS, "
		"or give an address");
}
END_TEST

START_TEST(the_longest_name_fits)
{
	char host[254], port[] = "65535", text[LISTEN_ERROR_BYTES];
	const struct config_uri uri = {.transport = TRANSPORT_VERBS, .host = host, .port = port};

	memset(host, 'x', sizeof(host));
	host[253] = '\0';
	listen_error_name(&uri, gai_strerror(EAI_NONAME), text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "or give an address"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("listen error");
	TCase *tc = tcase_create("listen error");

	tcase_add_loop_test(tc, each_cause_has_its_cure, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, a_name_that_does_not_resolve_is_named);
	tcase_add_test(tc, the_longest_name_fits);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

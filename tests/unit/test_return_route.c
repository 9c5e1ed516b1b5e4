// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests connections from addresses of other hosts, and whether the answers to them are routed back.
 */
#include "stream/return_route.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ip_transparent.h"
#include "base/sockaddr.h"
#include "stream/tcp_connect.h"
#include "tests/lib/namespace.h"
#include "tests/lib/test.h"

#define SERVER_PORT 2049
#define CLIENT_PORT 40777

/* The hosts: clients behind one interface, servers behind the other, and this one with both. */
static const char *const setup_lines[] = {
	"ip link add toclients type veth peer name clients",
	"ip link add toservers type veth peer name servers",
	"ip link set toclients up",
	"ip link set clients up",
	"ip link set toservers up",
	"ip link set servers up",
	"ip address add 10.9.0.254/24 dev toclients",
	"ip address add 10.8.0.254/24 dev toservers",
	"ip -6 address add fd09::fe/64 dev toclients nodad",
	"ip -6 address add fd08::fe/64 dev toservers nodad",
	"ip route add local 0.0.0.0/0 dev lo table 2049",
	"ip -6 route add local ::/0 dev lo table 2049",
};

static bool is_set_up;

static bool run(const char *line)
{
	return system(line) == 0;
}

static bool have_hosts(void)
{
	if (!namespace_is_own())
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(setup_lines); i++) {
		char line[128];

		snprintf(line, sizeof(line), "%s 2>/dev/null", setup_lines[i]);
		if (!run(line))
			return false;
	}
	return true;
}

static void make_hosts(void)
{
	is_set_up = have_hosts();
}

static struct sockaddr_storage address(const char *text, uint16_t port)
{
	struct sockaddr_storage addr = {0};
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr;

	if (strchr(text, ':')) {
		in6->sin6_family = AF_INET6;
		ck_assert_int_eq(inet_pton(AF_INET6, text, &in6->sin6_addr), 1);
	} else {
		in->sin_family = AF_INET;
		ck_assert_int_eq(inet_pton(AF_INET, text, &in->sin_addr), 1);
	}
	sockaddr_set_port((struct sockaddr *)&addr, port);
	return addr;
}

static int way_back(const char *server, uint16_t port, const char *client)
{
	struct sockaddr_storage from = address(server, port), to = address(client, CLIENT_PORT);

	return return_route_check((struct sockaddr *)&from, (struct sockaddr *)&to);
}

static const struct way {
	const char *server, *client;
	const char *rule, *undone; /* that lead it back */
	bool any_port;             /* of the server */
} ways[] = {
	{"127.0.0.1", "10.9.0.1", "ip rule add from 127.0.0.0/8 iif lo lookup 2049",
	 "ip rule del from 127.0.0.0/8 iif lo lookup 2049", true},
	{"::1", "fd09::1", "ip -6 rule add from ::1 iif lo lookup 2049",
	 "ip -6 rule del from ::1 iif lo lookup 2049", true},
	{"10.8.0.1", "10.9.0.1", "ip rule add from 10.8.0.1 ipproto tcp sport 2049 lookup 2049",
	 "ip rule del from 10.8.0.1 ipproto tcp sport 2049 lookup 2049", false},
	{"fd08::1", "fd09::1", "ip -6 rule add from fd08::1 ipproto tcp sport 2049 lookup 2049",
	 "ip -6 rule del from fd08::1 ipproto tcp sport 2049 lookup 2049", false},
};

START_TEST(routes_show_whether_answers_come_back)
{
	const struct way *way = &ways[_i];

	if (!is_set_up)
		return;
	ck_assert_int_eq(way_back(way->server, SERVER_PORT, way->client), -EHOSTUNREACH);
	ck_assert(run(way->rule));
	ck_assert_int_eq(way_back(way->server, SERVER_PORT, way->client), 0);
	/* The rule of a server elsewhere is for one port. */
	ck_assert_int_eq(way_back(way->server, SERVER_PORT + 1, way->client),
			 way->any_port ? 0 : -EHOSTUNREACH);
	ck_assert(run(way->undone));
	ck_assert_int_eq(way_back(way->server, SERVER_PORT, way->client), -EHOSTUNREACH);
}
END_TEST

START_TEST(another_address_of_this_host_leads_to_the_client)
{
	if (!is_set_up)
		return;
	ck_assert(run(ways[0].rule));
	ck_assert_int_eq(way_back("10.9.0.254", SERVER_PORT, "10.9.0.1"), -EHOSTUNREACH);
	ck_assert(run(ways[0].undone));
}
END_TEST

START_TEST(addresses_of_this_host_have_a_return_route)
{
	ck_assert_int_eq(way_back("127.0.0.1", SERVER_PORT, "127.0.0.1"), 0);
	ck_assert_int_eq(way_back("::1", SERVER_PORT, "::1"), 0);
	if (!is_set_up)
		return;
	ck_assert_int_eq(way_back("10.8.0.1", SERVER_PORT, "10.9.0.254"), 0);
	ck_assert_int_eq(way_back("192.0.2.1", SERVER_PORT, "10.9.0.1"), -ENETUNREACH);
	ck_assert_int_eq(way_back("2001:db8::1", SERVER_PORT, "fd09::1"), -ENETUNREACH);
}
END_TEST

/* ---- connections ---- */

static int server_at(struct sockaddr_storage *addr)
{
	socklen_t len = sizeof(*addr);
	int fd = socket(addr->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)addr, sockaddr_bytes((struct sockaddr *)addr)),
			 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)addr, &len), 0);
	return fd;
}

static struct tcp_connect_result start(struct reserved_ports *reserved_ports,
				       const struct sockaddr_storage *server,
				       const struct sockaddr_storage *client, bool port_only)
{
	const struct stream_target target = {
		.addr = *server,
		.sources = {.list = client, .count = 1, .transparent = true},
		.preferred_port = port_only ? CLIENT_PORT : 0,
		.port_only = port_only,
		.source_port = SOURCE_PORT_RESERVED,
	};

	return tcp_connect_start(reserved_ports, 0, &target, 1);
}

START_TEST(a_server_of_this_host_sees_the_client)
{
	struct sockaddr_storage server = address(ways[_i].server, 0), seen;
	struct sockaddr_storage client = address(ways[_i].client, 1);
	struct reserved_ports *reserved_ports = reserved_ports_new();
	struct tcp_connect_result one, two;
	socklen_t len = sizeof(seen);
	int listener, fd;

	if (is_set_up && ip_transparent_is_permitted()) {
		listener = server_at(&server);
		ck_assert(run(ways[_i].rule));
		one = start(reserved_ports, &server, &client, true);
		ck_assert_int_ge(one.fd, 0);
		fd = accept(listener, (struct sockaddr *)&seen, &len);
		ck_assert_int_ge(fd, 0);
		sockaddr_set_port((struct sockaddr *)&client, CLIENT_PORT);
		ck_assert(sockaddr_equal((struct sockaddr *)&seen, (struct sockaddr *)&client));
		/* That port, or none. */
		two = start(reserved_ports, &server, &client, true);
		ck_assert_int_eq(two.fd, -EBUSY);
		two = start(reserved_ports, &server, &client, false);
		ck_assert_int_ge(two.fd, 0);
		ck_assert_uint_lt(two.port, IPPORT_RESERVED);
		ck_assert(run(ways[_i].undone));
		close(fd);
		close(listener);
		close(one.fd);
		close(two.fd);
		tcp_connect_release(&one, 2);
		tcp_connect_release(&two, 2);
	}
	reserved_ports_free(reserved_ports);
}
END_TEST

START_TEST(without_the_capability_there_is_no_connection)
{
	struct sockaddr_storage server = address("127.0.0.1", SERVER_PORT);
	struct sockaddr_storage client = address("10.9.0.1", 1);
	struct reserved_ports *reserved_ports = reserved_ports_new();

	if (geteuid() == 0)
		ck_assert_int_eq(setuid(65534), 0);
	ck_assert(!ip_transparent_is_permitted());
	ck_assert_int_eq(start(reserved_ports, &server, &client, false).fd, -EPERM);
	reserved_ports_free(reserved_ports);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("way_back");
	TCase *tc = tcase_create("way_back");

	tcase_add_unchecked_fixture(tc, make_hosts, NULL);
	tcase_add_loop_test(tc, routes_show_whether_answers_come_back, 0, ARRAY_SIZE(ways));
	tcase_add_test(tc, another_address_of_this_host_leads_to_the_client);
	tcase_add_test(tc, addresses_of_this_host_have_a_return_route);
	tcase_add_loop_test(tc, a_server_of_this_host_sees_the_client, 0, 2);
	tcase_add_test(tc, without_the_capability_there_is_no_connection);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

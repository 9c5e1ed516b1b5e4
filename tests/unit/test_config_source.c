// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the configuration file: the source addresses of connections to servers, and what they need
 * of the host.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ip_transparent.h"
#include "daemon/config/config.h"
#include "daemon/config/config_diff.h"
#include "daemon/config/config_print.h"
#include "daemon/config/transparent_routes.h"
#include "tests/lib/namespace.h"
#include "tests/lib/test.h"
#include "tests/unit/config_fixture.h"

#define FROM_TCP "listen = \"tcp://127.0.0.1:111\"; max_connections = 9; "
#define CLIENTS  "source = \"client\"; "

static char *said;
static size_t said_bytes;

static FILE *listen_to(void)
{
	free(said);
	said = NULL;
	return open_memstream(&said, &said_bytes);
}

static void teardown(void)
{
	free(said);
	said = NULL;
	config_fixture_teardown();
}

/* ---- values ---- */

START_TEST(addresses_are_read_and_printed)
{
	const struct service_config *s = config_fixture_service(SERVICE(
		FROM_TCP "connect = \"tcp://filer\"; "
			 "source_address = [ \"127.0.0.2\", \"::1\", \"::ffff:127.0.0.3\" ];"));
	FILE *out = listen_to();

	ck_assert_int_eq(s->source, SOURCE_PROXY);
	ck_assert_uint_eq(s->nsources, 3);
	ck_assert_int_eq(s->sources[1].ss_family, AF_INET6);
	ck_assert_int_eq(s->sources[2].ss_family, AF_INET);
	ck_assert_uint_eq(((struct sockaddr_in *)&s->sources[2])->sin_addr.s_addr,
			  htonl(INADDR_LOOPBACK + 2));
	config_print_service(s, out);
	fclose(out);
	ck_assert_ptr_nonnull(
		strstr(said, "source_address = [ \"127.0.0.2\", \"::1\", \"127.0.0.3\" ];\n"));
}
END_TEST

START_TEST(ports_are_kept_where_tcp_clients_are_seen)
{
	ck_assert(config_keeps_client_ports(
		config_fixture_service(SERVICE(FROM_TCP "connect = \"tcp://filer\"; " CLIENTS))));
	ck_assert(!config_keeps_client_ports(
		config_fixture_service(SERVICE(FROM_TCP "connect = \"tcp://filer\"; "))));
	ck_assert(!config_keeps_client_ports(config_fixture_service(
		SERVICE("listen = \"iwarp://127.0.0.1\"; connect = \"tcp://filer\"; " CLIENTS))));
}
END_TEST

static const struct {
	const char *addresses;
	bool same;
} others[] = {
	{"source_address = [ \"127.0.0.2\", \"::ffff:127.0.0.3\" ];", true},
	{"source_address = [ \"127.0.0.3\", \"127.0.0.2\" ];", false},
	{"source_address = [ \"127.0.0.2\" ];", false},
	{"source_address = [ ];", false},
	{CLIENTS, false},
};

START_TEST(a_service_that_comes_from_elsewhere_is_another)
{
	static const char text[] = SERVICE(FROM_TCP "connect = \"tcp://filer\"; %s");
	struct config *first;
	char other[400];

	snprintf(other, sizeof(other), text, "source_address = [ \"127.0.0.2\", \"127.0.0.3\" ];");
	ck_assert_int_eq(config_fixture_load(other), 0);
	first = config_ref(fixture.config);
	snprintf(other, sizeof(other), text, others[_i].addresses);
	ck_assert_int_eq(config_fixture_load(other), 0);
	ck_assert_int_eq(config_service_equal(&first->services[0], &fixture.config->services[0]),
			 others[_i].same);
	config_free(first);
}
END_TEST

static const struct {
	const char *text, *error;
	int rc;
} wrong[] = {
	{FROM_TCP "connect = \"tcp://filer\"; source = \"server\";",
	 "2: source is \"server\", but must be \"proxy\" or \"client\"\n", -EINVAL},
	{FROM_TCP "connect = \"rdma://filer\"; " CLIENTS,
	 "2: source is for services that connect to tcp:// or iwarp://\n", -EINVAL},
	{FROM_TCP "connect = \"rdma://filer\"; source_address = [ \"127.0.0.2\" ];",
	 "2: source_address is for services that connect to tcp:// or iwarp://\n", -EINVAL},
	{FROM_TCP "connect = \"tcp://filer\"; source_address = \"127.0.0.2\";",
	 "2: source_address must be an array of strings: [ \"10.0.0.7\" ], not a string\n",
	 -EINVAL},
	{FROM_TCP "connect = \"tcp://filer\"; source_address = [ 127 ];",
	 "2: source_address must be an array of strings, not a number\n", -EINVAL},
	{FROM_TCP "connect = \"tcp://filer\"; source_address = [ \"127.0.0.0/8\" ];",
	 "2: source_address: write single addresses, without a prefix length\n", -EINVAL},
	{FROM_TCP "connect = \"tcp://filer\"; source_address = [ \"filer\" ];",
	 "2: source_address: \"filer\" is not an IPv4 or IPv6 address: names are not supported here\n",
	 -EINVAL},
	{FROM_TCP "connect = \"tcp://filer\"; source_address = [ \"::1\", \"::1\" ];",
	 "2: source_address: ::1 is listed twice\n", -EINVAL},
	/* It may come. */
	{FROM_TCP "connect = \"tcp://filer\"; source_address = [ \"192.0.2.30\" ];",
	 "2: source_address: address 192.0.2.30 is not configured on this host\n", -ENODEV},
	{FROM_TCP "connect = \"tcp://filer\";\nsource_address = [ \"::1\" ]; " CLIENTS,
	 "3: source_address cannot be combined with source = \"client\"\n", -EINVAL},
	{FROM_TCP "connect = \"tcp://192.0.2.1\"; source_address = [ \"::1\" ];",
	 "2: source_address: no IPv4 address to connect to the server 192.0.2.1 from\n", -EINVAL},
	{FROM_TCP "connect = \"tcp://[2001:db8::1]\"; source_address = [ \"127.0.0.2\" ];",
	 "2: source_address: no IPv6 address to connect to the server 2001:db8::1 from\n", -EINVAL},
};

START_TEST(impossible_combinations_are_errors)
{
	char text[600];

	snprintf(text, sizeof(text), SERVICE("%s"), wrong[_i].text);
	ck_assert_int_eq(config_fixture_load(text), wrong[_i].rc);
	ck_assert_str_eq(fixture.errors, config_fixture_at(wrong[_i].error));
}
END_TEST

START_TEST(there_is_a_limit_to_addresses)
{
	char text[3000];
	int n = snprintf(text, sizeof(text),
			 "services = (\n{ name = \"a\"; " FROM_TCP "connect = \"tcp://filer\"; "
			 "source_address = [ \"127.0.1.0\"");

	for (unsigned i = 1; i < CONFIG_MAX_SOURCES + (unsigned)_i; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ", \"127.0.1.%u\"", i);
	snprintf(text + n, sizeof(text) - (size_t)n, " ]; } );");
	ck_assert_int_eq(config_fixture_load(text), _i ? -EINVAL : 0);
	if (_i)
		ck_assert_str_eq(
			fixture.errors,
			config_fixture_at(
				"2: source_address has 65 addresses, but at most 64 are allowed\n"));
	else
		ck_assert_uint_eq(fixture.config->services[0].nsources, CONFIG_MAX_SOURCES);
}
END_TEST

/* ---- warnings ---- */

static const struct {
	const char *text, *warning; /* NULL: none */
} warnings[] = {
	{"listen = \"tcp://[::]:2049\"; connect = \"tcp://filer\"; " CLIENTS, NULL},
	{"listen = \"tcp://127.0.0.1:2049\"; connect = \"tcp://filer\"; source_port = \"any\"; " CLIENTS,
	 "2: warning: service a has source_port, which does nothing: with source = \"client\" each "
	 "connection has the port of its TCP client\n"},
	{"listen = \"iwarp://127.0.0.1\"; connect = \"tcp://filer\"; source_port = \"any\"; " CLIENTS,
	 NULL},
	{"listen = \"tcp://127.0.0.1:2049\"; connect = \"tcp://filer\"; max_connections = 718; "
	 "source_address = [ \"127.0.0.2\", \"127.0.0.3\" ];",
	 NULL},
	{"listen = \"tcp://127.0.0.1:2049\"; connect = \"tcp://filer\"; max_connections = 719; "
	 "source_port = \"reserved\"; source_address = [ \"127.0.0.2\", \"127.0.0.3\" ];",
	 "2: warning: service a has max_connections = 719, but only the first 718 connections can use a source port below 1024: later ones are refused (source_port = \"reserved\")\n"},
};

#define RESERVED "source_port = \"reserved\"; "
#define SHARES(ports, sum)                                                                         \
	"3: warning: service b shares its " ports                                                  \
	" source ports below 1024 with service a, which "                                          \
	"connects to the same server tcp://filer:2049: their max_connections come to " sum         \
	", and "                                                                                   \
	"later clients are refused; give each service its own source_address, or lower "           \
	"max_connections\n"

static const struct {
	const char *a, *b, *warning;
} shared[] = {
	{RESERVED, RESERVED, SHARES("359", "718")},
	{RESERVED "max_connections = 200;", RESERVED "max_connections = 160;",
	 SHARES("359", "360")},
	{RESERVED "max_connections = 200;", RESERVED "max_connections = 159;", ""},
	/* Others come from other ports, or from the clients' addresses. */
	{RESERVED, "", ""},
	{"source_port = \"any\";", RESERVED, ""},
	{RESERVED "source_address = [ \"127.0.0.1\" ];", RESERVED, ""},
	{RESERVED "source_address = [ \"127.0.0.1\" ];",
	 RESERVED "source_address = [ \"127.0.0.2\" ];", ""},
	{RESERVED "source_address = [ \"127.0.0.1\", \"127.0.0.2\" ];",
	 RESERVED "source_address = [ \"127.0.0.2\", \"127.0.0.3\" ];", SHARES("718", "1436")},
};

static const char *warnings_of_two(const char *a, const char *b, const char *server_b)
{
	FILE *out = listen_to();
	char text[1024];

	snprintf(
		text, sizeof(text),
		"services = (\n{ name = \"a\"; listen = \"tcp://127.0.0.1:1\"; connect = "
		"\"tcp://filer\"; %s },\n{ name = \"b\"; listen = \"tcp://127.0.0.1:2\"; connect = "
		"%s; %s }\n);\n",
		a, server_b, b);
	ck_assert_msg(config_fixture_load(text) == 0, "%s", fixture.errors);
	config_warn(fixture.config, out);
	fclose(out);
	return said;
}

START_TEST(services_that_share_the_ports_below_1024_are_warned_of)
{
	const char *expected = *shared[_i].warning ? config_fixture_at(shared[_i].warning) : "";

	ck_assert_str_eq(warnings_of_two(shared[_i].a, shared[_i].b, "\"tcp://filer\""), expected);
}
END_TEST

START_TEST(only_services_of_one_server_share_ports)
{
	ck_assert_str_eq(warnings_of_two(RESERVED, RESERVED, "\"tcp://other\""), "");
	ck_assert_str_eq(warnings_of_two(RESERVED, RESERVED, "\"tcp://filer:2050\""), "");
	ck_assert_str_eq(
		warnings_of_two(RESERVED, RESERVED, "[ \"tcp://other\", \"tcp://FILER\" ]"),
		config_fixture_at("3: warning: service b shares its 359 source ports below "
				  "1024 with service a, which connects to the same server "
				  "tcp://FILER:2049: their max_connections come to 718, and "
				  "later clients are refused; give each service its own "
				  "source_address, or lower max_connections\n"));
}
END_TEST

START_TEST(unwise_combinations_are_warned_of)
{
	char text[600];
	FILE *out;

	snprintf(text, sizeof(text), SERVICE("%s"), warnings[_i].text);
	ck_assert_msg(config_fixture_load(text) == 0, "%s", fixture.errors);
	out = listen_to();
	config_warn(fixture.config, out);
	fclose(out);
	ck_assert_str_eq(said, warnings[_i].warning ? config_fixture_at(warnings[_i].warning) : "");
}
END_TEST

/* ---- routes ---- */

#define TABLE_4             "    ip route replace local 0.0.0.0/0 dev lo table 2049\n"
#define TABLE_6             "    ip -6 route replace local ::/0 dev lo table 2049\n"
#define HERE_4              "    ip rule add from 127.0.0.0/8 iif lo lookup 2049\n"
#define HERE_6              "    ip -6 rule add from ::1 iif lo lookup 2049\n"
#define THERE_4(host, port) "    ip rule add from " host " ipproto tcp sport " port " lookup 2049\n"
#define THERE_6(host, port)                                                                        \
	"    ip -6 rule add from " host " ipproto tcp sport " port " lookup 2049\n"

static const struct {
	const char *connect, *lines;
} routes[] = {
	{"\"tcp://127.0.0.1:2050\"", TABLE_4 HERE_4},
	{"\"tcp://[::1]\"", TABLE_6 HERE_6},
	{"\"tcp://localhost\"", TABLE_4 HERE_4 TABLE_6 HERE_6},
	{"\"tcp://192.0.2.1\"", TABLE_4 THERE_4("192.0.2.1", "2049")},
	{"\"tcp://[2001:db8::1]:2050\"", TABLE_6 THERE_6("2001:db8::1", "2050")},
	{"[ \"iwarp://192.0.2.1\", \"iwarp://[2001:db8::1]\" ]",
	 TABLE_4 THERE_4("192.0.2.1", "20049") TABLE_6 THERE_6("2001:db8::1", "20049")},
	{"\"tcp://filer\"", TABLE_4 TABLE_6
	 "    # if filer is this host itself, by 127.0.0.1 or ::1\n" HERE_4 HERE_6
	 "    # if filer is another host, for each ADDRESS of it\n" THERE_4("ADDRESS", "2049")
		 THERE_6("ADDRESS", "2049")},
	/* MOUNT has its own way back, and where rpcbind says it, any port. */
	{"\"tcp://192.0.2.1\"; mount = \"tcp://192.0.2.1:20048\"",
	 TABLE_4 THERE_4("192.0.2.1", "2049") THERE_4("192.0.2.1", "20048")},
	{"\"tcp://127.0.0.1\"; mount = \"tcp://192.0.2.2:20048\"",
	 TABLE_4 HERE_4 THERE_4("192.0.2.2", "20048")},
	{"\"tcp://192.0.2.1\"; mount = \"rpcbind\"",
	 TABLE_4 "    ip rule add from 192.0.2.1 ipproto tcp lookup 2049\n"},
	/* What is needed in any case is printed once, and first. */
	{"[ \"tcp://filer\", \"tcp://192.0.2.1\", \"tcp://127.0.0.1\", \"tcp://127.0.0.2\" ]",
	 TABLE_4 THERE_4("192.0.2.1", "2049") HERE_4 TABLE_6
	 "    # if filer is this host itself, by 127.0.0.1 or ::1\n" HERE_6
	 "    # if filer is another host, for each ADDRESS of it\n" THERE_4("ADDRESS", "2049")
		 THERE_6("ADDRESS", "2049")},
};

START_TEST(the_routes_of_a_service_are_printed)
{
	char text[600];
	const char *lines;
	FILE *out;

	snprintf(text, sizeof(text), SERVICE(FROM_TCP CLIENTS "connect = %s;"), routes[_i].connect);
	ck_assert_msg(config_fixture_load(text) == 0, "%s", fixture.errors);
	out = listen_to();
	transparent_routes_print(fixture.config, out);
	fclose(out);
	lines = strchr(said, '\n');
	ck_assert_ptr_nonnull(strstr(said, ": source = \"client\" needs CAP_NET_RAW"));
	ck_assert_str_eq(lines + 1, routes[_i].lines);
}
END_TEST

START_TEST(without_such_a_service_nothing_is_printed)
{
	FILE *out = listen_to();

	config_fixture_service(SERVICE(TCP_TO_TCP));
	transparent_routes_print(fixture.config, out);
	fclose(out);
	ck_assert_str_eq(said, "");
}
END_TEST

/* ---- what a host lacks ---- */

static void note(void *arg, const struct service_config *service, const char *text)
{
	fprintf(arg, "%s: %s\n", service->name, text);
}

static const char *lacks(const char *allow, const char *server)
{
	char text[600];
	FILE *out;

	snprintf(text, sizeof(text), SERVICE(FROM_TCP CLIENTS "connect = \"tcp://%s\"; %s"), server,
		 allow);
	ck_assert_msg(config_fixture_load(text) == 0, "%s", fixture.errors);
	out = listen_to();
	transparent_routes_missing(&fixture.config->services[0], note, out);
	fclose(out);
	return said;
}

/* Whether this network is the test's own, and may be changed. */
static bool may_set_routes(void)
{
	return namespace_is_own() && ip_transparent_is_permitted() &&
	       !system("ip route add local 0.0.0.0/0 dev lo table 2049 2>/dev/null");
}

START_TEST(missing_routes_are_reported_until_they_exist)
{
	if (!may_set_routes())
		return;
	ck_assert_str_eq(lacks("allow = [ \"127.0.0.0/8\" ];", "127.0.0.1"), "");
	/* The loopback is all that the test has: to others there is no route yet. */
	ck_assert_str_eq(lacks("", "192.0.2.9"), "a: no route to the server 192.0.2.9:2049\n");
	ck_assert_str_eq(
		lacks("allow = [ \"10.9.0.0/24\" ];", "127.0.0.1"),
		"a: packets from the server 127.0.0.1:2049 to a client such as 10.9.0.1 are not routed to this host: set the routes that rpcrdma-proxy -t prints\n");
	ck_assert_ptr_nonnull(strstr(lacks("", "127.0.0.1"), "a client such as 192.0.2.1 "));
	/* Nobody has an IPv6 address. */
	ck_assert_str_eq(lacks("allow = [ \"10.9.0.0/24\" ];", "[::1]"), "");
	ck_assert_ptr_nonnull(
		strstr(lacks("allow = [ \"2001:db8:9::/64\" ];", "[::1]"), "2001:db8:9::1 "));
	ck_assert_int_eq(system("ip rule add from 127.0.0.0/8 iif lo lookup 2049"), 0);
	ck_assert_str_eq(lacks("allow = [ \"10.9.0.0/24\" ];", "127.0.0.1"), "");
	ck_assert_str_eq(lacks("", "127.0.0.1"), "");
	ck_assert_int_eq(system("ip rule del from 127.0.0.0/8 iif lo lookup 2049; "
				"ip route flush table 2049"),
			 0);
}
END_TEST

START_TEST(an_own_address_of_this_host_is_no_place_for_a_server)
{
	char text[600];

	if (!may_set_routes())
		return;
	ck_assert_int_eq(system("ip route flush table 2049; ip address add 10.9.0.254/32 dev lo"),
			 0);
	snprintf(text, sizeof(text), SERVICE(FROM_TCP "connect = \"tcp://10.9.0.254\"; %s"), "");
	ck_assert_int_eq(config_fixture_load(text), 0);
	snprintf(text, sizeof(text), SERVICE(FROM_TCP "connect = \"tcp://10.9.0.254\"; %s"),
		 CLIENTS);
	ck_assert_int_eq(config_fixture_load(text), -EINVAL);
	ck_assert_str_eq(
		fixture.errors,
		config_fixture_at(
			"2: connect: 10.9.0.254 is an address of this host: with source = \"client\" a server on this host must be 127.0.0.1 or [::1]\n"));
	ck_assert_int_eq(system("ip address del 10.9.0.254/32 dev lo"), 0);
}
END_TEST

START_TEST(a_missing_capability_is_reported)
{
	if (geteuid() == 0) {
		/* The folder of the fixture is to be left behind by who made it. */
		config_fixture_teardown();
		ck_assert_int_eq(setuid(65534), 0);
		config_fixture_setup();
	}
	ck_assert_ptr_nonnull(strstr(
		lacks("allow = [ \"127.0.0.0/8\" ];", "127.0.0.1"),
		"a: source = \"client\": CAP_NET_RAW is missing, so its clients are refused: the unit has it by "));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_source");
	TCase *tc = tcase_create("config_source");

	tcase_add_checked_fixture(tc, config_fixture_setup, teardown);
	tcase_add_test(tc, addresses_are_read_and_printed);
	tcase_add_test(tc, ports_are_kept_where_tcp_clients_are_seen);
	tcase_add_loop_test(tc, a_service_that_comes_from_elsewhere_is_another, 0,
			    ARRAY_SIZE(others));
	tcase_add_loop_test(tc, impossible_combinations_are_errors, 0, ARRAY_SIZE(wrong));
	tcase_add_loop_test(tc, there_is_a_limit_to_addresses, 0, 2);
	tcase_add_loop_test(tc, services_that_share_the_ports_below_1024_are_warned_of, 0,
			    ARRAY_SIZE(shared));
	tcase_add_test(tc, only_services_of_one_server_share_ports);
	tcase_add_loop_test(tc, unwise_combinations_are_warned_of, 0, ARRAY_SIZE(warnings));
	tcase_add_loop_test(tc, the_routes_of_a_service_are_printed, 0, ARRAY_SIZE(routes));
	tcase_add_test(tc, without_such_a_service_nothing_is_printed);
	tcase_add_test(tc, missing_routes_are_reported_until_they_exist);
	tcase_add_test(tc, an_own_address_of_this_host_is_no_place_for_a_server);
	tcase_add_test(tc, a_missing_capability_is_reported);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests a whole proxy that runs out of descriptors, or of reserved source ports. */
#include <jansson.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/config/config_memory.h"
#include "tests/unit/proxy_scene.h"

/* A second service with many clients, and its server, which answers nobody. */
static uint16_t crowded;
static int crowded_server;

static void start_two(const char *max_one, const char *max_two)
{
	uint16_t port = fixture_port();

	crowded = fixture_port();
	crowded_server = fixture_listen(port);
	fixture_start("{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; max_connections = %s; " PLAIN_TCP " }, "
		      "{ name = \"two\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; max_connections = %s; "
		      "max_message_bytes = 16384; " PLAIN_TCP " }",
		      front, back, max_one, crowded, port, max_two);
}

static unsigned lowest_descriptor(void)
{
	int fd = dup(server);

	ck_assert_int_ge(fd, 0);
	close(fd);
	return (unsigned)fd;
}

#define CROWD 12

/* Answers one client's Call, whose XID is its number, and ends both connections. */
static void serve(const int clients[CROWD], int upstream)
{
	uint32_t xid;

	read_any(upstream, &xid);
	ck_assert_uint_lt(xid, CROWD);
	send_reply(upstream, xid, 0);
	read_message(clients[xid], xid);
	close(clients[xid]);
	close(upstream);
}

/*
 * The proxy may have four connections or so; the test itself has all the descriptors that it needs.
 */
START_TEST(without_descriptors_clients_wait_and_none_is_closed)
{
	int clients[CROWD], upstreams[CROWD];
	struct rlimit before, few;
	unsigned most;

	/* What the proxy takes for itself, what it keeps, and two a connection. */
	start_tcp("");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = lowest_descriptor() + CONFIG_DESCRIPTORS_RESERVED +
		       4 * CONFIG_DESCRIPTORS_CONNECTION;
	fixture_stop();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	start_tcp("");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	most = proxy->max_connections;
	ck_assert_uint_ge(most, 4);
	ck_assert_uint_lt(most, CROWD / 2);
	/* What is shown is what is accepted, and what -tv has said before is no more. */
	ck_assert_uint_eq(proxy->config->services[0].max_connections, most);
	ck_assert_int_eq(proxy->config->services[0].limit, CONFIG_LIMIT_DESCRIPTORS);
	for (uint32_t i = 0; i < CROWD; i++) {
		clients[i] = fixture_connect(front);
		send_call(clients[i], i, 0);
	}
	for (uint32_t i = 0; i < CROWD; i++) {
		upstreams[i] = fixture_accept(server, NULL);
		if (i + 1 == most)
			ck_assert(fixture_is_quiet(server, 50));
		/* From the last that there is room for on, each one makes room for the next. */
		if (i + 1 >= most)
			serve(clients, upstreams[i + 1 - most]);
	}
	for (uint32_t i = CROWD + 1 - most; i < CROWD; i++)
		serve(clients, upstreams[i]);
}
END_TEST

#define MANY      600
#define MANY_TEXT "600"

/*
 * All descriptors that the formula of the manual asks for, and a service whose clients come in
 * greater numbers than it counts with, half of them to say nothing.
 */
START_TEST(descriptors_of_one_service_are_not_taken_by_the_clients_of_another)
{
	static int crowd[2 * MANY];
	struct rlimit before, few, most;
	int quiet, client, upstream;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	most = before;
	most.rlim_cur = before.rlim_max;
	if (most.rlim_cur < 8 * MANY)
		return;
	start_two("8", MANY_TEXT);
	few = before;
	few.rlim_cur = config_descriptors(proxy->config);
	fixture_stop();
	close(crowded_server);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	start_two("8", MANY_TEXT);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &most), 0);
	ck_assert_uint_lt(proxy->max_connections, 2 * MANY);
	quiet = fixture_connect(front);
	for (uint32_t i = 0; i < 2 * MANY; i++) {
		crowd[i] = fixture_connect(crowded);
		if (i < MANY)
			send_call(crowd[i], i, 0);
	}
	/* The first that says nothing goes for those that wait, since it is of their service. */
	read_end(crowd[MANY]);
	ck_assert(fixture_is_quiet(quiet, 0));
	open_pair(7, &client, &upstream, NULL);
	close(client);
	close(upstream);
	close(quiet);
	for (uint32_t i = 0; i < 2 * MANY; i++)
		close(crowd[i]);
	close(crowded_server);
}
END_TEST

#define PART 100 /* of a service, beside what is for refused clients */

/*
 * Two services that have as many clients as descriptors allow: each is sure of half of them, so the
 * crowd of one leaves the other its clients.
 */
START_TEST(descriptors_are_divided_among_services_with_auto)
{
	const unsigned both =
		2 * (PART + CONFIG_DESCRIPTORS_TARPIT / CONFIG_DESCRIPTORS_CONNECTION);
	static int crowd[2 * MANY];
	struct rlimit before, few, most;
	int client, upstream;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	most = before;
	most.rlim_cur = before.rlim_max;
	if (most.rlim_cur < 8 * MANY)
		return;
	start_two("\"auto\"", "\"auto\"");
	few = before;
	few.rlim_cur = lowest_descriptor() + CONFIG_DESCRIPTORS_RESERVED +
		       both * CONFIG_DESCRIPTORS_CONNECTION;
	fixture_stop();
	close(crowded_server);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	start_two("\"auto\"", "\"auto\"");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &most), 0);
	ck_assert_uint_lt(proxy->max_connections, both + 8);
	for (uint32_t i = 0; i < both + MANY / 10; i++) {
		crowd[i] = fixture_connect(crowded);
		send_call(crowd[i], i, 0);
	}
	open_pair(7, &client, &upstream, NULL);
	close(client);
	close(upstream);
	for (uint32_t i = 0; i < both + MANY / 10; i++)
		close(crowd[i]);
	close(crowded_server);
}
END_TEST

static unsigned warnings;

static bool count_warning(void *arg, const char *line, size_t len)
{
	warnings += strstr(line, "max_connections of all services come to 3000") != NULL;
	return true;
}

static uint64_t any_time(clockid_t clock)
{
	return 0;
}

/* The formula of the manual is enough; with less, the log says so. */
START_TEST(a_limit_of_descriptors_below_max_connections_is_said)
{
	static const struct log_output output = {.write = count_warning, .now_us = any_time};
	struct rlimit before, few;

	start_tcp("max_connections = 3000;");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = _i ? config_descriptors(proxy->config) : 2 * 3000;
	if (before.rlim_max < few.rlim_cur)
		return;
	fixture_stop();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	log_set_output(&output);
	log_set_level(LOG_LEVEL_WARNING);
	warnings = 0;
	start_tcp("max_connections = 3000;");
	log_set_output(NULL);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(proxy->max_connections >= 3000, _i);
	ck_assert_uint_eq(warnings, !_i);
}
END_TEST

/* All of this network, as far as this process may have them; of no use to anybody else then. */
static void use_up_reserved_ports(int fds[RESERVED_PORTS_COUNT])
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	int one = 1;

	for (unsigned i = 0; i < RESERVED_PORTS_COUNT; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		setsockopt(fds[i], SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		in.sin_port = htons((uint16_t)(RESERVED_PORTS_LAST + i));
		if (!bind(fds[i], (struct sockaddr *)&in, sizeof(in)))
			ck_assert_int_eq(listen(fds[i], 1), 0);
	}
}

/* Returns whether `status` shows a problem. */
static bool has_problem(const char *id)
{
	json_t *answer = control_ask("status\n"), *problem;
	bool found = false;
	size_t i;

	json_array_foreach(json_object_get(answer, "problems"), i, problem)
	{
		found |= !strcmp(json_string_value(json_object_get(problem, "id")), id);
	}
	json_decref(answer);
	return found;
}

static void free_ports(const int fds[RESERVED_PORTS_COUNT])
{
	for (unsigned i = 0; i < RESERVED_PORTS_COUNT; i++)
		close(fds[i]);
}

static atomic_uint shortfall_lines;

static bool count_shortfalls(void *arg, const char *line, size_t len)
{
	if (memmem(line, len, "all reserved ports are in use. NFS exports", 42))
		atomic_fetch_add(&shortfall_lines, 1);
	return true;
}

static uint64_t clock_us(clockid_t clock)
{
	return 1;
}

START_TEST(connections_from_unprivileged_ports_are_counted_and_said_once)
{
	static const struct log_output output = {.write = count_shortfalls, .now_us = clock_us};
	int fds[RESERVED_PORTS_COUNT], client[3], upstream[3];
	json_t *json, *tcp;
	uint16_t from;

	use_up_reserved_ports(fds);
	log_set_level(LOG_LEVEL_WARNING);
	log_set_output(&output);
	fixture_start("{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; require_privileged_port = false; }",
		      front, back);
	for (uint32_t i = 0; i < 3; i++) {
		/* A client that has no such port itself would not be given one. */
		client[i] = fixture_connect_from((uint16_t)(600 + i), front);
		send_call(client[i], i, 0);
		upstream[i] = fixture_accept(server, &from);
		ck_assert_uint_eq(read_message(upstream[i], i), FIXTURE_CALL_BYTES);
		ck_assert_uint_ge(from, IPPORT_RESERVED);
	}
	/*
	 * A server that closed before it has answered would be asked by a NULL of the proxy's own.
	 */
	for (unsigned i = 0; i < 3; i++) {
		close(client[i]);
		close(upstream[i]);
	}
	json = control_ask("stats\n");
	tcp = json_object_get(json_object_get(json_object_get(json, "services"), "one"), "tcp");
	ck_assert_int_eq(json_integer_value(json_object_get(tcp, "source_port_shortfalls")), 3);
	json_decref(json);
	ck_assert_uint_eq(shortfall_lines, 1);
	ck_assert(has_problem("source_ports_unprivileged"));
	fixture_stop();
	log_set_output(NULL);
	free_ports(fds);
}
END_TEST

START_TEST(a_client_that_no_reserved_port_is_left_for_is_refused)
{
	int fds[RESERVED_PORTS_COUNT], client;

	use_up_reserved_ports(fds);
	fixture_start("{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; source_port = \"reserved\"; "
		      "require_privileged_port = false; }",
		      front, back);
	ck_assert(!has_problem("source_ports_short"));
	client = fixture_connect(front);
	send_call(client, 1, 0);
	read_end(client);
	close(client);
	ck_assert(has_problem("source_ports_short"));
	fixture_stop();
	free_ports(fds);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("proxy that runs out");
	TCase *tc = tcase_create("proxy that runs out");

	tcase_add_checked_fixture(tc, scene_setup, scene_teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, without_descriptors_clients_wait_and_none_is_closed);
	tcase_add_test(tc, descriptors_of_one_service_are_not_taken_by_the_clients_of_another);
	tcase_add_test(tc, descriptors_are_divided_among_services_with_auto);
	tcase_add_loop_test(tc, a_limit_of_descriptors_below_max_connections_is_said, 0, 2);
	tcase_add_test(tc, connections_from_unprivileged_ports_are_counted_and_said_once);
	tcase_add_test(tc, a_client_that_no_reserved_port_is_left_for_is_refused);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

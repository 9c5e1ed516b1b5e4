// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests which clients are admitted, evicted and tarpitted: a whole proxy on loopback, with clients
 * that send little.
 */
#include <dirent.h>
#include <jansson.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/proxy_fixture.h"

#define MAX   8
#define CROWD 300

static uint16_t front, middle, back;
static int server;
static int crowd[CROWD];

static void setup(void)
{
	fixture_setup();
	front = fixture_port();
	middle = fixture_port();
	back = fixture_port();
	server = fixture_listen(back);
}

static void teardown(void)
{
	fixture_teardown();
	close(server);
}

/*
 * A TCP service, or one of iwarp that a TCP service leads to; what @more says is of the last one.
 */
static void start(bool iwarp, const char *more)
{
	if (iwarp) {
		fixture_start("{ name = \"one\"; listen = \"iwarp://127.0.0.1:%u\"; "
			      "connect = \"tcp://127.0.0.1:%u\"; source_port = \"any\"; %s }",
			      middle, back, more);
		fixture_start("{ name = \"way\"; listen = \"tcp://127.0.0.1:%u\"; "
			      "connect = \"iwarp://127.0.0.1:%u\"; "
			      "require_privileged_port = false; }",
			      front, middle);
	} else {
		fixture_start("{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; "
			      "connect = \"tcp://127.0.0.1:%u\"; require_privileged_port = false; "
			      "source_port = \"any\"; %s }",
			      front, back, more);
	}
	if (!iwarp)
		middle = front;
}

static json_int_t number(const json_t *service, const char *key, const char *within)
{
	const json_t *object = within ? json_object_get(service, within) : service;

	return json_integer_value(json_object_get(object, key));
}

/* A number that the control socket shows of the service "one". */
static json_int_t shown(const char *key, const char *within)
{
	json_t *json = control_ask("services\n"), *list = json_object_get(json, "services");
	json_int_t value = number(json_array_get(list, json_array_size(list) - 1), key, within);

	json_decref(json);
	return value;
}

static void await(const char *key, const char *within, json_int_t value)
{
	while (shown(key, within) != value)
		;
}

/* On whosever account. */
static json_int_t closes(const char *why)
{
	json_t *json = control_ask("stats\n"), *reasons;
	json_int_t value = 0;
	const char *side;

	json_object_foreach(
		json_object_get(json_object_get(json_object_get(json, "services"), "one"),
				"closes"),
		side, reasons) value += json_integer_value(json_object_get(reasons, why));
	json_decref(json);
	return value;
}

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* A client that is served as long as it lives. */
static void serve_one(int *client, int *upstream, uint32_t xid)
{
	*client = fixture_connect(front);
	send_call(*client, xid, 0);
	*upstream = fixture_accept(server, NULL);
	read_message(*upstream, xid);
	send_reply(*upstream, xid, 0);
	read_message(*client, xid);
}

static void await_idle(unsigned was)
{
	await("connections", NULL, 0);
	await("half_open", NULL, 0);
	await("held", NULL, 0);
	while (descriptors() != was)
		;
}

/* ---- silent ones ---- */

START_TEST(silent_sockets_keep_no_other_out)
{
	int client, upstream;
	unsigned was;

	start(_i, "max_connections = 8;");
	was = descriptors();
	for (int i = 0; i < MAX; i++)
		crowd[i] = fixture_connect(middle);
	await("half_open", NULL, MAX);
	serve_one(&client, &upstream, 1);
	for (int i = 0; i < MAX; i++) {
		ck_assert(fixture_is_quiet(crowd[i], 0));
		close(crowd[i]);
	}
	close(client);
	close(upstream);
	await_idle(was);
}
END_TEST

START_TEST(past_the_limit_of_half_open_ones_the_oldest_goes)
{
	unsigned was;

	start(_i, "max_connections = 8;");
	was = descriptors();
	for (unsigned i = 0; i < CONN_LIMITS_HALF_OPEN_MIN + 1; i++)
		crowd[i] = fixture_connect(middle);
	read_end(crowd[0]);
	await("half_open", NULL, CONN_LIMITS_HALF_OPEN_MIN);
	ck_assert_int_eq(closes("half_open"), 1);
	for (unsigned i = 0; i < CONN_LIMITS_HALF_OPEN_MIN + 1; i++) {
		ck_assert(!i || fixture_is_quiet(crowd[i], 0));
		close(crowd[i]);
	}
	await_idle(was);
}
END_TEST

/* Without private data. */
static int mpa_request(void)
{
	static const char request[20] = "MPA ID Req Frame\x40\x01\0\0";
	int fd = fixture_connect(middle);

	ck_assert_int_eq(send(fd, request, sizeof(request), 0), sizeof(request));
	return fd;
}

static int mpa_set_up(void)
{
	int fd = mpa_request();
	char reply[20];

	ck_assert_int_eq(recv(fd, reply, sizeof(reply), MSG_WAITALL), sizeof(reply));
	ck_assert_int_eq(memcmp(reply, "MPA ID Rep Frame", 16), 0);
	/* 0x20 would be a rejection. */
	ck_assert_int_eq(reply[16] & 0x20, 0);
	return fd;
}

START_TEST(connections_without_a_call_keep_no_other_out)
{
	int client, upstream, idle[MAX];
	unsigned was;

	start(true, "max_connections = 8;");
	was = descriptors();
	for (int i = 0; i < MAX; i++) {
		crowd[i] = mpa_set_up();
		idle[i] = fixture_accept(server, NULL);
	}
	ck_assert_int_eq(shown("half_open", NULL), 0);
	ck_assert_int_eq(shown("connections", NULL), MAX);
	serve_one(&client, &upstream, 1);
	/* The oldest made room. */
	read_end(crowd[0]);
	read_end(idle[0]);
	ck_assert_int_eq(closes("made_room"), 1);
	for (int i = 0; i < MAX; i++) {
		close(crowd[i]);
		close(idle[i]);
	}
	close(client);
	close(upstream);
	await_idle(was);
}
END_TEST

/* Those that have given a Call stay, and whoever comes then is turned away. */
START_TEST(no_connection_with_a_call_is_evicted)
{
	int clients[2], upstreams[2], late;

	start(_i, "max_connections = 2;");
	serve_one(&clients[0], &upstreams[0], 1);
	serve_one(&clients[1], &upstreams[1], 2);
	late = _i ? mpa_request() : fixture_connect(front);
	if (!_i)
		send_call(late, 3, 0);
	read_end(late);
	close(late);
	ck_assert_int_eq(closes("too_many"), 1);
	for (uint32_t i = 0; i < 2; i++) {
		send_call(clients[i], 7, 0);
		read_message(upstreams[i], 7);
		close(clients[i]);
		close(upstreams[i]);
	}
}
END_TEST

static unsigned lowest_descriptor(void)
{
	int fd = dup(server);

	ck_assert_int_ge(fd, 0);
	close(fd);
	return (unsigned)fd;
}

/*
 * The proxy may have four connections or so; the test itself has all the descriptors that it needs.
 */
START_TEST(silent_clients_are_evicted_if_descriptors_are_short)
{
	struct rlimit before, few;
	int client, upstream;

	start(false, "");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = lowest_descriptor() + 64 + 2 * 4;
	fixture_stop();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	start(false, "");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	for (int i = 0; i < MAX; i++)
		crowd[i] = fixture_connect(middle);
	serve_one(&client, &upstream, 1);
	ck_assert_int_ge(closes("half_open"), 1);
	for (int i = 0; i < MAX; i++)
		close(crowd[i]);
	close(client);
	close(upstream);
}
END_TEST

/* ---- max_connections_per_client ---- */

static int connect_from(uint32_t from)
{
	const struct sockaddr_in source = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(from)};
	const struct sockaddr_in to = {.sin_family = AF_INET,
				       .sin_port = htons(middle),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&source, sizeof(source)), 0);
	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

START_TEST(an_address_has_no_more_than_its_share)
{
	int fds[4];

	start(_i, "max_connections_per_client = 2;");
	for (int round = 1; round < 4; round++) {
		fds[0] = connect_from(0x7f000002);
		fds[1] = connect_from(0x7f000002);
		fds[2] = connect_from(0x7f000002);
		fds[3] = connect_from(0x7f000003);
		read_end(fds[2]);
		ck_assert_int_eq(shown("per_client", "refused"), round);
		ck_assert_int_eq(shown("half_open", NULL), 3);
		for (int i = 0; i < 4; i++) {
			ck_assert(i == 2 || fixture_is_quiet(fds[i], 0));
			close(fds[i]);
		}
		await("connections", NULL, 0);
	}
}
END_TEST

/* ---- held ones ---- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#define NOT_ALLOWED "allow = [ \"10.0.0.0/8\" ];"

/* One that comes back as soon as it can. */
START_TEST(a_client_that_is_turned_away_does_not_come_back_at_once)
{
	uint64_t start_ms;

	start(_i, NOT_ALLOWED);
	start_ms = now_ms();
	for (int i = 0; i < 4; i++) {
		int fd = fixture_connect(middle);

		send_call(fd, 1, 0);
		read_end(fd);
		close(fd);
	}
	/* Each time, except for a tick of the clock that the loop uses. */
	ck_assert_uint_ge(now_ms() - start_ms, 4 * (500 - 20));
	ck_assert_int_eq(shown("not_allowed", "refused"), 4);
	ck_assert_int_eq(shown("connections_total", NULL), 0);
}
END_TEST

static unsigned count_open(void)
{
	unsigned open = 0;

	for (int i = 0; i < CROWD; i++)
		open += fixture_is_quiet(crowd[i], 0);
	return open;
}

START_TEST(of_many_that_are_held_the_oldest_go)
{
	unsigned was;

	start(_i, NOT_ALLOWED);
	was = descriptors();
	for (int i = 0; i < CROWD; i++)
		crowd[i] = fixture_connect(middle);
	await("not_allowed", "refused", CROWD);
	ck_assert_int_le(shown("held", NULL), CONN_LIMITS_TARPIT_MAX);
	ck_assert_uint_le(count_open(), CONN_LIMITS_TARPIT_MAX);
	for (int i = 0; i < CROWD; i++) {
		read_end(crowd[i]);
		close(crowd[i]);
	}
	await_idle(was);
}
END_TEST

/* Nor does it wait for them. */
START_TEST(a_stop_ends_those_that_are_held)
{
	start(_i, NOT_ALLOWED);
	for (int i = 0; i < 10; i++)
		crowd[i] = fixture_connect(middle);
	await("not_allowed", "refused", 10);
	fixture_stop();
	for (int i = 0; i < 10; i++) {
		read_end(crowd[i]);
		close(crowd[i]);
	}
}
END_TEST

/* A server that is not there, and more clients than max_connections. */
START_TEST(held_clients_keep_no_other_out)
{
	int client, upstream;

	start(false, "max_connections = 8;");
	close(server);
	for (int i = 0; i < MAX; i++) {
		crowd[i] = fixture_connect(front);
		send_call(crowd[i], 1, 0);
	}
	while (closes("refused") != MAX)
		;
	server = fixture_listen(back);
	serve_one(&client, &upstream, 2);
	ck_assert_int_eq(closes("too_many"), 0);
	for (int i = 0; i < MAX; i++)
		close(crowd[i]);
	close(client);
	close(upstream);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("conn_limits_proxy");
	TCase *tc = tcase_create("conn_limits_proxy");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, silent_sockets_keep_no_other_out, 0, 2);
	tcase_add_loop_test(tc, past_the_limit_of_half_open_ones_the_oldest_goes, 0, 2);
	tcase_add_test(tc, connections_without_a_call_keep_no_other_out);
	tcase_add_loop_test(tc, no_connection_with_a_call_is_evicted, 0, 2);
	tcase_add_test(tc, silent_clients_are_evicted_if_descriptors_are_short);
	tcase_add_loop_test(tc, an_address_has_no_more_than_its_share, 0, 2);
	tcase_add_loop_test(tc, a_client_that_is_turned_away_does_not_come_back_at_once, 0, 2);
	tcase_add_loop_test(tc, of_many_that_are_held_the_oldest_go, 0, 2);
	tcase_add_loop_test(tc, a_stop_ends_those_that_are_held, 0, 2);
	tcase_add_test(tc, held_clients_keep_no_other_out);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

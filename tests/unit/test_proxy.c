// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests a whole proxy on loopback (listener, workers, bridges and queries) between peers that speak
 * raw RPC.
 */
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/control/control.h"
#include "rpcrdma/rdma_config.h"
#include "tests/lib/time_limit.h"
#include "tests/unit/proxy_scene.h"

/* Of a proxy that stops: TCP legs and fabrics give a peer two seconds each, resolvers three. */
#define STOP_BOUND_S 10

static void start_chain(const char *more)
{
	uint16_t middle = fixture_port();

	fixture_start("{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"iwarp://127.0.0.1:%u\"; require_privileged_port = false; %s }",
		      front, middle, more);
	fixture_start("{ name = \"two\"; listen = \"iwarp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; source_port = \"any\"; %s }",
		      middle, back, more);
}

static void (*const starts[])(const char *more) = {start_tcp, start_chain};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void stop_in_time(void)
{
	struct time_limit limit;

	time_limit_begin(&limit, STOP_BOUND_S);
	fixture_stop();
	ck_assert(!time_limit_passed(&limit));
}

/* The connections that were closed are gone, so their ports are remembered. */
static void await_no_connection(void)
{
	while (fixture_connections())
		sched_yield();
}

START_TEST(a_call_and_its_reply_pass)
{
	static const size_t sizes[] = {0, 1000, 4000, 8192, 70000, 1000000};
	int client, upstream;

	starts[_i]("");
	open_pair(7, &client, &upstream, NULL);
	send_reply(upstream, 7, 0);
	ck_assert_uint_eq(read_message(client, 7), FIXTURE_REPLY_BYTES);
	for (uint32_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		send_call(client, 100 + i, sizes[i]);
		ck_assert_uint_eq(read_message(upstream, 100 + i), FIXTURE_CALL_BYTES + sizes[i]);
		send_reply(upstream, 100 + i, sizes[i]);
		ck_assert_uint_eq(read_message(client, 100 + i), FIXTURE_REPLY_BYTES + sizes[i]);
	}
	close(client);
	read_end(upstream);
	close(upstream);
}
END_TEST

START_TEST(calls_and_replies_pass_the_other_way_too)
{
	int client, upstream;

	starts[_i]("");
	open_pair(7, &client, &upstream, NULL);
	/* The same XID in both directions at once (D1.1.4.1-1). */
	send_call(upstream, 7, 100);
	ck_assert_uint_eq(read_message(client, 7), FIXTURE_CALL_BYTES + 100);
	send_reply(client, 7, 8);
	ck_assert_uint_eq(read_message(upstream, 7), FIXTURE_REPLY_BYTES + 8);
	send_reply(upstream, 7, 0);
	ck_assert_uint_eq(read_message(client, 7), FIXTURE_REPLY_BYTES);
	close(client);
	close(upstream);
}
END_TEST

START_TEST(each_leg_closes_with_the_other)
{
	int client, upstream;

	starts[_i]("");
	open_pair(1, &client, &upstream, NULL);
	fixture_reset(client);
	read_end(upstream);
	close(upstream);
	open_pair(2, &client, &upstream, NULL);
	close(upstream);
	read_end(client);
	close(client);
}
END_TEST

START_TEST(no_upstream_is_opened_before_the_first_byte)
{
	int client;

	start_tcp("");
	client = fixture_connect(front);
	ck_assert(fixture_is_quiet(server, 100));
	close(client);
}
END_TEST

/* Not at once, so that it does not come back hundreds of times a second. */
START_TEST(a_client_whose_server_refuses_is_closed_after_a_moment)
{
	uint64_t start_ms;
	int client;

	starts[_i]("");
	close(server);
	server = -1;
	start_ms = now_ms();
	client = fixture_connect(front);
	send_call(client, 1, 0);
	read_end(client);
	ck_assert_uint_ge(now_ms() - start_ms, 400);
	close(client);
	/* One that goes while it is held is forgotten. */
	client = fixture_connect(front);
	send_call(client, 1, 0);
	fixture_reset(client);
	/* And one that is held does not hold up a stop. */
	client = fixture_connect(front);
	send_call(client, 1, 0);
	fixture_stop();
	read_end(client);
	close(client);
}
END_TEST

START_TEST(the_next_connection_of_a_client_takes_the_same_port_to_the_server)
{
	int client, upstream;
	uint16_t first, next;

	starts[_i]("");
	open_pair(1, &client, &upstream, &first);
	/* From another port each time, with the Call that was not answered. */
	for (unsigned i = 0; i < 3; i++) {
		fixture_reset(client);
		read_end(upstream);
		close(upstream);
		await_no_connection();
		open_pair(1, &client, &upstream, &next);
		ck_assert_uint_eq(next, first);
	}
	fixture_reset(client);
	close(upstream);
}
END_TEST

START_TEST(a_port_is_not_forgotten_by_an_attempt_that_failed)
{
	int client, upstream;
	uint16_t first, next;

	starts[_i]("");
	open_pair(1, &client, &upstream, &first);
	fixture_reset(client);
	read_end(upstream);
	close(upstream);
	close(server);
	await_no_connection();
	client = fixture_connect(front);
	send_call(client, 1, 0);
	read_end(client);
	close(client);
	await_no_connection();
	server = fixture_listen(back);
	open_pair(1, &client, &upstream, &next);
	ck_assert_uint_eq(next, first);
	close(client);
	close(upstream);
}
END_TEST

START_TEST(clients_past_max_connections_are_turned_away)
{
	int first, upstream, other;

	start_tcp("max_connections = 1;");
	open_pair(1, &first, &upstream, NULL);
	other = fixture_connect(front);
	send_call(other, 2, 0);
	read_end(other);
	close(other);
	send_reply(upstream, 1, 0);
	read_message(first, 1);
	/* The first one's place is free again once it has gone. */
	fixture_reset(first);
	read_end(upstream);
	close(upstream);
}
END_TEST

START_TEST(an_address_that_is_not_allowed_is_turned_away)
{
	json_t *json;
	int client;

	start_tcp("allow = [ \"10.0.0.0/8\" ];");
	client = fixture_connect(front);
	read_end(client);
	close(client);
	json = control_ask("services\n");
	ck_assert_int_eq(
		json_integer_value(json_object_get(
			json_object_get(json_array_get(json_object_get(json, "services"), 0),
					"refused"),
			"not_allowed")),
		1);
	json_decref(json);
}
END_TEST

START_TEST(a_port_that_is_not_privileged_is_turned_away)
{
	int client;

	fixture_start("{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; require_privileged_port = true; }",
		      front, back);
	client = fixture_connect(front);
	read_end(client);
	close(client);
}
END_TEST

static int count_profiles(const json_t *connections, const char *name)
{
	json_t *connection;
	int count = 0;
	size_t i;

	json_array_foreach((json_t *)connections, i, connection)
	{
		const json_t *leg = json_object_get(connection, "upstream");
		const json_t *profile = json_object_get(leg, "peer_profile");

		ck_assert_ptr_nonnull(profile);
		ck_assert_int_eq(json_is_null(profile),
				 json_is_null(json_object_get(leg, "peer_profile_why")));
		if (json_is_string(profile) && !strcmp(json_string_value(profile), name))
			count++;
		leg = json_object_get(connection, "client");
		ck_assert(json_is_null(json_object_get(leg, "peer_profile")));
	}
	return count;
}

START_TEST(the_control_socket_shows_the_workers_connections)
{
	int client, upstream;
	json_t *json, *list;

	starts[_i]("");
	open_pair(1, &client, &upstream, NULL);
	json = control_ask("connections\n");
	list = json_object_get(json, "connections");
	ck_assert_uint_eq(json_array_size(list), 1);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, 0), "state")),
			 "open");
	ck_assert(json_is_real(json_object_get(json_array_get(list, 0), "state_age_s")));
	ck_assert_ptr_nonnull(
		json_object_get(json_object_get(json_array_get(list, 0), "client"), "state_age_s"));
	/* Over two proxies: this one has an RDMA server, which is the second. */
	ck_assert_int_eq(count_profiles(list, "auto"), _i ? 1 : 0);
	json_decref(json);
	json = control_ask("status\n");
	ck_assert_int_eq(json_integer_value(json_object_get(json, "connections")), 1);
	ck_assert_int_gt(json_integer_value(
				 json_object_get(json_object_get(json, "memory"), "claimed_bytes")),
			 0);
	json_decref(json);
	json = control_ask("stats\n");
	ck_assert_ptr_nonnull(json_object_get(json_object_get(json, "services"), "one"));
	json_decref(json);
	close(client);
	close(upstream);
}
END_TEST

/*
 * Returns the answer to @request, which was sent on @fd at @asked_ms. The daemon closes the connection of a client that reads too
 * slowly; on a slow machine that can be this test, which then asks once more.
 */
static json_t *answer_to(const char *request, int fd, uint64_t asked_ms)
{
	json_t *json;

	while (!(json = control_try_answer(fd))) {
		ck_assert_uint_ge(now_ms() - asked_ms, CONTROL_TIMEOUT_US / 1000);
		asked_ms = now_ms();
		fd = control_send(request);
	}
	return json;
}

/* More than a slice on each worker, and as many who ask as the control socket takes. */
START_TEST(many_concurrent_requests_see_many_connections)
{
	static const char *const requests[] = {"connections\n", "stats\n", "status\n"};
	int clients[300], asking[15];
	uint64_t asked_ms;
	json_t *json;

	start_tcp("");
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		clients[i] = fixture_connect(front);
	do {
		json = control_ask("connections\n");
		asking[0] = (int)json_array_size(json_object_get(json, "connections"));
		json_decref(json);
	} while (asking[0] < (int)ARRAY_SIZE(clients));
	asked_ms = now_ms();
	for (size_t i = 0; i < ARRAY_SIZE(asking); i++)
		asking[i] = control_send(requests[i % ARRAY_SIZE(requests)]);
	for (size_t i = 0; i < ARRAY_SIZE(asking); i++) {
		json = answer_to(requests[i % ARRAY_SIZE(requests)], asking[i], asked_ms);
		if (i % ARRAY_SIZE(requests) == 0)
			ck_assert_uint_eq(json_array_size(json_object_get(json, "connections")),
					  ARRAY_SIZE(clients));
		else if (i % ARRAY_SIZE(requests) == 1)
			ck_assert_ptr_nonnull(
				json_object_get(json_object_get(json, "services"), "one"));
		else
			ck_assert_ptr_nonnull(json_object_get(json, "memory"));
		json_decref(json);
	}
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		close(clients[i]);
}
END_TEST

#define STUCK 8

/* A server that never reads nor answers, clients that do not read, and some that say nothing. */
START_TEST(a_stop_is_bounded_if_any_thread_is_stuck)
{
	int quiet = -1, clients[STUCK], upstreams[STUCK];

	starts[_i]("");
	for (uint32_t i = 0; i < STUCK; i++) {
		open_pair(i + 1, &clients[i], &upstreams[i], NULL);
		for (uint32_t n = 0; n < 4; n++)
			send_call(clients[i], 100 + n, 500000);
		if (i % 2) {
			send_reply(upstreams[i], i + 1, 1000000);
			read_message(upstreams[i], 100);
			send_reply(upstreams[i], 100, 1000000);
		}
	}
	quiet = fixture_connect(front);
	stop_in_time();
	for (int i = 0; i < STUCK; i++) {
		close(clients[i]);
		close(upstreams[i]);
	}
	close(quiet);
}
END_TEST

/* Standard error as a pipe that is full and that nobody reads. */
START_TEST(an_unread_log_stops_no_rpc)
{
	static const char junk[65536];
	int client, upstream, fds[2], err = dup(STDERR_FILENO);

	ck_assert_int_eq(pipe2(fds, O_NONBLOCK), 0);
	while (write(fds[1], junk, sizeof(junk)) > 0)
		;
	ck_assert_int_eq(fcntl(fds[1], F_SETFL, 0), 0);
	dup2(fds[1], STDERR_FILENO);
	close(fds[1]);
	ck_assert_int_eq(log_start_writer(), 0);
	log_set_level(LOG_LEVEL_DEBUG);
	starts[_i]("");
	for (uint32_t xid = 1; xid < 5; xid++) {
		open_pair(xid, &client, &upstream, NULL);
		send_reply(upstream, xid, 0);
		ck_assert_uint_eq(read_message(client, xid), FIXTURE_REPLY_BYTES);
		fixture_reset(client);
		read_end(upstream);
		close(upstream);
	}
	fixture_stop();
	close(fds[0]);
	log_stop_writer(STOP_BOUND_S * 1000);
	dup2(err, STDERR_FILENO);
	close(err);
}
END_TEST

/* Connections come and go on every worker while the control socket asks and the proxy stops. */
START_TEST(a_stop_in_the_middle_of_everything_is_clean)
{
	int clients[32], asking[8];

	starts[_i]("");
	for (uint32_t i = 0; i < ARRAY_SIZE(clients); i++) {
		clients[i] = fixture_connect(front);
		if (i >= ARRAY_SIZE(clients) - ARRAY_SIZE(asking))
			asking[i % ARRAY_SIZE(asking)] =
				control_send(i % 2 ? "connections\n" : "stats\n");
		send_call(clients[i], i, i * 1000);
		if (i % 8 == 3)
			json_decref(control_ask("connections\n"));
		if (i % 3 == 0)
			fixture_reset(clients[i]);
	}
	stop_in_time();
	for (uint32_t i = 0; i < ARRAY_SIZE(clients); i++)
		if (i % 3)
			close(clients[i]);
	for (size_t i = 0; i < ARRAY_SIZE(asking); i++)
		close(asking[i]);
}
END_TEST

/* Receives may be raised to more than any message has, and are in a larger class then. */
START_TEST(receives_may_be_longer_than_messages)
{
	struct buf *buf;

	start_chain("max_message_bytes = 24508; receive_max_bytes = 65536;");
	/* The worker is idle, so nothing else uses its pool. */
	buf = buf_get(proxy->workers[0]->pool, 65536);
	ck_assert_ptr_nonnull(buf);
	buf_put(buf);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("proxy");
	TCase *tc = tcase_create("proxy");

	tcase_add_checked_fixture(tc, scene_setup, scene_teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, a_call_and_its_reply_pass, 0, ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, calls_and_replies_pass_the_other_way_too, 0, ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, each_leg_closes_with_the_other, 0, ARRAY_SIZE(starts));
	tcase_add_test(tc, no_upstream_is_opened_before_the_first_byte);
	tcase_add_loop_test(tc, a_client_whose_server_refuses_is_closed_after_a_moment, 0,
			    ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, the_next_connection_of_a_client_takes_the_same_port_to_the_server,
			    0, ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, a_port_is_not_forgotten_by_an_attempt_that_failed, 0,
			    ARRAY_SIZE(starts));
	tcase_add_test(tc, clients_past_max_connections_are_turned_away);
	tcase_add_test(tc, an_address_that_is_not_allowed_is_turned_away);
	tcase_add_test(tc, a_port_that_is_not_privileged_is_turned_away);
	tcase_add_loop_test(tc, the_control_socket_shows_the_workers_connections, 0,
			    ARRAY_SIZE(starts));
	tcase_add_test(tc, many_concurrent_requests_see_many_connections);
	tcase_add_test(tc, receives_may_be_longer_than_messages);
	tcase_add_loop_test(tc, a_stop_is_bounded_if_any_thread_is_stuck, 0, ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, an_unread_log_stops_no_rpc, 0, ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, a_stop_in_the_middle_of_everything_is_clean, 0, ARRAY_SIZE(starts));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

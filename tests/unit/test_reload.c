// SPDX-License-Identifier: BSD-3-Clause
/* Tests a whole proxy that reloads its file and drains its services. */
#include <errno.h>
#include <jansson.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/proxy_scene.h"

#define ONE                                                                                               \
	"{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; connect = \"tcp://127.0.0.1:%u\"; " PLAIN_TCP \
	" %s }"
#define TWO                                                                                               \
	"{ name = \"two\"; listen = \"tcp://127.0.0.1:%u\"; connect = \"tcp://127.0.0.1:%u\"; " PLAIN_TCP \
	" }"

#define CHANGED "stall_timeout_s = 61;"

/* Asks, and holds the answer against what it has to contain. */
static void expect(const char *request, const char *part)
{
	json_t *answer = control_ask(request);
	char *text = json_dumps(answer, 0);

	ck_assert_msg(strstr(text, part) != NULL, "%s is not in: %s", part, text);
	free(text);
	json_decref(answer);
}

static void expect_answer(int fd, const char *part)
{
	json_t *answer = control_answer(fd);
	char *text = json_dumps(answer, 0);

	ck_assert_msg(strstr(text, part) != NULL, "%s is not in: %s", part, text);
	free(text);
	json_decref(answer);
}

static bool is_refused(uint16_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool refused = connect(fd, (struct sockaddr *)&to, sizeof(to)) && errno == ECONNREFUSED;

	close(fd);
	return refused;
}

static void await_connections(unsigned count)
{
	json_int_t now;

	do {
		json_t *answer = control_ask("status\n");

		now = json_integer_value(json_object_get(answer, "connections"));
		json_decref(answer);
	} while (now != count);
}

static void passes(int client, int upstream, uint32_t xid)
{
	send_call(client, xid, 100);
	ck_assert_uint_eq(read_message(upstream, xid), FIXTURE_CALL_BYTES + 100);
	send_reply(upstream, xid, 8);
	ck_assert_uint_eq(read_message(client, xid), FIXTURE_REPLY_BYTES + 8);
}

static void close_both(int client, int upstream)
{
	close(client);
	close(upstream);
}

START_TEST(unchanged_services_stay)
{
	int client, upstream;

	start_tcp("");
	open_pair(1, &client, &upstream, NULL);
	fixture_rewrite("", ONE, front, back, "");
	expect("reload\n", "\"kept\": [\"one\"], \"changed\": [], \"added\": [], \"removed\": []");
	send_reply(upstream, 1, 0);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES);
	passes(client, upstream, 2);
	close_both(client, upstream);
}
END_TEST

START_TEST(a_call_in_flight_is_finished_where_a_key_has_changed)
{
	int client, upstream, later, later_upstream;

	start_tcp("");
	open_pair(1, &client, &upstream, NULL);
	fixture_rewrite("", ONE, front, back, CHANGED);
	expect("reload\n", "\"changed\": [\"one\"]");
	expect("status\n", "\"services_leaving\": 1");
	/* The same address is served on. */
	open_pair(5, &later, &later_upstream, NULL);
	send_reply(upstream, 1, 1000);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES + 1000);
	read_end(client);
	read_end(upstream);
	send_reply(later_upstream, 5, 0);
	ck_assert_uint_eq(read_message(later, 5), FIXTURE_REPLY_BYTES);
	close_both(client, upstream);
	close_both(later, later_upstream);
}
END_TEST

START_TEST(a_reverse_call_in_flight_is_finished_too)
{
	int client, upstream;

	start_tcp("");
	open_pair(1, &client, &upstream, NULL);
	send_reply(upstream, 1, 0);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES);
	send_call(upstream, 9, 0);
	ck_assert_uint_eq(read_message(client, 9), FIXTURE_CALL_BYTES);
	fixture_rewrite("", ONE, front, back, CHANGED);
	expect("reload\n", "\"changed\": [\"one\"]");
	ck_assert(fixture_is_quiet(client, 50));
	send_reply(client, 9, 100);
	ck_assert_uint_eq(read_message(upstream, 9), FIXTURE_REPLY_BYTES + 100);
	read_end(client);
	read_end(upstream);
	close_both(client, upstream);
}
END_TEST

START_TEST(services_come_and_go)
{
	uint16_t other = fixture_port();
	int client, upstream;

	start_tcp("");
	open_pair(1, &client, &upstream, NULL);
	send_reply(upstream, 1, 0);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES);
	fixture_rewrite("", TWO, other, back);
	expect("reload\n", "\"added\": [\"two\"], \"removed\": [\"one\"]");
	ck_assert(is_refused(front));
	read_end(client);
	read_end(upstream);
	close_both(client, upstream);
	client = fixture_connect(other);
	send_call(client, 3, 0);
	upstream = fixture_accept(server, NULL);
	ck_assert_uint_eq(read_message(upstream, 3), FIXTURE_CALL_BYTES);
	expect("services\n", "\"name\": \"two\"");
	close_both(client, upstream);
}
END_TEST

START_TEST(a_broken_file_changes_nothing_and_says_why)
{
	int client, upstream;

	start_tcp("");
	open_pair(1, &client, &upstream, NULL);
	send_reply(upstream, 1, 0);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES);
	fixture_rewrite("", ONE, front, back, "stall_timeout_s = 0;");
	expect("reload\n", "\"error\": \"not reloaded, nothing has changed\"");
	expect("reload\n", "conf0:2: stall_timeout_s");
	passes(client, upstream, 2);
	close_both(client, upstream);
}
END_TEST

START_TEST(an_address_that_is_taken_changes_nothing)
{
	uint16_t taken = fixture_port();
	int client, upstream, holder = fixture_listen(taken);

	start_tcp("");
	open_pair(1, &client, &upstream, NULL);
	send_reply(upstream, 1, 0);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES);
	fixture_rewrite("", ONE ", " TWO, front, back, CHANGED, taken, back);
	expect("reload\n", "two: cannot listen on tcp://127.0.0.1");
	expect("services\n", "\"name\": \"one\"");
	passes(client, upstream, 2);
	close_both(client, upstream);
	open_pair(3, &client, &upstream, NULL);
	close(holder);
	close_both(client, upstream);
}
END_TEST

START_TEST(settings_that_need_a_restart_are_reported)
{
	start_tcp("");
	fixture_rewrite("drain_timeout_s = 1;", ONE, front, back, "");
	expect("reload\n", "\"held\": []");
	fixture_workers = 3;
	fixture_rewrite("", ONE, front, back, "");
	expect("reload\n", "\"held\": [\"workers\"]");
	expect("status\n", "\"workers\": 2");
}
END_TEST

/* As by a server of its mount that is gone. */
START_TEST(an_unreadable_file_delays_no_client)
{
	int client, upstream, first, second;

	start_tcp("");
	fixture_block_file();
	first = control_send("reload\n");
	expect("status\n", "\"connections\": 0");
	open_pair(1, &client, &upstream, NULL);
	second = control_send("reload\n");
	expect("drain one\n", "\"draining\": [\"one\"]");
	expect("resume one\n", "\"resumed\": [\"one\"]");
	fixture_unblock_file();
	/*
	 * The file that it read had an error; the request that came meanwhile gets the present
	 * file.
	 */
	expect_answer(first, "\"error\": \"not reloaded, nothing has changed\"");
	expect_answer(second, "\"kept\": [\"one\"]");
	close_both(client, upstream);
}
END_TEST

START_TEST(a_stop_does_not_wait_for_the_file)
{
	int asks;

	start_tcp("");
	fixture_block_file();
	asks = control_send("reload\n");
	expect("status\n", "\"connections\": 0");
	/* A stop before the thread has opened the file would leave the pipe without a reader. */
	fixture_await_reader();
	fixture_stop();
	fixture_unblock_file();
	expect_answer(asks, "\"error\": \"not reloaded, nothing has changed\", "
			    "\"errors\": [\"the daemon is stopping\"]");
}
END_TEST

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

START_TEST(a_draining_connection_is_closed_after_its_time_limit)
{
	int client, upstream;
	uint64_t begin_ms;

	start_tcp("");
	open_pair(1, &client, &upstream, NULL);
	fixture_rewrite("drain_timeout_s = 1;", ONE, front, back, CHANGED);
	begin_ms = now_ms();
	expect("reload\n", "\"changed\": [\"one\"]");
	read_end(client);
	/* Except for a tick of the clock that the loop uses. */
	ck_assert_uint_ge(now_ms() - begin_ms, 1000 - 20);
	read_end(upstream);
	await_connections(0);
	close_both(client, upstream);
}
END_TEST

START_TEST(a_drained_service_accepts_no_client_until_it_resumes)
{
	int client, upstream;

	start_tcp("");
	open_pair(1, &client, &upstream, NULL);
	expect("drain one\n", "\"draining\": [\"one\"]");
	expect("services\n", "\"draining\": true");
	ck_assert(is_refused(front));
	send_reply(upstream, 1, 0);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES);
	read_end(client);
	read_end(upstream);
	close_both(client, upstream);
	expect("drain nine\n", "there is no service nine");
	expect("resume\n", "\"resumed\": [\"one\"]");
	expect("services\n", "\"draining\": false");
	open_pair(2, &client, &upstream, NULL);
	close_both(client, upstream);
	expect("drain\n", "\"draining\": [\"one\"]");
	/* So does a reload. */
	expect("reload\n", "\"kept\": [\"one\"]");
	open_pair(3, &client, &upstream, NULL);
	close_both(client, upstream);
}
END_TEST

START_TEST(a_resumed_service_keeps_its_connections)
{
	int client, upstream;

	start_tcp("");
	fixture_rewrite("drain_timeout_s = 1;", ONE, front, back, "");
	expect("reload\n", "\"kept\": [\"one\"]");
	expect("drain\n", "\"draining\": [\"one\"]");
	expect("resume\n", "\"resumed\": [\"one\"]");
	open_pair(2, &client, &upstream, NULL);
	ck_assert(fixture_is_quiet(client, 1500));
	send_reply(upstream, 2, 0);
	ck_assert_uint_eq(read_message(client, 2), FIXTURE_REPLY_BYTES);
	close_both(client, upstream);
}
END_TEST

START_TEST(a_client_is_disconnected_by_its_address)
{
	int client, upstream;

	start_tcp("");
	open_pair(1, &client, &upstream, NULL);
	expect("disconnect 10.1.2.3\n", "there is no connection 10.1.2.3");
	expect("disconnect someone\n", "neither the number of a connection nor an address");
	expect("disconnect 127.0.0.1\n", "\"disconnected\": 1");
	read_end(client);
	read_end(upstream);
	await_connections(0);
	close_both(client, upstream);
	open_pair(2, &client, &upstream, NULL);
	expect("disconnect 2\n", "\"disconnected\": 1");
	read_end(client);
	close_both(client, upstream);
}
END_TEST

/* ---- many concurrent requests ---- */

#define STORM_CLIENTS 8
#define STORM_RELOADS 60

/* The clients end first: a Call that is under way then may take another connection to the server. */
static atomic_bool clients_over, servers_over;

/* One that answers. The test joins all: a process may not end while one that is detached is taken down. */
struct answerer {
	struct answerer *next;
	pthread_t thread;
	int fd;
};

/* Answers whatever comes, on as many connections as come. */
static void *answer_all(void *arg)
{
	const struct answerer *answerer = arg;
	uint32_t xid;

	while (try_read_any(answerer->fd, &xid))
		send_reply(answerer->fd, xid, 32);
	close(answerer->fd);
	return NULL;
}

static void *accept_all(void *arg)
{
	struct answerer *answerers = NULL, *answerer;
	int fd;

	while ((fd = accept(server, NULL, NULL)) >= 0) {
		if (atomic_load(&servers_over)) {
			close(fd);
			break;
		}
		answerer = malloc(sizeof(*answerer));
		ck_assert_ptr_nonnull(answerer);
		*answerer = (struct answerer){.next = answerers, .fd = fd};
		answerers = answerer;
		ck_assert_int_eq(pthread_create(&answerer->thread, NULL, answer_all, answerer), 0);
	}
	while ((answerer = answerers)) {
		answerers = answerer->next;
		pthread_join(answerer->thread, NULL);
		free(answerer);
	}
	return NULL;
}

/* Each Call has its Reply, on this connection, or on the next one if it was not taken. */
static void *call_on(void *arg)
{
	uint32_t xid = 0, got;
	unsigned *answered = arg;
	int fd = fixture_connect(front);

	while (!atomic_load(&clients_over)) {
		send_call(fd, ++xid, 100);
		if (try_read_any(fd, &got)) {
			ck_assert_uint_eq(got, xid);
			++*answered;
			continue;
		}
		close(fd);
		fd = fixture_connect(front);
	}
	close(fd);
	return NULL;
}

START_TEST(reloads_under_load_refuse_no_client)
{
	unsigned answered[STORM_CLIENTS] = {0};
	pthread_t clients[STORM_CLIENTS], servers;

	start_tcp("");
	atomic_store(&clients_over, false);
	atomic_store(&servers_over, false);
	ck_assert_int_eq(pthread_create(&servers, NULL, accept_all, NULL), 0);
	for (unsigned i = 0; i < STORM_CLIENTS; i++)
		ck_assert_int_eq(pthread_create(&clients[i], NULL, call_on, &answered[i]), 0);
	for (unsigned i = 0; i < STORM_RELOADS; i++) {
		fixture_rewrite("", ONE, front, back, i % 2 ? CHANGED : "");
		expect("reload\n", "\"reloaded\": true");
		expect("connections\n", "\"connections\"");
		expect("stats one\n", "\"one\"");
	}
	atomic_store(&clients_over, true);
	for (unsigned i = 0; i < STORM_CLIENTS; i++) {
		pthread_join(clients[i], NULL);
		ck_assert_uint_gt(answered[i], 0);
	}
	atomic_store(&servers_over, true);
	close(fixture_connect(back));
	pthread_join(servers, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reload");
	TCase *tc = tcase_create("reload");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, scene_setup, scene_teardown);
	tcase_add_test(tc, unchanged_services_stay);
	tcase_add_test(tc, a_call_in_flight_is_finished_where_a_key_has_changed);
	tcase_add_test(tc, a_reverse_call_in_flight_is_finished_too);
	tcase_add_test(tc, services_come_and_go);
	tcase_add_test(tc, a_broken_file_changes_nothing_and_says_why);
	tcase_add_test(tc, an_address_that_is_taken_changes_nothing);
	tcase_add_test(tc, settings_that_need_a_restart_are_reported);
	tcase_add_test(tc, an_unreadable_file_delays_no_client);
	tcase_add_test(tc, a_stop_does_not_wait_for_the_file);
	tcase_add_test(tc, a_draining_connection_is_closed_after_its_time_limit);
	tcase_add_test(tc, a_drained_service_accepts_no_client_until_it_resumes);
	tcase_add_test(tc, a_resumed_service_keeps_its_connections);
	tcase_add_test(tc, a_client_is_disconnected_by_its_address);
	tcase_add_test(tc, reloads_under_load_refuse_no_client);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

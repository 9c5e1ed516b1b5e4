// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests a whole proxy whose service manager stores its listening sockets. A socket of the test
 * replaces systemd's.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/loop.h"
#include "daemon/config/config.h"
#include "tests/unit/fake_manager.h"
#include "tests/unit/proxy_scene.h"

#define FIRST_FD 3 /* that a service manager passes */

static void setup(void)
{
	scene_setup();
	manager_open();
}

static void teardown(void)
{
	scene_teardown();
	manager_close();
}

/* As a service manager does, in a process of the test's own. */
static void pass(uint16_t port, const char *name)
{
	int fd = fixture_listen(port);
	char pid[16];

	if (fd != FIRST_FD) {
		ck_assert_int_eq(dup2(fd, FIRST_FD), FIRST_FD);
		close(fd);
	}
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
	setenv("LISTEN_FDNAMES", name, 1);
}

static uint16_t port_of(int fd)
{
	struct sockaddr_in addr = {0};
	socklen_t len = sizeof(addr);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	return ntohs(addr.sin_port);
}

START_TEST(listening_sockets_are_stored_under_their_services_names)
{
	char text[512];
	int fd;

	start_tcp("");
	manager_await("FDSTORE=1", text, sizeof(text), &fd);
	ck_assert_ptr_nonnull(strstr(text, "FDNAME=one@stored"));
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(port_of(fd), front);
	close(fd);
}
END_TEST

START_TEST(a_client_waiting_on_a_stored_socket_is_served_after_the_next_start)
{
	int client, upstream;

	pass(front, "one@stored");
	client = fixture_connect(front);
	send_call(client, 7, 0);
	start_tcp("");
	upstream = fixture_accept(server, NULL);
	ck_assert_uint_eq(read_message(upstream, 7), FIXTURE_CALL_BYTES);
	send_reply(upstream, 7, 0);
	ck_assert_uint_eq(read_message(client, 7), FIXTURE_REPLY_BYTES);
	close(client);
	close(upstream);
}
END_TEST

START_TEST(a_socket_of_a_unit_is_taken)
{
	int client, upstream;

	pass(front, "one");
	start_tcp("");
	open_pair(3, &client, &upstream, NULL);
	close(client);
	close(upstream);
}
END_TEST

START_TEST(a_stored_socket_of_another_address_is_removed_from_the_store)
{
	uint16_t old = fixture_port();
	char text[512];
	int fd, client, upstream;

	pass(old, "one@stored");
	start_tcp("");
	manager_await("FDSTOREREMOVE=1", text, sizeof(text), &fd);
	ck_assert_ptr_nonnull(strstr(text, "FDNAME=one@stored"));
	/* What it listens at now comes after that. */
	manager_await("FDSTORE=1", text, sizeof(text), &fd);
	ck_assert_uint_eq(port_of(fd), front);
	close(fd);
	open_pair(3, &client, &upstream, NULL);
	close(client);
	close(upstream);
}
END_TEST

static int start_status(const char *services)
{
	struct loop *loop = event_loop_new();
	struct config *config;
	struct proxy *started;
	char path[64];
	FILE *file;
	int rc;

	snprintf(path, sizeof(path), "/tmp/test-held-%d", (int)getpid());
	file = fopen(path, "w");
	fprintf(file, "workers = 1; services = ( %s );\n", services);
	fclose(file);
	ck_assert_int_eq(config_load(path, stderr, &config), 0);
	rc = proxy_start(loop, config, &started);
	if (!rc)
		proxy_stop(started);
	event_loop_free(loop);
	config_free(config);
	unlink(path);
	return rc;
}

START_TEST(a_socket_of_a_unit_that_no_service_listens_at_is_an_error)
{
	char services[256];

	snprintf(services, sizeof(services),
		 "{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; "
		 "connect = \"tcp://127.0.0.1:%u\"; }",
		 front, back);
	pass(fixture_port(), _i ? "one" : "seven");
	ck_assert_int_eq(start_status(services), -EINVAL);
}
END_TEST

static void expect(const char *request, const char *part)
{
	json_t *answer = control_ask(request);
	char *text = json_dumps(answer, 0);

	ck_assert_msg(strstr(text, part) != NULL, "%s is not in: %s", part, text);
	free(text);
	json_decref(answer);
}

START_TEST(on_a_socket_of_a_unit_a_drained_service_turns_clients_away)
{
	int client, upstream;

	pass(front, "one");
	start_tcp("");
	expect("drain one\n", "\"draining\": [\"one\"]");
	client = fixture_connect(front);
	read_end(client);
	close(client);
	expect("services\n", "\"refused\": {\"drained\": 1}");
	expect("resume one\n", "\"resumed\": [\"one\"]");
	open_pair(3, &client, &upstream, NULL);
	close(client);
	close(upstream);
}
END_TEST

START_TEST(a_drained_service_leaves_the_store)
{
	char text[512];
	int fd;

	start_tcp("");
	expect("drain one\n", "\"draining\": [\"one\"]");
	manager_await("FDSTOREREMOVE=1", text, sizeof(text), &fd);
	ck_assert_ptr_nonnull(strstr(text, "FDNAME=one@stored"));
	expect("resume\n", "\"resumed\": [\"one\"]");
	manager_await("FDSTORE=1", text, sizeof(text), &fd);
	ck_assert_uint_eq(port_of(fd), front);
	close(fd);
}
END_TEST

START_TEST(a_reload_is_notified_from_its_begin_to_its_end)
{
	char text[512];
	int fd;

	start_tcp("");
	expect("reload\n", "\"kept\": [\"one\"]");
	manager_await("RELOADING=1", text, sizeof(text), &fd);
	ck_assert_ptr_nonnull(strstr(text, "MONOTONIC_USEC="));
	manager_await("READY=1", text, sizeof(text), &fd);
}
END_TEST

int main(void)
{
	/* The passed descriptor has this number, so it must not be in use. */
	int kept = open("/dev/null", O_RDONLY | O_CLOEXEC);
	Suite *suite = suite_create("held_sockets");
	TCase *tc = tcase_create("held_sockets");

	if (kept >= 0 && kept != FIRST_FD)
		dup2(kept, FIRST_FD);
	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, listening_sockets_are_stored_under_their_services_names);
	tcase_add_test(tc, a_client_waiting_on_a_stored_socket_is_served_after_the_next_start);
	tcase_add_test(tc, a_socket_of_a_unit_is_taken);
	tcase_add_test(tc, a_stored_socket_of_another_address_is_removed_from_the_store);
	tcase_add_loop_test(tc, a_socket_of_a_unit_that_no_service_listens_at_is_an_error, 0, 2);
	tcase_add_test(tc, on_a_socket_of_a_unit_a_drained_service_turns_clients_away);
	tcase_add_test(tc, a_drained_service_leaves_the_store);
	tcase_add_test(tc, a_reload_is_notified_from_its_begin_to_its_end);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

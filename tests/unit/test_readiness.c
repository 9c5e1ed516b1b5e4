// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests readiness over HTTP: of all services, of any, and of each one, with drained services and
 * disabled servers.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/http/readiness.h"
#include "daemon/proxy/proxy_priv.h"
#include "tests/unit/proxy_scene.h"

#define ANSWER_BYTES 4096u

static uint16_t http_port;

static void start(const char *services)
{
	static char globals[64];

	http_port = fixture_port();
	snprintf(globals, sizeof(globals), "http_listen = \"127.0.0.1:%u\";", http_port);
	fixture_globals = globals;
	fixture_start("%s", services);
}

static void start_two(void)
{
	char services[512];

	snprintf(services, sizeof(services),
		 "{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; connect = "
		 "\"tcp://127.0.0.1:%u\"; " PLAIN_TCP " }, { name = \"two\"; listen = "
		 "\"tcp://127.0.0.1:%u\"; connect = \"tcp://127.0.0.1:%u\"; " PLAIN_TCP " }",
		 front, back, fixture_port(), back);
	start(services);
}

/* Compares the status and the body of the answer to a GET of @path. */
static void expect(const char *path, int status, const char *body)
{
	char answer[ANSWER_BYTES], request[256];
	int length =
		snprintf(request, sizeof(request),
			 "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
	int fd = fixture_connect(http_port);
	const char *end;
	size_t have = 0;
	ssize_t n;

	ck_assert_int_eq(write(fd, request, (size_t)length), length);
	while ((n = read(fd, answer + have, sizeof(answer) - 1 - have)) > 0)
		have += (size_t)n;
	ck_assert_int_eq(n, 0);
	close(fd);
	answer[have] = '\0';
	end = strstr(answer, "\r\n\r\n");
	ck_assert_ptr_nonnull(end);
	ck_assert_msg(!strncmp(answer, "HTTP/1.1 ", 9) && atoi(answer + 9) == status &&
			      !strcmp(end + 4, body),
		      "%s: expected %d \"%s\", got \"%s\"", path, status, body, answer);
}

/* Executes a command of the control socket. */
static void command(const char *request)
{
	json_t *answer = control_ask(request);

	ck_assert_ptr_nonnull(answer);
	ck_assert_ptr_null(json_object_get(answer, "error"));
	json_decref(answer);
}

static void disable_server(const char *service)
{
	char request[128];

	snprintf(request, sizeof(request), "target %s tcp://127.0.0.1:%u down\n", service, back);
	command(request);
}

#define ONE_DRAINED   "service one is drained\n"
#define NOT_LISTENING "service one does not listen: its address could not be opened again\n"
#define NO_SUCH       "there is no such service\n"
#define NO_SERVER     " has no usable server: all are down or disabled\n"

START_TEST(every_question_is_answered_ok_while_all_can_serve)
{
	start_two();
	expect("/readyz", 200, "ok\n");
	expect("/readyz?any", 200, "ok\n");
	expect("/readyz?other", 200, "ok\n");
	expect("/readyz/one", 200, "ok\n");
	expect("/readyz/two?any", 200, "ok\n");
	expect("/healthz", 200, "ok\n");
}
END_TEST

START_TEST(an_unknown_service_is_not_found)
{
	start_two();
	expect("/readyz/three", 404, NO_SUCH);
	expect("/readyz/", 404, NO_SUCH);
	expect("/readyz/?any", 404, NO_SUCH);
	expect("/readyz/one/", 404, NO_SUCH);
	expect("/readyz/on", 404, NO_SUCH);
	expect("/readyzone", 404, "there is no such page\n");
	expect("/healthz/", 404, "there is no such page\n");
}
END_TEST

START_TEST(one_drained_service_makes_only_itself_and_all_unready)
{
	start_two();
	command("drain one\n");
	expect("/readyz", 503, ONE_DRAINED);
	expect("/readyz?any", 200, "ok\n" ONE_DRAINED);
	expect("/readyz?x=1&any=1", 200, "ok\n" ONE_DRAINED);
	expect("/readyz?anyone", 503, ONE_DRAINED);
	expect("/readyz?x=any", 503, ONE_DRAINED);
	expect("/readyz/one", 503, ONE_DRAINED);
	expect("/readyz/one?any", 503, ONE_DRAINED);
	expect("/readyz/two", 200, "ok\n");
	command("resume one\n");
	expect("/readyz", 200, "ok\n");
	expect("/readyz/one", 200, "ok\n");
}
END_TEST

START_TEST(a_disabled_server_makes_its_service_unready)
{
	start_two();
	disable_server("two");
	expect("/readyz", 503, "service two" NO_SERVER);
	expect("/readyz?any", 200, "ok\nservice two" NO_SERVER);
	expect("/readyz/one", 200, "ok\n");
	expect("/readyz/two", 503, "service two" NO_SERVER);
}
END_TEST

START_TEST(none_of_several_that_can_serve_makes_any_unready)
{
	start_two();
	command("drain one\n");
	disable_server("two");
	expect("/readyz?any", 503, ONE_DRAINED "service two" NO_SERVER);
	expect("/readyz", 503, ONE_DRAINED "service two" NO_SERVER);
}
END_TEST

/* A failed reload can leave it so. */
START_TEST(a_service_that_does_not_listen_is_unready)
{
	static char name[] = "one", host[] = "127.0.0.1", port[] = "9", text[256];
	const struct service_config service = {.name = name,
					       .connect = {TRANSPORT_TCP, host, port}};
	struct proxy_service ps = {.listener = (struct listener *)name};
	struct proxy stub = {.nservices = 1};
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert_int_eq(service_init(&ps.service, &service), 0);
	TAILQ_INIT(&stub.services);
	TAILQ_INSERT_TAIL(&stub.services, &ps, entry);
	ck_assert_int_eq(readiness_get(&stub, READINESS_OF_ONE, name, 1, out), READINESS_GOOD);
	ps.listener = NULL;
	ck_assert_int_eq(readiness_get(&stub, READINESS_OF_ONE, name, 1, out), READINESS_BAD);
	ck_assert_int_eq(readiness_get(&stub, READINESS_OF_ANY, NULL, 1, out), READINESS_BAD);
	ck_assert_int_eq(readiness_get(&stub, READINESS_OF_ALL, NULL, 1, out), READINESS_BAD);
	fclose(out);
	ck_assert_str_eq(text, "ok\n" NOT_LISTENING NOT_LISTENING NOT_LISTENING);
	service_fini(&ps.service);
}
END_TEST

START_TEST(without_a_service_none_can_serve)
{
	char body[256];

	start("");
	snprintf(body, sizeof(body), "there is no service: add one to %s\n", proxy->config->file);
	expect("/readyz", 200, "ok\n");
	expect("/readyz?any", 503, body);
	expect("/readyz/one", 404, NO_SUCH);
}
END_TEST

START_TEST(a_stopping_daemon_is_not_ready)
{
	int client, upstream;

	start_two();
	/* The Call in flight delays the end. */
	open_pair(7, &client, &upstream, NULL);
	command("stop\n");
	expect("/readyz", 503, "stopping\n");
	expect("/readyz?any", 503, "stopping\n");
	expect("/readyz/two", 503, "stopping\n");
	send_reply(upstream, 7, 0);
	read_message(client, 7);
	close(client);
	close(upstream);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("readiness");
	TCase *tc = tcase_create("readiness");

	tcase_add_checked_fixture(tc, scene_setup, scene_teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, every_question_is_answered_ok_while_all_can_serve);
	tcase_add_test(tc, an_unknown_service_is_not_found);
	tcase_add_test(tc, one_drained_service_makes_only_itself_and_all_unready);
	tcase_add_test(tc, a_disabled_server_makes_its_service_unready);
	tcase_add_test(tc, none_of_several_that_can_serve_makes_any_unready);
	tcase_add_test(tc, a_service_that_does_not_listen_is_unready);
	tcase_add_test(tc, without_a_service_none_can_serve);
	tcase_add_test(tc, a_stopping_daemon_is_not_ready);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

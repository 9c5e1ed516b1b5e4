// SPDX-License-Identifier: BSD-3-Clause
/* Tests the problems that a whole proxy reports on the control socket, and its one warning of each. */
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/proxy/proxy_priv.h"
#include "daemon/service/accepted_conn.h"
#include "daemon/upstream/leg_factory.h"
#include "tests/unit/proxy_scene.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char said[64 * 1024];

static bool collect_line(void *arg, const char *line, size_t len)
{
	pthread_mutex_lock(&lock);
	if (strlen(said) + len < sizeof(said))
		strncat(said, line, len);
	pthread_mutex_unlock(&lock);
	return true;
}

static uint64_t no_time(clockid_t clock)
{
	return 1;
}

/* Returns how many lines of the log contain @text. */
static unsigned logged(const char *text)
{
	unsigned count = 0;

	pthread_mutex_lock(&lock);
	for (const char *at = said; (at = strstr(at, text)); at++)
		count++;
	pthread_mutex_unlock(&lock);
	return count;
}

static void setup(void)
{
	static const struct log_output output = {
		.write = collect_line, .form = LOG_FORM_LEVEL, .now_us = no_time};

	said[0] = '\0';
	scene_setup();
	log_set_output(&output);
	log_set_level(LOG_LEVEL_WARNING);
}

static void teardown(void)
{
	scene_teardown();
	log_set_output(NULL);
}

/* Returns the problem @id of `status`, or NULL. */
static json_t *problem(const char *id)
{
	json_t *answer = control_ask("status\n"), *list = json_object_get(answer, "problems"), *one;
	json_t *found = NULL;
	size_t i;

	ck_assert(json_is_array(list));
	json_array_foreach(list, i, one)
	{
		if (!strcmp(json_string_value(json_object_get(one, "id")), id))
			found = json_incref(one);
	}
	json_decref(answer);
	return found;
}

static bool has_problem(const char *id)
{
	json_t *found = problem(id);

	json_decref(found);
	return found;
}

static void expect(const char *id, const char *key, const char *part)
{
	json_t *found = problem(id);
	const char *text = json_string_value(json_object_get(found, key));

	ck_assert_msg(found != NULL, "there is no problem %s", id);
	ck_assert_msg(text && strstr(text, part), "%s is not in: %s", part, text);
	json_decref(found);
}

/* A text that `services` shows of the service, by a path of one or two members. */
static char *shown(const char *member, const char *key)
{
	json_t *answer = control_ask("services\n");
	json_t *service = json_array_get(json_object_get(answer, "services"), 0);
	json_t *value = json_object_get(json_object_get(service, member), key);
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : strdup("missing");

	json_decref(answer);
	return text;
}

static void expect_shown(const char *member, const char *key, const char *value)
{
	char *text = shown(member, key);

	ck_assert_msg(text && !strcmp(text, value), "%s.%s is %s", member, key, text);
	free(text);
}

static void ask(const char *request, const char *part)
{
	json_t *answer = control_ask(request);
	char *text = json_dumps(answer, 0);

	ck_assert_msg(strstr(text, part) != NULL, "%s is not in: %s", part, text);
	free(text);
	json_decref(answer);
}

#define ONE                                                                                               \
	"{ name = \"one\"; listen = \"tcp://127.0.0.1:%u\"; connect = \"tcp://127.0.0.1:%u\"; " PLAIN_TCP \
	" %s }"

START_TEST(a_rejected_reload_is_a_problem_until_one_succeeds)
{
	json_t *found;

	start_tcp("");
	ck_assert(!has_problem("reload_rejected"));
	fixture_rewrite("", ONE, front, back, "lisen = 1; x = 2;");
	ask("reload\n", "not reloaded, nothing has changed");
	found = problem("reload_rejected");
	ck_assert_ptr_nonnull(found);
	ck_assert(json_is_null(json_object_get(found, "service")));
	ck_assert(json_is_null(json_object_get(found, "count")));
	ck_assert(json_is_real(json_object_get(found, "age_s")));
	json_decref(found);
	expect("reload_rejected", "severity", "warning");
	expect("reload_rejected", "text", "unknown key \"lisen\"");
	expect("reload_rejected", "text", "and 1 more error");
	expect("reload_rejected", "cure", proxy->config->file);
	/* The reload itself logs that. */
	ck_assert_uint_eq(logged("not reloaded, nothing has changed"), 1);
	fixture_rewrite("", ONE, front, back, "");
	ask("reload\n", "reloaded");
	ck_assert(!has_problem("reload_rejected"));
}
END_TEST

START_TEST(the_only_server_is_disabled_and_the_state_says_so)
{
	char request[80];
	int client, upstream;

	start_tcp("");
	expect_shown("server", "condition", "\"unknown\"");
	expect_shown("server", "condition_age_s", "null");
	open_pair(1, &client, &upstream, NULL);
	send_reply(upstream, 1, 0);
	read_message(client, 1);
	expect_shown("server", "condition", "\"ok\"");
	snprintf(request, sizeof(request), "target one tcp://127.0.0.1:%u down\n", back);
	ask(request, "down");
	expect("server_disabled", "severity", "critical");
	expect("server_disabled", "service", "one");
	expect("server_disabled", "cure", "'rpcrdma-proxyctl target one tcp://127.0.0.1:");
	expect_shown("server", "condition", "\"disabled\"");
	/* What was there keeps its meaning. */
	expect_shown("server", "state", "\"ok\"");
	ck_assert_uint_eq(logged("<4>one: its only server"), 1);
	ask(request, "down");
	ck_assert_uint_eq(logged("<4>one: its only server"), 1);
	memcpy(strstr(request, "down"), "up\n", 4);
	ask(request, "up");
	ck_assert(!has_problem("server_disabled"));
	close(client);
	close(upstream);
}
END_TEST

/* An order that changes nothing makes the daemon look at its problems at once. */
static void look(void)
{
	char request[80];

	snprintf(request, sizeof(request), "target one tcp://127.0.0.1:%u up\n", back);
	ask(request, "up");
}

START_TEST(clients_that_find_no_connection_are_counted_as_refused)
{
	int client, upstream, late[2];

	start_tcp("max_connections = 1;");
	open_pair(1, &client, &upstream, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		late[i] = fixture_connect(front);
		send_call(late[i], 2 + i, 0);
		read_end(late[i]);
		close(late[i]);
		look();
	}
	expect_shown("refused", "too_many", "2");
	expect("max_connections_reached", "text", "2 clients refused: max_connections reached");
	expect("max_connections_reached", "text", "the last was 127.0.0.1:");
	expect("max_connections_reached", "reason", "too_many");
	ck_assert_uint_eq(logged("<4>one: 1 client refused: max_connections reached"), 1);
	ck_assert_uint_eq(logged("max_connections reached"), 1);
	close(client);
	close(upstream);
}
END_TEST

/* Its port towards the server is in use, or the daemon lacks the right to its address. */
START_TEST(a_client_that_this_host_cannot_connect_is_a_problem)
{
	uint16_t from = fixture_port();
	int direct, client;

	start_tcp("source = \"client\";");
	direct = fixture_connect_from(from, back);
	client = fixture_connect_from(from, front);
	send_call(client, 1, 0);
	read_end(client);
	ck_assert(has_problem("source_ports_short") || has_problem("source_address_missing"));
	close(client);
	close(direct);
}
END_TEST

static int accept_nothing(struct service_net *net, const struct leg_config *config,
			  const struct accepted_conn *in, struct leg **out)
{
	accepted_conn_drop(in);
	return -ENOMEM;
}

/* Memory is short: the connection is closed before it has a bridge. */
START_TEST(a_client_whose_bridge_cannot_be_made_is_counted)
{
	struct leg_factory_ops ops = leg_factory_system;
	json_int_t closed = 0;
	json_t *answer;
	int client;

	ops.accept = accept_nothing;
	start_tcp("");
	for (size_t i = 0; i < proxy->nworkers; i++)
		proxy->workers[i]->env.legs = &ops;
	client = fixture_connect(front);
	read_end(client);
	/* The worker counts it after it has closed the connection, and gives up its place last. */
	while (fixture_connections())
		;
	expect_shown("refused", "resources", "1");
	expect("resources_short", "text", "1 client refused");
	expect("resources_short", "text", "the last was 127.0.0.1:");
	expect("resources_short", "service", "one");
	answer = control_ask("stats\n");
	ck_assert_int_eq(json_unpack(answer, "{s:{s:{s:{s:{s:I}}}}}", "services", "one", "closes",
				     "proxy", "resources", &closed),
			 0);
	ck_assert_int_eq(closed, 1);
	json_decref(answer);
	ck_assert_uint_eq(logged("<3>one: cannot accept a connection: Cannot allocate memory"), 1);
	close(client);
}
END_TEST

START_TEST(connections_that_count_are_distinguished_from_others)
{
	int client, upstream, silent;
	json_t *answer, *service;

	start_tcp("");
	silent = fixture_connect(front);
	open_pair(1, &client, &upstream, NULL);
	answer = control_ask("services\n");
	service = json_array_get(json_object_get(answer, "services"), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(service, "active")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(service, "problems")), 0);
	json_decref(answer);
	close(silent);
	close(client);
	close(upstream);
}
END_TEST

START_TEST(a_client_that_reuses_an_xid_is_named)
{
	int client, upstream;

	start_tcp("");
	open_pair(1, &client, &upstream, NULL);
	send_call(client, 1, 100);
	read_end(client);
	expect("xid_reused", "text", "1 connection closed: XID in flight used for another Call");
	expect("xid_reused", "text", "the last was 127.0.0.1:");
	expect_shown("refused", "xid_reused", "missing");
	look();
	look();
	ck_assert_uint_eq(logged("<4>one: 1 connection closed: XID in flight"), 1);
	/* The line of the connection is no second warning. */
	ck_assert_uint_eq(logged("XID in flight"), 1);
	close(client);
	close(upstream);
}
END_TEST

START_TEST(a_daemon_without_services_says_where_to_add_one)
{
	fixture_start("%s", "");
	expect("no_services", "text", proxy->config->file);
	expect("no_services", "cure", "reload");
	ck_assert_uint_eq(logged("<4>no services in "), 1);
}
END_TEST

START_TEST(a_problem_belongs_to_its_service)
{
	json_t *answer, *services, *problems;

	start_tcp("");
	fixture_rewrite("",
			ONE ", { name = \"two\"; listen = \"tcp://127.0.0.1:%u\"; "
			    "connect = \"tcp://127.0.0.1:%u\"; " PLAIN_TCP " }",
			front, back, "", fixture_port(), back);
	ask("reload\n", "two");
	ask("drain two\n", "two");
	answer = control_ask("services\n");
	services = json_object_get(answer, "services");
	problems = json_object_get(json_array_get(services, 0), "problems");
	ck_assert_uint_eq(json_array_size(problems), 0);
	problems = json_object_get(json_array_get(services, 1), "problems");
	ck_assert_uint_eq(json_array_size(problems), 1);
	json_decref(answer);
	expect("service_drained", "service", "two");
}
END_TEST

/* The file need not be UTF-8; an answer is. */
START_TEST(bytes_of_the_file_that_are_no_text_are_replaced)
{
	start_tcp("");
	fixture_rewrite("", ONE, front, back, "mount = \"\xff\xfe\";");
	ask("reload\n", "not reloaded");
	ck_assert(has_problem("reload_rejected"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("problems_live");
	TCase *tc = tcase_create("problems_live");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_rejected_reload_is_a_problem_until_one_succeeds);
	tcase_add_test(tc, the_only_server_is_disabled_and_the_state_says_so);
	tcase_add_test(tc, clients_that_find_no_connection_are_counted_as_refused);
	tcase_add_test(tc, a_client_that_this_host_cannot_connect_is_a_problem);
	tcase_add_test(tc, a_client_whose_bridge_cannot_be_made_is_counted);
	tcase_add_test(tc, connections_that_count_are_distinguished_from_others);
	tcase_add_test(tc, a_client_that_reuses_an_xid_is_named);
	tcase_add_test(tc, a_daemon_without_services_says_where_to_add_one);
	tcase_add_test(tc, a_problem_belongs_to_its_service);
	tcase_add_test(tc, bytes_of_the_file_that_are_no_text_are_replaced);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

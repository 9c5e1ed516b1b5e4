// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the members of the control socket's answers. tests/unit/golden/COMMAND.keys lists all of
 * them, a line each.
 *
 * Within a schema members are added, never removed. After adding one, run this test with
 * GOLDEN_WRITE=1, which writes the files.
 */
#include <jansson.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tests/unit/proxy_fixture.h"

#define PATH_BYTES 200u
#define MAX_KEYS   1000u

static uint16_t front, back;
static int server, client = -1, upstream = -1;
static char keys[MAX_KEYS][PATH_BYTES];
static size_t nkeys;

/* Two proxies with iwarp between them, so that the first one has a leg of each kind, and a Call on its way. */
static void setup(void)
{
	uint16_t middle;

	fixture_setup();
	front = fixture_port();
	middle = fixture_port();
	back = fixture_port();
	server = fixture_listen(back);
	fixture_start("{ name = \"one\"; "
		      "listen = [ \"tcp://127.0.0.1:%u\", \"tcp://[::1]:%u\" ]; "
		      "connect = \"iwarp://127.0.0.1:%u\"; require_privileged_port = false; }",
		      front, front, middle);
	fixture_start("{ name = \"two\"; listen = \"iwarp://127.0.0.1:%u\"; "
		      "connect = \"tcp://127.0.0.1:%u\"; source_port = \"any\"; }",
		      middle, back);
	client = fixture_connect(front);
	send_call(client, 1, 0);
	upstream = fixture_accept(server, NULL);
	ck_assert_uint_eq(read_message(upstream, 1), FIXTURE_CALL_BYTES);
	nkeys = 0;
}

static void teardown(void)
{
	/* Before the proxies, which else give peers that do not close two seconds. */
	close(client);
	close(upstream);
	close(server);
	fixture_teardown();
}

static void add(const char *path)
{
	for (size_t i = 0; i < nkeys; i++)
		if (!strcmp(keys[i], path))
			return;
	ck_assert_uint_lt(nkeys, MAX_KEYS);
	ck_assert_uint_lt(strlen(path), PATH_BYTES);
	strcpy(keys[nkeys++], path);
}

static void collect(const json_t *value, const char *path)
{
	char below[2 * PATH_BYTES];
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_array(value))
		json_array_foreach((json_t *)value, i, member)
		{
			snprintf(below, sizeof(below), "%s[]", path);
			collect(member, below);
		}
	else if (json_object_size(value))
		json_object_foreach((json_t *)value, key, member)
		{
			snprintf(below, sizeof(below), "%s%s%s", path, *path ? "." : "", key);
			collect(member, below);
		}
	else
		add(path);
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void write_golden(const char *name)
{
	FILE *file = fopen(name, "w");

	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < nkeys; i++)
		fprintf(file, "%s\n", keys[i]);
	fclose(file);
}

static void compare_golden(const char *name)
{
	FILE *file = fopen(name, "r");
	char line[PATH_BYTES];
	size_t i = 0;

	ck_assert_msg(file != NULL, "%s is not there", name);
	for (; fgets(line, sizeof(line), file); i++) {
		line[strcspn(line, "\n")] = '\0';
		ck_assert_msg(i < nkeys && !strcmp(keys[i], line), "%s: line %zu is %s, not %s",
			      name, i + 1, line, i < nkeys ? keys[i] : "there any more");
	}
	fclose(file);
	ck_assert_msg(i == nkeys, "%s has not %s", name, keys[i]);
}

static const char *const requests[] = {
	"status", "services", "connections", "latency",
	"stats",  "counters", "log info",    "target two 127.0.0.1 drain",
	"stop"};

static bool is_taken(void)
{
	json_t *answer = control_ask("latency one other\n");
	json_int_t count = 0;

	ck_assert_int_eq(json_unpack(answer, "{s:{s:{s:{s:{s:{s:I}}}}}}", "services", "one",
				     "operations", "other", "whole", "count", &count),
			 0);
	json_decref(answer);
	return count == 1;
}

/* Until it is known that the client has its Reply. */
static void end_call(void)
{
	send_reply(upstream, 1, 0);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES);
	while (!is_taken())
		;
}

START_TEST(an_answer_has_the_members_of_its_golden_file)
{
	const char *srcdir = getenv("srcdir") ? getenv("srcdir") : ".";
	char name[PATH_BYTES], request[PATH_BYTES];
	json_t *answer;

	if (!strcmp(requests[_i], "latency"))
		end_call();
	/* With a problem to show. */
	if (!strcmp(requests[_i], "status") || !strcmp(requests[_i], "services"))
		json_decref(control_ask("target one 127.0.0.1 drain\n"));
	snprintf(request, sizeof(request), "%s\n", requests[_i]);
	answer = control_ask(request);
	ck_assert_int_eq(json_integer_value(json_object_get(answer, "schema")), 1);
	ck_assert_str_eq(json_object_iter_key(json_object_iter(answer)), "schema");
	collect(answer, "");
	json_decref(answer);
	qsort(keys, nkeys, sizeof(keys[0]), compare);
	snprintf(name, sizeof(name), "%s/tests/unit/golden/%.*s.keys", srcdir,
		 (int)strcspn(requests[_i], " "), requests[_i]);
	if (getenv("GOLDEN_WRITE"))
		write_golden(name);
	compare_golden(name);
}
END_TEST

START_TEST(names_are_in_lower_case)
{
	json_t *answer;

	answer = control_ask(_i ? "counters\n" : "stats\n");
	collect(answer, "");
	json_decref(answer);
	for (size_t i = 0; i < nkeys; i++)
		ck_assert_msg(strspn(keys[i], "abcdefghijklmnopqrstuvwxyz0123456789_.[]") ==
				      strlen(keys[i]),
			      "%s", keys[i]);
}
END_TEST

static const json_t *member(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	ck_assert_msg(value != NULL, "there is no %s", name);
	return value;
}

START_TEST(unknown_values_are_null)
{
	static const char *const rdma[] = {
		"calls_held",           "credits_granted",   "inline_send_bytes",
		"inline_recv_bytes",    "rpcrdma_version",   "recv_size_bytes",
		"peer_recv_size_bytes", "recv_posted_bytes", "credits_available"};
	const json_t *connection, *tcp, *iwarp;
	json_t *answer = control_ask("connections\n");
	struct utsname own;

	connection = json_array_get(json_object_get(answer, "connections"), 0);
	tcp = member(connection, "client");
	iwarp = member(connection, "upstream");
	for (size_t i = 0; i < ARRAY_SIZE(rdma); i++) {
		ck_assert(json_is_null(member(tcp, rdma[i])));
		/* The credits that are left are not known before the first Reply. */
		ck_assert(json_is_integer(member(iwarp, rdma[i])) == (i < 8));
	}
	/* Nothing is, of either. */
	ck_assert(json_is_null(member(tcp, "pending")));
	ck_assert(json_is_null(member(iwarp, "pending")));
	json_decref(answer);
	send_reply(upstream, 1, 0);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES);
	answer = control_ask("connections\n");
	connection = json_array_get(json_object_get(answer, "connections"), 0);
	ck_assert(json_is_integer(member(member(connection, "upstream"), "credits_available")));
	json_decref(answer);
	answer = control_ask("status\n");
	ck_assert(json_is_null(member(member(answer, "memory"), "oldest_wait_s")));
	ck_assert_int_eq(uname(&own), 0);
	ck_assert_str_eq(json_string_value(member(answer, "host")), own.nodename);
	json_decref(answer);
}
END_TEST

static json_int_t selected(const char *argument)
{
	char request[PATH_BYTES];
	json_t *answer;
	size_t count;

	snprintf(request, sizeof(request), "connections %s\n", argument);
	answer = control_ask(request);
	ck_assert_str_eq(json_string_value(member(answer, "selection")), argument);
	count = json_array_size(member(answer, "connections"));
	json_decref(answer);
	return (json_int_t)count;
}

static void expect_error(const char *request, const char *text)
{
	json_t *answer = control_ask(request);

	ck_assert_str_eq(json_string_value(member(answer, "error")), text);
	json_decref(answer);
}

START_TEST(connections_are_selected_by_number_and_by_address)
{
	json_t *answer = control_ask("connections\n");
	const json_t *connection = json_array_get(member(answer, "connections"), 0);
	char id[32];

	ck_assert_ptr_null(json_object_get(answer, "selection"));
	snprintf(id, sizeof(id), "%lld", (long long)json_integer_value(member(connection, "id")));
	json_decref(answer);
	ck_assert_int_eq(selected(id), 1);
	ck_assert_int_ge(selected("127.0.0.1"), 1);
	ck_assert_int_ge(selected("127.0.0.0/8"), 1);
	expect_error("connections 0\n", "there is no connection 0");
	expect_error("connections 18446744073709551616\n",
		     "there is no connection 18446744073709551616");
	expect_error("connections 10.0.0.0/8\n", "there is no connection 10.0.0.0/8");
	expect_error("connections ::1\n", "there is no connection ::1");
	expect_error("connections somebody\n",
		     "somebody is neither the number of a connection nor an address");
}
END_TEST

START_TEST(a_connection_is_selected_by_an_address_of_ipv6)
{
	const struct sockaddr_in6 addr = {.sin6_family = AF_INET6,
					  .sin6_port = htons(front),
					  .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(AF_INET6, SOCK_STREAM, 0), own;

	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	send_call(fd, 2, 0);
	own = fixture_accept_call(server, 2, NULL);
	ck_assert_int_eq(selected("::1"), 1);
	ck_assert_int_eq(selected("::/64"), 1);
	expect_error("connections ::2\n", "there is no connection ::2");
	close(fd);
	close(own);
}
END_TEST

START_TEST(stats_of_one_service_are_those_of_no_other)
{
	json_t *answer = control_ask("stats one\n");

	ck_assert_uint_eq(json_object_size(member(answer, "services")), 1);
	ck_assert_int_eq(
		json_integer_value(member(member(member(member(answer, "services"), "one"), "tcp"),
					  "connections_accepted")),
		1);
	json_decref(answer);
	answer = control_ask("stats none\n");
	ck_assert_str_eq(json_string_value(member(answer, "error")),
			 "there is no service none: is one meant?");
	json_decref(answer);
	answer = control_ask("stats nothing\n");
	ck_assert_str_eq(json_string_value(member(answer, "error")), "there is no service nothing");
	json_decref(answer);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("answers");
	TCase *tc = tcase_create("answers");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, an_answer_has_the_members_of_its_golden_file, 0,
			    ARRAY_SIZE(requests));
	tcase_add_loop_test(tc, names_are_in_lower_case, 0, 2);
	tcase_add_test(tc, unknown_values_are_null);
	tcase_add_test(tc, connections_are_selected_by_number_and_by_address);
	tcase_add_test(tc, a_connection_is_selected_by_an_address_of_ipv6);
	tcase_add_test(tc, stats_of_one_service_are_those_of_no_other);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

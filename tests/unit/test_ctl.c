// SPDX-License-Identifier: BSD-3-Clause
/* The control client: what an administrator reads, and asking a daemon that may not be there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/control/control.h"
#include "daemon/ctl/client.h"
#include "daemon/ctl/render.h"
#include "daemon/ctl/table.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

static char *printed;
static size_t printed_bytes;

static void teardown(void)
{
	free(printed);
	printed = NULL;
}

static const char *render(enum control_command_id command, const char *json, bool all)
{
	json_t *answer = json_loads(json, 0, NULL);
	FILE *out = open_memstream(&printed, &printed_bytes);

	ck_assert_ptr_nonnull(answer);
	ck_assert_int_eq(render_answer(command, answer, all, out), 0);
	fclose(out);
	json_decref(answer);
	return printed;
}

START_TEST(bytes_have_units)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1.0 KiB"},
		{1536, "1.5 KiB"},
		{UINT64_C(200) << 20, "200.0 MiB"},
		{UINT64_MAX, "16384.0 PiB"},
	};
	char text[RENDER_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(render_bytes(cases[i].bytes, text), cases[i].text);
}
END_TEST

START_TEST(durations_have_two_units)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {
		{-1, "0s"},         {0.9, "0s"},     {59.9, "59s"},     {60, "1m00s"},
		{3599, "59m59s"},   {3600, "1h00m"}, {86399, "23h59m"}, {86400, "1d00h"},
		{1e9, "11574d01h"}, {1e300, "0s"},
	};
	char text[RENDER_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(render_duration(cases[i].seconds, text), cases[i].text);
}
END_TEST

START_TEST(columns_are_aligned)
{
	static const struct table_column columns[] = {{"A", false}, {"NUMBER", true}, {"C", false}};
	FILE *out = open_memstream(&printed, &printed_bytes);
	struct table table;

	table_init(&table, columns, 3);
	table_cell(&table, "long");
	table_cell(&table, "%d", 5);
	table_cell(&table, "x");
	table_cell(&table, "s");
	table_cell(&table, "%d", 12345678);
	table_cell(&table, "yyyy");
	ck_assert_int_eq(table_print(&table, "> ", out), 0);
	table_fini(&table);
	fclose(out);
	ck_assert_str_eq(printed, "> A       NUMBER  C\n"
				  "> long         5  x\n"
				  "> s     12345678  yyyy\n");
}
END_TEST

START_TEST(status_is_a_list)
{
	ck_assert_str_eq(
		render(CONTROL_COMMAND_STATUS,
		       "{\"version\": \"0.1.0\", \"pid\": 77, \"uptime_s\": 3725.5,"
		       " \"log_level\": \"info\", \"log_lines_dropped\": 8, \"workers\": 2, \"services\": 3,"
		       " \"connections\": 4, \"memory\": {\"limit_bytes\": 1073741824,"
		       " \"claimed_bytes\": 1048576, \"peak_bytes\": 3145728,"
		       " \"waiting_claims\": 5, \"oldest_wait_s\": 65.5, \"beside_limit_bytes\": 4096, \"mapped_bytes\": 8388608,"
		       " \"in_use_bytes\": 2048}}",
		       false),
		"version             0.1.0\n"
		"process             77\n"
		"up for              1h02m\n"
		"log level           info\n"
		"log lines dropped   8\n"
		"services            3\n"
		"workers             2\n"
		"connections         4\n"
		"claimed by RPCs     1.0 MiB of 1.0 GiB, 3.0 MiB at most so far\n"
		"waiting for memory  5, up to 1m05s\n"
		"beside the limit    up to 4.0 KiB\n"
		"buffers             2.0 KiB in use, 8.0 MiB mapped\n");
}
END_TEST

START_TEST(services_show_load_and_refusals)
{
	ck_assert_str_eq(
		render(CONTROL_COMMAND_SERVICES,
		       "{\"services\": [{\"name\": \"to-filer\", \"listen\": \"tcp://127.0.0.1:2049\","
		       " \"connect\": \"rdma://filer:20049\", \"connections\": 3,"
		       " \"connections_total\": 10, \"max_connections\": 1024,"
		       " \"memory\": {\"claimed_bytes\": 2048, \"waiting_claims\": 0},"
		       " \"refused\": {\"NOT_ALLOWED\": 2, \"TOO_MANY\": 1}}]}",
		       false),
		"SERVICE   LISTENS ON            CONNECTS TO         NOW  LIMIT  TOTAL   MEMORY  WAIT FOR IT  REFUSED\n"
		"to-filer  tcp://127.0.0.1:2049  rdma://filer:20049    3   1024     10  2.0 KiB            0        3\n"
		"to-filer refused 2: NOT_ALLOWED\n"
		"to-filer refused 1: TOO_MANY\n");
}
END_TEST

START_TEST(connections_show_both_legs_and_how_long_they_are_in_their_states)
{
	ck_assert_str_eq(
		render(CONTROL_COMMAND_CONNECTIONS,
		       "{\"connections\": [{\"id\": 17, \"service\": \"to-filer\", \"worker\": 0,"
		       " \"state\": \"open\", \"state_age_s\": 12.9, \"age_s\": 61,"
		       " \"client_address\": \"10.0.0.3:712\","
		       " \"client\": {\"kind\": \"tcp\", \"state\": \"open\", \"state_age_s\": 12,"
		       " \"calls_in\": 5, \"calls_out\": 1,"
		       " \"bytes_received\": 2048, \"bytes_sent\": 100},"
		       " \"upstream\": {\"kind\": \"iwarp\", \"state\": \"open\","
		       " \"state_age_s\": null, \"peer\": \"10.0.0.9:20049\","
		       " \"calls_held\": 2, \"credits_available\": 59, \"rpcrdma_version\": 1,"
		       " \"peer_profile\": \"linux\", \"peer_profile_why\": \"as configured\"}},"
		       " {\"id\": 18, \"service\": \"to-filer\", \"state\": \"connecting\","
		       " \"age_s\": 0, \"client_address\": \"[fe80::1]:9\", \"client\": null,"
		       " \"upstream\": null}]}",
		       false),
		"ID  SERVICE   CLIENT            ITS STATE  UPSTREAM              ITS STATE  "
		"STATE           AGE  CALLS  "
		"REVERSE  HELD  GRANTED  CREDITS  FROM CLIENT  TO CLIENT  PEER PROFILE\n"
		"17  to-filer  tcp 10.0.0.3:712  open 12s   iwarp 10.0.0.9:20049  open -     "
		"open 12s      1m01s      5  "
		"      1     2        -       59      2.0 KiB      100 B  linux: as configured\n"
		"18  to-filer  - [fe80::1]:9     -          - -                   -          "
		"connecting -     0s      -  "
		"      -     -        -        -            -          -  -\n");
}
END_TEST

START_TEST(no_connections_are_an_empty_table)
{
	render(CONTROL_COMMAND_CONNECTIONS, "{\"connections\": []}", false);
	ck_assert_ptr_eq(strchr(printed, '\n'), printed + strlen(printed) - 1);
}
END_TEST

#define STATS                                                                                      \
	"{\"services\": {\"a\": {\"tcp\": {\"calls\": 1234, \"stalls\": 0},"                       \
	" \"rdma\": {\"sends\": 0}}}, \"help\": {\"tcp\": {\"calls\": \"Calls received\","         \
	" \"stalls\": \"connections stalled\"}, \"rdma\": {\"sends\": \"Sends\"}}}"

START_TEST(stats_are_grouped_by_module_with_their_meaning)
{
	ck_assert_str_eq(render(CONTROL_COMMAND_STATS, STATS, false),
			 "a\n"
			 "  tcp\n"
			 "    calls  1234  Calls received\n");
}
END_TEST

START_TEST(stats_show_zeros_when_asked)
{
	ck_assert_str_eq(render(CONTROL_COMMAND_STATS, STATS, true),
			 "a\n"
			 "  tcp\n"
			 "    calls   1234  Calls received\n"
			 "    stalls     0  connections stalled\n"
			 "  rdma\n"
			 "    sends  0  Sends\n");
}
END_TEST

START_TEST(log_and_stop_say_what_was_done)
{
	ck_assert_str_eq(render(CONTROL_COMMAND_LOG, "{\"level\": \"debug\"}", false),
			 "log level is debug\n");
	free(printed);
	ck_assert_str_eq(render(CONTROL_COMMAND_STOP, "{\"stopping\": true}", false), "stopping\n");
}
END_TEST

START_TEST(answers_with_nothing_in_them_do_no_harm)
{
	render(_i, "{}", true);
}
END_TEST

START_TEST(a_daemon_that_is_not_there_is_named)
{
	char error[256];
	json_t *answer;

	ck_assert_int_eq(
		client_ask("/tmp/test-ctl-missing", "status", NULL, error, sizeof(error), &answer),
		-ENOENT);
	ck_assert_str_eq(error,
			 "the daemon is not running, or not on /tmp/test-ctl-missing: No such "
			 "file or directory");
}
END_TEST

static void query(void *arg, enum control_query what, const char *argument,
		  void (*done)(void *, json_t *), void *done_arg)
{
	done(done_arg, json_pack("{s:i}", "asked", what));
}

START_TEST(client_and_daemon_understand_each_other)
{
	static const struct control_ops ops = {.query = query};
	char dir[] = "/tmp/test-ctl-XXXXXX", path[64], error[256];
	struct loop *loop = fake_loop_new();
	struct control *control;
	json_t *answer = NULL;
	int status = 0, rc;
	pid_t pid;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sock", dir);
	ck_assert_int_eq(control_open(loop, path, &ops, NULL, error, sizeof(error), &control), 0);
	pid = fork();
	if (pid == 0) {
		rc = client_ask(path, "stats", NULL, error, sizeof(error), &answer);
		if (!rc && json_integer_value(json_object_get(answer, "asked")) == CONTROL_STATS)
			rc = client_ask(path, "log", "cha\"t\n", error, sizeof(error), &answer);
		_exit(rc || !json_object_get(answer, "error"));
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		fake_loop_run(loop);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	control_close(control);
	fake_loop_free(loop);
	rmdir(dir);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ctl");
	TCase *tc = tcase_create("ctl");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, bytes_have_units);
	tcase_add_test(tc, durations_have_two_units);
	tcase_add_test(tc, columns_are_aligned);
	tcase_add_test(tc, status_is_a_list);
	tcase_add_test(tc, services_show_load_and_refusals);
	tcase_add_test(tc, connections_show_both_legs_and_how_long_they_are_in_their_states);
	tcase_add_test(tc, no_connections_are_an_empty_table);
	tcase_add_test(tc, stats_are_grouped_by_module_with_their_meaning);
	tcase_add_test(tc, stats_show_zeros_when_asked);
	tcase_add_test(tc, log_and_stop_say_what_was_done);
	tcase_add_loop_test(tc, answers_with_nothing_in_them_do_no_harm, 0,
			    CONTROL_COMMAND_STOP + 1);
	tcase_add_test(tc, a_daemon_that_is_not_there_is_named);
	tcase_add_test(tc, client_and_daemon_understand_each_other);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

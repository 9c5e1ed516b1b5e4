// SPDX-License-Identifier: BSD-3-Clause
/* Tests `status` as text: one screen with the worst problem first, and malformed answers. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ctl/render.h"
#include "tests/lib/test.h"

#define MEMORY                                                                                     \
	"\"memory\": {\"limit_bytes\": 1073741824, \"claimed_bytes\": 1048576,"                    \
	" \"peak_bytes\": 3145728, \"waiting_claims\": 5, \"oldest_wait_s\": 65.5,"                \
	" \"beside_limit_bytes\": 4096, \"mapped_bytes\": 8388608, \"in_use_bytes\": 2048}"
#define STATUS                                                                                        \
	"\"schema\": 1, \"version\": \"0.1.0\", \"host\": \"gw\", \"pid\": 77, \"uptime_s\": 3725.5," \
	" \"log_level\": \"info\", \"workers\": 2, \"services\": 3, \"connections\": 4, " MEMORY
#define GOOD "{" STATUS ", \"problems\": []}"
#define PROBLEM(severity, service, text, cure)                                                     \
	"{\"severity\": \"" severity "\", \"service\": " service ", \"text\": \"" text             \
	"\", \"cure\": \"" cure "\"}"

#define TIMES(count, sum, counts)                                                                  \
	"{\"count\": " count ", \"sum_s\": " sum ", \"counts\": [" counts "]}"
#define READ                                                                                           \
	"\"READ\": {\"calls\": 1200, \"errors\": 0, \"whole\": " TIMES(                                \
		"100", "20.0",                                                                         \
		"0, 97, 3") ", \"stages\": {\"server\": " TIMES("100", "18.6",                         \
								"97, 3") ", \"client\": " TIMES("100", \
												"1.4", \
												"100") "}}"
#define LATENCY                                                                                    \
	"\"latency\": {\"limits_s\": [0.001, 0.002, 0.25], \"services\": {\"files\":"              \
	" {\"operations\": {" READ                                                                 \
	", \"WRITE\": {\"calls\": 34}}}, \"idle\": {\"operations\": {}}}}"
#define CONNECTIONS                                                                                \
	"\"connections\": [{\"service\": \"files\", \"oldest_call_age_s\": 2,"                     \
	" \"oldest_call_operation\": \"WRITE\", \"oldest_call_stage\": \"credit\"},"               \
	" {\"service\": \"files\", \"oldest_call_age_s\": 65.2,"                                   \
	" \"oldest_call_operation\": \"READ\", \"oldest_call_stage\": \"server\"},"                \
	" {\"service\": \"idle\", \"oldest_call_age_s\": null}]"
#define OK "\"server\": {\"state\": \"ok\", \"state_age_s\": 9}"
#define DOWN                                                                                       \
	"\"server\": {\"state\": \"down\", \"state_age_s\": 35, \"error\": \"refused\","           \
	" \"address\": \"192.0.2.1:2049\", \"attempts_failed\": 7, \"waiting_clients\": 1}"

static char *printed;

static const char *render_with(const char *status, const char *beside_text, bool all)
{
	json_t *answer = json_loads(status, 0, NULL);
	json_t *beside = beside_text ? json_loads(beside_text, 0, NULL) : NULL;
	size_t bytes;
	FILE *out;

	free(printed);
	out = open_memstream(&printed, &bytes);
	ck_assert_ptr_nonnull(answer);
	ck_assert(!beside_text || beside);
	ck_assert_int_eq(render_answer(CONTROL_COMMAND_STATUS, answer, beside, all, out), 0);
	fclose(out);
	json_decref(answer);
	json_decref(beside);
	return printed;
}

static void setup(void)
{
	setenv("TZ", "UTC", 1);
}

static void teardown(void)
{
	free(printed);
	printed = NULL;
}

static size_t lines(void)
{
	size_t n = 0;

	for (const char *c = printed; *c; c++)
		n += *c == '\n';
	return n;
}

static size_t longest_line(void)
{
	size_t longest = 0, len;

	for (const char *line = printed; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		longest = len > longest ? len : longest;
	}
	return longest;
}

#define TOP                                                                                        \
	"version 0.1.0, up since 2026-11-25 19:59 (1h02m), process 77, log level info\n"           \
	"services 3, workers 2, connections 4, memory 1.0 MiB of 1.0 GiB\n"                        \
	"\n"
#define NOW "\"time_s\": 1795640525" /* 2026-11-25 21:02:05 UTC */

START_TEST(a_good_day)
{
	ck_assert_str_eq(
		render_with(GOOD,
			    "{" NOW ", \"services\": [{\"name\": \"files\", \"connections\": 3, " OK
			    "}, {\"name\": \"idle\", \"connections\": 1,"
			    " \"server\": {\"state\": \"unknown\"}}], " LATENCY ", " CONNECTIONS
			    "}",
			    false),
		TOP "no problems\n"
		    "\n"
		    "SERVICE  SERVER  OPEN  CALLS     P50     P99  MOST TIME   OLDEST CALL\n"
		    "files    ok         3  1,234  2.0 ms  250 ms  server 93%  1m05s READ server\n"
		    "idle     -          1      0       -       -  -           -\n");
}
END_TEST

#define BAD                                                                                        \
	"\"services\": [{\"name\": \"a\", \"connections\": 1, \"server\": {\"state\": \"ok\","     \
	" \"condition\": \"silent\"}}, {\"name\": \"b\", \"connections\": 2,"                      \
	" \"draining\": true, \"server\": {\"state\": \"ok\"}}, {\"name\": \"c\", " DOWN "}]"
#define SERVER_DOWN                                                                                \
	"server 192.0.2.1:2049 is down for 35 s: refused; attempts: 7, waiting clients: 1"
#define CHECK "'rpcrdma-proxyctl check c' shows which step fails"
#define WORST PROBLEM("critical", "\"c\"", SERVER_DOWN, CHECK)
#define REJECTED                                                                                   \
	PROBLEM("warning", "null", "reload rejected 5 s ago: /etc/p.conf:3: unknown key", "fix it")
#define TABLE                                                                                      \
	"\n"                                                                                       \
	"SERVICE  SERVER   OPEN  CALLS  P50  P99  MOST TIME  OLDEST CALL\n"                        \
	"a        silent      1      0    -    -  -          not queried\n"                        \
	"b        drained     2      0    -    -  -          not queried\n"                        \
	"c        down        -      0    -    -  -          not queried\n"

START_TEST(problems_have_their_cause_and_cure)
{
	ck_assert_str_eq(
		render_with("{" STATUS ", \"problems\": [" WORST ", " REJECTED "]}",
			    "{" NOW ", " BAD "}", false),
		TOP "c: server 192.0.2.1:2049 is down for 35 s: refused; attempts: 7, waiting\n"
		    "    clients: 1\n"
		    "  what to do: 'rpcrdma-proxyctl check c' shows which step fails\n"
		    "reload rejected 5 s ago: /etc/p.conf:3: unknown key\n"
		    "  what to do: fix it\n" TABLE);
}
END_TEST

/* Twenty problems, of which the first is the worst. */
START_TEST(many_problems_have_a_line_each)
{
	char status[8192] = "{" STATUS ", \"problems\": [" WORST;

	for (int i = 0; i < 19; i++)
		strcat(status, ", " REJECTED);
	strcat(status, "]}");
	render_with(status, "{" NOW ", " BAD "}", false);
	ck_assert_uint_le(lines(), 23);
	ck_assert_uint_le(longest_line(), 80);
	ck_assert_ptr_nonnull(strstr(
		printed, TOP
		"c: server 192.0.2.1:2049 is down for 35 s: refused; attempts: 7, waiting clien..\n"
		"reload rejected 5 s ago: /etc/p.conf:3: unknown key\n"));
	ck_assert_ptr_nonnull(strstr(
		printed, "\nand 7 more: 'rpcrdma-proxyctl -a status' shows all, and what to do\n"));
	render_with(status, "{" NOW ", " BAD "}", true);
	ck_assert_ptr_nonnull(strstr(printed, "c: " SERVER_DOWN "\n  what to do: " CHECK "\n"));
	ck_assert_ptr_null(strstr(printed, "more"));
}
END_TEST

/* A few problems that would fit without their cures keep a line for where those are. */
START_TEST(problems_without_space_for_cures_say_where_these_are)
{
	char status[8192] = "{" STATUS ", \"problems\": [" WORST;

	for (int i = 0; i < 8; i++)
		strcat(status, ", " REJECTED);
	strcat(status, "]}");
	render_with(status, "{" NOW ", " BAD "}", false);
	ck_assert_ptr_nonnull(strstr(
		printed, "unknown key\n'rpcrdma-proxyctl -a status' shows all, and what to do\n"));
}
END_TEST

START_TEST(a_daemon_that_reports_no_problems_is_not_called_good)
{
	render_with("{" STATUS "}", NULL, false);
	ck_assert_ptr_null(strstr(printed, "no problems"));
	ck_assert_ptr_nonnull(strstr(printed, "problems: not reported: the daemon is older"));
}
END_TEST

/* Of @n services the last @down are down, and have names that nobody would like to read. */
static json_t *many_services(int n, int down)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++) {
		json_t *service = json_loads(i < n - down ? "{" OK "}" : "{" DOWN "}", 0, NULL);

		json_object_set_new(service, "name",
				    json_sprintf("a-service-whose-name-is-long-%03d", i));
		json_object_set_new(service, "connections", json_integer(100000));
		json_array_append_new(list, service);
	}
	return list;
}

/* What is wrong with these. */
static json_t *many_problems(int n, int down)
{
	json_t *list = json_array(), *one;

	for (int i = n - down; i < n; i++) {
		one = json_loads(WORST, 0, NULL);
		json_object_set_new(one, "service",
				    json_sprintf("a-service-whose-name-is-long-%03d", i));
		json_array_append_new(list, one);
	}
	return list;
}

static void render_many(int n, int down, bool all)
{
	json_t *beside =
		json_pack("{s:o, s:[]}", "services", many_services(n, down), "connections");
	json_t *status = json_loads("{" STATUS "}", 0, NULL);
	char *text = json_dumps(beside, 0), *status_text;

	json_object_set_new(status, "problems", many_problems(n, down));
	status_text = json_dumps(status, 0);
	render_with(status_text, text, all);
	free(status_text);
	free(text);
	json_decref(beside);
	json_decref(status);
}

START_TEST(a_dozen_services_fit_a_screen_whatever_ails_them)
{
	for (int down = 0; down <= 12; down++) {
		render_many(12, down, false);
		ck_assert_uint_le(lines(), 23);
		ck_assert_uint_le(longest_line(), 80);
		ck_assert_ptr_nonnull(strstr(printed, "011  "));
	}
	ck_assert_ptr_nonnull(
		strstr(printed, "\nand 8 more: 'rpcrdma-proxyctl -a status' shows all, and what"));
}
END_TEST

START_TEST(of_more_the_worst_are_shown_and_the_others_counted)
{
	render_many(40, 1, false);
	ck_assert_uint_le(lines(), 23);
	ck_assert_ptr_nonnull(strstr(printed, "\nand 28 more services\n"));
	ck_assert_ptr_nonnull(strstr(printed, "010  "));
	ck_assert_ptr_null(strstr(printed, "011  "));
	ck_assert_ptr_nonnull(strstr(printed, "039  "));
}
END_TEST

START_TEST(all_of_it_is_shown_when_asked)
{
	render_many(40, 40, true);
	ck_assert_ptr_null(strstr(printed, "more"));
	ck_assert_ptr_nonnull(strstr(printed,
				     "029: server 192.0.2.1:2049 is down for 35 s: refused;"
				     " attempts: 7, waiting clients: 1\n"));
	ck_assert_ptr_nonnull(strstr(printed,
				     "\n"
				     "claimed by RPCs     1.0 MiB of 1.0 GiB, peak 3.0 MiB\n"
				     "waiting for memory  5, up to 1m05s\n"
				     "outside the limit   up to 4.0 KiB\n"
				     "buffers             2.0 KiB in use, 8.0 MiB mapped\n"));
}
END_TEST

START_TEST(missing_values_are_reported)
{
	render_with("{\"schema\": 1, \"version\": \"9\", \"mood\": true, \"targets\": {\"up\": 2}}",
		    NULL, false);
	ck_assert_ptr_nonnull(strstr(printed, "\nmood: true\ntargets: {\"up\":2}\n"));
	ck_assert_ptr_null(strstr(printed, "schema"));
	ck_assert_ptr_nonnull(strstr(printed, "up for 0 s"));
}
END_TEST

static const char *const odd[] = {
	"{}",
	"{\"time_s\": -1, \"services\": {}, \"connections\": 7, \"latency\": []}",
	"{\"time_s\": 9223372036854775807, \"services\": [null, 7, {}, {\"name\": 3, \"server\": 1}]}",
	"{\"problems\": [1, {}, {\"severity\": 7, \"cure\": 3}], \"services\": [{\"name\": \"a\", \"refused\": {\"x\": \"y\"}, \"targets\": [1, {}],"
	" \"server\": {\"state\": \"down\"}}], \"connections\": [null, {\"oldest_call_age_s\": 1e300,"
	" \"service\": \"a\"}], \"latency\": {\"limits_s\": 3, \"services\": {\"a\": {\"operations\":"
	" {\"READ\": {\"calls\": -1, \"whole\": {\"counts\": [1, -5, 9223372036854775807, \"x\"],"
	" \"sum_s\": -1e300}, \"stages\": {\"server\": {\"sum_s\": 1e300}}}}}}}}",
};

/* Of a daemon that is another version, or none of ours. */
START_TEST(unknown_members_are_ignored)
{
	render_with("{\"uptime_s\": 1e300}", odd[_i], false);
	render_with("{\"uptime_s\": -5, \"memory\": 3}", odd[_i], true);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ctl_status");
	TCase *tc = tcase_create("ctl_status");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_good_day);
	tcase_add_test(tc, problems_have_their_cause_and_cure);
	tcase_add_test(tc, many_problems_have_a_line_each);
	tcase_add_test(tc, problems_without_space_for_cures_say_where_these_are);
	tcase_add_test(tc, a_daemon_that_reports_no_problems_is_not_called_good);
	tcase_add_test(tc, a_dozen_services_fit_a_screen_whatever_ails_them);
	tcase_add_test(tc, of_more_the_worst_are_shown_and_the_others_counted);
	tcase_add_test(tc, all_of_it_is_shown_when_asked);
	tcase_add_test(tc, missing_values_are_reported);
	tcase_add_loop_test(tc, unknown_members_are_ignored, 0, ARRAY_SIZE(odd));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests the first line and the status of `check` and `status --exit-code` for monitoring systems. */
#include <jansson.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "daemon/ctl/plugin_line.h"
#include "tests/lib/test.h"

static const struct {
	const char *answer;
	enum plugin_status status;
	const char *line;
} statuses[] = {
	{"{\"connections\": 4, \"memory\": {\"limit_bytes\": 1024, \"claimed_bytes\": 7}, \"problems\": []}",
	 PLUGIN_OK,
	 "OK - no problems | connections=4;;;0 memory=7B;;;0;1024 critical=0;;;0 warning=0;;;0\n"},
	{"{\"problems\": [{\"severity\": \"notice\", \"text\": \"2 clients refused\"}]}", PLUGIN_OK,
	 "OK - no problems | connections=0;;;0 memory=0B;;;0;0 critical=0;;;0 warning=0;;;0\n"},
	{"{\"problems\": [{\"severity\": \"warning\", \"service\": null, \"text\": \"a | b\"}]}",
	 PLUGIN_WARNING,
	 "WARNING - a / b | connections=0;;;0 memory=0B;;;0;0 critical=0;;;0 warning=1;;;0\n"},
	{"{\"problems\": [{\"severity\": \"critical\", \"service\": \"files\", \"text\": \"down\"},"
	 " {\"severity\": \"warning\"}, {\"severity\": \"notice\"}]}",
	 PLUGIN_CRITICAL,
	 "CRITICAL - files: down (and 1 more) | connections=0;;;0 memory=0B;;;0;0 critical=1;;;0 warning=1;;;0\n"},
	/* A severity of a later version. */
	{"{\"problems\": [{\"severity\": \"odd\", \"text\": \"x\"}]}", PLUGIN_WARNING,
	 "WARNING - x | connections=0;;;0 memory=0B;;;0;0 critical=0;;;0 warning=1;;;0\n"},
	{"{}", PLUGIN_UNKNOWN,
	 "UNKNOWN - the daemon is older than this client and does not report problems"
	 " | connections=0;;;0 memory=0B;;;0;0 critical=0;;;0 warning=0;;;0\n"},
};

static const struct {
	const char *answer;
	enum plugin_status status;
	const char *line;
} checks[] = {
	{"{\"service\": \"files\", \"result\": \"good\", \"servers\": [{\"server\": \"tcp://a\","
	 " \"steps\": [{\"step\": \"null\", \"result\": \"passed\"}]}]}",
	 PLUGIN_OK, "OK - files is good\n"},
	{"{\"service\": \"files\", \"result\": \"degraded\", \"servers\": [{\"server\": \"tcp://a\","
	 " \"steps\": []}, {\"server\": \"tcp://b\", \"steps\": [{\"step\": \"connect\","
	 " \"result\": \"failed\", \"what\": \"refused | gone\"}, {\"step\": \"null\", \"result\": \"failed\"}]}]}",
	 PLUGIN_WARNING, "WARNING - files is degraded; tcp://b: connect failed: refused / gone\n"},
	{"{\"service\": \"files\", \"result\": \"failed\", \"servers\": [{\"server\": \"tcp://a\","
	 " \"steps\": [{\"step\": \"null\", \"result\": \"failed\"}]}]}",
	 PLUGIN_CRITICAL, "CRITICAL - files is failed; tcp://a: null failed\n"},
	/* Servers that answer, and clients that do not get them. */
	{"{\"service\": \"files\", \"result\": \"failed\", \"drained\": false, \"servers\": [{\"server\":"
	 " \"tcp://a\", \"result\": \"good\", \"order\": \"down\", \"steps\": []}]}",
	 PLUGIN_CRITICAL, "CRITICAL - files is failed; tcp://a: disabled by 'target down'\n"},
	{"{\"service\": \"files\", \"result\": \"failed\", \"drained\": true, \"servers\": [{\"server\":"
	 " \"tcp://a\", \"result\": \"good\", \"order\": \"up\", \"steps\": []}]}",
	 PLUGIN_CRITICAL,
	 "CRITICAL - files is failed; drained: new clients are refused until 'resume'\n"},
	{"{}", PLUGIN_CRITICAL, "CRITICAL - - is -\n"},
};

static void expect(const char *json, enum plugin_status status, const char *line,
		   enum plugin_status (*result)(const json_t *answer),
		   void (*print)(const json_t *answer, FILE *out))
{
	json_t *answer = json_loads(json, 0, NULL);
	char *printed = NULL;
	size_t bytes;
	FILE *out = open_memstream(&printed, &bytes);

	ck_assert_ptr_nonnull(answer);
	ck_assert_int_eq(result(answer), status);
	print(answer, out);
	fclose(out);
	ck_assert_str_eq(printed, line);
	free(printed);
	json_decref(answer);
}

START_TEST(status_has_the_worst_problem_and_performance_data)
{
	expect(statuses[_i].answer, statuses[_i].status, statuses[_i].line, plugin_status_result,
	       plugin_status_print);
}
END_TEST

START_TEST(check_has_the_first_failed_step_of_each_server)
{
	expect(checks[_i].answer, checks[_i].status, checks[_i].line, plugin_check_result,
	       plugin_check_print);
}
END_TEST

START_TEST(the_statuses_are_those_of_monitoring_plugins)
{
	ck_assert_int_eq(PLUGIN_OK, 0);
	ck_assert_int_eq(PLUGIN_WARNING, 1);
	ck_assert_int_eq(PLUGIN_CRITICAL, 2);
	ck_assert_int_eq(PLUGIN_UNKNOWN, 3);
}
END_TEST

START_TEST(a_failure_is_one_line)
{
	char *printed = NULL;
	size_t bytes;
	FILE *out = open_memstream(&printed, &bytes);

	plugin_failure_print(PLUGIN_UNKNOWN, "no permission | none", out);
	fclose(out);
	ck_assert_str_eq(printed, "UNKNOWN - no permission / none\n");
	free(printed);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plugin_line");
	TCase *tc = tcase_create("plugin_line");

	tcase_add_loop_test(tc, status_has_the_worst_problem_and_performance_data, 0,
			    ARRAY_SIZE(statuses));
	tcase_add_loop_test(tc, check_has_the_first_failed_step_of_each_server, 0,
			    ARRAY_SIZE(checks));
	tcase_add_test(tc, the_statuses_are_those_of_monitoring_plugins);
	tcase_add_test(tc, a_failure_is_one_line);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

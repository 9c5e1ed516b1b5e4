// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests `latency` as text: a line for each operation, the distribution of one, and malformed
 * answers.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ctl/render.h"
#include "tests/lib/test.h"

#define LIMITS "\"limits_s\": [0.001, 0.002, 0.25]"
#define NONE   "{\"count\": 0, \"sum_s\": 0.0, \"p50_s\": null, \"p99_s\": null, \"counts\": []}"
#define READ                                                                                       \
	"\"READ\": {\"calls\": 1200, \"unanswered\": 3, \"errors\": 2,"                            \
	" \"errors_by_status\": {\"STALE\": 2}, \"request_bytes\": 2048, \"reply_bytes\": 5000,"   \
	" \"whole\": {\"count\": 4, \"sum_s\": 0.4, \"p50_s\": 0.002, \"p99_s\": null,"            \
	" \"counts\": [0, 3, 0, 1]}, \"stages\": {\"receive\": " NONE ", \"memory\": " NONE ","    \
	" \"credit\": " NONE ", \"server\": {\"count\": 4, \"sum_s\": 0.4, \"p50_s\": 0.002,"      \
	" \"p99_s\": 0.25, \"counts\": [0, 3, 1]}, \"client\": {\"count\": 4, \"sum_s\": 0.0,"     \
	" \"p50_s\": 0.001, \"p99_s\": 0.001, \"counts\": [4]}}}"
#define SERVICES                                                                                   \
	"\"services\": {\"files\": {\"operations\": {" READ "}},"                                  \
	" \"idle\": {\"operations\": {}}}"

static char *printed;

static const char *render(const char *json, bool all)
{
	json_t *answer = json_loads(json, 0, NULL);
	size_t bytes;
	FILE *out;

	free(printed);
	out = open_memstream(&printed, &bytes);
	ck_assert_ptr_nonnull(answer);
	ck_assert_int_eq(render_answer(CONTROL_COMMAND_LATENCY, answer, NULL, all, out), 0);
	fclose(out);
	json_decref(answer);
	return printed;
}

static void teardown(void)
{
	free(printed);
	printed = NULL;
}

START_TEST(each_operation_has_a_line)
{
	ck_assert_str_eq(render("{" LIMITS ", " SERVICES "}", false),
			 "files\n"
			 "  OPERATION  CALLS  ERR     P50  P99  RECV  MEM  CREDIT  SERVER  CLIENT\n"
			 "  READ        1200    2  2.0 ms    -     -    -       -  100 ms       0\n"
			 "idle  (no Calls yet)\n");
}
END_TEST

/* Which stage it was is seen at once, above it. */
#define SPREAD                                                                                     \
	"files\n"                                                                                  \
	"  OPERATION  CALLS  ERR     P50  P99  RECV  MEM  CREDIT  SERVER  CLIENT\n"                \
	"  READ        1200    2  2.0 ms    -     -    -       -  100 ms       0\n"                \
	"  READ: 1,200 Calls, 2.0 KiB in, 4.9 KiB back; 3 without an answer; STALE 2\n"            \
	"     BELOW  RECV  MEM  CREDIT  SERVER  CLIENT  TOTAL\n"                                   \
	"    1.0 ms     .    .       .       .       4      .\n"                                   \
	"    2.0 ms     .    .       .       3       .      3\n"                                   \
	"    250 ms     .    .       .       1       .      .\n"                                   \
	"    longer     .    .       .       .       .      1\n"

START_TEST(one_operation_is_shown_as_it_spreads)
{
	ck_assert_str_eq(render("{" LIMITS ", \"operation\": \"READ\", " SERVICES "}", false),
			 SPREAD "idle  (no READ yet)\n");
	ck_assert_str_eq(render("{" LIMITS ", " SERVICES "}", true),
			 SPREAD "idle  (no Calls yet)\n");
}
END_TEST

/* It is what --operation is given. */
START_TEST(the_name_of_an_operation_is_whole_if_all_is_wanted)
{
	ck_assert_ptr_nonnull(strstr(
		render("{" LIMITS ", \"services\": {\"files\": {\"operations\": {"
		       "\"BIND_CONN_TO_SESSION_OF_A_LONG_NAME\": {\"calls\": 123456789012345678}}}}}",
		       true),
		"  BIND_CONN_TO_SESSION_OF_A_LONG_NAME  123456789012345678 "));
	ck_assert_ptr_null(strstr(
		render("{" LIMITS ", \"services\": {\"files\": {\"operations\": {"
		       "\"BIND_CONN_TO_SESSION_OF_A_LONG_NAME\": {\"calls\": 123456789012345678}}}}}",
		       false),
		"BIND_CONN_TO_SESSION_OF_A_LONG_NAME"));
}
END_TEST

static const char *const odd[] = {
	"{}",
	"{\"services\": []}",
	"{\"services\": {\"a\": null}}",
	"{\"services\": {\"a\": {\"operations\": {\"READ\": null}}}}",
	"{\"limits_s\": {}, \"services\": {\"a\": {\"operations\": {\"READ\": {\"whole\": 7, \"stages\": []}}}}}",
	"{\"limits_s\": [null, \"x\"], \"services\": {\"a\": {\"operations\": {\"READ\": {\"whole\":"
	" {\"counts\": [1, \"x\", -5, 9223372036854775807, 1], \"sum_s\": -1e300, \"count\": 1},"
	" \"stages\": {\"server\": {\"counts\": 3, \"count\": -1, \"sum_s\": 1e300}}}}}}}",
};

/* Of a daemon that is another version, or none of ours. */
START_TEST(unknown_members_are_ignored)
{
	render(odd[_i], false);
	render(odd[_i], true);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ctl_latency");
	TCase *tc = tcase_create("ctl_latency");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, each_operation_has_a_line);
	tcase_add_test(tc, one_operation_is_shown_as_it_spreads);
	tcase_add_test(tc, the_name_of_an_operation_is_whole_if_all_is_wanted);
	tcase_add_loop_test(tc, unknown_members_are_ignored, 0, ARRAY_SIZE(odd));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

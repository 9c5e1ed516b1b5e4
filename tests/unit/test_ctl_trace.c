// SPDX-License-Identifier: BSD-3-Clause
/* Tests lines of `trace` as text, and malformed lines. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "daemon/ctl/render.h"
#include "tests/lib/test.h"

#define CALL                                                                                       \
	"\"time\": \"2026-11-25T22:57:07.581943Z\", \"service\": \"nfs\", \"connection\": 12,"     \
	" \"client_address\": \"10.9.0.1:703\", \"xid\": 77, \"request_bytes\": 116"
#define CARRIED                                                                                    \
	"\"carried\": {\"client\": {\"call\": \"record\", \"reply\": \"record\"},"                 \
	" \"upstream\": {\"call\": \"short\", \"reply\": \"long\"}}"
#define STAGES                                                                                     \
	"\"took_s\": 0.0355, \"stages_s\": {\"receive\": 0.0, \"memory\": 0.0001,"                 \
	" \"credit\": 0.0, \"server\": 0.034, \"client\": 0.0015}"

static char *printed;

static const char *render_as(const char *json, bool all)
{
	json_t *line = json_loads(json, JSON_DECODE_ANY, NULL);
	size_t bytes;
	FILE *out;

	free(printed);
	out = open_memstream(&printed, &bytes);
	ck_assert_ptr_nonnull(line);
	render_trace_line(line, all, out);
	fclose(out);
	json_decref(line);
	return printed;
}

static const char *render(const char *json)
{
	return render_as(json, true);
}

static void teardown(void)
{
	free(printed);
	printed = NULL;
}

START_TEST(a_line_has_client_operation_and_stages)
{
	ck_assert_str_eq(
		render("{" CALL ", \"callback\": false, \"operation\": \"READ\","
		       " \"answered\": true, \"error\": null, \"reply_bytes\": 1048704, " CARRIED
		       ", " STAGES "}"),
		"22:57:07.581 nfs#12         10.9.0.1:703          READ          116 bytes"
		"    1.0 MiB  record>short long>record        36 ms  server 34 ms, client 1.5 ms\n");
}
END_TEST

START_TEST(an_error_is_shown_at_the_end)
{
	render("{" CALL ", \"callback\": false, \"operation\": \"READ\", \"answered\": true,"
	       " \"error\": \"STALE\", \"reply_bytes\": 28, " CARRIED ", " STAGES "}");
	ck_assert_msg(strstr(printed, "client 1.5 ms; STALE\n") != NULL, "%s", printed);
	render("{" CALL ", \"callback\": false, \"operation\": \"READ\", \"answered\": true,"
	       " \"error\": \"STALE\", \"error_name\": \"NFS4ERR_STALE\", \"reply_bytes\": 28, " CARRIED
	       ", " STAGES "}");
	ck_assert_msg(strstr(printed, "; NFS4ERR_STALE\n") != NULL, "%s", printed);
}
END_TEST

START_TEST(a_client_with_a_verified_certificate_is_named_last)
{
	render("{" CALL ", \"callback\": false, \"operation\": \"READ\", \"answered\": true,"
	       " \"error\": \"STALE\", \"reply_bytes\": 28, \"client_name\": \"a.example\", " CARRIED
	       ", " STAGES "}");
	ck_assert_msg(strstr(printed, "; STALE; client a.example\n") != NULL, "%s", printed);
	render("{" CALL ", \"callback\": false, \"operation\": \"READ\", \"answered\": true,"
	       " \"error\": null, \"reply_bytes\": 28, \"client_name\": null, " CARRIED ", " STAGES
	       "}");
	ck_assert_msg(strstr(printed, "client 1.5 ms\n") != NULL, "%s", printed);
}
END_TEST

START_TEST(a_call_without_an_answer_says_so)
{
	render("{" CALL ", \"callback\": false, \"operation\": \"READ\", \"answered\": false,"
	       " \"error\": null, \"reply_bytes\": null, \"carried\": {\"client\": {\"call\":"
	       " \"record\", \"reply\": null}, \"upstream\": {\"call\": null, \"reply\": null}}, " STAGES
	       "}");
	ck_assert_msg(strstr(printed, " record>- ->-  ") != NULL, "%s", printed);
	ck_assert_msg(strstr(printed, "; no answer\n") != NULL, "%s", printed);
}
END_TEST

/* Its Call goes the other way. */
START_TEST(a_callback_is_carried_to_the_client)
{
	render("{" CALL ", \"callback\": true, \"operation\": \"CB_RECALL\", \"answered\": true,"
	       " \"error\": null, \"reply_bytes\": 28, " CARRIED ", " STAGES "}");
	ck_assert_msg(strstr(printed, " short>record record>long ") != NULL, "%s", printed);
}
END_TEST

START_TEST(missed_rpcs_are_reported)
{
	static const char missed[] =
		"-- 12 RPCs missed: they came faster than this program read them\n";

	ck_assert_str_eq(render("{\"missed\": 12}"), missed);
	ck_assert_str_eq(render_as("{\"missed\": 12}", false), missed);
}
END_TEST

static const char *const strange[] = {"{}", "[]", "3", "{\"future\": 1}", "{\"schema\": 1}"};

START_TEST(input_that_is_no_line_is_ignored)
{
	ck_assert_str_eq(render(strange[_i]), "");
	ck_assert_str_eq(render_as(strange[_i], false), "");
}
END_TEST

static const char *const wrong[] = {
	"{\"operation\": 3}",
	"{\"operation\": \"READ\", \"time\": \"x\", \"stages_s\": [], \"carried\": 3}",
	"{\"operation\": \"READ\", \"took_s\": \"long\", \"stages_s\": {\"server\": \"x\"}}",
};

START_TEST(a_line_of_the_wrong_types_is_a_line)
{
	ck_assert_ptr_nonnull(strchr(render(wrong[_i]), '\n'));
	ck_assert_ptr_nonnull(strchr(render_as(wrong[_i], false), '\n'));
}
END_TEST

/* ---- 80 columns ---- */

#define TITLES "TIME (UTC)       ID CLIENT          OPERATION    DURATION SLOWEST STAGE OR ERROR\n"

START_TEST(titles_fit_80_columns)
{
	size_t bytes;
	FILE *out = open_memstream(&printed, &bytes);

	render_trace_titles(false, out);
	fclose(out);
	ck_assert_str_eq(printed, TITLES);
	ck_assert_uint_eq(bytes, 81);
}
END_TEST

#define SHORT(address, operation, error)                                                           \
	"{\"time\": \"2026-11-25T22:57:07.581943Z\", \"service\": \"nfs\", \"connection\": 12,"    \
	" \"client_address\": \"" address "\", \"operation\": \"" operation "\","                  \
	" \"error_name\": " error ", " STAGES ", \"answered\": "
#define LONG_ID                                                                                          \
	"{\"time\": \"2026-11-25T22:57:07.581943Z\", \"connection\": 1234567890123,"                     \
	" \"client_address\": \"10.99.100.1:703\", \"operation\": \"READ\", \"answered\": true, " STAGES \
	"}"

static const struct {
	const char *json, *line;
} fitted[] = {
	{SHORT("10.9.0.1:703", "READ", "null") "true}",
	 "22:57:07.581     12 10.9.0.1        READ            36 ms server 34 ms\n"},
	{SHORT("10.9.0.1:703", "READ", "null") "false}",
	 "22:57:07.581     12 10.9.0.1        READ            36 ms no answer\n"},
	{SHORT("10.9.0.1:703", "LOOKUP", "\"NFS4ERR_STALE_CLIENTID\"") "true}",
	 "22:57:07.581     12 10.9.0.1        LOOKUP          36 ms NFS4ERR_STALE_CLIENTID\n"},
	/* The last column leaves space for the others. */
	{SHORT("[fe80::1:2:3:4%eth0]:703", "SETCLIENTID_CONFIRM", "null") "true}",
	 "22:57:07.581     12 fe80::1:2:3:4%eth0 SETCLIENTID_CONFIRM    36 ms server 34 ms\n"},
	{SHORT("[2001:db8:1234:5678:9abc:def0:1234:5678]:703", "SETCLIENTID_CONFIRM",
	       "null") "true}",
	 "22:57:07.581     12 2001:db8..234:5678 SETCLIENTID_CONFIRM    36 ms server 34 ms\n"},
	{SHORT("10.9.0.1:703", "BIND_CONN_TO_SESSION",
	       "\"NFS4ERR_CONN_NOT_BOUND_TO_SESSION\"") "true}",
	 "22:57:07.581     12 10.9.0.1        BIND_..SSION    36 ms NFS4ERR_CO..TO_SESSION\n"},
	{LONG_ID,
	 "22:57:07.581 1234567890123 10.99.100.1     READ            36 ms server 34 ms\n"},
};

START_TEST(a_line_fits_80_columns)
{
	ck_assert_str_eq(render_as(fitted[_i].json, false), fitted[_i].line);
	ck_assert_uint_le(strlen(printed), 81);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace");
	TCase *tc = tcase_create("trace");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, a_line_has_client_operation_and_stages);
	tcase_add_test(tc, an_error_is_shown_at_the_end);
	tcase_add_test(tc, a_client_with_a_verified_certificate_is_named_last);
	tcase_add_test(tc, a_call_without_an_answer_says_so);
	tcase_add_test(tc, a_callback_is_carried_to_the_client);
	tcase_add_test(tc, missed_rpcs_are_reported);
	tcase_add_loop_test(tc, input_that_is_no_line_is_ignored, 0, ARRAY_SIZE(strange));
	tcase_add_loop_test(tc, a_line_of_the_wrong_types_is_a_line, 0, ARRAY_SIZE(wrong));
	tcase_add_test(tc, titles_fit_80_columns);
	tcase_add_loop_test(tc, a_line_fits_80_columns, 0, ARRAY_SIZE(fitted));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

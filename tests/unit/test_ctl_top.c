// SPDX-License-Identifier: BSD-3-Clause
/* Tests the rows of top and their text: rates, order, and malformed answers. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ctl/top_render.h"
#include "daemon/ctl/top_rows.h"
#include "tests/lib/test.h"

#define STATUS                                                                                     \
	"{\"version\": \"0.1.0\", \"uptime_s\": 3725, \"services\": 2, \"connections\": 1234,"     \
	" \"memory\": {\"claimed_bytes\": 2048, \"limit_bytes\": 1073741824}}"

static struct top_view view;
static struct top_sample then, now;
static struct top_rows rows;
static char *printed;

static void setup(void)
{
	top_view_init(&view);
}

static void teardown(void)
{
	top_sample_fini(&then);
	top_sample_fini(&now);
	top_rows_fini(&rows);
	free(printed);
	printed = NULL;
}

static void sample(struct top_sample *out, const char *json, double at_s)
{
	top_sample_fini(out);
	out->status = json_loads(STATUS, 0, NULL);
	out->at_s = at_s;
	*(view.kind == TOP_OPERATIONS ? &out->latency : &out->connections) =
		json_loads(json, JSON_DECODE_ANY, NULL);
	ck_assert(out->latency || out->connections);
}

static void make(void)
{
	ck_assert_int_eq(top_rows_make(&rows, &view, &then, &now), 0);
}

static const char *render(const char *error, unsigned columns)
{
	size_t bytes;
	FILE *out;

	make();
	free(printed);
	out = open_memstream(&printed, &bytes);
	ck_assert_int_eq(top_render(&view, &rows, now.status, error, columns, out), 0);
	fclose(out);
	return printed;
}

/* ---- operations ---- */

#define OPERATION(name, calls, errors, in, back, server_s, client_s, counts)                       \
	"\"" name "\": {\"calls\": " #calls ", \"errors\": " #errors ", \"request_bytes\": " #in   \
	", \"reply_bytes\": " #back ", \"whole\": {\"sum_s\": " #server_s ", \"counts\": [" counts \
	"]}, \"stages\": {\"server\": {\"sum_s\": " #server_s                                      \
	"}, \"client\": {\"sum_s\": " #client_s "}}}"
#define SERVICE(name, operations) "\"" name "\": {\"operations\": {" operations "}}"
#define LATENCY(services)         "{\"limits_s\": [0.001, 0.01, 0.25], \"services\": {" services "}}"

#define BEFORE                                                                                     \
	LATENCY(SERVICE("files", OPERATION("READ", 1000, 2, 1000, 1048576, 1.0, 0.5,               \
					   "900, 100") ", " OPERATION("STAT", 5, 0, 500, 500, 1.0, \
								      0.0, "0, 5")))
#define AFTER                                                                                      \
	LATENCY(SERVICE(                                                                           \
		"files",                                                                           \
		OPERATION("READ", 1400, 4, 2000, 22020096, 4.0, 1.5,                               \
			  "1000, 390, 10") ", " OPERATION("STAT", 5, 0, 500, 500, 1.0, 0.0,        \
							  "0, 5")) ", " SERVICE("other",           \
										OPERATION(         \
											"WRITE",   \
											3000, 0,   \
											0, 0, 0.3, \
											0.0,       \
											"3000")))

START_TEST(operations_have_rates)
{
	sample(&then, BEFORE, 10);
	sample(&now, AFTER, 12);
	ck_assert_str_eq(
		render(NULL, 80),
		"version 0.1.0, up 1h02m, services 2, 1,234 open, memory 2.0 KiB of 1.0 GiB\n"
		"Calls/s 1,700, errors/s 1.0, 500 bytes/s in, 10 MiB/s back, over 2.0 s\n"
		"operations by CALLS/S\n"
		"\n"
		"SERVICE  OPERATION  CALLS/S  ERR/S  MIB/S    MEAN     P99  REC MEM CRE SRV CLI\n"
		"other    WRITE        1,500    0.0    0.0  100 us  1.0 ms    0   0   0 100   0\n"
		"files    READ           200    1.0   10.0  7.5 ms  250 ms    0   0   0  75  25\n");
	view.idle = true;
	ck_assert_ptr_nonnull(strstr(
		render(NULL, 80),
		"\nfiles    STAT           0.0    0.0    0.0       -       -    -   -   -   -   -\n"));
}
END_TEST

/* There is nothing to compare with: what is since the start is shown, and no rate. */
START_TEST(of_the_first_question_there_are_no_rates)
{
	sample(&now, AFTER, 12);
	render("no", 80);
	ck_assert_ptr_nonnull(strstr(printed, "\nrates not available yet\n"));
	ck_assert_ptr_nonnull(strstr(printed, "\nthe daemon says: no\n"));
	ck_assert_ptr_nonnull(strstr(
		printed,
		"\nfiles    READ             -      -      -  2.9 ms   10 ms    0   0   0  73  27\n"));
}
END_TEST

START_TEST(counters_that_were_reset_have_counted_since)
{
	sample(&then, AFTER, 10);
	sample(&now, BEFORE, 12);
	make();
	ck_assert_uint_eq(rows.count, 1);
	ck_assert_str_eq(rows.list[0].text[TOP_TEXT_NAME], "READ");
	ck_assert_double_eq(rows.list[0].value[TOP_CALLS], 500);
	ck_assert_double_eq(rows.list[0].value[TOP_ERRORS], 1);
	ck_assert_double_eq(rows.calls, 500);
	ck_assert_double_ge(rows.in_bytes, 0);
	ck_assert_double_ge(rows.out_bytes, 0);
}
END_TEST

static const char *first_by(unsigned column, bool reverse)
{
	view.sort[view.kind] = column;
	view.reverse[view.kind] = reverse;
	make();
	return rows.list[0].text[TOP_TEXT_NAME];
}

START_TEST(rows_are_sorted_by_any_column_either_way)
{
	static const struct {
		const char *title, *first, *last;
	} cases[] = {
		{"SERVICE", "READ", "WRITE"}, {"OPERATION", "READ", "WRITE"},
		{"CALLS/S", "WRITE", "READ"}, {"ERR/S", "READ", "WRITE"},
		{"MIB/S", "READ", "WRITE"},   {"MEAN", "READ", "WRITE"},
		{"P99", "READ", "WRITE"},     {"SERVER", "READ", "WRITE"},
		{"CLIENT", "READ", "WRITE"},
	};
	const struct top_column *columns;
	unsigned count, found = 0;

	sample(&then, BEFORE, 10);
	sample(&now, AFTER, 12);
	columns = top_columns(TOP_OPERATIONS, &count);
	for (unsigned c = 0; c < count; c++) {
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
			if (strcmp(cases[i].title, columns[c].title) != 0)
				continue;
			ck_assert_str_eq(first_by(c, false), cases[i].first);
			ck_assert_str_eq(first_by(c, true), cases[i].last);
			found++;
		}
	}
	ck_assert_uint_eq(found, ARRAY_SIZE(cases));
}
END_TEST

START_TEST(one_service_alone_and_so_many_rows)
{
	sample(&then, BEFORE, 10);
	sample(&now, AFTER, 12);
	strcpy(view.service, "files");
	view.idle = true;
	view.rows = 1;
	render(NULL, 80);
	ck_assert_ptr_nonnull(
		strstr(printed, "\noperations by CALLS/S, only service files, 1 of 2\n"));
	ck_assert_ptr_nonnull(strstr(printed, " READ "));
	ck_assert_ptr_null(strstr(printed, "STAT"));
	ck_assert_ptr_null(strstr(printed, "other"));
	ck_assert_double_eq(rows.calls, 200);
}
END_TEST

START_TEST(prompts_and_help_are_shown)
{
	sample(&now, AFTER, 12);
	top_key(&view, 'u');
	top_key(&view, 'f');
	ck_assert_ptr_nonnull(strstr(render("no", 80), "\nService (empty: all): f\n"));
	top_key(&view, '\033');
	top_key(&view, 'n');
	top_key(&view, 'x');
	top_key(&view, '\n');
	ck_assert_ptr_nonnull(strstr(render(NULL, 80), "\nNot a number of rows.\n"));
	top_key(&view, 'h');
	render(NULL, 80);
	ck_assert_ptr_nonnull(strstr(printed, "  Space        refresh now\n"));
	ck_assert_ptr_null(strstr(printed, "CALLS/S"));
}
END_TEST

/* ---- connections ---- */

#define CONNECTION(id, calls, in, from, to)                                                        \
	"{\"id\": " #id ", \"service\": \"files\", \"client_address\": \"10.0.0." #id ":700\","    \
	" \"calls_total\": " #calls                                                                \
	", \"oldest_call_age_s\": null, \"client\": {\"calls_in\": " #in                           \
	", \"bytes_received\": " #from ", \"bytes_sent\": " #to "}}"
#define STUCK                                                                                      \
	"{\"id\": 9, \"service\": \"files\", \"client_address\": \"10.0.0.9:700\","                \
	" \"calls_total\": 5, \"oldest_call_age_s\": 65.2, \"oldest_call_operation\": \"READ\","   \
	" \"oldest_call_stage\": \"server\", \"client\": {\"calls_in\": 1,"                        \
	" \"bytes_received\": 100, \"bytes_sent\": 100}}"

START_TEST(connections_have_rates_and_their_oldest_call)
{
	view.kind = TOP_CONNECTIONS;
	sample(&then,
	       "[" CONNECTION(3, 10, 0, 100, 200) ", " STUCK ", " CONNECTION(1, 7, 0, 9, 9) "]",
	       10);
	sample(&now,
	       "[" CONNECTION(1, 7, 0, 9, 9) ", " CONNECTION(
		       3, 30, 2, 2148, 2097352) ", " STUCK ", " CONNECTION(12, 1, 0, 50, 60) "]",
	       12);
	ck_assert_str_eq(
		render(NULL, 100),
		"version 0.1.0, up 1h02m, services 2, 1,234 open, memory 2.0 KiB of 1.0 GiB\n"
		"Calls/s 10.5, 1.0 KiB/s in, 1.0 MiB/s back, over 2.0 s\n"
		"connections by OLDEST\n"
		"\n"
		"ID  CLIENT         SERVICE  CALLS/S  CALLS  OLDEST  OPERATION    MIB IN  MIB OUT\n"
		" 9  10.0.0.9:700   files        0.0      1   1m05s  READ server     0.0      0.0\n"
		"12  10.0.0.12:700  files        0.5      0       -  -               0.0      0.0\n"
		" 3  10.0.0.3:700   files       10.0      2       -  -               0.0      1.0\n");
	view.idle = true;
	make();
	ck_assert_uint_eq(rows.count, 4);
	ck_assert_uint_eq(rows.busy, 3);
}
END_TEST

static unsigned longest_line(void)
{
	size_t longest = 0;

	for (const char *line = printed; *line; line += strcspn(line, "\n") + 1)
		if (strcspn(line, "\n") > longest)
			longest = strcspn(line, "\n");
	return (unsigned)longest;
}

#define FAR                                                                                        \
	"[{\"id\": 1234567, \"service\": \"projects-of-the-lab\","                                 \
	" \"client_address\": \"192.168.100.200:65535\", \"calls_total\": 5,"                      \
	" \"oldest_call_age_s\": 65.2, \"oldest_call_operation\": \"READ\","                       \
	" \"oldest_call_stage\": \"server\", \"client\": {\"calls_in\": 1,"                        \
	" \"bytes_received\": 100, \"bytes_sent\": 100}}]"

/* Bytes make place for it, but for those that are sorted by. */
START_TEST(a_client_is_whole_on_80_columns)
{
	view.kind = TOP_CONNECTIONS;
	sample(&then, FAR, 10);
	sample(&now, FAR, 12);
	render(NULL, 80);
	ck_assert_ptr_nonnull(strstr(printed, "\n1234567  192.168.100.200:65535  "));
	ck_assert_ptr_nonnull(strstr(printed, "READ server"));
	ck_assert_ptr_null(strstr(printed, "MIB"));
	ck_assert_uint_le(longest_line(), 80);
	view.sort[TOP_CONNECTIONS] = 7;
	render(NULL, 80);
	ck_assert_ptr_nonnull(strstr(printed, "  192.168.100.200:65535  "));
	ck_assert_ptr_nonnull(strstr(printed, "  MIB OUT\n"));
	ck_assert_ptr_null(strstr(printed, "MIB IN"));
	render(NULL, 0);
	ck_assert_ptr_nonnull(strstr(printed, "projects-of-the-lab"));
	ck_assert_ptr_nonnull(strstr(printed, "  MIB IN  MIB OUT\n"));
}
END_TEST

/* After a restart the numbers of connections begin anew. */
START_TEST(a_number_that_is_used_again_has_no_negative_rate)
{
	view.kind = TOP_CONNECTIONS;
	sample(&then, "[" CONNECTION(1, 1000, 0, 5000, 5000) "]", 10);
	sample(&now, "[" CONNECTION(1, 4, 0, 100, 20) "]", 12);
	make();
	ck_assert_double_eq(rows.list[0].value[TOP_CALLS], 2);
	ck_assert_double_eq(rows.list[0].value[TOP_FROM], 50);
	ck_assert_double_eq(rows.list[0].value[TOP_TO], 10);
}
END_TEST

/* ---- what is odd ---- */

static const char *const odd[] = {
	"{}",
	"[null, 7, {}, {\"id\": \"x\", \"client\": 3}, {\"id\": -1, \"calls_total\": -9223372036854775808,"
	" \"oldest_call_age_s\": 1e300, \"oldest_call_operation\": \"A\", \"client\":"
	" {\"calls_in\": -1e300, \"bytes_sent\": 9223372036854775807}}]",
	"{\"services\": {\"a\": null, \"b\": {\"operations\": []}, \"c\": {\"operations\": {\"X\": 7}}}}",
	"{\"limits_s\": [\"x\"], \"services\": {\"a\": {\"operations\": {\"READ\": {\"calls\": -1,"
	" \"errors\": 9223372036854775807, \"whole\": {\"sum_s\": 1e300, \"counts\": [-1, 5, \"x\","
	" 9223372036854775807, 9223372036854775807]}, \"stages\": {\"server\": {\"sum_s\": 1e300},"
	" \"client\": {\"sum_s\": 1e300}, \"memory\": {\"sum_s\": -1e300}}}}}}}",
};

/* Of a daemon that is another version, or none of ours. */
START_TEST(unknown_members_are_ignored)
{
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		for (view.kind = 0; view.kind < TOP_KINDS; view.kind++) {
			view.idle = true;
			sample(&then, odd[i], 1);
			sample(&now, odd[_i], 2);
			render(NULL, 20);
			ck_assert_ptr_nonnull(strstr(printed, "CALLS/S"));
			top_sample_fini(&then);
			top_sample_fini(&now);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ctl_top");
	TCase *tc = tcase_create("ctl_top");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, operations_have_rates);
	tcase_add_test(tc, of_the_first_question_there_are_no_rates);
	tcase_add_test(tc, counters_that_were_reset_have_counted_since);
	tcase_add_test(tc, rows_are_sorted_by_any_column_either_way);
	tcase_add_test(tc, one_service_alone_and_so_many_rows);
	tcase_add_test(tc, prompts_and_help_are_shown);
	tcase_add_test(tc, connections_have_rates_and_their_oldest_call);
	tcase_add_test(tc, a_client_is_whole_on_80_columns);
	tcase_add_test(tc, a_number_that_is_used_again_has_no_negative_rate);
	tcase_add_loop_test(tc, unknown_members_are_ignored, 0, ARRAY_SIZE(odd));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

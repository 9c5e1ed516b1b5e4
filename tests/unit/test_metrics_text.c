// SPDX-License-Identifier: BSD-3-Clause
/* Tests metrics as text, and the list of them in the manual. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/metrics_table.h"
#include "daemon/http/metrics_text.h"
#include "tests/lib/test.h"

static struct metrics_text text;

static void begin(bool is_open)
{
	metrics_text_init(&text, is_open);
}

static void expect(const char *wanted)
{
	size_t bytes;
	char *got = metrics_text_end(&text, &bytes);

	ck_assert_ptr_nonnull(got);
	ck_assert_uint_eq(bytes, strlen(wanted));
	ck_assert_msg(!memcmp(got, wanted, bytes), "%.*s", (int)bytes, got);
	free(got);
}

START_TEST(counters_have_their_suffix_where_each_format_wants_it)
{
	begin(_i);
	metrics_text_family(&text, "seen_total", METRICS_COUNTER, "What was seen.");
	metrics_text_put(&text, METRICS_NO_LABELS, 9007199254740991.0);
	metrics_text_family(&text, "age_seconds", METRICS_GAUGE, "How old.");
	metrics_text_put(&text, METRICS_LABELS({"a", "b"}, {"c", ""}), 0.25);
	expect(_i ? "# HELP seen What was seen.\n# TYPE seen counter\n"
		    "seen_total 9007199254740991\n"
		    "# HELP age_seconds How old.\n# TYPE age_seconds gauge\n"
		    "age_seconds{a=\"b\",c=\"\"} 0.25\n# EOF\n"
		  : "# HELP seen_total What was seen.\n# TYPE seen_total counter\n"
		    "seen_total 9007199254740991\n"
		    "# HELP age_seconds How old.\n# TYPE age_seconds gauge\n"
		    "age_seconds{a=\"b\",c=\"\"} 0.25\n");
}
END_TEST

START_TEST(values_of_labels_are_escaped)
{
	begin(false);
	metrics_text_family(&text, "x", METRICS_GAUGE, "X.");
	metrics_text_put(&text, METRICS_LABELS({"a", "\"}\\ 1\n\xc3\xa4"}), 1);
	expect("# HELP x X.\n# TYPE x gauge\nx{a=\"\\\"}\\\\ 1\\n??\"} 1\n");
}
END_TEST

/* 2^-14 s is 61 us; 2^6 s is 64. */
START_TEST(histograms_count_the_values_below_each_limit)
{
	struct histogram histogram = {0};

	histogram_add(&histogram, 1);
	histogram_add(&histogram, 60);
	histogram_add(&histogram, 62);
	histogram_add(&histogram, 900000);
	histogram_add(&histogram, 63000000);
	histogram_add(&histogram, 65000000);
	begin(false);
	metrics_text_family(&text, "d", METRICS_HISTOGRAM, "D.");
	metrics_text_put_durations(&text, METRICS_LABELS({"o", "READ"}), &histogram);
	expect("# HELP d D.\n# TYPE d histogram\n"
	       "d_bucket{o=\"READ\",le=\"6.103515625e-05\"} 2\n"
	       "d_bucket{o=\"READ\",le=\"0.000244140625\"} 3\n"
	       "d_bucket{o=\"READ\",le=\"0.0009765625\"} 3\n"
	       "d_bucket{o=\"READ\",le=\"0.00390625\"} 3\n"
	       "d_bucket{o=\"READ\",le=\"0.015625\"} 3\n"
	       "d_bucket{o=\"READ\",le=\"0.0625\"} 3\n"
	       "d_bucket{o=\"READ\",le=\"0.25\"} 3\n"
	       "d_bucket{o=\"READ\",le=\"1.0\"} 4\n"
	       "d_bucket{o=\"READ\",le=\"4.0\"} 4\n"
	       "d_bucket{o=\"READ\",le=\"16.0\"} 4\n"
	       "d_bucket{o=\"READ\",le=\"64.0\"} 5\n"
	       "d_bucket{o=\"READ\",le=\"+Inf\"} 6\n"
	       "d_sum{o=\"READ\"} 128.900123\n"
	       "d_count{o=\"READ\"} 6\n");
}
END_TEST

START_TEST(a_text_that_would_be_too_long_is_none)
{
	static char value[100001];
	size_t bytes;

	memset(value, 'x', sizeof(value) - 1);
	begin(false);
	metrics_text_family(&text, "x", METRICS_GAUGE, "X.");
	for (unsigned i = 0; i <= METRICS_MAX_BYTES / (sizeof(value) - 1); i++)
		metrics_text_put(&text, METRICS_LABELS({"a", value}), 1);
	ck_assert(text.failed);
	ck_assert_ptr_null(metrics_text_end(&text, &bytes));
}
END_TEST

static char *read_manual(void)
{
	const char *srcdir = getenv("srcdir") ? getenv("srcdir") : ".";
	static char page[1 << 20];
	char path[4096];
	FILE *in;

	snprintf(path, sizeof(path), "%s/man/rpcrdma-proxy.8.in", srcdir);
	in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	page[fread(page, 1, sizeof(page) - 1, in)] = '\0';
	fclose(in);
	return page;
}

static unsigned count(const char *page, const char *what)
{
	unsigned n = 0;

	for (; (page = strstr(page, what)); page++)
		n++;
	return n;
}

START_TEST(the_manual_has_each_of_them)
{
	const char *page = read_manual();
	const struct metrics_family *family;
	char item[200];

	for (family = metrics_families; family->name; family++) {
		snprintf(item, sizeof(item), "\n.It Li %s", family->name);
		ck_assert_msg(count(page, item) >= 1, "%s is not in the manual", family->name);
	}
	ck_assert_uint_eq(count(page, "\n.It Li rpcrdma_proxy_") + count(page, "\n.It Li process_"),
			  family - metrics_families);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("metrics_text");
	TCase *tc = tcase_create("metrics_text");

	tcase_add_loop_test(tc, counters_have_their_suffix_where_each_format_wants_it, 0, 2);
	tcase_add_test(tc, values_of_labels_are_escaped);
	tcase_add_test(tc, histograms_count_the_values_below_each_limit);
	tcase_add_test(tc, a_text_that_would_be_too_long_is_none);
	tcase_add_test(tc, the_manual_has_each_of_them);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the log: the format of a line, escaping, and the limits that keep a peer from filling it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "tests/lib/test.h"

#define PATIENCE_MS 3600000u /* for what comes at once: the limit of the case is less */

static char said[64 * 1024];
static uint64_t clock_us;

static bool blocked;

static bool collect(void *arg, const char *line, size_t len)
{
	if (blocked)
		return false;
	ck_assert_uint_lt(strlen(said) + len, sizeof(said));
	strncat(said, line, len);
	return true;
}

/* The two clocks differ by a constant. */
static uint64_t now_us(clockid_t clock)
{
	return clock_us + (clock == CLOCK_REALTIME ? UINT64_C(1763719227) * 1000000u : 0);
}

static void to_form(enum log_form form)
{
	const struct log_output output = {.write = collect, .form = form, .now_us = now_us};

	log_set_output(&output);
}

/* Of a service, for the notes of all its connections. */
static struct log_limit notes;

static void setup(void)
{
	said[0] = '\0';
	clock_us = 0;
	notes = (struct log_limit){.owner = "to-filer", .what = "noted", .burst = 100};
	log_set_level(LOG_LEVEL_INFO);
	to_form(LOG_FORM_LEVEL);
}

static void client_ctx(struct log_ctx *ctx)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(712)};

	inet_pton(AF_INET, "10.0.0.3", &in.sin_addr);
	log_ctx_init(ctx, "to-filer", 17, (const struct sockaddr *)&in, &notes);
}

START_TEST(the_journal_gets_levels)
{
	log_set_level(LOG_LEVEL_DEBUG);
	log_error(NULL, "a");
	log_warning(NULL, "b");
	log_info(NULL, "c %d", 5);
	log_debug(NULL, "d");
	ck_assert_str_eq(said, "<3>a\n<4>b\n<6>c 5\n<7>d\n");
}
END_TEST

START_TEST(others_get_time_and_level)
{
	to_form(LOG_FORM_TIME);
	clock_us = 123456;
	log_warning(NULL, "a");
	ck_assert_str_eq(said, "2025-11-21T10:00:27.123Z warning: a\n");
}
END_TEST

START_TEST(an_entry_has_the_fields_that_are_known)
{
	const uint32_t xid = 0x5f3a;
	struct log_ctx ctx, about;

	to_form(LOG_FORM_FIELDS);
	client_ctx(&ctx);
	ctx.about.upstream = "tcp://10.0.0.9:2049";
	about = log_ctx_because(&ctx, "RECORD_TOO_BIG");
	about.about.xid = &xid;
	log_warning(&about, "closed");
	ck_assert_str_eq(said, "MESSAGE=[to-filer#17 10.0.0.3:712] closed\n"
			       "PRIORITY=4\n"
			       "SYSLOG_IDENTIFIER=rpcrdma-proxy\n"
			       "RPCRDMA_SERVICE=to-filer\n"
			       "RPCRDMA_CLIENT=10.0.0.3\n"
			       "RPCRDMA_UPSTREAM=tcp://10.0.0.9:2049\n"
			       "RPCRDMA_REASON=record_too_big\n"
			       "RPCRDMA_XID=0x00005f3a\n");
	ck_assert_ptr_null(ctx.about.reason);
}
END_TEST

START_TEST(unknown_values_make_no_field)
{
	to_form(LOG_FORM_FIELDS);
	log_info(NULL, "up");
	log_info(LOG_ABOUT(.service = "exports"), "listening");
	ck_assert_str_eq(said,
			 "MESSAGE=up\nPRIORITY=6\nSYSLOG_IDENTIFIER=rpcrdma-proxy\n"
			 "MESSAGE=exports: listening\nPRIORITY=6\nSYSLOG_IDENTIFIER=rpcrdma-proxy\n"
			 "RPCRDMA_SERVICE=exports\n");
}
END_TEST

/* An administrator on the control socket may name a service of any bytes. */
START_TEST(no_value_makes_a_field_of_its_own)
{
	char longer[2 * LOG_LINE_BYTES];

	to_form(LOG_FORM_FIELDS);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	log_info(LOG_ABOUT(.service = "a\nRPCRDMA_CLIENT=10.0.0.1", .upstream = "\x1b[0m",
			   .reason = "peer\n"),
		 "a\nPRIORITY=0");
	ck_assert_str_eq(said,
			 "MESSAGE=a\\x0aRPCRDMA_CLIENT=10.0.0.1: a\\x0aPRIORITY=0\nPRIORITY=6\n"
			 "SYSLOG_IDENTIFIER=rpcrdma-proxy\n");
	said[0] = '\0';
	log_info(LOG_ABOUT(.service = longer), "%s", longer);
	ck_assert_uint_le(strlen(said), LOG_ENTRY_BYTES);
	ck_assert_ptr_nonnull(
		strstr(said, "x [cut]\nPRIORITY=6\nSYSLOG_IDENTIFIER=rpcrdma-proxy\n"));
	ck_assert_ptr_null(strstr(said, "SERVICE"));
}
END_TEST

START_TEST(the_report_of_suppressed_lines_has_their_service_and_reason)
{
	struct log_limit limit = {.burst = 1, .owner = "exports", .reason = "NOT_ALLOWED"};

	to_form(LOG_FORM_FIELDS);
	log_limited(LOG_LEVEL_WARNING, &limit, NULL, "a");
	log_limited(LOG_LEVEL_WARNING, &limit, NULL, "a");
	said[0] = '\0';
	log_report_suppressed(&limit, 1);
	ck_assert_ptr_nonnull(
		strstr(said, "RPCRDMA_SERVICE=exports\nRPCRDMA_REASON=not_allowed\n"));
}
END_TEST

START_TEST(the_level_can_be_changed_at_any_time)
{
	enum log_level level;

	log_debug(NULL, "a");
	ck_assert_int_eq(log_level_parse("debug", &level), 0);
	log_set_level(level);
	log_debug(NULL, "b");
	ck_assert_int_eq(log_level_parse("error", &level), 0);
	log_set_level(level);
	log_warning(NULL, "c");
	ck_assert_int_eq(log_level(), LOG_LEVEL_ERROR);
	ck_assert_int_eq(log_level_parse("chatty", &level), -EINVAL);
	ck_assert_str_eq(said, "<7>b\n");
}
END_TEST

START_TEST(a_connection_has_its_prefix)
{
	struct log_ctx ctx;

	client_ctx(&ctx);
	log_info(&ctx, "open");
	ck_assert_str_eq(said, "<6>[to-filer#17 10.0.0.3:712] open\n");
}
END_TEST

START_TEST(control_characters_are_escaped)
{
	log_info(NULL, "%s", "a\nb\x1b[0m\x7f\\ \xc3\xa9\t");
	ck_assert_str_eq(said, "<6>a\\x0ab\\x1b[0m\\x7f\\\\ \\xc3\\xa9\\x09\n");
}
END_TEST

START_TEST(a_long_line_is_cut_and_marked)
{
	char text[2 * LOG_LINE_BYTES];

	memset(text, '\n', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_info(NULL, "%s", text);
	ck_assert_uint_le(strlen(said), LOG_LINE_BYTES);
	ck_assert_str_eq(said + strlen(said) - 7, " [cut]\n");
	ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
}
END_TEST

static size_t lines(void)
{
	size_t n = 0;

	for (const char *c = said; *c; c++)
		n += *c == '\n';
	return n;
}

static void refuse(struct log_limit *limit, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		log_limited(LOG_LEVEL_WARNING, limit, NULL, "a");
}

/* The words of the manual. */
START_TEST(the_report_of_suppressed_lines_has_their_kind_and_period)
{
	struct log_limit limit = {
		.owner = "exports", .what = "refused", .why = "address is not allowed"};

	clock_us = 3000000;
	refuse(&limit, LOG_LIMIT_BURST);
	ck_assert_uint_eq(lines(), LOG_LIMIT_BURST);
	clock_us += 200000;
	refuse(&limit, 290);
	ck_assert_uint_eq(lines(), LOG_LIMIT_BURST);
	said[0] = '\0';
	clock_us += 4700000;
	log_report_suppressed(&limit, 1);
	ck_assert_str_eq(said, "<4>exports: 290 more refused in 5 s: address is not allowed\n");
	/* Once. */
	clock_us += LOG_REPORT_US;
	log_report_suppressed(&limit, 1);
	ck_assert_uint_eq(lines(), 1);
}
END_TEST

START_TEST(an_unnamed_bucket_is_reported_too)
{
	struct log_limit limits[3] = {{.burst = 1}, {.burst = 1}, {.burst = 1}};

	refuse(&limits[0], 1);
	refuse(&limits[2], 3);
	said[0] = '\0';
	log_report_suppressed(limits, 3);
	ck_assert_str_eq(said, "<4>2 more such lines suppressed in 1 s\n");
}
END_TEST

START_TEST(a_token_comes_back_each_five_seconds)
{
	struct log_limit limit = {.burst = 2};

	refuse(&limit, 3);
	said[0] = '\0';
	clock_us += LOG_LIMIT_REFILL_US - 1;
	refuse(&limit, 1);
	ck_assert_str_eq(said, "");
	clock_us += 1;
	refuse(&limit, 2);
	ck_assert_str_eq(said, "<4>a\n");
	log_report_suppressed(&limit, 1);
	ck_assert_str_eq(said, "<4>a\n<4>3 more such lines suppressed in 5 s\n");
}
END_TEST

START_TEST(a_bucket_may_fill_faster)
{
	struct log_limit limit = {.burst = 2, .refill_us = 1000};

	refuse(&limit, 3);
	clock_us += 1000;
	refuse(&limit, 1);
	ck_assert_uint_eq(lines(), 3);
}
END_TEST

/* The gravest of them; and nothing of what the level keeps out by now. */
START_TEST(the_report_of_suppressed_lines_has_their_level)
{
	struct log_limit limit = {.burst = 1};

	log_limited(LOG_LEVEL_INFO, &limit, NULL, "a");
	log_limited(LOG_LEVEL_INFO, &limit, NULL, "a");
	log_limited(LOG_LEVEL_WARNING, &limit, NULL, "a");
	log_limited(LOG_LEVEL_INFO, &limit, NULL, "a");
	log_limited(LOG_LEVEL_DEBUG, &limit, NULL, "not counted");
	log_report_suppressed(&limit, 1);
	ck_assert_str_eq(said, "<6>a\n<4>3 more such lines suppressed in 1 s\n");
	log_limited(LOG_LEVEL_INFO, &limit, NULL, "a");
	log_set_level(LOG_LEVEL_WARNING);
	said[0] = '\0';
	log_report_suppressed(&limit, 1);
	log_set_level(LOG_LEVEL_INFO);
	log_report_suppressed(&limit, 1);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(repetitions_are_left_out_without_a_word)
{
	struct log_limit limit = {.burst = 1, .repeats = true};

	refuse(&limit, 3);
	log_report_suppressed(&limit, 1);
	ck_assert_str_eq(said, "<4>a\n");
}
END_TEST

START_TEST(a_line_that_would_be_left_out_need_not_be_made)
{
	struct log_limit limit = {.burst = 2};

	ck_assert(log_is_suppressed(LOG_LEVEL_DEBUG, &limit));
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(!log_is_suppressed(LOG_LEVEL_INFO, &limit));
		log_limited(LOG_LEVEL_INFO, &limit, NULL, "a");
	}
	ck_assert(log_is_suppressed(LOG_LEVEL_INFO, &limit));
	log_report_suppressed(&limit, 1);
	ck_assert_str_eq(said, "<6>a\n<6>a\n<6>1 more such lines suppressed in 1 s\n");
}
END_TEST

START_TEST(a_bucket_fills_up_to_its_burst_and_no_further)
{
	struct log_limit limit = {0};

	refuse(&limit, LOG_LIMIT_BURST);
	clock_us += 1000 * (uint64_t)LOG_LIMIT_REFILL_US;
	said[0] = '\0';
	refuse(&limit, 3 * LOG_LIMIT_BURST);
	ck_assert_uint_eq(lines(), LOG_LIMIT_BURST);
}
END_TEST

START_TEST(a_noisy_connection_has_its_share_and_no_more)
{
	struct log_ctx noisy, quiet;

	client_ctx(&noisy);
	client_ctx(&quiet);
	for (unsigned i = 0; i < 1000; i++)
		log_note(&noisy, "bad reply");
	ck_assert_uint_eq(lines(), LOG_SHARE_BURST);
	said[0] = '\0';
	log_note(&quiet, "heard");
	ck_assert_str_eq(said, "<6>[to-filer#17 10.0.0.3:712] heard\n");
	log_report_suppressed(&notes, 1);
	ck_assert_uint_eq(lines(), 2);
	ck_assert_ptr_nonnull(strstr(said, "<6>to-filer: 990 more noted in 1 s\n"));
}
END_TEST

/* For an hour, each of ten: what flows back is enough for them and for others. */
START_TEST(noisy_connections_suppress_others_only_briefly)
{
	struct log_ctx noisy[10], quiet;

	for (unsigned i = 0; i < ARRAY_SIZE(noisy); i++)
		client_ctx(&noisy[i]);
	for (unsigned s = 0; s < 3600; s++) {
		clock_us += 1000000;
		for (unsigned i = 0; i < ARRAY_SIZE(noisy); i++)
			log_note(&noisy[i], "bad reply");
		said[0] = '\0';
	}
	clock_us += 2 * LOG_LIMIT_REFILL_US;
	client_ctx(&quiet);
	log_note(&quiet, "heard");
	ck_assert_str_eq(said, "<6>[to-filer#17 10.0.0.3:712] heard\n");
}
END_TEST

/* As many connections as there are notes: none of them has used up its share. */
START_TEST(many_connections_fill_no_log_either)
{
	struct log_ctx ctx;

	for (unsigned i = 0; i < 1000; i++) {
		client_ctx(&ctx);
		log_note(&ctx, "bad reply");
	}
	ck_assert_uint_eq(lines(), notes.burst);
	said[0] = '\0';
	log_report_suppressed(&notes, 1);
	ck_assert_str_eq(said, "<6>to-filer: 900 more noted in 1 s\n");
}
END_TEST

START_TEST(kinds_have_buckets_of_their_own)
{
	struct log_limit refused = {0};
	struct log_ctx ctx;

	client_ctx(&ctx);
	for (unsigned i = 0; i < 1000; i++)
		log_note(&ctx, "a");
	said[0] = '\0';
	log_write_limited(LOG_LEVEL_WARNING, &refused, NULL, "refused");
	log_info(&ctx, "closed");
	ck_assert_str_eq(said, "<4>refused\n<6>[to-filer#17 10.0.0.3:712] closed\n");
}
END_TEST

START_TEST(lost_lines_are_counted_and_reported)
{
	ck_assert_uint_eq(log_lines_dropped(), 0);
	blocked = true;
	log_info(NULL, "a");
	log_info(NULL, "b");
	ck_assert_uint_eq(log_lines_dropped(), 2);
	blocked = false;
	log_info(NULL, "c");
	log_info(NULL, "d");
	ck_assert_str_eq(said,
			 "<4>2 log lines dropped: the output did not accept them\n<6>c\n<6>d\n");
	blocked = true;
	log_info(NULL, "e");
	blocked = false;
	said[0] = '\0';
	log_info(NULL, "f");
	ck_assert_str_eq(said, "<4>1 log lines dropped: the output did not accept them\n<6>f\n");
	ck_assert_uint_eq(log_lines_dropped(), 3);
}
END_TEST

/* Standard error is a pipe that nobody reads at first. */
START_TEST(an_unwritable_log_does_not_block)
{
	const unsigned long long lines_put = 2 * LOG_QUEUE_BYTES / 1000;
	unsigned long long lines_read = 0, lost = 0, n;
	char text[1000], line[LOG_LINE_BYTES];
	int fds[2], err = dup(STDERR_FILENO);
	FILE *reader;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	close(fds[1]);
	log_set_output(NULL);
	ck_assert_int_eq(log_start_writer(), 0);
	for (unsigned long long i = 0; i < lines_put; i++)
		log_info(NULL, "%llu %s", i, text);
	ck_assert_uint_gt(log_lines_dropped(), 0);
	lost = log_lines_dropped();
	log_stop_writer(10); /* in vain */
	reader = fdopen(fds[0], "r");
	/* In order, each whole, and at the end how many are missing. */
	while (lines_read + lost < lines_put && fgets(line, sizeof(line), reader)) {
		ck_assert_int_eq(sscanf(strstr(line, "info: "), "info: %llu", &n), 1);
		ck_assert_uint_eq(n, lines_read);
		ck_assert_ptr_nonnull(strstr(line, text));
		lines_read++;
	}
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), reader));
	ck_assert_int_eq(sscanf(strstr(line, "warning: "), "warning: %llu lines", &n), 1);
	ck_assert_uint_eq(n, lost);
	log_stop_writer(PATIENCE_MS);
	dup2(err, STDERR_FILENO);
	ck_assert_ptr_null(fgets(line, sizeof(line), reader));
	fclose(reader);
	close(err);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log");
	TCase *tc = tcase_create("log");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, the_journal_gets_levels);
	tcase_add_test(tc, others_get_time_and_level);
	tcase_add_test(tc, an_entry_has_the_fields_that_are_known);
	tcase_add_test(tc, unknown_values_make_no_field);
	tcase_add_test(tc, no_value_makes_a_field_of_its_own);
	tcase_add_test(tc, the_report_of_suppressed_lines_has_their_service_and_reason);
	tcase_add_test(tc, the_level_can_be_changed_at_any_time);
	tcase_add_test(tc, a_connection_has_its_prefix);
	tcase_add_test(tc, control_characters_are_escaped);
	tcase_add_test(tc, a_long_line_is_cut_and_marked);
	tcase_add_test(tc, the_report_of_suppressed_lines_has_their_kind_and_period);
	tcase_add_test(tc, an_unnamed_bucket_is_reported_too);
	tcase_add_test(tc, a_token_comes_back_each_five_seconds);
	tcase_add_test(tc, a_bucket_may_fill_faster);
	tcase_add_test(tc, the_report_of_suppressed_lines_has_their_level);
	tcase_add_test(tc, repetitions_are_left_out_without_a_word);
	tcase_add_test(tc, a_line_that_would_be_left_out_need_not_be_made);
	tcase_add_test(tc, a_bucket_fills_up_to_its_burst_and_no_further);
	tcase_add_test(tc, a_noisy_connection_has_its_share_and_no_more);
	tcase_add_test(tc, noisy_connections_suppress_others_only_briefly);
	tcase_add_test(tc, many_connections_fill_no_log_either);
	tcase_add_test(tc, kinds_have_buckets_of_their_own);
	tcase_add_test(tc, lost_lines_are_counted_and_reported);
	tcase_add_test(tc, an_unwritable_log_does_not_block);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

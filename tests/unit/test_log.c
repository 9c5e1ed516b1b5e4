// SPDX-License-Identifier: BSD-3-Clause
/* The log: what a line looks like, what is escaped, and what keeps a peer from filling it. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "tests/lib/test.h"

#define PATIENCE_MS 60000u /* for what comes at once */

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

static void to_journal(bool journal)
{
	const struct log_output output = {.write = collect, .journal = journal, .now_us = now_us};

	log_set_output(&output);
}

static void setup(void)
{
	said[0] = '\0';
	clock_us = 0;
	log_set_level(LOG_LEVEL_INFO);
	to_journal(true);
}

static void client_ctx_within(struct log_ctx *ctx, struct log_limit *shared)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(712)};

	inet_pton(AF_INET, "10.0.0.3", &in.sin_addr);
	log_ctx_init(ctx, "to-filer", 17, (const struct sockaddr *)&in, shared);
}

static void client_ctx(struct log_ctx *ctx)
{
	client_ctx_within(ctx, NULL);
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
	to_journal(false);
	clock_us = 123456;
	log_warning(NULL, "a");
	ck_assert_str_eq(said, "2025-11-21T10:00:27.123Z warning: a\n");
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
	log_ctx_fini(&ctx);
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

START_TEST(notes_are_limited_and_the_rest_is_counted)
{
	struct log_ctx ctx;

	client_ctx(&ctx);
	for (unsigned i = 0; i < LOG_LIMIT_BURST + 100; i++)
		log_note(&ctx, "bad reply");
	ck_assert_uint_eq(lines(), LOG_LIMIT_BURST);
	said[0] = '\0';
	clock_us += LOG_LIMIT_REFILL_US - 1;
	log_note(&ctx, "bad reply");
	ck_assert_str_eq(said, "");
	clock_us += 1;
	log_note(&ctx, "again");
	ck_assert_str_eq(said, "<6>[to-filer#17 10.0.0.3:712] 101 more such lines were left out\n"
			       "<6>[to-filer#17 10.0.0.3:712] again\n");
	log_ctx_fini(&ctx);
	ck_assert_uint_eq(lines(), 2);
}
END_TEST

START_TEST(a_line_that_would_be_left_out_need_not_be_made)
{
	struct log_limit limit = {.burst = 2};

	ck_assert(log_leaves_out(LOG_LEVEL_DEBUG, &limit));
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(!log_leaves_out(LOG_LEVEL_INFO, &limit));
		log_limited(LOG_LEVEL_INFO, &limit, NULL, "a");
	}
	ck_assert(log_leaves_out(LOG_LEVEL_INFO, &limit));
	clock_us += LOG_LIMIT_REFILL_US;
	log_limited(LOG_LEVEL_INFO, &limit, NULL, "b");
	ck_assert_str_eq(said, "<6>a\n<6>a\n<6>1 more such lines were left out\n<6>b\n");
}
END_TEST

START_TEST(the_end_of_a_connection_says_what_was_left_out)
{
	struct log_ctx ctx;

	client_ctx(&ctx);
	for (unsigned i = 0; i < LOG_LIMIT_BURST + 3; i++)
		log_note(&ctx, "bad reply");
	said[0] = '\0';
	log_ctx_fini(&ctx);
	ck_assert_str_eq(said, "<6>[to-filer#17 10.0.0.3:712] 3 more such lines were left out\n");
}
END_TEST

START_TEST(a_bucket_fills_up_to_its_burst_and_no_further)
{
	struct log_ctx ctx;

	client_ctx(&ctx);
	for (unsigned i = 0; i < LOG_LIMIT_BURST; i++)
		log_note(&ctx, "a");
	clock_us += 1000 * (uint64_t)LOG_LIMIT_REFILL_US;
	said[0] = '\0';
	for (unsigned i = 0; i < 3 * LOG_LIMIT_BURST; i++)
		log_note(&ctx, "a");
	ck_assert_uint_eq(lines(), LOG_LIMIT_BURST);
}
END_TEST

/* As many connections as there are notes: none of them empties its own bucket. */
START_TEST(connections_share_a_bucket_besides)
{
	struct log_limit shared = {.whose = "to-filer", .burst = 3};
	struct log_ctx ctx;

	for (unsigned i = 0; i < 10; i++) {
		client_ctx_within(&ctx, &shared);
		log_note(&ctx, "bad reply");
		log_ctx_fini(&ctx);
	}
	ck_assert_uint_eq(lines(), 3);
	said[0] = '\0';
	clock_us += LOG_LIMIT_REFILL_US;
	client_ctx_within(&ctx, &shared);
	log_note(&ctx, "again");
	ck_assert_str_eq(said, "<6>to-filer: 7 more such lines were left out\n"
			       "<6>[to-filer#17 10.0.0.3:712] again\n");
}
END_TEST

START_TEST(ends_of_connections_are_limited_too)
{
	struct log_limit shared = {.whose = "to-filer", .burst = LOG_LIMIT_BURST + 1};
	struct log_ctx ctx;

	for (unsigned i = 0; i < 3; i++) {
		client_ctx_within(&ctx, &shared);
		for (unsigned n = 0; n < LOG_LIMIT_BURST + 5; n++)
			log_note(&ctx, "bad reply");
		log_ctx_fini(&ctx);
	}
	/* Ten notes and the end of the first; nothing of the others, all of which is counted. */
	ck_assert_uint_eq(lines(), LOG_LIMIT_BURST + 1);
	ck_assert_uint_eq(shared.suppressed, 2 * (LOG_LIMIT_BURST + 5));
}
END_TEST

START_TEST(kinds_have_buckets_of_their_own)
{
	struct log_limit refused = {0};
	struct log_ctx ctx;

	client_ctx(&ctx);
	for (unsigned i = 0; i < LOG_LIMIT_BURST + 1; i++)
		log_note(&ctx, "a");
	said[0] = '\0';
	log_write_limited(LOG_LEVEL_WARNING, &refused, NULL, "refused");
	log_info(&ctx, "closed");
	ck_assert_str_eq(said, "<4>refused\n<6>[to-filer#17 10.0.0.3:712] closed\n");
}
END_TEST

START_TEST(lines_that_were_lost_are_counted_and_told)
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
			 "<4>2 lines of the log were lost: they were not taken\n<6>c\n<6>d\n");
	blocked = true;
	log_info(NULL, "e");
	blocked = false;
	said[0] = '\0';
	log_info(NULL, "f");
	ck_assert_str_eq(said, "<4>1 lines of the log were lost: they were not taken\n<6>f\n");
	ck_assert_uint_eq(log_lines_dropped(), 3);
}
END_TEST

/* Standard error is a pipe that nobody reads at first. */
START_TEST(a_log_that_cannot_be_written_blocks_nobody)
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
	tcase_add_test(tc, the_level_can_be_changed_at_any_time);
	tcase_add_test(tc, a_connection_has_its_prefix);
	tcase_add_test(tc, control_characters_are_escaped);
	tcase_add_test(tc, a_long_line_is_cut_and_marked);
	tcase_add_test(tc, notes_are_limited_and_the_rest_is_counted);
	tcase_add_test(tc, a_line_that_would_be_left_out_need_not_be_made);
	tcase_add_test(tc, the_end_of_a_connection_says_what_was_left_out);
	tcase_add_test(tc, a_bucket_fills_up_to_its_burst_and_no_further);
	tcase_add_test(tc, connections_share_a_bucket_besides);
	tcase_add_test(tc, ends_of_connections_are_limited_too);
	tcase_add_test(tc, kinds_have_buckets_of_their_own);
	tcase_add_test(tc, lines_that_were_lost_are_counted_and_told);
	tcase_add_test(tc, a_log_that_cannot_be_written_blocks_nobody);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

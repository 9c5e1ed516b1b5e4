// SPDX-License-Identifier: BSD-3-Clause
/* Tests the keys of top, and how much of a line fits. */
#include <jansson.h>
#include <string.h>

#include "daemon/ctl/top_view.h"
#include "daemon/ctl/tty.h"
#include "tests/lib/test.h"

static struct top_view view;

static void setup(void)
{
	top_view_init(&view);
}

/* Returns what the last of them does. */
static enum top_action keys(const char *text)
{
	enum top_action act = TOP_NOTHING;

	for (; *text; text++)
		act = top_key(&view, (unsigned char)*text);
	return act;
}

START_TEST(operations_are_sorted_by_calls_and_connections_by_their_oldest)
{
	ck_assert_str_eq(top_sorted_by(&view)->title, "CALLS/S");
	ck_assert_int_eq(keys("c"), TOP_REFRESH);
	ck_assert_int_eq(view.kind, TOP_CONNECTIONS);
	ck_assert_str_eq(top_sorted_by(&view)->title, "OLDEST");
	ck_assert_int_eq(keys("\t"), TOP_REFRESH);
	ck_assert_int_eq(view.kind, TOP_OPERATIONS);
}
END_TEST

START_TEST(the_column_goes_round_both_ways)
{
	unsigned count;

	top_columns(TOP_OPERATIONS, &count);
	ck_assert_int_eq(keys(">"), TOP_DRAW);
	ck_assert_str_eq(top_sorted_by(&view)->title, "ERR/S");
	keys("<<<<");
	ck_assert_str_eq(top_sorted_by(&view)->title, "CLIENT");
	for (unsigned i = 0; i < count; i++)
		keys(">");
	ck_assert_str_eq(top_sorted_by(&view)->title, "CLIENT");
	keys("\033[C");
	ck_assert_str_eq(top_sorted_by(&view)->title, "SERVICE");
	keys("\033OD");
	ck_assert_str_eq(top_sorted_by(&view)->title, "CLIENT");
}
END_TEST

START_TEST(each_view_has_an_order_of_its_own)
{
	keys("R>c");
	ck_assert(!view.reverse[TOP_CONNECTIONS]);
	ck_assert_str_eq(top_sorted_by(&view)->title, "OLDEST");
	keys("Rc");
	ck_assert(view.reverse[TOP_OPERATIONS]);
	ck_assert_str_eq(top_sorted_by(&view)->title, "ERR/S");
	keys("R");
	ck_assert(!view.reverse[TOP_OPERATIONS]);
}
END_TEST

START_TEST(single_keys)
{
	ck_assert_int_eq(keys(" "), TOP_REFRESH);
	ck_assert_int_eq(keys("i"), TOP_DRAW);
	ck_assert(view.idle);
	ck_assert_int_eq(keys("x"), TOP_NOTHING);
	ck_assert_int_eq(keys("\xff"), TOP_NOTHING);
	ck_assert_int_eq(keys("q"), TOP_QUIT);
}
END_TEST

START_TEST(help_goes_with_any_key)
{
	ck_assert_int_eq(keys("h"), TOP_DRAW);
	ck_assert(view.help);
	ck_assert_int_eq(keys("c"), TOP_DRAW);
	ck_assert(!view.help);
	ck_assert_int_eq(view.kind, TOP_OPERATIONS);
	ck_assert_int_eq(keys("?q"), TOP_QUIT);
}
END_TEST

START_TEST(a_delay_is_typed)
{
	ck_assert_int_eq(keys("d2x\1775\r"), TOP_DRAW);
	ck_assert_double_eq(view.delay_s, 25);
	ck_assert_ptr_null(view.note);
	keys("s0\r");
	ck_assert_double_eq(view.delay_s, 25);
	ck_assert_ptr_nonnull(view.note);
	keys("d");
	ck_assert_ptr_null(view.note);
	ck_assert_ptr_nonnull(top_prompt_text(&view));
	/* It begins empty, and nothing leaves it as it is. */
	keys("\b\b\n");
	ck_assert_double_eq(view.delay_s, 25);
	ck_assert_ptr_null(top_prompt_text(&view));
}
END_TEST

START_TEST(rows_are_typed)
{
	keys("n5\n");
	ck_assert_uint_eq(view.rows, 5);
	keys("#-5\n");
	ck_assert_uint_eq(view.rows, 5);
	ck_assert_ptr_nonnull(view.note);
	keys("n\n");
	ck_assert_uint_eq(view.rows, TOP_MAX_ROWS);
}
END_TEST

START_TEST(a_service_is_typed)
{
	ck_assert_int_eq(keys("uq c\n"), TOP_REFRESH);
	ck_assert_str_eq(view.service, "q c");
	/* Escape is no answer; nor is an arrow. */
	ck_assert_int_eq(keys("oother\033"), TOP_DRAW);
	ck_assert_str_eq(view.service, "q c");
	ck_assert_ptr_null(top_prompt_text(&view));
	ck_assert_int_eq(keys("o\n"), TOP_REFRESH);
	ck_assert_str_eq(view.service, "");
}
END_TEST

START_TEST(typed_input_is_bounded)
{
	keys("u");
	for (int i = 0; i < 1000; i++)
		keys("a\001\xe4");
	ck_assert_int_eq(keys("\n"), TOP_REFRESH);
	ck_assert_uint_eq(strlen(view.service), TOP_TYPED_BYTES - 1);
}
END_TEST

START_TEST(sequences_of_other_keys_do_nothing)
{
	static const char *const others[] = {"\033[A", "\033[5~", "\033[1;5Z", "\033OP"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		keys(others[i]);
		ck_assert_str_eq(top_sorted_by(&view)->title, "CALLS/S");
		ck_assert_int_eq(view.kind, TOP_OPERATIONS);
	}
	ck_assert_int_eq(keys("\033q"), TOP_QUIT);
}
END_TEST

START_TEST(numbers_have_limits)
{
	static const char *const no_delay[] = {"",    "0",   "0.09", "3601", "-1", "nan",
					       "inf", "1e9", "1x",   " ",    "1 "};
	static const char *const no_count[] = {"",    "0",       "-1",
					       "1.5", "1000001", "99999999999999999999"};
	double delay_s = 7;
	unsigned count = 7;

	for (size_t i = 0; i < ARRAY_SIZE(no_delay); i++)
		ck_assert_msg(!top_parse_delay(no_delay[i], &delay_s), "%s", no_delay[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no_count); i++)
		ck_assert_msg(!top_parse_count(no_count[i], &count), "%s", no_count[i]);
	ck_assert_double_eq(delay_s, 7);
	ck_assert_uint_eq(count, 7);
	ck_assert(top_parse_delay("0.1", &delay_s) && top_parse_delay("3600", &delay_s));
	ck_assert(top_parse_count("1000000", &count));
}
END_TEST

START_TEST(lines_are_cut_between_letters)
{
	ck_assert_uint_eq(tty_cut("abc", 3, 5), 3);
	ck_assert_uint_eq(tty_cut("abc", 3, 3), 3);
	ck_assert_uint_eq(tty_cut("abc", 3, 2), 2);
	ck_assert_uint_eq(tty_cut("\xc3\xa4\xe2\x82\xac!", 6, 1), 2);
	ck_assert_uint_eq(tty_cut("\xc3\xa4\xe2\x82\xac!", 6, 2), 5);
	ck_assert_uint_eq(tty_cut("", 0, 0), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ctl_top_keys");
	TCase *tc = tcase_create("ctl_top_keys");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, operations_are_sorted_by_calls_and_connections_by_their_oldest);
	tcase_add_test(tc, the_column_goes_round_both_ways);
	tcase_add_test(tc, each_view_has_an_order_of_its_own);
	tcase_add_test(tc, single_keys);
	tcase_add_test(tc, help_goes_with_any_key);
	tcase_add_test(tc, a_delay_is_typed);
	tcase_add_test(tc, rows_are_typed);
	tcase_add_test(tc, a_service_is_typed);
	tcase_add_test(tc, typed_input_is_bounded);
	tcase_add_test(tc, sequences_of_other_keys_do_nothing);
	tcase_add_test(tc, numbers_have_limits);
	tcase_add_test(tc, lines_are_cut_between_letters);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Statistics: counters of any module added up by their tables, and written as JSON. */
#include <stdlib.h>
#include <string.h>

#include "daemon/control/stats.h"
#include "leg/leg.h"
#include "tests/lib/test.h"

#define TOY_COUNTERS(X)                                                                            \
	X(apples, "apples eaten")                                                                  \
	X(pears, "pears eaten")
COUNTER_STRUCT(toy_counters, TOY_COUNTERS);
COUNTER_TABLE(toy_counters, TOY_COUNTERS);

START_TEST(modules_of_several_workers_are_added_up)
{
	struct toy_counters a = {1, 2}, b = {10, 20};
	uint64_t closes[LEG_CLOSE_COUNT] = {[LEG_CLOSE_PEER] = 3};
	struct stats sum = {0}, one = {0}, two = {0};

	stats_add(&one, "toy", toy_counters_table, &a);
	stats_add(&one, "closes", stats_closes_table, closes);
	stats_add(&two, "closes", stats_closes_table, closes);
	stats_add(&two, "toy", toy_counters_table, &b);
	stats_add(&two, "toy", toy_counters_table, &b);
	stats_merge(&sum, &one);
	stats_merge(&sum, &two);
	ck_assert_uint_eq(sum.nmodules, 2);
	ck_assert_uint_eq(sum.modules[0].values[0], 21);
	ck_assert_uint_eq(sum.modules[0].values[1], 42);
	ck_assert_uint_eq(sum.modules[1].values[LEG_CLOSE_PEER], 6);
}
END_TEST

START_TEST(json_names_every_counter)
{
	struct toy_counters a = {1, UINT64_C(1) << 40};
	struct stats stats = {0};
	json_t *object;
	char *text;

	stats_add(&stats, "toy", toy_counters_table, &a);
	object = stats_json(&stats);
	text = json_dumps(object, 0);
	ck_assert_str_eq(text, "{\"toy\": {\"apples\": 1, \"pears\": 1099511627776}}");
	free(text);
	json_decref(object);
	object = stats_help_json(&stats);
	text = json_dumps(object, 0);
	ck_assert_str_eq(text,
			 "{\"toy\": {\"apples\": \"apples eaten\", \"pears\": \"pears eaten\"}}");
	free(text);
	json_decref(object);
}
END_TEST

START_TEST(closes_are_named_by_their_reasons)
{
	for (unsigned i = 0; i < LEG_CLOSE_COUNT; i++) {
		ck_assert_str_eq(stats_closes_table[i].name, leg_close_name(i));
		ck_assert_str_eq(stats_closes_table[i].help, leg_close_text(i));
	}
	ck_assert_ptr_null(stats_closes_table[LEG_CLOSE_COUNT].name);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stats");
	TCase *tc = tcase_create("stats");

	tcase_add_test(tc, modules_of_several_workers_are_added_up);
	tcase_add_test(tc, json_names_every_counter);
	tcase_add_test(tc, closes_are_named_by_their_reasons);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

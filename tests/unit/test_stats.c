// SPDX-License-Identifier: BSD-3-Clause
/* Tests statistics: the counters of any module are summed by their tables, and written as JSON. */
#include <stdlib.h>
#include <string.h>

#include "daemon/view/stats.h"
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
	uint64_t closes[CLOSE_BY_COUNT][LEG_CLOSE_COUNT] = {
		[CLOSE_BY_SERVER] = {[LEG_CLOSE_PEER] = 3}};
	struct stats sum = {0}, one = {0}, two = {0};

	stats_add(&one, STATS_CLIENT, "toy", toy_counters_table, &a);
	stats_add_closes(&one, closes);
	stats_add_closes(&two, closes);
	stats_add(&two, STATS_UPSTREAM, "toy", toy_counters_table, &b);
	stats_add(&two, STATS_CLIENT, "toy", toy_counters_table, &b);
	stats_merge(&sum, &one);
	stats_merge(&sum, &two);
	ck_assert_uint_eq(sum.nmodules, 1);
	ck_assert_uint_eq(sum.modules[0].values[STATS_CLIENT][0], 11);
	ck_assert_uint_eq(sum.modules[0].values[STATS_CLIENT][1], 22);
	ck_assert_uint_eq(stats_value(&sum, STATS_UPSTREAM, "toy", "pears"), 20);
	ck_assert_uint_eq(stats_value(&sum, STATS_UPSTREAM, "ship", "pears"), 0);
	ck_assert_uint_eq(sum.closes[CLOSE_BY_SERVER][LEG_CLOSE_PEER], 6);
	ck_assert_uint_eq(sum.closes[CLOSE_BY_CLIENT][LEG_CLOSE_PEER], 0);
}
END_TEST

START_TEST(json_names_every_counter)
{
	struct toy_counters a = {1, UINT64_C(1) << 40};
	struct stats stats = {0};
	json_t *object;
	char *text;

	stats_add(&stats, STATS_CLIENT, "toy", toy_counters_table, &a);
	object = stats_json(&stats, false);
	text = json_dumps(json_object_get(object, "toy"), 0);
	ck_assert_str_eq(text, "{\"apples\": 1, \"pears\": 1099511627776}");
	free(text);
	json_decref(object);
	object = stats_json(&stats, true);
	text = json_dumps(json_object_get(object, "toy"), 0);
	ck_assert_str_eq(text, "{\"apples\": \"apples eaten\", \"pears\": \"pears eaten\"}");
	free(text);
	json_decref(object);
}
END_TEST

START_TEST(closes_are_counted_by_side_and_reason)
{
	static const char *const sides[CLOSE_BY_COUNT] = {"client", "server", "proxy"};
	struct stats stats = {0};
	json_t *closes, *object;
	char name[STATS_CLOSE_NAME_BYTES];

	for (unsigned by = 0; by < CLOSE_BY_COUNT; by++)
		for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++)
			stats.closes[by][why] = 100 * by + why;
	object = stats_json(&stats, false);
	closes = json_object_get(object, "closes");
	for (unsigned by = 0; by < CLOSE_BY_COUNT; by++)
		for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++)
			ck_assert_int_eq(json_integer_value(
						 json_object_get(json_object_get(closes, sides[by]),
								 stats_close_name(why, name))),
					 100 * by + why);
	json_decref(object);
}
END_TEST

START_TEST(reasons_are_in_lower_case_and_explained)
{
	char name[STATS_CLOSE_NAME_BYTES];
	struct stats stats = {0};
	json_t *object = stats_json(&stats, true), *closes = json_object_get(object, "closes");

	ck_assert_str_eq(stats_close_name(LEG_CLOSE_RECORD_TOO_BIG, name), "record_too_big");
	ck_assert_uint_eq(json_object_size(closes), LEG_CLOSE_COUNT);
	for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++)
		ck_assert_str_eq(
			json_string_value(json_object_get(closes, stats_close_name(why, name))),
			leg_close_text(why));
	json_decref(object);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stats");
	TCase *tc = tcase_create("stats");

	tcase_add_test(tc, modules_of_several_workers_are_added_up);
	tcase_add_test(tc, json_names_every_counter);
	tcase_add_test(tc, closes_are_counted_by_side_and_reason);
	tcase_add_test(tc, reasons_are_in_lower_case_and_explained);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

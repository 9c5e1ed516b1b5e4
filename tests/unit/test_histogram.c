// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests histograms of durations: the bounds of the buckets, their contents, and what is computed
 * from them.
 */
#include "base/histogram.h"

#include <math.h>

#include "tests/lib/test.h"

static struct histogram times;

static void setup(void)
{
	times = (struct histogram){0};
}

START_TEST(buckets_end_at_powers_of_two_of_a_second)
{
	ck_assert_double_eq(histogram_bucket_end_s(0), ldexp(1, -20));
	ck_assert_double_eq(histogram_bucket_end_s(20), 1);
	ck_assert_double_eq(histogram_bucket_end_s(30), 1024);
	ck_assert(isinf(histogram_bucket_end_s(HISTOGRAM_BUCKETS - 1)));
}
END_TEST

/* The last microsecond below each limit, and the first one that is not. */
START_TEST(each_time_is_below_its_limit_and_not_below_the_one_before)
{
	for (unsigned bucket = 2; bucket < HISTOGRAM_BUCKETS - 1; bucket++) {
		uint32_t limit_us = (uint32_t)ceil(histogram_bucket_end_s(bucket) * 1e6);

		ck_assert_uint_eq(histogram_bucket(limit_us - 1), bucket);
		ck_assert_uint_eq(histogram_bucket(limit_us + 1), bucket + 1);
	}
	ck_assert_uint_eq(histogram_bucket(0), 0);
	ck_assert_uint_eq(histogram_bucket(UINT32_MAX), HISTOGRAM_BUCKETS - 1);
}
END_TEST

START_TEST(each_value_is_counted_once)
{
	histogram_add(&times, 0);
	histogram_add(&times, 1000);
	histogram_add(&times, UINT32_MAX);
	ck_assert_uint_eq(histogram_count(&times), 3);
	ck_assert_uint_eq(times.sum_us, 1000 + (uint64_t)UINT32_MAX);
	ck_assert_uint_eq(times.counts[0], 1);
	ck_assert_uint_eq(times.counts[10], 0);
	ck_assert_uint_eq(times.counts[11], 1);
	ck_assert_uint_eq(times.counts[HISTOGRAM_BUCKETS - 1], 1);
}
END_TEST

START_TEST(histograms_add_up)
{
	struct histogram more = {0};

	histogram_add(&times, 5);
	histogram_add(&more, 5);
	histogram_add(&more, 500);
	histogram_merge(&times, &more);
	ck_assert_uint_eq(histogram_count(&times), 3);
	ck_assert_uint_eq(times.sum_us, 510);
}
END_TEST

START_TEST(quantiles_are_the_buckets_in_which_they_end)
{
	ck_assert_uint_eq(histogram_quantile_bucket(&times, 0.5), 0);
	for (unsigned i = 0; i < 99; i++)
		histogram_add(&times, 100);
	histogram_add(&times, 100000);
	ck_assert_uint_eq(histogram_quantile_bucket(&times, 0.5), histogram_bucket(100));
	ck_assert_uint_eq(histogram_quantile_bucket(&times, 0.99), histogram_bucket(100));
	ck_assert_uint_eq(histogram_quantile_bucket(&times, 0.999), histogram_bucket(100000));
	ck_assert_uint_eq(histogram_quantile_bucket(&times, 1), histogram_bucket(100000));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("durations");
	TCase *tc = tcase_create("durations");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, buckets_end_at_powers_of_two_of_a_second);
	tcase_add_test(tc, each_time_is_below_its_limit_and_not_below_the_one_before);
	tcase_add_test(tc, each_value_is_counted_once);
	tcase_add_test(tc, histograms_add_up);
	tcase_add_test(tc, quantiles_are_the_buckets_in_which_they_end);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests human-readable numbers and times. */
#include "base/compiler.h"
#include "daemon/base/humanize.h"
#include "tests/lib/test.h"

static const struct {
	uint64_t number;
	const char *text;
} counts[] = {
	{0, "0"},
	{7, "7"},
	{999, "999"},
	{1000, "1,000"},
	{12345, "12,345"},
	{123456, "123,456"},
	{1234567, "1,234,567"},
	{UINT64_MAX, "18,446,744,073,709,551,615"},
};

START_TEST(counts_have_a_comma_each_three_digits)
{
	char text[HUMANIZE_TEXT_BYTES];

	ck_assert_str_eq(humanize_count(counts[_i].number, text), counts[_i].text);
}
END_TEST

static const struct {
	uint64_t bytes;
	const char *text;
} sizes[] = {
	{0, "0 bytes"},
	{812, "812 bytes"},
	{1023, "1023 bytes"},
	{1024, "1.0 KiB"},
	{UINT64_C(20) << 20, "20 MiB"},
	{UINT64_C(3328599654), "3.1 GiB"},
	{(UINT64_C(1) << 20) - 1, "1.0 MiB"},
	{(UINT64_C(10) << 30) - 1, "10 GiB"},
	{UINT64_MAX, "16384 PiB"},
};

START_TEST(bytes_have_two_digits_and_a_unit)
{
	char text[HUMANIZE_TEXT_BYTES];

	ck_assert_str_eq(humanize_bytes(sizes[_i].bytes, text), sizes[_i].text);
}
END_TEST

static const struct {
	double s;
	const char *text;
} times[] = {
	{0, "0"},           {0.4e-6, "0"},          {1e-6, "1 us"},
	{999e-6, "999 us"}, {0.99951e-3, "1.0 ms"}, {1.26e-3, "1.3 ms"},
	{9.96e-3, "10 ms"}, {0.999, "999 ms"},      {0.9996, "1.0 s"},
	{34.2, "34 s"},     {4000, "4000 s"},
};

START_TEST(times_have_two_digits_from_a_millisecond_on)
{
	char text[HUMANIZE_TEXT_BYTES];

	ck_assert_str_eq(humanize_time(times[_i].s, text), times[_i].text);
}
END_TEST

static const struct {
	uint64_t us;
	const char *text;
} ages[] = {
	{0, "0.0 s"},
	{3249999, "3.2 s"},
	{9949999, "9.9 s"},
	{9950000, "10 s"},
	{47 * UINT64_C(1000000), "47 s"},
	{120 * UINT64_C(1000000) - 1, "119 s"},
	{120 * UINT64_C(1000000), "2 min"},
	{7200 * UINT64_C(1000000) - 1, "119 min"},
	{11100 * UINT64_C(1000000), "3 h 5 min"},
	{172800 * UINT64_C(1000000) - 1, "47 h 59 min"},
	{1047600 * UINT64_C(1000000), "12 d 3 h"},
	{UINT64_MAX, "213503982 d 8 h"},
};

START_TEST(ages_are_in_units_that_are_read_at_once)
{
	char text[HUMANIZE_TEXT_BYTES];

	ck_assert_str_eq(humanize_age(ages[_i].us, text), ages[_i].text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("amount");
	TCase *tc = tcase_create("amount");

	tcase_add_loop_test(tc, counts_have_a_comma_each_three_digits, 0, ARRAY_SIZE(counts));
	tcase_add_loop_test(tc, bytes_have_two_digits_and_a_unit, 0, ARRAY_SIZE(sizes));
	tcase_add_loop_test(tc, ages_are_in_units_that_are_read_at_once, 0, ARRAY_SIZE(ages));
	tcase_add_loop_test(tc, times_have_two_digits_from_a_millisecond_on, 0, ARRAY_SIZE(times));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

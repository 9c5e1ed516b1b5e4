// SPDX-License-Identifier: BSD-3-Clause
/* Tests the choice of a Receive size. */
#include "base/compiler.h"
#include "rpcrdma/v2/recv_sizing.h"
#include "tests/lib/test.h"

#define START_US 1000u

static struct recv_sizing wish;

static void setup(void)
{
	recv_sizing_init(&wish, 65536, START_US);
}

/* So many messages at one time; what is wanted at the last, and nothing before. */
static uint32_t often(unsigned times, uint64_t bytes, uint64_t now_us)
{
	for (unsigned i = 1; i < times; i++)
		ck_assert_uint_eq(recv_sizing_by_chunk(&wish, bytes, now_us), 0);
	return recv_sizing_by_chunk(&wish, bytes, now_us);
}

START_TEST(a_message_wants_the_smallest_power_of_two_that_holds_it)
{
	static const struct {
		uint64_t bytes;
		uint32_t wanted;
	} rows[] = {
		{0, 4096},     {1, 4096},       {4096, 4096},    {4097, 8192},    {8192, 8192},
		{8193, 16384}, {32768, 32768},  {32769, 65536},  {65536, 65536},  {65537, 0},
		{1u << 20, 0}, {UINT32_MAX, 0}, {1ull << 32, 0}, {UINT64_MAX, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		setup();
		ck_assert_uint_eq(often(RECV_SIZING_OFTEN, rows[i].bytes, START_US),
				  rows[i].wanted);
	}
}
END_TEST

START_TEST(no_more_than_the_largest_is_wanted)
{
	recv_sizing_init(&wish, 12 * 1024 + 5, START_US);
	ck_assert_uint_eq(often(RECV_SIZING_OFTEN, 12 * 1024, START_US), 12 * 1024);
	ck_assert_uint_eq(often(RECV_SIZING_OFTEN, 12 * 1024 + 1, START_US), 0);
	ck_assert_uint_eq(often(RECV_SIZING_OFTEN, 5000, START_US), 8192);
	/* Nor is there a class beyond the last. */
	recv_sizing_init(&wish, UINT32_MAX, START_US);
	ck_assert_uint_eq(often(RECV_SIZING_OFTEN, 524288, START_US), 524288);
	ck_assert_uint_eq(often(RECV_SIZING_OFTEN, 524289, START_US), 0);
}
END_TEST

START_TEST(classes_are_counted_apart)
{
	ck_assert_uint_eq(often(RECV_SIZING_OFTEN - 1, 5000, START_US), 0);
	ck_assert_uint_eq(often(RECV_SIZING_OFTEN - 1, 10000, START_US), 0);
	ck_assert_uint_eq(recv_sizing_by_chunk(&wish, 8192, START_US), 8192);
	ck_assert_uint_eq(recv_sizing_by_chunk(&wish, 8193, START_US), 16384);
}
END_TEST

START_TEST(a_wish_comes_again_when_it_was_not_met)
{
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(often(RECV_SIZING_OFTEN, 5000, START_US + i), 8192);
}
END_TEST

START_TEST(old_counts_do_not_count)
{
	ck_assert_uint_eq(often(RECV_SIZING_OFTEN - 1, 5000, START_US), 0);
	ck_assert_uint_eq(recv_sizing_by_chunk(&wish, 5000, START_US + RECV_SIZING_US), 8192);
	setup();
	ck_assert_uint_eq(often(RECV_SIZING_OFTEN - 1, 5000, START_US), 0);
	ck_assert_uint_eq(often(RECV_SIZING_OFTEN, 5000, START_US + RECV_SIZING_US + 1), 8192);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recv_sizing");
	TCase *tc = tcase_create("recv_sizing");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_message_wants_the_smallest_power_of_two_that_holds_it);
	tcase_add_test(tc, no_more_than_the_largest_is_wanted);
	tcase_add_test(tc, classes_are_counted_apart);
	tcase_add_test(tc, a_wish_comes_again_when_it_was_not_met);
	tcase_add_test(tc, old_counts_do_not_count);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

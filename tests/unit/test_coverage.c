// SPDX-License-Identifier: BSD-3-Clause
/* Tests which bytes of a chunk a peer has written: gaps, overlaps, any order, bounded memory. */
#include <malloc.h>
#include <stdbool.h>
#include <string.h>

#include "fabric/coverage.h"
#include "tests/lib/random.h"
#include "tests/lib/test.h"

#define KIB       1024u
#define MIB       (1024u * KIB)
#define MAP_BYTES (2 * COVERAGE_RANGES_MAX) /* has no more ranges apart than may be */
#define ROUNDS    100u

static struct coverage coverage;

static void setup(void)
{
	coverage_init(&coverage, 0);
}

static void teardown(void)
{
	coverage_fini(&coverage);
}

static void expect(uint32_t prefix_bytes, bool is_ahead)
{
	ck_assert_uint_eq(coverage.prefix_bytes, prefix_bytes);
	ck_assert_int_eq(coverage.ahead != NULL, is_ahead);
}

START_TEST(writes_in_order_are_a_prefix_and_take_no_memory)
{
	for (uint32_t at = 0; at < MIB; at += 1448) {
		coverage_add(&coverage, at, 1448);
		expect(at + 1448, false);
	}
}
END_TEST

START_TEST(bytes_after_a_gap_do_not_count_until_it_is_closed)
{
	coverage_add(&coverage, 100, 50);
	expect(0, true);
	coverage_add(&coverage, 0, 99);
	expect(99, true);
	coverage_add(&coverage, 99, 1);
	expect(150, false);
}
END_TEST

START_TEST(each_gap_is_closed_by_itself)
{
	coverage_add(&coverage, 10, 10);
	coverage_add(&coverage, 30, 10);
	coverage_add(&coverage, 50, 10);
	coverage_add(&coverage, 0, 10);
	expect(20, true);
	coverage_add(&coverage, 40, 10);
	expect(20, true);
	coverage_add(&coverage, 20, 10);
	expect(60, false);
}
END_TEST

START_TEST(overlaps_count_once)
{
	coverage_add(&coverage, 0, 100);
	coverage_add(&coverage, 50, 100);
	expect(150, false);
	coverage_add(&coverage, 0, 20);
	expect(150, false);
	coverage_add(&coverage, 200, 50);
	coverage_add(&coverage, 190, 20);
	coverage_add(&coverage, 240, 20);
	coverage_add(&coverage, 210, 5);
	expect(150, true);
	/* Over the gap, and part of what is behind it. */
	coverage_add(&coverage, 140, 60);
	expect(260, false);
	coverage_add(&coverage, 300, 10);
	coverage_add(&coverage, 320, 10);
	coverage_add(&coverage, 270, 200);
	expect(260, true);
	coverage_add(&coverage, 0, 1000);
	expect(1000, false);
}
END_TEST

START_TEST(a_kibibyte_written_a_thousand_times_is_a_kibibyte)
{
	for (unsigned i = 0; i < 1000; i++)
		coverage_add(&coverage, 0, KIB);
	expect(KIB, false);
	for (unsigned i = 0; i < 1000; i++)
		coverage_add(&coverage, 2 * KIB, KIB);
	expect(KIB, true);
	coverage_add(&coverage, KIB, KIB);
	expect(3 * KIB, false);
}
END_TEST

START_TEST(a_write_of_nothing_changes_nothing)
{
	coverage_add(&coverage, 0, 0);
	expect(0, false);
	coverage_add(&coverage, 700, 0);
	expect(0, false);
	coverage_add(&coverage, 100, 10);
	coverage_add(&coverage, 50, 0);
	coverage_add(&coverage, 110, 0);
	coverage_add(&coverage, 0, 0);
	expect(0, true);
	coverage_add(&coverage, 0, 100);
	expect(110, false);
}
END_TEST

START_TEST(the_last_byte_of_the_longest_memory_counts)
{
	coverage_add(&coverage, UINT32_MAX - 1, 1);
	coverage_add(&coverage, 1, UINT32_MAX - 2);
	expect(0, true);
	coverage_add(&coverage, 0, 1);
	expect(UINT32_MAX, false);
}
END_TEST

/* As a server does that sends its blocks in the reverse order, or the odd ones first. */
START_TEST(an_honest_peer_may_write_in_any_order)
{
	for (uint32_t at = MIB; at > 0; at -= 4 * KIB) {
		expect(0, at < MIB);
		coverage_add(&coverage, at - 4 * KIB, 4 * KIB);
	}
	expect(MIB, false);
	setup();
	for (uint32_t at = 8 * KIB; at < MIB; at += 16 * KIB)
		coverage_add(&coverage, at, 8 * KIB);
	for (uint32_t at = 0; at < MIB; at += 16 * KIB) {
		coverage_add(&coverage, at, 8 * KIB);
		ck_assert_uint_eq(coverage.prefix_bytes, at + 16 * KIB);
	}
	expect(MIB, false);
}
END_TEST

/*
 * More ranges than allowed: a range without space is not counted, and the counted ones are right.
 */
START_TEST(a_peer_with_too_many_gaps_loses_the_bytes_after_them)
{
	uint32_t count = 4 * COVERAGE_RANGES_MAX;

	for (uint32_t i = 0; i < count; i++)
		coverage_add(&coverage, 2 * i + 1, 1);
	/* An allocator rounds. */
	ck_assert_uint_le(malloc_usable_size(coverage.ahead), COVERAGE_MAX_BYTES + 16);
	for (uint32_t i = 0; i < COVERAGE_RANGES_MAX; i++)
		coverage_add(&coverage, 2 * i, 1);
	expect(2 * COVERAGE_RANGES_MAX, false);
	coverage_add(&coverage, 2 * COVERAGE_RANGES_MAX, 1);
	expect(2 * COVERAGE_RANGES_MAX + 1, false);
	/* It may write that again. */
	for (uint32_t i = COVERAGE_RANGES_MAX; i < count; i++)
		coverage_add(&coverage, 2 * i, 2);
	expect(2 * count, false);
}
END_TEST

START_TEST(memory_that_is_full_of_ranges_takes_those_that_touch_one)
{
	for (uint32_t i = 0; i < COVERAGE_RANGES_MAX; i++)
		coverage_add(&coverage, 10 * i + 5, 2);
	coverage_add(&coverage, 10 * COVERAGE_RANGES_MAX + 5, 2);
	for (uint32_t i = 0; i < COVERAGE_RANGES_MAX; i++)
		coverage_add(&coverage, 10 * i + 7, 8);
	expect(0, true);
	coverage_add(&coverage, 0, 5);
	expect(10 * COVERAGE_RANGES_MAX + 5, false);
}
END_TEST

/* Against a map of the bytes. */
START_TEST(the_prefix_ends_at_the_first_gap)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		bool map[MAP_BYTES] = {false};
		uint32_t prefix = 0;

		setup();
		while (prefix < MAP_BYTES) {
			uint32_t at = random_below(MAP_BYTES);
			uint32_t len = random_below(4);

			if (len > MAP_BYTES - at)
				len = MAP_BYTES - at;
			memset(map + at, true, len);
			while (prefix < MAP_BYTES && map[prefix])
				prefix++;
			coverage_add(&coverage, at, len);
			ck_assert_uint_eq(coverage.prefix_bytes, prefix);
		}
		expect(MAP_BYTES, false);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("coverage");
	TCase *tc = tcase_create("coverage");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, writes_in_order_are_a_prefix_and_take_no_memory);
	tcase_add_test(tc, bytes_after_a_gap_do_not_count_until_it_is_closed);
	tcase_add_test(tc, each_gap_is_closed_by_itself);
	tcase_add_test(tc, overlaps_count_once);
	tcase_add_test(tc, a_kibibyte_written_a_thousand_times_is_a_kibibyte);
	tcase_add_test(tc, a_write_of_nothing_changes_nothing);
	tcase_add_test(tc, the_last_byte_of_the_longest_memory_counts);
	tcase_add_test(tc, an_honest_peer_may_write_in_any_order);
	tcase_add_test(tc, a_peer_with_too_many_gaps_loses_the_bytes_after_them);
	tcase_add_test(tc, memory_that_is_full_of_ranges_takes_those_that_touch_one);
	tcase_add_test(tc, the_prefix_ends_at_the_first_gap);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

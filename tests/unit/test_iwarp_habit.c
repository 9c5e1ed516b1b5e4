// SPDX-License-Identifier: BSD-3-Clause
/* Tests the prediction of a peer's long messages from those received so far. */
#include "fabric/iwarp/rx_predict.h"
#include "fabric/iwarp/rx_scatter.h"
#include "tests/lib/test.h"

#define KIB 1024u

static struct rx_predict habit;

static void setup(void)
{
	rx_predict_init(&habit);
}

/* A tagged message of FPDUs of so much payload, the last of which is what remains. */
static void message(uint32_t len_bytes, uint32_t fpdu_payload)
{
	for (uint32_t have = 0; have < len_bytes; have += fpdu_payload) {
		bool last = len_bytes - have <= fpdu_payload;

		rx_predict_tagged(&habit, last ? len_bytes - have : fpdu_payload, have == 0, last);
	}
}

START_TEST(nothing_is_expected_before_anything_came)
{
	ck_assert(!rx_predict_expects_more(&habit));
	ck_assert(!rx_predict_expects_next(&habit));
	ck_assert_uint_eq(habit.holes_allowed, 1);
}
END_TEST

START_TEST(a_message_goes_on_as_it_began)
{
	rx_predict_tagged(&habit, 16 * KIB, true, false);
	ck_assert(rx_predict_expects_more(&habit));
	ck_assert_uint_eq(habit.fpdu_payload, 16 * KIB);
	/* No message was long yet: this one may be as long as there is room. */
	ck_assert_uint_eq(rx_predict_rest(&habit, 100 * KIB), 100 * KIB);
	rx_predict_tagged(&habit, 16 * KIB, false, true);
	ck_assert_uint_eq(habit.message_bytes, 32 * KIB);
}
END_TEST

START_TEST(a_message_is_as_long_as_the_last_or_longer)
{
	message(40 * KIB, 16 * KIB);
	rx_predict_tagged(&habit, 16 * KIB, true, false);
	ck_assert_uint_eq(rx_predict_rest(&habit, 100 * KIB), 24 * KIB);
	ck_assert_uint_eq(rx_predict_rest(&habit, 10 * KIB), 10 * KIB);
	rx_predict_tagged(&habit, 24 * KIB, false, false);
	ck_assert_uint_eq(rx_predict_rest(&habit, 100 * KIB), 100 * KIB);
}
END_TEST

/*
 * The last FPDU of a message is as long as it happens to be; any other says how long the next ones
 * are.
 */
START_TEST(only_a_last_fpdu_may_be_short)
{
	message(33 * KIB, 16 * KIB);
	ck_assert(rx_predict_expects_more(&habit));
	ck_assert_uint_eq(habit.fpdu_payload, 16 * KIB);
	rx_predict_tagged(&habit, 100, true, true);
	ck_assert(rx_predict_expects_more(&habit));
	ck_assert_uint_eq(habit.message_bytes, 33 * KIB);
	rx_predict_tagged(&habit, RX_DIRECT_BYTES - 1, true, false);
	ck_assert(!rx_predict_expects_more(&habit));
	rx_predict_tagged(&habit, RX_DIRECT_BYTES, false, false);
	ck_assert(rx_predict_expects_more(&habit));
	ck_assert_uint_eq(habit.fpdu_payload, RX_DIRECT_BYTES);
}
END_TEST

START_TEST(the_next_comes_when_as_much_came_between_as_before)
{
	message(64 * KIB, 16 * KIB);
	ck_assert(rx_predict_expects_next(&habit));
	rx_predict_untagged(&habit, 100);
	rx_predict_untagged(&habit, 60);
	message(64 * KIB, 16 * KIB);
	ck_assert_uint_eq(habit.gap_bytes, 160);
	ck_assert(!rx_predict_expects_next(&habit));
	rx_predict_untagged(&habit, 159);
	ck_assert(!rx_predict_expects_next(&habit));
	rx_predict_untagged(&habit, 1);
	ck_assert(rx_predict_expects_next(&habit));
}
END_TEST

START_TEST(no_next_is_expected_where_none_was_long)
{
	message(RX_BULK_BYTES - 1, 8 * KIB);
	ck_assert(rx_predict_expects_more(&habit));
	ck_assert(!rx_predict_expects_next(&habit));
	message(RX_BULK_BYTES, 8 * KIB);
	ck_assert(rx_predict_expects_next(&habit));
}
END_TEST

START_TEST(holes_double_with_each_hit_and_one_miss_undoes_it)
{
	for (unsigned allowed = 1; allowed < RX_SCATTER_HOLES; allowed *= 2) {
		ck_assert_uint_eq(habit.holes_allowed, allowed);
		rx_predict_hit(&habit);
	}
	rx_predict_hit(&habit);
	ck_assert_uint_eq(habit.holes_allowed, RX_SCATTER_HOLES);
	rx_predict_miss(&habit, false);
	ck_assert_uint_eq(habit.holes_allowed, 1);
	ck_assert_uint_eq(habit.messages_to_wait, 0);
}
END_TEST

START_TEST(a_message_that_went_elsewhere_is_doubted_for_some_messages)
{
	unsigned waited = 0;

	message(64 * KIB, 16 * KIB);
	ck_assert(rx_predict_expects_next(&habit));
	rx_predict_miss(&habit, true);
	for (; !rx_predict_expects_next(&habit) && waited < 100; waited++)
		message(64 * KIB, 16 * KIB);
	ck_assert_uint_eq(waited, 16);
}
END_TEST

START_TEST(sends_say_how_long_their_fpdus_are)
{
	rx_predict_send(&habit, 0, RX_DIRECT_BYTES, true);
	ck_assert(!habit.sends_long);
	rx_predict_send(&habit, RX_BULK_BYTES - RX_DIRECT_BYTES, RX_DIRECT_BYTES, false);
	ck_assert(habit.sends_long);
	rx_predict_send(&habit, RX_BULK_BYTES, 10, true);
	ck_assert(habit.sends_long);
	rx_predict_send(&habit, 0, 10, false);
	ck_assert(!habit.sends_long);
	/* A short FPDU of a Send says nothing of tagged ones, a long one does. */
	rx_predict_tagged(&habit, 10, true, false);
	rx_predict_send(&habit, 0, 10, true);
	ck_assert(!habit.tagged_long);
	rx_predict_send(&habit, 0, RX_DIRECT_BYTES, true);
	ck_assert(habit.tagged_long);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_habit");
	TCase *tc = tcase_create("habit");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, nothing_is_expected_before_anything_came);
	tcase_add_test(tc, a_message_goes_on_as_it_began);
	tcase_add_test(tc, a_message_is_as_long_as_the_last_or_longer);
	tcase_add_test(tc, only_a_last_fpdu_may_be_short);
	tcase_add_test(tc, the_next_comes_when_as_much_came_between_as_before);
	tcase_add_test(tc, no_next_is_expected_where_none_was_long);
	tcase_add_test(tc, holes_double_with_each_hit_and_one_miss_undoes_it);
	tcase_add_test(tc, a_message_that_went_elsewhere_is_doubted_for_some_messages);
	tcase_add_test(tc, sends_say_how_long_their_fpdus_are);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

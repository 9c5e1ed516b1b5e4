// SPDX-License-Identifier: BSD-3-Clause
/* Tests the queue of the budget: which claims wait, and their order. */
#include "tests/unit/budget_fixture.h"

START_TEST(services_take_turns_whatever_they_ask_for)
{
	budgets_make(3 * OWN + 200, 3);
	ck_assert(claim(&clients[2][0][0], 0, OWN + 200));
	/* Three wait at one service before the other comes. */
	for (unsigned s = 0; s < 2; s++)
		ck_assert(claim(&clients[s][1][0], 0, OWN));
	for (unsigned h = 1; h < HOLDERS; h++)
		ck_assert(!claim(&clients[0][0][h], 0, 60));
	ck_assert(!claim(&clients[1][0][1], 0, 60));
	fake_loop_run(loop);
	budget_claim_release(&clients[2][0][0].claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(clients[1][0][1].granted, 1);
	ck_assert_uint_eq(clients[0][0][1].granted, 1);
	ck_assert_uint_eq(clients[0][0][2].granted, 0);
	budgets_end();
}
END_TEST

START_TEST(connections_take_turns_and_each_keeps_its_order)
{
	struct client *a = &clients[0][0][0], *b = &clients[0][0][1], *hog = &clients[0][0][2];

	budgets_make(OWN, 1);
	ck_assert(claim(hog, 0, OWN));
	for (unsigned i = 0; i < 3; i++)
		ck_assert(!claim(a, i, 20));
	ck_assert(!claim(b, 0, 20));
	fake_loop_run(loop);
	budget_claim_release(&hog->claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_ge(order, 3);
	ck_assert_uint_eq(granted_at[0], number(a));
	ck_assert_uint_eq(granted_at[1], number(b));
	ck_assert_int_eq(a->claims[0].state, BUDGET_CLAIM_GRANTED);
	budgets_end();
}
END_TEST

START_TEST(an_urged_connection_goes_first)
{
	struct client *a = &clients[0][0][0], *b = &clients[0][1][1], *hog = &clients[0][0][2];

	budgets_make(OWN, 1);
	ck_assert(claim(hog, 0, OWN));
	ck_assert(!claim(a, 0, OWN));
	ck_assert(!claim(b, 0, OWN));
	fake_loop_run(loop);
	budget_holder_set_urgent(&b->holder, true);
	fake_loop_run(loop);
	budget_claim_release(&hog->claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(b->granted, 1);
	ck_assert_uint_eq(a->granted, 0);
	budgets_end();
}
END_TEST

START_TEST(a_cancelled_claim_lets_the_next_pass)
{
	struct client *a = &clients[0][0][0], *b = &clients[0][1][1], *hog = &clients[0][0][2];

	budgets_make(OWN, 1);
	ck_assert(claim(hog, 0, OWN - 10));
	ck_assert(!claim(a, 0, OWN));
	fake_loop_run(loop);
	ck_assert(!claim(b, 0, 10));
	fake_loop_run(loop);
	ck_assert_uint_eq(b->granted, 0);
	budget_claim_release(&a->claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(b->granted, 1);
	budgets_end();
}
END_TEST

START_TEST(a_claim_that_cannot_be_met_delays_others_only_in_its_turn)
{
	struct client *stuck = &clients[0][0][0], *hung = &clients[1][0][0];
	struct client *other = &clients[2][0][0];

	budgets_make(SERVICES * OWN + 1000, SERVICES);
	ck_assert(claim(hung, 0, OWN + 400));
	ck_assert(!claim(stuck, 0, OWN + 800));
	fake_loop_run(loop);
	ck_assert(!claim(other, 0, OWN + 100));
	fake_loop_advance(loop, BUDGET_TURN_US - 1);
	ck_assert_uint_eq(other->granted, 0);
	ck_assert_uint_eq(late, 0);
	fake_loop_advance(loop, 2);
	ck_assert_uint_ge(late, 1);
	ck_assert_uint_eq(other->granted, 1);
	/* Without a waiter it is still met when there is enough. */
	ck_assert(claim(&clients[2][0][1], 0, 50));
	budget_claim_release(&hung->claims[0]);
	budget_claim_release(&other->claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(stuck->granted, 1);
	budgets_end();
}
END_TEST

START_TEST(a_late_claim_gets_another_turn)
{
	struct client *stuck = &clients[0][0][0], *hung = &clients[1][0][0];

	budgets_make(2 * OWN + 1000, 2);
	ck_assert(claim(hung, 0, OWN + 400));
	ck_assert(!claim(stuck, 0, OWN + 800));
	fake_loop_advance(loop, BUDGET_TURN_US);
	ck_assert_uint_eq(late, 1);
	ck_assert(late_claim == &stuck->claims[0]);
	ck_assert(claim(&clients[1][0][1], 0, 50));
	budget_claim_release(&clients[1][0][1].claims[0]);
	fake_loop_advance(loop, BUDGET_TURN_AGAIN_US);
	ck_assert(!claim(&clients[1][0][1], 0, 50));
	ck_assert_uint_eq(late, 1);
	budgets_end();
}
END_TEST

START_TEST(a_service_keeps_its_turn_when_others_of_it_come_to_wait)
{
	struct client *first = &clients[0][0][1], *second = &clients[1][0][1];

	budgets_make(3 * OWN + 200, 3);
	ck_assert(claim(&clients[2][0][0], 0, OWN + 200));
	for (unsigned s = 0; s < 2; s++)
		ck_assert(claim(&clients[s][1][0], 0, OWN));
	ck_assert(!claim(first, 0, 150));
	fake_loop_run(loop);
	ck_assert(!claim(second, 0, 150));
	fake_loop_run(loop);
	ck_assert(!claim(&clients[0][0][2], 0, 10));
	fake_loop_run(loop);
	budget_claim_release(&clients[2][0][0].claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(first->granted, 1);
	ck_assert_uint_eq(second->granted, 0);
	budgets_end();
}
END_TEST

START_TEST(a_turn_lasts_no_longer_behind_one_that_is_late)
{
	struct client *hung = &clients[1][0][0], *stuck = &clients[0][0][0];
	struct client *next = &clients[0][0][1], *small = &clients[0][0][2];

	budgets_make(2 * OWN + 1000, 2);
	ck_assert(claim(hung, 0, OWN + 400));
	ck_assert(!claim(stuck, 0, OWN + 800));
	fake_loop_advance(loop, BUDGET_TURN_US);
	ck_assert(!claim(next, 0, OWN + 700));
	fake_loop_run(loop);
	ck_assert(!claim(small, 0, 10));
	fake_loop_advance(loop, BUDGET_TURN_US);
	ck_assert_uint_eq(small->granted, 1);
	budgets_end();
}
END_TEST

START_TEST(a_claim_that_waits_for_its_share_is_notified)
{
	struct client *other = &clients[1][0][0], *client = &clients[0][0][0];

	budgets_make(2 * OWN + 1000, 2);
	ck_assert(claim(other, 0, OWN + 480));
	ck_assert(claim(client, 0, OWN));
	ck_assert(!claim(client, 1, 200));
	fake_loop_run(loop);
	ck_assert_uint_eq(client->granted, 0);
	/* Nothing but this happens, and no time passes. */
	budget_claim_release(&other->claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(client->granted, 1);
	budgets_end();
}
END_TEST

START_TEST(a_small_claim_gets_memory_too_small_for_an_earlier_large_one)
{
	struct client *hung = &clients[0][1][0], *slow = &clients[0][1][1];
	struct client *large = &clients[0][0][0], *small = &clients[0][0][1];

	budgets_make(OWN + 900, 1);
	ck_assert(claim(hung, 0, 400));
	ck_assert(claim(slow, 0, 500));
	ck_assert(!claim(large, 0, 1000));
	ck_assert(!claim(small, 0, 200));
	fake_loop_advance(loop, 3 * BUDGET_TURN_US);
	ck_assert_uint_eq(late, 2);
	budget_claim_release(&slow->claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(small->granted, 1);
	ck_assert_uint_eq(large->granted, 0);
	budgets_end();
}
END_TEST

START_TEST(turns_end_together_when_many_end_at_about_the_same_time)
{
	struct client *hog = &clients[0][1][0];

	budgets_make(OWN, 1);
	ck_assert(claim(hog, 0, OWN));
	for (unsigned h = 0; h < HOLDERS; h++) {
		ck_assert(!claim(&clients[0][0][h], 0, 1 + h));
		fake_loop_advance(loop, 1000);
	}
	fake_loop_advance(loop, BUDGET_TURN_US - 1000);
	ck_assert_uint_ge(late, 1);
	ck_assert_uint_lt(late, HOLDERS);
	fake_loop_advance(loop, BUDGET_SCAN_US);
	ck_assert_uint_eq(late, HOLDERS);
	budgets_end();
}
END_TEST

START_TEST(nothing_is_kept_for_a_service_that_has_had_its_share)
{
	struct client *hung = &clients[0][0][0], *stuck = &clients[0][1][0];

	budgets_make(2 * OWN + 1000, 2);
	ck_assert(claim(hung, 0, OWN + 400));
	/* Even if no other had anything. */
	ck_assert(!claim(stuck, 0, 300));
	fake_loop_run(loop);
	ck_assert(claim(&clients[1][0][0], 0, OWN + 350));
	ck_assert_uint_eq(stuck->granted, 0);
	budgets_end();
}
END_TEST

/* However many there are, so that one of them always has a turn. */
START_TEST(a_second_claim_waits_behind_earlier_claims)
{
	struct client *hung = &clients[0][1][0], *small = &clients[0][0][HOLDERS - 1];

	budgets_make(2 * OWN + 1000, 2);
	ck_assert(claim(hung, 0, OWN + 400));
	for (unsigned h = 0; h < HOLDERS - 1; h++) {
		ck_assert(!claim(&clients[0][0][h], 0, 300));
		fake_loop_advance(loop, BUDGET_TURN_US);
	}
	fake_loop_advance(loop, BUDGET_TURN_AGAIN_US - 2 * BUDGET_TURN_US - BUDGET_SCAN_US);
	ck_assert(claim(&clients[1][0][0], 0, OWN + 300));
	ck_assert(!claim(small, 0, 60));
	/* The first of them has had another turn, the second has it, and the third is the next. */
	fake_loop_advance(loop, BUDGET_TURN_US + 5 * BUDGET_SCAN_US);
	ck_assert_uint_eq(small->granted, 0);
	budget_claim_shrink(&hung->claims[0], OWN + 200);
	fake_loop_advance(loop, BUDGET_TURN_US);
	ck_assert_uint_eq(small->granted, 1);
	budgets_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("budget turns");
	TCase *tc = tcase_create("budget turns");

	tcase_add_test(tc, services_take_turns_whatever_they_ask_for);
	tcase_add_test(tc, connections_take_turns_and_each_keeps_its_order);
	tcase_add_test(tc, an_urged_connection_goes_first);
	tcase_add_test(tc, a_cancelled_claim_lets_the_next_pass);
	tcase_add_test(tc, a_claim_that_cannot_be_met_delays_others_only_in_its_turn);
	tcase_add_test(tc, a_late_claim_gets_another_turn);
	tcase_add_test(tc, a_service_keeps_its_turn_when_others_of_it_come_to_wait);
	tcase_add_test(tc, a_turn_lasts_no_longer_behind_one_that_is_late);
	tcase_add_test(tc, a_claim_that_waits_for_its_share_is_notified);
	tcase_add_test(tc, a_small_claim_gets_memory_too_small_for_an_earlier_large_one);
	tcase_add_test(tc, turns_end_together_when_many_end_at_about_the_same_time);
	tcase_add_test(tc, nothing_is_kept_for_a_service_that_has_had_its_share);
	tcase_add_test(tc, a_second_claim_waits_behind_earlier_claims);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Tests the budget: guaranteed bytes, shares, claims in one step, and that no byte is lost. */
#include "tests/unit/budget_fixture.h"

static void never(void *arg)
{
	ck_abort();
}

/* Takes all it can get in steps of @bytes, one connection after the other. */
static size_t take_all(unsigned service, size_t bytes)
{
	size_t taken = 0;

	for (unsigned w = 0; w < WORKERS; w++)
		for (unsigned h = 0; h < HOLDERS; h++)
			for (unsigned i = 0; i < 8 && claim(&clients[service][w][h], i, bytes); i++)
				taken += bytes;
	return taken;
}

START_TEST(a_service_that_takes_all_it_can_leaves_the_others_theirs)
{
	size_t taken;

	budgets_make(SERVICES * OWN + 1000, SERVICES);
	taken = take_all(0, 50);
	/* Its own, and no more of the rest than it leaves. */
	ck_assert_uint_eq(taken, OWN + 500);
	ck_assert_uint_eq(taken, budget_share_max_bytes(budget.limit_bytes, OWN, SERVICES));
	ck_assert(claim(&clients[1][0][0], 0, OWN));
	ck_assert(claim(&clients[1][0][1], 0, 150));
	ck_assert(claim(&clients[2][1][0], 0, OWN));
	budgets_end();
}
END_TEST

START_TEST(the_guarantee_of_a_service_is_never_given_to_others)
{
	budgets_make(2 * OWN, 2);
	ck_assert(claim(&clients[0][0][0], 0, OWN));
	ck_assert(!claim(&clients[0][0][1], 0, 1));
	ck_assert(claim(&clients[1][0][0], 0, OWN));
	budgets_end();
}
END_TEST

START_TEST(a_part_that_comes_has_its_own_when_others_have_given_back)
{
	struct budget_share *share;
	struct budget_account account;
	struct budget_holder holder;
	struct budget_claim mine;

	budgets_make(2 * OWN, 1);
	ck_assert(claim(&clients[0][0][0], 0, 2 * OWN));
	share = budget_share_new(&budget, "late");
	ck_assert_ptr_nonnull(share);
	ck_assert_int_eq(budget_account_init(&account, share, loop, never, NULL), 0);
	budget_holder_init(&holder, &account, NULL);
	budget_claim_init(&mine, never, NULL);
	ck_assert(budget_claim(&holder, &mine, OWN));
	ck_assert(!claim(&clients[0][0][1], 0, 1));
	budget_claim_release(&mine);
	budget_holder_fini(&holder);
	budget_account_fini(&account);
	budget_share_free(share);
	budgets_end();
}
END_TEST

START_TEST(the_guarantee_of_a_removed_share_goes_to_the_others)
{
	struct client *waits = &clients[0][0][1];
	struct budget_share *share;

	budgets_make(2 * OWN, 1);
	share = budget_share_new(&budget, "short-lived");
	ck_assert(claim(&clients[0][0][0], 0, OWN));
	ck_assert(!claim(waits, 0, OWN));
	budget_share_free(share);
	fake_loop_run(loop);
	ck_assert_uint_eq(budget.leased_bytes, 2 * OWN);
	budgets_end();
}
END_TEST

START_TEST(the_part_with_most_is_named)
{
	struct budget_account account;
	struct budget_holder holder;
	struct budget_claim mine;
	struct budget_share *share;
	char name[8];

	budgets_make(4 * OWN, 1);
	share = budget_share_new(&budget, "greedy");
	ck_assert_int_eq(budget_account_init(&account, share, loop, never, NULL), 0);
	budget_holder_init(&holder, &account, NULL);
	budget_claim_init(&mine, never, NULL);
	ck_assert(budget_claim(&holder, &mine, 10));
	ck_assert_uint_eq(budget_largest_share(&budget, name, sizeof(name)), 10);
	ck_assert_str_eq(name, "greedy");
	budget_claim_release(&mine);
	budget_holder_fini(&holder);
	budget_account_fini(&account);
	budget_share_free(share);
	budgets_end();
}
END_TEST

START_TEST(a_connection_that_takes_all_it_can_leaves_others_of_its_service_something)
{
	struct client *greedy = &clients[0][0][0], *other = &clients[0][1][0];

	budgets_make(OWN + 1000, 1);
	for (unsigned i = 0; i < 8; i++)
		claim(greedy, i, 150);
	ck_assert_uint_le(greedy->holder.used_bytes, 550);
	ck_assert_uint_ge(greedy->holder.used_bytes, 400);
	ck_assert(claim(other, 0, 150));
	ck_assert(claim(&clients[0][1][1], 0, 150));
	budgets_end();
}
END_TEST

START_TEST(an_account_without_memory_gets_an_rpc_of_any_size_in_its_turn)
{
	struct client *big = &clients[0][0][0], *small = &clients[1][0][0];

	budgets_make(2 * OWN + 1000, 2);
	ck_assert(claim(small, 0, OWN));
	ck_assert(claim(small, 1, 100));
	ck_assert(claim(small, 2, 100));
	/* More than its share, and more than is free. */
	ck_assert(!claim(big, 0, OWN + 900));
	fake_loop_run(loop);
	/* Freed memory is kept for it. */
	budget_claim_release(&small->claims[1]);
	ck_assert(!claim(&clients[1][0][1], 0, 150));
	fake_loop_run(loop);
	ck_assert_uint_eq(big->granted, 1);
	ck_assert_uint_eq(clients[1][0][1].granted, 0);
	budgets_end();
}
END_TEST

START_TEST(a_claim_over_the_limit_is_granted_alone)
{
	struct client *big = &clients[0][0][0];

	budgets_make(OWN + 100, 1);
	ck_assert(claim(&clients[0][1][0], 0, OWN + 1));
	ck_assert(!claim(big, 0, 5000));
	fake_loop_run(loop);
	ck_assert_uint_eq(big->granted, 0);
	budget_claim_release(&clients[0][1][0].claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(big->granted, 1);
	budget_claim_shrink(&big->claims[0], 40);
	ck_assert_uint_eq(accounts[0][0].used_bytes, 40);
	budgets_end();
}
END_TEST

START_TEST(shrink_serves_the_queue_and_move_keeps_the_sum)
{
	struct client *a = &clients[0][0][0], *b = &clients[0][0][1];
	struct budget_claim to;

	budgets_make(OWN, 1);
	budget_claim_init(&to, NULL, NULL);
	ck_assert(claim(a, 0, OWN));
	ck_assert(!claim(b, 0, 50));
	budget_claim_shrink(&a->claims[0], 50);
	fake_loop_run(loop);
	ck_assert_uint_eq(b->granted, 1);
	budget_claim_move(&to, &a->claims[0]);
	ck_assert_int_eq(a->claims[0].state, BUDGET_CLAIM_IDLE);
	ck_assert_uint_eq(accounts[0][0].used_bytes, OWN);
	budget_claim_release(&to);
	budgets_end();
}
END_TEST

START_TEST(a_held_claim_grows_at_once_or_not_at_all)
{
	struct client *a = &clients[0][0][0], *b = &clients[0][0][1];

	budgets_make(OWN, 1);
	ck_assert(claim(a, 0, 10));
	ck_assert(budget_claim_grow(&a->claims[0], 40));
	ck_assert_uint_eq(accounts[0][0].used_bytes, 40);
	/* Not past what it leaves for the others, and not past one that waits. */
	ck_assert(!budget_claim_grow(&a->claims[0], OWN));
	ck_assert(!claim(b, 0, OWN));
	fake_loop_run(loop);
	ck_assert(!budget_claim_grow(&a->claims[0], 41));
	ck_assert_uint_eq(accounts[0][0].used_bytes, 40);
	budgets_end();
}
END_TEST

START_TEST(a_claim_for_now_leaves_enough_for_others)
{
	struct client *a = &clients[0][0][0], *b = &clients[0][0][1];
	struct budget_claim *c = &a->claims[0];

	budgets_make(OWN, 1);
	ck_assert(!budget_claim_now(&a->holder, c, 40, OWN - 39));
	ck_assert_int_eq(c->state, BUDGET_CLAIM_IDLE);
	ck_assert(!budget_claim_now(&a->holder, c, SIZE_MAX, 0));
	ck_assert(!budget_claim_now(&a->holder, c, 1, SIZE_MAX));
	ck_assert(budget_claim_now(&a->holder, c, 40, OWN - 40));
	ck_assert(budget_claim_now(&a->holder, c, 45, OWN - 45));
	/* Held bytes already count; more than these are not available. */
	ck_assert(!budget_claim_now(&a->holder, c, 46, OWN - 45));
	ck_assert_uint_eq(c->bytes, 45);
	/* Nor does it go past one that waits. */
	ck_assert(!claim(b, 0, OWN));
	fake_loop_run(loop);
	ck_assert(!budget_claim_now(&b->holder, &b->claims[1], 1, 0));
	ck_assert_int_eq(b->claims[1].state, BUDGET_CLAIM_IDLE);
	ck_assert_uint_eq(accounts[0][0].used_bytes, 45);
	budgets_end();
}
END_TEST

START_TEST(an_account_keeps_little_for_its_next_claims)
{
	struct budget_stats stats;

	loop = fake_loop_new();
	ck_assert_int_eq(budget_init(&budget, 10u << 20, 0, 1, 1), 0);
	ck_assert_int_eq(
		budget_account_init(&accounts[0][0], budget_share(&budget, 0), loop, never, NULL),
		0);
	budget_holder_init(&clients[0][0][0].holder, &accounts[0][0], NULL);
	budget_claim_init(&clients[0][0][0].claims[0], never, NULL);
	for (unsigned i = 1; i < 200; i++) {
		ck_assert(claim(&clients[0][0][0], 0, i * 10000u));
		budget_claim_release(&clients[0][0][0].claims[0]);
		ck_assert_uint_le(accounts[0][0].lease.leased_bytes, (10u << 20) / 16);
	}
	ck_assert_uint_gt(accounts[0][0].lease.leased_bytes, 0);
	budget_stats_get(&budget, &stats);
	ck_assert_uint_eq(stats.leased_bytes, accounts[0][0].lease.leased_bytes);
	budget_holder_fini(&clients[0][0][0].holder);
	budget_account_fini(&accounts[0][0]);
	budget_stats_get(&budget, &stats);
	ck_assert_uint_eq(stats.leased_bytes, 0);
	budget_fini(&budget);
	fake_loop_free(loop);
}
END_TEST

/* Random values come from a seed: a failure names it. */
static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

START_TEST(no_memory_is_lost_and_no_claim_starves)
{
	uint32_t seed = (uint32_t)_i + 1;
	size_t largest;

	budgets_make(SERVICES * OWN + 2000, SERVICES);
	largest = budget_largest_claim_bytes(budget.limit_bytes, OWN, SERVICES);
	for (unsigned step = 0; step < 4000; step++) {
		unsigned s = next_random(&seed) % SERVICES, w = next_random(&seed) % WORKERS;
		struct client *client = &clients[s][w][next_random(&seed) % HOLDERS];
		struct budget_claim *c = &client->claims[next_random(&seed) % 8];
		size_t used = 0;

		if (c->state == BUDGET_CLAIM_IDLE)
			budget_claim(&client->holder, c,
				     next_random(&seed) % 50 ? 1 + next_random(&seed) % 100
							     : 1 + next_random(&seed) % largest);
		else if (c->state == BUDGET_CLAIM_GRANTED)
			budget_claim_release(c);
		if (next_random(&seed) % 3 == 0)
			fake_loop_run(loop);
		if (next_random(&seed) % 100 == 0)
			fake_loop_advance(loop, 1000000);
		for (s = 0; s < SERVICES; s++)
			for (w = 0; w < WORKERS; w++)
				used += accounts[s][w].used_bytes;
		ck_assert_uint_le(used, budget.limit_bytes);
	}
	/* What is held ends; then what waits is met, and ends. */
	for (unsigned round = 0; round < 1000; round++) {
		for (unsigned s = 0; s < SERVICES; s++)
			for (unsigned w = 0; w < WORKERS; w++)
				for (unsigned h = 0; h < HOLDERS; h++)
					for (unsigned i = 0; i < 8; i++)
						if (clients[s][w][h].claims[i].state ==
						    BUDGET_CLAIM_GRANTED)
							budget_claim_release(
								&clients[s][w][h].claims[i]);
		fake_loop_run(loop);
	}
	for (unsigned s = 0; s < SERVICES; s++)
		for (unsigned w = 0; w < WORKERS; w++)
			ck_assert_uint_eq(accounts[s][w].waiting, 0);
	budgets_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("budget");
	TCase *tc = tcase_create("budget");

	tcase_add_test(tc, a_service_that_takes_all_it_can_leaves_the_others_theirs);
	tcase_add_test(tc, the_guarantee_of_a_service_is_never_given_to_others);
	tcase_add_test(tc, a_part_that_comes_has_its_own_when_others_have_given_back);
	tcase_add_test(tc, the_guarantee_of_a_removed_share_goes_to_the_others);
	tcase_add_test(tc, the_part_with_most_is_named);
	tcase_add_test(tc,
		       a_connection_that_takes_all_it_can_leaves_others_of_its_service_something);
	tcase_add_test(tc, an_account_without_memory_gets_an_rpc_of_any_size_in_its_turn);
	tcase_add_test(tc, a_claim_over_the_limit_is_granted_alone);
	tcase_add_test(tc, shrink_serves_the_queue_and_move_keeps_the_sum);
	tcase_add_test(tc, a_held_claim_grows_at_once_or_not_at_all);
	tcase_add_test(tc, a_claim_for_now_leaves_enough_for_others);
	tcase_add_test(tc, an_account_keeps_little_for_its_next_claims);
	tcase_add_loop_test(tc, no_memory_is_lost_and_no_claim_starves, 0, 20);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

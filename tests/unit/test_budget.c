// SPDX-License-Identifier: BSD-3-Clause
/* The budget: parts of their own, shares, turns; one step, nothing lost. */
#include "base/account.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

#define SERVICES 3
#define WORKERS  2
#define HOLDERS  4
#define OWN      100u

/* A connection and its claims: granted() counts. */
struct client {
	struct budget_holder holder;
	struct budget_claim claims[8];
	unsigned granted;
};

static struct loop *loop;
static struct budget budget;
static struct budget_account accounts[SERVICES][WORKERS];
static struct loop_task woken[SERVICES][WORKERS];
static struct client clients[SERVICES][WORKERS][HOLDERS];
static unsigned nparts, order, late;
static const struct budget_claim *late_claim;
static unsigned granted_at[64];

static void on_woken(void *arg)
{
	budget_account_woken(arg);
}

static void on_wake(void *arg)
{
	loop_defer(loop, arg);
}

static void on_late(void *arg, const struct budget_claim *claim)
{
	late++;
	late_claim = claim;
}

static void on_granted(void *arg)
{
	struct client *client = arg;

	client->granted++;
	granted_at[order++] = (unsigned)(client - &clients[0][0][0]);
}

static void make(size_t limit, unsigned parts)
{
	loop = fake_loop_new();
	nparts = parts;
	order = late = 0;
	/* No accounts announced: nothing is kept for next claims, so that every byte can be followed. */
	ck_assert_int_eq(budget_init(&budget, limit, OWN, parts, 0), 0);
	for (unsigned s = 0; s < parts; s++) {
		for (unsigned w = 0; w < WORKERS; w++) {
			loop_task_init(&woken[s][w], on_woken, &accounts[s][w]);
			ck_assert_int_eq(budget_account_init(&accounts[s][w],
							     budget_part(&budget, s), loop, on_wake,
							     &woken[s][w]),
					 0);
			accounts[s][w].late = on_late;
			for (unsigned h = 0; h < HOLDERS; h++) {
				struct client *client = &clients[s][w][h];

				client->granted = 0;
				budget_holder_init(&client->holder, &accounts[s][w], NULL);
				for (unsigned i = 0; i < 8; i++)
					budget_claim_init(&client->claims[i], on_granted, client);
			}
		}
	}
}

static void end(void)
{
	for (unsigned s = 0; s < nparts; s++)
		for (unsigned w = 0; w < WORKERS; w++)
			for (unsigned h = 0; h < HOLDERS; h++)
				for (unsigned i = 0; i < 8; i++)
					budget_release(&clients[s][w][h].claims[i]);
	fake_loop_run(loop);
	for (unsigned s = 0; s < nparts; s++) {
		for (unsigned w = 0; w < WORKERS; w++) {
			ck_assert_uint_eq(accounts[s][w].used_bytes, 0);
			ck_assert_uint_eq(accounts[s][w].waiting, 0);
			for (unsigned h = 0; h < HOLDERS; h++)
				budget_holder_fini(&clients[s][w][h].holder);
			budget_account_fini(&accounts[s][w]);
		}
	}
	ck_assert_uint_eq(budget.lent_bytes, 0);
	ck_assert_uint_eq(atomic_load(&budget.free_bytes), budget.rest_bytes);
	budget_fini(&budget);
	fake_loop_free(loop);
}

static bool claim(struct client *client, unsigned i, size_t bytes)
{
	return budget_claim(&client->holder, &client->claims[i], bytes);
}

/* The number of a client, as granted_at has it. */
static unsigned number(const struct client *client)
{
	return (unsigned)(client - &clients[0][0][0]);
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

	make(SERVICES * OWN + 1000, SERVICES);
	taken = take_all(0, 50);
	/* Its own, and no more of the rest than it leaves. */
	ck_assert_uint_le(taken, OWN + 500);
	ck_assert_uint_gt(taken, OWN + 400);
	ck_assert(claim(&clients[1][0][0], 0, OWN));
	ck_assert(claim(&clients[1][0][1], 0, 150));
	ck_assert(claim(&clients[2][1][0], 0, OWN));
	end();
}
END_TEST

START_TEST(what_a_service_has_for_itself_is_never_lent)
{
	make(2 * OWN, 2);
	ck_assert(claim(&clients[0][0][0], 0, OWN));
	ck_assert(!claim(&clients[0][0][1], 0, 1));
	ck_assert(claim(&clients[1][0][0], 0, OWN));
	end();
}
END_TEST

START_TEST(a_connection_that_takes_all_it_can_leaves_others_of_its_service_something)
{
	struct client *greedy = &clients[0][0][0], *other = &clients[0][1][0];

	make(OWN + 1000, 1);
	for (unsigned i = 0; i < 8; i++)
		claim(greedy, i, 150);
	ck_assert_uint_le(greedy->holder.used_bytes, 550);
	ck_assert_uint_ge(greedy->holder.used_bytes, 400);
	ck_assert(claim(other, 0, 150));
	ck_assert(claim(&clients[0][1][1], 0, 150));
	end();
}
END_TEST

START_TEST(one_that_holds_nothing_gets_an_rpc_of_any_size_in_its_turn)
{
	struct client *big = &clients[0][0][0], *small = &clients[1][0][0];

	make(2 * OWN + 1000, 2);
	ck_assert(claim(small, 0, OWN));
	ck_assert(claim(small, 1, 100));
	ck_assert(claim(small, 2, 100));
	/* More than its share, and more than is free. */
	ck_assert(!claim(big, 0, OWN + 900));
	fake_loop_run(loop);
	/* What is freed is kept for it. */
	budget_release(&small->claims[1]);
	ck_assert(!claim(&clients[1][0][1], 0, 150));
	fake_loop_run(loop);
	ck_assert_uint_eq(big->granted, 1);
	ck_assert_uint_eq(clients[1][0][1].granted, 0);
	end();
}
END_TEST

START_TEST(a_claim_over_the_limit_is_granted_alone)
{
	struct client *big = &clients[0][0][0];

	make(OWN + 100, 1);
	ck_assert(claim(&clients[0][1][0], 0, OWN + 1));
	ck_assert(!claim(big, 0, 5000));
	fake_loop_run(loop);
	ck_assert_uint_eq(big->granted, 0);
	budget_release(&clients[0][1][0].claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(big->granted, 1);
	budget_shrink(&big->claims[0], 40);
	ck_assert_uint_eq(accounts[0][0].used_bytes, 40);
	end();
}
END_TEST

START_TEST(services_take_turns_whatever_they_ask_for)
{
	make(3 * OWN + 200, 3);
	ck_assert(claim(&clients[2][0][0], 0, OWN + 200));
	/* Three wait at one service before the other comes. */
	for (unsigned s = 0; s < 2; s++)
		ck_assert(claim(&clients[s][1][0], 0, OWN));
	for (unsigned h = 1; h < HOLDERS; h++)
		ck_assert(!claim(&clients[0][0][h], 0, 60));
	ck_assert(!claim(&clients[1][0][1], 0, 60));
	fake_loop_run(loop);
	budget_release(&clients[2][0][0].claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(clients[1][0][1].granted, 1);
	ck_assert_uint_eq(clients[0][0][1].granted, 1);
	ck_assert_uint_eq(clients[0][0][2].granted, 0);
	end();
}
END_TEST

START_TEST(connections_take_turns_and_each_keeps_its_order)
{
	struct client *a = &clients[0][0][0], *b = &clients[0][0][1], *hog = &clients[0][0][2];

	make(OWN, 1);
	ck_assert(claim(hog, 0, OWN));
	for (unsigned i = 0; i < 3; i++)
		ck_assert(!claim(a, i, 20));
	ck_assert(!claim(b, 0, 20));
	fake_loop_run(loop);
	budget_release(&hog->claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_ge(order, 3);
	ck_assert_uint_eq(granted_at[0], number(a));
	ck_assert_uint_eq(granted_at[1], number(b));
	ck_assert_int_eq(a->claims[0].state, BUDGET_CLAIM_HELD);
	end();
}
END_TEST

START_TEST(an_urged_connection_goes_first)
{
	struct client *a = &clients[0][0][0], *b = &clients[0][1][1], *hog = &clients[0][0][2];

	make(OWN, 1);
	ck_assert(claim(hog, 0, OWN));
	ck_assert(!claim(a, 0, OWN));
	ck_assert(!claim(b, 0, OWN));
	fake_loop_run(loop);
	budget_holder_urge(&b->holder, true);
	fake_loop_run(loop);
	budget_release(&hog->claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(b->granted, 1);
	ck_assert_uint_eq(a->granted, 0);
	end();
}
END_TEST

START_TEST(a_cancelled_claim_lets_the_next_pass)
{
	struct client *a = &clients[0][0][0], *b = &clients[0][1][1], *hog = &clients[0][0][2];

	make(OWN, 1);
	ck_assert(claim(hog, 0, OWN - 10));
	ck_assert(!claim(a, 0, OWN));
	fake_loop_run(loop);
	ck_assert(!claim(b, 0, 10));
	fake_loop_run(loop);
	ck_assert_uint_eq(b->granted, 0);
	budget_release(&a->claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(b->granted, 1);
	end();
}
END_TEST

START_TEST(one_that_cannot_be_met_holds_others_up_for_its_turn_only)
{
	struct client *stuck = &clients[0][0][0], *hung = &clients[1][0][0];
	struct client *other = &clients[2][0][0];

	make(SERVICES * OWN + 1000, SERVICES);
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
	/* Nobody waits for it, and it still is met when there is enough. */
	ck_assert(claim(&clients[2][0][1], 0, 50));
	budget_release(&hung->claims[0]);
	budget_release(&other->claims[0]);
	fake_loop_run(loop);
	ck_assert_uint_eq(stuck->granted, 1);
	end();
}
END_TEST

START_TEST(a_late_claim_gets_another_turn)
{
	struct client *stuck = &clients[0][0][0], *hung = &clients[1][0][0];

	make(2 * OWN + 1000, 2);
	ck_assert(claim(hung, 0, OWN + 400));
	ck_assert(!claim(stuck, 0, OWN + 800));
	fake_loop_advance(loop, BUDGET_TURN_US);
	ck_assert_uint_eq(late, 1);
	ck_assert(late_claim == &stuck->claims[0]);
	ck_assert(claim(&clients[1][0][1], 0, 50));
	budget_release(&clients[1][0][1].claims[0]);
	fake_loop_advance(loop, BUDGET_TURN_AGAIN_US);
	ck_assert(!claim(&clients[1][0][1], 0, 50));
	ck_assert_uint_eq(late, 1);
	end();
}
END_TEST

START_TEST(shrink_serves_the_queue_and_move_keeps_the_sum)
{
	struct client *a = &clients[0][0][0], *b = &clients[0][0][1];
	struct budget_claim to;

	make(OWN, 1);
	budget_claim_init(&to, NULL, NULL);
	ck_assert(claim(a, 0, OWN));
	ck_assert(!claim(b, 0, 50));
	budget_shrink(&a->claims[0], 50);
	fake_loop_run(loop);
	ck_assert_uint_eq(b->granted, 1);
	budget_move(&to, &a->claims[0]);
	ck_assert_int_eq(a->claims[0].state, BUDGET_CLAIM_IDLE);
	ck_assert_uint_eq(accounts[0][0].used_bytes, OWN);
	budget_release(&to);
	end();
}
END_TEST

START_TEST(a_held_claim_grows_at_once_or_not_at_all)
{
	struct client *a = &clients[0][0][0], *b = &clients[0][0][1];

	make(OWN, 1);
	ck_assert(claim(a, 0, 10));
	ck_assert(budget_grow(&a->claims[0], 40));
	ck_assert_uint_eq(accounts[0][0].used_bytes, 40);
	/* Not past what it leaves for the others, and not past one that waits. */
	ck_assert(!budget_grow(&a->claims[0], OWN));
	ck_assert(!claim(b, 0, OWN));
	fake_loop_run(loop);
	ck_assert(!budget_grow(&a->claims[0], 41));
	ck_assert_uint_eq(accounts[0][0].used_bytes, 40);
	end();
}
END_TEST

START_TEST(an_account_keeps_little_for_its_next_claims)
{
	struct budget_stats stats;

	loop = fake_loop_new();
	ck_assert_int_eq(budget_init(&budget, 10u << 20, 0, 1, 1), 0);
	ck_assert_int_eq(budget_account_init(&accounts[0][0], budget_part(&budget, 0), loop,
					     on_wake, &woken[0][0]),
			 0);
	budget_holder_init(&clients[0][0][0].holder, &accounts[0][0], NULL);
	budget_claim_init(&clients[0][0][0].claims[0], on_granted, &clients[0][0][0]);
	for (unsigned i = 1; i < 200; i++) {
		ck_assert(claim(&clients[0][0][0], 0, i * 10000u));
		budget_release(&clients[0][0][0].claims[0]);
		ck_assert_uint_le(accounts[0][0].borrower.lent_bytes, (10u << 20) / 16);
	}
	ck_assert_uint_gt(accounts[0][0].borrower.lent_bytes, 0);
	budget_stats_get(&budget, &stats);
	ck_assert_uint_eq(stats.lent_bytes, accounts[0][0].borrower.lent_bytes);
	budget_holder_fini(&clients[0][0][0].holder);
	budget_account_fini(&accounts[0][0]);
	budget_stats_get(&budget, &stats);
	ck_assert_uint_eq(stats.lent_bytes, 0);
	budget_fini(&budget);
	fake_loop_free(loop);
}
END_TEST

/* What is random here is so from a seed: a failure names it. */
static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

START_TEST(nothing_is_lost_and_nobody_starves)
{
	uint32_t seed = (uint32_t)_i + 1;
	size_t largest;

	make(SERVICES * OWN + 2000, SERVICES);
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
		else if (c->state == BUDGET_CLAIM_HELD)
			budget_release(c);
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
						    BUDGET_CLAIM_HELD)
							budget_release(&clients[s][w][h].claims[i]);
		fake_loop_run(loop);
	}
	for (unsigned s = 0; s < SERVICES; s++)
		for (unsigned w = 0; w < WORKERS; w++)
			ck_assert_uint_eq(accounts[s][w].waiting, 0);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("budget");
	TCase *tc = tcase_create("budget");

	tcase_add_test(tc, a_service_that_takes_all_it_can_leaves_the_others_theirs);
	tcase_add_test(tc, what_a_service_has_for_itself_is_never_lent);
	tcase_add_test(tc,
		       a_connection_that_takes_all_it_can_leaves_others_of_its_service_something);
	tcase_add_test(tc, one_that_holds_nothing_gets_an_rpc_of_any_size_in_its_turn);
	tcase_add_test(tc, a_claim_over_the_limit_is_granted_alone);
	tcase_add_test(tc, services_take_turns_whatever_they_ask_for);
	tcase_add_test(tc, connections_take_turns_and_each_keeps_its_order);
	tcase_add_test(tc, an_urged_connection_goes_first);
	tcase_add_test(tc, a_cancelled_claim_lets_the_next_pass);
	tcase_add_test(tc, one_that_cannot_be_met_holds_others_up_for_its_turn_only);
	tcase_add_test(tc, a_late_claim_gets_another_turn);
	tcase_add_test(tc, shrink_serves_the_queue_and_move_keeps_the_sum);
	tcase_add_test(tc, a_held_claim_grows_at_once_or_not_at_all);
	tcase_add_test(tc, an_account_keeps_little_for_its_next_claims);
	tcase_add_loop_test(tc, nothing_is_lost_and_nobody_starves, 0, 20);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

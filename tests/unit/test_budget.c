// SPDX-License-Identifier: BSD-3-Clause
/* The budget: first come first served, one step, nothing lost. */
#include "base/budget.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

static struct loop *loop;
static struct budget budget;
static int grants;

static void on_granted(void *arg)
{
	grants++;
	*(int *)arg = grants;
}

static void setup(void)
{
	loop = fake_loop_new();
	budget_init(&budget, loop, 100);
	grants = 0;
}

static void teardown(void)
{
	budget_fini(&budget);
	fake_loop_free(loop);
}

START_TEST(waiting_claims_are_granted_in_order)
{
	struct budget_claim a, b, c;
	int ta = 0, tb = 0, tc = 0;

	budget_claim_init(&a, on_granted, &ta);
	budget_claim_init(&b, on_granted, &tb);
	budget_claim_init(&c, on_granted, &tc);
	ck_assert(budget_claim(&budget, &a, 80));
	ck_assert(!budget_claim(&budget, &b, 60));
	/* Ten would fit, but nobody passes b. */
	ck_assert(!budget_claim(&budget, &c, 10));
	budget_release(&a);
	ck_assert_int_eq(grants, 0);
	fake_loop_run(loop);
	ck_assert_int_eq(tb, 1);
	ck_assert_int_eq(tc, 2);
	ck_assert_uint_eq(budget.used_bytes, 70);
	budget_release(&b);
	budget_release(&c);
	ck_assert_uint_eq(budget.used_bytes, 0);
}
END_TEST

START_TEST(a_cancelled_head_lets_the_next_pass)
{
	struct budget_claim a, b, c;
	int ta = 0, tb = 0, tc = 0;

	budget_claim_init(&a, on_granted, &ta);
	budget_claim_init(&b, on_granted, &tb);
	budget_claim_init(&c, on_granted, &tc);
	ck_assert(budget_claim(&budget, &a, 80));
	ck_assert(!budget_claim(&budget, &b, 60));
	ck_assert(!budget_claim(&budget, &c, 10));
	budget_release(&b);
	fake_loop_run(loop);
	ck_assert_int_eq(tb, 0);
	ck_assert_int_eq(tc, 1);
	budget_release(&a);
	budget_release(&c);
}
END_TEST

START_TEST(a_claim_over_the_limit_is_granted_alone)
{
	struct budget_claim a, b;
	int ta = 0, tb = 0;

	budget_claim_init(&a, on_granted, &ta);
	budget_claim_init(&b, on_granted, &tb);
	ck_assert(budget_claim(&budget, &a, 1));
	ck_assert(!budget_claim(&budget, &b, 1000));
	budget_release(&a);
	fake_loop_run(loop);
	ck_assert_int_eq(tb, 1);
	ck_assert_uint_eq(budget.used_bytes, 1000);
	budget_shrink(&b, 40);
	ck_assert_uint_eq(budget.used_bytes, 40);
	budget_release(&b);
}
END_TEST

START_TEST(shrink_serves_the_queue_and_move_keeps_the_sum)
{
	struct budget_claim a, b, c;
	int ta = 0, tb = 0;

	budget_claim_init(&a, on_granted, &ta);
	budget_claim_init(&b, on_granted, &tb);
	budget_claim_init(&c, NULL, NULL);
	ck_assert(budget_claim(&budget, &a, 100));
	ck_assert(!budget_claim(&budget, &b, 50));
	budget_shrink(&a, 50);
	fake_loop_run(loop);
	ck_assert_int_eq(tb, 1);
	budget_move(&c, &a);
	ck_assert_int_eq(a.state, BUDGET_CLAIM_IDLE);
	ck_assert_uint_eq(budget.used_bytes, 100);
	budget_release(&a);
	budget_release(&b);
	budget_release(&c);
	ck_assert_uint_eq(budget.used_bytes, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("budget");
	TCase *tc = tcase_create("budget");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, waiting_claims_are_granted_in_order);
	tcase_add_test(tc, a_cancelled_head_lets_the_next_pass);
	tcase_add_test(tc, a_claim_over_the_limit_is_granted_alone);
	tcase_add_test(tc, shrink_serves_the_queue_and_move_keeps_the_sum);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A memory budget for tests: one service on one worker, with two connections. */
#ifndef TESTS_LIB_TEST_BUDGET_H
#define TESTS_LIB_TEST_BUDGET_H

#include "base/budget_account.h"

struct test_budget {
	struct budget budget;
	struct budget_account account;
	struct budget_holder holder; /* the connection under test */
	struct budget_holder other;  /* a connection that competes with it */
	struct loop_task woken;
};

/** test_budget_init - Gives all of @limit_bytes to the one service. */
void test_budget_init(struct test_budget *test, struct loop *loop, size_t limit_bytes);
/** test_budget_fini - Checks that nothing is held. */
void test_budget_fini(struct test_budget *test);
/** test_budget_limit - Sets another limit, while nothing is held. */
void test_budget_limit(struct test_budget *test, size_t limit_bytes);

#endif

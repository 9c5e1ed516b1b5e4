// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/test_budget.h"

#include <assert.h>
#include <stdlib.h>

static void woken(void *arg)
{
	budget_account_woken(&((struct test_budget *)arg)->account);
}

static void wake(void *arg)
{
	struct test_budget *test = arg;

	loop_defer(test->account.loop, &test->woken);
}

void test_budget_init(struct test_budget *test, struct loop *loop, size_t limit_bytes)
{
	*test = (struct test_budget){0};
	loop_task_init(&test->woken, woken, test);
	if (budget_init(&test->budget, limit_bytes, 0, 1, 0) ||
	    budget_account_init(&test->account, budget_share(&test->budget, 0), loop, wake, test))
		abort();
	budget_holder_init(&test->holder, &test->account, NULL);
	budget_holder_init(&test->other, &test->account, NULL);
}

void test_budget_fini(struct test_budget *test)
{
	budget_holder_fini(&test->holder);
	budget_holder_fini(&test->other);
	loop_task_cancel(test->account.loop, &test->woken);
	budget_account_fini(&test->account);
	budget_fini(&test->budget);
}

void test_budget_limit(struct test_budget *test, size_t limit_bytes)
{
	assert(test->account.used_bytes == 0);
	test->budget.limit_bytes = test->budget.common_bytes = limit_bytes;
	atomic_store(&test->budget.free_bytes, limit_bytes);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the budget from several threads, each with the accounts of all services, while memory is
 * short.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/budget_account.h"
#include "daemon/base/loop.h"
#include "tests/lib/test.h"

#define SERVICES 3u
#define WORKERS  4u
#define HOLDERS  3u
#define CLAIMS   4u /* of a holder at once */
#define ROUNDS   50000u
#define OWN      1000u
#define LIMIT    (SERVICES * OWN + 20000u)

struct worker;

struct rpc {
	struct worker *worker;
	struct budget_holder *holder;
	struct budget_claim claim;
	struct loop_task task; /* ends it, or begins the next one */
};

struct worker {
	pthread_t thread;
	struct loop *loop;
	uint32_t seed;
	struct budget_account accounts[SERVICES];
	struct budget_holder holders[SERVICES][HOLDERS];
	struct rpc rpcs[SERVICES][HOLDERS][CLAIMS];
	unsigned begun, running;
};

static struct budget budget;
static size_t largest;

static uint32_t next_random(struct worker *worker)
{
	worker->seed = worker->seed * 1664525u + 1013904223u;
	return worker->seed >> 8;
}

static void on_granted(void *arg)
{
	struct rpc *rpc = arg;

	loop_defer(rpc->worker->loop, &rpc->task);
}

static void begin(struct rpc *rpc)
{
	struct worker *worker = rpc->worker;
	size_t bytes = 1 + next_random(worker) % (next_random(worker) % 20 ? 2000 : largest);

	worker->begun++;
	if (budget_claim(rpc->holder, &rpc->claim, bytes))
		on_granted(rpc);
}

/* In one iteration it is admitted, in a later one it ends; sometimes a waiting one is cancelled. */
static void on_task(void *arg)
{
	struct rpc *rpc = arg;
	struct worker *worker = rpc->worker;
	struct rpc *other =
		&worker->rpcs[next_random(worker) % SERVICES][next_random(worker) % HOLDERS]
			     [next_random(worker) % CLAIMS];

	if (next_random(worker) % 4 == 0) {
		loop_defer(worker->loop, &rpc->task);
		return;
	}
	budget_claim_release(&rpc->claim);
	if (other->claim.state == BUDGET_CLAIM_WAITING && next_random(worker) % 8 == 0) {
		budget_claim_release(&other->claim);
		begin(other);
	}
	if (worker->begun < ROUNDS)
		begin(rpc);
	else if (--worker->running == 0)
		event_loop_stop(worker->loop);
}

static void on_kick(void *arg)
{
	struct worker *worker = arg;

	for (unsigned s = 0; s < SERVICES; s++)
		budget_account_woken(&worker->accounts[s]);
}

static void on_wake(void *arg)
{
	event_loop_kick(((struct worker *)arg)->loop);
}

static void init_rpcs(struct worker *worker, unsigned s)
{
	for (unsigned h = 0; h < HOLDERS; h++) {
		budget_holder_init(&worker->holders[s][h], &worker->accounts[s], NULL);
		for (unsigned i = 0; i < CLAIMS; i++) {
			struct rpc *rpc = &worker->rpcs[s][h][i];

			rpc->worker = worker;
			rpc->holder = &worker->holders[s][h];
			budget_claim_init(&rpc->claim, on_granted, rpc);
			loop_task_init(&rpc->task, on_task, rpc);
		}
	}
}

static void *run(void *arg)
{
	struct worker *worker = arg;

	worker->running = SERVICES * HOLDERS * CLAIMS;
	for (unsigned s = 0; s < SERVICES; s++)
		for (unsigned h = 0; h < HOLDERS; h++)
			for (unsigned i = 0; i < CLAIMS; i++)
				begin(&worker->rpcs[s][h][i]);
	event_loop_run(worker->loop);
	return NULL;
}

static void worker_init(struct worker *worker, unsigned number)
{
	worker->loop = event_loop_new();
	worker->seed = number;
	event_loop_on_kick(worker->loop, on_kick, worker);
	for (unsigned s = 0; s < SERVICES; s++) {
		ck_assert_int_eq(budget_account_init(&worker->accounts[s], budget_share(&budget, s),
						     worker->loop, on_wake, worker),
				 0);
		init_rpcs(worker, s);
	}
}

static void worker_fini(struct worker *worker)
{
	for (unsigned s = 0; s < SERVICES; s++) {
		ck_assert_uint_eq(worker->accounts[s].used_bytes, 0);
		ck_assert_uint_eq(worker->accounts[s].waiting, 0);
		for (unsigned h = 0; h < HOLDERS; h++)
			budget_holder_fini(&worker->holders[s][h]);
		budget_account_fini(&worker->accounts[s]);
	}
	event_loop_free(worker->loop);
}

START_TEST(every_claim_is_met_in_the_end)
{
	/* With accounts that keep some for their next claims, and with such that do not. */
	size_t naccounts = _i ? 0 : WORKERS;
	struct worker *workers = calloc(WORKERS, sizeof(*workers));
	struct budget_stats stats;

	ck_assert(workers);
	ck_assert_int_eq(budget_init(&budget, LIMIT, OWN, SERVICES, naccounts), 0);
	largest = budget_largest_claim_bytes(LIMIT, OWN, SERVICES);
	for (unsigned w = 0; w < WORKERS; w++)
		worker_init(&workers[w], w + 1);
	for (unsigned w = 0; w < WORKERS; w++)
		ck_assert_int_eq(pthread_create(&workers[w].thread, NULL, run, &workers[w]), 0);
	for (unsigned w = 0; w < WORKERS; w++)
		pthread_join(workers[w].thread, NULL);
	for (unsigned w = 0; w < WORKERS; w++)
		worker_fini(&workers[w]);
	budget_stats_get(&budget, &stats);
	ck_assert_uint_eq(stats.leased_bytes, 0);
	ck_assert_uint_le(stats.peak_bytes, LIMIT);
	budget_fini(&budget);
	free(workers);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("budget_threads");
	TCase *tc = tcase_create("budget_threads");

	tcase_add_loop_test(tc, every_claim_is_met_in_the_end, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/budget_fixture.h"

struct loop *loop;
struct budget budget;
struct budget_account accounts[SERVICES][WORKERS];
static struct loop_task woken[SERVICES][WORKERS];
struct client clients[SERVICES][WORKERS][HOLDERS];
unsigned order, late;
const struct budget_claim *late_claim;
unsigned granted_at[GRANTED_AT_MAX];
static unsigned nparts;

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
	if (order < GRANTED_AT_MAX)
		granted_at[order++] = (unsigned)(client - &clients[0][0][0]);
}

void budgets_make(size_t limit, unsigned parts)
{
	loop = fake_loop_new();
	nparts = parts;
	order = late = 0;
	/*
	 * No accounts announced: nothing is kept for next claims, so that every byte can be
	 * followed.
	 */
	ck_assert_int_eq(budget_init(&budget, limit, OWN, parts, 0), 0);
	for (unsigned s = 0; s < parts; s++) {
		for (unsigned w = 0; w < WORKERS; w++) {
			loop_task_init(&woken[s][w], on_woken, &accounts[s][w]);
			ck_assert_int_eq(budget_account_init(&accounts[s][w],
							     budget_share(&budget, s), loop,
							     on_wake, &woken[s][w]),
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

void budgets_end(void)
{
	for (unsigned s = 0; s < nparts; s++)
		for (unsigned w = 0; w < WORKERS; w++)
			for (unsigned h = 0; h < HOLDERS; h++)
				for (unsigned i = 0; i < 8; i++)
					budget_claim_release(&clients[s][w][h].claims[i]);
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
	ck_assert_uint_eq(budget.leased_bytes, 0);
	for (unsigned s = 0; s < nparts; s++)
		ck_assert_uint_eq(budget_share(&budget, s)->nturns, 0);
	ck_assert_uint_eq(atomic_load(&budget.free_bytes), budget.common_bytes);
	budget_fini(&budget);
	fake_loop_free(loop);
}

bool claim(struct client *client, unsigned i, size_t bytes)
{
	return budget_claim(&client->holder, &client->claims[i], bytes);
}

unsigned number(const struct client *client)
{
	return (unsigned)(client - &clients[0][0][0]);
}

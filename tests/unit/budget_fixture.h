/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: a budget with its accounts and claims on a fake loop. */
#ifndef TESTS_UNIT_BUDGET_FIXTURE_H
#define TESTS_UNIT_BUDGET_FIXTURE_H

#include "base/account.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

#define SERVICES       3
#define GRANTED_AT_MAX 64u /* grants whose order is kept */
#define WORKERS        2
#define HOLDERS        4
#define OWN            100u

/* A connection and its claims: granted() counts. */
struct client {
	struct budget_holder holder;
	struct budget_claim claims[8];
	unsigned granted;
};

extern struct loop *loop;
extern struct budget budget;
extern struct budget_account accounts[SERVICES][WORKERS];
extern struct client clients[SERVICES][WORKERS][HOLDERS];
/* How many grants there were and whose, by number(); how many claims became late, and the last. */
extern unsigned order, late;
extern const struct budget_claim *late_claim;
extern unsigned granted_at[GRANTED_AT_MAX];

/** budgets_make - a budget of @limit bytes for @parts services, each with OWN of its own; nothing is kept unused. */
void budgets_make(size_t limit, unsigned parts);
/** budgets_end - release every claim, see that nothing is left, and free it all. */
void budgets_end(void);
/** claim - by @client, with its @i-th claim. */
bool claim(struct client *client, unsigned i, size_t bytes);
/** number - of a client, as granted_at has it. */
unsigned number(const struct client *client);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: a budget with its accounts and claims on a fake loop. */
#ifndef TESTS_UNIT_BUDGET_FIXTURE_H
#define TESTS_UNIT_BUDGET_FIXTURE_H

#include "base/budget_account.h"
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
/*
 * The number of grants and their owners, by number(); the number of claims that became late, and
 * the last.
 */
extern unsigned order, late;
extern const struct budget_claim *late_claim;
extern unsigned granted_at[GRANTED_AT_MAX];

/**
 * budgets_make - Creates a budget of @limit bytes for @parts services, each with OWN guaranteed
 * bytes; no unused memory is kept.
 */
void budgets_make(size_t limit, unsigned parts);
/** budgets_end - Releases every claim, checks that nothing is left, and frees everything. */
void budgets_end(void);
/** claim - Makes @client claim memory with its @i-th claim. */
bool claim(struct client *client, unsigned i, size_t bytes);
/** number - Returns a client's number, as in granted_at. */
unsigned number(const struct client *client);

#endif

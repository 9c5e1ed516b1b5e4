// SPDX-License-Identifier: BSD-3-Clause
#include "base/budget.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SPARES_DIVISOR  16u /* of the common bytes, for the headroom of all accounts together … */
#define SPARE_MAX_BYTES (4u * 1024u * 1024u) /* … and of one account */
#define SPARE_MIN_BYTES 4096u                /* less is not worth keeping */

static size_t rest_of(size_t limit_bytes, size_t own_bytes, size_t nparts)
{
	return limit_bytes > own_bytes * nparts ? limit_bytes - own_bytes * nparts : 0;
}

void budget_stats_get(struct budget *budget, struct budget_stats *stats)
{
	pthread_mutex_lock(&budget->lock);
	*stats = (struct budget_stats){
		.limit_bytes = budget->limit_bytes,
		.lent_bytes = budget->lent_bytes,
		.peak_bytes = budget->peak_bytes,
	};
	pthread_mutex_unlock(&budget->lock);
}

/* ---- the rules ---- */

/* Returns how much of the common bytes a share with a lease of @leased_bytes uses. */
static size_t beyond(const struct budget *budget, size_t lent_bytes)
{
	return lent_bytes > budget->own_bytes ? lent_bytes - budget->own_bytes : 0;
}

/* Fairness: one of several shares can have half; a single share can have all. */
static size_t share_of(size_t bytes, size_t nparts)
{
	return nparts > 1 ? bytes / 2 : bytes;
}

size_t budget_largest_claim_bytes(size_t limit_bytes, size_t own_bytes, size_t nparts)
{
	size_t rest = rest_of(limit_bytes, own_bytes, nparts);

	return own_bytes + share_of(rest - rest / SPARES_DIVISOR, nparts);
}

size_t budget_most_bytes(size_t limit_bytes, size_t own_bytes, size_t nparts)
{
	return own_bytes + share_of(rest_of(limit_bytes, own_bytes, nparts), nparts);
}

size_t budget_room_bytes(const struct budget_part *part)
{
	const struct budget *budget = part->budget;
	size_t lent = atomic_load_explicit(&part->lent_bytes, memory_order_relaxed);
	size_t free = atomic_load_explicit(&budget->free_bytes, memory_order_relaxed);
	size_t over = beyond(budget, lent);
	size_t own = lent < budget->own_bytes ? budget->own_bytes - lent : 0;

	if (budget->nparts == 1)
		return own + free;
	return own + (free > over ? share_of(free - over, budget->nparts) : 0);
}

/* Returns how many common bytes an additional lease of @bytes uses. */
static size_t taken_from_rest(const struct budget_part *part, size_t bytes)
{
	size_t lent = atomic_load_explicit(&part->lent_bytes, memory_order_relaxed);

	return beyond(part->budget, lent + bytes) - beyond(part->budget, lent);
}

static const struct budget_borrower *first_with_turn(const struct budget_part *part)
{
	const struct budget_borrower *borrower;

	if (!part->nturns)
		return NULL;
	TAILQ_FOREACH(borrower, &part->waiting, entry)
		if (borrower->ask == BUDGET_TURN)
			break;
	return borrower;
}

static void set_ask(struct budget_borrower *borrower, enum budget_ask how)
{
	struct budget_part *part = borrower->part;

	if (borrower->asks)
		part->nturns += (how == BUDGET_TURN) - (borrower->ask == BUDGET_TURN);
	borrower->ask = how;
}

/* Returns whether bytes are reserved for a waiting account. A share that has had its half waits for itself. */
static bool is_kept_for(const struct budget_part *part, const struct budget_borrower *borrower)
{
	size_t lent = atomic_load_explicit(&part->lent_bytes, memory_order_relaxed);
	size_t over = beyond(part->budget, lent);
	size_t more = taken_from_rest(part, borrower->ask_bytes);

	return (borrower->ask_alone && !over) || 2 * (over + more) <= part->budget->rest_bytes;
}

/* Returns how much is reserved for another share, whose turn it is. */
static size_t kept_for_others(const struct budget_part *part)
{
	const struct budget_borrower *borrower = NULL;
	const struct budget_part *at;

	TAILQ_FOREACH(at, &part->budget->turns, entry) {
		borrower = first_with_turn(at);
		if (borrower && is_kept_for(at, borrower))
			break;
	}
	return at && at != part ? taken_from_rest(at, borrower->ask_bytes) : 0;
}

static bool may_lend(const struct budget_part *part, size_t bytes, bool alone)
{
	const struct budget *budget = part->budget;
	size_t lent = atomic_load_explicit(&part->lent_bytes, memory_order_relaxed);
	size_t free = atomic_load_explicit(&budget->free_bytes, memory_order_relaxed);
	size_t over = beyond(budget, lent);
	size_t more = taken_from_rest(part, bytes);
	size_t kept = kept_for_others(part);

	if (!more)
		return true;
	/* A lease larger than the limit is granted when nothing else is leased. */
	if (alone && !budget->lent_bytes && more > free)
		return true;
	if (more > free || kept > free - more)
		return false;
	if (budget->nparts == 1 || (alone && !over))
		return true;
	return over + more <= free - more - kept;
}

/* Sets how much of the common bytes is leased. A lease of any size can exceed what exists. */
static void set_over(struct budget *budget, size_t over_bytes)
{
	budget->over_bytes = over_bytes;
	atomic_store_explicit(&budget->free_bytes,
			      over_bytes < budget->rest_bytes ? budget->rest_bytes - over_bytes : 0,
			      memory_order_relaxed);
}

static void lend(struct budget_part *part, size_t bytes)
{
	struct budget *budget = part->budget;

	set_over(budget, budget->over_bytes + taken_from_rest(part, bytes));
	atomic_fetch_add_explicit(&part->lent_bytes, bytes, memory_order_relaxed);
	budget->lent_bytes += bytes;
	if (budget->lent_bytes > budget->peak_bytes)
		budget->peak_bytes = budget->lent_bytes;
}

static void take_back(struct budget_part *part, size_t bytes)
{
	struct budget *budget = part->budget;

	atomic_fetch_sub_explicit(&part->lent_bytes, bytes, memory_order_relaxed);
	set_over(budget, budget->over_bytes - taken_from_rest(part, bytes));
	budget->lent_bytes -= bytes;
}

/* ---- turns ---- */

static void leave_queue(struct budget_borrower *borrower)
{
	struct budget_part *part = borrower->part;

	TAILQ_REMOVE(&part->waiting, borrower, entry);
	part->nturns -= borrower->ask == BUDGET_TURN;
	borrower->asks = false;
	if (TAILQ_EMPTY(&part->waiting))
		TAILQ_REMOVE(&part->budget->turns, part, entry);
	atomic_store_explicit(&part->budget->contended, !TAILQ_EMPTY(&part->budget->turns),
			      memory_order_relaxed);
}

static void join_queue(struct budget_borrower *borrower, bool first)
{
	struct budget_part *part = borrower->part;

	if (TAILQ_EMPTY(&part->waiting))
		TAILQ_INSERT_TAIL(&part->budget->turns, part, entry);
	borrower->asks = true;
	part->nturns += borrower->ask == BUDGET_TURN;
	atomic_store_explicit(&part->budget->contended, true, memory_order_relaxed);
	if (first)
		TAILQ_INSERT_HEAD(&part->waiting, borrower, entry);
	else
		TAILQ_INSERT_TAIL(&part->waiting, borrower, entry);
}

/* Grants the first lease of @share that can be granted. An account with a turn blocks the accounts after it. */
static bool serve_part(struct budget_part *part)
{
	struct budget *budget = part->budget;
	struct budget_borrower *borrower;

	TAILQ_FOREACH(borrower, &part->waiting, entry) {
		if (may_lend(part, borrower->ask_bytes, borrower->ask_alone))
			break;
		if (borrower->ask == BUDGET_TURN)
			return false;
	}
	if (!borrower)
		return false;
	lend(part, borrower->ask_bytes);
	borrower->given_bytes += borrower->ask_bytes;
	leave_queue(borrower);
	/* The share's next turn comes after those of the others. */
	if (!TAILQ_EMPTY(&part->waiting)) {
		TAILQ_REMOVE(&budget->turns, part, entry);
		TAILQ_INSERT_TAIL(&budget->turns, part, entry);
	}
	borrower->wake(borrower->wake_arg);
	return true;
}

/* Grants waiting leases until none can be granted. */
static void serve(struct budget *budget)
{
	struct budget_part *part = TAILQ_FIRST(&budget->turns);

	while (part)
		part = serve_part(part) ? TAILQ_FIRST(&budget->turns) : TAILQ_NEXT(part, entry);
}

/* ---- shares ---- */

/* Call it when a share was added or removed. */
static void set_nparts(struct budget *budget, size_t nparts)
{
	size_t all = nparts * budget->naccounts, spare;

	budget->rest_bytes = rest_of(budget->limit_bytes, budget->own_bytes, nparts);
	/* Accounts keep up to twice the headroom. */
	spare = all ? budget->rest_bytes / SPARES_DIVISOR / 2 / all : 0;
	if (spare > SPARE_MAX_BYTES)
		spare = SPARE_MAX_BYTES;
	if (spare < SPARE_MIN_BYTES)
		spare = 0;
	atomic_store_explicit(&budget->spare_bytes, spare, memory_order_relaxed);
	atomic_store_explicit(&budget->nparts, nparts, memory_order_relaxed);
	set_over(budget, budget->over_bytes);
}

int budget_init(struct budget *budget, size_t limit_bytes, size_t own_bytes, size_t nparts,
		size_t naccounts)
{
	*budget = (struct budget){
		.limit_bytes = limit_bytes,
		.own_bytes = own_bytes,
		.naccounts = naccounts,
	};
	TAILQ_INIT(&budget->parts);
	TAILQ_INIT(&budget->turns);
	pthread_mutex_init(&budget->lock, NULL);
	set_nparts(budget, 0);
	while (nparts--) {
		if (!budget_part_new(budget, "")) {
			budget_fini(budget);
			return -ENOMEM;
		}
	}
	return 0;
}

void budget_fini(struct budget *budget)
{
	struct budget_part *part;

	if (!budget->parts.tqh_last)
		return;
	assert(budget->lent_bytes == 0 && TAILQ_EMPTY(&budget->turns));
	while ((part = TAILQ_FIRST(&budget->parts))) {
		TAILQ_REMOVE(&budget->parts, part, link);
		free(part);
	}
	pthread_mutex_destroy(&budget->lock);
	budget->parts.tqh_last = NULL;
}

struct budget_part *budget_part_new(struct budget *budget, const char *name)
{
	struct budget_part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->budget = budget;
	part->name = name;
	TAILQ_INIT(&part->waiting);
	pthread_mutex_lock(&budget->lock);
	TAILQ_INSERT_TAIL(&budget->parts, part, link);
	set_nparts(budget, budget->nparts + 1);
	pthread_mutex_unlock(&budget->lock);
	return part;
}

void budget_part_free(struct budget_part *part)
{
	struct budget *budget;

	if (!part)
		return;
	budget = part->budget;
	assert(part->lent_bytes == 0 && TAILQ_EMPTY(&part->waiting));
	pthread_mutex_lock(&budget->lock);
	TAILQ_REMOVE(&budget->parts, part, link);
	set_nparts(budget, budget->nparts - 1);
	serve(budget);
	pthread_mutex_unlock(&budget->lock);
	free(part);
}

struct budget_part *budget_part(struct budget *budget, size_t part)
{
	struct budget_part *at;

	pthread_mutex_lock(&budget->lock);
	at = TAILQ_FIRST(&budget->parts);
	while (at && part--)
		at = TAILQ_NEXT(at, link);
	pthread_mutex_unlock(&budget->lock);
	assert(at);
	return at;
}

size_t budget_largest(struct budget *budget, char *name, size_t name_bytes)
{
	const struct budget_part *largest, *at;
	size_t bytes;

	pthread_mutex_lock(&budget->lock);
	largest = TAILQ_FIRST(&budget->parts);
	TAILQ_FOREACH(at, &budget->parts, link)
		if (atomic_load(&at->lent_bytes) > atomic_load(&largest->lent_bytes))
			largest = at;
	snprintf(name, name_bytes, "%s", largest->name);
	bytes = atomic_load(&largest->lent_bytes);
	pthread_mutex_unlock(&budget->lock);
	return bytes;
}

/* ---- leases ---- */

/* Returns how many bytes can be leased: @bytes, plus the headroom if no account waits; 0 if none. */
static size_t offer(const struct budget_borrower *borrower, size_t bytes, bool alone, bool first)
{
	const struct budget_part *part = borrower->part;
	size_t with_spare = bytes + part->budget->spare_bytes;

	if (first_with_turn(part) && !first)
		return 0;
	if (TAILQ_EMPTY(&part->budget->turns) && may_lend(part, with_spare, false))
		return with_spare;
	return may_lend(part, bytes, alone) ? bytes : 0;
}

/* Queues the account. If it waits already in the same way it keeps its place, unless it goes first. */
static void wait_for(struct budget_borrower *borrower, size_t bytes, bool alone,
		     enum budget_ask how, bool first)
{
	bool keeps_place = borrower->asks && how == borrower->ask && !first;

	set_ask(borrower, how);
	borrower->ask_bytes = bytes;
	borrower->ask_alone = alone;
	if (keeps_place)
		return;
	if (borrower->asks)
		leave_queue(borrower);
	join_queue(borrower, first);
}

bool budget_borrow(struct budget_borrower *borrower, size_t bytes, bool alone, enum budget_ask how,
		   bool first)
{
	struct budget *budget = borrower->part->budget;
	size_t offered;
	enum budget_ask was;
	bool anew;

	pthread_mutex_lock(&budget->lock);
	anew = borrower->asks && how != BUDGET_NOW;
	/* A reservation must not block the account that it is for. */
	was = borrower->ask;
	set_ask(borrower, BUDGET_NOW);
	offered = offer(borrower, bytes, alone, first);
	set_ask(borrower, was);
	if (offered) {
		if (anew)
			leave_queue(borrower);
		lend(borrower->part, offered);
		borrower->lent_bytes += offered;
	} else if (how != BUDGET_NOW) {
		wait_for(borrower, bytes, alone, how, first);
	}
	/* Less may be reserved for it now than before. */
	if (anew)
		serve(budget);
	pthread_mutex_unlock(&budget->lock);
	return offered;
}

void budget_withdraw(struct budget_borrower *borrower)
{
	struct budget *budget = borrower->part->budget;

	pthread_mutex_lock(&budget->lock);
	if (borrower->asks) {
		leave_queue(borrower);
		serve(budget);
	}
	pthread_mutex_unlock(&budget->lock);
}

void budget_collect(struct budget_borrower *borrower)
{
	struct budget *budget = borrower->part->budget;

	pthread_mutex_lock(&budget->lock);
	borrower->lent_bytes += borrower->given_bytes;
	borrower->given_bytes = 0;
	pthread_mutex_unlock(&budget->lock);
}

void budget_return(struct budget_borrower *borrower, size_t bytes)
{
	struct budget *budget = borrower->part->budget;

	pthread_mutex_lock(&budget->lock);
	borrower->lent_bytes -= bytes;
	take_back(borrower->part, bytes);
	serve(budget);
	pthread_mutex_unlock(&budget->lock);
}

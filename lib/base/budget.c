// SPDX-License-Identifier: BSD-3-Clause
#include "base/budget.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define HEADROOM_DIVISOR   16u /* of the common bytes: headroom of all accounts together … */
#define HEADROOM_MAX_BYTES (4u * 1024u * 1024u) /* … and of one account */
#define HEADROOM_MIN_BYTES 4096u                /* less is not worth keeping */

static size_t common_bytes_of(size_t limit_bytes, size_t guaranteed_bytes, size_t nshares)
{
	return limit_bytes > guaranteed_bytes * nshares ? limit_bytes - guaranteed_bytes * nshares
							: 0;
}

void budget_stats_get(struct budget *budget, struct budget_stats *stats)
{
	pthread_mutex_lock(&budget->lock);
	*stats = (struct budget_stats){
		.limit_bytes = budget->limit_bytes,
		.leased_bytes = budget->leased_bytes,
		.peak_bytes = budget->peak_bytes,
	};
	pthread_mutex_unlock(&budget->lock);
}

/* ---- the rules ---- */

/* Returns how much of the common bytes a share with a lease of @leased_bytes uses. */
static size_t beyond_guarantee(const struct budget *budget, size_t leased_bytes)
{
	return leased_bytes > budget->guaranteed_bytes ? leased_bytes - budget->guaranteed_bytes
						       : 0;
}

/* Fairness: one of several shares can have half; a single share can have all. */
static size_t half_of(size_t bytes, size_t nshares)
{
	return nshares > 1 ? bytes / 2 : bytes;
}

size_t budget_largest_claim_bytes(size_t limit_bytes, size_t guaranteed_bytes, size_t nshares)
{
	size_t rest = common_bytes_of(limit_bytes, guaranteed_bytes, nshares);

	return guaranteed_bytes + half_of(rest - rest / HEADROOM_DIVISOR, nshares);
}

size_t budget_share_max_bytes(size_t limit_bytes, size_t guaranteed_bytes, size_t nshares)
{
	return guaranteed_bytes +
	       half_of(common_bytes_of(limit_bytes, guaranteed_bytes, nshares), nshares);
}

size_t budget_share_available_bytes(const struct budget_share *share)
{
	const struct budget *budget = share->budget;
	size_t leased = atomic_load_explicit(&share->leased_bytes, memory_order_relaxed);
	size_t free = atomic_load_explicit(&budget->free_bytes, memory_order_relaxed);
	size_t common = beyond_guarantee(budget, leased);
	size_t own = leased < budget->guaranteed_bytes ? budget->guaranteed_bytes - leased : 0;

	if (budget->nshares == 1)
		return own + free;
	return own + (free > common ? half_of(free - common, budget->nshares) : 0);
}

/* Returns how many common bytes an additional lease of @bytes uses. */
static size_t common_bytes_for(const struct budget_share *share, size_t bytes)
{
	size_t leased = atomic_load_explicit(&share->leased_bytes, memory_order_relaxed);

	return beyond_guarantee(share->budget, leased + bytes) -
	       beyond_guarantee(share->budget, leased);
}

static const struct budget_lease *share_first_turn(const struct budget_share *share)
{
	const struct budget_lease *lease;

	if (!share->nturns)
		return NULL;
	TAILQ_FOREACH(lease, &share->waiting, entry)
		if (lease->wait == BUDGET_WAIT_TURN)
			break;
	return lease;
}

static void lease_set_wait(struct budget_lease *lease, enum budget_wait how)
{
	struct budget_share *share = lease->share;

	if (lease->waits)
		share->nturns += (how == BUDGET_WAIT_TURN) - (lease->wait == BUDGET_WAIT_TURN);
	lease->wait = how;
}

/*
 * Returns whether bytes are reserved for a waiting account. None are for a share that would lease
 * more than half of the common bytes: it waits for its own RPCs.
 */
static bool lease_is_reserved_for(const struct budget_share *share,
				  const struct budget_lease *lease)
{
	size_t leased = atomic_load_explicit(&share->leased_bytes, memory_order_relaxed);
	size_t common = beyond_guarantee(share->budget, leased);
	size_t more = common_bytes_for(share, lease->wanted_bytes);

	return (lease->wanted_alone && !common) ||
	       2 * (common + more) <= share->budget->common_bytes;
}

/* Returns how much is reserved for another share, whose turn it is. */
static size_t reserved_for_others(const struct budget_share *share)
{
	const struct budget_lease *lease = NULL;
	const struct budget_share *at;

	TAILQ_FOREACH(at, &share->budget->turns, entry) {
		lease = share_first_turn(at);
		if (lease && lease_is_reserved_for(at, lease))
			break;
	}
	return at && at != share ? common_bytes_for(at, lease->wanted_bytes) : 0;
}

static bool share_may_lease(const struct budget_share *share, size_t bytes, bool alone)
{
	const struct budget *budget = share->budget;
	size_t leased = atomic_load_explicit(&share->leased_bytes, memory_order_relaxed);
	size_t free = atomic_load_explicit(&budget->free_bytes, memory_order_relaxed);
	size_t common = beyond_guarantee(budget, leased);
	size_t more = common_bytes_for(share, bytes);
	size_t kept = reserved_for_others(share);

	if (!more)
		return true;
	/* A lease larger than the limit is granted when nothing else is leased. */
	if (alone && !budget->leased_bytes && more > free)
		return true;
	if (more > free || kept > free - more)
		return false;
	if (budget->nshares == 1 || (alone && !common))
		return true;
	return common + more <= free - more - kept;
}

/* Sets how much of the common bytes is leased. A lease of any size can exceed what exists. */
static void budget_set_common_leased(struct budget *budget, size_t common_leased_bytes)
{
	budget->common_leased_bytes = common_leased_bytes;
	atomic_store_explicit(&budget->free_bytes,
			      common_leased_bytes < budget->common_bytes
				      ? budget->common_bytes - common_leased_bytes
				      : 0,
			      memory_order_relaxed);
}

static void share_lease(struct budget_share *share, size_t bytes)
{
	struct budget *budget = share->budget;

	budget_set_common_leased(budget,
				 budget->common_leased_bytes + common_bytes_for(share, bytes));
	atomic_fetch_add_explicit(&share->leased_bytes, bytes, memory_order_relaxed);
	budget->leased_bytes += bytes;
	if (budget->leased_bytes > budget->peak_bytes)
		budget->peak_bytes = budget->leased_bytes;
}

static void share_unlease(struct budget_share *share, size_t bytes)
{
	struct budget *budget = share->budget;

	atomic_fetch_sub_explicit(&share->leased_bytes, bytes, memory_order_relaxed);
	budget_set_common_leased(budget,
				 budget->common_leased_bytes - common_bytes_for(share, bytes));
	budget->leased_bytes -= bytes;
}

/* ---- turns ---- */

static void lease_dequeue(struct budget_lease *lease)
{
	struct budget_share *share = lease->share;

	TAILQ_REMOVE(&share->waiting, lease, entry);
	share->nturns -= lease->wait == BUDGET_WAIT_TURN;
	lease->waits = false;
	if (TAILQ_EMPTY(&share->waiting))
		TAILQ_REMOVE(&share->budget->turns, share, entry);
	atomic_store_explicit(&share->budget->contended, !TAILQ_EMPTY(&share->budget->turns),
			      memory_order_relaxed);
}

static void lease_enqueue(struct budget_lease *lease, bool first)
{
	struct budget_share *share = lease->share;

	if (TAILQ_EMPTY(&share->waiting))
		TAILQ_INSERT_TAIL(&share->budget->turns, share, entry);
	lease->waits = true;
	share->nturns += lease->wait == BUDGET_WAIT_TURN;
	atomic_store_explicit(&share->budget->contended, true, memory_order_relaxed);
	if (first)
		TAILQ_INSERT_HEAD(&share->waiting, lease, entry);
	else
		TAILQ_INSERT_TAIL(&share->waiting, lease, entry);
}

/*
 * Grants the first lease of @share that can be granted. An account with a turn blocks the accounts
 * after it.
 */
static bool share_serve(struct budget_share *share)
{
	struct budget *budget = share->budget;
	struct budget_lease *lease;

	TAILQ_FOREACH(lease, &share->waiting, entry) {
		if (share_may_lease(share, lease->wanted_bytes, lease->wanted_alone))
			break;
		if (lease->wait == BUDGET_WAIT_TURN)
			return false;
	}
	if (!lease)
		return false;
	share_lease(share, lease->wanted_bytes);
	lease->granted_bytes += lease->wanted_bytes;
	lease_dequeue(lease);
	/* The share's next turn comes after those of the others. */
	if (!TAILQ_EMPTY(&share->waiting)) {
		TAILQ_REMOVE(&budget->turns, share, entry);
		TAILQ_INSERT_TAIL(&budget->turns, share, entry);
	}
	lease->wake(lease->wake_arg);
	return true;
}

/* Grants waiting leases until none can be granted. */
static void budget_serve(struct budget *budget)
{
	struct budget_share *share = TAILQ_FIRST(&budget->turns);

	while (share)
		share = share_serve(share) ? TAILQ_FIRST(&budget->turns) : TAILQ_NEXT(share, entry);
}

/* ---- shares ---- */

/* Call it when a share was added or removed. */
static void budget_set_nshares(struct budget *budget, size_t nshares)
{
	size_t all = nshares * budget->naccounts, headroom;

	budget->common_bytes =
		common_bytes_of(budget->limit_bytes, budget->guaranteed_bytes, nshares);
	/* Accounts keep up to twice the headroom. */
	headroom = all ? budget->common_bytes / HEADROOM_DIVISOR / 2 / all : 0;
	if (headroom > HEADROOM_MAX_BYTES)
		headroom = HEADROOM_MAX_BYTES;
	if (headroom < HEADROOM_MIN_BYTES)
		headroom = 0;
	atomic_store_explicit(&budget->headroom_bytes, headroom, memory_order_relaxed);
	atomic_store_explicit(&budget->nshares, nshares, memory_order_relaxed);
	budget_set_common_leased(budget, budget->common_leased_bytes);
}

int budget_init(struct budget *budget, size_t limit_bytes, size_t guaranteed_bytes, size_t nshares,
		size_t naccounts)
{
	*budget = (struct budget){
		.limit_bytes = limit_bytes,
		.guaranteed_bytes = guaranteed_bytes,
		.naccounts = naccounts,
	};
	TAILQ_INIT(&budget->shares);
	TAILQ_INIT(&budget->turns);
	pthread_mutex_init(&budget->lock, NULL);
	budget_set_nshares(budget, 0);
	while (nshares--) {
		if (!budget_share_new(budget, "")) {
			budget_fini(budget);
			return -ENOMEM;
		}
	}
	return 0;
}

void budget_fini(struct budget *budget)
{
	struct budget_share *share;

	if (!budget->shares.tqh_last)
		return;
	assert(budget->leased_bytes == 0 && TAILQ_EMPTY(&budget->turns));
	while ((share = TAILQ_FIRST(&budget->shares))) {
		TAILQ_REMOVE(&budget->shares, share, link);
		free(share);
	}
	pthread_mutex_destroy(&budget->lock);
	budget->shares.tqh_last = NULL;
}

struct budget_share *budget_share_new(struct budget *budget, const char *name)
{
	struct budget_share *share = calloc(1, sizeof(*share));

	if (!share)
		return NULL;
	share->budget = budget;
	share->name = name;
	TAILQ_INIT(&share->waiting);
	pthread_mutex_lock(&budget->lock);
	TAILQ_INSERT_TAIL(&budget->shares, share, link);
	budget_set_nshares(budget, budget->nshares + 1);
	pthread_mutex_unlock(&budget->lock);
	return share;
}

void budget_share_free(struct budget_share *share)
{
	struct budget *budget;

	if (!share)
		return;
	budget = share->budget;
	assert(share->leased_bytes == 0 && TAILQ_EMPTY(&share->waiting));
	pthread_mutex_lock(&budget->lock);
	TAILQ_REMOVE(&budget->shares, share, link);
	budget_set_nshares(budget, budget->nshares - 1);
	budget_serve(budget);
	pthread_mutex_unlock(&budget->lock);
	free(share);
}

struct budget_share *budget_share(struct budget *budget, size_t share)
{
	struct budget_share *at;

	pthread_mutex_lock(&budget->lock);
	at = TAILQ_FIRST(&budget->shares);
	while (at && share--)
		at = TAILQ_NEXT(at, link);
	pthread_mutex_unlock(&budget->lock);
	assert(at);
	return at;
}

size_t budget_largest_share(struct budget *budget, char *name, size_t name_bytes)
{
	const struct budget_share *largest, *at;
	size_t bytes;

	pthread_mutex_lock(&budget->lock);
	largest = TAILQ_FIRST(&budget->shares);
	TAILQ_FOREACH(at, &budget->shares, link)
		if (atomic_load(&at->leased_bytes) > atomic_load(&largest->leased_bytes))
			largest = at;
	snprintf(name, name_bytes, "%s", largest->name);
	bytes = atomic_load(&largest->leased_bytes);
	pthread_mutex_unlock(&budget->lock);
	return bytes;
}

/* ---- leases ---- */

/*
 * Returns how many bytes can be leased: @bytes, plus the headroom if no account waits; 0 if none.
 */
static size_t lease_offer_bytes(const struct budget_lease *lease, size_t bytes, bool alone,
				bool first)
{
	const struct budget_share *share = lease->share;
	size_t with_headroom = bytes + share->budget->headroom_bytes;

	if (share_first_turn(share) && !first)
		return 0;
	if (TAILQ_EMPTY(&share->budget->turns) && share_may_lease(share, with_headroom, false))
		return with_headroom;
	return share_may_lease(share, bytes, alone) ? bytes : 0;
}

/*
 * Queues the account. If it waits already in the same way it keeps its place, unless it goes first.
 */
static void lease_wait(struct budget_lease *lease, size_t bytes, bool alone, enum budget_wait how,
		       bool first)
{
	bool keeps_place = lease->waits && how == lease->wait && !first;

	lease_set_wait(lease, how);
	lease->wanted_bytes = bytes;
	lease->wanted_alone = alone;
	if (keeps_place)
		return;
	if (lease->waits)
		lease_dequeue(lease);
	lease_enqueue(lease, first);
}

bool budget_lease_grow(struct budget_lease *lease, size_t bytes, bool alone, enum budget_wait how,
		       bool first)
{
	struct budget *budget = lease->share->budget;
	size_t offered;
	enum budget_wait was;
	bool requeued;

	pthread_mutex_lock(&budget->lock);
	requeued = lease->waits && how != BUDGET_NO_WAIT;
	/* A reservation must not block the account that it is for. */
	was = lease->wait;
	lease_set_wait(lease, BUDGET_NO_WAIT);
	offered = lease_offer_bytes(lease, bytes, alone, first);
	lease_set_wait(lease, was);
	if (offered) {
		if (requeued)
			lease_dequeue(lease);
		share_lease(lease->share, offered);
		lease->leased_bytes += offered;
	} else if (how != BUDGET_NO_WAIT) {
		lease_wait(lease, bytes, alone, how, first);
	}
	/* Less may be reserved for it now than before. */
	if (requeued)
		budget_serve(budget);
	pthread_mutex_unlock(&budget->lock);
	return offered;
}

void budget_lease_cancel(struct budget_lease *lease)
{
	struct budget *budget = lease->share->budget;

	pthread_mutex_lock(&budget->lock);
	if (lease->waits) {
		lease_dequeue(lease);
		budget_serve(budget);
	}
	pthread_mutex_unlock(&budget->lock);
}

void budget_lease_collect(struct budget_lease *lease)
{
	struct budget *budget = lease->share->budget;

	pthread_mutex_lock(&budget->lock);
	lease->leased_bytes += lease->granted_bytes;
	lease->granted_bytes = 0;
	pthread_mutex_unlock(&budget->lock);
}

void budget_lease_return(struct budget_lease *lease, size_t bytes)
{
	struct budget *budget = lease->share->budget;

	pthread_mutex_lock(&budget->lock);
	lease->leased_bytes -= bytes;
	share_unlease(lease->share, bytes);
	budget_serve(budget);
	pthread_mutex_unlock(&budget->lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory budget of the process, which limits the memory of its services.
 *
 *	budget
 *	 └─ share      a service
 *	     └─ account    a service on one worker
 *	         └─ holder     a connection
 *	             └─ claim      an RPC
 *
 * This is the upper half, which all threads share behind one lock. An account leases bytes from the
 * share of its service and grants claims from this lease without a lock (base/budget_account.h). It
 * uses this module only when the lease is too small, or larger than needed.
 *
 * Each share has guaranteed bytes that no other share can lease. Leases beyond them come from the
 * common bytes, which all shares use by two rules:
 *
 *  - Fairness: a share leases no more of the common bytes than it leaves free for the others. So a
 *    service whose RPCs never end cannot leave the others without memory. A share that has none of
 *    the common bytes gets one lease of any size.
 *  - Turns: accounts that cannot get a lease wait, and shares take turns, each with one account at
 *    a time. Freed bytes are reserved for the account that has the turn, until it cancels or waits
 *    without a turn. Nothing is reserved for a share that would then lease more than half of the
 *    common bytes: it waits for its own RPCs.
 *
 * Concurrency: any thread can call every function.
 */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/compiler.h"

/* What to do if a lease cannot be granted now. */
enum budget_wait {
	BUDGET_NO_WAIT,   /* fail */
	BUDGET_WAIT_TURN, /* wait for a turn */
	BUDGET_WAIT_LATE, /* wait without a turn: nothing is reserved */
};

/* What an account leases from the budget. */
struct budget_lease {
	struct budget_share *share;
	size_t leased_bytes; /* current size; belongs to the account's thread */
	/*
	 * Called after a grant, in any thread, with the lock held. The account's thread must then
	 * call budget_lease_collect().
	 */
	void (*wake)(void *arg);
	void *wake_arg;

	/* Protected by the budget's lock. */
	TAILQ_ENTRY(budget_lease) entry; /* in the share's list while it waits */
	bool waits;                      /* it is in that list */
	enum budget_wait wait;
	bool wanted_alone;
	size_t wanted_bytes, granted_bytes;
};
TAILQ_HEAD(budget_lease_list, budget_lease);

struct budget_share {
	struct budget *budget;
	TAILQ_ENTRY(budget_share) link;  /* in the list of all shares */
	TAILQ_ENTRY(budget_share) entry; /* in the list of shares with a waiting account */
	struct budget_lease_list waiting;
	unsigned nturns;            /* waiting accounts that wait for a turn */
	atomic_size_t leased_bytes; /* changed under the lock only */
	const char *name;           /* belongs to the caller; for budget_largest_share() */
};
TAILQ_HEAD(budget_share_list, budget_share);

struct budget {
	pthread_mutex_t lock;
	size_t limit_bytes;
	size_t guaranteed_bytes;    /* guaranteed to each share */
	size_t common_bytes;        /* the common bytes: what the guarantees leave of the limit */
	size_t common_leased_bytes; /* of these, leased now */
	size_t naccounts;           /* accounts of a share */
	/* These three are changed under the lock only. */
	atomic_size_t headroom_bytes; /* headroom of an account: kept for its next claims */
	atomic_size_t free_bytes;     /* of the common bytes */
	atomic_size_t nshares;
	size_t leased_bytes, peak_bytes;
	struct budget_share_list shares;
	struct budget_share_list turns; /* next turn first */
	atomic_bool contended;          /* an account waits; changed under the lock only */
};

struct budget_stats {
	size_t limit_bytes;
	size_t leased_bytes, peak_bytes; /* including the accounts' headroom */
};

/**
 * budget_init - Initializes a budget with nothing leased
 * @limit_bytes:      of the whole; the sum of the guarantees if that is more
 * @guaranteed_bytes: guaranteed to each share
 * @nshares:          number of shares, from 0
 * @naccounts:        maximum number of accounts of a share; together their headroom is a sixteenth
 *                    of the common bytes
 *
 * Returns 0 or -ENOMEM.
 */
int budget_init(struct budget *budget, size_t limit_bytes, size_t guaranteed_bytes, size_t nshares,
		size_t naccounts) MUST_CHECK;
/** budget_fini - Frees the budget and its remaining shares. Nothing may be leased. */
void budget_fini(struct budget *budget);
/** budget_share - Returns share number @share, in order of creation. */
struct budget_share *budget_share(struct budget *budget, size_t share);
/**
 * budget_share_new - Adds a share
 * @name: outlives it
 *
 * Its guaranteed bytes come from the common bytes. If other shares lease more than is left of
 * these, they get no lease until they have returned enough. Returns NULL without memory.
 */
struct budget_share *budget_share_new(struct budget *budget, const char *name) MUST_CHECK;
/**
 * budget_share_free - Removes a share that leases nothing; its guarantee becomes common. Accepts
 * NULL.
 */
void budget_share_free(struct budget_share *share);
/**
 * budget_largest_share - Writes the name of the share with the largest lease into @name; returns
 * its bytes. One must exist.
 */
size_t budget_largest_share(struct budget *budget, char *name, size_t name_bytes);
/** budget_stats_get - Fills in the totals. */
void budget_stats_get(struct budget *budget, struct budget_stats *stats);

/**
 * budget_largest_claim_bytes - Returns the largest claim that is certain to be granted, even if
 * other shares never release memory
 * @limit_bytes, @guaranteed_bytes, @nshares: as for budget_init()
 */
size_t budget_largest_claim_bytes(size_t limit_bytes, size_t guaranteed_bytes, size_t nshares);

/**
 * budget_share_max_bytes - Returns how much a share can lease in steps while others lease nothing.
 * Arguments as above.
 */
size_t budget_share_max_bytes(size_t limit_bytes, size_t guaranteed_bytes, size_t nshares);

/**
 * budget_share_available_bytes - Returns how much a share could lease now under the fairness rule.
 * Takes no lock.
 */
size_t budget_share_available_bytes(const struct budget_share *share);

/**
 * budget_is_contended - Returns whether an account waits: then return unused bytes immediately.
 * Takes no lock.
 */
static inline bool budget_is_contended(const struct budget *budget)
{
	return atomic_load_explicit(&budget->contended, memory_order_relaxed);
}

/**
 * budget_lease_grow - Enlarges a lease
 * @bytes: needed in addition
 * @alone: for a connection that holds nothing: any size is allowed
 * @how:   what to do if it cannot be granted now
 * @first: wait before the other accounts of the share
 *
 * Returns true if the lease grew by at least @bytes. Otherwise, unless @how is BUDGET_NO_WAIT, the
 * account waits until wake() is called or until budget_lease_cancel(). A request of an account that
 * waits already replaces the earlier one.
 */
bool budget_lease_grow(struct budget_lease *lease, size_t bytes, bool alone, enum budget_wait how,
		       bool first);
/** budget_lease_cancel - Stops waiting. */
void budget_lease_cancel(struct budget_lease *lease);
/**
 * budget_lease_collect - Adds the bytes that were granted to a waiting account to its lease. Call
 * it after wake().
 */
void budget_lease_collect(struct budget_lease *lease);
/** budget_lease_return - Returns @bytes of the lease to the budget. */
void budget_lease_return(struct budget_lease *lease, size_t bytes);

#endif

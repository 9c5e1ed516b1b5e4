/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory budget of the process, which limits the memory of its services.
 *
 *	budget ◀── share (a service) ◀── account (a service on one worker) ◀── holder (a connection) ◀── claim (an RPC)
 *
 * This is the upper half, which all threads share behind one lock. An account leases bytes from the share of its service
 * and grants claims from this lease without a lock (base/account.h). It uses this module only when the lease is too small, or
 * larger than needed.
 *
 * Each share has guaranteed bytes that no other share can lease. Leases beyond them come from the common bytes, which all
 * shares use by two rules:
 *
 *  - Fairness: a share leases no more of the common bytes than it leaves free for the others. So a service whose RPCs
 *    never end cannot leave the others without memory, and nothing needs to predict demand. A share that has none of the
 *    common bytes gets one lease of any size.
 *  - Turns: accounts that cannot get a lease wait. Shares take turns, with one account of a share at a time. Freed bytes
 *    are reserved for the account whose turn it is, until it cancels or asks without a turn. Nothing is reserved for a
 *    share that already leases so much that the bytes of others could not help it.
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
enum budget_ask {
	BUDGET_NOW,  /* fail */
	BUDGET_TURN, /* wait for a turn */
	BUDGET_LATE, /* wait until enough is free by chance: nothing is reserved */
};

/* What an account leases from the budget. */
struct budget_borrower {
	struct budget_part *part;
	size_t lent_bytes; /* current size; belongs to the account's thread */
	/* Called in any thread with the lock held after a grant: budget_collect() must follow in the account's own. */
	void (*wake)(void *arg);
	void *wake_arg;

	/* Protected by the budget's lock. */
	TAILQ_ENTRY(budget_borrower) entry; /* in the share's list while it waits */
	bool asks;                          /* it waits */
	enum budget_ask ask;
	bool ask_alone;
	size_t ask_bytes, given_bytes;
};
TAILQ_HEAD(budget_borrower_list, budget_borrower);

struct budget_part {
	struct budget *budget;
	TAILQ_ENTRY(budget_part) link;  /* in the list of all shares */
	TAILQ_ENTRY(budget_part) entry; /* in the list of shares with a waiting account */
	struct budget_borrower_list waiting;
	unsigned nturns;          /* waiting accounts that wait for a turn */
	atomic_size_t lent_bytes; /* changed under the lock only */
	const char *name;         /* belongs to the caller; for budget_largest() */
};
TAILQ_HEAD(budget_part_list, budget_part);

struct budget {
	pthread_mutex_t lock;
	size_t limit_bytes;
	size_t own_bytes;  /* guaranteed to each share */
	size_t rest_bytes; /* the common bytes: what the guarantees leave of the limit */
	size_t over_bytes; /* leased of these */
	size_t naccounts;  /* accounts of a share */
	/* These three are changed under the lock only. */
	atomic_size_t spare_bytes; /* headroom of an account: kept for its next claims */
	atomic_size_t free_bytes;  /* of the common bytes */
	atomic_size_t nparts;
	size_t lent_bytes, peak_bytes;
	struct budget_part_list parts;
	struct budget_part_list turns; /* next turn first */
	atomic_bool contended;         /* whether any waits; changed under the lock only */
};

struct budget_stats {
	size_t limit_bytes;
	size_t lent_bytes, peak_bytes; /* including the accounts' headroom */
};

/**
 * budget_init - Initializes a budget with nothing leased
 * @limit_bytes:      of the whole; the sum of the guarantees if that is more
 * @guaranteed_bytes: guaranteed to each share
 * @nshares:          number of shares, from 0
 * @naccounts:        maximum number of accounts of a share; together their headroom is a sixteenth of the common bytes
 *
 * Returns 0 or -ENOMEM.
 */
int budget_init(struct budget *budget, size_t limit_bytes, size_t own_bytes, size_t nparts,
		size_t naccounts) MUST_CHECK;
/** budget_fini - Frees the budget and its remaining shares. Nothing may be leased. */
void budget_fini(struct budget *budget);
/** budget_part - Returns share number @share, in order of creation. */
struct budget_part *budget_part(struct budget *budget, size_t part);
/**
 * budget_part_new - Adds a share
 * @name: outlives it
 *
 * Its guaranteed bytes are taken from the common bytes. Other shares may now lease more than is left: they get no lease
 * until enough was returned. Returns NULL without memory.
 */
struct budget_part *budget_part_new(struct budget *budget, const char *name) MUST_CHECK;
/** budget_part_free - Removes a share that leases nothing; its guarantee becomes common. Accepts NULL. */
void budget_part_free(struct budget_part *part);
/** budget_largest - Writes the name of the share with the largest lease into @name; returns its bytes. One must exist. */
size_t budget_largest(struct budget *budget, char *name, size_t name_bytes);
/** budget_stats_get - Fills in the totals. */
void budget_stats_get(struct budget *budget, struct budget_stats *stats);

/**
 * budget_largest_claim_bytes - Returns the largest claim that is certain to be granted some time, whatever other shares
 * hold forever
 * @limit_bytes, @guaranteed_bytes, @nshares: as for budget_init()
 */
size_t budget_largest_claim_bytes(size_t limit_bytes, size_t own_bytes, size_t nparts);

/** budget_most_bytes - Returns how much a share can lease in steps while others lease nothing. Arguments as above. */
size_t budget_most_bytes(size_t limit_bytes, size_t own_bytes, size_t nparts);

/** budget_room_bytes - Returns how much a share could lease now under the fairness rule. Takes no lock. */
size_t budget_room_bytes(const struct budget_part *part);

/** budget_is_contended - Returns whether an account waits: then return unused bytes immediately. Takes no lock. */
static inline bool budget_is_contended(const struct budget *budget)
{
	return atomic_load_explicit(&budget->contended, memory_order_relaxed);
}

/**
 * budget_borrow - Enlarges a lease
 * @bytes: needed in addition
 * @alone: for a connection that holds nothing: any size is allowed
 * @how:   what to do if it cannot be granted now
 * @first: wait before the other accounts of the share
 *
 * Returns true if the lease grew by at least @bytes. Otherwise, unless @how is BUDGET_NOW, the account waits until wake()
 * is called or until budget_withdraw(). A request of an account that waits already replaces the earlier one.
 */
bool budget_borrow(struct budget_borrower *borrower, size_t bytes, bool alone, enum budget_ask how,
		   bool first);
/** budget_withdraw - Stops waiting. */
void budget_withdraw(struct budget_borrower *borrower);
/** budget_collect - Adds the bytes that were granted to a waiting account to its lease. Call it after wake(). */
void budget_collect(struct budget_borrower *borrower);
/** budget_return - Gives @bytes of the lease back. */
void budget_return(struct budget_borrower *borrower, size_t bytes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of the process, and who may have it.
 *
 *	budget ◀── part (a service) ◀── account (a service on one worker) ◀── holder (a connection) ◀── claim (an RPC)
 *
 * This is the upper half: what the threads share, behind one lock. A part is lent bytes for its accounts; an
 * account (base/account.h) serves its connections from what it has on loan, without a lock, and comes here only
 * when that does not do, or is more than it needs.
 *
 * Each part has a size of its own that is never lent to others. What a part has on loan beyond that comes from the
 * rest, which all parts share, by two rules:
 *
 *  - Share: no part has more of the rest than stays free for the others. So a part whose RPCs never end cannot
 *    leave the others without memory, whoever came first, and nobody needs to know who will want some later. One
 *    loan of any size is made to a part that has nothing of the rest.
 *  - Turns: who does not get what it asks for waits, one account of a part at a time, parts in turn. What is
 *    freed is kept for the one whose turn it is, until it withdraws or asks without a turn; but not for one that has
 *    so much already that nothing of the others' would help it.
 *
 * Concurrency: every function here may be called from any thread.
 */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/compiler.h"

/* How loans are asked for. */
enum budget_ask {
	BUDGET_NOW,  /* now or not at all */
	BUDGET_TURN, /* else wait for a turn */
	BUDGET_LATE, /* else wait until there happens to be enough: nothing is kept for it */
};

/* What an account has to do with the budget. */
struct budget_borrower {
	struct budget_part *part;
	size_t lent_bytes; /* to it; its own thread's */
	/* Something was given to it: any thread, the lock held; budget_collect() is due in its own. */
	void (*wake)(void *arg);
	void *wake_arg;

	/* Under the budget's lock. */
	TAILQ_ENTRY(budget_borrower) entry; /* in its part's list, while it waits */
	bool asks;                          /* it does */
	enum budget_ask ask;
	bool ask_alone;
	size_t ask_bytes, given_bytes;
};
TAILQ_HEAD(budget_borrower_list, budget_borrower);

struct budget_part {
	struct budget *budget;
	TAILQ_ENTRY(budget_part) link;  /* among all */
	TAILQ_ENTRY(budget_part) entry; /* among those with a waiting account */
	struct budget_borrower_list waiting;
	unsigned nturns;          /* of these, those that wait for a turn */
	atomic_size_t lent_bytes; /* changed under the lock only */
	const char *name;         /* the user's, for budget_largest() */
};
TAILQ_HEAD(budget_part_list, budget_part);

struct budget {
	pthread_mutex_t lock;
	size_t limit_bytes;
	size_t own_bytes;  /* of each part */
	size_t rest_bytes; /* for all: what the limit leaves */
	size_t over_bytes; /* what parts have of it */
	size_t naccounts;  /* of a part */
	atomic_size_t
		spare_bytes; /* what an account may keep for its next claims; changed under the lock only */
	atomic_size_t free_bytes; /* of the rest; the same */
	atomic_size_t nparts;     /* the same */
	size_t lent_bytes, peak_bytes;
	struct budget_part_list parts;
	struct budget_part_list turns; /* the one whose turn it is first */
	atomic_bool contended;         /* there are such; changed under the lock only */
};

struct budget_stats {
	size_t limit_bytes;
	size_t lent_bytes, peak_bytes; /* with what accounts keep for their next claims */
};

/**
 * budget_init - a budget of which nothing is lent
 * @limit_bytes: of the whole; if it is less than the parts' own, these count
 * @own_bytes:   what each part has for itself
 * @nparts:      how many parts there are, from 0
 * @naccounts:   how many accounts each will have, at most; together they keep a sixteenth of the rest unused
 *
 * Returns 0 or -ENOMEM.
 */
int budget_init(struct budget *budget, size_t limit_bytes, size_t own_bytes, size_t nparts,
		size_t naccounts) MUST_CHECK;
/** budget_fini - release what budget_init() took, and parts that are left; nothing may be lent. */
void budget_fini(struct budget *budget);
/** budget_part - one of the parts, in the order in which they came. */
struct budget_part *budget_part(struct budget *budget, size_t part);
/**
 * budget_part_new - one part more
 * @name: outlives it
 *
 * What it has for itself is taken from the rest, though others may have more of that now than is left: they are lent
 * nothing until they have given back. Returns NULL without memory.
 */
struct budget_part *budget_part_new(struct budget *budget, const char *name) MUST_CHECK;
/** budget_part_free - a part less, to which nothing is lent; its own goes to the rest. Accepts NULL. */
void budget_part_free(struct budget_part *part);
/** budget_largest - the name of the part that has most, into @name, and how much that is; at least one must be there. */
size_t budget_largest(struct budget *budget, char *name, size_t name_bytes);
/** budget_stats_get - the figures of the whole. */
void budget_stats_get(struct budget *budget, struct budget_stats *stats);

/**
 * budget_largest_claim_bytes - the largest claim that is sure to be met some time, whatever others hold for ever
 * @limit_bytes, @own_bytes, @nparts: as for budget_init()
 */
size_t budget_largest_claim_bytes(size_t limit_bytes, size_t own_bytes, size_t nparts);

/** budget_most_bytes - what a part can be lent in several loans while the others have none; arguments as above. */
size_t budget_most_bytes(size_t limit_bytes, size_t own_bytes, size_t nparts);

/** budget_room_bytes - what a part could be lent now, with the share that the others are left; no lock. */
size_t budget_room_bytes(const struct budget_part *part);

/** budget_is_contended - whether an account waits: then what is not used is to be returned at once; no lock. */
static inline bool budget_is_contended(const struct budget *budget)
{
	return atomic_load_explicit(&budget->contended, memory_order_relaxed);
}

/**
 * budget_borrow - ask for a loan
 * @bytes:  needed
 * @alone:  it is for a connection that holds nothing: it may be of any size
 * @how:    what if it cannot be made now
 * @first:  wait before the other accounts of the part
 *
 * Returns true if it was made: the account has lent_bytes more then, by @bytes at least. Else, unless BUDGET_NOW,
 * the account waits until it is made, which wake() tells, or until budget_withdraw(); if it waited already, it
 * asks anew.
 */
bool budget_borrow(struct budget_borrower *borrower, size_t bytes, bool alone, enum budget_ask how,
		   bool first);
/** budget_withdraw - wait for nothing any more. */
void budget_withdraw(struct budget_borrower *borrower);
/** budget_collect - after wake(): take what was lent to a waiting one into its lent_bytes. */
void budget_collect(struct budget_borrower *borrower);
/** budget_return - give back @bytes of what the account has on loan. */
void budget_return(struct budget_borrower *borrower, size_t bytes);

#endif

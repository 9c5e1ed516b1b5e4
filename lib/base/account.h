/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Admission of memory: a service's connections on one worker, and what their RPCs claim.
 *
 * An RPC claims, in one step, all the memory that it can come to need: its Call and its largest Reply. Only then
 * is its body received or pulled, so whatever has been admitted can finish without asking again, and a shortage
 * makes peers wait instead of failing.
 *
 * The claims of one connection are met in their order. Connections take turns:
 *
 *  - One that holds nothing may hold one RPC of any size when its turn comes.
 *  - One that holds something may hold no more than what then is left for the others of its service, so that a
 *    connection whose RPCs never end leaves the others something.
 *  - An urged one (a reverse Call is out, whose Reply may stand behind Calls that wait) goes first.
 *  - A claim whose turn has lasted for BUDGET_TURN_US is late: it waits on, but holds nobody else up. It has
 *    another turn each BUDGET_TURN_AGAIN_US, behind those who have come meanwhile.
 *
 * An account has on loan what its claims hold, and a little for the next ones (base/budget.h).
 *
 * Concurrency: an account, its holders and their claims belong to the thread of its loop; wake() alone comes from
 * any thread.
 */
#ifndef BASE_ACCOUNT_H
#define BASE_ACCOUNT_H

#include <stdint.h>

#include "base/budget.h"
#include "base/loop.h"

#define BUDGET_TURN_US       5000000u
#define BUDGET_TURN_AGAIN_US 60000000u
#define BUDGET_LOOK_US       100000u /* between two looks at whose turn is over, at least */

enum budget_claim_state {
	BUDGET_CLAIM_IDLE,    /* holds nothing, waits for nothing */
	BUDGET_CLAIM_WAITING, /* in its holder's queue; granted() will be called */
	BUDGET_CLAIM_HELD,    /* holds `bytes` */
};

struct budget_claim {
	TAILQ_ENTRY(budget_claim) entry;
	struct budget_holder *holder;
	size_t bytes;
	uint64_t since_us; /* when it began to wait */
	uint64_t turn_us;  /* when it began to wait for its turn, or last became late */
	enum budget_claim_state state;
	bool late, told;
	void (*granted)(void *arg); /* from a task, never from inside budget_claim() */
	void *arg;
};
TAILQ_HEAD(budget_claim_list, budget_claim);

/* A connection. */
struct budget_holder {
	TAILQ_ENTRY(budget_holder) entry; /* in its account's turns, while a claim waits */
	struct budget_account *account;
	struct budget_claim_list waiting;
	size_t used_bytes;
	bool urged;
	void *owner; /* the user's */
};
TAILQ_HEAD(budget_holder_list, budget_holder);

/* A service on one worker. */
struct budget_account {
	struct budget_borrower borrower;
	struct loop *loop;
	struct loop_task task;
	struct loop_timer *timer;
	uint64_t due_us; /* of the timer; 0: not set */
	struct budget_holder_list turns;
	size_t used_bytes, peak_bytes; /* by its claims, of what it has on loan */
	size_t waiting;                /* claims */
	bool keeps_turn; /* one of them waits for a loan, and new ones wait behind it */
	bool asked;      /* it may be among those that wait for a loan */
	/* A claim has become late for the first time. From a timer. */
	void (*late)(void *arg, const struct budget_claim *claim);
	void *late_arg;
};

/**
 * budget_account_init - an account without connections
 * @wake: with @wake_arg: have budget_account_woken() called in the loop's thread; called in any, holding a lock
 *
 * Returns 0 or -ENOMEM; budget_account_fini() is due either way.
 */
int budget_account_init(struct budget_account *account, struct budget_part *part, struct loop *loop,
			void (*wake)(void *arg), void *wake_arg) MUST_CHECK;
/** budget_account_fini - give back what is on loan; no holder may be left. Accepts one that is all zero. */
void budget_account_fini(struct budget_account *account);
/** budget_account_woken - after wake(), in the loop's thread. */
void budget_account_woken(struct budget_account *account);
/** budget_account_oldest_us - how long the claim that waits longest has waited; 0: none waits. */
uint64_t budget_account_oldest_us(const struct budget_account *account);

/** budget_holder_init - a connection that holds nothing; @owner is for who asks later. */
void budget_holder_init(struct budget_holder *holder, struct budget_account *account, void *owner);
/** budget_holder_fini - it may hold nothing and wait for nothing any more. Accepts one that is all zero. */
void budget_holder_fini(struct budget_holder *holder);
/** budget_holder_urge - have it go first in its service's turns, or no longer. */
void budget_holder_urge(struct budget_holder *holder, bool urged);
/** budget_holder_is_short - whether somebody of its service waits for memory here. */
static inline bool budget_holder_is_short(const struct budget_holder *holder)
{
	return holder->account->waiting > 0;
}

/** budget_holder_waits - whether a claim of its own waits. */
static inline bool budget_holder_waits(const struct budget_holder *holder)
{
	return !TAILQ_EMPTY(&holder->waiting);
}

/** budget_claim_init - prepare an idle claim; @granted and @arg serve when it has to wait. */
void budget_claim_init(struct budget_claim *claim, void (*granted)(void *arg), void *arg);

/**
 * budget_claim - ask for memory
 * @holder: whose it is
 * @claim:  an idle claim
 * @bytes:  how much; a claim up to budget_largest_claim_bytes() can wait long, but not for ever
 *
 * Returns true if the claim holds the bytes now; false if it waits and granted() will be called.
 */
bool budget_claim(struct budget_holder *holder, struct budget_claim *claim, size_t bytes);

/**
 * budget_grow - let a held claim hold @bytes, at least what it does, now or not at all
 *
 * Who holds some memory does not wait for more: two who did might wait for each other. Returns whether it does.
 */
bool budget_grow(struct budget_claim *claim, size_t bytes);
/** budget_shrink - give back all but @bytes of a held claim; never grows it. */
void budget_shrink(struct budget_claim *claim, size_t bytes);
/**
 * budget_claim_now - hold @bytes, now or not at all, where enough is left for others
 * @claim:      an idle claim, or a held one, which may hold less than that so far
 * @left_bytes: so much is free besides, or nothing is had
 *
 * For what may last until others have had memory: it never takes what those need. Returns whether it is held; if not,
 * the claim is as it was.
 */
bool budget_claim_now(struct budget_holder *holder, struct budget_claim *claim, size_t bytes,
		      size_t left_bytes) MUST_CHECK;
/** budget_claim_nothing - hold no bytes: for what is accounted for elsewhere. */
void budget_claim_nothing(struct budget_holder *holder, struct budget_claim *claim);
/** budget_release - hold nothing and wait for nothing; accepts an idle claim. */
void budget_release(struct budget_claim *claim);
/** budget_move - hand what @from holds to the idle claim @to; @from is idle afterwards. */
void budget_move(struct budget_claim *to, struct budget_claim *from);

#endif

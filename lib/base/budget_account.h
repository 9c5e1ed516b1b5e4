/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Admits RPCs of one service on one worker by memory.
 *
 * An RPC claims all the memory that it can need in one step: for its Call and its largest Reply.
 * The leg receives or reads the body of the Call only after the grant. So an admitted RPC can
 * always finish, and in a shortage peers wait instead of failing.
 *
 * The claims of one connection are granted in order. Connections take turns:
 *
 *  - A connection that holds nothing can hold one RPC of any size when its turn comes.
 *  - A connection that holds memory can hold at most as much as it then leaves for the other
 *    connections of its service. So a connection whose RPCs never end leaves memory for the others.
 *  - An urgent connection goes first: a reverse Call is outstanding, and its Reply may be queued
 *    after Calls that wait.
 *  - A claim whose turn has lasted BUDGET_TURN_US is late: it keeps waiting but no longer blocks
 *    others. It gets another turn every BUDGET_TURN_AGAIN_US, after the connections that have
 *    queued meanwhile.
 *
 * An account leases what its claims hold, and some headroom for the next ones (base/budget.h).
 *
 * Concurrency: an account, its holders and their claims belong to the thread of its loop. Any
 * thread can call wake().
 */
#ifndef BASE_BUDGET_ACCOUNT_H
#define BASE_BUDGET_ACCOUNT_H

#include <stdint.h>

#include "base/budget.h"
#include "base/loop.h"

#define BUDGET_TURN_US       5000000u
#define BUDGET_TURN_AGAIN_US 60000000u
#define BUDGET_SCAN_US       100000u /* minimum interval between scans for expired turns */

enum budget_claim_state {
	BUDGET_CLAIM_IDLE,    /* holds no bytes and does not wait */
	BUDGET_CLAIM_WAITING, /* queued at its holder; granted() will be called */
	BUDGET_CLAIM_GRANTED, /* holds `bytes` */
};

struct budget_claim {
	TAILQ_ENTRY(budget_claim) entry;
	struct budget_holder *holder;
	size_t bytes;
	uint64_t since_us;      /* start of the wait */
	uint64_t turn_start_us; /* start of its turn, or when it last became late */
	enum budget_claim_state state;
	bool late, reported;
	void (*granted)(void *arg); /* called from a task, never from inside budget_claim() */
	void *arg;
};
TAILQ_HEAD(budget_claim_list, budget_claim);

/* A connection. */
struct budget_holder {
	TAILQ_ENTRY(budget_holder) entry; /* in the account's turns while a claim waits */
	struct budget_account *account;
	struct budget_claim_list waiting;
	size_t used_bytes;
	bool urgent;
	void *owner; /* for the caller */
};
TAILQ_HEAD(budget_holder_list, budget_holder);

/* A service on one worker. */
struct budget_account {
	struct budget_lease lease;
	struct loop *loop;
	struct loop_task task;
	struct loop_timer *timer;
	uint64_t due_us; /* when the timer fires; 0: not set */
	struct budget_holder_list turns;
	size_t used_bytes, peak_bytes; /* held by its claims, out of its lease */
	size_t waiting;                /* number of waiting claims */
	bool turn_pending; /* the claim whose turn it is waits for a lease; new claims queue */
	bool lease_waits;  /* the account may be waiting for a lease */
	/* Called from a timer when a claim becomes late for the first time. */
	void (*late)(void *arg, const struct budget_claim *claim);
	void *late_arg;
};

/**
 * budget_account_init - Initializes an account without connections
 * @wake: called with @wake_arg in any thread while a lock is held; must arrange a call of
 *        budget_account_woken() in the loop's thread
 *
 * Returns 0 or -ENOMEM. Call budget_account_fini() in both cases.
 */
int budget_account_init(struct budget_account *account, struct budget_share *share,
			struct loop *loop, void (*wake)(void *arg), void *wake_arg) MUST_CHECK;
/**
 * budget_account_fini - Returns the lease to the budget. No holder may be left. Accepts an all-zero
 * account.
 */
void budget_account_fini(struct budget_account *account);
/** budget_account_woken - Collects a granted lease. Call it in the loop's thread after wake(). */
void budget_account_woken(struct budget_account *account);
/**
 * budget_account_oldest_us - Returns how long the oldest waiting claim has waited; 0 if none waits.
 */
uint64_t budget_account_oldest_us(const struct budget_account *account);

/** budget_holder_init - Initializes a connection that holds nothing. @owner is for the caller. */
void budget_holder_init(struct budget_holder *holder, struct budget_account *account, void *owner);
/**
 * budget_holder_fini - Detaches a holder that holds nothing and waits for nothing. Accepts an
 * all-zero holder.
 */
void budget_holder_fini(struct budget_holder *holder);
/** budget_holder_set_urgent - Sets whether the connection goes first in its service's turns. */
void budget_holder_set_urgent(struct budget_holder *holder, bool urgent);
/** budget_holder_is_contended - Returns whether any claim of its account waits for memory. */
static inline bool budget_holder_is_contended(const struct budget_holder *holder)
{
	return holder->account->waiting > 0;
}

/** budget_holder_waits - Returns whether one of its own claims waits. */
static inline bool budget_holder_waits(const struct budget_holder *holder)
{
	return !TAILQ_EMPTY(&holder->waiting);
}

/**
 * budget_claim_init - Initializes an idle claim. @granted is called with @arg if the claim had to
 * wait.
 */
void budget_claim_init(struct budget_claim *claim, void (*granted)(void *arg), void *arg);

/**
 * budget_claim - Claims memory
 * @holder: the connection
 * @claim:  an idle claim
 * @bytes:  size of the claim; up to budget_largest_claim_bytes() it can wait long, but not forever
 *
 * Returns true if the claim was granted immediately, or false if it waits and granted() will be
 * called.
 */
bool budget_claim(struct budget_holder *holder, struct budget_claim *claim, size_t bytes);

/**
 * budget_claim_grow - Enlarges a granted claim to @bytes, without waiting
 *
 * A claim that holds memory never waits for more: two such claims could wait for each other.
 * Returns true on success, or false if the memory is not available now.
 */
bool budget_claim_grow(struct budget_claim *claim, size_t bytes);
/** budget_claim_shrink - Releases all but @bytes of a granted claim; never enlarges it. */
void budget_claim_shrink(struct budget_claim *claim, size_t bytes);
/**
 * budget_claim_now - Claims @bytes without waiting, if enough is left for others
 * @claim:      an idle claim, or a granted claim of fewer bytes
 * @left_bytes: must remain free in addition, or the claim fails
 *
 * For RPCs on which others can depend, such as reverse Calls: they must not wait, and must not use
 * memory that the others need. Returns true on success; on failure the claim is unchanged.
 */
bool budget_claim_now(struct budget_holder *holder, struct budget_claim *claim, size_t bytes,
		      size_t left_bytes) MUST_CHECK;
/**
 * budget_claim_empty - Marks the claim as granted with 0 bytes: its memory is accounted for
 * elsewhere.
 */
void budget_claim_empty(struct budget_holder *holder, struct budget_claim *claim);
/** budget_claim_release - Releases a granted claim, or stops waiting. Accepts an idle claim. */
void budget_claim_release(struct budget_claim *claim);
/** budget_claim_move - Moves the bytes of @from to the idle claim @to. @from is idle afterwards. */
void budget_claim_move(struct budget_claim *to, struct budget_claim *from);

#endif

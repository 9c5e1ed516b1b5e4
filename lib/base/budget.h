/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Admission of memory, first come first served.
 *
 * An RPC claims, in one step, all the memory that it can come to need: its Call and its largest Reply.
 * Only then is its body received or pulled, so whatever has been admitted can finish without asking
 * again, and a full budget makes peers wait instead of failing. A claim that cannot be met waits in
 * order, and nobody passes it.
 *
 * Each worker has a budget of its own; a budget belongs to the thread of its loop.
 */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "base/loop.h"

enum budget_claim_state {
	BUDGET_CLAIM_IDLE,    /* holds nothing, waits for nothing */
	BUDGET_CLAIM_WAITING, /* in the queue; granted() will be called */
	BUDGET_CLAIM_HELD,    /* holds `bytes` */
};

struct budget_claim {
	TAILQ_ENTRY(budget_claim) entry;
	struct budget *budget;
	size_t bytes;
	enum budget_claim_state state;
	void (*granted)(void *arg); /* from a deferred task, never from inside budget_claim() */
	void *arg;
};
TAILQ_HEAD(budget_claim_list, budget_claim);

struct budget {
	struct loop *loop;
	size_t limit_bytes;
	size_t used_bytes;
	size_t peak_bytes;
	size_t waiting; /* claims in the queue */
	struct budget_claim_list queue;
	struct loop_task task;
};

/** budget_init - an empty budget of @limit_bytes whose grants run on @loop. */
void budget_init(struct budget *budget, struct loop *loop, size_t limit_bytes);
/** budget_fini - release what budget_init() took; no claim may be held or waiting. */
void budget_fini(struct budget *budget);

/** budget_claim_init - prepare an idle claim; @granted and @arg serve when it has to wait. */
void budget_claim_init(struct budget_claim *claim, void (*granted)(void *arg), void *arg);

/**
 * budget_claim - ask for memory
 * @budget: the budget
 * @claim:  an idle claim
 * @bytes:  how much; more than the whole limit is granted once nothing else is held, so that a claim
 *          can wait long but not for ever
 *
 * Returns true if the claim holds the bytes now; false if it waits and granted() will be called.
 */
bool budget_claim(struct budget *budget, struct budget_claim *claim, size_t bytes);

/** budget_shrink - give back all but @bytes of a held claim; never grows it. */
void budget_shrink(struct budget_claim *claim, size_t bytes);
/** budget_force - hold @bytes at once, past the limit if need be: for what is in memory already. */
void budget_force(struct budget *budget, struct budget_claim *claim, size_t bytes);
/** budget_release - hold nothing and wait for nothing; accepts an idle claim. */
void budget_release(struct budget_claim *claim);
/** budget_move - hand what @from holds to the idle claim @to; @from is idle afterwards. */
void budget_move(struct budget_claim *to, struct budget_claim *from);

#endif

// SPDX-License-Identifier: BSD-3-Clause
/* Admission of memory, first come first served. */
#include "base/budget.h"

#include <assert.h>

static bool fits(const struct budget *budget, size_t bytes)
{
	if (budget->used_bytes == 0)
		return true;
	return budget->used_bytes <= budget->limit_bytes &&
	       bytes <= budget->limit_bytes - budget->used_bytes;
}

static void hold(struct budget *budget, struct budget_claim *claim, size_t bytes)
{
	claim->budget = budget;
	claim->bytes = bytes;
	claim->state = BUDGET_CLAIM_HELD;
	budget->used_bytes += bytes;
	if (budget->used_bytes > budget->peak_bytes)
		budget->peak_bytes = budget->used_bytes;
}

/*
 * Grants from the head of the queue as long as the head fits. A granted() may claim, release or cancel other
 * claims: the queue is looked at afresh each time.
 */
static void grant_waiting(void *arg)
{
	struct budget *budget = arg;
	struct budget_claim *claim;

	while ((claim = TAILQ_FIRST(&budget->queue)) && fits(budget, claim->bytes)) {
		TAILQ_REMOVE(&budget->queue, claim, entry);
		budget->waiting--;
		hold(budget, claim, claim->bytes);
		claim->granted(claim->arg);
	}
}

void budget_init(struct budget *budget, struct loop *loop, size_t limit_bytes)
{
	*budget = (struct budget){.loop = loop, .limit_bytes = limit_bytes};
	TAILQ_INIT(&budget->queue);
	loop_task_init(&budget->task, grant_waiting, budget);
}

void budget_fini(struct budget *budget)
{
	assert(budget->used_bytes == 0 && TAILQ_EMPTY(&budget->queue));
	loop_task_cancel(budget->loop, &budget->task);
}

void budget_claim_init(struct budget_claim *claim, void (*granted)(void *arg), void *arg)
{
	*claim = (struct budget_claim){.granted = granted, .arg = arg};
}

bool budget_claim(struct budget *budget, struct budget_claim *claim, size_t bytes)
{
	assert(claim->state == BUDGET_CLAIM_IDLE);
	if (TAILQ_EMPTY(&budget->queue) && fits(budget, bytes)) {
		hold(budget, claim, bytes);
		return true;
	}
	claim->budget = budget;
	claim->bytes = bytes;
	claim->state = BUDGET_CLAIM_WAITING;
	TAILQ_INSERT_TAIL(&budget->queue, claim, entry);
	budget->waiting++;
	return false;
}

static void give_back(struct budget *budget, size_t bytes)
{
	budget->used_bytes -= bytes;
	if (!TAILQ_EMPTY(&budget->queue))
		loop_defer(budget->loop, &budget->task);
}

void budget_shrink(struct budget_claim *claim, size_t bytes)
{
	assert(claim->state == BUDGET_CLAIM_HELD);
	if (bytes >= claim->bytes)
		return;
	give_back(claim->budget, claim->bytes - bytes);
	claim->bytes = bytes;
}

void budget_force(struct budget *budget, struct budget_claim *claim, size_t bytes)
{
	assert(claim->state == BUDGET_CLAIM_IDLE);
	hold(budget, claim, bytes);
}

void budget_release(struct budget_claim *claim)
{
	struct budget *budget = claim->budget;

	switch (claim->state) {
	case BUDGET_CLAIM_IDLE:
		return;
	case BUDGET_CLAIM_WAITING:
		TAILQ_REMOVE(&budget->queue, claim, entry);
		budget->waiting--;
		/* The one behind it may fit. */
		if (!TAILQ_EMPTY(&budget->queue))
			loop_defer(budget->loop, &budget->task);
		break;
	case BUDGET_CLAIM_HELD:
		give_back(budget, claim->bytes);
		break;
	}
	claim->state = BUDGET_CLAIM_IDLE;
	claim->bytes = 0;
}

void budget_move(struct budget_claim *to, struct budget_claim *from)
{
	assert(to->state == BUDGET_CLAIM_IDLE && from->state == BUDGET_CLAIM_HELD);
	to->budget = from->budget;
	to->bytes = from->bytes;
	to->state = BUDGET_CLAIM_HELD;
	from->state = BUDGET_CLAIM_IDLE;
	from->bytes = 0;
}

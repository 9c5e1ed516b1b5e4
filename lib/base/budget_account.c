// SPDX-License-Identifier: BSD-3-Clause
#include "base/budget_account.h"

#include <assert.h>
#include <errno.h>

static size_t account_unused_bytes(const struct budget_account *account)
{
	return account->lease.leased_bytes - account->used_bytes;
}

/* ---- what a connection can hold ---- */

static bool holder_leaves_as_much(const struct budget_holder *holder, size_t bytes,
				  size_t available_bytes)
{
	return bytes <= available_bytes && holder->used_bytes + bytes <= available_bytes - bytes;
}

/*
 * Returns whether the connection leaves at least as much for the others of its service as it holds.
 * Tries the lease alone first, which does not read the shared budget.
 */
static bool holder_is_within_share(const struct budget_holder *holder, size_t bytes)
{
	const struct budget_account *account = holder->account;
	size_t available_bytes = account_unused_bytes(account);

	return holder->used_bytes == 0 || holder_leaves_as_much(holder, bytes, available_bytes) ||
	       holder_leaves_as_much(holder, bytes,
				     available_bytes +
					     budget_share_available_bytes(account->lease.share));
}

/* Ensures that @bytes of the lease are unused. Waits for all of them if @how allows waiting. */
static bool account_obtain(struct budget_account *account, size_t bytes, bool alone,
			   enum budget_wait how, bool first)
{
	size_t have = account_unused_bytes(account);

	if (bytes <= have ||
	    budget_lease_grow(&account->lease, bytes - have, alone, BUDGET_NO_WAIT, first))
		return true;
	if (how == BUDGET_NO_WAIT)
		return false;
	if (have)
		budget_lease_return(&account->lease, have);
	if (budget_lease_grow(&account->lease, bytes, alone, how, first))
		return true;
	account->lease_waits = true;
	return false;
}

static bool holder_obtain(const struct budget_holder *holder, size_t bytes, enum budget_wait how)
{
	return account_obtain(holder->account, bytes, holder->used_bytes == 0, how, holder->urgent);
}

static void claim_grant(struct budget_holder *holder, struct budget_claim *claim, size_t bytes)
{
	struct budget_account *account = holder->account;

	claim->holder = holder;
	claim->bytes = bytes;
	claim->state = BUDGET_CLAIM_GRANTED;
	holder->used_bytes += bytes;
	account->used_bytes += bytes;
	if (account->used_bytes > account->peak_bytes)
		account->peak_bytes = account->used_bytes;
}

/* ---- turns ---- */

static void holder_join_turns(struct budget_holder *holder)
{
	if (holder->urgent)
		TAILQ_INSERT_HEAD(&holder->account->turns, holder, entry);
	else
		TAILQ_INSERT_TAIL(&holder->account->turns, holder, entry);
}

static void holder_leave_turns(struct budget_holder *holder)
{
	TAILQ_REMOVE(&holder->account->turns, holder, entry);
}

/* Returns when the claim's turn ends or, if the claim is late, begins again. */
static uint64_t claim_turn_end_us(const struct budget_claim *claim)
{
	return claim->turn_start_us + (claim->late ? BUDGET_TURN_AGAIN_US : BUDGET_TURN_US);
}

static void account_set_timer(struct budget_account *account, uint64_t due_us)
{
	uint64_t now = loop_now_us(account->loop);

	if (account->due_us && account->due_us <= due_us)
		return;
	account->due_us = due_us;
	loop_timer_set(account->loop, account->timer, due_us > now ? due_us - now : 0);
}

/* Each scan goes through all turns, so turns that end at about the same time are ended together. */
static void account_set_turn_timer(struct budget_account *account)
{
	uint64_t due_us = UINT64_MAX, soon_us = loop_now_us(account->loop) + BUDGET_SCAN_US;
	const struct budget_holder *holder;

	TAILQ_FOREACH(holder, &account->turns, entry) {
		uint64_t ends_us = claim_turn_end_us(TAILQ_FIRST(&holder->waiting));

		if (ends_us < due_us)
			due_us = ends_us;
	}
	if (due_us < UINT64_MAX)
		account_set_timer(account, due_us > soon_us ? due_us : soon_us);
}

static void claim_begin_turn(struct budget_account *account, struct budget_claim *claim)
{
	claim->turn_start_us = loop_now_us(account->loop);
	account_set_timer(account, claim_turn_end_us(claim));
}

static void claim_dequeue(struct budget_claim *claim)
{
	struct budget_holder *holder = claim->holder;

	TAILQ_REMOVE(&holder->waiting, claim, entry);
	holder->account->waiting--;
	claim = TAILQ_FIRST(&holder->waiting);
	if (claim)
		claim_begin_turn(holder->account, claim);
	else
		holder_leave_turns(holder);
}

/*
 * Returns how much must be free for its service before the fairness rule allows the holder's first
 * claim.
 */
static size_t holder_share_bytes(const struct budget_holder *holder)
{
	return holder->used_bytes + 2 * TAILQ_FIRST(&holder->waiting)->bytes;
}

/* A scan of the holders whose claim is late, or refused by the fairness rule. */
struct budget_scan {
	struct budget_holder *least; /* needs the least … */
	size_t least_bytes;          /* … which is this much of the account's lease */
	size_t refused_bytes[2]; /* smallest size that was refused; [1]: to a holder of nothing */
};

static void scan_note_least(struct budget_scan *scan, struct budget_holder *holder, size_t bytes)
{
	if (scan->least && scan->least_bytes <= bytes)
		return;
	scan->least = holder;
	scan->least_bytes = bytes;
}

/*
 * Tries to grant a late claim. A size that was refused once is not tried again for the claims after
 * it.
 */
static bool scan_grant_late(struct budget_scan *scan, const struct budget_holder *holder,
			    size_t bytes)
{
	size_t *refused = &scan->refused_bytes[holder->used_bytes == 0];

	if (bytes >= *refused)
		return false;
	if (holder_obtain(holder, bytes, BUDGET_NO_WAIT))
		return true;
	*refused = bytes;
	return false;
}

/*
 * No claim has a turn. The account waits for the smallest lease that would help one, so that it
 * wakes up whenever one can be helped. For a holder that only the fairness rule refuses, the bytes
 * are leased for a moment.
 */
static struct budget_holder *account_wait_for_least(struct budget_account *account,
						    const struct budget_scan *scan)
{
	struct budget_holder *holder = scan->least;
	size_t bytes;
	bool alone;

	if (!holder)
		return NULL;
	bytes = TAILQ_FIRST(&holder->waiting)->bytes;
	alone = holder->used_bytes == 0 && scan->least_bytes == bytes;
	return account_obtain(account, scan->least_bytes, alone, BUDGET_WAIT_LATE, holder->urgent)
		       ? holder
		       : NULL;
}

/*
 * Returns the next holder whose first claim can be granted; its memory has been obtained. If there
 * is none, the account waits for the first claim whose turn it is, and NULL is returned.
 */
static struct budget_holder *account_next_holder(struct budget_account *account)
{
	struct budget_scan scan = {.refused_bytes = {SIZE_MAX, SIZE_MAX}};
	struct budget_holder *holder;

	account->turn_pending = false;
	TAILQ_FOREACH(holder, &account->turns, entry) {
		const struct budget_claim *claim = TAILQ_FIRST(&holder->waiting);

		if (!holder_is_within_share(holder, claim->bytes)) {
			scan_note_least(&scan, holder, holder_share_bytes(holder));
		} else if (claim->late) {
			if (scan_grant_late(&scan, holder, claim->bytes))
				return holder;
			scan_note_least(&scan, holder, claim->bytes);
		} else if (holder_obtain(holder, claim->bytes, BUDGET_WAIT_TURN)) {
			return holder;
		} else {
			account->turn_pending = true;
			return NULL;
		}
	}
	return account_wait_for_least(account, &scan);
}

/*
 * Gives unused bytes beyond the headroom back to the budget; all unused bytes while another account
 * waits. Up to twice the headroom is kept, so that a claim and its release do not lease and return
 * each time.
 */
static void account_return_surplus(struct budget_account *account)
{
	const struct budget *budget = account->lease.share->budget;
	size_t keep = budget_is_contended(budget) ? 0 : budget->headroom_bytes;
	size_t have = account_unused_bytes(account);

	if (have > 2 * keep)
		budget_lease_return(&account->lease, have - keep);
}

/*
 * Grants waiting claims in turn. A granted() callback can claim, release or cancel others, so each
 * round starts over.
 */
static void account_serve(struct budget_account *account)
{
	struct budget_holder *holder;

	while ((holder = account_next_holder(account))) {
		struct budget_claim *claim = TAILQ_FIRST(&holder->waiting);

		claim_dequeue(claim);
		claim_grant(holder, claim, claim->bytes);
		if (!TAILQ_EMPTY(&holder->waiting)) {
			holder_leave_turns(holder);
			holder_join_turns(holder);
		}
		claim->granted(claim->arg);
	}
	if (account->lease_waits && TAILQ_EMPTY(&account->turns)) {
		account->lease_waits = false;
		budget_lease_cancel(&account->lease);
		budget_lease_collect(&account->lease);
	}
	account_return_surplus(account);
}

/*
 * Claims were queued or released. While it is another account's turn, memory freed here goes to
 * that one.
 */
static void account_on_task(void *arg)
{
	struct budget_account *account = arg;

	account_return_surplus(account);
	if (account->lease_waits)
		budget_lease_collect(&account->lease);
	account_serve(account);
}

static void claim_end_turn(struct budget_account *account, struct budget_claim *claim, uint64_t now)
{
	claim->late = !claim->late;
	claim->turn_start_us = now;
	/* Its next turn comes after those of the holders that queued meanwhile. */
	if (!claim->late) {
		holder_leave_turns(claim->holder);
		holder_join_turns(claim->holder);
	}
	if (account->late && !claim->reported)
		account->late(account->late_arg, claim);
	claim->reported = true;
}

static void account_on_timer(void *arg)
{
	struct budget_account *account = arg;
	struct budget_holder *holder, *next;
	uint64_t now = loop_now_us(account->loop);

	account->due_us = 0;
	for (holder = TAILQ_FIRST(&account->turns); holder; holder = next) {
		struct budget_claim *claim = TAILQ_FIRST(&holder->waiting);

		next = TAILQ_NEXT(holder, entry);
		if (now >= claim_turn_end_us(claim))
			claim_end_turn(account, claim, now);
	}
	account_set_turn_timer(account);
	loop_defer(account->loop, &account->task);
}

/* ---- accounts and holders ---- */

int budget_account_init(struct budget_account *account, struct budget_share *share,
			struct loop *loop, void (*wake)(void *arg), void *wake_arg)
{
	*account = (struct budget_account){
		.lease = {.share = share, .wake = wake, .wake_arg = wake_arg},
		.loop = loop,
	};
	TAILQ_INIT(&account->turns);
	loop_task_init(&account->task, account_on_task, account);
	account->timer = loop_timer_new(loop, account_on_timer, account);
	return account->timer ? 0 : -ENOMEM;
}

void budget_account_fini(struct budget_account *account)
{
	if (!account->lease.share)
		return;
	assert(account->used_bytes == 0 && TAILQ_EMPTY(&account->turns));
	if (account->lease_waits)
		budget_lease_cancel(&account->lease);
	budget_lease_collect(&account->lease);
	if (account->lease.leased_bytes)
		budget_lease_return(&account->lease, account->lease.leased_bytes);
	loop_task_cancel(account->loop, &account->task);
	loop_timer_free(account->loop, account->timer);
	account->lease.share = NULL;
}

void budget_account_woken(struct budget_account *account)
{
	if (!account->lease.share)
		return;
	budget_lease_collect(&account->lease);
	account_serve(account);
}

uint64_t budget_account_oldest_us(const struct budget_account *account)
{
	uint64_t oldest = UINT64_MAX;
	const struct budget_holder *holder;

	TAILQ_FOREACH(holder, &account->turns, entry)
		if (TAILQ_FIRST(&holder->waiting)->since_us < oldest)
			oldest = TAILQ_FIRST(&holder->waiting)->since_us;
	return oldest < UINT64_MAX ? loop_now_us(account->loop) - oldest : 0;
}

void budget_holder_init(struct budget_holder *holder, struct budget_account *account, void *owner)
{
	*holder = (struct budget_holder){.account = account, .owner = owner};
	TAILQ_INIT(&holder->waiting);
}

void budget_holder_fini(struct budget_holder *holder)
{
	assert(!holder->account || (holder->used_bytes == 0 && TAILQ_EMPTY(&holder->waiting)));
	holder->account = NULL;
}

void budget_holder_set_urgent(struct budget_holder *holder, bool urgent)
{
	if (holder->urgent == urgent)
		return;
	holder->urgent = urgent;
	if (!urgent || TAILQ_EMPTY(&holder->waiting))
		return;
	holder_leave_turns(holder);
	holder_join_turns(holder);
	loop_defer(holder->account->loop, &holder->account->task);
}

/* ---- claims ---- */

void budget_claim_init(struct budget_claim *claim, void (*granted)(void *arg), void *arg)
{
	*claim = (struct budget_claim){.granted = granted, .arg = arg};
}

bool budget_claim(struct budget_holder *holder, struct budget_claim *claim, size_t bytes)
{
	struct budget_account *account = holder->account;

	assert(claim->state == BUDGET_CLAIM_IDLE);
	if (TAILQ_EMPTY(&holder->waiting) && (!account->turn_pending || holder->urgent) &&
	    holder_is_within_share(holder, bytes) && holder_obtain(holder, bytes, BUDGET_NO_WAIT)) {
		claim_grant(holder, claim, bytes);
		return true;
	}
	if (TAILQ_EMPTY(&holder->waiting))
		holder_join_turns(holder);
	claim->holder = holder;
	claim->bytes = bytes;
	claim->since_us = loop_now_us(account->loop);
	claim->late = claim->reported = false;
	claim_begin_turn(account, claim);
	claim->state = BUDGET_CLAIM_WAITING;
	TAILQ_INSERT_TAIL(&holder->waiting, claim, entry);
	account->waiting++;
	loop_defer(account->loop, &account->task);
	return false;
}

static void holder_release_bytes(struct budget_holder *holder, size_t bytes)
{
	struct budget_account *account = holder->account;

	holder->used_bytes -= bytes;
	account->used_bytes -= bytes;
	if (!TAILQ_EMPTY(&account->turns))
		loop_defer(account->loop, &account->task);
	else
		account_return_surplus(account);
}

bool budget_claim_grow(struct budget_claim *claim, size_t bytes)
{
	struct budget_holder *holder = claim->holder;
	size_t more = bytes - claim->bytes;

	assert(claim->state == BUDGET_CLAIM_GRANTED && bytes >= claim->bytes);
	if (holder->account->turn_pending || !holder_is_within_share(holder, more) ||
	    !holder_obtain(holder, more, BUDGET_NO_WAIT))
		return false;
	claim_grant(holder, claim, more);
	claim->bytes = bytes;
	return true;
}

void budget_claim_shrink(struct budget_claim *claim, size_t bytes)
{
	size_t more = claim->bytes - bytes;

	assert(claim->state == BUDGET_CLAIM_GRANTED);
	if (bytes >= claim->bytes)
		return;
	claim->bytes = bytes;
	holder_release_bytes(claim->holder, more);
}

void budget_claim_empty(struct budget_holder *holder, struct budget_claim *claim)
{
	assert(claim->state == BUDGET_CLAIM_IDLE);
	claim_grant(holder, claim, 0);
}

bool budget_claim_now(struct budget_holder *holder, struct budget_claim *claim, size_t bytes,
		      size_t left_bytes)
{
	const struct budget_account *account = holder->account;
	size_t available_bytes =
		budget_share_available_bytes(account->lease.share) + account_unused_bytes(account);
	bool was_idle = claim->state == BUDGET_CLAIM_IDLE;

	if (was_idle)
		budget_claim_empty(holder, claim);
	if (available_bytes >= left_bytes && bytes - claim->bytes <= available_bytes - left_bytes &&
	    budget_claim_grow(claim, bytes))
		return true;
	if (was_idle)
		budget_claim_release(claim);
	return false;
}

void budget_claim_release(struct budget_claim *claim)
{
	struct budget_holder *holder = claim->holder;
	enum budget_claim_state was = claim->state;
	size_t bytes = claim->bytes;

	if (was == BUDGET_CLAIM_IDLE)
		return;
	if (was == BUDGET_CLAIM_WAITING) {
		claim_dequeue(claim);
		/* The bytes that it waited for may now go to another claim. */
		loop_defer(holder->account->loop, &holder->account->task);
		bytes = 0;
	}
	claim->state = BUDGET_CLAIM_IDLE;
	claim->bytes = 0;
	holder_release_bytes(holder, bytes);
}

void budget_claim_move(struct budget_claim *to, struct budget_claim *from)
{
	assert(to->state == BUDGET_CLAIM_IDLE && from->state == BUDGET_CLAIM_GRANTED);
	to->holder = from->holder;
	to->bytes = from->bytes;
	to->state = BUDGET_CLAIM_GRANTED;
	from->state = BUDGET_CLAIM_IDLE;
	from->bytes = 0;
}

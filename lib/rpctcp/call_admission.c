// SPDX-License-Identifier: BSD-3-Clause
#include "rpctcp/call_admission.h"

#include "base/minmax.h"

static bool is_blocked(const struct tcp_leg *leg)
{
	return leg->admission.paused || leg->admission.full;
}

/* Blocks the stream if a Call waits and nothing that could follow it is needed. */
static void set_block(struct tcp_leg *leg)
{
	bool given = tcp_leg_call_is_delivered(leg);
	bool waits = is_blocked(leg) || leg->admission.parked ||
		     leg->admission.claim.state == BUDGET_CLAIM_WAITING;

	tcp_conn_block(&leg->conn, TCP_BLOCK_CALLS,
		       leg->conn.connector ? leg->admission.paused
					   : !given && (leg->admission.stuck ||
							(waits && !leg->admission.reverse)));
}

/* Something that Calls may have waited for has changed. */
static void call_admission_retry(struct tcp_leg *leg)
{
	leg->admission.stuck = false;
	set_block(leg);
	if (leg->admission.parked)
		tcp_conn_defer(&leg->conn);
}

static void call_admission_granted(void *arg)
{
	call_admission_retry(arg);
}

void call_admission_init(struct tcp_leg *leg)
{
	budget_claim_init(&leg->admission.claim, call_admission_granted, leg);
}

/*
 * Claims memory for the first waiting Call; a server's Call has its claim already. Returns whether
 * it is granted.
 */
static bool call_admission_claim(struct tcp_leg *leg, size_t bytes)
{
	struct budget_holder *holder = leg->conn.config.leg.holder;

	if (leg->admission.claim.state != BUDGET_CLAIM_IDLE)
		return leg->admission.claim.state == BUDGET_CLAIM_GRANTED;
	if (leg->conn.connector) {
		budget_claim_empty(holder, &leg->admission.claim);
		return true;
	}
	if (budget_claim(holder, &leg->admission.claim, bytes))
		return true;
	tcp_counters(&leg->conn)->budget_waits++;
	return false;
}

/* Returns the claim for a Call in a buffer of @call_bytes. */
static size_t cost_bytes(const struct tcp_leg *leg, size_t call_bytes, uint32_t reply_max_bytes,
			 const struct exchange *x)
{
	return exchange_cost_bytes(call_bytes, reply_max_bytes, &x->call_info,
				   &leg->conn.config.leg.reply_memory);
}

static size_t cost_now_bytes(const struct tcp_leg *leg, const struct exchange *x)
{
	return cost_bytes(leg, x->call.buf->size_bytes, x->reply_max_bytes, x);
}

/* Moves the claim to the Call, and releases what it does not need. */
void call_admission_deliver(struct tcp_leg *leg, struct exchange *x)
{
	const struct leg_config *config = &leg->conn.config.leg;

	if (!leg->admission.claim_is_exact)
		budget_claim_shrink(&leg->admission.claim, cost_now_bytes(leg, x));
	budget_claim_move(&x->claim, &leg->admission.claim);
	tcp_counters(&leg->conn)->calls_received++;
	if (!leg->conn.connector &&
	    leg->inflight.in.table.count - leg->admission.nparked >= TCP_CALLS_MAX) {
		leg->admission.full = true;
		set_block(leg);
	}
	config->events->call(config->arg, exchange_ref(x));
}

/* @x waits for memory, or for the other leg to accept more. */
static void wait_in_stage(const struct tcp_leg *leg, struct exchange *x)
{
	exchange_stage_enter(x,
			     leg->admission.claim.state == BUDGET_CLAIM_WAITING ? CALL_STAGE_MEMORY
										: CALL_STAGE_CREDIT,
			     loop_now_us(tcp_loop(&leg->conn)));
}

static void call_admission_park(struct tcp_leg *leg, struct exchange *x)
{
	wait_in_stage(leg, x);
	if (!leg->admission.parked)
		leg->admission.parked = x;
	leg->admission.nparked++;
	leg->admission.parked_bytes += x->call.buf->size_bytes;
	tcp_counters(&leg->conn)->calls_parked++;
	set_block(leg);
	tcp_conn_defer(&leg->conn);
}

/* Removes the first parked Call. Those after it in the list arrived later, and are parked too. */
static struct exchange *call_admission_unpark(struct tcp_leg *leg)
{
	struct exchange *x = leg->admission.parked;

	leg->admission.parked = TAILQ_NEXT(x, origin_entry);
	leg->admission.nparked--;
	leg->admission.parked_bytes -= x->call.buf->size_bytes;
	return x;
}

static bool may_be_parked(const struct tcp_leg *leg, uint32_t cap_bytes)
{
	return leg->admission.reverse &&
	       leg->admission.parked_bytes + rpc_msg_cost_bytes(cap_bytes) <= TCP_PARKED_MAX_BYTES;
}

/* Memory left to clients, so that their largest Call and Reply still find enough. */
static size_t left_bytes(const struct tcp_leg *leg)
{
	return 2 * rpc_msg_cost_bytes(leg->conn.config.leg.max_message_bytes);
}

static bool call_admission_claim_now(struct tcp_leg *leg, uint32_t cap_bytes)
{
	size_t bytes = cost_bytes(leg, rpc_msg_cost_bytes(cap_bytes), leg->call.reply_bound_bytes,
				  leg->call.x);

	return budget_claim_now(leg->conn.config.leg.holder, &leg->admission.claim, bytes,
				left_bytes(leg));
}

bool call_admission_reverse_call(struct tcp_leg *leg, uint32_t cap_bytes)
{
	bool is_short = cap_bytes <= REVERSE_FREE_BYTES;

	/* This Call was checked before, or the claim belongs to an earlier, parked Call. */
	if (leg->admission.parked || leg->admission.claim.state != BUDGET_CLAIM_IDLE)
		return true;
	if ((!is_short || leg->call.reply_bound_bytes > REVERSE_FREE_BYTES) &&
	    call_admission_claim_now(leg, cap_bytes))
		return true;
	if (!is_short)
		return false;
	leg->call.reply_bound_bytes = min_u32(leg->call.reply_bound_bytes, REVERSE_FREE_BYTES);
	budget_claim_empty(leg->conn.config.leg.holder, &leg->admission.claim);
	return true;
}

/* @x waits no longer; the rest of it can be received. */
static void call_admission_resume(const struct tcp_leg *leg, struct exchange *x)
{
	if (x->stage != CALL_STAGE_RECEIVE)
		exchange_stage_enter(x, CALL_STAGE_RECEIVE, loop_now_us(tcp_loop(&leg->conn)));
}

bool call_admission_begin(struct tcp_leg *leg, uint32_t cap_bytes)
{
	leg->admission.claim_is_exact =
		leg->record.parser.last && leg->call.x->call_info.stage == CALL_INFO_COMPLETE;
	if (!leg->admission.parked && !is_blocked(leg) &&
	    call_admission_claim(leg, cost_bytes(leg, rpc_msg_cost_bytes(cap_bytes),
						 leg->call.reply_bound_bytes, leg->call.x))) {
		call_admission_resume(leg, leg->call.x);
		return true;
	}
	if (may_be_parked(leg, cap_bytes)) {
		call_admission_resume(leg, leg->call.x);
		return true;
	}
	wait_in_stage(leg, leg->call.x);
	leg->admission.stuck = true;
	set_block(leg);
	return false;
}

bool call_admission_grow(struct tcp_leg *leg, uint32_t cap_bytes)
{
	/* A Call that will be parked has no claim. */
	if (leg->admission.parked || leg->admission.claim.state != BUDGET_CLAIM_GRANTED)
		return false;
	if (leg->conn.connector)
		return call_admission_claim_now(leg, cap_bytes);
	return budget_claim_grow(&leg->admission.claim,
				 cost_bytes(leg, rpc_msg_cost_bytes(cap_bytes),
					    leg->call.reply_bound_bytes, leg->call.x));
}

bool call_admission_permits(const struct tcp_leg *leg)
{
	return !leg->admission.parked && !is_blocked(leg) &&
	       leg->admission.claim.state == BUDGET_CLAIM_GRANTED;
}

void call_admission_partial_end(struct tcp_leg *leg)
{
	set_block(leg);
}

void call_admission_end(struct tcp_leg *leg, struct exchange *x)
{
	if (call_admission_permits(leg))
		call_admission_deliver(leg, x);
	else
		call_admission_park(leg, x);
}

void call_admission_run_parked(struct tcp_leg *leg)
{
	const struct exchange *first = leg->admission.parked;

	/* The receiver of a Call can pause or close the leg. */
	while (leg->admission.parked && tcp_conn_is_open(&leg->conn) && !is_blocked(leg) &&
	       call_admission_claim(leg, cost_now_bytes(leg, leg->admission.parked))) {
		/* The claim may be older than this information. */
		leg->admission.claim_is_exact = false;
		call_admission_deliver(leg, call_admission_unpark(leg));
	}
	if (leg->admission.parked == first)
		return;
	leg->admission.stuck = false;
	set_block(leg);
}

void call_admission_cancel(struct tcp_leg *leg)
{
	/* Otherwise the claim belongs to the first parked Call. */
	if (!leg->admission.parked)
		budget_claim_release(&leg->admission.claim);
}

void call_admission_drop(struct tcp_leg *leg)
{
	if (!leg->admission.parked)
		return;
	budget_claim_release(&leg->admission.claim);
	while (leg->admission.parked)
		inflight_in_end(&leg->inflight, call_admission_unpark(leg));
}

void call_admission_fini(struct tcp_leg *leg)
{
	call_admission_drop(leg);
	if (leg->admission.reverse)
		budget_holder_set_urgent(leg->conn.config.leg.holder, false);
	leg->admission.reverse = false;
}

void call_admission_pause(struct tcp_leg *leg, bool paused)
{
	leg->admission.paused = paused;
	call_admission_retry(leg);
}

void call_admission_answered(struct tcp_leg *leg)
{
	if (!leg->admission.full ||
	    leg->inflight.in.table.count - leg->admission.nparked >= TCP_CALLS_MAX)
		return;
	leg->admission.full = false;
	call_admission_retry(leg);
}

void call_admission_reverse_accepted(struct tcp_leg *leg)
{
	bool out = !TAILQ_EMPTY(&leg->inflight.out_list);

	if (out == leg->admission.reverse)
		return;
	leg->admission.reverse = out;
	budget_holder_set_urgent(leg->conn.config.leg.holder, out);
	call_admission_retry(leg);
}

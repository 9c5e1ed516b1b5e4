// SPDX-License-Identifier: BSD-3-Clause
/* When the Calls that a TCP leg takes in may be passed on, and what becomes of the others. */
#include "rpctcp/call_admission.h"

#include "base/least.h"

static bool is_held(const struct tcp_messages *msgs)
{
	return msgs->paused || msgs->full;
}

/* Whether the stream is left alone: a Call waits, and nothing that may stand behind it is due. */
static void set_block(struct tcp_messages *msgs)
{
	bool given = tcp_message_is_given(msgs);
	bool waits = is_held(msgs) || msgs->parked || msgs->claim.state == BUDGET_CLAIM_WAITING;

	tcp_conn_block(msgs->conn, TCP_BLOCK_CALLS,
		       msgs->conn->connector
			       ? msgs->paused
			       : !given && (msgs->stuck || (waits && !msgs->reverse)));
}

/* Something has changed that Calls may have waited for. */
static void try_again(struct tcp_messages *msgs)
{
	msgs->stuck = false;
	set_block(msgs);
	if (msgs->parked)
		tcp_conn_defer(msgs->conn);
}

static void granted(void *arg)
{
	try_again(arg);
}

void call_admission_init(struct tcp_messages *msgs)
{
	budget_claim_init(&msgs->claim, granted, msgs);
}

/* Claims for the first Call that waits, unless it is a server's, which has its claim; true once that is held. */
static bool claim(struct tcp_messages *msgs, size_t bytes)
{
	struct budget_holder *holder = msgs->conn->config.leg.holder;

	if (msgs->claim.state != BUDGET_CLAIM_IDLE)
		return msgs->claim.state == BUDGET_CLAIM_HELD;
	if (msgs->conn->connector) {
		budget_claim_nothing(holder, &msgs->claim);
		return true;
	}
	if (budget_claim(holder, &msgs->claim, bytes))
		return true;
	tcp_counters(msgs->conn)->budget_waits++;
	return false;
}

/* What a Call takes that is in a buffer of @call_bytes. */
static size_t cost_bytes(const struct tcp_messages *msgs, size_t call_bytes,
			 uint32_t reply_max_bytes, const struct exchange *x)
{
	return exchange_cost_bytes(call_bytes, reply_max_bytes, &x->facts,
				   &msgs->conn->config.leg.reply_room);
}

static size_t cost_now_bytes(const struct tcp_messages *msgs, const struct exchange *x)
{
	return cost_bytes(msgs, x->call.buf->size_bytes, x->reply_max_bytes, x);
}

/* The Call whose claim is held gets that; what it does not need goes back. */
static void pass_on(struct tcp_messages *msgs, struct exchange *x)
{
	const struct leg_config *config = &msgs->conn->config.leg;

	if (!msgs->claim_is_exact)
		budget_shrink(&msgs->claim, cost_now_bytes(msgs, x));
	budget_move(&x->claim, &msgs->claim);
	tcp_counters(msgs->conn)->calls_received++;
	if (!msgs->conn->connector &&
	    msgs->flight->in.table.count - msgs->nparked >= TCP_CALLS_MAX) {
		msgs->full = true;
		set_block(msgs);
	}
	config->events->call(config->arg, exchange_ref(x));
}

/* What @x waits for here: memory, or that the other end takes more. */
static void wait_in_stage(const struct tcp_messages *msgs, struct exchange *x)
{
	exchange_enter(x,
		       msgs->claim.state == BUDGET_CLAIM_WAITING ? CALL_STAGE_MEMORY
								 : CALL_STAGE_CREDIT,
		       loop_now_us(tcp_loop(msgs->conn)));
}

static void park(struct tcp_messages *msgs, struct exchange *x)
{
	wait_in_stage(msgs, x);
	if (!msgs->parked)
		msgs->parked = x;
	msgs->nparked++;
	msgs->parked_bytes += x->call.buf->size_bytes;
	tcp_counters(msgs->conn)->calls_parked++;
	set_block(msgs);
	tcp_conn_defer(msgs->conn);
}

/* The first that is parked is so no more. Those behind it in the list came later, and are parked too. */
static struct exchange *unpark(struct tcp_messages *msgs)
{
	struct exchange *x = msgs->parked;

	msgs->parked = TAILQ_NEXT(x, origin_entry);
	msgs->nparked--;
	msgs->parked_bytes -= x->call.buf->size_bytes;
	return x;
}

static bool may_be_parked(const struct tcp_messages *msgs, uint32_t cap_bytes)
{
	return msgs->reverse &&
	       msgs->parked_bytes + rpc_msg_cost_bytes(cap_bytes) <= TCP_PARKED_MAX_BYTES;
}

/* Left to clients, whose largest Call and Reply must not find too little for a server's. */
static size_t left_bytes(const struct tcp_messages *msgs)
{
	return 2 * rpc_msg_cost_bytes(msgs->conn->config.leg.max_message_bytes);
}

static bool claim_now(struct tcp_messages *msgs, uint32_t cap_bytes)
{
	size_t bytes =
		cost_bytes(msgs, rpc_msg_cost_bytes(cap_bytes), msgs->ceiling_bytes, msgs->call);

	return budget_claim_now(msgs->conn->config.leg.holder, &msgs->claim, bytes,
				left_bytes(msgs));
}

bool call_admission_reverse_call(struct tcp_messages *msgs, uint32_t cap_bytes)
{
	bool is_short = cap_bytes <= REVERSE_FREE_BYTES;

	/* It has come here before, or the claim is that of the one before it, which is parked. */
	if (msgs->parked || msgs->claim.state != BUDGET_CLAIM_IDLE)
		return true;
	if ((!is_short || msgs->ceiling_bytes > REVERSE_FREE_BYTES) && claim_now(msgs, cap_bytes))
		return true;
	if (!is_short)
		return false;
	msgs->ceiling_bytes = least(msgs->ceiling_bytes, REVERSE_FREE_BYTES);
	budget_claim_nothing(msgs->conn->config.leg.holder, &msgs->claim);
	return true;
}

/* @x waits no longer, and the rest of it may come. */
static void come_again(const struct tcp_messages *msgs, struct exchange *x)
{
	if (x->stage != CALL_STAGE_RECEIVE)
		exchange_enter(x, CALL_STAGE_RECEIVE, loop_now_us(tcp_loop(msgs->conn)));
}

bool call_admission_begin(struct tcp_messages *msgs, uint32_t cap_bytes)
{
	msgs->claim_is_exact = msgs->in->parser.last && msgs->call->facts.stage == FACTS_WHOLE;
	if (!msgs->parked && !is_held(msgs) &&
	    claim(msgs, cost_bytes(msgs, rpc_msg_cost_bytes(cap_bytes), msgs->ceiling_bytes,
				   msgs->call))) {
		come_again(msgs, msgs->call);
		return true;
	}
	if (may_be_parked(msgs, cap_bytes)) {
		come_again(msgs, msgs->call);
		return true;
	}
	wait_in_stage(msgs, msgs->call);
	msgs->stuck = true;
	set_block(msgs);
	return false;
}

bool call_admission_grow(struct tcp_messages *msgs, uint32_t cap_bytes)
{
	/* One that is to be parked has no claim. */
	if (msgs->parked || msgs->claim.state != BUDGET_CLAIM_HELD)
		return false;
	if (msgs->conn->connector)
		return claim_now(msgs, cap_bytes);
	return budget_grow(&msgs->claim, cost_bytes(msgs, rpc_msg_cost_bytes(cap_bytes),
						    msgs->ceiling_bytes, msgs->call));
}

bool call_admission_passes(const struct tcp_messages *msgs)
{
	return !msgs->parked && !is_held(msgs) && msgs->claim.state == BUDGET_CLAIM_HELD;
}

void call_admission_part(struct tcp_messages *msgs, struct exchange *x)
{
	pass_on(msgs, x);
}

void call_admission_part_end(struct tcp_messages *msgs)
{
	set_block(msgs);
}

void call_admission_end(struct tcp_messages *msgs, struct exchange *x)
{
	if (call_admission_passes(msgs))
		pass_on(msgs, x);
	else
		park(msgs, x);
}

void call_admission_go_on(struct tcp_messages *msgs)
{
	const struct exchange *first = msgs->parked;

	/* Whoever gets one may pause or close the leg. */
	while (msgs->parked && tcp_conn_is_open(msgs->conn) && !is_held(msgs) &&
	       claim(msgs, cost_now_bytes(msgs, msgs->parked))) {
		/* It may have been made when less was known. */
		msgs->claim_is_exact = false;
		pass_on(msgs, unpark(msgs));
	}
	if (msgs->parked == first)
		return;
	msgs->stuck = false;
	set_block(msgs);
}

void call_admission_drop(struct tcp_messages *msgs)
{
	if (!msgs->parked)
		return;
	budget_release(&msgs->claim);
	while (msgs->parked)
		inflight_in_end(msgs->flight, unpark(msgs));
}

void call_admission_fini(struct tcp_messages *msgs)
{
	call_admission_drop(msgs);
	if (msgs->reverse)
		budget_holder_urge(msgs->conn->config.leg.holder, false);
	msgs->reverse = false;
}

void call_admission_pause(struct tcp_messages *msgs, bool paused)
{
	msgs->paused = paused;
	try_again(msgs);
}

void call_admission_answered(struct tcp_messages *msgs)
{
	if (!msgs->full || msgs->flight->in.table.count - msgs->nparked >= TCP_CALLS_MAX)
		return;
	msgs->full = false;
	try_again(msgs);
}

void call_admission_reverse_accepted(struct tcp_messages *msgs)
{
	bool out = !TAILQ_EMPTY(&msgs->flight->out_list);

	if (out == msgs->reverse)
		return;
	msgs->reverse = out;
	budget_holder_urge(msgs->conn->config.leg.holder, out);
	try_again(msgs);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Calls to the TCP leg: the look at each, its claim, and what is answered here. */
#include "rpctcp/call.h"

#include "nfs/nfs.h"
#include "rpc/call_verdict.h"

/* What a Call gets that does not pass. A stream that holds what is no Call cannot be trusted any more. */
static const struct call_rule rules[CALL_VERDICT_COUNT] = {
	[CALL_AUTH_TLS] =
		CALL_RULE(REPLY, tcp_leg_counters, auth_tls_refused, "AUTH_TLS was refused"),
	[CALL_BAD_AUTH] = CALL_RULE(REPLY, tcp_leg_counters, bad_auth_refused, NULL),
	[CALL_RPC_MISMATCH] = CALL_RULE(REPLY, tcp_leg_counters, rpc_mismatches, NULL),
	[CALL_CUT] = CALL_RULE(CLOSE, tcp_leg_counters, bad_calls, NULL),
	[CALL_IS_REPLY] = CALL_RULE(CLOSE, tcp_leg_counters, bad_calls, NULL),
	[CALL_NOT_RPC] = CALL_RULE(CLOSE, tcp_leg_counters, bad_calls, NULL),
};

static void answer_reverse_refused(struct tcp_messages *msgs, uint32_t xid)
{
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	tcp_counters(msgs->conn)->reverse_refused++;
	tcp_conn_note(msgs->conn, TCP_NOTE_REVERSE,
		      "a reverse Call past its limits was answered SYSTEM_ERR");
	tcp_message_answer(msgs, reply, rpc_encode_accepted(reply, xid, RPC_SYSTEM_ERR));
}

/* Answers a Call that does not pass, or closes. */
static void refuse(struct tcp_messages *msgs, enum call_verdict verdict, uint32_t xid)
{
	const struct call_rule *rule = &rules[verdict];
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	call_rule_count(rule, tcp_counters(msgs->conn));
	if (rule->note)
		tcp_conn_note(msgs->conn, TCP_NOTE_CALL, rule->note);
	if (rule->answer == CALL_ANSWER_REPLY)
		tcp_message_answer(msgs, reply, call_verdict_encode(reply, verdict, xid));
	else
		tcp_conn_fail(msgs->conn, LEG_CLOSE_NOT_RPC, "%s", call_verdict_text(verdict));
}

static uint32_t reply_limit(const struct tcp_messages *msgs)
{
	uint32_t limit = msgs->conn->config.leg.max_message_bytes;

	return msgs->conn->connector && limit > TCP_REVERSE_MAX_BYTES ? TCP_REVERSE_MAX_BYTES
								      : limit;
}

/* One look at a Call that is here from end to end. Returns whether it passes; else it has been answered. */
static bool look(struct tcp_messages *msgs, const uint8_t *msg, uint32_t len_bytes)
{
	const struct leg_config *config = &msgs->conn->config.leg;
	struct rpc_call_hdr hdr = {0};
	enum call_verdict verdict = call_judge(msg, len_bytes, len_bytes, NULL, &hdr);

	if (verdict != CALL_PASSES) {
		refuse(msgs, verdict, hdr.xid);
		return false;
	}
	msgs->call = exchange_new(config->spares);
	if (!msgs->call) {
		tcp_conn_fail(msgs->conn, LEG_CLOSE_RESOURCES, "no memory for a Call");
		return false;
	}
	msgs->call->facts.hdr = hdr;
	nfs_facts_whole(&msgs->call->facts, reply_limit(msgs), config->sessions, msg, len_bytes);
	msgs->call->reply_max_bytes = msgs->call->facts.ceiling_bytes;
	return true;
}

/* Claims what the Call and its Reply can come to need, of a server nothing; true once that is held. */
static bool claim(struct tcp_messages *msgs, uint32_t call_bytes, uint32_t ceiling_bytes)
{
	struct budget_claim *claim = &msgs->claim;
	size_t bytes = rpc_msg_cost_bytes(call_bytes) + rpc_msg_cost_bytes(ceiling_bytes);

	if (claim->state == BUDGET_CLAIM_HELD)
		return true;
	if (msgs->conn->connector) {
		budget_claim_nothing(msgs->conn->config.leg.holder, claim);
		return true;
	}
	if (budget_claim(msgs->conn->config.leg.holder, claim, bytes))
		return true;
	tcp_counters(msgs->conn)->budget_waits++;
	tcp_conn_block(msgs->conn, TCP_BLOCK_BUDGET, true);
	return false;
}

static bool reverse_refused(const struct tcp_messages *msgs, uint32_t len_bytes)
{
	return msgs->conn->connector && (msgs->flight->in.count >= TCP_REVERSE_CALLS_MAX ||
					 len_bytes > TCP_REVERSE_MAX_BYTES);
}

/* Whether a Call of @len_bytes may be taken in, its XID being @xid; else it has been dealt with. */
static bool is_wanted(struct tcp_messages *msgs, uint32_t len_bytes, uint32_t xid)
{
	struct exchange *repeated = xid_table_find(&msgs->flight->in, xid);

	if (repeated)
		tcp_input_compare(msgs->in, repeated);
	else if (reverse_refused(msgs, len_bytes))
		answer_reverse_refused(msgs, xid);
	else
		return true;
	return false;
}

/*
 * A Call that is here from end to end: what it needs is known exactly before it takes any memory. Once looked at,
 * it may have to wait for that, and comes here again.
 */
void tcp_call_begin_whole(struct tcp_messages *msgs, const uint8_t *msg, uint32_t len_bytes,
			  uint32_t xid)
{
	if (!msgs->call) {
		if (!look(msgs, msg, len_bytes))
			return;
		if (!is_wanted(msgs, len_bytes, xid)) {
			exchange_put(msgs->call);
			msgs->call = NULL;
			return;
		}
	}
	if (claim(msgs, len_bytes, msgs->call->reply_max_bytes))
		tcp_message_body(msgs, RPC_CALL, len_bytes);
}

/* A Call of which only the head is here: it may need the most that its length, if known, leaves open. */
void tcp_call_begin(struct tcp_messages *msgs, uint32_t xid)
{
	const struct record_parser *parser = &msgs->in->parser;
	uint32_t cap = parser->last ? parser->record_bytes : reply_limit(msgs);

	if (is_wanted(msgs, parser->record_bytes, xid) && claim(msgs, cap, reply_limit(msgs)))
		tcp_message_body(msgs, RPC_CALL, cap);
}

void tcp_call_overflow(struct tcp_messages *msgs, uint32_t xid)
{
	answer_reverse_refused(msgs, xid);
}

/* A Call that was received in place is looked at only now. The rest of its claim goes back. */
static bool look_late(struct tcp_messages *msgs)
{
	const struct rpc_msg *msg = &msgs->in->msg;

	if (!look(msgs, msg->data, msg->len_bytes))
		return false;
	budget_shrink(&msgs->claim,
		      msg->buf->size_bytes + rpc_msg_cost_bytes(msgs->call->reply_max_bytes));
	return true;
}

/* The Call is complete: the exchange takes message and claim, and goes to the owner. */
void tcp_call_end(struct tcp_messages *msgs)
{
	const struct leg_config *config = &msgs->conn->config.leg;
	struct exchange *x;

	if (!msgs->call && !look_late(msgs))
		return;
	x = msgs->call;
	msgs->call = NULL;
	if (tcp_flight_in_add(msgs->flight, x)) {
		exchange_put(x);
		tcp_conn_fail(msgs->conn, LEG_CLOSE_RESOURCES, "no memory for a Call");
		return;
	}
	x->call = msgs->in->msg;
	msgs->in->msg = (struct rpc_msg){0};
	budget_move(&x->claim, &msgs->claim);
	x->start_us = loop_now_us(config->loop);
	tcp_counters(msgs->conn)->calls_received++;
	config->events->call(config->arg, exchange_ref(x));
}

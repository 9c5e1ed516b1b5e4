// SPDX-License-Identifier: BSD-3-Clause
/* The TCP leg's messages: what each record is, what memory it may have, and who gets it. */
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

static void let_go(struct tcp_calls *calls)
{
	budget_release(&calls->claim);
	exchange_put(calls->call);
	exchange_put(calls->x);
	calls->call = calls->x = NULL;
}

/* The rest of the record is thrown away, and what was held for it is given back. */
static void skip(struct tcp_calls *calls)
{
	let_go(calls);
	tcp_input_skip(calls->in);
}

/* A Reply of our own to the record that is being read. */
static void answer(struct tcp_calls *calls, const uint8_t *reply, size_t len_bytes)
{
	skip(calls);
	if (tcp_output_answer(calls->out, reply, (uint32_t)len_bytes))
		tcp_conn_fail(calls->conn, LEG_CLOSE_RESOURCES, "no memory for an answer");
}

static void answer_reverse_refused(struct tcp_calls *calls, uint32_t xid)
{
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	tcp_counters(calls->conn)->reverse_refused++;
	tcp_conn_note(calls->conn, TCP_NOTE_REVERSE,
		      "a reverse Call past its limits was answered SYSTEM_ERR");
	answer(calls, reply, rpc_encode_accepted(reply, xid, RPC_SYSTEM_ERR));
}

/* Answers a Call that does not pass, or closes. */
static void refuse(struct tcp_calls *calls, enum call_verdict verdict, uint32_t xid)
{
	const struct call_rule *rule = &rules[verdict];
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	call_rule_count(rule, tcp_counters(calls->conn));
	if (rule->note)
		tcp_conn_note(calls->conn, TCP_NOTE_CALL, rule->note);
	if (rule->answer == CALL_ANSWER_REPLY)
		answer(calls, reply, call_verdict_encode(reply, verdict, xid));
	else
		tcp_conn_fail(calls->conn, LEG_CLOSE_NOT_RPC, "%s", call_verdict_text(verdict));
}

static uint32_t reply_limit(const struct tcp_calls *calls)
{
	uint32_t limit = calls->conn->config.leg.max_message_bytes;

	return calls->conn->connector && limit > TCP_REVERSE_MAX_BYTES ? TCP_REVERSE_MAX_BYTES
								       : limit;
}

/* One look at a Call that is here from end to end. Returns whether it passes; else it has been answered. */
static bool look(struct tcp_calls *calls, const uint8_t *msg, uint32_t len_bytes)
{
	const struct leg_config *config = &calls->conn->config.leg;
	struct rpc_call_hdr hdr = {0};
	enum call_verdict verdict = call_judge(msg, len_bytes, len_bytes, NULL, &hdr);

	if (verdict != CALL_PASSES) {
		refuse(calls, verdict, hdr.xid);
		return false;
	}
	calls->call = exchange_new(config->spares);
	if (!calls->call) {
		tcp_conn_fail(calls->conn, LEG_CLOSE_RESOURCES, "no memory for a Call");
		return false;
	}
	calls->call->facts.hdr = hdr;
	nfs_facts_whole(&calls->call->facts, reply_limit(calls), config->sessions, msg, len_bytes);
	calls->call->reply_max_bytes = calls->call->facts.ceiling_bytes;
	return true;
}

/* Claims what the Call and its Reply can come to need, of a server nothing; true once that is held. */
static bool claim(struct tcp_calls *calls, uint32_t call_bytes, uint32_t ceiling_bytes)
{
	struct budget_claim *claim = &calls->claim;
	size_t bytes = rpc_msg_cost_bytes(call_bytes) + rpc_msg_cost_bytes(ceiling_bytes);

	if (claim->state == BUDGET_CLAIM_HELD)
		return true;
	if (calls->conn->connector) {
		budget_force(calls->conn->config.leg.budget, claim, 0);
		return true;
	}
	if (budget_claim(calls->conn->config.leg.budget, claim, bytes))
		return true;
	tcp_counters(calls->conn)->budget_waits++;
	tcp_conn_block(calls->conn, TCP_BLOCK_BUDGET, true);
	return false;
}

/* The message has been admitted: its memory is there, or the leg fails. */
static void begin_body(struct tcp_calls *calls, enum rpc_msg_type type, uint32_t cap_bytes)
{
	calls->type = type;
	if (tcp_input_body(calls->in, cap_bytes))
		tcp_conn_fail(calls->conn, LEG_CLOSE_RESOURCES, "no memory for %u bytes",
			      cap_bytes);
}

static bool reverse_refused(const struct tcp_calls *calls, uint32_t len_bytes)
{
	return calls->conn->connector && (calls->flight->in.count >= TCP_REVERSE_CALLS_MAX ||
					  len_bytes > TCP_REVERSE_MAX_BYTES);
}

/* Whether a Call of @len_bytes may be taken in, its XID being @xid; else it has been dealt with. */
static bool is_wanted(struct tcp_calls *calls, uint32_t len_bytes, uint32_t xid)
{
	struct exchange *repeated = xid_table_find(&calls->flight->in, xid);

	if (repeated)
		tcp_input_compare(calls->in, repeated);
	else if (reverse_refused(calls, len_bytes))
		answer_reverse_refused(calls, xid);
	else
		return true;
	return false;
}

/*
 * A Call that is here from end to end: what it needs is known exactly before it takes any memory. Once looked at,
 * it may have to wait for that, and comes here again.
 */
static void begin_call_whole(struct tcp_calls *calls, const uint8_t *msg, uint32_t len_bytes,
			     uint32_t xid)
{
	if (!calls->call) {
		if (!look(calls, msg, len_bytes))
			return;
		if (!is_wanted(calls, len_bytes, xid)) {
			exchange_put(calls->call);
			calls->call = NULL;
			return;
		}
	}
	if (claim(calls, len_bytes, calls->call->reply_max_bytes))
		begin_body(calls, RPC_CALL, len_bytes);
}

/* A Call of which only the head is here: it may need the most that its length, if known, leaves open. */
static void begin_call(struct tcp_calls *calls, uint32_t xid)
{
	const struct record_parser *parser = &calls->in->parser;
	uint32_t cap = parser->last ? parser->record_bytes : reply_limit(calls);

	if (is_wanted(calls, parser->record_bytes, xid) && claim(calls, cap, reply_limit(calls)))
		begin_body(calls, RPC_CALL, cap);
}

/* Takes @x from the Calls to the peer and hands our reference to the owner. */
static void give_reply(struct tcp_calls *calls, struct exchange *x)
{
	const struct leg_config *config = &calls->conn->config.leg;

	tcp_flight_out_take(calls->flight, x);
	config->events->reply(config->arg, x);
}

static void give_fault(struct tcp_calls *calls, struct exchange *x, enum exchange_fault fault)
{
	if (fault == EXCHANGE_FAULT_TOO_BIG) {
		tcp_counters(calls->conn)->replies_too_big++;
		tcp_conn_note(calls->conn, TCP_NOTE_TOO_BIG,
			      "a Reply was larger than its Call allows and was thrown away");
	} else {
		tcp_conn_note(calls->conn, TCP_NOTE_BAD_REPLY, "a Reply did not decode");
	}
	x->fault = fault;
	give_reply(calls, x);
}

/* A Reply, whose memory its Call has claimed. */
static void begin_reply(struct tcp_calls *calls, uint32_t xid)
{
	const struct record_parser *parser = &calls->in->parser;
	struct exchange *x = xid_table_find(&calls->flight->out, xid);

	if (!x) {
		tcp_counters(calls->conn)->unmatched_replies++;
		tcp_conn_note(calls->conn, TCP_NOTE_UNMATCHED,
			      "a Reply without a Call was thrown away");
		skip(calls);
		return;
	}
	if (parser->record_bytes > x->reply_max_bytes) {
		skip(calls);
		give_fault(calls, x, EXCHANGE_FAULT_TOO_BIG);
		return;
	}
	calls->x = exchange_ref(x);
	begin_body(calls, RPC_REPLY, parser->last ? parser->record_bytes : x->reply_max_bytes);
}

static void begin(struct tcp_calls *calls, const uint8_t *msg, uint32_t len_bytes, bool whole)
{
	enum rpc_msg_type type;
	uint32_t xid;
	enum rpc_verdict verdict = rpc_msg_peek(msg, len_bytes, &xid, &type);

	if (verdict != RPC_OK)
		tcp_conn_fail(calls->conn, LEG_CLOSE_NOT_RPC, "a message that is %s",
			      rpc_verdict_name(verdict));
	else if (type == RPC_REPLY)
		begin_reply(calls, xid);
	else if (calls->conn->state.now == TCP_DRAINING)
		skip(calls);
	else if (whole)
		begin_call_whole(calls, msg, len_bytes, xid);
	else
		begin_call(calls, xid);
}

static void on_begin_whole(void *arg, const uint8_t *msg, uint32_t len_bytes)
{
	begin(arg, msg, len_bytes, true);
}

static void on_begin(void *arg)
{
	struct tcp_calls *calls = arg;

	begin(calls, calls->in->head, calls->in->head_bytes, false);
}

static void on_overflow(void *arg)
{
	struct tcp_calls *calls = arg;
	struct exchange *x = calls->x;
	uint32_t xid;
	enum rpc_msg_type type;

	/* The head decoded when the record began. */
	if (rpc_msg_peek(calls->in->head, calls->in->head_bytes, &xid, &type) != RPC_OK)
		return;
	if (type == RPC_CALL) {
		answer_reverse_refused(calls, xid);
		return;
	}
	/* It is among the Calls in flight too. */
	skip(calls);
	give_fault(calls, x, EXCHANGE_FAULT_TOO_BIG);
}

/* A Call that was received in place is looked at only now. The rest of its claim goes back. */
static bool look_late(struct tcp_calls *calls)
{
	const struct rpc_msg *msg = &calls->in->msg;

	if (!look(calls, msg->data, msg->len_bytes))
		return false;
	budget_shrink(&calls->claim,
		      msg->buf->size_bytes + rpc_msg_cost_bytes(calls->call->reply_max_bytes));
	return true;
}

/* The Call is complete: the exchange takes message and claim, and goes to the owner. */
static void end_call(struct tcp_calls *calls)
{
	const struct leg_config *config = &calls->conn->config.leg;
	struct exchange *x;

	if (!calls->call && !look_late(calls))
		return;
	x = calls->call;
	calls->call = NULL;
	if (tcp_flight_in_add(calls->flight, x)) {
		exchange_put(x);
		tcp_conn_fail(calls->conn, LEG_CLOSE_RESOURCES, "no memory for a Call");
		return;
	}
	x->call = calls->in->msg;
	calls->in->msg = (struct rpc_msg){0};
	budget_move(&x->claim, &calls->claim);
	x->start_us = loop_now_us(config->loop);
	tcp_counters(calls->conn)->calls_received++;
	config->events->call(config->arg, exchange_ref(x));
}

static void end_reply(struct tcp_calls *calls)
{
	struct tcp_input *in = calls->in;
	struct exchange *x = calls->x;
	struct rpc_reply_hdr hdr;

	calls->x = NULL;
	if (rpc_reply_decode(in->msg.data, in->msg.len_bytes, &hdr) == RPC_OK) {
		x->reply = in->msg;
		in->msg = (struct rpc_msg){0};
		tcp_counters(calls->conn)->replies_received++;
		give_reply(calls, x);
	} else {
		rpc_msg_put(&in->msg);
		give_fault(calls, x, EXCHANGE_FAULT_BAD_REPLY);
	}
	exchange_put(x);
}

static void on_end(void *arg)
{
	struct tcp_calls *calls = arg;

	if (calls->type == RPC_REPLY)
		end_reply(calls);
	else
		end_call(calls);
}

const struct tcp_input_events tcp_calls_events = {
	.begin_whole = on_begin_whole,
	.begin = on_begin,
	.overflow = on_overflow,
	.end = on_end,
};

static void granted(void *arg)
{
	tcp_conn_block(arg, TCP_BLOCK_BUDGET, false);
}

void tcp_calls_init(struct tcp_calls *calls, struct tcp_conn *conn, struct tcp_flight *flight,
		    struct tcp_output *out, struct tcp_input *in)
{
	*calls = (struct tcp_calls){.conn = conn, .flight = flight, .out = out, .in = in};
	budget_claim_init(&calls->claim, granted, conn);
}

void tcp_calls_fini(struct tcp_calls *calls)
{
	let_go(calls);
}

void tcp_calls_drain(struct tcp_calls *calls)
{
	if (calls->in->mode == TCP_INPUT_HEAD)
		let_go(calls);
	else if (calls->in->mode == TCP_INPUT_BODY && calls->type == RPC_CALL)
		skip(calls);
}

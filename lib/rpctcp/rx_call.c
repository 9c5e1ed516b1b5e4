// SPDX-License-Identifier: BSD-3-Clause
/* Calls to the TCP leg: the look at each, its claim, and what is answered here. */
#include "rpctcp/rx_call.h"

#include "base/least.h"
#include "nfs/nfs.h"
#include "rpc/call_verdict.h"
#include "rpctcp/call_admission.h"

#define PARTS_LEAST_RATE (256u * 1024u) /* bytes a second: four times what a Read must have */

/* What a Call gets that does not pass. A stream that holds what is no Call cannot be trusted any more. */
static const struct call_rule rules[CALL_VERDICT_COUNT] = {
	[CALL_AUTH_TLS] =
		CALL_RULE(REPLY, tcp_leg_counters, auth_tls_refused, "AUTH_TLS was refused"),
	[CALL_BAD_AUTH] = CALL_RULE(REPLY, tcp_leg_counters, bad_auth_refused, NULL),
	[CALL_RPC_MISMATCH] = CALL_RULE(REPLY, tcp_leg_counters, rpc_mismatches, NULL),
	[CALL_CUT] = CALL_RULE(CLOSE, tcp_leg_counters, bad_calls, NULL),
	[CALL_IS_REPLY] = CALL_RULE(CLOSE, tcp_leg_counters, bad_calls, NULL),
	[CALL_NOT_RPC] = CALL_RULE(CLOSE, tcp_leg_counters, bad_calls, NULL),
	/* A6.2-8: over TCP there is nothing to configure, and the server behind is not to hear of it. */
	[CALL_CONFIGURES] = CALL_RULE(REPLY, tcp_leg_counters, prog_unavail, NULL),
};

/* A Reply of our own that says why a Call fails. */
static void answer_failure(struct tcp_messages *msgs, const struct rpc_call_hdr *hdr)
{
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	if (rpc_call_wants_verifier(hdr))
		tcp_counters(msgs->conn)->auth_failed_sent++;
	tcp_message_answer(msgs, reply, rpc_encode_failure(reply, hdr, RPC_SYSTEM_ERR));
}

/* Past what the leg takes. The connection and its other RPCs live. */
static void answer_past_limits(struct tcp_messages *msgs, const struct rpc_call_hdr *hdr)
{
	bool denied = rpc_call_wants_verifier(hdr);

	if (msgs->conn->connector) {
		tcp_counters(msgs->conn)->reverse_refused++;
		tcp_conn_note(msgs->conn, TCP_NOTE_REVERSE,
			      denied ? "a reverse Call past its limits was denied with AUTH_FAILED"
				     : "a reverse Call past its limits was answered SYSTEM_ERR");
	} else {
		tcp_counters(msgs->conn)->calls_too_big++;
		tcp_conn_note(
			msgs->conn, TCP_NOTE_CALL_TOO_BIG,
			denied ? "a Call longer than is carried was thrown away and denied with "
				 "AUTH_FAILED"
			       : "a Call longer than is carried was thrown away and answered "
				 "SYSTEM_ERR");
	}
	answer_failure(msgs, hdr);
}

/* Answers a Call that does not pass, or closes. */
static void refuse(struct tcp_messages *msgs, enum call_verdict verdict,
		   const struct rpc_call_hdr *hdr)
{
	const struct call_rule *rule = &rules[verdict];
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	call_rule_count(rule, tcp_counters(msgs->conn));
	if (rule->note)
		tcp_conn_note(msgs->conn, TCP_NOTE_CALL, rule->note);
	if (call_verdict_is_denied(verdict, hdr))
		tcp_counters(msgs->conn)->auth_failed_sent++;
	if (rule->answer == CALL_ANSWER_REPLY)
		tcp_message_answer(msgs, reply, call_verdict_encode(reply, verdict, hdr));
	else
		tcp_conn_fail(msgs->conn, LEG_CLOSE_NOT_RPC, "%s", call_verdict_text(verdict));
}

void rx_call_init(struct tcp_messages *msgs)
{
	uint32_t limit = msgs->conn->config.leg.max_message_bytes;

	if (limit > RECORD_MAX_FRAGMENT_BYTES)
		limit = RECORD_MAX_FRAGMENT_BYTES;
	if (msgs->conn->connector)
		limit = least(limit, least(most(msgs->conn->config.leg.reverse_max_bytes,
						REVERSE_FREE_BYTES),
					   REVERSE_MAX_BYTES));
	msgs->limit_bytes = limit;
}

/* Its length, or the most that it may have. */
static uint32_t cap_bytes(const struct tcp_messages *msgs)
{
	const struct record_parser *parser = &msgs->in->parser;

	if (parser->last)
		return parser->record_bytes;
	return least(msgs->limit_bytes,
		     msgs->conn->connector ? REVERSE_FREE_BYTES : FACTS_UNBOUNDED_BYTES);
}

/* What is here of the Call says more of it. */
static void follow(struct tcp_messages *msgs, const uint8_t *msg, uint32_t have_bytes,
		   uint32_t len_bytes)
{
	const struct rpc_piece piece = {msg, have_bytes};
	const struct rpc_pieces pieces = {&piece, 1, len_bytes};

	nfs_facts_go_on(&msgs->call->facts, msgs->conn->config.leg.sessions, &pieces, NULL);
}

/* The look at a Call, as far as it is here. Returns whether it passes; else it has been answered. */
static bool look(struct tcp_messages *msgs, const uint8_t *msg, uint32_t have_bytes,
		 uint32_t cap_bytes)
{
	struct rpc_call_hdr hdr = {0};
	enum call_verdict verdict = call_judge(msg, have_bytes, cap_bytes, NULL,
					       msgs->conn->config.leg.config_program, &hdr);

	if (verdict != CALL_PASSES) {
		refuse(msgs, verdict, &hdr);
		return false;
	}
	msgs->call = exchange_new(msgs->conn->config.leg.spares);
	if (!msgs->call) {
		tcp_conn_fail(msgs->conn, LEG_CLOSE_RESOURCES, "no memory for a Call");
		return false;
	}
	msgs->call->stage_us = loop_now_us(tcp_loop(msgs->conn));
	msgs->call->facts.hdr = hdr;
	nfs_facts_begin_cleared(&msgs->call->facts, msgs->limit_bytes);
	/* Where nobody knows how long it is, it may end in the middle of anything. */
	if (msgs->in->parser.last)
		follow(msgs, msg, have_bytes, cap_bytes);
	msgs->ceiling_bytes = msgs->call->facts.ceiling_bytes;
	return true;
}

static bool is_past_limits(const struct tcp_messages *msgs)
{
	return msgs->in->parser.record_bytes > msgs->limit_bytes ||
	       (msgs->conn->connector && msgs->flight->in.table.count >= TCP_REVERSE_CALLS_MAX);
}

/* A Call past the limits is answered by what its header says, if that can be read. */
NOT_INLINE static void refuse_past_limits(struct tcp_messages *msgs, const uint8_t *msg,
					  uint32_t have_bytes, uint32_t xid)
{
	struct rpc_call_hdr hdr;

	if (rpc_call_decode(msg, have_bytes, &hdr) != RPC_OK)
		hdr = (struct rpc_call_hdr){.xid = xid};
	answer_past_limits(msgs, &hdr);
}

/* Whether a Call may be taken in, its XID being @xid; else it has been dealt with. */
static bool is_wanted(struct tcp_messages *msgs, const uint8_t *msg, uint32_t have_bytes,
		      uint32_t xid)
{
	struct exchange *repeated = xid_table_find(&msgs->flight->in, xid);

	if (repeated)
		record_rx_compare(msgs->in, repeated, msg, have_bytes);
	else if (is_past_limits(msgs))
		refuse_past_limits(msgs, msg, have_bytes, xid);
	else
		return true;
	return false;
}

/* What becomes of a Call is decided when its header is here: whether it repeats another, and how it is refused. */
void rx_call_head(struct tcp_messages *msgs)
{
	if (record_rx_gather(msgs->in))
		tcp_conn_fail(msgs->conn, LEG_CLOSE_RESOURCES, "no memory to gather a Call");
}

/* Once looked at, the Call may have to wait, and comes here again. */
void rx_call_begin(struct tcp_messages *msgs, const uint8_t *msg, uint32_t have_bytes, uint32_t xid)
{
	uint32_t cap = cap_bytes(msgs);

	if (!msgs->call &&
	    (!is_wanted(msgs, msg, have_bytes, xid) || !look(msgs, msg, have_bytes, cap)))
		return;
	if (msgs->conn->connector && !call_admission_reverse_call(msgs, cap)) {
		const struct rpc_call_hdr hdr = msgs->call->facts.hdr;

		answer_past_limits(msgs, &hdr);
		return;
	}
	if (call_admission_begin(msgs, cap))
		tcp_message_body(msgs, RPC_CALL, cap);
}

/* Longer than most, which nobody could tell when it began: it may have all that a Call can, if that is there now. */
void rx_call_overflow(struct tcp_messages *msgs)
{
	uint32_t limit = msgs->limit_bytes;
	struct rpc_call_hdr hdr;

	if (msgs->in->parser.record_bytes <= limit && msgs->in->cap_bytes < limit &&
	    call_admission_grow(msgs, limit) && !record_rx_grow(msgs->in, limit))
		return;
	hdr = msgs->call->facts.hdr;
	answer_past_limits(msgs, &hdr);
}

/* No more than has been claimed for. */
static void promise(const struct tcp_messages *msgs, struct exchange *x)
{
	x->reply_max_bytes = least(x->facts.ceiling_bytes, msgs->ceiling_bytes);
}

/*
 * Who reads what is lent of a Call that still comes has the time for it that its length allows (work.c), and knows nothing
 * of the client. So one that comes slowly is passed on complete.
 */
static bool comes_fast(const struct tcp_messages *msgs)
{
	uint64_t took_us = loop_now_us(tcp_loop(msgs->conn)) - msgs->in->since_us;

	return took_us <= (uint64_t)msgs->in->msg.have_bytes * 1000000 / PARTS_LEAST_RATE;
}

/*
 * A client's Call that is long enough to be passed on in parts, if it may be now. Its length is known, so that it cannot
 * turn out to be too long, and so is how large its Reply may get.
 */
static bool may_come_in_parts(const struct tcp_messages *msgs)
{
	return msgs->conn->config.leg.partial && !msgs->conn->connector &&
	       record_rx_comes_in_parts(msgs->in) && comes_fast(msgs) &&
	       msgs->call->facts.stage == FACTS_WHOLE && call_admission_passes(msgs);
}

static void fail_no_memory(struct tcp_messages *msgs)
{
	tcp_conn_fail(msgs->conn, LEG_CLOSE_RESOURCES, "no memory for a Call");
}

/* The exchange takes the message, and we keep a reference to that, to fill it. */
static void give_part(struct tcp_messages *msgs)
{
	struct exchange *x = msgs->call;

	if (inflight_in_add(msgs->flight, x)) {
		fail_no_memory(msgs);
		return;
	}
	exchange_ref(x);
	promise(msgs, x);
	x->start_us = loop_now_us(msgs->conn->config.leg.loop);
	record_rx_lend(msgs->in, &x->call);
	call_admission_part(msgs, x);
}

void rx_call_grown(struct tcp_messages *msgs)
{
	const struct leg_config *config = &msgs->conn->config.leg;

	if (tcp_message_is_given(msgs))
		config->events->more(config->arg, msgs->call);
	else if (may_come_in_parts(msgs))
		give_part(msgs);
}

/* Who was given a part of it hears of its end by that of this connection; whoever answers it all the same is not listened to. */
void rx_call_cut(struct tcp_messages *msgs)
{
	struct exchange *x = msgs->call;

	if (tcp_message_is_given(msgs) && x->origin)
		inflight_in_end(msgs->flight, x);
	tcp_message_skip(msgs);
}

/* The last part of one that was given up before. It may have been answered by now. */
static void end_given(struct tcp_messages *msgs)
{
	const struct leg_config *config = &msgs->conn->config.leg;
	struct exchange *x = msgs->call;

	msgs->call = NULL;
	call_admission_part_end(msgs);
	x->start_us = loop_now_us(config->loop);
	config->events->more(config->arg, x);
	exchange_put(x);
}

/* The Call is complete: the exchange takes the message. */
static struct exchange *complete(struct tcp_messages *msgs)
{
	struct exchange *x = msgs->call;
	const struct rpc_msg *msg = &msgs->in->msg;

	if (x->facts.stage != FACTS_WHOLE)
		follow(msgs, msg->data, msg->len_bytes, msg->len_bytes);
	promise(msgs, x);
	msgs->call = NULL;
	x->call = *msg;
	msgs->in->msg = (struct rpc_msg){0};
	x->start_us = loop_now_us(msgs->conn->config.leg.loop);
	return x;
}

void rx_call_end(struct tcp_messages *msgs)
{
	struct exchange *x;

	if (tcp_message_is_given(msgs)) {
		end_given(msgs);
		return;
	}
	x = complete(msgs);
	if (!inflight_in_add(msgs->flight, x)) {
		call_admission_end(msgs, x);
		return;
	}
	exchange_put(x);
	fail_no_memory(msgs);
}

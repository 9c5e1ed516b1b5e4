// SPDX-License-Identifier: BSD-3-Clause
/* The TCP leg's messages: what each record is, what memory it may have, and who gets it. */
#include <string.h>

#include "rpctcp/tcp_leg_impl.h"

/* RFC 5531 section 9: auth_stat. */
#define AUTH_BADCRED      1u
#define AUTH_REJECTEDCRED 2u

/* A Reply of our own to the record that is being read, the rest of which is thrown away. */
static void answer(struct tcp_leg *leg, const uint8_t *reply, size_t len_bytes)
{
	tcp_input_drain(leg);
	if (tcp_output_answer(leg, reply, (uint32_t)len_bytes))
		tcp_leg_fail(leg, LEG_CLOSE_RESOURCES, "no memory for an answer");
}

static void answer_auth_error(struct tcp_leg *leg, uint32_t xid, uint32_t auth_stat)
{
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	answer(leg, reply, rpc_encode_auth_error(reply, xid, auth_stat));
}

static void answer_reverse_refused(struct tcp_leg *leg, uint32_t xid)
{
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	tcp_counters(leg)->reverse_refused++;
	tcp_leg_note(leg, TCP_NOTE_REVERSE,
		     "a reverse Call past its limits was answered SYSTEM_ERR");
	answer(leg, reply, rpc_encode_accepted(reply, xid, RPC_SYSTEM_ERR));
}

/*
 * Whether a Call may be passed on; if not, it is answered or the leg is closed.
 *
 * AUTH_TLS asks for a session that the proxy does not offer (RFC 9289 section 4.1): the flavour is
 * understood and the credential refused, AUTH_REJECTEDCRED. A credential or verifier of more than
 * 400 bytes cannot be one (RFC 5531 section 8.2): AUTH_BADCRED. A Call that ends inside its header
 * is none.
 */
static bool call_passes(struct tcp_leg *leg, enum rpc_verdict verdict,
			const struct rpc_call_hdr *hdr, uint32_t xid)
{
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	switch (verdict) {
	case RPC_OK:
		if (hdr->cred_flavor != RPC_AUTH_TLS)
			return true;
		tcp_counters(leg)->auth_tls_refused++;
		tcp_leg_note(leg, TCP_NOTE_AUTH_TLS, "AUTH_TLS was refused");
		answer_auth_error(leg, xid, AUTH_REJECTEDCRED);
		return false;
	case RPC_BAD_VERSION:
		tcp_counters(leg)->rpc_mismatches++;
		answer(leg, reply, rpc_encode_rpc_mismatch(reply, xid));
		return false;
	case RPC_BAD_AUTH:
		tcp_counters(leg)->bad_auth_refused++;
		answer_auth_error(leg, xid, AUTH_BADCRED);
		return false;
	default:
		tcp_leg_fail(leg, LEG_CLOSE_NOT_RPC, "a Call with a header that is %s",
			     rpc_verdict_name(verdict));
		return false;
	}
}

static uint32_t reply_limit(const struct tcp_leg *leg)
{
	uint32_t limit = leg->config.leg.max_message_bytes;

	return leg->connecting && limit > TCP_REVERSE_MAX_BYTES ? TCP_REVERSE_MAX_BYTES : limit;
}

static uint32_t reply_ceiling(const struct tcp_leg *leg, const struct rpc_call_hdr *hdr,
			      const uint8_t *msg, uint32_t len_bytes)
{
	const struct leg_binding *binding = leg->config.leg.binding;
	uint32_t limit = reply_limit(leg), ceiling;

	if (!binding)
		return limit;
	ceiling = binding->reply_ceiling(binding->arg, hdr, msg, len_bytes, limit);
	return ceiling < limit ? ceiling : limit;
}

/*
 * Claims what the Call and its Reply can come to need; true once that is held. A server's Calls are
 * bounded by their own number and size and take nothing from the budget: their Replies may stand
 * behind clients' Calls that wait for it, and neither would ever go on.
 */
static bool claim(struct tcp_leg *leg, uint32_t call_bytes, uint32_t ceiling_bytes)
{
	struct budget_claim *claim = &leg->in.claim;
	size_t bytes = rpc_msg_cost_bytes(call_bytes) + rpc_msg_cost_bytes(ceiling_bytes);

	if (claim->state == BUDGET_CLAIM_HELD)
		return true;
	if (leg->connecting) {
		budget_force(leg->config.leg.budget, claim, 0);
		return true;
	}
	if (budget_claim(leg->config.leg.budget, claim, bytes))
		return true;
	tcp_counters(leg)->budget_waits++;
	tcp_leg_block(leg, TCP_BLOCK_BUDGET, true);
	return false;
}

/* Memory for the message, which has been admitted; what is known of its start goes in. */
static void begin_body(struct tcp_leg *leg, enum rpc_msg_type type, uint32_t cap_bytes)
{
	struct tcp_input *in = &leg->in;

	if (rpc_msg_get(leg->config.leg.pool, cap_bytes, &in->msg)) {
		tcp_leg_fail(leg, LEG_CLOSE_RESOURCES, "no memory for %u bytes", cap_bytes);
		return;
	}
	if (cap_bytes > TCP_BULK_BYTES)
		in->window_bytes = TCP_BULK_BYTES;
	memcpy(in->msg.data, in->head, in->head_bytes);
	in->have_bytes = in->head_bytes;
	in->cap_bytes = cap_bytes;
	in->type = type;
	in->mode = TCP_INPUT_BODY;
}

static bool reverse_refused(const struct tcp_leg *leg, uint32_t len_bytes)
{
	return leg->connecting &&
	       (leg->calls_in.count >= TCP_REVERSE_CALLS_MAX || len_bytes > TCP_REVERSE_MAX_BYTES);
}

/* A Call that is here from end to end: what it needs is known exactly before it takes any memory.
 */
static void begin_call_whole(struct tcp_leg *leg, const uint8_t *msg, uint32_t len_bytes,
			     uint32_t xid)
{
	struct tcp_input *in = &leg->in;
	struct exchange *repeated;

	if (!call_passes(leg, rpc_call_decode(msg, len_bytes, &in->hdr), &in->hdr, xid))
		return;
	repeated = xid_table_find(&leg->calls_in, xid);
	if (repeated) {
		tcp_input_compare(leg, repeated);
		return;
	}
	if (reverse_refused(leg, len_bytes)) {
		answer_reverse_refused(leg, xid);
		return;
	}
	in->ceiling_bytes = reply_ceiling(leg, &in->hdr, msg, len_bytes);
	if (!claim(leg, len_bytes, in->ceiling_bytes))
		return;
	in->decoded = true;
	begin_body(leg, RPC_CALL, len_bytes);
}

/* A Call of which only the head is here: it may need the most that its length, if known, leaves
 * open. */
static void begin_call(struct tcp_leg *leg, uint32_t xid)
{
	struct tcp_input *in = &leg->in;
	struct exchange *repeated = xid_table_find(&leg->calls_in, xid);
	uint32_t cap = in->parser.last ? in->parser.record_bytes : reply_limit(leg);

	if (repeated) {
		tcp_input_compare(leg, repeated);
		return;
	}
	if (reverse_refused(leg, in->parser.record_bytes)) {
		answer_reverse_refused(leg, xid);
		return;
	}
	if (claim(leg, cap, reply_limit(leg)))
		begin_body(leg, RPC_CALL, cap);
}

/* Takes @x from the Calls to the peer and hands our reference to the owner. */
static void give_reply(struct tcp_leg *leg, struct exchange *x)
{
	TAILQ_REMOVE(&leg->calls_out_list, x, target_entry);
	xid_table_remove(&leg->calls_out, x);
	x->target = NULL;
	leg->config.leg.events->reply(leg->config.leg.arg, x);
}

static void give_fault(struct tcp_leg *leg, struct exchange *x, enum exchange_fault fault)
{
	if (fault == EXCHANGE_FAULT_TOO_BIG) {
		tcp_counters(leg)->replies_too_big++;
		tcp_leg_note(leg, TCP_NOTE_TOO_BIG,
			     "a Reply was larger than its Call allows and was thrown away");
	} else {
		tcp_leg_note(leg, TCP_NOTE_BAD_REPLY, "a Reply did not decode");
	}
	x->fault = fault;
	give_reply(leg, x);
}

/* A Reply, whose memory its Call has claimed. */
static void begin_reply(struct tcp_leg *leg, uint32_t xid)
{
	struct tcp_input *in = &leg->in;
	struct exchange *x = xid_table_find(&leg->calls_out, xid);

	if (!x) {
		tcp_counters(leg)->unmatched_replies++;
		tcp_leg_note(leg, TCP_NOTE_UNMATCHED, "a Reply without a Call was thrown away");
		tcp_input_drain(leg);
		return;
	}
	if (in->parser.record_bytes > x->reply_max_bytes) {
		tcp_input_drain(leg);
		give_fault(leg, x, EXCHANGE_FAULT_TOO_BIG);
		return;
	}
	in->x = exchange_ref(x);
	begin_body(leg, RPC_REPLY, in->parser.last ? in->parser.record_bytes : x->reply_max_bytes);
}

static void begin(struct tcp_leg *leg, const uint8_t *msg, uint32_t len_bytes, bool whole)
{
	enum rpc_msg_type type;
	uint32_t xid;
	enum rpc_verdict verdict = rpc_msg_peek(msg, len_bytes, &xid, &type);

	if (verdict != RPC_OK)
		tcp_leg_fail(leg, LEG_CLOSE_NOT_RPC, "a message that is %s",
			     rpc_verdict_name(verdict));
	else if (type == RPC_REPLY)
		begin_reply(leg, xid);
	else if (whole)
		begin_call_whole(leg, msg, len_bytes, xid);
	else
		begin_call(leg, xid);
}

void tcp_record_begin_whole(struct tcp_leg *leg, const uint8_t *msg, uint32_t len_bytes)
{
	begin(leg, msg, len_bytes, true);
}

void tcp_record_begin(struct tcp_leg *leg)
{
	begin(leg, leg->in.head, leg->in.head_bytes, false);
}

void tcp_record_overflow(struct tcp_leg *leg)
{
	struct tcp_input *in = &leg->in;
	struct exchange *x = in->x;
	uint32_t xid;
	enum rpc_msg_type type;

	/* The head decoded when the record began. */
	if (rpc_msg_peek(in->head, in->head_bytes, &xid, &type) != RPC_OK)
		return;
	if (type == RPC_CALL) {
		answer_reverse_refused(leg, xid);
		return;
	}
	/* calls_out holds it too. */
	tcp_input_drain(leg);
	give_fault(leg, x, EXCHANGE_FAULT_TOO_BIG);
}

/* The Call is complete: the exchange takes message and claim, and goes to the owner. */
static void end_call(struct tcp_leg *leg)
{
	struct tcp_input *in = &leg->in;
	struct exchange *x = exchange_new();

	if (!x)
		goto out_memory;
	x->hdr = in->hdr;
	if (xid_table_add(&leg->calls_in, x)) {
		exchange_put(x);
		goto out_memory;
	}
	TAILQ_INSERT_TAIL(&leg->calls_in_list, x, origin_entry);
	x->call = in->msg;
	in->msg = (struct rpc_msg){0};
	x->reply_max_bytes = in->ceiling_bytes;
	budget_move(&x->claim, &in->claim);
	x->start_us = loop_now_us(leg->config.leg.loop);
	x->origin = &leg->leg;
	tcp_counters(leg)->calls_received++;
	leg->config.leg.events->call(leg->config.leg.arg, exchange_ref(x));
	return;
out_memory:
	tcp_leg_fail(leg, LEG_CLOSE_RESOURCES, "no memory for a Call");
}

/* A Call that was received in place is read only now. The rest of its claim goes back. */
static bool decode_call(struct tcp_leg *leg)
{
	struct tcp_input *in = &leg->in;
	struct rpc_msg msg = in->msg;
	enum rpc_verdict verdict = rpc_call_decode(msg.data, msg.len_bytes, &in->hdr);
	uint32_t xid = 0;
	enum rpc_msg_type type;

	if (rpc_msg_peek(msg.data, msg.len_bytes, &xid, &type) != RPC_OK)
		verdict = RPC_TRUNCATED;
	if (!call_passes(leg, verdict, &in->hdr, xid))
		return false;
	in->ceiling_bytes = reply_ceiling(leg, &in->hdr, msg.data, msg.len_bytes);
	budget_shrink(&in->claim, msg.buf->size_bytes + rpc_msg_cost_bytes(in->ceiling_bytes));
	return true;
}

static void end_reply(struct tcp_leg *leg)
{
	struct tcp_input *in = &leg->in;
	struct exchange *x = in->x;
	struct rpc_reply_hdr hdr;

	in->x = NULL;
	if (rpc_reply_decode(in->msg.data, in->msg.len_bytes, &hdr) == RPC_OK) {
		x->reply = in->msg;
		in->msg = (struct rpc_msg){0};
		tcp_counters(leg)->replies_received++;
		give_reply(leg, x);
	} else {
		rpc_msg_put(&in->msg);
		give_fault(leg, x, EXCHANGE_FAULT_BAD_REPLY);
	}
	exchange_put(x);
}

void tcp_record_end(struct tcp_leg *leg)
{
	struct tcp_input *in = &leg->in;

	if (in->type == RPC_REPLY)
		end_reply(leg);
	else if (in->decoded || decode_call(leg))
		end_call(leg);
}

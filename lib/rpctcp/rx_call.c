// SPDX-License-Identifier: BSD-3-Clause
#include "rpctcp/rx_call.h"

#include "base/minmax.h"
#include "nfs/nfs.h"
#include "rpc/call_check.h"
#include "rpc/call_identity.h"
#include "rpctcp/call_admission.h"
#include "rpctcp/tcp_close.h"
#include "rpctcp/tcp_tls.h"

#define PARTIAL_MIN_RATE (256u * 1024u) /* bytes per second: four times the minimum of a Read */

/*
 * The answer to a rejected Call. A stream with a message that is not a Call cannot be trusted any
 * more.
 */
static const struct call_rule rules[CALL_VERDICT_COUNT] = {
	[CALL_AUTH_TLS] = CALL_RULE(REPLY, tcp_leg_counters, auth_tls_refused,
				    "a Call with AUTH_TLS was rejected: TLS is off"),
	[CALL_BAD_AUTH] = CALL_RULE(REPLY, tcp_leg_counters, bad_auth_refused, NULL),
	[CALL_RPC_MISMATCH] = CALL_RULE(REPLY, tcp_leg_counters, rpc_mismatches, NULL),
	[CALL_TRUNCATED] = CALL_RULE(CLOSE, tcp_leg_counters, bad_calls, NULL),
	[CALL_IS_REPLY] = CALL_RULE(CLOSE, tcp_leg_counters, bad_calls, NULL),
	[CALL_NOT_RPC] = CALL_RULE(CLOSE, tcp_leg_counters, bad_calls, NULL),
	/* A6.2-8: TCP has nothing to configure, and the server must not get the Call. */
	[CALL_CONFIG_PROGRAM] = CALL_RULE(REPLY, tcp_leg_counters, prog_unavail, NULL),
};

/* Answers the record that is being received locally. */
static void rx_call_answer(struct tcp_leg *leg, const uint8_t *reply, size_t len_bytes)
{
	rx_call_skip(leg);
	if (record_tx_local_reply(&leg->tx, reply, (uint32_t)len_bytes))
		tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0, "no memory for a Reply");
}

/* Answers a Call with an error. */
static void answer_failure(struct tcp_leg *leg, const struct rpc_call_hdr *hdr)
{
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	if (rpc_call_wants_verifier(hdr))
		tcp_counters(&leg->conn)->auth_failed_sent++;
	rx_call_answer(leg, reply, rpc_encode_failure(reply, hdr, RPC_SYSTEM_ERR));
}

/* Answers a Call that exceeds the limits. The connection and its other RPCs continue. */
static void reject_past_limits(struct tcp_leg *leg, const struct rpc_call_hdr *hdr)
{
	bool denied = rpc_call_wants_verifier(hdr);

	if (leg->conn.connector) {
		tcp_counters(&leg->conn)->reverse_refused++;
		tcp_conn_note(&leg->conn, TCP_NOTE_REVERSE,
			      denied ? "a reverse Call exceeded the limits: denied with AUTH_FAILED"
				     : "a reverse Call exceeded the limits: answered SYSTEM_ERR");
	} else {
		tcp_counters(&leg->conn)->calls_too_big++;
		tcp_conn_note(&leg->conn, TCP_NOTE_CALL_TOO_BIG,
			      denied ? "a Call exceeded max_message_bytes: denied with AUTH_FAILED"
				     : "a Call exceeded max_message_bytes: answered SYSTEM_ERR");
	}
	answer_failure(leg, hdr);
}

/* Returns the Call's length, or the maximum. */
static uint32_t cap_bytes(const struct tcp_leg *leg)
{
	const struct record_parser *parser = &leg->record.parser;

	if (parser->last)
		return parser->record_bytes;
	return min_u32(leg->call.limit_bytes,
		       leg->conn.connector ? REVERSE_FREE_BYTES : REPLY_UNBOUNDED_BYTES);
}

/* Answers a Call with AUTH_TLS of a client that can have TLS; a probe is answered at its end. */
static void rx_call_tls(struct tcp_leg *leg, const struct rpc_call_hdr *hdr)
{
	uint8_t reply[RPC_ERROR_REPLY_BYTES];
	size_t len = tcp_tls_check_call(leg, hdr, cap_bytes(leg), reply);

	if (len)
		rx_call_answer(leg, reply, len);
	else
		rx_call_skip(leg);
}

/* Answers a rejected Call, or closes. */
static void rx_call_reject(struct tcp_leg *leg, enum call_verdict verdict,
			   const struct rpc_call_hdr *hdr)
{
	const struct call_rule *rule = &rules[verdict];
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	if (verdict == CALL_AUTH_TLS && leg->tls && !leg->conn.connector) {
		rx_call_tls(leg, hdr);
		return;
	}
	call_rule_count(rule, tcp_counters(&leg->conn));
	if (rule->note)
		tcp_conn_note(&leg->conn, TCP_NOTE_CALL, rule->note);
	if (call_verdict_is_denied(verdict, hdr))
		tcp_counters(&leg->conn)->auth_failed_sent++;
	if (rule->answer == CALL_ANSWER_REPLY)
		rx_call_answer(leg, reply, call_verdict_encode(reply, verdict, hdr));
	else
		tcp_close(leg, LEG_CLOSE_NOT_RPC, TCP_CLOSE_NOW, 0, "%s",
			  call_verdict_text(verdict));
}

/* Frees what is held for the record, except its bytes. */
static void rx_call_release(struct tcp_leg *leg)
{
	call_admission_cancel(leg);
	exchange_put(leg->call.x);
	exchange_put(leg->call.repeated);
	leg->call.x = leg->call.repeated = NULL;
}

void rx_call_fini(struct tcp_leg *leg)
{
	call_admission_fini(leg);
	rx_call_release(leg);
}

void rx_call_skip(struct tcp_leg *leg)
{
	rx_call_release(leg);
	record_rx_skip(&leg->record);
}

void rx_call_init(struct tcp_leg *leg)
{
	uint32_t limit = leg->conn.config.leg.max_message_bytes;

	if (limit > RECORD_MAX_FRAGMENT_BYTES)
		limit = RECORD_MAX_FRAGMENT_BYTES;
	if (leg->conn.connector)
		limit = min_u32(limit, min_u32(max_u32(leg->conn.config.leg.reverse_max_bytes,
						       REVERSE_FREE_BYTES),
					       REVERSE_MAX_BYTES));
	leg->call.limit_bytes = limit;
}

/* Parses more of the Call. */
static void rx_call_walk(struct tcp_leg *leg, const uint8_t *msg, uint32_t have_bytes,
			 uint32_t len_bytes)
{
	const struct xdr_sg_entry piece = {msg, have_bytes};
	const struct xdr_sg pieces = {&piece, 1, len_bytes};

	nfs_call_walk_continue(&leg->call.x->call_info, leg->conn.config.leg.sessions, &pieces,
			       NULL);
}

/*
 * Checks the arrived part of a Call. Returns whether it is accepted; if not it has been answered.
 */
static bool rx_call_check(struct tcp_leg *leg, const uint8_t *msg, uint32_t have_bytes,
			  uint32_t cap_bytes)
{
	struct rpc_call_hdr hdr = {0};
	enum call_verdict verdict = call_check(msg, have_bytes, cap_bytes, NULL,
					       leg->conn.config.leg.config_program, &hdr);

	if (verdict != CALL_OK) {
		rx_call_reject(leg, verdict, &hdr);
		return false;
	}
	leg->call.x = exchange_new(leg->conn.config.leg.freelists);
	if (!leg->call.x) {
		tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0, "no memory for a Call");
		return false;
	}
	leg->call.x->stage_us = loop_now_us(tcp_loop(&leg->conn));
	leg->call.x->call_info.hdr = hdr;
	nfs_call_walk_begin_cleared(&leg->call.x->call_info, leg->call.limit_bytes);
	/* A Call of unknown length can end in the middle of any item. */
	if (leg->record.parser.last)
		rx_call_walk(leg, msg, have_bytes, cap_bytes);
	leg->call.reply_bound_bytes = leg->call.x->call_info.reply_bound_bytes;
	return true;
}

static bool is_past_limits(const struct tcp_leg *leg)
{
	return leg->record.parser.record_bytes > leg->call.limit_bytes ||
	       (leg->conn.connector && leg->inflight.in.table.count >= TCP_REVERSE_CALLS_MAX);
}

/* Answers a Call past the limits by its header, if that can be decoded. */
NOT_INLINE static void reject_by_header(struct tcp_leg *leg, const uint8_t *msg,
					uint32_t have_bytes, uint32_t xid)
{
	struct rpc_call_hdr hdr;

	if (rpc_call_decode(msg, have_bytes, &hdr) != RPC_OK)
		hdr = (struct rpc_call_hdr){.xid = xid};
	reject_past_limits(leg, &hdr);
}

static void close_reused(struct tcp_leg *leg, const struct exchange *x)
{
	tcp_close(leg, LEG_CLOSE_XID_REUSED, TCP_CLOSE_NOW, 0, "XID %08x", x->call_info.hdr.xid);
}

/*
 * a Call with the XID of @x, which is in flight, must be a retransmission of it. It is
 * discarded; the leg closes if it differs. If it arrives in fragments, the length of its arguments
 * is compared at its end.
 */
NOT_INLINE static void begin_repeated(struct tcp_leg *leg, struct exchange *x, const uint8_t *msg,
				      uint32_t have_bytes)
{
	struct call_identity first, second;
	struct rpc_call_hdr hdr;
	bool same = rpc_call_decode(msg, have_bytes, &hdr) == RPC_OK;

	if (same) {
		call_identity_find(&first, &x->call_info.hdr, x->call.data, x->call.have_bytes);
		call_identity_find(&second, &hdr, msg, have_bytes);
		same = call_identity_equals(&first, &second);
	}
	record_rx_skip(&leg->record);
	if (!same) {
		close_reused(leg, x);
		return;
	}
	leg->call.repeated = exchange_ref(x);
	leg->call.repeated_args_offset = hdr.args_offset;
}

/*
 * Discards the duplicate. If the server has dropped the Call it would never get it again. So after
 * some time the leg closes: the client reconnects, and the server decides. A Call that still waits
 * here, shown by its claim, was not dropped.
 */
static void end_repeated(struct tcp_leg *leg, struct exchange *x)
{
	struct tcp_conn *conn = &leg->conn;

	if (leg->record.parser.record_bytes - leg->call.repeated_args_offset !=
	    call_identity_args_bytes(&x->call_info.hdr, x->call.len_bytes)) {
		close_reused(leg, x);
		return;
	}
	tcp_counters(conn)->retransmissions_swallowed++;
	if (++x->copies < TCP_COPIES_MAX || conn->connector ||
	    x->claim.state != BUDGET_CLAIM_GRANTED ||
	    loop_now_us(tcp_loop(conn)) - x->start_us < conn->config.leg.stall_timeout_us)
		return;
	tcp_counters(conn)->retransmitted_closes++;
	tcp_close(leg, LEG_CLOSE_RETRANSMITTED, TCP_CLOSE_NOW, 0, "XID %08x", x->call_info.hdr.xid);
}

void rx_call_end_skipped(struct tcp_leg *leg)
{
	struct exchange *x = leg->call.repeated;

	if (!x) {
		tcp_tls_answer_probe(leg);
		return;
	}
	end_repeated(leg, x);
	leg->call.repeated = NULL;
	exchange_put(x);
}

/* Answers a Call in clear of a service that requires TLS. */
NOT_INLINE static void begin_clear(struct tcp_leg *leg, const uint8_t *msg, uint32_t have_bytes)
{
	struct rpc_call_hdr hdr = {0};
	enum call_verdict verdict = call_check(msg, have_bytes, cap_bytes(leg), NULL, 0, &hdr);
	uint8_t reply[RPC_ERROR_REPLY_BYTES];

	if (verdict == CALL_OK)
		rx_call_answer(leg, reply, tcp_tls_deny_clear(leg, &hdr, reply));
	else
		rx_call_reject(leg, verdict, &hdr);
}

/* Returns whether a Call can be received; if not it has been handled. */
static bool is_receivable(struct tcp_leg *leg, const uint8_t *msg, uint32_t have_bytes,
			  uint32_t xid)
{
	struct exchange *repeated = xid_table_find(&leg->inflight.in, xid);

	if (leg->call.needs_tls)
		begin_clear(leg, msg, have_bytes);
	else if (repeated)
		begin_repeated(leg, repeated, msg, have_bytes);
	else if (is_past_limits(leg))
		reject_by_header(leg, msg, have_bytes, xid);
	else
		return true;
	return false;
}

/* The decision needs the header: to detect a retransmission, and to reject the Call properly. */
void rx_call_prebuffer(struct tcp_leg *leg)
{
	if (record_rx_prebuffer(&leg->record))
		tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0, "no memory to buffer a Call");
}

/* A Call that was checked may have to wait; then this is called again. */
void rx_call_begin(struct tcp_leg *leg, uint32_t xid)
{
	const uint8_t *msg = leg->record.start;
	uint32_t have_bytes = leg->record.start_bytes, cap = cap_bytes(leg);

	if (!leg->call.x && (!is_receivable(leg, msg, have_bytes, xid) ||
			     !rx_call_check(leg, msg, have_bytes, cap)))
		return;
	if (leg->conn.connector && !call_admission_reverse_call(leg, cap)) {
		const struct rpc_call_hdr hdr = leg->call.x->call_info.hdr;

		reject_past_limits(leg, &hdr);
		return;
	}
	if (call_admission_begin(leg, cap) && record_rx_body(&leg->record, cap))
		tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0, "no memory for %u bytes",
			  cap);
}

/*
 * The Call is longer than most, which was unknown when it began. It gets the maximum memory if this
 * is available now.
 */
void rx_call_overflow(struct tcp_leg *leg)
{
	uint32_t limit = leg->call.limit_bytes;
	struct rpc_call_hdr hdr;

	if (leg->record.parser.record_bytes <= limit && leg->record.cap_bytes < limit &&
	    call_admission_grow(leg, limit) && !record_rx_grow(&leg->record, limit))
		return;
	hdr = leg->call.x->call_info.hdr;
	reject_past_limits(leg, &hdr);
}

/* The Reply gets no more than was claimed. */
static void rx_call_set_reply_max(const struct tcp_leg *leg, struct exchange *x)
{
	x->reply_max_bytes = min_u32(x->call_info.reply_bound_bytes, leg->call.reply_bound_bytes);
}

/*
 * A peer that Reads an incomplete Call must finish within the time that its length allows
 * (work_request.h), and cannot know that the client is slow. So a slow Call is forwarded only when
 * it is complete.
 */
static bool arrives_fast(const struct tcp_leg *leg)
{
	uint64_t arrival_us = loop_now_us(tcp_loop(&leg->conn)) - leg->record.since_us;

	return arrival_us <= (uint64_t)leg->record.msg.have_bytes * 1000000 / PARTIAL_MIN_RATE;
}

/*
 * Returns whether a client's Call can be delivered in parts now. It must be long enough. Its length
 * must be known, so that it cannot exceed the limit later, and so must be the bound of its Reply.
 */
static bool may_deliver_partial(const struct tcp_leg *leg)
{
	return leg->conn.config.leg.partial && !leg->conn.connector &&
	       record_rx_may_be_partial(&leg->record) && arrives_fast(leg) &&
	       leg->call.x->call_info.stage == CALL_INFO_COMPLETE && call_admission_permits(leg);
}

static void fail_no_memory(struct tcp_leg *leg)
{
	tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0, "no memory for a Call");
}

/* Moves the message to the exchange. A reference is kept to fill it. */
static void rx_call_deliver_part(struct tcp_leg *leg)
{
	struct exchange *x = leg->call.x;

	if (inflight_in_add(&leg->inflight, x)) {
		fail_no_memory(leg);
		return;
	}
	exchange_ref(x);
	rx_call_set_reply_max(leg, x);
	x->start_us = loop_now_us(leg->conn.config.leg.loop);
	record_rx_redirect(&leg->record, &x->call);
	call_admission_deliver(leg, x);
}

void rx_call_grown(struct tcp_leg *leg)
{
	const struct leg_config *config = &leg->conn.config.leg;

	if (tcp_leg_call_is_delivered(leg))
		config->events->more(config->arg, leg->call.x);
	else if (may_deliver_partial(leg))
		rx_call_deliver_part(leg);
}

/* The target learns that the Call was cut when this connection closes; a Reply to it is ignored. */
void rx_call_cut(struct tcp_leg *leg)
{
	struct exchange *x = leg->call.x;

	if (tcp_leg_call_is_delivered(leg) && x->origin)
		inflight_in_end(&leg->inflight, x);
	rx_call_skip(leg);
}

void rx_call_drain(struct tcp_leg *leg)
{
	enum record_rx_mode mode = leg->record.mode;

	call_admission_drop(leg);
	if (mode == RECORD_RX_HEAD)
		rx_call_release(leg);
	else if (mode == RECORD_RX_PREBUFFER ||
		 (mode == RECORD_RX_BODY && !leg->answered && !tcp_leg_call_is_delivered(leg)))
		rx_call_skip(leg);
}

/* Delivers the last part of a Call that was delivered before. It may have been answered by now. */
static void rx_call_end_delivered(struct tcp_leg *leg)
{
	const struct leg_config *config = &leg->conn.config.leg;
	struct exchange *x = leg->call.x;

	leg->call.x = NULL;
	call_admission_partial_end(leg);
	x->start_us = loop_now_us(config->loop);
	config->events->more(config->arg, x);
	exchange_put(x);
}

/* The Call is complete: moves the message to the exchange. */
static struct exchange *rx_call_complete(struct tcp_leg *leg)
{
	struct exchange *x = leg->call.x;
	const struct rpc_msg *msg = &leg->record.msg;

	if (x->call_info.stage != CALL_INFO_COMPLETE)
		rx_call_walk(leg, msg->data, msg->len_bytes, msg->len_bytes);
	rx_call_set_reply_max(leg, x);
	leg->call.x = NULL;
	x->call = *msg;
	leg->record.msg = (struct rpc_msg){0};
	x->start_us = loop_now_us(leg->conn.config.leg.loop);
	return x;
}

void rx_call_end(struct tcp_leg *leg)
{
	struct exchange *x;

	if (tcp_leg_call_is_delivered(leg)) {
		rx_call_end_delivered(leg);
		return;
	}
	x = rx_call_complete(leg);
	if (!inflight_in_add(&leg->inflight, x)) {
		call_admission_end(leg, x);
		return;
	}
	exchange_put(x);
	fail_no_memory(leg);
}

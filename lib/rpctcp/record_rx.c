// SPDX-License-Identifier: BSD-3-Clause
/* The TCP leg's input: where the bytes of a record go. */
#include "rpctcp/record_rx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/least.h"
#include "rpc/call_identity.h"

/* The longest record that is worth being read to its end. */
static uint32_t drain_max_bytes(uint32_t max_message_bytes)
{
	uint64_t bytes = (uint64_t)TCP_DRAIN_FACTOR * max_message_bytes;

	if (bytes < TCP_DRAIN_MIN_BYTES)
		return TCP_DRAIN_MIN_BYTES;
	return bytes < RECORD_MAX_FRAGMENT_BYTES ? (uint32_t)bytes : RECORD_MAX_FRAGMENT_BYTES;
}

void record_rx_init(struct record_rx *in, struct tcp_conn *conn,
		    const struct record_rx_events *events, void *arg)
{
	*in = (struct record_rx){
		.conn = conn, .events = events, .arg = arg, .window_bytes = TCP_WINDOW_MIN_BYTES};
	in->body = &in->msg;
	record_parser_init(&in->parser, drain_max_bytes(conn->config.leg.max_message_bytes));
}

/* Ready for the next record. */
static void begin_record(struct record_rx *in)
{
	in->mode = RECORD_RX_HEAD;
	in->ended = false;
	in->head_bytes = 0;
	in->cap_bytes = 0;
	in->told_bytes = 0;
	in->body = &in->msg;
	in->end_due_us = 0;
}

static void drop_gathered(struct record_rx *in)
{
	spare_list_put(&in->conn->config.worker->gathers, in->gathered, TCP_GATHERS_KEPT);
	in->gathered = NULL;
	in->gathered_bytes = 0;
}

/* What is held for a record that is not complete. */
static void let_go(struct record_rx *in)
{
	drop_gathered(in);
	rpc_msg_put(&in->msg);
	in->body = &in->msg;
	exchange_put(in->repeated);
	in->repeated = NULL;
}

void record_rx_drop_stash(struct record_rx *in)
{
	free(in->stash);
	in->stash = NULL;
	in->stash_bytes = in->stash_at = 0;
}

void record_rx_fini(struct record_rx *in)
{
	let_go(in);
	record_rx_drop_stash(in);
}

int record_rx_gather(struct record_rx *in)
{
	in->gathered = spare_list_get(&in->conn->config.worker->gathers, TCP_BULK_BYTES);
	if (!in->gathered)
		return -ENOMEM;
	memcpy(in->gathered, in->head, in->head_bytes);
	in->gathered_bytes = in->head_bytes;
	in->mode = RECORD_RX_GATHER;
	return 0;
}

/* What is here of the message, but not in the input. */
static void fill_from_aside(struct record_rx *in)
{
	if (in->mode == RECORD_RX_GATHER) {
		memcpy(in->msg.data, in->gathered, in->gathered_bytes);
		in->msg.have_bytes = in->gathered_bytes;
		tcp_counters(in->conn)->payload_bytes_copied += in->gathered_bytes;
		drop_gathered(in);
	} else if (in->head_bytes) {
		memcpy(in->msg.data, in->head, in->head_bytes);
		in->msg.have_bytes = in->head_bytes;
	} else {
		in->msg.have_bytes = 0;
	}
}

int record_rx_body(struct record_rx *in, uint32_t cap_bytes)
{
	if (rpc_msg_get(in->conn->config.leg.pool, cap_bytes, &in->msg))
		return -ENOMEM;
	if (cap_bytes > TCP_BULK_BYTES)
		in->window_bytes = TCP_WINDOW_MIN_BYTES;
	fill_from_aside(in);
	in->since_us = loop_now_us(tcp_loop(in->conn));
	in->cap_bytes = cap_bytes;
	in->mode = RECORD_RX_BODY;
	return 0;
}

void record_rx_lend(struct record_rx *in, struct rpc_msg *msg)
{
	*msg = in->msg;
	msg->len_bytes = in->cap_bytes;
	in->msg = (struct rpc_msg){0};
	in->body = msg;
}

void record_rx_skip(struct record_rx *in)
{
	let_go(in);
	in->mode = RECORD_RX_SKIP;
}

static void fail_reused(struct record_rx *in, const struct exchange *x)
{
	tcp_conn_fail(in->conn, LEG_CLOSE_XID_REUSED, "XID %08x", x->facts.hdr.xid);
}

/*
 * a Call whose XID is in flight must be that Call sent again. That its arguments are as long shows at its end, where
 * it comes in fragments.
 */
void record_rx_compare(struct record_rx *in, struct exchange *x, const uint8_t *msg,
		       uint32_t have_bytes)
{
	struct call_identity first, second;
	struct rpc_call_hdr hdr;
	bool same = rpc_call_decode(msg, have_bytes, &hdr) == RPC_OK;

	if (same) {
		call_identity_find(&first, &x->facts.hdr, x->call.data, x->call.have_bytes);
		call_identity_find(&second, &hdr, msg, have_bytes);
		same = call_identity_equals(&first, &second);
	}
	record_rx_skip(in);
	if (!same) {
		fail_reused(in, x);
		return;
	}
	in->repeated = exchange_ref(x);
	in->repeated_args_offset = hdr.args_offset;
}

int record_rx_grow(struct record_rx *in, uint32_t cap_bytes)
{
	struct rpc_msg larger;

	if (rpc_msg_get(in->conn->config.leg.pool, cap_bytes, &larger))
		return -ENOMEM;
	memcpy(larger.data, in->msg.data, in->msg.have_bytes);
	larger.have_bytes = in->msg.have_bytes;
	tcp_counters(in->conn)->payload_bytes_copied += in->msg.have_bytes;
	rpc_msg_put(&in->msg);
	in->msg = larger;
	in->cap_bytes = cap_bytes;
	return 0;
}

static bool has_room(const struct record_rx *in, uint32_t len_bytes)
{
	return len_bytes <= in->cap_bytes - in->body->have_bytes;
}

/* Returns whether there is room now. */
NOT_INLINE static bool overflow(struct record_rx *in, uint32_t len_bytes)
{
	in->events->overflow(in->arg);
	return in->mode == RECORD_RX_BODY && has_room(in, len_bytes);
}

static ALWAYS_INLINE void fill(struct record_rx *in, const uint8_t *bytes, uint32_t len_bytes)
{
	if (!has_room(in, len_bytes) && !overflow(in, len_bytes))
		return;
	memcpy(in->body->data + in->body->have_bytes, bytes, len_bytes);
	in->body->have_bytes += len_bytes;
	tcp_counters(in->conn)->payload_bytes_copied += len_bytes;
}

/* Whether @bytes from its start are enough to say what memory a record may have. */
static bool is_enough(const struct record_rx *in, uint32_t bytes)
{
	return bytes >= TCP_BULK_BYTES || (in->parser.last && bytes == in->parser.record_bytes);
}

/* Takes some of the message bytes at @bytes; returns how many, 0 if only the mode has changed. */
static uint32_t take_body(struct record_rx *in, const uint8_t *bytes, size_t len_bytes)
{
	uint32_t left = in->parser.fragment_left_bytes;
	uint32_t n = len_bytes < left ? (uint32_t)len_bytes : left;

	switch (in->mode) {
	case RECORD_RX_HEAD:
		if (in->head_bytes == 0 && is_enough(in, n)) {
			in->events->begin(in->arg, bytes, n);
			if (in->mode != RECORD_RX_BODY || !tcp_conn_takes_input(in->conn))
				return 0;
			fill(in, bytes, n);
			break;
		}
		n = least(n, TCP_RECORD_HEAD_BYTES - in->head_bytes);
		memcpy(in->head + in->head_bytes, bytes, n);
		in->head_bytes += n;
		break;
	case RECORD_RX_GATHER:
		n = least(n, TCP_BULK_BYTES - in->gathered_bytes);
		memcpy(in->gathered + in->gathered_bytes, bytes, n);
		in->gathered_bytes += n;
		break;
	case RECORD_RX_BODY:
		fill(in, bytes, n);
		break;
	case RECORD_RX_SKIP:
		break;
	}
	record_take(&in->parser, n);
	return n;
}

/*
 * the copy is swallowed. A server that has dropped the Call would then never hear of it again, so in time the
 * client is to come back and the server to decide. What waits here (its claim does) nobody has dropped.
 */
static void end_repeated(struct record_rx *in)
{
	struct tcp_conn *conn = in->conn;
	struct exchange *x = in->repeated;

	if (in->parser.record_bytes - in->repeated_args_offset !=
	    call_identity_args_bytes(&x->facts.hdr, x->call.len_bytes)) {
		fail_reused(in, x);
		return;
	}
	tcp_counters(conn)->retransmissions_swallowed++;
	if (++x->copies < TCP_COPIES_MAX || conn->connector ||
	    x->claim.state != BUDGET_CLAIM_HELD ||
	    loop_now_us(tcp_loop(conn)) - x->start_us < conn->config.leg.stall_timeout_us)
		return;
	tcp_counters(conn)->retransmitted_closes++;
	tcp_conn_fail(conn, LEG_CLOSE_RETRANSMITTED, "XID %08x", x->facts.hdr.xid);
}

/* The record is complete. */
static void end_record(struct record_rx *in)
{
	tcp_counters(in->conn)->records_received++;
	switch (in->mode) {
	case RECORD_RX_HEAD:
	case RECORD_RX_GATHER:
		rx_sniff_fail(&in->greeting, in->conn, in->parser.mark, LEG_CLOSE_NOT_RPC,
			      "a record of %u bytes", in->parser.record_bytes);
		return;
	case RECORD_RX_BODY:
		in->body->len_bytes = in->body->have_bytes;
		in->events->end(in->arg);
		break;
	case RECORD_RX_SKIP:
		if (in->repeated)
			end_repeated(in);
		let_go(in);
		break;
	}
	in->greeting.is_over = true;
	begin_record(in);
}

/* Whether there was something to do about what has been set aside of the record, without input. */
static bool see_to_aside(struct record_rx *in)
{
	if (in->mode == RECORD_RX_HEAD && in->head_bytes == TCP_RECORD_HEAD_BYTES)
		in->events->head(in->arg);
	else if (in->mode == RECORD_RX_GATHER && is_enough(in, in->gathered_bytes))
		in->events->begin(in->arg, in->gathered, in->gathered_bytes);
	else if (in->ended)
		end_record(in);
	else
		return false;
	return true;
}

size_t record_rx_take(struct record_rx *in, const uint8_t *bytes, size_t len_bytes)
{
	const struct tcp_conn *conn = in->conn;
	size_t at = 0, used;

	while (tcp_conn_takes_input(conn) && (in->turn_records < TCP_TURN_RECORDS || in->ended)) {
		if (in->head_bytes && see_to_aside(in))
			continue;
		switch (record_next(&in->parser, bytes + at, len_bytes - at, &used)) {
		case RECORD_BODY:
			at += used;
			if (at == len_bytes)
				return at;
			at += take_body(in, bytes + at, len_bytes - at);
			break;
		case RECORD_END:
			at += used;
			in->progress_bytes = TCP_STALL_PROGRESS_BYTES;
			in->turn_records++;
			in->ended = true;
			if (!in->head_bytes)
				end_record(in);
			break;
		case RECORD_MORE:
			return len_bytes;
		case RECORD_TOO_BIG:
			rx_sniff_fail(&in->greeting, in->conn, in->parser.mark,
				      LEG_CLOSE_RECORD_TOO_BIG, "over %u bytes",
				      in->parser.max_bytes);
			break;
		case RECORD_TOO_EMPTY:
			rx_sniff_fail(&in->greeting, in->conn, in->parser.mark, LEG_CLOSE_NOT_RPC,
				      "more than %u empty fragments", RECORD_MAX_EMPTY_FRAGMENTS);
			break;
		}
	}
	return at;
}

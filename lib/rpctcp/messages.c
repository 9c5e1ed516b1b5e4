// SPDX-License-Identifier: BSD-3-Clause
/* The TCP leg's messages: what each record is, and who deals with it. */
#include "rpctcp/messages.h"

#include "rpctcp/call_admission.h"
#include "rpctcp/rx_call.h"
#include "rpctcp/rx_reply.h"

/* Whether the record is a Call that may be taken, and its XID; else it has been dealt with. */
static bool is_call(struct tcp_messages *msgs, const uint8_t *msg, uint32_t have_bytes,
		    uint32_t *xid)
{
	enum rpc_msg_type type;
	enum rpc_verdict verdict = rpc_msg_peek(msg, have_bytes, xid, &type);

	if (verdict != RPC_OK)
		rx_sniff_fail(&msgs->in->greeting, msgs->conn, msgs->in->parser.mark,
			      LEG_CLOSE_NOT_RPC, "a message that is no RPC: %s",
			      rpc_verdict_name(verdict));
	else if (type == RPC_REPLY)
		rx_reply_begin(msgs, *xid);
	else if (msgs->conn->state.now == TCP_DRAINING)
		tcp_message_skip(msgs);
	else
		return true;
	return false;
}

static void on_head(void *arg)
{
	struct tcp_messages *msgs = arg;
	uint32_t xid;

	if (is_call(msgs, msgs->in->head, msgs->in->head_bytes, &xid))
		rx_call_head(msgs);
}

static void on_begin(void *arg, const uint8_t *msg, uint32_t have_bytes)
{
	uint32_t xid;

	if (is_call(arg, msg, have_bytes, &xid))
		rx_call_begin(arg, msg, have_bytes, xid);
}

static void on_overflow(void *arg)
{
	struct tcp_messages *msgs = arg;

	if (msgs->type == RPC_REPLY)
		rx_reply_overflow(msgs);
	else
		rx_call_overflow(msgs);
}

static void on_grown(void *arg)
{
	struct tcp_messages *msgs = arg;

	if (msgs->type == RPC_REPLY)
		rx_reply_grown(msgs);
	else
		rx_call_grown(msgs);
}

static void on_end(void *arg)
{
	struct tcp_messages *msgs = arg;

	if (msgs->type == RPC_REPLY)
		rx_reply_end(msgs);
	else
		rx_call_end(msgs);
}

static void on_cut(void *arg)
{
	rx_call_cut(arg);
}

const struct record_rx_events tcp_messages_events = {
	.head = on_head,
	.begin = on_begin,
	.overflow = on_overflow,
	.grown = on_grown,
	.end = on_end,
	.cut = on_cut,
};

void tcp_messages_init(struct tcp_messages *msgs, struct tcp_conn *conn, struct inflight *flight,
		       struct record_tx *out, struct record_rx *in)
{
	*msgs = (struct tcp_messages){.conn = conn, .flight = flight, .out = out, .in = in};
	call_admission_init(msgs);
	rx_call_init(msgs);
}

void tcp_messages_fini(struct tcp_messages *msgs)
{
	call_admission_fini(msgs);
	tcp_message_let_go(msgs);
}

void tcp_messages_drain(struct tcp_messages *msgs)
{
	enum record_rx_mode mode = msgs->in->mode;

	call_admission_drop(msgs);
	if (mode == RECORD_RX_HEAD)
		tcp_message_let_go(msgs);
	else if (mode == RECORD_RX_GATHER ||
		 (mode == RECORD_RX_BODY && msgs->type == RPC_CALL && !tcp_message_is_given(msgs)))
		tcp_message_skip(msgs);
}

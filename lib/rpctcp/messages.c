// SPDX-License-Identifier: BSD-3-Clause
/* The TCP leg's messages: what each record is, and who deals with it. */
#include "rpctcp/messages.h"

#include "rpctcp/call.h"
#include "rpctcp/reply.h"

static void begin(struct tcp_messages *msgs, const uint8_t *msg, uint32_t len_bytes, bool whole)
{
	enum rpc_msg_type type;
	uint32_t xid;
	enum rpc_verdict verdict = rpc_msg_peek(msg, len_bytes, &xid, &type);

	if (verdict != RPC_OK)
		tcp_conn_fail(msgs->conn, LEG_CLOSE_NOT_RPC, "a message that is %s",
			      rpc_verdict_name(verdict));
	else if (type == RPC_REPLY)
		tcp_reply_begin(msgs, xid);
	else if (msgs->conn->state.now == TCP_DRAINING)
		tcp_message_skip(msgs);
	else if (whole)
		tcp_call_begin_whole(msgs, msg, len_bytes, xid);
	else
		tcp_call_begin(msgs, xid);
}

static void on_begin_whole(void *arg, const uint8_t *msg, uint32_t len_bytes)
{
	begin(arg, msg, len_bytes, true);
}

static void on_begin(void *arg)
{
	struct tcp_messages *msgs = arg;

	begin(msgs, msgs->in->head, msgs->in->head_bytes, false);
}

static void on_overflow(void *arg)
{
	struct tcp_messages *msgs = arg;
	uint32_t xid;
	enum rpc_msg_type type;

	/* The head decoded when the record began. */
	if (rpc_msg_peek(msgs->in->head, msgs->in->head_bytes, &xid, &type) != RPC_OK)
		return;
	if (type == RPC_CALL)
		tcp_call_overflow(msgs, xid);
	else
		tcp_reply_overflow(msgs);
}

static void on_end(void *arg)
{
	struct tcp_messages *msgs = arg;

	if (msgs->type == RPC_REPLY)
		tcp_reply_end(msgs);
	else
		tcp_call_end(msgs);
}

const struct tcp_input_events tcp_messages_events = {
	.begin_whole = on_begin_whole,
	.begin = on_begin,
	.overflow = on_overflow,
	.end = on_end,
};

static void granted(void *arg)
{
	tcp_conn_block(arg, TCP_BLOCK_BUDGET, false);
}

void tcp_messages_init(struct tcp_messages *msgs, struct tcp_conn *conn, struct tcp_flight *flight,
		       struct tcp_output *out, struct tcp_input *in)
{
	*msgs = (struct tcp_messages){.conn = conn, .flight = flight, .out = out, .in = in};
	budget_claim_init(&msgs->claim, granted, conn);
}

void tcp_messages_fini(struct tcp_messages *msgs)
{
	tcp_message_let_go(msgs);
}

void tcp_messages_drain(struct tcp_messages *msgs)
{
	if (msgs->in->mode == TCP_INPUT_HEAD)
		tcp_message_let_go(msgs);
	else if (msgs->in->mode == TCP_INPUT_BODY && msgs->type == RPC_CALL)
		tcp_message_skip(msgs);
}

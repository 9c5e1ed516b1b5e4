// SPDX-License-Identifier: BSD-3-Clause
/* Replies to the TCP leg's Calls. */
#include "rpctcp/rx_reply.h"

#include "rpctcp/call_admission.h"

/*
 * A Reply of a server that is long enough to be passed on in parts. Its length is known, so that it cannot turn out to be
 * too long; a client's, to a reverse Call, is given up whole, for a client that ends in the middle of it still gets the
 * Replies to its Calls, which may wait behind.
 */
static bool may_come_in_parts(const struct tcp_messages *msgs)
{
	return msgs->conn->config.leg.partial && msgs->conn->connector &&
	       record_rx_comes_in_parts(msgs->in);
}

static bool is_given(const struct tcp_messages *msgs)
{
	return msgs->in->body == &msgs->x->reply;
}

/* Takes @x from the Calls to the peer and hands our reference to the owner. */
static void give_reply(struct tcp_messages *msgs, struct exchange *x)
{
	const struct leg_config *config = &msgs->conn->config.leg;

	inflight_out_take(msgs->flight, x);
	call_admission_reverse(msgs);
	config->events->reply(config->arg, x);
}

static void give_fault(struct tcp_messages *msgs, struct exchange *x, enum exchange_fault fault)
{
	if (fault == EXCHANGE_FAULT_TOO_BIG) {
		tcp_counters(msgs->conn)->replies_too_big++;
		tcp_conn_note(msgs->conn, TCP_NOTE_REPLY_TOO_BIG,
			      "a Reply was larger than its Call allows and was thrown away");
	} else {
		tcp_conn_note(msgs->conn, TCP_NOTE_BAD_REPLY, "a Reply did not decode");
	}
	x->fault = fault;
	give_reply(msgs, x);
}

/* A Reply, whose memory its Call has claimed. */
void rx_reply_begin(struct tcp_messages *msgs, uint32_t xid)
{
	const struct record_parser *parser = &msgs->in->parser;
	struct exchange *x = xid_table_find(&msgs->flight->out, xid);

	if (!x) {
		tcp_counters(msgs->conn)->unmatched_replies++;
		tcp_conn_note(msgs->conn, TCP_NOTE_UNMATCHED,
			      "a Reply without a Call was thrown away");
		tcp_message_skip(msgs);
		return;
	}
	if (parser->record_bytes > x->reply_max_bytes) {
		tcp_message_skip(msgs);
		give_fault(msgs, x, EXCHANGE_FAULT_TOO_BIG);
		return;
	}
	msgs->x = exchange_ref(x);
	tcp_message_body(msgs, RPC_REPLY, parser->last ? parser->record_bytes : x->reply_max_bytes);
}

void rx_reply_overflow(struct tcp_messages *msgs)
{
	struct exchange *x = msgs->x;

	/* It is among the Calls in flight too. */
	tcp_message_skip(msgs);
	give_fault(msgs, x, EXCHANGE_FAULT_TOO_BIG);
}

/* Until it is complete it stays among the Calls to the peer: a leg that drains waits for it. */
void rx_reply_grown(struct tcp_messages *msgs)
{
	const struct leg_config *config = &msgs->conn->config.leg;
	const struct rpc_msg *msg = msgs->in->body;
	struct exchange *x = msgs->x;
	struct rpc_reply_hdr hdr;

	if (is_given(msgs)) {
		config->events->more(config->arg, x);
	} else if (may_come_in_parts(msgs) &&
		   rpc_reply_decode(msg->data, msg->have_bytes, &hdr) == RPC_OK) {
		record_rx_lend(msgs->in, &x->reply);
		config->events->reply(config->arg, exchange_ref(x));
	}
}

/* The last part of one that was given up before. */
static void end_given(struct tcp_messages *msgs)
{
	const struct leg_config *config = &msgs->conn->config.leg;
	struct exchange *x = msgs->x;

	msgs->x = NULL;
	tcp_counters(msgs->conn)->replies_received++;
	inflight_out_take(msgs->flight, x);
	exchange_put(x);
	config->events->more(config->arg, x);
	exchange_put(x);
}

void rx_reply_end(struct tcp_messages *msgs)
{
	struct record_rx *in = msgs->in;
	struct exchange *x = msgs->x;
	struct rpc_reply_hdr hdr;

	if (is_given(msgs)) {
		end_given(msgs);
		return;
	}
	msgs->x = NULL;
	if (rpc_reply_decode(in->msg.data, in->msg.len_bytes, &hdr) == RPC_OK) {
		x->reply = in->msg;
		in->msg = (struct rpc_msg){0};
		tcp_counters(msgs->conn)->replies_received++;
		give_reply(msgs, x);
	} else {
		rpc_msg_put(&in->msg);
		give_fault(msgs, x, EXCHANGE_FAULT_BAD_REPLY);
	}
	exchange_put(x);
}

// SPDX-License-Identifier: BSD-3-Clause
/* The record that is being received: what it holds, and the ways to be rid of it. */
#include "rpctcp/message.h"

void tcp_message_let_go(struct tcp_messages *msgs)
{
	/* Else it is that of the first Call that is parked. */
	if (!msgs->parked)
		budget_release(&msgs->claim);
	exchange_put(msgs->call);
	exchange_put(msgs->x);
	msgs->call = msgs->x = NULL;
}

/* The rest of the record is thrown away, and what was held for it is given back. */
void tcp_message_skip(struct tcp_messages *msgs)
{
	tcp_message_let_go(msgs);
	record_rx_skip(msgs->in);
}

/* A Reply of our own to the record that is being read. */
void tcp_message_answer(struct tcp_messages *msgs, const uint8_t *reply, size_t len_bytes)
{
	tcp_message_skip(msgs);
	if (record_tx_answer(msgs->out, reply, (uint32_t)len_bytes))
		tcp_conn_fail(msgs->conn, LEG_CLOSE_RESOURCES, "no memory for an answer");
}

/* The message has been admitted: its memory is there, or the leg fails. */
void tcp_message_body(struct tcp_messages *msgs, enum rpc_msg_type type, uint32_t cap_bytes)
{
	msgs->type = type;
	if (record_rx_body(msgs->in, cap_bytes))
		tcp_conn_fail(msgs->conn, LEG_CLOSE_RESOURCES, "no memory for %u bytes", cap_bytes);
}

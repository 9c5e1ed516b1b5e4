// SPDX-License-Identifier: BSD-3-Clause
/* The list of Calls to the peer is in the order in which they came, so its first is the first to be late. */
#include "rpctcp/rx_reply.h"

#include "rpctcp/call_admission.h"
#include "rpctcp/tcp_close.h"

/*
 * A Reply of a server that is long enough to be passed on in parts. Its length is known, so that it cannot turn out to be
 * too long; a client's, to a reverse Call, is given up whole, for a client that ends in the middle of it still gets the
 * Replies to its Calls, which may wait behind.
 */
static bool may_come_in_parts(const struct tcp_leg *leg)
{
	return leg->conn.config.leg.partial && leg->conn.connector &&
	       record_rx_comes_in_parts(&leg->record);
}

static bool rx_reply_is_delivered(const struct tcp_leg *leg)
{
	return leg->record.body == &leg->answered->reply;
}

/* Takes @x from the Calls to the peer and hands our reference to the owner. */
static void rx_reply_deliver(struct tcp_leg *leg, struct exchange *x)
{
	const struct leg_config *config = &leg->conn.config.leg;

	inflight_out_take(&leg->inflight, x);
	call_admission_reverse(leg);
	config->events->reply(config->arg, x);
}

static void rx_reply_deliver_fault(struct tcp_leg *leg, struct exchange *x,
				   enum exchange_fault fault)
{
	if (fault == EXCHANGE_FAULT_TOO_BIG) {
		tcp_counters(&leg->conn)->replies_too_big++;
		tcp_conn_note(&leg->conn, TCP_NOTE_REPLY_TOO_BIG,
			      "a Reply was larger than its Call allows and was thrown away");
	} else {
		tcp_conn_note(&leg->conn, TCP_NOTE_BAD_REPLY, "a Reply did not decode");
	}
	x->fault = fault;
	rx_reply_deliver(leg, x);
}

void rx_reply_fini(struct tcp_leg *leg)
{
	exchange_put(leg->answered);
	leg->answered = NULL;
}

void rx_reply_skip(struct tcp_leg *leg)
{
	rx_reply_fini(leg);
	record_rx_skip(&leg->record);
}

/* A Reply, whose memory its Call has claimed. */
void rx_reply_begin(struct tcp_leg *leg, uint32_t xid)
{
	const struct record_parser *parser = &leg->record.parser;
	struct exchange *x = xid_table_find(&leg->inflight.out, xid);
	uint32_t cap;

	if (!x) {
		tcp_counters(&leg->conn)->unmatched_replies++;
		tcp_conn_note(&leg->conn, TCP_NOTE_UNMATCHED,
			      "a Reply without a Call was thrown away");
		rx_reply_skip(leg);
		return;
	}
	if (parser->record_bytes > x->reply_max_bytes) {
		rx_reply_skip(leg);
		rx_reply_deliver_fault(leg, x, EXCHANGE_FAULT_TOO_BIG);
		return;
	}
	leg->answered = exchange_ref(x);
	cap = parser->last ? parser->record_bytes : x->reply_max_bytes;
	if (record_rx_body(&leg->record, cap))
		tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0, "no memory for %u bytes",
			  cap);
}

void rx_reply_overflow(struct tcp_leg *leg)
{
	struct exchange *x = leg->answered;

	/* It is among the Calls in flight too. */
	rx_reply_skip(leg);
	rx_reply_deliver_fault(leg, x, EXCHANGE_FAULT_TOO_BIG);
}

/* Until it is complete it stays among the Calls to the peer: a leg that drains waits for it. */
void rx_reply_grown(struct tcp_leg *leg)
{
	const struct leg_config *config = &leg->conn.config.leg;
	const struct rpc_msg *msg = leg->record.body;
	struct exchange *x = leg->answered;
	struct rpc_reply_hdr hdr;

	if (rx_reply_is_delivered(leg)) {
		config->events->more(config->arg, x);
	} else if (may_come_in_parts(leg) &&
		   rpc_reply_decode(msg->data, msg->have_bytes, &hdr) == RPC_OK) {
		record_rx_lend(&leg->record, &x->reply);
		config->events->reply(config->arg, exchange_ref(x));
	}
}

/* The last part of one that was given up before. */
static void rx_reply_end_delivered(struct tcp_leg *leg)
{
	const struct leg_config *config = &leg->conn.config.leg;
	struct exchange *x = leg->answered;

	leg->answered = NULL;
	tcp_counters(&leg->conn)->replies_received++;
	inflight_out_take(&leg->inflight, x);
	exchange_put(x);
	config->events->more(config->arg, x);
	exchange_put(x);
}

void rx_reply_end(struct tcp_leg *leg)
{
	struct record_rx *record = &leg->record;
	struct exchange *x = leg->answered;
	struct rpc_reply_hdr hdr;

	if (rx_reply_is_delivered(leg)) {
		rx_reply_end_delivered(leg);
		return;
	}
	leg->answered = NULL;
	if (rpc_reply_decode(record->msg.data, record->msg.len_bytes, &hdr) == RPC_OK) {
		x->reply = record->msg;
		record->msg = (struct rpc_msg){0};
		tcp_counters(&leg->conn)->replies_received++;
		rx_reply_deliver(leg, x);
	} else {
		rpc_msg_put(&record->msg);
		rx_reply_deliver_fault(leg, x, EXCHANGE_FAULT_BAD_REPLY);
	}
	exchange_put(x);
}

/* Reverse Calls that are not answered in time */

static uint64_t timeout_us(const struct tcp_leg *leg)
{
	return leg->conn.config.reverse_timeout_us;
}

/* The first whose Reply is not being received: a time limit of its own ends that. NULL: there is none. */
static struct exchange *first_awaited(const struct tcp_leg *leg)
{
	struct exchange *x = TAILQ_FIRST(&leg->inflight.out_list);

	return x && x == leg->answered ? TAILQ_NEXT(x, target_entry) : x;
}

static uint64_t age_us(const struct tcp_leg *leg, const struct exchange *x)
{
	uint64_t now_us = loop_now_us(tcp_loop(&leg->conn));

	return now_us > x->start_us ? now_us - x->start_us : 0;
}

static void set_due(struct tcp_leg *leg, uint64_t age_us)
{
	uint64_t limit_us = timeout_us(leg);

	tcp_conn_set_due(&leg->conn, TCP_DUE_REVERSE, limit_us > age_us ? limit_us - age_us : 0);
}

static void fail_late(struct tcp_leg *leg, struct exchange *x)
{
	tcp_counters(&leg->conn)->reverse_timeouts++;
	tcp_conn_note(&leg->conn, TCP_NOTE_LATE,
		      "a reverse Call was not answered in time: it and others like it are answered "
		      "SYSTEM_ERR");
	x->fault = EXCHANGE_FAULT_LATE;
	/* Its credit goes back, so that its server sends another one: they would pile up here. */
	record_tx_drop_call(&leg->tx, x);
	rx_reply_deliver(leg, x);
}

void rx_reply_await(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;

	if (!conn->connector && timeout_us(leg) && !conn->due_us[TCP_DUE_REVERSE])
		set_due(leg, age_us(leg, TAILQ_LAST(&leg->inflight.out_list, exchange_list)));
}

void rx_reply_expired(struct tcp_leg *leg)
{
	struct exchange *x;

	while (tcp_conn_is_open(&leg->conn) && (x = first_awaited(leg))) {
		uint64_t us = age_us(leg, x);

		if (us < timeout_us(leg)) {
			set_due(leg, us);
			return;
		}
		fail_late(leg, x);
	}
	/* One that is being answered may be followed by others. */
	if (tcp_conn_is_open(&leg->conn) && !TAILQ_EMPTY(&leg->inflight.out_list))
		set_due(leg, 0);
}

// SPDX-License-Identifier: BSD-3-Clause
/* The list of Calls to the peer is in order of arrival, so the first one is late first. */
#include "rpctcp/rx_reply.h"

#include "rpctcp/call_admission.h"
#include "rpctcp/tcp_close.h"

/*
 * Returns whether a Reply can be delivered in parts. It must be long enough, and its length known,
 * so that it cannot exceed the limit later. A client's Reply to a reverse Call is delivered
 * complete: a client that ends in the middle of it still gets the Replies to its Calls, which may
 * be queued after it.
 */
static bool may_deliver_partial(const struct tcp_leg *leg)
{
	return leg->conn.config.leg.partial && leg->conn.connector &&
	       record_rx_may_be_partial(&leg->record);
}

static bool rx_reply_is_delivered(const struct tcp_leg *leg)
{
	return leg->record.body == &leg->answered->reply;
}

/* Removes @x from the Calls to the peer, and passes our reference to the owner. */
static void rx_reply_deliver(struct tcp_leg *leg, struct exchange *x)
{
	const struct leg_config *config = &leg->conn.config.leg;

	inflight_out_remove(&leg->inflight, x);
	call_admission_reverse(leg);
	config->events->reply(config->arg, x);
}

static void rx_reply_deliver_fault(struct tcp_leg *leg, struct exchange *x,
				   enum exchange_fault fault)
{
	if (fault == EXCHANGE_FAULT_TOO_BIG) {
		tcp_counters(&leg->conn)->replies_too_big++;
		tcp_conn_note(&leg->conn, TCP_NOTE_REPLY_TOO_BIG,
			      "a Reply larger than its Call allows was discarded");
	} else {
		tcp_conn_note(&leg->conn, TCP_NOTE_BAD_REPLY, "a Reply could not be decoded");
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

/* The memory of a Reply was claimed by its Call. */
void rx_reply_begin(struct tcp_leg *leg, uint32_t xid)
{
	const struct record_parser *parser = &leg->record.parser;
	struct exchange *x = xid_table_find(&leg->inflight.out, xid);
	uint32_t cap;

	if (!x) {
		tcp_counters(&leg->conn)->unmatched_replies++;
		tcp_conn_note(&leg->conn, TCP_NOTE_UNMATCHED,
			      "a Reply without a Call was discarded");
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

	/* The table of Calls in flight still has a reference. */
	rx_reply_skip(leg);
	rx_reply_deliver_fault(leg, x, EXCHANGE_FAULT_TOO_BIG);
}

/* It stays in the table until the Reply is complete: a leg that drains waits for it. */
void rx_reply_grown(struct tcp_leg *leg)
{
	const struct leg_config *config = &leg->conn.config.leg;
	const struct rpc_msg *msg = leg->record.body;
	struct exchange *x = leg->answered;
	struct rpc_reply_hdr hdr;

	if (rx_reply_is_delivered(leg)) {
		config->events->more(config->arg, x);
	} else if (may_deliver_partial(leg) &&
		   rpc_reply_decode(msg->data, msg->have_bytes, &hdr) == RPC_OK) {
		record_rx_redirect(&leg->record, &x->reply);
		config->events->reply(config->arg, exchange_ref(x));
	}
}

/* Delivers the last part of a Reply that was delivered before. */
static void rx_reply_end_delivered(struct tcp_leg *leg)
{
	const struct leg_config *config = &leg->conn.config.leg;
	struct exchange *x = leg->answered;

	leg->answered = NULL;
	tcp_counters(&leg->conn)->replies_received++;
	inflight_out_remove(&leg->inflight, x);
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

/* Timeout of reverse Calls */

static uint64_t timeout_us(const struct tcp_leg *leg)
{
	return leg->conn.config.reverse_timeout_us;
}

/*
 * Returns the first Call whose Reply is not being received (that has a limit of its own); NULL if
 * none.
 */
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
		      "a reverse Call timed out: this and later ones are answered SYSTEM_ERR");
	x->fault = EXCHANGE_FAULT_LATE;
	/*
	 * Its server gets the credit back and sends another Call: unsent Calls would accumulate
	 * here.
	 */
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
	/* A Call that is being answered can be followed by others. */
	if (tcp_conn_is_open(&leg->conn) && !TAILQ_EMPTY(&leg->inflight.out_list))
		set_due(leg, 0);
}

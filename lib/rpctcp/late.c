// SPDX-License-Identifier: BSD-3-Clause
/* The list of Calls to the peer is in the order in which they came, so its first is the first to be late. */
#include "rpctcp/late.h"

#include "rpctcp/call_admission.h"

static uint64_t timeout_us(const struct tcp_messages *msgs)
{
	return msgs->conn->config.reverse_timeout_us;
}

/* The first whose Reply is not being received: a time limit of its own ends that. NULL: there is none. */
static struct exchange *first(const struct tcp_messages *msgs)
{
	struct exchange *x = TAILQ_FIRST(&msgs->flight->out_list);

	return x && x == msgs->x ? TAILQ_NEXT(x, target_entry) : x;
}

static uint64_t age_us(const struct tcp_messages *msgs, const struct exchange *x)
{
	uint64_t now_us = loop_now_us(tcp_loop(msgs->conn));

	return now_us > x->start_us ? now_us - x->start_us : 0;
}

static void set_due(struct tcp_messages *msgs, uint64_t age_us)
{
	uint64_t limit_us = timeout_us(msgs);

	tcp_conn_set_due(msgs->conn, TCP_DUE_REVERSE, limit_us > age_us ? limit_us - age_us : 0);
}

static void fail(struct tcp_messages *msgs, struct exchange *x)
{
	const struct leg_config *config = &msgs->conn->config.leg;

	tcp_counters(msgs->conn)->reverse_timeouts++;
	tcp_conn_note(msgs->conn, TCP_NOTE_LATE,
		      "a reverse Call was not answered in time: it and others like it are answered "
		      "SYSTEM_ERR");
	x->fault = EXCHANGE_FAULT_LATE;
	/* Its credit goes back, so that its server sends another one: they would pile up here. */
	record_tx_drop_call(msgs->out, x);
	inflight_out_take(msgs->flight, x);
	call_admission_reverse(msgs);
	config->events->reply(config->arg, x);
}

void tcp_late_watch(struct tcp_messages *msgs)
{
	struct tcp_conn *conn = msgs->conn;

	if (!conn->connector && timeout_us(msgs) && !conn->due_us[TCP_DUE_REVERSE])
		set_due(msgs, age_us(msgs, TAILQ_LAST(&msgs->flight->out_list, exchange_list)));
}

void tcp_late_expired(struct tcp_messages *msgs)
{
	struct exchange *x;

	while (tcp_conn_is_open(msgs->conn) && (x = first(msgs))) {
		uint64_t us = age_us(msgs, x);

		if (us < timeout_us(msgs)) {
			set_due(msgs, us);
			return;
		}
		fail(msgs, x);
	}
	/* One that is being answered may be followed by others. */
	if (tcp_conn_is_open(msgs->conn) && !TAILQ_EMPTY(&msgs->flight->out_list))
		set_due(msgs, 0);
}

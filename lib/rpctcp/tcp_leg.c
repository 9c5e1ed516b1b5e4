// SPDX-License-Identifier: BSD-3-Clause
/* The operations of leg.h, the task, and the stream's events. */
#include "rpctcp/tcp_leg.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpctcp/call_admission.h"
#include "rpctcp/rx_call.h"
#include "rpctcp/rx_reply.h"
#include "rpctcp/tcp_close.h"
#include "rpctcp/tcp_rx.h"
#include "rpctcp/tcp_tls.h"

COUNTER_TABLE(tcp_leg_counters, TCP_LEG_COUNTERS);

int tcp_worker_init(struct tcp_worker *worker, struct stream_net *streams)
{
	*worker = (struct tcp_worker){.streams = streams};
	worker->staging = malloc(TCP_STAGING_BYTES);
	return worker->staging ? 0 : -ENOMEM;
}

void tcp_worker_fini(struct tcp_worker *worker)
{
	free(worker->staging);
	worker->staging = NULL;
	freelist_fini(&worker->prebuffers);
}

static struct tcp_leg *tcp_leg_of(struct leg *leg)
{
	return container_of(leg, struct tcp_leg, leg);
}

/* The task: each step can close the leg. */

static void report_opened(struct tcp_leg *leg)
{
	const struct leg_config *config = &leg->conn.config.leg;

	if (!tcp_conn_is_open(&leg->conn) || !leg->opened_due)
		return;
	leg->opened_due = false;
	config->events->opened(config->arg);
}

static void deliver_faults(struct tcp_leg *leg)
{
	const struct leg_config *config = &leg->conn.config.leg;
	struct exchange *x;

	while (leg->conn.state.now < TCP_FLUSHING && (x = inflight_fault_pop(&leg->inflight)))
		config->events->reply(config->arg, x);
}

static void report_half_closed(struct tcp_leg *leg)
{
	if (!leg->half_closed_due || !tcp_conn_is_open(&leg->conn))
		return;
	leg->half_closed_due = false;
	leg->half_closed_notified = true;
	tcp_conn_half_closed(&leg->conn);
}

/*
 * Calls closing() if it is due; frees what the leg holds; and calls closed() once the stream is
 * closed. closed() can free the leg.
 */
static void report_end(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	const struct leg_config *config = &conn->config.leg;

	if (conn->state.now < TCP_FLUSHING)
		return;
	tcp_close_notify(leg);
	record_rx_fini(&leg->record);
	tcp_rx_fini(leg);
	rx_call_fini(leg);
	rx_reply_fini(leg);
	inflight_release(&leg->inflight);
	if (conn->state.now != TCP_CLOSING)
		return;
	record_tx_fini(&leg->tx);
	stream_free(conn->stream);
	conn->stream = NULL;
	tcp_conn_set_state(conn, TCP_CLOSED);
	config->events->closed(config->arg);
}

static void flush(struct tcp_leg *leg)
{
	int rc = record_tx_flush(&leg->tx);

	if (rc)
		tcp_close_broken(leg, -rc);
	call_admission_answered(leg);
}

static void secure(struct tcp_leg *leg)
{
	if (!tcp_tls_work(leg))
		return;
	tcp_rx_fini(leg);
	leg->conn.unread_pending = false;
}

static void on_work(void *arg)
{
	struct tcp_leg *leg = arg;
	struct tcp_conn *conn = &leg->conn;

	report_opened(leg);
	report_half_closed(leg);
	call_admission_run_parked(leg);
	if (conn->unread_pending && tcp_conn_may_receive(conn))
		tcp_rx_resume(leg);
	deliver_faults(leg);
	/* A stream that accepts no more output reports when it does. */
	if (!conn->send_full && (tcp_conn_is_open(conn) || conn->state.now == TCP_FLUSHING))
		flush(leg);
	else if (conn->state.now == TCP_SECURING)
		secure(leg);
	tcp_close_check_done(leg);
	tcp_close_check_flushed(leg);
	report_end(leg);
}

/*
 * Reasons and details by the errno of connect(); NULL: the text of the errno. The first row is for
 * all other errnos.
 */
static const struct connect_error {
	int err;
	enum leg_close why;
	const char *detail;
} connect_errors[] = {
	{0, LEG_CLOSE_UNREACHABLE, NULL},
	{ECONNREFUSED, LEG_CLOSE_REFUSED, NULL},
	{ECONNRESET, LEG_CLOSE_REFUSED, NULL},
	{ETIMEDOUT, LEG_CLOSE_TIMEOUT, NULL},
	{EMFILE, LEG_CLOSE_RESOURCES, NULL},
	{ENFILE, LEG_CLOSE_RESOURCES, NULL},
	{ENOBUFS, LEG_CLOSE_RESOURCES, NULL},
	{ENOMEM, LEG_CLOSE_RESOURCES, NULL},
	{EACCES, LEG_CLOSE_NO_SOURCE_PORT,
	 "ports below 1024 need CAP_NET_BIND_SERVICE, which is missing"},
	{EADDRINUSE, LEG_CLOSE_NO_SOURCE_PORT, "all allowed ports are in use towards that address"},
	{EADDRNOTAVAIL, LEG_CLOSE_NO_SOURCE_PORT,
	 "all allowed ports are in use towards that address"},
	{EBUSY, LEG_CLOSE_NO_SOURCE_PORT, "the only allowed port is in use towards that address"},
	{ENODEV, LEG_CLOSE_NO_SOURCE_ADDRESS, "this host does not have the address"},
};

static void connect_failed(struct tcp_leg *leg, int err)
{
	const struct connect_error *row = connect_errors;

	for (unsigned i = 1; i < ARRAY_SIZE(connect_errors); i++)
		if (connect_errors[i].err == err)
			row = &connect_errors[i];
	tcp_counters(&leg->conn)->connect_failures++;
	tcp_close(leg, row->why, TCP_CLOSE_NOW, err, "%s",
		  row->detail ? row->detail : strerror(err));
}

/* Deadlines */

static void input_stalled(struct tcp_leg *leg)
{
	const struct record_parser *parser = &leg->record.parser;

	tcp_counters(&leg->conn)->stalls++;
	tcp_close(leg, LEG_CLOSE_RECORD_STALLED, TCP_CLOSE_NOW, 0, "%u bytes of a record received",
		  parser->record_bytes - parser->fragment_left_bytes);
}

static void check_output(struct tcp_leg *leg)
{
	enum leg_close why = leg->conn.connector ? LEG_CLOSE_CALL_STALLED : LEG_CLOSE_REPLY_STALLED;

	if (!record_tx_has_stalled(&leg->tx))
		return;
	tcp_counters(&leg->conn)->stalls++;
	tcp_close(leg, why, TCP_CLOSE_NOW, 0, "%zu bytes could not be sent", leg->tx.unsent_bytes);
}

static void on_timer(void *arg)
{
	struct tcp_leg *leg = arg;

	switch (tcp_conn_pop_due(&leg->conn)) {
	case TCP_DUE_STATE:
		if (leg->conn.state.now == TCP_CONNECTING)
			connect_failed(leg, ETIMEDOUT);
		else if (leg->conn.state.now == TCP_SECURING)
			tcp_tls_expired(leg);
		else
			tcp_close_expired(leg);
		break;
	case TCP_DUE_INPUT:
		input_stalled(leg);
		break;
	case TCP_DUE_OUTPUT:
		check_output(leg);
		break;
	case TCP_DUE_REVERSE:
		rx_reply_expired(leg);
		break;
	case TCP_DUE_COUNT:
		break;
	}
	tcp_conn_arm(&leg->conn);
}

/* Events of the stream */

static void begin_drain(struct tcp_leg *leg)
{
	tcp_conn_drain(&leg->conn);
	rx_call_drain(leg);
	tcp_conn_defer(&leg->conn);
}

/* A connecting leg is connected, or a TLS handshake of either role is complete. */
static void begin_open(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	const struct leg_config *config = &conn->config.leg;

	conn->due_us[TCP_DUE_STATE] = 0;
	tcp_conn_set_state(conn, TCP_OPEN);
	tcp_conn_update_events(conn);
	/* Sends what was queued meanwhile. */
	tcp_conn_defer(conn);
	if (conn->connector) {
		tcp_counters(conn)->connections_opened++;
		config->events->opened(config->arg);
	} else {
		if (config->events->secured)
			config->events->secured(config->arg);
		/* Reverse Calls have waited; the time of some may be over. */
		if (conn->config.reverse_timeout_us)
			rx_reply_expired(leg);
	}
	if (leg->drain_due && conn->state.now == TCP_OPEN)
		begin_drain(leg);
}

static void on_connected(void *arg, int error)
{
	struct tcp_leg *leg = arg;
	struct tcp_conn *conn = &leg->conn;

	if (conn->state.now == TCP_SECURING) {
		if (tcp_tls_connected(leg, error))
			begin_open(leg);
		return;
	}
	if (error) {
		connect_failed(leg, -error);
		return;
	}
	stream_addrs(conn->stream, &conn->local, NULL);
	if (leg->tls)
		tcp_tls_connect(leg);
	else
		begin_open(leg);
}

/* QUIET: the byte stays in the stream; it shows that the connection is not idle. */
static void first_byte(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	int n = stream_peek(conn->stream);

	if (n == 0) {
		tcp_close(leg, LEG_CLOSE_PEER, TCP_CLOSE_NOW, 0, "before the first byte");
	} else if (n > 0) {
		tcp_conn_set_state(conn, TCP_REQUESTED);
		tcp_conn_update_events(conn);
		conn->config.leg.events->requested(conn->config.leg.arg);
	} else if (n != -EAGAIN) {
		tcp_close_broken(leg, -n);
	}
}

/* The connection has ended, or cannot be watched. Returns whether the leg continues. */
NOT_INLINE static bool handle_end(struct tcp_leg *leg, unsigned events)
{
	if (events & LOOP_ERROR)
		tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0,
			  "its socket cannot be watched");
	else if (events & LOOP_LOST)
		tcp_close(leg, LEG_CLOSE_LOST, TCP_CLOSE_NOW, 0, "while it was not being read");
	else
		/* Unread input is still read as before; but the client may reconnect earlier. */
		tcp_conn_half_closed(&leg->conn);
	return !(events & (LOOP_ERROR | LOOP_LOST));
}

/* The stream is ready in a state in which no message is received or sent. */
NOT_INLINE static void ready_without_messages(struct tcp_leg *leg, unsigned events)
{
	switch (leg->conn.state.now) {
	case TCP_QUIET:
		first_byte(leg);
		break;
	case TCP_SECURING:
		tcp_tls_ready(leg, events);
		break;
	case TCP_LINGERING:
		tcp_close_linger(leg);
		break;
	default:
		break;
	}
}

static void on_ready(void *arg, unsigned events)
{
	struct tcp_leg *leg = arg;
	struct tcp_conn *conn = &leg->conn;

	if (events & ~(LOOP_READ | LOOP_WRITE) && !handle_end(leg, events))
		return;
	if (!tcp_conn_is_open(conn) && conn->state.now != TCP_FLUSHING) {
		ready_without_messages(leg, events);
		return;
	}
	if (events & LOOP_READ && tcp_conn_is_open(conn))
		tcp_rx_ready(leg);
	if (events & LOOP_WRITE && (tcp_conn_is_open(conn) || conn->state.now == TCP_FLUSHING))
		flush(leg);
	tcp_close_check_done(leg);
	tcp_close_check_flushed(leg);
}

static const struct stream_events stream_events = {
	.ready = on_ready,
	.connected = on_connected,
};

/* The operations */

static void op_accept(struct leg *base)
{
	struct tcp_leg *leg = tcp_leg_of(base);

	if (leg->conn.state.now != TCP_REQUESTED)
		return;
	tcp_conn_set_state(&leg->conn, TCP_OPEN);
	leg->opened_due = true;
	/* Nothing is read before the task has called opened(). */
	leg->conn.unread_pending = true;
	tcp_conn_defer(&leg->conn);
}

static bool op_can_call(const struct leg *base)
{
	return !container_of(base, const struct tcp_leg, leg)->tx.full;
}

static void op_call(struct leg *base, struct exchange *x)
{
	struct tcp_leg *leg = tcp_leg_of(base);

	if (leg->conn.state.now >= TCP_FLUSHING) {
		exchange_put(x);
	} else if (inflight_out_add(&leg->inflight, x)) {
		x->fault = EXCHANGE_FAULT_CANT_SEND;
		inflight_out_fault(&leg->inflight, x);
		tcp_conn_defer(&leg->conn);
	} else if (record_tx_call(&leg->tx, x)) {
		tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0, "no memory to send a Call");
	} else {
		call_admission_reverse(leg);
		rx_reply_await(leg);
	}
}

/*
 * Our own reference keeps @x until its Reply is sent. Memory that the Reply does not need is
 * released now.
 */
static void op_reply(struct leg *base, struct exchange *x)
{
	struct tcp_leg *leg = tcp_leg_of(base);

	if (x->origin == base && tcp_conn_is_open(&leg->conn)) {
		budget_claim_shrink(&x->claim,
				    x->call.buf->size_bytes +
					    (x->reply.buf ? x->reply.buf->size_bytes : 0));
		if (record_tx_reply(&leg->tx, x))
			tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0,
				  "no memory to send a Reply");
	}
	exchange_put(x);
}

/* The queue reads x->call and x->reply: it only has to run again. */
static void op_more(struct leg *base, struct exchange *x)
{
	struct tcp_conn *conn = &tcp_leg_of(base)->conn;

	if (tcp_conn_is_open(conn) && !conn->send_full)
		tcp_conn_defer(conn);
}

static void op_pause(struct leg *base, bool paused)
{
	call_admission_pause(tcp_leg_of(base), paused);
}

static void op_drain(struct leg *base)
{
	struct tcp_leg *leg = tcp_leg_of(base);

	if (leg->conn.state.now == TCP_OPEN)
		begin_drain(leg);
	else if ((leg->conn.state.now == TCP_CONNECTING || leg->conn.state.now == TCP_SECURING) &&
		 !inflight_is_idle(&leg->inflight))
		leg->drain_due = true;
	else if (leg->conn.state.now < TCP_OPEN)
		tcp_close(leg, LEG_CLOSE_SHUTDOWN, TCP_CLOSE_FLUSH, 0, "%s", "");
}

static void op_close(struct leg *base, enum leg_close why)
{
	tcp_close(tcp_leg_of(base), why, TCP_CLOSE_FLUSH, 0, "%s", "");
}

static void op_check_peer_close(struct leg *base)
{
	struct tcp_leg *leg = tcp_leg_of(base);
	struct tcp_conn *conn = &leg->conn;
	unsigned ended;

	if (conn->state.now == TCP_CONNECTING || conn->state.now > TCP_DRAINING)
		return;
	ended = stream_ended(conn->stream);
	if (ended & LOOP_LOST) {
		tcp_close(leg, LEG_CLOSE_LOST, TCP_CLOSE_NOW, 0, "while it was not being read");
	} else if (ended & LOOP_END && !leg->half_closed_notified) {
		leg->half_closed_due = true;
		tcp_conn_defer(conn);
	}
}

static void op_info(const struct leg *base, struct leg_info *info)
{
	const struct tcp_leg *leg = container_of(base, const struct tcp_leg, leg);
	const struct tcp_conn *conn = &leg->conn;

	*info = (struct leg_info){
		.kind = "tcp",
		.state = state_name(&tcp_leg_states, conn->state.now),
		.state_since_us = conn->state.since_us,
		.local = conn->local,
		.peer = conn->peer,
		.calls_in_flight_in = (unsigned)leg->inflight.in.table.count,
		.calls_in_flight_out = (unsigned)leg->inflight.out.table.count,
		.bytes_received = conn->bytes_received,
		.bytes_sent = conn->bytes_sent,
		.tls_answer_bytes = tcp_tls_answer_bytes(leg),
		.tls = tcp_tls_peer(leg),
	};
}

static void op_load(const struct leg *base, struct leg_load *load)
{
	const struct tcp_leg *leg = container_of(base, const struct tcp_leg, leg);

	*load = (struct leg_load){
		.kind = "tcp",
		.calls_in_flight_in = (unsigned)leg->inflight.in.table.count,
		.calls_in_flight_out = (unsigned)leg->inflight.out.table.count,
	};
}

static uint64_t op_sent_bytes(const struct leg *base)
{
	return container_of(base, const struct tcp_leg, leg)->conn.bytes_sent;
}

static uint64_t op_left_bytes(const struct leg *base)
{
	return tcp_conn_transmitted_bytes(&container_of(base, const struct tcp_leg, leg)->conn);
}

static uint64_t op_acked_bytes(const struct leg *base)
{
	return tcp_conn_acked_bytes(&container_of(base, const struct tcp_leg, leg)->conn);
}

static void destroy(struct tcp_leg *leg)
{
	tcp_tls_fini(leg);
	inflight_fini(&leg->inflight);
	tcp_conn_fini(&leg->conn);
	free(leg);
}

static void op_free(struct leg *base)
{
	struct tcp_leg *leg = tcp_leg_of(base);

	assert(leg->conn.state.now == TCP_CLOSED);
	destroy(leg);
}

static const struct leg_ops tcp_leg_ops = {
	.accept = op_accept,
	.can_call = op_can_call,
	.call = op_call,
	.reply = op_reply,
	.more = op_more,
	.pause = op_pause,
	.drain = op_drain,
	.close = op_close,
	.check_peer_close = op_check_peer_close,
	.info = op_info,
	.load = op_load,
	.sent_bytes = op_sent_bytes,
	.left_bytes = op_left_bytes,
	.acked_bytes = op_acked_bytes,
	.free = op_free,
};

static struct tcp_leg *leg_new(const struct tcp_leg_config *config, enum tcp_leg_state first)
{
	struct tcp_leg *leg = calloc(1, sizeof(*leg));

	if (!leg)
		return NULL;
	leg->leg.ops = &tcp_leg_ops;
	leg->leg.config = &leg->conn.config.leg;
	if (tcp_conn_init(&leg->conn, config, first, on_work, on_timer, leg)) {
		free(leg);
		return NULL;
	}
	inflight_init(&leg->inflight, &leg->leg);
	record_tx_init(&leg->tx, &leg->conn, &leg->inflight);
	record_rx_init(&leg->record, &leg->conn);
	tcp_rx_init(leg);
	call_admission_init(leg);
	rx_call_init(leg);
	return leg;
}

int tcp_leg_accept(const struct tcp_leg_config *config, struct stream *stream,
		   const struct tcp_addrs *ends, struct leg **out)
{
	struct tcp_leg *leg = leg_new(config, TCP_QUIET);

	if (leg && tcp_tls_init(leg)) {
		destroy(leg);
		leg = NULL;
	}
	if (!leg) {
		stream_close(stream, false);
		stream_free(stream);
		return -ENOMEM;
	}
	leg->conn.stream = stream;
	stream_bind(stream, &stream_events, leg);
	if (ends) {
		leg->conn.local = ends->local;
		leg->conn.peer = ends->peer;
	} else {
		stream_addrs(stream, &leg->conn.local, &leg->conn.peer);
	}
	tcp_counters(&leg->conn)->connections_accepted++;
	tcp_conn_update_events(&leg->conn);
	*out = &leg->leg;
	return 0;
}

struct stream *tcp_leg_stream(struct leg *base)
{
	struct tcp_conn *conn = &tcp_leg_of(base)->conn;

	return conn->state.now == TCP_REQUESTED ? conn->stream : NULL;
}

struct stream *tcp_leg_detach(struct leg *base, struct tcp_addrs *ends)
{
	struct tcp_leg *leg = tcp_leg_of(base);
	struct stream *stream = leg->conn.stream;

	assert(leg->conn.state.now == TCP_REQUESTED);
	*ends = (struct tcp_addrs){.local = leg->conn.local, .peer = leg->conn.peer};
	destroy(leg);
	return stream;
}

int tcp_leg_connect(const struct tcp_leg_config *config, const struct stream_target *target,
		    struct leg **out)
{
	struct tcp_leg *leg = leg_new(config, TCP_CONNECTING);
	struct stream *stream;
	int rc;

	if (!leg)
		return -ENOMEM;
	rc = config->leg.preface_bytes ? record_tx_preface(&leg->tx) : 0;
	if (!rc)
		rc = tcp_tls_init(leg);
	if (!rc)
		rc = stream_connect(config->worker->streams, target, &stream);
	if (rc) {
		record_tx_fini(&leg->tx);
		destroy(leg);
		return rc;
	}
	leg->conn.stream = stream;
	stream_bind(stream, &stream_events, leg);
	leg->conn.peer = target->addr;
	tcp_counters(&leg->conn)->source_port_retries += stream->port_retries;
	tcp_counters(&leg->conn)->source_port_shortfalls += stream->port_shortfall;
	tcp_conn_set_due(&leg->conn, TCP_DUE_STATE, config->leg.connect_timeout_us);
	*out = &leg->leg;
	return 0;
}

size_t tcp_leg_overhead_bytes(bool accepted)
{
	size_t bytes =
		TCP_STAGING_BYTES + TCP_BULK_BYTES + TCP_LOCAL_REPLIES_MAX * TCP_LOCAL_REPLY_BYTES;

	if (accepted)
		return bytes + TCP_PARKED_MAX_BYTES + TCP_CALLS_MAX * EXCHANGE_OVERHEAD_BYTES;
	return bytes + TCP_REVERSE_CALLS_MAX * (2 * rpc_msg_cost_bytes(REVERSE_FREE_BYTES) +
						EXCHANGE_OVERHEAD_BYTES);
}

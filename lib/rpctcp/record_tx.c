// SPDX-License-Identifier: BSD-3-Clause
#include "rpctcp/record_tx.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/usdt.h"
#include "rpc/record_mark.h"
#include "tls/tls_stream.h"

/* fraction of the stall timeout until the first check of acknowledgements */
#define ACK_CHECK_DIVISOR 16u

enum tcp_out_kind {
	TCP_OUT_PREFACE,
	TCP_OUT_STARTTLS,
	TCP_OUT_CALL,
	TCP_OUT_REPLY,
	TCP_OUT_LOCAL_REPLY
};

/* A record in the queue. */
struct tcp_out {
	STAILQ_ENTRY(tcp_out) entry;
	enum tcp_out_kind kind;
	const uint8_t *data;       /* record mark and message, contiguous; or the preface */
	uint32_t len_bytes;        /* of both, when the message is complete */
	const struct rpc_msg *msg; /* NULL: complete, in `small` or memory of the leg */
	struct exchange *x;        /* CALL, REPLY: a reference, which keeps the message */
	uint8_t small[RECORD_MARK_BYTES + RPC_ERROR_REPLY_BYTES];
};

_Static_assert(sizeof(struct tcp_out) <= TCP_LOCAL_REPLY_BYTES,
	       "TCP_LOCAL_REPLY_BYTES is too small");

/* Returns how much of the record is available. */
static uint32_t available_bytes(const struct tcp_out *out)
{
	return out->msg ? RECORD_MARK_BYTES + out->msg->have_bytes : out->len_bytes;
}

void record_tx_init(struct record_tx *tx, struct tcp_conn *conn, struct inflight *flight)
{
	*tx = (struct record_tx){.conn = conn, .flight = flight, .tail = &tx->queue};
	STAILQ_INIT(&tx->queue);
	STAILQ_INIT(&tx->held);
}

static void out_free(struct record_tx *tx, struct tcp_out *out)
{
	exchange_put(out->x);
	freelists_put(tx->conn->config.leg.freelists, out, sizeof(*out));
}

static struct tcp_out *out_new(const struct record_tx *tx, enum tcp_out_kind kind,
			       struct exchange *x)
{
	struct tcp_out *out = freelists_get(tx->conn->config.leg.freelists, sizeof(*out));

	if (!out)
		return NULL;
	out->kind = kind;
	out->x = x ? exchange_ref(x) : NULL;
	return out;
}

static void out_enqueue(struct record_tx *tx, struct tcp_out *out)
{
	struct tcp_conn *conn = tx->conn;

	STAILQ_INSERT_TAIL(tx->tail, out, entry);
	tx->unsent_bytes += out->len_bytes;
	if (tx->unsent_bytes > TCP_UNSENT_MAX_BYTES && !tx->full) {
		tx->full = true;
		if (!conn->connector)
			tcp_conn_block(conn, TCP_BLOCK_UNSENT, true);
	}
	if (!conn->send_full)
		tcp_conn_defer(conn);
}

/* The message is sent from its buffer, after a mark in its headroom. */
static void out_set_message(struct tcp_out *out, const struct rpc_msg *msg)
{
	record_mark_encode(msg->data - RECORD_MARK_BYTES, msg->len_bytes);
	out->msg = msg;
	out->data = msg->data - RECORD_MARK_BYTES;
	out->len_bytes = msg->len_bytes + RECORD_MARK_BYTES;
}

static void out_set_small(struct tcp_out *out, uint32_t len_bytes)
{
	record_mark_encode(out->small, len_bytes);
	out->msg = NULL;
	out->data = out->small;
	out->len_bytes = len_bytes + RECORD_MARK_BYTES;
}

/* Queues bytes that stay valid. */
static int enqueue_bytes(struct record_tx *tx, enum tcp_out_kind kind, const uint8_t *bytes,
			 uint32_t len_bytes)
{
	struct tcp_out *out = out_new(tx, kind, NULL);

	if (!out)
		return -ENOMEM;
	out->msg = NULL;
	out->data = bytes;
	out->len_bytes = len_bytes;
	out_enqueue(tx, out);
	return 0;
}

int record_tx_preface(struct record_tx *tx)
{
	const struct leg_config *config = &tx->conn->config.leg;

	return enqueue_bytes(tx, TCP_OUT_PREFACE, config->preface, config->preface_bytes);
}

int record_tx_starttls(struct record_tx *tx, const uint8_t *record, uint32_t len_bytes)
{
	int rc = enqueue_bytes(tx, TCP_OUT_STARTTLS, record, len_bytes);

	if (!rc)
		tx->tail = &tx->held;
	return rc;
}

bool record_tx_clear_is_sent(const struct record_tx *tx)
{
	return STAILQ_EMPTY(&tx->queue);
}

void record_tx_secured(struct record_tx *tx)
{
	STAILQ_CONCAT(&tx->queue, &tx->held);
	tx->tail = &tx->queue;
}

int record_tx_call(struct record_tx *tx, struct exchange *x)
{
	struct tcp_out *out = out_new(tx, TCP_OUT_CALL, x);

	if (!out)
		return -ENOMEM;
	out_set_message(out, &x->call);
	out_enqueue(tx, out);
	return 0;
}

int record_tx_reply(struct record_tx *tx, struct exchange *x)
{
	struct tcp_out *out = out_new(tx, TCP_OUT_REPLY, x);

	if (!out)
		return -ENOMEM;
	if (x->fault == EXCHANGE_OK) {
		out_set_message(out, &x->reply);
	} else {
		tcp_counters(tx->conn)->system_errors_sent++;
		if (rpc_call_wants_verifier(&x->call_info.hdr))
			tcp_counters(tx->conn)->auth_failed_sent++;
		out_set_small(out, (uint32_t)rpc_encode_failure(out->small + RECORD_MARK_BYTES,
								&x->call_info.hdr, RPC_SYSTEM_ERR));
	}
	out_enqueue(tx, out);
	return 0;
}

int record_tx_local_reply(struct record_tx *tx, const uint8_t *reply, uint32_t len_bytes)
{
	struct tcp_out *out = out_new(tx, TCP_OUT_LOCAL_REPLY, NULL);

	if (!out)
		return -ENOMEM;
	memcpy(out->small + RECORD_MARK_BYTES, reply, len_bytes);
	out_set_small(out, len_bytes);
	out_enqueue(tx, out);
	if (++tx->local_replies >= TCP_LOCAL_REPLIES_MAX)
		tcp_conn_block(tx->conn, TCP_BLOCK_LOCAL_REPLIES, true);
	return 0;
}

/* The first record was sent completely. */
static void out_done(struct record_tx *tx)
{
	struct tcp_out *out = STAILQ_FIRST(&tx->queue);
	struct tcp_leg_counters *counters = tcp_counters(tx->conn);

	STAILQ_REMOVE_HEAD(&tx->queue, entry);
	counters->records_sent += out->kind != TCP_OUT_PREFACE;
	switch (out->kind) {
	case TCP_OUT_PREFACE:
	case TCP_OUT_STARTTLS:
		break;
	case TCP_OUT_CALL:
		counters->calls_sent++;
		if (out->x->stage == CALL_STAGE_CREDIT)
			exchange_stage_enter(out->x, CALL_STAGE_SERVER,
					     loop_now_us(tcp_loop(tx->conn)));
		USDT3(call__sent, out->x, out->x->call_info.hdr.xid, out->x->call.len_bytes);
		break;
	case TCP_OUT_REPLY:
		counters->replies_sent++;
		if (out->x->origin == tx->flight->leg)
			inflight_in_end(tx->flight, out->x);
		break;
	case TCP_OUT_LOCAL_REPLY:
		counters->replies_sent++;
		if (--tx->local_replies <= TCP_LOCAL_REPLIES_MAX / 2)
			tcp_conn_block(tx->conn, TCP_BLOCK_LOCAL_REPLIES, false);
		break;
	}
	out_free(tx, out);
}

/* Drops @first and all records after it. */
static void out_drop_from(struct record_tx *tx, struct tcp_out *first)
{
	struct tcp_out_list kept = STAILQ_HEAD_INITIALIZER(kept);
	struct tcp_out *out;

	while ((out = STAILQ_FIRST(&tx->queue)) != first) {
		STAILQ_REMOVE_HEAD(&tx->queue, entry);
		STAILQ_INSERT_TAIL(&kept, out, entry);
	}
	while ((out = STAILQ_FIRST(&tx->queue))) {
		STAILQ_REMOVE_HEAD(&tx->queue, entry);
		tx->unsent_bytes -= out->len_bytes;
		out_free(tx, out);
	}
	STAILQ_CONCAT(&tx->queue, &kept);
}

void record_tx_fini(struct record_tx *tx)
{
	record_tx_secured(tx);
	out_drop_from(tx, STAILQ_FIRST(&tx->queue));
	tx->unsent_bytes = tx->sent_bytes = 0;
}

bool record_tx_is_empty(const struct record_tx *tx)
{
	return STAILQ_EMPTY(&tx->queue) && !tx->conn->send_full;
}

void record_tx_drop_call(struct record_tx *tx, const struct exchange *x)
{
	struct tcp_out *out;

	STAILQ_FOREACH(out, &tx->queue, entry)
		if (out->kind == TCP_OUT_CALL && out->x == x)
			break;
	if (!out || (out == STAILQ_FIRST(&tx->queue) && tx->sent_bytes))
		return;
	STAILQ_REMOVE(&tx->queue, out, tcp_out, entry);
	tx->unsent_bytes -= out->len_bytes;
	out_free(tx, out);
	/* There may be space now, or no stall to wait for. */
	tcp_conn_defer(tx->conn);
}

bool record_tx_is_partly_sent(const struct record_tx *tx)
{
	const struct tcp_out *out = STAILQ_FIRST(&tx->queue);

	return out && tx->sent_bytes > 0 && available_bytes(out) < out->len_bytes;
}

void record_tx_drop_incomplete(struct record_tx *tx)
{
	struct tcp_out *out;

	assert(!record_tx_is_partly_sent(tx));
	STAILQ_FOREACH(out, &tx->queue, entry)
		if (available_bytes(out) < out->len_bytes)
			break;
	if (out)
		out_drop_from(tx, out);
}

static void count_sent(struct record_tx *tx, size_t bytes)
{
	struct tcp_out *out;

	tx->conn->bytes_sent += bytes;
	tcp_counters(tx->conn)->bytes_sent += bytes;
	tx->progress_bytes += bytes;
	tx->unsent_bytes -= bytes;
	tx->sent_bytes += bytes;
	while ((out = STAILQ_FIRST(&tx->queue)) && tx->sent_bytes >= out->len_bytes) {
		tx->sent_bytes -= out->len_bytes;
		out_done(tx);
	}
}

/*
 * Gathers up to @max_bytes of available output. Returns the number of iovecs and sets
 * *@total_bytes.
 */
static int build_iov(const struct record_tx *tx, struct iovec iov[IOV_MAX], size_t max_bytes,
		     size_t *total_bytes)
{
	size_t skip = tx->sent_bytes, left = max_bytes;
	const struct tcp_out *out;
	int niov = 0;

	STAILQ_FOREACH(out, &tx->queue, entry) {
		uint32_t here_len = available_bytes(out);
		size_t here = here_len - skip, n = here < left ? here : left;

		iov[niov] = (struct iovec){(void *)(out->data + skip), n};
		niov += n > 0;
		left -= n;
		if (here_len < out->len_bytes || !left || niov == IOV_MAX)
			break;
		skip = 0;
	}
	*total_bytes = max_bytes - left;
	return niov;
}

/* The peer must accept the available output. */
static void watch_progress(struct record_tx *tx)
{
	struct tcp_conn *conn = tx->conn;
	const struct tcp_out *first = STAILQ_FIRST(&tx->queue);

	if ((!first || available_bytes(first) == tx->sent_bytes) && !conn->send_full) {
		conn->due_us[TCP_DUE_OUTPUT] = 0;
		return;
	}
	if (conn->due_us[TCP_DUE_OUTPUT] && tx->progress_bytes < TCP_STALL_PROGRESS_BYTES)
		return;
	tx->progress_bytes = 0;
	tx->asked = false;
	tx->waits_since_us = loop_now_us(tcp_loop(conn));
	tcp_conn_set_due(conn, TCP_DUE_OUTPUT,
			 conn->config.leg.stall_timeout_us / ACK_CHECK_DIVISOR);
}

bool record_tx_has_stalled(struct record_tx *tx)
{
	struct tcp_conn *conn = tx->conn;
	uint64_t stall_us = conn->config.leg.stall_timeout_us, now_us = loop_now_us(tcp_loop(conn));
	uint64_t acked_bytes = tcp_conn_acked_bytes(conn), was_bytes = tx->acked_bytes;
	uint64_t end_us = tx->waits_since_us + stall_us;

	/* TLS: more can be unacknowledged than before, since encryption adds bytes. */
	if (tx->asked &&
	    (acked_bytes < was_bytes || acked_bytes - was_bytes < TCP_STALL_PROGRESS_BYTES))
		return true;
	tx->acked_bytes = acked_bytes;
	if (tx->asked) {
		tx->waits_since_us = now_us;
		tcp_conn_set_due(conn, TCP_DUE_OUTPUT, stall_us);
	} else {
		tx->asked = true;
		tcp_conn_set_due(conn, TCP_DUE_OUTPUT, end_us > now_us ? end_us - now_us : 0);
	}
	return false;
}

static void check_unsent(struct record_tx *tx)
{
	struct tcp_conn *conn = tx->conn;

	if (!tx->full || tx->unsent_bytes > TCP_UNSENT_MAX_BYTES / 2)
		return;
	tx->full = false;
	tcp_conn_block(conn, TCP_BLOCK_UNSENT, false);
	if (tcp_conn_is_open(conn) && conn->config.leg.events->call_ready)
		conn->config.leg.events->call_ready(conn->config.leg.arg);
}

/*
 * Sends available output until the stream accepts no more, or the iteration's limit is reached.
 * After a short write the send buffer is full, so the stream is not tried again. Returns 0, or a
 * negative errno if the stream is broken.
 */
static int send_all(struct record_tx *tx)
{
	struct tcp_conn *conn = tx->conn;
	size_t left = TCP_ITERATION_BYTES, asked;
	struct iovec iov[IOV_MAX];
	int niov;

	conn->send_full = false;
	while (left && !conn->send_full && (niov = build_iov(tx, iov, left, &asked))) {
		ssize_t n = stream_writev(conn->stream, iov, niov);

		if (n < 0 && n != -EAGAIN)
			return (int)n;
		conn->send_full = n < 0 || (size_t)n < asked;
		if (n < 0)
			break;
		count_sent(tx, (size_t)n);
		left -= (size_t)n;
	}
	if (!left)
		tcp_conn_defer(conn);
	return 0;
}

int record_tx_flush(struct record_tx *tx)
{
	int rc = send_all(tx);

	if (rc)
		return rc;
	/* It has accepted the last bytes, and the socket has not. */
	if (tx->conn->is_tls && tls_stream_has_output(tx->conn->stream))
		tx->conn->send_full = true;
	tcp_conn_update_events(tx->conn);
	watch_progress(tx);
	check_unsent(tx);
	return 0;
}

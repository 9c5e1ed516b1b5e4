// SPDX-License-Identifier: BSD-3-Clause
/* FLUSHING and LINGERING have a time limit, which is renewed while the peer reads. */
#include "rpctcp/tcp_close.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/tcp_keepalive.h"
#include "tls/tls_stream.h"

/* Time for the peer to read some of the queued output, and then for it to end its stream. */
#define CLOSE_LIMIT_US 2000000u

/* Detail for a server that closes after data was sent to it, without having sent anything. */
#define NO_FIRST_REPLY                                                                             \
	"before answering the first Call: is that its RDMA port, or does it reject this host?"

static bool has_no_first_reply(const struct tcp_conn *conn)
{
	return conn->connector && conn->bytes_sent && !conn->bytes_received;
}

static void set_limit(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	uint64_t limit_us = conn->config.leg.stall_timeout_us, now_us = loop_now_us(tcp_loop(conn));

	if (limit_us > CLOSE_LIMIT_US)
		limit_us = CLOSE_LIMIT_US;
	if (leg->close.limit_us && limit_us > leg->close.limit_us - now_us)
		limit_us = leg->close.limit_us - now_us;
	tcp_conn_set_due(conn, TCP_DUE_STATE, limit_us);
}

static void end_stream(struct tcp_leg *leg, bool reset)
{
	struct tcp_conn *conn = &leg->conn;

	reset |= record_tx_is_partly_sent(&leg->tx);
	tcp_conn_set_state(conn, TCP_CLOSING);
	loop_timer_clear(tcp_loop(conn), conn->timer);
	stream_close(conn->stream, reset);
	tcp_conn_defer(conn);
}

static void begin_flush(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;

	tcp_conn_set_state(conn, TCP_FLUSHING);
	/* No record is received to its end any more. */
	conn->due_us[TCP_DUE_INPUT] = 0;
	leg->close.acked_bytes = tcp_conn_acked_bytes(conn);
	set_limit(leg);
	record_tx_drop_incomplete(&leg->tx);
	tcp_conn_update_events(conn);
}

static void PRINTF_LIKE(4, 0)
	set_reason(struct tcp_leg *leg, enum leg_close why, int err, const char *fmt, va_list args)
{
	vsnprintf(leg->close.detail, sizeof(leg->close.detail), fmt, args);
	leg->close.why = why;
	leg->close.notify_due = true;
	leg->leg.close_errno = err;
	tcp_conn_defer(&leg->conn);
}

void tcp_close(struct tcp_leg *leg, enum leg_close why, enum tcp_close_how how, int err,
	       const char *fmt, ...)
{
	struct tcp_conn *conn = &leg->conn;
	bool flush = how == TCP_CLOSE_FLUSH, was_open = tcp_conn_is_open(conn);
	bool in_order = !conn->connector || why == LEG_CLOSE_LOCAL || why == LEG_CLOSE_SHUTDOWN;
	va_list args;

	/* A stopping daemon waits for its connections. */
	if (flush && why == LEG_CLOSE_SHUTDOWN && !leg->close.limit_us)
		leg->close.limit_us = loop_now_us(tcp_loop(conn)) + LEG_STOP_US;
	if (conn->state.now >= (flush ? TCP_FLUSHING : TCP_CLOSING))
		return;
	if (conn->state.now < TCP_FLUSHING) {
		va_start(args, fmt);
		set_reason(leg, why, err, fmt, args);
		va_end(args);
	}
	if (flush && in_order && was_open && !record_tx_is_partly_sent(&leg->tx))
		begin_flush(leg);
	else
		end_stream(leg, !in_order && (flush || why != LEG_CLOSE_PEER));
}

/* Returns why TLS has failed; "" if it has not. */
static const char *tls_error(const struct tcp_conn *conn)
{
	return conn->is_tls ? tls_stream_error(conn->stream) : "";
}

void tcp_close_broken(struct tcp_leg *leg, int err)
{
	const char *detail = tls_error(&leg->conn);

	if (tcp_keepalive_timed_out(err))
		tcp_close(leg, LEG_CLOSE_SILENT, TCP_CLOSE_NOW, err, "%s", strerror(err));
	else if (*detail)
		tcp_close(leg, err == ENOLINK ? LEG_CLOSE_LOST : LEG_CLOSE_TLS, TCP_CLOSE_NOW, err,
			  "%s", detail);
	else
		tcp_close(leg, LEG_CLOSE_LOST, TCP_CLOSE_NOW, err, "%s%s", strerror(err),
			  has_no_first_reply(&leg->conn) ? ", " NO_FIRST_REPLY : "");
}

void tcp_close_peer_ended(struct tcp_leg *leg)
{
	const char *detail = has_no_first_reply(&leg->conn) ? NO_FIRST_REPLY : "";

	if (!record_is_idle(&leg->record.parser))
		detail = "in the middle of a record";
	/* Without a close_notify of our own the client would take the end for a loss. */
	tcp_close(leg, LEG_CLOSE_PEER,
		  leg->conn.is_tls && !leg->conn.connector ? TCP_CLOSE_FLUSH : TCP_CLOSE_NOW, 0,
		  "%s", detail);
}

void tcp_close_check_done(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	bool drains = conn->state.now == TCP_DRAINING;

	if (!drains && !(conn->blocks & TCP_BLOCK_EOF))
		return;
	if (!tcp_conn_is_open(conn) || leg->opened_due || !TAILQ_EMPTY(&leg->inflight.in_list) ||
	    !record_tx_is_empty(&leg->tx))
		return;
	if (drains && inflight_is_idle(&leg->inflight))
		tcp_close(leg, LEG_CLOSE_SHUTDOWN, TCP_CLOSE_FLUSH, 0, "%s", "");
	else if (conn->blocks & TCP_BLOCK_EOF)
		tcp_close_peer_ended(leg);
}

/*
 * A client may still be sending; a reset would discard Replies that it has not read. So wait for
 * its end of stream.
 */
void tcp_close_check_flushed(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	bool is_last = conn->connector || conn->blocks & TCP_BLOCK_EOF;

	if (conn->state.now != TCP_FLUSHING || !record_tx_is_empty(&leg->tx))
		return;
	if ((is_last && !conn->is_tls) || stream_shutdown(conn->stream) < 0) {
		end_stream(leg, false);
		return;
	}
	/* The socket has no space for close_notify yet. */
	if (conn->is_tls && tls_stream_has_output(conn->stream))
		conn->send_full = true;
	else if (is_last)
		end_stream(leg, false);
	else
		tcp_conn_set_state(conn, TCP_LINGERING);
	tcp_conn_update_events(conn);
}

void tcp_close_linger(struct tcp_leg *leg)
{
	struct iovec iov = {leg->conn.config.worker->staging, TCP_STAGING_BYTES};
	ssize_t n = stream_readv(leg->conn.stream, &iov, 1);

	if (n == 0 || (n < 0 && n != -EAGAIN))
		end_stream(leg, false);
}

/* Returns whether the peer has acknowledged enough since the time was set to get more time. */
static bool peer_is_reading(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;
	uint64_t was_bytes = leg->close.acked_bytes, acked_bytes = tcp_conn_acked_bytes(conn);

	leg->close.acked_bytes = acked_bytes;
	if (acked_bytes <= was_bytes ||
	    (leg->close.limit_us && loop_now_us(tcp_loop(conn)) >= leg->close.limit_us))
		return false;
	return acked_bytes - was_bytes >= TCP_STALL_PROGRESS_BYTES ||
	       (acked_bytes == conn->bytes_sent && record_tx_is_empty(&leg->tx));
}

void tcp_close_expired(struct tcp_leg *leg)
{
	if (peer_is_reading(leg))
		set_limit(leg);
	else
		end_stream(leg, false);
}

void tcp_close_notify(struct tcp_leg *leg)
{
	const struct leg_config *config = &leg->conn.config.leg;

	if (!leg->close.notify_due)
		return;
	leg->close.notify_due = false;
	config->events->closing(config->arg, leg->close.why, leg->close.detail);
}

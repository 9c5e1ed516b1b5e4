// SPDX-License-Identifier: BSD-3-Clause
/* The TCP leg's reads: how much of a turn, into what, and how long for it to go on. */
#include "rpctcp/tcp_rx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/least.h"

static void begin_turn(struct record_rx *in)
{
	in->turn_records = 0;
	in->turn_left_bytes = TCP_TURN_BYTES;
}

/* How long to wait for progress. A Call that holds more memory than most has a time to end in, too. */
static uint64_t patience_us(struct record_rx *in)
{
	const struct tcp_conn *conn = in->conn;
	uint64_t stall_us = conn->config.leg.stall_timeout_us, now_us = loop_now_us(tcp_loop(conn));

	if (conn->connector || in->mode != RECORD_RX_BODY || in->cap_bytes <= FACTS_UNBOUNDED_BYTES)
		return stall_us;
	if (!in->end_due_us)
		in->end_due_us = now_us + stall_us +
				 (uint64_t)(in->cap_bytes - in->body->have_bytes) * 1000000 /
					 TCP_RECORD_FLOOR_BYTES;
	if (now_us >= in->end_due_us)
		return 0;
	return in->end_due_us - now_us < stall_us ? in->end_due_us - now_us : stall_us;
}

/* A record must make progress, as long as it is the peer who keeps us waiting. */
static void watch_progress(struct record_rx *in)
{
	struct tcp_conn *conn = in->conn;

	if (!tcp_conn_is_open(conn))
		return;
	if (conn->blocks || record_idle(&in->parser)) {
		conn->due_us[TCP_DUE_INPUT] = 0;
		return;
	}
	if (conn->due_us[TCP_DUE_INPUT] && in->progress_bytes < TCP_STALL_PROGRESS_BYTES)
		return;
	/* It begins, or is read again after a while. */
	if (!conn->due_us[TCP_DUE_INPUT])
		in->end_due_us = 0;
	in->progress_bytes = 0;
	tcp_conn_set_due(conn, TCP_DUE_INPUT, patience_us(in));
}

/* Once a turn, when the turn has read what it may. */
static void tell_growth(struct record_rx *in)
{
	if (!tcp_conn_is_open(in->conn) || in->mode != RECORD_RX_BODY ||
	    in->body->have_bytes - in->told_bytes < TCP_PART_BYTES)
		return;
	in->told_bytes = in->body->have_bytes;
	in->events->grown(in->arg);
}

/* What is left over and waits for nothing. */
static void go_on_next_turn(struct record_rx *in)
{
	if (in->conn->behind && tcp_conn_takes_input(in->conn))
		tcp_conn_defer(in->conn);
}

static void stash(struct record_rx *in, const uint8_t *bytes, size_t len_bytes)
{
	in->stash = malloc(len_bytes);
	if (!in->stash) {
		tcp_conn_fail(in->conn, LEG_CLOSE_RESOURCES, "no memory for %zu bytes", len_bytes);
		return;
	}
	memcpy(in->stash, bytes, len_bytes);
	in->stash_bytes = len_bytes;
	in->stash_at = 0;
	tcp_counters(in->conn)->stash_bytes += len_bytes;
	in->conn->behind = true;
	tcp_conn_watch(in->conn);
	go_on_next_turn(in);
}

void tcp_rx_resume(struct record_rx *in)
{
	const uint8_t *bytes = in->stash ? in->stash + in->stash_at : in->head;
	size_t taken;

	begin_turn(in);
	taken = record_rx_take(in, bytes, in->stash_bytes - in->stash_at);
	if (!tcp_conn_is_open(in->conn))
		return;
	in->stash_at += taken;
	if (in->stash_at == in->stash_bytes) {
		record_rx_drop_stash(in);
		in->conn->behind = false;
	}
	tcp_conn_watch(in->conn);
	go_on_next_turn(in);
	watch_progress(in);
	tell_growth(in);
}

static void end_of_stream(struct record_rx *in)
{
	if (in->conn->connector) {
		tcp_conn_fail(in->conn, LEG_CLOSE_PEER, "%s", tcp_rx_end_detail(in));
		return;
	}
	/* A half-close: the Replies of the Calls in flight are still wanted. */
	if (!record_idle(&in->parser))
		in->events->cut(in->arg);
	tcp_conn_block(in->conn, TCP_BLOCK_EOF, true);
	tcp_conn_say_half_closed(in->conn);
}

const char *tcp_rx_end_detail(const struct record_rx *in)
{
	if (!record_idle(&in->parser))
		return "in the middle of a record";
	return tcp_conn_is_unheard(in->conn) ? TCP_UNHEARD : "";
}

/* How much a read may put into staging. */
static size_t staging_bytes(const struct record_rx *in)
{
	const struct tcp_conn *conn = in->conn;
	size_t bytes = in->window_bytes;

	/* No more of a long record than must be copied. */
	if (in->mode == RECORD_RX_GATHER &&
	    !(in->parser.last && in->parser.record_bytes <= TCP_BULK_BYTES))
		bytes = TCP_BULK_BYTES - in->gathered_bytes;
	else if (in->mode == RECORD_RX_SKIP && in->parser.fragment_left_bytes > bytes)
		bytes = TCP_STAGING_BYTES;
	if (!conn->connector && budget_holder_is_short(conn->config.leg.holder) &&
	    bytes > TCP_SCARCE_READ_BYTES)
		bytes = TCP_SCARCE_READ_BYTES;
	return bytes;
}

/* Where the next read goes: straight into the message first, as far as the turn allows, then into staging. */
static int read_vector(struct record_rx *in, struct iovec iov[2])
{
	uint32_t place = 0;
	int n = 0;

	if (in->mode == RECORD_RX_BODY)
		place = least(in->parser.fragment_left_bytes, in->cap_bytes - in->body->have_bytes);
	if (place)
		iov[n++] = (struct iovec){in->body->data + in->body->have_bytes,
					  least(place, in->turn_left_bytes)};
	if (place < in->turn_left_bytes)
		iov[n++] = (struct iovec){in->conn->config.worker->staging, staging_bytes(in)};
	return n;
}

/* @n bytes have come; returns how many of them are in staging. */
static size_t count_read(struct record_rx *in, size_t n, const struct iovec *iov)
{
	in->conn->bytes_received += n;
	tcp_counters(in->conn)->bytes_received += n;
	in->progress_bytes += n;
	in->turn_left_bytes -= least((uint32_t)n, in->turn_left_bytes);
	if (iov[0].iov_base != in->conn->config.worker->staging) {
		size_t placed = n < iov[0].iov_len ? n : iov[0].iov_len;

		in->body->have_bytes += placed;
		record_take(&in->parser, placed);
		n -= placed;
	}
	/* Many small messages: read more of them at once. record_rx_body() sees to the other way. */
	if (n == in->window_bytes)
		in->window_bytes = 4 * n < TCP_STAGING_BYTES ? 4 * n : TCP_STAGING_BYTES;
	return n;
}

/* Reads once and takes what has come; returns whether there may be more. */
static bool read_some(struct record_rx *in)
{
	const uint8_t *staging = in->conn->config.worker->staging;
	struct iovec iov[2];
	int niov = read_vector(in, iov);
	size_t room = iov[0].iov_len + (niov == 2 ? iov[1].iov_len : 0), staged, taken;
	ssize_t n = stream_readv(in->conn->stream, iov, niov);

	if (n == 0)
		end_of_stream(in);
	else if (n < 0 && n != -EAGAIN)
		tcp_conn_broke(in->conn, (int)-n);
	if (n <= 0)
		return false;
	staged = count_read(in, (size_t)n, iov);
	rx_sniff_take(&in->greeting, in->conn, staging, staged);
	taken = record_rx_take(in, staging, staged);
	if (tcp_conn_is_open(in->conn) && taken < staged)
		stash(in, staging + taken, staged - taken);
	return (size_t)n == room;
}

/* What is behind goes first, and so do others once the turn has had its part. */
static bool may_read_on(const struct record_rx *in)
{
	return tcp_conn_takes_input(in->conn) && !in->conn->behind && in->turn_left_bytes &&
	       in->turn_records < TCP_TURN_RECORDS;
}

void tcp_rx_ready(struct record_rx *in)
{
	bool more;

	begin_turn(in);
	do
		more = read_some(in);
	while (more && may_read_on(in));
	watch_progress(in);
	tell_growth(in);
}

bool tcp_rx_discard(struct record_rx *in)
{
	struct iovec iov = {in->conn->config.worker->staging, TCP_STAGING_BYTES};
	ssize_t n = stream_readv(in->conn->stream, &iov, 1);

	return n == 0 || (n < 0 && n != -EAGAIN);
}

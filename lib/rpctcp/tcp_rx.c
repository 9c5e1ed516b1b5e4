// SPDX-License-Identifier: BSD-3-Clause
/* Dispatch of records first, then the reads. */
#include "rpctcp/tcp_rx.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "rpctcp/rx_call.h"
#include "rpctcp/rx_reply.h"
#include "rpctcp/tcp_close.h"

/*
 * Read size for long records: the record mark and as much of the message as is needed before memory
 * is claimed.
 */
#define WINDOW_MIN_BYTES (RECORD_MARK_BYTES + TCP_BULK_BYTES)

void tcp_rx_init(struct tcp_leg *leg)
{
	leg->rx = (struct tcp_rx){.window_bytes = WINDOW_MIN_BYTES};
}

void tcp_rx_fini(struct tcp_leg *leg)
{
	free(leg->rx.leftover);
	leg->rx.leftover = NULL;
	leg->rx.leftover_bytes = leg->rx.leftover_at = 0;
}

/*
 * Closes the leg because of an invalid record. If the peer does not speak RPC, that replaces @why
 * and the sentence.
 */
NOT_INLINE static void PRINTF_LIKE(3, 4)
	close_bad_record(struct tcp_leg *leg, enum leg_close why, const char *fmt, ...)
{
	char detail[LEG_DETAIL_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);
	why = rx_sniff_reason(&leg->sniff, &leg->conn, leg->record.parser.mark, why, detail);
	tcp_close(leg, why, TCP_CLOSE_NOW,
		  rx_sniff_is_iwarp(&leg->sniff, &leg->conn) ? EPROTOTYPE : 0, "%s", detail);
}

/*
 * The type of the record is known. @event tells whether enough of a Call has arrived to check it.
 */
static void tcp_rx_begin_record(struct tcp_leg *leg, enum rx_event event)
{
	const struct record_rx *record = &leg->record;
	enum rpc_msg_type type;
	uint32_t xid;
	enum rpc_verdict verdict = rpc_msg_peek(record->start, record->start_bytes, &xid, &type);

	if (verdict != RPC_OK)
		close_bad_record(leg, LEG_CLOSE_NOT_RPC, "invalid message header: %s",
				 rpc_verdict_name(verdict));
	else if (type == RPC_REPLY)
		rx_reply_begin(leg, xid);
	else if (leg->conn.state.now == TCP_DRAINING)
		rx_call_skip(leg);
	else if (event == RX_BEGIN)
		rx_call_begin(leg, xid);
	else
		rx_call_prebuffer(leg);
	/* From now on a long message is read into its own memory. */
	if (record->cap_bytes > TCP_BULK_BYTES)
		leg->rx.window_bytes = WINDOW_MIN_BYTES;
}

static void end_body(struct tcp_leg *leg)
{
	leg->record.body->len_bytes = leg->record.body->have_bytes;
	if (leg->answered)
		rx_reply_end(leg);
	else
		rx_call_end(leg);
}

static void tcp_rx_end_record(struct tcp_leg *leg)
{
	tcp_counters(&leg->conn)->records_received++;
	leg->rx.iteration_records++;
	leg->rx.progress_bytes = TCP_STALL_PROGRESS_BYTES;
	leg->rx.end_due_us = 0;
	if (leg->record.mode == RECORD_RX_BODY) {
		end_body(leg);
	} else if (leg->record.mode == RECORD_RX_SKIP) {
		rx_call_end_skipped(leg);
	} else {
		close_bad_record(leg, LEG_CLOSE_NOT_RPC, "a record of %u bytes",
				 leg->record.parser.record_bytes);
		return;
	}
	leg->sniff.is_over = true;
	record_rx_done(&leg->record);
}

static void tcp_rx_dispatch(struct tcp_leg *leg, enum rx_event event)
{
	switch (event) {
	case RX_MORE:
		break;
	case RX_TYPE:
	case RX_BEGIN:
		tcp_rx_begin_record(leg, event);
		break;
	case RX_OVERFLOW:
		if (leg->answered)
			rx_reply_overflow(leg);
		else
			rx_call_overflow(leg);
		break;
	case RX_END:
		tcp_rx_end_record(leg);
		break;
	case RX_TOO_BIG:
		close_bad_record(leg, LEG_CLOSE_RECORD_TOO_BIG, "more than %u bytes",
				 leg->record.parser.max_bytes);
		break;
	case RX_TOO_EMPTY:
		close_bad_record(leg, LEG_CLOSE_NOT_RPC, "more than %u empty fragments",
				 RECORD_MAX_EMPTY_FRAGMENTS);
		break;
	}
}

/*
 * Consumes input until it is used up, the leg blocked or closed, or the iteration over. Returns how
 * much.
 */
static size_t tcp_rx_consume(struct tcp_leg *leg, const uint8_t *bytes, size_t len_bytes)
{
	enum rx_event event;

	record_rx_set_input(&leg->record, bytes, len_bytes);
	while (tcp_conn_may_receive(&leg->conn) &&
	       leg->rx.iteration_records < TCP_ITERATION_RECORDS &&
	       (event = record_rx_next(&leg->record)) != RX_MORE)
		tcp_rx_dispatch(leg, event);
	return len_bytes - record_rx_input_bytes(&leg->record);
}

/* Called once per iteration, after its reads: an incomplete message has grown. */
static void report_growth(struct tcp_leg *leg)
{
	struct record_rx *record = &leg->record;

	if (!tcp_conn_is_open(&leg->conn) || record->mode != RECORD_RX_BODY ||
	    record->body->have_bytes - record->reported_bytes < TCP_PARTIAL_MIN_BYTES)
		return;
	record->reported_bytes = record->body->have_bytes;
	if (leg->answered)
		rx_reply_grown(leg);
	else
		rx_call_grown(leg);
}

static void tcp_rx_begin_iteration(struct tcp_leg *leg)
{
	leg->rx.iteration_records = 0;
	leg->rx.iteration_left_bytes = TCP_ITERATION_BYTES;
}

/*
 * Returns how long to wait for progress. A Call that holds more memory than most also has a time
 * limit for its end.
 */
static uint64_t progress_timeout_us(struct tcp_leg *leg)
{
	const struct tcp_conn *conn = &leg->conn;
	uint64_t stall_us = conn->config.leg.stall_timeout_us, now_us = loop_now_us(tcp_loop(conn));

	if (conn->connector || leg->record.mode != RECORD_RX_BODY ||
	    leg->record.cap_bytes <= REPLY_UNBOUNDED_BYTES)
		return stall_us;
	if (!leg->rx.end_due_us)
		leg->rx.end_due_us =
			now_us + stall_us +
			(uint64_t)(leg->record.cap_bytes - leg->record.body->have_bytes) * 1000000 /
				TCP_RECORD_FLOOR_BYTES;
	if (now_us >= leg->rx.end_due_us)
		return 0;
	return leg->rx.end_due_us - now_us < stall_us ? leg->rx.end_due_us - now_us : stall_us;
}

/* A record must progress while only the peer delays it. */
static void watch_progress(struct tcp_leg *leg)
{
	struct tcp_conn *conn = &leg->conn;

	if (!tcp_conn_is_open(conn))
		return;
	if (conn->blocks || record_is_idle(&leg->record.parser)) {
		conn->due_us[TCP_DUE_INPUT] = 0;
		return;
	}
	if (conn->due_us[TCP_DUE_INPUT] && leg->rx.progress_bytes < TCP_STALL_PROGRESS_BYTES)
		return;
	/* The record begins, or is read again after a pause. */
	if (!conn->due_us[TCP_DUE_INPUT])
		leg->rx.end_due_us = 0;
	leg->rx.progress_bytes = 0;
	tcp_conn_set_due(conn, TCP_DUE_INPUT, progress_timeout_us(leg));
}

/* Continues in the next iteration with leftover input that waits for nothing. */
static void defer_leftover(struct tcp_leg *leg)
{
	if (leg->conn.unread_pending && tcp_conn_may_receive(&leg->conn))
		tcp_conn_defer(&leg->conn);
}

static void tcp_rx_save_leftover(struct tcp_leg *leg, const uint8_t *bytes, size_t len_bytes)
{
	leg->rx.leftover = malloc(len_bytes);
	if (!leg->rx.leftover) {
		tcp_close(leg, LEG_CLOSE_RESOURCES, TCP_CLOSE_NOW, 0, "no memory for %zu bytes",
			  len_bytes);
		return;
	}
	memcpy(leg->rx.leftover, bytes, len_bytes);
	leg->rx.leftover_bytes = len_bytes;
	leg->rx.leftover_at = 0;
	tcp_counters(&leg->conn)->stash_bytes += len_bytes;
	leg->conn.unread_pending = true;
	tcp_conn_update_events(&leg->conn);
	defer_leftover(leg);
}

void tcp_rx_resume(struct tcp_leg *leg)
{
	const uint8_t *bytes =
		leg->rx.leftover ? leg->rx.leftover + leg->rx.leftover_at : leg->record.head;
	size_t taken;

	tcp_rx_begin_iteration(leg);
	taken = tcp_rx_consume(leg, bytes, leg->rx.leftover_bytes - leg->rx.leftover_at);
	if (leg->conn.state.now >= TCP_FLUSHING)
		return;
	leg->rx.leftover_at += taken;
	if (leg->rx.leftover_at == leg->rx.leftover_bytes) {
		tcp_rx_fini(leg);
		leg->conn.unread_pending = false;
	}
	tcp_conn_update_events(&leg->conn);
	defer_leftover(leg);
	watch_progress(leg);
	report_growth(leg);
}

static void end_of_stream(struct tcp_leg *leg)
{
	if (leg->conn.connector) {
		tcp_close_peer_ended(leg);
		return;
	}
	/* A half-close: the client still wants the Replies to its Calls in flight. */
	if (leg->answered)
		rx_reply_skip(leg);
	else if (!record_is_idle(&leg->record.parser))
		rx_call_cut(leg);
	tcp_conn_block(&leg->conn, TCP_BLOCK_EOF, true);
	tcp_conn_half_closed(&leg->conn);
}

/* Returns how much a read can put into staging. */
static size_t staging_bytes(const struct tcp_leg *leg)
{
	const struct tcp_conn *conn = &leg->conn;
	size_t bytes = leg->rx.window_bytes;

	/* No more of a long record than must be copied. */
	if (leg->record.mode == RECORD_RX_PREBUFFER &&
	    !(leg->record.parser.last && leg->record.parser.record_bytes <= TCP_BULK_BYTES))
		bytes = TCP_BULK_BYTES - leg->record.prebuffered_bytes;
	else if (leg->record.mode == RECORD_RX_SKIP &&
		 leg->record.parser.fragment_left_bytes > bytes)
		bytes = TCP_STAGING_BYTES;
	if (!conn->connector && budget_holder_is_contended(conn->config.leg.holder) &&
	    bytes > TCP_SCARCE_READ_BYTES)
		bytes = TCP_SCARCE_READ_BYTES;
	return bytes;
}

/*
 * Sets the destination of the next read: the message first, up to the iteration's limit, then
 * staging.
 */
static int read_vector(struct tcp_leg *leg, struct iovec iov[2])
{
	uint32_t place = 0;
	int n = 0;

	if (leg->record.mode == RECORD_RX_BODY)
		place = min_u32(leg->record.parser.fragment_left_bytes,
				leg->record.cap_bytes - leg->record.body->have_bytes);
	if (place)
		iov[n++] = (struct iovec){leg->record.body->data + leg->record.body->have_bytes,
					  min_u32(place, leg->rx.iteration_left_bytes)};
	if (place < leg->rx.iteration_left_bytes)
		iov[n++] = (struct iovec){leg->conn.config.worker->staging, staging_bytes(leg)};
	return n;
}

/* Counts @n bytes that were read. Returns how many of them are in staging. */
static size_t count_read(struct tcp_leg *leg, size_t n, const struct iovec *iov)
{
	leg->conn.bytes_received += n;
	tcp_counters(&leg->conn)->bytes_received += n;
	leg->rx.progress_bytes += n;
	leg->rx.iteration_left_bytes -= min_u32((uint32_t)n, leg->rx.iteration_left_bytes);
	if (iov[0].iov_base != leg->conn.config.worker->staging) {
		size_t placed = n < iov[0].iov_len ? n : iov[0].iov_len;

		leg->record.body->have_bytes += placed;
		record_consume(&leg->record.parser, placed);
		n -= placed;
	}
	/*
	 * Many small messages: read more of them together. tcp_rx_begin_record() does the opposite.
	 */
	if (n == leg->rx.window_bytes)
		leg->rx.window_bytes = 4 * n < TCP_STAGING_BYTES ? 4 * n : TCP_STAGING_BYTES;
	return n;
}

/* Reads once and consumes the input. Returns whether there may be more. */
static bool tcp_rx_read(struct tcp_leg *leg)
{
	const uint8_t *staging = leg->conn.config.worker->staging;
	struct iovec iov[2];
	int niov = read_vector(leg, iov);
	size_t requested_bytes = iov[0].iov_len + (niov == 2 ? iov[1].iov_len : 0), staged, taken;
	ssize_t n = stream_readv(leg->conn.stream, iov, niov);

	if (n == 0)
		end_of_stream(leg);
	else if (n < 0 && n != -EAGAIN)
		tcp_close_broken(leg, (int)-n);
	if (n <= 0)
		return false;
	staged = count_read(leg, (size_t)n, iov);
	rx_sniff_add(&leg->sniff, &leg->conn, staging, staged);
	taken = tcp_rx_consume(leg, staging, staged);
	/* Open, or after a TLS probe: then the rest belongs to the handshake. */
	if (leg->conn.state.now < TCP_FLUSHING && taken < staged)
		tcp_rx_save_leftover(leg, staging + taken, staged - taken);
	return (size_t)n == requested_bytes;
}

/* Leftover input goes first, and so do other connections once the iteration's limit is reached. */
static bool may_read_on(const struct tcp_leg *leg)
{
	return tcp_conn_may_receive(&leg->conn) && !leg->conn.unread_pending &&
	       leg->rx.iteration_left_bytes && leg->rx.iteration_records < TCP_ITERATION_RECORDS;
}

void tcp_rx_ready(struct tcp_leg *leg)
{
	bool more;

	tcp_rx_begin_iteration(leg);
	do
		more = tcp_rx_read(leg);
	while (more && may_read_on(leg));
	watch_progress(leg);
	report_growth(leg);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * A small message that has arrived completely causes two events: RX_BEGIN, when it gets its memory,
 * and RX_END.
 */
#include "rpctcp/record_rx.h"

#include <errno.h>
#include <string.h>

#include "base/minmax.h"

/* Returns the longest record that is read to its end. */
static uint32_t drain_max_bytes(uint32_t max_message_bytes)
{
	uint64_t bytes = (uint64_t)TCP_DRAIN_FACTOR * max_message_bytes;

	if (bytes < TCP_DRAIN_MIN_BYTES)
		return TCP_DRAIN_MIN_BYTES;
	return bytes < RECORD_MAX_FRAGMENT_BYTES ? (uint32_t)bytes : RECORD_MAX_FRAGMENT_BYTES;
}

void record_rx_init(struct record_rx *rx, struct tcp_conn *conn)
{
	*rx = (struct record_rx){.conn = conn};
	rx->body = &rx->msg;
	record_parser_init(&rx->parser, drain_max_bytes(conn->config.leg.max_message_bytes));
}

static void free_prebuffer(struct record_rx *rx)
{
	freelist_put(&rx->conn->config.worker->prebuffers, rx->prebuffered, TCP_PREBUFFERS_KEPT);
	rx->prebuffered = NULL;
	rx->prebuffered_bytes = 0;
}

void record_rx_fini(struct record_rx *rx)
{
	free_prebuffer(rx);
	rpc_msg_put(&rx->msg);
	rx->body = &rx->msg;
}

void record_rx_done(struct record_rx *rx)
{
	rx->mode = RECORD_RX_HEAD;
	rx->ended = false;
	rx->head_bytes = 0;
	rx->cap_bytes = 0;
	rx->reported_bytes = 0;
	rx->body = &rx->msg;
}

int record_rx_prebuffer(struct record_rx *rx)
{
	rx->prebuffered = freelist_get(&rx->conn->config.worker->prebuffers, TCP_BULK_BYTES);
	if (!rx->prebuffered)
		return -ENOMEM;
	memcpy(rx->prebuffered, rx->head, rx->head_bytes);
	rx->prebuffered_bytes = rx->head_bytes;
	rx->mode = RECORD_RX_PREBUFFER;
	return 0;
}

static void consume_input(struct record_rx *rx, uint32_t n)
{
	record_consume(&rx->parser, n);
	rx->in += n;
	rx->in_bytes -= n;
}

/* Copies the start of the message into its memory. */
static void fill_start(struct record_rx *rx)
{
	memcpy(rx->msg.data, rx->start, rx->start_bytes);
	rx->msg.have_bytes = rx->start_bytes;
	if (rx->start != rx->head)
		tcp_counters(rx->conn)->payload_bytes_copied += rx->start_bytes;
	if (!rx->head_bytes)
		consume_input(rx, rx->start_bytes);
	else if (rx->prebuffered)
		free_prebuffer(rx);
}

int record_rx_body(struct record_rx *rx, uint32_t cap_bytes)
{
	if (rpc_msg_get(rx->conn->config.leg.pool, cap_bytes, &rx->msg))
		return -ENOMEM;
	rx->msg.have_bytes = 0;
	/* A start that exceeds the memory stays in the input and causes RX_OVERFLOW next. */
	if (rx->start_bytes <= cap_bytes)
		fill_start(rx);
	rx->since_us = loop_now_us(tcp_loop(rx->conn));
	rx->cap_bytes = cap_bytes;
	rx->mode = RECORD_RX_BODY;
	return 0;
}

void record_rx_redirect(struct record_rx *rx, struct rpc_msg *msg)
{
	*msg = rx->msg;
	msg->len_bytes = rx->cap_bytes;
	rx->msg = (struct rpc_msg){0};
	rx->body = msg;
}

void record_rx_skip(struct record_rx *rx)
{
	record_rx_fini(rx);
	rx->mode = RECORD_RX_SKIP;
}

int record_rx_grow(struct record_rx *rx, uint32_t cap_bytes)
{
	struct rpc_msg larger;

	if (rpc_msg_get(rx->conn->config.leg.pool, cap_bytes, &larger))
		return -ENOMEM;
	memcpy(larger.data, rx->msg.data, rx->msg.have_bytes);
	larger.have_bytes = rx->msg.have_bytes;
	tcp_counters(rx->conn)->payload_bytes_copied += rx->msg.have_bytes;
	rpc_msg_put(&rx->msg);
	rx->msg = larger;
	rx->cap_bytes = cap_bytes;
	return 0;
}

/* Returns whether @bytes from the start are enough to decide about the record's memory. */
static bool is_enough(const struct record_rx *rx, uint32_t bytes)
{
	return bytes >= TCP_BULK_BYTES || (rx->parser.last && bytes == rx->parser.record_bytes);
}

static enum rx_event event_at_start(struct record_rx *rx, enum rx_event event, const uint8_t *start,
				    uint32_t bytes)
{
	rx->start = start;
	rx->start_bytes = bytes;
	return event;
}

/* Returns the next event that needs no input: of the buffered head or prebuffer. */
static enum rx_event buffered_event(struct record_rx *rx)
{
	if (rx->mode == RECORD_RX_HEAD && rx->head_bytes == TCP_RECORD_HEAD_BYTES)
		return event_at_start(rx, RX_TYPE, rx->head, rx->head_bytes);
	if (rx->mode == RECORD_RX_PREBUFFER && is_enough(rx, rx->prebuffered_bytes))
		return event_at_start(rx, RX_BEGIN, rx->prebuffered, rx->prebuffered_bytes);
	return rx->ended ? RX_END : RX_MORE;
}

/* Consumes message bytes of the input, if their destination is known. */
static enum rx_event consume_body(struct record_rx *rx)
{
	uint32_t n = min_u32(rx->parser.fragment_left_bytes, (uint32_t)rx->in_bytes);

	switch (rx->mode) {
	case RECORD_RX_HEAD:
		if (rx->head_bytes == 0 && is_enough(rx, n))
			return event_at_start(rx, RX_BEGIN, rx->in, n);
		n = min_u32(n, TCP_RECORD_HEAD_BYTES - rx->head_bytes);
		memcpy(rx->head + rx->head_bytes, rx->in, n);
		rx->head_bytes += n;
		break;
	case RECORD_RX_PREBUFFER:
		n = min_u32(n, TCP_BULK_BYTES - rx->prebuffered_bytes);
		memcpy(rx->prebuffered + rx->prebuffered_bytes, rx->in, n);
		rx->prebuffered_bytes += n;
		break;
	case RECORD_RX_BODY:
		if (n > rx->cap_bytes - rx->body->have_bytes)
			return RX_OVERFLOW;
		memcpy(rx->body->data + rx->body->have_bytes, rx->in, n);
		rx->body->have_bytes += n;
		tcp_counters(rx->conn)->payload_bytes_copied += n;
		break;
	case RECORD_RX_SKIP:
		break;
	}
	consume_input(rx, n);
	return RX_MORE;
}

enum rx_event record_rx_next(struct record_rx *rx)
{
	enum rx_event event = RX_MORE;
	enum record_status status;
	size_t used;

	do {
		if (rx->head_bytes && (event = buffered_event(rx)) != RX_MORE)
			return event;
		status = record_next(&rx->parser, rx->in, rx->in_bytes, &used);
		rx->in += used;
		rx->in_bytes -= used;
		switch (status) {
		case RECORD_BODY:
			if (!rx->in_bytes)
				return RX_MORE;
			event = consume_body(rx);
			break;
		case RECORD_END:
			rx->ended = true;
			/* A buffered message may have no memory yet. */
			if (!rx->head_bytes)
				return RX_END;
			break;
		case RECORD_MORE:
			return RX_MORE;
		case RECORD_TOO_BIG:
			return RX_TOO_BIG;
		case RECORD_TOO_EMPTY:
			return RX_TOO_EMPTY;
		}
	} while (event == RX_MORE);
	return event;
}

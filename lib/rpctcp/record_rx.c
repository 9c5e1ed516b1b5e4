// SPDX-License-Identifier: BSD-3-Clause
/* A small message that has arrived completely causes two events: RX_BEGIN, when it gets its memory, and RX_END. */
#include "rpctcp/record_rx.h"

#include <errno.h>
#include <string.h>

#include "base/least.h"

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

static void drop_gathered(struct record_rx *rx)
{
	spare_list_put(&rx->conn->config.worker->gathers, rx->gathered, TCP_GATHERS_KEPT);
	rx->gathered = NULL;
	rx->gathered_bytes = 0;
}

void record_rx_fini(struct record_rx *rx)
{
	drop_gathered(rx);
	rpc_msg_put(&rx->msg);
	rx->body = &rx->msg;
}

void record_rx_done(struct record_rx *rx)
{
	rx->mode = RECORD_RX_HEAD;
	rx->ended = false;
	rx->head_bytes = 0;
	rx->cap_bytes = 0;
	rx->told_bytes = 0;
	rx->body = &rx->msg;
}

int record_rx_gather(struct record_rx *rx)
{
	rx->gathered = spare_list_get(&rx->conn->config.worker->gathers, TCP_BULK_BYTES);
	if (!rx->gathered)
		return -ENOMEM;
	memcpy(rx->gathered, rx->head, rx->head_bytes);
	rx->gathered_bytes = rx->head_bytes;
	rx->mode = RECORD_RX_GATHER;
	return 0;
}

static void take_input(struct record_rx *rx, uint32_t n)
{
	record_take(&rx->parser, n);
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
		take_input(rx, rx->start_bytes);
	else if (rx->gathered)
		drop_gathered(rx);
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

void record_rx_lend(struct record_rx *rx, struct rpc_msg *msg)
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

static enum rx_event show_start(struct record_rx *rx, enum rx_event event, const uint8_t *start,
				uint32_t bytes)
{
	rx->start = start;
	rx->start_bytes = bytes;
	return event;
}

/* Returns the next event that needs no input: of the buffered head or prebuffer. */
static enum rx_event look_aside(struct record_rx *rx)
{
	if (rx->mode == RECORD_RX_HEAD && rx->head_bytes == TCP_RECORD_HEAD_BYTES)
		return show_start(rx, RX_TYPE, rx->head, rx->head_bytes);
	if (rx->mode == RECORD_RX_GATHER && is_enough(rx, rx->gathered_bytes))
		return show_start(rx, RX_BEGIN, rx->gathered, rx->gathered_bytes);
	return rx->ended ? RX_END : RX_MORE;
}

/* Consumes message bytes of the input, if their destination is known. */
static enum rx_event take_body(struct record_rx *rx)
{
	uint32_t n = least(rx->parser.fragment_left_bytes, (uint32_t)rx->in_bytes);

	switch (rx->mode) {
	case RECORD_RX_HEAD:
		if (rx->head_bytes == 0 && is_enough(rx, n))
			return show_start(rx, RX_BEGIN, rx->in, n);
		n = least(n, TCP_RECORD_HEAD_BYTES - rx->head_bytes);
		memcpy(rx->head + rx->head_bytes, rx->in, n);
		rx->head_bytes += n;
		break;
	case RECORD_RX_GATHER:
		n = least(n, TCP_BULK_BYTES - rx->gathered_bytes);
		memcpy(rx->gathered + rx->gathered_bytes, rx->in, n);
		rx->gathered_bytes += n;
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
	take_input(rx, n);
	return RX_MORE;
}

enum rx_event record_rx_next(struct record_rx *rx)
{
	enum rx_event event = RX_MORE;
	enum record_status status;
	size_t used;

	do {
		if (rx->head_bytes && (event = look_aside(rx)) != RX_MORE)
			return event;
		status = record_next(&rx->parser, rx->in, rx->in_bytes, &used);
		rx->in += used;
		rx->in_bytes -= used;
		switch (status) {
		case RECORD_BODY:
			if (!rx->in_bytes)
				return RX_MORE;
			event = take_body(rx);
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

// SPDX-License-Identifier: BSD-3-Clause
/* The TCP leg's input: reads, staging, stash, where the bytes of a record go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpctcp/tcp_leg_impl.h"

static void granted(void *arg)
{
	tcp_leg_block(arg, TCP_BLOCK_BUDGET, false);
}

void tcp_input_init(struct tcp_leg *leg)
{
	struct tcp_input *in = &leg->in;

	record_parser_init(&in->parser, leg->config.leg.max_message_bytes);
	budget_claim_init(&in->claim, granted, leg);
	in->window_bytes = TCP_BULK_BYTES;
}

/* Ready for the next record. */
static void begin_record(struct tcp_input *in)
{
	in->mode = TCP_INPUT_HEAD;
	in->head_bytes = 0;
	in->decoded = false;
	in->cap_bytes = in->have_bytes = 0;
}

/* What is held for a record that is not complete. */
static void let_go(struct tcp_input *in)
{
	rpc_msg_put(&in->msg);
	budget_release(&in->claim);
	exchange_put(in->x);
	in->x = NULL;
}

void tcp_input_fini(struct tcp_leg *leg)
{
	struct tcp_input *in = &leg->in;

	let_go(in);
	free(in->stash);
	in->stash = NULL;
	in->stash_bytes = in->stash_at = 0;
	in->deadline_us = 0;
}

void tcp_input_drain(struct tcp_leg *leg)
{
	let_go(&leg->in);
	leg->in.mode = TCP_INPUT_DRAIN;
}

/* a Call whose XID is in flight is that Call sent again, or the peer is not to be trusted. */
static void compare(struct tcp_leg *leg, const uint8_t *bytes, uint32_t len_bytes)
{
	struct tcp_input *in = &leg->in;
	const struct rpc_msg *call = &in->x->call;
	uint32_t from = in->compared_bytes, to = from + len_bytes;
	uint32_t end =
		call->len_bytes < TCP_RETRANSMIT_BYTES ? call->len_bytes : TCP_RETRANSMIT_BYTES;

	in->compared_bytes = to;
	if (to > call->len_bytes)
		goto out_other;
	if (to > end)
		to = end;
	if (from < to && memcmp(call->data + from, bytes, to - from))
		goto out_other;
	return;
out_other:
	tcp_leg_fail(leg, LEG_CLOSE_XID_REUSED, "XID %08x", in->x->hdr.xid);
}

void tcp_input_compare(struct tcp_leg *leg, struct exchange *x)
{
	tcp_input_drain(leg);
	leg->in.x = exchange_ref(x);
	leg->in.compared_bytes = 0;
	if (leg->in.head_bytes)
		compare(leg, leg->in.head, leg->in.head_bytes);
}

static void fill(struct tcp_leg *leg, const uint8_t *bytes, uint32_t len_bytes)
{
	struct tcp_input *in = &leg->in;

	if (len_bytes > in->cap_bytes - in->have_bytes) {
		tcp_record_overflow(leg);
		return;
	}
	memcpy(in->msg.data + in->have_bytes, bytes, len_bytes);
	in->have_bytes += len_bytes;
	tcp_counters(leg)->payload_bytes_copied += len_bytes;
}

/* Takes some of the message bytes at @bytes; returns how many, 0 if only the mode has changed. */
static uint32_t take_body(struct tcp_leg *leg, const uint8_t *bytes, size_t len_bytes)
{
	struct tcp_input *in = &leg->in;
	uint32_t left = in->parser.fragment_left_bytes;
	uint32_t n = len_bytes < left ? (uint32_t)len_bytes : left;

	switch (in->mode) {
	case TCP_INPUT_HEAD:
		if (in->head_bytes == 0 && in->parser.last && n == in->parser.record_bytes) {
			tcp_record_begin_whole(leg, bytes, n);
			return 0;
		}
		if (n > TCP_HEAD_BYTES - in->head_bytes)
			n = TCP_HEAD_BYTES - in->head_bytes;
		memcpy(in->head + in->head_bytes, bytes, n);
		in->head_bytes += n;
		break;
	case TCP_INPUT_BODY:
		fill(leg, bytes, n);
		break;
	case TCP_INPUT_DRAIN:
		if (in->x)
			compare(leg, bytes, n);
		break;
	}
	record_take(&in->parser, n);
	return n;
}

/* The record is complete. */
static void end_record(struct tcp_leg *leg)
{
	struct tcp_input *in = &leg->in;

	tcp_counters(leg)->records_received++;
	switch (in->mode) {
	case TCP_INPUT_HEAD:
		tcp_leg_fail(leg, LEG_CLOSE_NOT_RPC, "a record of %u bytes",
			     in->parser.record_bytes);
		return;
	case TCP_INPUT_BODY:
		in->msg.len_bytes = in->msg.have_bytes = in->have_bytes;
		tcp_record_end(leg);
		break;
	case TCP_INPUT_DRAIN:
		if (in->x && in->compared_bytes != in->x->call.len_bytes) {
			tcp_leg_fail(leg, LEG_CLOSE_XID_REUSED, "XID %08x", in->x->hdr.xid);
			return;
		}
		if (in->x)
			tcp_counters(leg)->retransmissions_swallowed++;
		let_go(in);
		break;
	}
	begin_record(in);
}

/*
 * Takes input until it is used up, or the leg is blocked or closed; returns how much. Also called
 * with none: for a record that was received in place, and for one whose memory has been granted.
 */
static size_t take_input(struct tcp_leg *leg, const uint8_t *bytes, size_t len_bytes)
{
	struct tcp_input *in = &leg->in;
	size_t at = 0, used;

	while (leg->state == TCP_OPEN && !leg->blocks) {
		switch (record_next(&in->parser, bytes + at, len_bytes - at, &used)) {
		case RECORD_BODY:
			at += used;
			if (in->mode == TCP_INPUT_HEAD && in->head_bytes == TCP_HEAD_BYTES)
				tcp_record_begin(leg);
			else if (at == len_bytes)
				return at;
			else
				at += take_body(leg, bytes + at, len_bytes - at);
			break;
		case RECORD_END:
			at += used;
			in->progress_bytes = TCP_STALL_PROGRESS_BYTES;
			end_record(leg);
			break;
		case RECORD_MORE:
			return len_bytes;
		case RECORD_TOO_BIG:
			tcp_leg_fail(leg, LEG_CLOSE_RECORD_TOO_BIG, "over %u bytes",
				     in->parser.max_bytes);
			break;
		case RECORD_TOO_EMPTY:
			tcp_leg_fail(leg, LEG_CLOSE_NOT_RPC, "more than %u empty fragments",
				     RECORD_MAX_EMPTY_FRAGMENTS);
			break;
		}
	}
	return at;
}

/* A record must make progress, as long as it is the peer who keeps us waiting. */
static void watch_progress(struct tcp_leg *leg)
{
	struct tcp_input *in = &leg->in;

	if (leg->state != TCP_OPEN)
		return;
	if (leg->blocks || record_idle(&in->parser)) {
		in->deadline_us = 0;
		return;
	}
	if (in->deadline_us && in->progress_bytes < TCP_STALL_PROGRESS_BYTES)
		return;
	in->progress_bytes = 0;
	in->deadline_us = loop_now_us(leg->config.leg.loop) + leg->config.leg.stall_timeout_us;
	tcp_leg_arm(leg);
}

static void stash(struct tcp_leg *leg, const uint8_t *bytes, size_t len_bytes)
{
	struct tcp_input *in = &leg->in;

	in->stash = malloc(len_bytes);
	if (!in->stash) {
		tcp_leg_fail(leg, LEG_CLOSE_RESOURCES, "no memory for %zu bytes", len_bytes);
		return;
	}
	memcpy(in->stash, bytes, len_bytes);
	in->stash_bytes = len_bytes;
	in->stash_at = 0;
	tcp_counters(leg)->stash_bytes += len_bytes;
	tcp_leg_watch(leg);
}

void tcp_input_resume(struct tcp_leg *leg)
{
	struct tcp_input *in = &leg->in;
	const uint8_t *bytes = in->stash ? in->stash + in->stash_at : in->head;
	size_t taken = take_input(leg, bytes, in->stash_bytes - in->stash_at);

	if (leg->state != TCP_OPEN)
		return;
	in->stash_at += taken;
	if (in->stash_at == in->stash_bytes) {
		free(in->stash);
		in->stash = NULL;
		in->stash_bytes = in->stash_at = 0;
	}
	tcp_leg_watch(leg);
	watch_progress(leg);
}

static void end_of_stream(struct tcp_leg *leg)
{
	if (!record_idle(&leg->in.parser)) {
		tcp_leg_fail(leg, LEG_CLOSE_PEER, "in the middle of a record");
	} else if (leg->connecting) {
		tcp_leg_fail(leg, LEG_CLOSE_PEER, "%s", "");
	} else {
		/* A half-close: the Replies of the Calls in flight are still wanted. */
		tcp_leg_block(leg, TCP_BLOCK_EOF, true);
		tcp_leg_check_done(leg);
	}
}

/* Where the next read goes: straight into the message first, then into staging. */
static int read_vector(struct tcp_leg *leg, struct iovec iov[2])
{
	struct tcp_input *in = &leg->in;
	size_t staging = in->window_bytes, place = 0;
	int n = 0;

	if (in->mode == TCP_INPUT_BODY) {
		place = in->parser.fragment_left_bytes;
		if (place > in->cap_bytes - in->have_bytes)
			place = in->cap_bytes - in->have_bytes;
	} else if (in->mode == TCP_INPUT_DRAIN && in->parser.fragment_left_bytes > staging) {
		staging = TCP_STAGING_BYTES;
	}
	if (!leg->connecting && leg->config.leg.budget->waiting > 0 &&
	    staging > TCP_SCARCE_READ_BYTES)
		staging = TCP_SCARCE_READ_BYTES;
	if (place)
		iov[n++] = (struct iovec){in->msg.data + in->have_bytes, place};
	iov[n++] = (struct iovec){leg->config.worker->staging, staging};
	return n;
}

void tcp_input_readable(struct tcp_leg *leg)
{
	struct tcp_input *in = &leg->in;
	const uint8_t *staging = leg->config.worker->staging;
	struct iovec iov[2];
	int niov = read_vector(leg, iov);
	ssize_t n = readv(leg->fd, iov, niov);
	size_t staged, taken;

	if (n <= 0) {
		if (n == 0)
			end_of_stream(leg);
		else if (errno != EAGAIN && errno != EINTR)
			tcp_leg_fail(leg, LEG_CLOSE_LOST, "%s", strerror(errno));
		return;
	}
	leg->bytes_received += n;
	tcp_counters(leg)->bytes_received += n;
	in->progress_bytes += n;
	staged = n;
	if (niov == 2) {
		size_t placed = staged < iov[0].iov_len ? staged : iov[0].iov_len;

		in->have_bytes += placed;
		record_take(&in->parser, placed);
		staged -= placed;
	}
	/* Many small messages: read more of them at once. tcp_record_begin… sees to the other way.
	 */
	if (staged == in->window_bytes && in->window_bytes < TCP_STAGING_BYTES)
		in->window_bytes *= 4;
	taken = take_input(leg, staging, staged);
	if (leg->state == TCP_OPEN && taken < staged)
		stash(leg, staging + taken, staged - taken);
	watch_progress(leg);
}

bool tcp_input_discard(struct tcp_leg *leg)
{
	ssize_t n = recv(leg->fd, leg->config.worker->staging, TCP_STAGING_BYTES, MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

// SPDX-License-Identifier: BSD-3-Clause
/* The TCP leg's output: a queue of records, sent gathered once a turn. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rpctcp/tcp_leg_impl.h"

static struct tcp_out *out_new(enum tcp_out_kind kind, struct exchange *x)
{
	struct tcp_out *out = malloc(sizeof(*out));

	if (!out)
		return NULL;
	out->kind = kind;
	out->x = x ? exchange_ref(x) : NULL;
	return out;
}

static void enqueue(struct tcp_leg *leg, struct tcp_out *out)
{
	struct tcp_output *output = &leg->out;

	STAILQ_INSERT_TAIL(&output->queue, out, entry);
	output->unsent_bytes += out->len_bytes;
	if (output->unsent_bytes > TCP_UNSENT_MAX_BYTES && !output->full) {
		output->full = true;
		if (!leg->connecting)
			tcp_leg_block(leg, TCP_BLOCK_UNSENT, true);
	}
	if (!output->waiting)
		loop_defer(leg->config.leg.loop, &leg->task);
}

/* The message goes out from where it lies, behind a mark in its headroom. */
static void set_message(struct tcp_out *out, const struct rpc_msg *msg)
{
	record_mark_encode(msg->data - RECORD_MARK_BYTES, msg->len_bytes);
	out->data = msg->data - RECORD_MARK_BYTES;
	out->len_bytes = msg->len_bytes + RECORD_MARK_BYTES;
}

static void set_small(struct tcp_out *out, uint32_t len_bytes)
{
	record_mark_encode(out->small, len_bytes);
	out->data = out->small;
	out->len_bytes = len_bytes + RECORD_MARK_BYTES;
}

int tcp_output_call(struct tcp_leg *leg, struct exchange *x)
{
	struct tcp_out *out = out_new(TCP_OUT_CALL, x);

	if (!out)
		return -ENOMEM;
	set_message(out, &x->call);
	enqueue(leg, out);
	return 0;
}

int tcp_output_reply(struct tcp_leg *leg, struct exchange *x)
{
	struct tcp_out *out = out_new(TCP_OUT_REPLY, x);

	if (!out)
		return -ENOMEM;
	if (x->fault == EXCHANGE_OK) {
		set_message(out, &x->reply);
	} else {
		tcp_counters(leg)->system_errors_sent++;
		set_small(out, (uint32_t)rpc_encode_accepted(out->small + RECORD_MARK_BYTES,
							     x->hdr.xid, RPC_SYSTEM_ERR));
	}
	enqueue(leg, out);
	return 0;
}

int tcp_output_answer(struct tcp_leg *leg, const uint8_t *reply, uint32_t len_bytes)
{
	struct tcp_out *out = out_new(TCP_OUT_ANSWER, NULL);

	if (!out)
		return -ENOMEM;
	memcpy(out->small + RECORD_MARK_BYTES, reply, len_bytes);
	set_small(out, len_bytes);
	enqueue(leg, out);
	if (++leg->out.answers >= TCP_ANSWERS_MAX)
		tcp_leg_block(leg, TCP_BLOCK_ANSWERS, true);
	return 0;
}

void tcp_output_origin_done(struct tcp_leg *leg, struct exchange *x)
{
	TAILQ_REMOVE(&leg->calls_in_list, x, origin_entry);
	xid_table_remove(&leg->calls_in, x);
	x->origin = NULL;
	exchange_put(x);
}

/* The first record is sent, from end to end. */
static void out_done(struct tcp_leg *leg)
{
	struct tcp_out *out = STAILQ_FIRST(&leg->out.queue);

	STAILQ_REMOVE_HEAD(&leg->out.queue, entry);
	tcp_counters(leg)->records_sent++;
	switch (out->kind) {
	case TCP_OUT_CALL:
		tcp_counters(leg)->calls_sent++;
		break;
	case TCP_OUT_REPLY:
		tcp_counters(leg)->replies_sent++;
		if (out->x->origin == &leg->leg)
			tcp_output_origin_done(leg, out->x);
		break;
	case TCP_OUT_ANSWER:
		tcp_counters(leg)->replies_sent++;
		if (--leg->out.answers <= TCP_ANSWERS_MAX / 2)
			tcp_leg_block(leg, TCP_BLOCK_ANSWERS, false);
		break;
	}
	exchange_put(out->x);
	free(out);
}

void tcp_output_fini(struct tcp_leg *leg)
{
	struct tcp_out *out;

	while ((out = STAILQ_FIRST(&leg->out.queue))) {
		STAILQ_REMOVE_HEAD(&leg->out.queue, entry);
		exchange_put(out->x);
		free(out);
	}
	leg->out.unsent_bytes = leg->out.sent_bytes = 0;
	leg->out.deadline_us = 0;
}

static void sent(struct tcp_leg *leg, size_t bytes)
{
	struct tcp_output *output = &leg->out;
	struct tcp_out *out;

	leg->bytes_sent += bytes;
	tcp_counters(leg)->bytes_sent += bytes;
	output->progress_bytes += bytes;
	output->unsent_bytes -= bytes;
	output->sent_bytes += bytes;
	while ((out = STAILQ_FIRST(&output->queue)) && output->sent_bytes >= out->len_bytes) {
		output->sent_bytes -= out->len_bytes;
		out_done(leg);
	}
}

/* Returns what sendmsg() does, of as much of the queue as one call takes. */
static ssize_t send_some(struct tcp_leg *leg)
{
	struct iovec iov[IOV_MAX];
	struct msghdr msg = {.msg_iov = iov};
	size_t skip = leg->out.sent_bytes;
	struct tcp_out *out;

	STAILQ_FOREACH(out, &leg->out.queue, entry) {
		iov[msg.msg_iovlen++] = (struct iovec){
			.iov_base = (void *)(out->data + skip),
			.iov_len = out->len_bytes - skip,
		};
		skip = 0;
		if (msg.msg_iovlen == IOV_MAX)
			break;
	}
	return sendmsg(leg->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The peer must take what is queued; an empty queue waits for nobody. */
static void watch_progress(struct tcp_leg *leg)
{
	struct tcp_output *output = &leg->out;

	if (STAILQ_EMPTY(&output->queue)) {
		output->deadline_us = 0;
		return;
	}
	if (output->deadline_us && output->progress_bytes < TCP_STALL_PROGRESS_BYTES)
		return;
	output->progress_bytes = 0;
	output->deadline_us = loop_now_us(leg->config.leg.loop) + leg->config.leg.stall_timeout_us;
	tcp_leg_arm(leg);
}

static void check_room(struct tcp_leg *leg)
{
	struct tcp_output *output = &leg->out;

	if (!output->full || output->unsent_bytes > TCP_UNSENT_MAX_BYTES / 2)
		return;
	output->full = false;
	tcp_leg_block(leg, TCP_BLOCK_UNSENT, false);
	if (leg->state == TCP_OPEN && leg->config.leg.events->call_ready)
		leg->config.leg.events->call_ready(leg->config.leg.arg);
}

void tcp_output_flush(struct tcp_leg *leg)
{
	struct tcp_output *output = &leg->out;

	output->waiting = false;
	while (!STAILQ_EMPTY(&output->queue)) {
		ssize_t n = send_some(leg);

		if (n >= 0) {
			sent(leg, (size_t)n);
		} else if (errno == EAGAIN) {
			output->waiting = true;
			break;
		} else if (errno != EINTR) {
			tcp_leg_fail(leg, LEG_CLOSE_LOST, "%s", strerror(errno));
			return;
		}
	}
	tcp_leg_watch(leg);
	watch_progress(leg);
	check_room(leg);
}

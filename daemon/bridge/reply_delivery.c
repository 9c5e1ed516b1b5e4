// SPDX-License-Identifier: BSD-3-Clause
#define _SDT_HAS_SEMAPHORES 1
#include "daemon/bridge/reply_delivery.h"

#include <stdlib.h>

#include "base/usdt.h"
#include "daemon/bridge/call_trace.h"

USDT_SEMAPHORE(call__delivered);

/* An RPC that has finished except for its client stage. */
struct delivery_wait {
	struct delivery_wait *next; /* in the list of its bridge, or in the free list */
	struct call_end end;
	struct call_record report;
	uint64_t sent_us;    /* when the socket had accepted the whole Reply */
	uint64_t sent_bytes; /* sent by the client leg until then */
	bool left;           /* the Reply had left this host at its first query */
};

struct delivery_block {
	struct delivery_block *next;
	struct delivery_wait ends[REPLY_DELIVERY_BLOCK];
};

/* ---- memory: blocks that stay allocated while the service has bridges ---- */

static inline void delivery_wait_put(struct reply_delivery *reply_delivery,
				     struct delivery_wait *end)
{
	end->next = reply_delivery->free_waits;
	reply_delivery->free_waits = end;
}

static void add_block(struct reply_delivery *reply_delivery)
{
	struct delivery_block *block;

	if (reply_delivery->nblocks == REPLY_DELIVERY_MAX / REPLY_DELIVERY_BLOCK)
		return;
	block = malloc(sizeof(*block));
	if (!block)
		return;
	block->next = reply_delivery->blocks;
	reply_delivery->blocks = block;
	reply_delivery->nblocks++;
	for (unsigned i = 0; i < REPLY_DELIVERY_BLOCK; i++)
		delivery_wait_put(reply_delivery, &block->ends[i]);
}

static struct delivery_wait *delivery_wait_new(struct reply_delivery *reply_delivery)
{
	struct delivery_wait *end;

	if (!reply_delivery->free_waits)
		add_block(reply_delivery);
	end = reply_delivery->free_waits;
	if (end)
		reply_delivery->free_waits = end->next;
	return end;
}

/* ---- queries ---- */

static uint64_t bridge_now_us(const struct bridge *bridge)
{
	return loop_now_us(bridge_loop(bridge));
}

static uint64_t interval_us(unsigned interval)
{
	return (uint64_t)REPLY_DELIVERY_FIRST_US << interval;
}

static ALWAYS_INLINE void count_delivered(struct bridge *bridge, const struct call_end *end,
					  const struct call_record *report, uint64_t until_us)
{
	uint64_t us = until_us - end->since_us;
	uint32_t client_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;

	call_stats_delivered(&bridge->ws->calls, end, client_us);
	if (report->wanted)
		call_trace(bridge, end, report, client_us);
	if (USDT_IS_ENABLED(call__delivered))
		USDT4(call__delivered, bridge->id, nfs_operation_name(end->operation),
		      end->before_us + client_us, client_us);
}

/* Counts the first waiting Reply of @bridge as delivered; a query at @at_us has shown it. */
static ALWAYS_INLINE void reply_acked(struct bridge *bridge, uint64_t at_us)
{
	struct unacked_replies *unacked = &bridge->unacked;
	struct delivery_wait *end = unacked->first;
	/*
	 * Found by its first query, however late that was; or only the acknowledgement was
	 * outstanding.
	 */
	bool at_once = (end == unacked->first_unchecked || end->left) &&
		       at_us - end->sent_us < REPLY_DELIVERY_ACK_US;

	count_delivered(bridge, &end->end, &end->report, at_once ? end->sent_us : at_us);
	if (unacked->first_unchecked == end)
		unacked->first_unchecked = end->next;
	unacked->first = end->next;
	delivery_wait_put(&bridge->ws->reply_delivery, end);
}

/* Sets the timer to expire at @due_us, or leaves it if it expires earlier. */
static void arm_timer(struct worker_service *ws, uint64_t due_us)
{
	struct reply_delivery *reply_delivery = &ws->reply_delivery;
	uint64_t at_us = loop_now_us(ws->env->loop);

	if (reply_delivery->due_us && reply_delivery->due_us <= due_us)
		return;
	reply_delivery->due_us = due_us;
	loop_timer_set(ws->env->loop, reply_delivery->timer, due_us > at_us ? due_us - at_us : 0);
}

/* Returns when the timer makes the query, unless a Reply makes it earlier. */
static uint64_t due_us(const struct bridge *bridge)
{
	return bridge->unacked.check_us + (bridge->unacked.interval ? 0 : REPLY_DELIVERY_LATE_US);
}

static void enqueue(struct bridge *bridge, unsigned interval)
{
	bridge->unacked.interval = interval;
	bridge->unacked.check_us = bridge_now_us(bridge) + interval_us(interval);
	TAILQ_INSERT_TAIL(&bridge->ws->reply_delivery.queues[interval], bridge, unacked.entry);
	arm_timer(bridge->ws, due_us(bridge));
}

/* Marks the unacknowledged Replies in their first query that have left this host. */
static void mark_sent_out(struct bridge *bridge)
{
	uint64_t left_bytes = leg_transmitted_bytes(bridge->client.leg);
	struct delivery_wait **first_unchecked = &bridge->unacked.first_unchecked;

	for (; *first_unchecked; *first_unchecked = (*first_unchecked)->next)
		(*first_unchecked)->left = (*first_unchecked)->sent_bytes <= left_bytes;
}

static void query_acked(struct bridge *bridge)
{
	struct unacked_replies *unacked = &bridge->unacked;
	unsigned interval = unacked->interval;
	uint64_t acked_bytes = leg_acked_bytes(bridge->client.leg), at_us = bridge_now_us(bridge);
	const struct delivery_wait *end;
	bool any = false;

	TAILQ_REMOVE(&bridge->ws->reply_delivery.queues[interval], bridge, unacked.entry);
	while ((end = unacked->first) && end->sent_bytes <= acked_bytes) {
		reply_acked(bridge, at_us);
		any = true;
	}
	unacked->check_us = 0;
	if (!end)
		return;
	if (unacked->first_unchecked)
		mark_sent_out(bridge);
	if (any)
		interval = 0;
	else if (interval < REPLY_DELIVERY_INTERVALS - 1)
		interval++;
	enqueue(bridge, interval);
}

/* The bridges of one interval are due in order. Returns how many queries are left. */
static unsigned query_acked_queue(struct bridge_list *queue, uint64_t at_us, unsigned left)
{
	struct bridge *bridge;

	while (left && (bridge = TAILQ_FIRST(queue)) && bridge->unacked.check_us <= at_us) {
		query_acked(bridge);
		left--;
	}
	return left;
}

static void on_timer(void *arg)
{
	struct worker_service *ws = arg;
	struct reply_delivery *reply_delivery = &ws->reply_delivery;
	uint64_t at_us = loop_now_us(ws->env->loop);
	unsigned left = REPLY_DELIVERY_BATCH;

	reply_delivery->due_us = 0;
	for (unsigned i = 0; i < REPLY_DELIVERY_INTERVALS; i++)
		left = query_acked_queue(&reply_delivery->queues[i], at_us, left);
	/* Continue in the next iteration if no query was left. */
	for (unsigned i = 0; i < REPLY_DELIVERY_INTERVALS; i++) {
		const struct bridge *first = TAILQ_FIRST(&reply_delivery->queues[i]);

		if (first)
			arm_timer(ws, left ? due_us(first) : first->unacked.check_us);
	}
}

/* Called for the first Reply. Returns false without memory. */
static bool make_timer(struct worker_service *ws)
{
	struct reply_delivery *reply_delivery = &ws->reply_delivery;

	reply_delivery->timer = loop_timer_new(ws->env->loop, on_timer, ws);
	if (!reply_delivery->timer)
		return false;
	for (unsigned i = 0; i < REPLY_DELIVERY_INTERVALS; i++)
		TAILQ_INIT(&reply_delivery->queues[i]);
	return true;
}

/* Returns false without memory; then the Reply counts as delivered. */
static ALWAYS_INLINE bool wait_for_ack(struct bridge *bridge, const struct call_end *end,
				       const struct call_record *report)
{
	struct reply_delivery *reply_delivery = &bridge->ws->reply_delivery;
	struct unacked_replies *unacked = &bridge->unacked;
	uint64_t at_us = bridge_now_us(bridge);
	struct delivery_wait *kept;

	if (at_us >= unacked->check_us && unacked->first)
		query_acked(bridge);
	kept = reply_delivery->timer || make_timer(bridge->ws) ? delivery_wait_new(reply_delivery)
							       : NULL;
	if (!kept)
		return false;
	kept->end = *end;
	kept->report.wanted = report->wanted;
	if (report->wanted)
		kept->report = *report;
	kept->sent_us = at_us;
	kept->sent_bytes = leg_sent_bytes(bridge->client.leg);
	kept->next = NULL;
	kept->left = false;
	if (!unacked->first_unchecked)
		unacked->first_unchecked = kept;
	if (!unacked->first)
		enqueue(bridge, 0);
	*(unacked->first ? &unacked->last->next : &unacked->first) = kept;
	unacked->last = kept;
	return true;
}

bool reply_delivery_oldest(const struct bridge *bridge, uint64_t *since_us,
			   enum nfs_operation *operation)
{
	const struct delivery_wait *first = bridge->unacked.first;

	if (!first)
		return false;
	*since_us = first->end.since_us;
	*operation = first->end.operation;
	return true;
}

/* ---- Calls ---- */

/* Handles an answered Call. A wanted @report is written once the client has the Reply. */
static ALWAYS_INLINE void call_answered(struct bridge_side *side, const struct call_end *end,
					const struct call_record *report)
{
	struct bridge *bridge = side->bridge;

	if (side == &bridge->client && !bridge->end.client_closing && leg_reports_acks(side->leg) &&
	    wait_for_ack(bridge, end, report))
		return;
	count_delivered(bridge, end, report, bridge_now_us(bridge));
}

/* Handles a finished Call for the slow log or a tap. */
NOT_INLINE static void finish_traced(struct bridge_side *side, struct exchange *x,
				     const struct call_end *end, bool is_answered)
{
	struct call_record report;

	call_trace_record(side, x, is_answered, &report);
	if (is_answered)
		call_answered(side, end, &report);
	else
		call_trace(side->bridge, end, &report, 0);
}

static void on_exchange_done(struct exchange_hook *hook, struct exchange *x)
{
	static const struct call_record not_traced = {.wanted = false};
	struct bridge_side *side = container_of(hook, struct bridge_side, hook);
	struct bridge *bridge = side->bridge;
	struct call_end end;
	bool is_answered;

	/* Account for the stage that was still running. */
	if (x->stage != CALL_STAGE_CLIENT)
		exchange_stage_add(x, x->stage, bridge_now_us(bridge));
	is_answered = call_stats_count(&bridge->ws->calls, x, &end);
	if (call_trace_is_on(bridge))
		finish_traced(side, x, &end, is_answered);
	else if (is_answered)
		call_answered(side, &end, &not_traced);
}

void reply_delivery_init(struct bridge *bridge)
{
	bridge->client.hook.done = on_exchange_done;
	bridge->server.hook.done = on_exchange_done;
}

void reply_delivery_client_closing(struct bridge *bridge)
{
	if (!bridge->unacked.first)
		return;
	TAILQ_REMOVE(&bridge->ws->reply_delivery.queues[bridge->unacked.interval], bridge,
		     unacked.entry);
	while (bridge->unacked.first)
		reply_acked(bridge, bridge_now_us(bridge));
	bridge->unacked.check_us = 0;
}

void reply_delivery_fini(struct worker_service *ws)
{
	struct reply_delivery *reply_delivery = &ws->reply_delivery;
	struct delivery_block *block;

	if (!TAILQ_EMPTY(&ws->bridges) || !reply_delivery->timer)
		return;
	loop_timer_free(ws->env->loop, reply_delivery->timer);
	while ((block = reply_delivery->blocks)) {
		reply_delivery->blocks = block->next;
		free(block);
	}
	*reply_delivery = (struct reply_delivery){0};
}

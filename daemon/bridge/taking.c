// SPDX-License-Identifier: BSD-3-Clause
#define _SDT_HAS_SEMAPHORES 1
#include "daemon/bridge/taking.h"

#include <stdlib.h>

#include "base/probes.h"
#include "daemon/bridge/call_tell.h"

PROBE_SEMAPHORE(call__delivered);

/* An RPC that has finished except for its client stage. */
struct taking_end {
	struct taking_end *next; /* in the list of its bridge, or in the free list */
	struct call_end end;
	struct call_report report;
	uint64_t sent_us;    /* when the socket had accepted the whole Reply */
	uint64_t sent_bytes; /* sent by the client leg until then */
	bool left;           /* the Reply had left this host at its first query */
};

struct taking_block {
	struct taking_block *next;
	struct taking_end ends[TAKING_BLOCK];
};

/* ---- memory: blocks that stay allocated while the service has bridges ---- */

static inline void put_spare(struct taking *taking, struct taking_end *end)
{
	end->next = taking->spare;
	taking->spare = end;
}

static void add_block(struct taking *taking)
{
	struct taking_block *block;

	if (taking->nblocks == TAKING_ENDS / TAKING_BLOCK)
		return;
	block = malloc(sizeof(*block));
	if (!block)
		return;
	block->next = taking->blocks;
	taking->blocks = block;
	taking->nblocks++;
	for (unsigned i = 0; i < TAKING_BLOCK; i++)
		put_spare(taking, &block->ends[i]);
}

static struct taking_end *end_new(struct taking *taking)
{
	struct taking_end *end;

	if (!taking->spare)
		add_block(taking);
	end = taking->spare;
	if (end)
		taking->spare = end->next;
	return end;
}

/* ---- queries ---- */

static uint64_t now_us(const struct bridge *bridge)
{
	return loop_now_us(bridge_loop(bridge));
}

static uint64_t interval_us(unsigned interval)
{
	return (uint64_t)TAKING_FIRST_US << interval;
}

static ALWAYS_INLINE void count_took(struct bridge *bridge, const struct call_end *end,
				     const struct call_report *report, uint64_t until_us)
{
	uint64_t us = until_us - end->since_us;
	uint32_t client_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;

	call_stats_took(&bridge->ws->calls, end, client_us);
	if (report->wanted)
		call_tell(bridge, end, report, client_us);
	if (PROBE_IS_ON(call__delivered))
		PROBE4(call__delivered, bridge->id, nfs_operation_name(end->operation),
		       end->before_us + client_us, client_us);
}

/* Counts the first waiting Reply of @bridge as delivered; a query at @at_us has shown it. */
static ALWAYS_INLINE void took(struct bridge *bridge, uint64_t at_us)
{
	struct unacked_replies *untaken = &bridge->untaken;
	struct taking_end *end = untaken->first;
	/* Found by its first query, however late that was; or only the acknowledgement was outstanding. */
	bool at_once = (end == untaken->news || end->left) && at_us - end->sent_us < TAKING_ACK_US;

	count_took(bridge, &end->end, &end->report, at_once ? end->sent_us : at_us);
	if (untaken->news == end)
		untaken->news = end->next;
	untaken->first = end->next;
	put_spare(&bridge->ws->taking, end);
}

/* Sets the timer to expire at @due_us, or leaves it if it expires earlier. */
static void arm(struct worker_service *ws, uint64_t due_us)
{
	struct taking *taking = &ws->taking;
	uint64_t at_us = loop_now_us(ws->ground->loop);

	if (taking->due_us && taking->due_us <= due_us)
		return;
	taking->due_us = due_us;
	loop_timer_set(ws->ground->loop, taking->timer, due_us > at_us ? due_us - at_us : 0);
}

/* Returns when the timer makes the query, unless a Reply makes it earlier. */
static uint64_t due_us(const struct bridge *bridge)
{
	return bridge->untaken.ask_us + (bridge->untaken.interval ? 0 : TAKING_LATE_US);
}

static void enqueue(struct bridge *bridge, unsigned interval)
{
	bridge->untaken.interval = interval;
	bridge->untaken.ask_us = now_us(bridge) + interval_us(interval);
	TAILQ_INSERT_TAIL(&bridge->ws->taking.queues[interval], bridge, untaken.entry);
	arm(bridge->ws, due_us(bridge));
}

/* Marks the unacknowledged Replies in their first query that have left this host. */
static void ask_what_has_left(struct bridge *bridge)
{
	uint64_t left_bytes = leg_left_bytes(bridge->client.leg);
	struct taking_end **news = &bridge->untaken.news;

	for (; *news; *news = (*news)->next)
		(*news)->left = (*news)->sent_bytes <= left_bytes;
}

static void ask(struct bridge *bridge)
{
	struct unacked_replies *untaken = &bridge->untaken;
	unsigned interval = untaken->interval;
	uint64_t taken_bytes = leg_taken_bytes(bridge->client.leg), at_us = now_us(bridge);
	const struct taking_end *end;
	bool any = false;

	TAILQ_REMOVE(&bridge->ws->taking.queues[interval], bridge, untaken.entry);
	while ((end = untaken->first) && end->sent_bytes <= taken_bytes) {
		took(bridge, at_us);
		any = true;
	}
	untaken->ask_us = 0;
	if (!end)
		return;
	if (untaken->news)
		ask_what_has_left(bridge);
	if (any)
		interval = 0;
	else if (interval < TAKING_INTERVALS - 1)
		interval++;
	enqueue(bridge, interval);
}

/* The bridges of one interval are due in order. Returns how many queries are left. */
static unsigned ask_queue(struct bridge_list *queue, uint64_t at_us, unsigned left)
{
	struct bridge *bridge;

	while (left && (bridge = TAILQ_FIRST(queue)) && bridge->untaken.ask_us <= at_us) {
		ask(bridge);
		left--;
	}
	return left;
}

static void on_timer(void *arg)
{
	struct worker_service *ws = arg;
	struct taking *taking = &ws->taking;
	uint64_t at_us = loop_now_us(ws->ground->loop);
	unsigned left = TAKING_SLICE;

	taking->due_us = 0;
	for (unsigned i = 0; i < TAKING_INTERVALS; i++)
		left = ask_queue(&taking->queues[i], at_us, left);
	/* Continue in the next iteration if no query was left. */
	for (unsigned i = 0; i < TAKING_INTERVALS; i++) {
		const struct bridge *first = TAILQ_FIRST(&taking->queues[i]);

		if (first)
			arm(ws, left ? due_us(first) : first->untaken.ask_us);
	}
}

/* Called for the first Reply. Returns false without memory. */
static bool make_timer(struct worker_service *ws)
{
	struct taking *taking = &ws->taking;

	taking->timer = loop_timer_new(ws->ground->loop, on_timer, ws);
	if (!taking->timer)
		return false;
	for (unsigned i = 0; i < TAKING_INTERVALS; i++)
		TAILQ_INIT(&taking->queues[i]);
	return true;
}

/* Returns false without memory; then the Reply counts as delivered. */
static ALWAYS_INLINE bool wait_until_taken(struct bridge *bridge, const struct call_end *end,
					   const struct call_report *report)
{
	struct taking *taking = &bridge->ws->taking;
	struct unacked_replies *untaken = &bridge->untaken;
	uint64_t at_us = now_us(bridge);
	struct taking_end *kept;

	if (at_us >= untaken->ask_us && untaken->first)
		ask(bridge);
	kept = taking->timer || make_timer(bridge->ws) ? end_new(taking) : NULL;
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
	if (!untaken->news)
		untaken->news = kept;
	if (!untaken->first)
		enqueue(bridge, 0);
	*(untaken->first ? &untaken->last->next : &untaken->first) = kept;
	untaken->last = kept;
	return true;
}

bool taking_oldest(const struct bridge *bridge, uint64_t *since_us, enum nfs_operation *operation)
{
	const struct taking_end *first = bridge->untaken.first;

	if (!first)
		return false;
	*since_us = first->end.since_us;
	*operation = first->end.operation;
	return true;
}

/* ---- Calls ---- */

/* Handles an answered Call. A wanted @report is written once the client has the Reply. */
static ALWAYS_INLINE void answered(struct bridge_side *side, const struct call_end *end,
				   const struct call_report *report)
{
	struct bridge *bridge = side->bridge;

	if (side == &bridge->client && !bridge->end.client_closing && leg_tells_taken(side->leg) &&
	    wait_until_taken(bridge, end, report))
		return;
	count_took(bridge, end, report, now_us(bridge));
}

/* Handles a finished Call for the slow log or a tap. */
NOT_INLINE static void over_told(struct bridge_side *side, struct exchange *x,
				 const struct call_end *end, bool is_answered)
{
	struct call_report report;

	call_tell_report(side, x, is_answered, &report);
	if (is_answered)
		answered(side, end, &report);
	else
		call_tell(side->bridge, end, &report, 0);
}

static void on_over(struct exchange_watch *watch, struct exchange *x)
{
	static const struct call_report nobody = {.wanted = false};
	struct bridge_side *side = container_of(watch, struct bridge_side, watch);
	struct bridge *bridge = side->bridge;
	struct call_end end;
	bool is_answered;

	/* Account for the stage that was still running. */
	if (x->stage != CALL_STAGE_CLIENT)
		exchange_spend(x, x->stage, now_us(bridge));
	is_answered = call_stats_count(&bridge->ws->calls, x, &end);
	if (call_tell_is_wanted(bridge))
		over_told(side, x, &end, is_answered);
	else if (is_answered)
		answered(side, &end, &nobody);
}

void taking_begin(struct bridge *bridge)
{
	bridge->client.watch.over = on_over;
	bridge->server.watch.over = on_over;
}

void taking_over(struct bridge *bridge)
{
	if (!bridge->untaken.first)
		return;
	TAILQ_REMOVE(&bridge->ws->taking.queues[bridge->untaken.interval], bridge, untaken.entry);
	while (bridge->untaken.first)
		took(bridge, now_us(bridge));
	bridge->untaken.ask_us = 0;
}

void taking_fini(struct worker_service *ws)
{
	struct taking *taking = &ws->taking;
	struct taking_block *block;

	if (!TAILQ_EMPTY(&ws->bridges) || !taking->timer)
		return;
	loop_timer_free(ws->ground->loop, taking->timer);
	while ((block = taking->blocks)) {
		taking->blocks = block->next;
		free(block);
	}
	*taking = (struct taking){0};
}

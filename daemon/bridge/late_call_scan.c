// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/late_call_scan.h"

#include "daemon/bridge/bridge_iter.h"

static uint64_t age_us(const struct bridge *bridge, const struct exchange *x)
{
	uint64_t now_us = loop_now_us(bridge_loop(bridge));

	return now_us > x->start_us ? now_us - x->start_us : 0;
}

/* Walks the Calls of a bridge, oldest first. Returns how many of them are late. */
static unsigned scan_bridge(struct bridge *bridge, struct late_scan *found)
{
	const struct exchange *x;
	struct leg_info info;
	uint64_t us, oldest_us = 0;
	unsigned late = 0;

	bridge->calls.late = false;
	if (!bridge->open.forwarding || !bridge->server.leg)
		return 0;
	TAILQ_FOREACH(x, &bridge->calls.list, owner_entry) {
		/* A Call waits for the server only once the client has sent all of it. */
		if (!rpc_msg_is_whole(&x->call))
			continue;
		us = age_us(bridge, x);
		if (us < LATE_CALL_US)
			break;
		late++;
		if (us > oldest_us)
			oldest_us = us;
		if (us <= found->oldest_us)
			continue;
		found->oldest_us = us;
		found->oldest_start_us = x->start_us;
		found->target = upstream_server(&bridge->upstream);
		leg_info(bridge->server.leg, &info);
		found->server = info.peer;
	}
	bridge->calls.late = late > 0;
	found->calls += late;
	found->clients += late > 0;
	found->long_clients += oldest_us >= LATE_CALL_WARN_US;
	return late;
}

static void report_late_calls(struct worker_service *ws)
{
	struct late_call_scan *late_scan = &ws->late_scan;

	late_calls_report(&ws->service->late, &late_scan->thread, &late_scan->found);
	late_scan->found = (struct late_scan){0};
}

/* Continues an unfinished scan in the next iteration of the event loop. */
static void scan_bridges(void *arg)
{
	struct worker_service *ws = arg;
	struct late_call_scan *late_scan = &ws->late_scan;
	unsigned steps = 0;
	struct bridge *bridge;

	if (!late_scan->walking)
		bridge_iter_start(ws, &late_scan->iter);
	late_scan->walking = true;
	while (steps < LATE_CALL_SCAN_BATCH && (bridge = bridge_iter_next(&late_scan->iter)))
		steps += 1 + scan_bridge(bridge, &late_scan->found);
	if (steps >= LATE_CALL_SCAN_BATCH) {
		loop_timer_set(ws->env->loop, late_scan->timer, 1);
		return;
	}
	if (late_scan->found.calls || late_scan->thread.calls)
		report_late_calls(ws);
	late_scan->walking = false;
	loop_timer_set(ws->env->loop, late_scan->timer, LATE_CALLS_SCAN_US);
}

void late_call_scan_start(struct worker_service *ws)
{
	struct late_call_scan *late_scan = &ws->late_scan;

	if (late_scan->timer)
		return;
	late_scan->timer = loop_timer_new(ws->env->loop, scan_bridges, ws);
	if (late_scan->timer)
		loop_timer_set(ws->env->loop, late_scan->timer, LATE_CALLS_SCAN_US);
}

void late_call_scan_stop(struct worker_service *ws)
{
	struct late_call_scan *late_scan = &ws->late_scan;

	if (!TAILQ_EMPTY(&ws->bridges) || !late_scan->timer)
		return;
	loop_timer_free(ws->env->loop, late_scan->timer);
	late_scan->timer = NULL;
	/* The late Calls found so far are gone with their bridges. */
	late_scan->found.calls = late_scan->found.clients = late_scan->found.long_clients = 0;
	if (late_scan->thread.calls)
		report_late_calls(ws);
	late_scan->found = (struct late_scan){0};
	late_scan->walking = false;
}

void late_call_scan_done(struct bridge *bridge, const struct exchange *x, bool answered)
{
	struct late_scan *found = &bridge->ws->late_scan.found;
	uint64_t us = age_us(bridge, x);

	if (us < LATE_CALL_US)
		return;
	if (us > found->longest_us)
		found->longest_us = us;
	found->answered |= answered;
}

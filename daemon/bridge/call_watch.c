// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/call_watch.h"

#include "daemon/bridge/bridge_walk.h"

static uint64_t age_us(const struct bridge *bridge, const struct exchange *x)
{
	uint64_t now_us = loop_now_us(bridge_loop(bridge));

	return now_us > x->start_us ? now_us - x->start_us : 0;
}

/* Walks the Calls of a bridge, oldest first. Returns how many of them are late. */
static unsigned scan_bridge(struct bridge *bridge, struct late_found *found)
{
	const struct exchange *x;
	struct leg_info info;
	uint64_t us, oldest_us = 0;
	unsigned late = 0;

	bridge->calls.late = false;
	if (!bridge->open.passing || !bridge->server.leg)
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
		leg_info(bridge->server.leg, &info);
		found->server = info.peer;
	}
	bridge->calls.late = late > 0;
	found->calls += late;
	found->clients += late > 0;
	found->long_clients += oldest_us >= LATE_CALL_TOLD_US;
	return late;
}

static void report(struct worker_service *ws)
{
	struct call_watch *watch = &ws->watch;

	late_calls_report(&ws->service->late, &watch->side, &watch->found);
	watch->found = (struct late_found){0};
}

/* Continues an unfinished scan in the next iteration of the event loop. */
static void look(void *arg)
{
	struct worker_service *ws = arg;
	struct call_watch *watch = &ws->watch;
	unsigned steps = 0;
	struct bridge *bridge;

	if (!watch->walking)
		bridge_walk_begin(ws, &watch->walk);
	watch->walking = true;
	while (steps < CALL_WATCH_SLICE && (bridge = bridge_walk_next(&watch->walk)))
		steps += 1 + scan_bridge(bridge, &watch->found);
	if (steps >= CALL_WATCH_SLICE) {
		loop_timer_set(ws->ground->loop, watch->timer, 1);
		return;
	}
	if (watch->found.calls || watch->side.calls)
		report(ws);
	watch->walking = false;
	loop_timer_set(ws->ground->loop, watch->timer, LATE_CALLS_LOOK_US);
}

void call_watch_begin(struct worker_service *ws)
{
	struct call_watch *watch = &ws->watch;

	if (watch->timer)
		return;
	watch->timer = loop_timer_new(ws->ground->loop, look, ws);
	if (watch->timer)
		loop_timer_set(ws->ground->loop, watch->timer, LATE_CALLS_LOOK_US);
}

void call_watch_end(struct worker_service *ws)
{
	struct call_watch *watch = &ws->watch;

	if (!TAILQ_EMPTY(&ws->bridges) || !watch->timer)
		return;
	loop_timer_free(ws->ground->loop, watch->timer);
	watch->timer = NULL;
	/* The late Calls found so far are gone with their bridges. */
	watch->found.calls = watch->found.clients = watch->found.long_clients = 0;
	if (watch->side.calls)
		report(ws);
	watch->found = (struct late_found){0};
	watch->walking = false;
}

void call_watch_over(struct bridge *bridge, const struct exchange *x, bool answered)
{
	struct late_found *found = &bridge->ws->watch.found;
	uint64_t us = age_us(bridge, x);

	if (us < LATE_CALL_US)
		return;
	if (us > found->longest_us)
		found->longest_us = us;
	found->answered |= answered;
}

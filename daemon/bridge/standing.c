// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/standing.h"

#include "daemon/bridge/closing.h"
#include "daemon/bridge/returning.h"

void standing_begin(struct bridge *bridge, struct guest *guest)
{
	bridge->limits.guest = guest;
	guest->owner = bridge;
	standing_wait(bridge);
}

void standing_wait(struct bridge *bridge)
{
	loop_timer_set(bridge_loop(bridge), bridge->timer,
		       (uint64_t)bridge->ws->service->config->stall_timeout_s * 1000000);
}

/* The leg limits the time of a record that arrives slowly. The leg does not read a Call that waits for memory. */
void standing_silent(struct bridge *bridge)
{
	struct leg_info info;

	if (bridge_is_decided(bridge))
		return;
	leg_info(bridge->client.leg, &info);
	if (bridge->limits.half_closed) {
		bridge_close(bridge, LEG_CLOSE_HALF_CLOSED_TIMEOUT, CLOSE_BY_PROXY, "");
	} else if (info.bytes_received == bridge->limits.heard_bytes &&
		   !budget_holder_waits(&bridge->memory)) {
		bridge_close(bridge, LEG_CLOSE_NO_CALL, CLOSE_BY_CLIENT, "");
	} else {
		bridge->limits.heard_bytes = info.bytes_received;
		standing_wait(bridge);
	}
}

/* ---- half-closed ---- */

static bool has_place(const struct bridge *bridge)
{
	return bridge->state.now >= BRIDGE_RESOLVING && !bridge_is_decided(bridge);
}

/* Returns the bytes that the client acknowledged if the leg knows them, else those sent to its socket. */
static uint64_t taken_bytes(const struct bridge *bridge)
{
	const struct leg *leg = bridge->client.leg;
	struct leg_info info;

	if (leg_tells_taken(leg))
		return leg_taken_bytes(leg);
	leg_info(leg, &info);
	return info.bytes_sent;
}

/* Returns whether the client only has to acknowledge Replies; the leg limits the time for that. */
static bool only_takes(const struct bridge *bridge)
{
	const struct leg *leg = bridge->client.leg;

	return TAILQ_EMPTY(&bridge->calls.list) && leg_tells_taken(leg) &&
	       leg_taken_bytes(leg) < leg_sent_bytes(leg);
}

static void limit_half_closed(struct bridge *bridge)
{
	bridge->limits.taken_bytes = taken_bytes(bridge);
	loop_timer_set(bridge_loop(bridge), bridge->timer,
		       bridge->ws->service->config->half_closed_timeout_s * 1000000ull);
}

/* Returns 0 without an unanswered Call. */
static uint64_t oldest_start_us(const struct bridge *bridge)
{
	const struct exchange *oldest = TAILQ_FIRST(&bridge->calls.list);

	if (!oldest)
		return 0;
	return oldest->start_us ? oldest->start_us : 1;
}

/* BRIDGE_RECLAIMING uses the timer for its own time limit. */
void standing_half_closed_goes_on(struct bridge *bridge)
{
	if (bridge_is_decided(bridge))
		return;
	if (has_place(bridge))
		door_half_closed(bridge->limits.guest, oldest_start_us(bridge));
	if (bridge->state.now != BRIDGE_RECLAIMING)
		limit_half_closed(bridge);
}

void bridge_client_half_closed(void *arg)
{
	struct bridge *bridge = ((struct bridge_side *)arg)->bridge;
	bool first = !bridge->limits.half_closed;

	if (bridge_is_decided(bridge))
		return;
	bridge->limits.half_closed = true;
	bridge_calls_half_closed(bridge);
	if (first)
		standing_half_closed_goes_on(bridge);
}

void standing_half_closed_waited(struct bridge *bridge)
{
	if (bridge_is_decided(bridge))
		return;
	if (taken_bytes(bridge) != bridge->limits.taken_bytes || only_takes(bridge))
		limit_half_closed(bridge);
	else
		bridge_close(bridge, LEG_CLOSE_HALF_CLOSED_TIMEOUT, CLOSE_BY_PROXY, "");
}

/* ---- limits ---- */

bool standing_seek(struct bridge *bridge)
{
	enum leg_close why;

	loop_timer_clear(bridge_loop(bridge), bridge->timer);
	if (!door_seek(bridge->limits.guest, loop_now_us(bridge_loop(bridge)), &why)) {
		bridge_close(bridge, why, CLOSE_BY_PROXY, "");
		return false;
	}
	if (bridge->limits.half_closed)
		standing_half_closed_goes_on(bridge);
	return true;
}

void standing_reached(struct bridge *bridge)
{
	door_reached(bridge->limits.guest);
}

bool standing_carry(struct bridge *bridge)
{
	bridge->limits.carried = true;
	if (door_carry(bridge->limits.guest))
		return true;
	bridge_close(bridge, bridge->limits.guest->why, CLOSE_BY_PROXY, "");
	return false;
}

/* A connection attempt during the command either appears in this list or sees the command itself. */
void bridges_end_ordered(struct worker_service *ws)
{
	unsigned orders = atomic_load(&ws->service->targets.orders);
	struct bridge *bridge;

	if (ws->orders == orders)
		return;
	ws->orders = orders;
	TAILQ_FOREACH(bridge, &ws->bridges, entry) {
		const struct target *target = upstream_server(&bridge->upstream);

		if (target && target_is_down(target) && !bridge_is_decided(bridge))
			bridge_close(bridge, LEG_CLOSE_TAKEN_DOWN, CLOSE_BY_PROXY, "");
	}
}

void bridges_end_expelled(struct worker_service *ws)
{
	struct guest *guest;

	/* A slot without a bridge is checked when the worker accepts the connection. */
	while ((guest = door_expelled(&ws->service->door, &ws->side)))
		if (guest->owner)
			bridge_close(guest->owner, guest->why, CLOSE_BY_PROXY, "");
}

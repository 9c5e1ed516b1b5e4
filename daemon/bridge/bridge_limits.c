// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/bridge_limits.h"

#include "daemon/bridge/bridge_affinity.h"
#include "daemon/bridge/bridge_close.h"
#include "daemon/config/config_limits.h"

void bridge_limits_start(struct bridge *bridge, struct conn_slot *slot)
{
	bridge->limits.slot = slot;
	slot->owner = bridge;
	bridge_limits_idle_start(bridge);
}

void bridge_limits_idle_start(struct bridge *bridge)
{
	loop_timer_set(bridge_loop(bridge), bridge->timer,
		       (uint64_t)bridge->ws->service->config->stall_timeout_s * 1000000);
}

/*
 * The leg limits the time of a record that arrives slowly. The leg does not read a Call that waits
 * for memory.
 */
void bridge_limits_idle_expired(struct bridge *bridge)
{
	struct leg_info info;

	if (bridge_is_closing(bridge))
		return;
	leg_info(bridge->client.leg, &info);
	if (bridge->limits.half_closed) {
		bridge_close(bridge, LEG_CLOSE_HALF_CLOSED_TIMEOUT, CLOSE_BY_PROXY, "");
	} else if (info.bytes_received == bridge->limits.received_bytes &&
		   !budget_holder_waits(&bridge->memory)) {
		bridge_close(bridge, LEG_CLOSE_NO_CALL, CLOSE_BY_CLIENT, "");
	} else {
		bridge->limits.received_bytes = info.bytes_received;
		bridge_limits_idle_start(bridge);
	}
}

/* ---- half-closed ---- */

static bool is_counted(const struct bridge *bridge)
{
	return bridge->state.now >= BRIDGE_RESOLVING && !bridge_is_closing(bridge);
}

/*
 * Returns the bytes that the client acknowledged if the leg knows them, else those sent to its
 * socket.
 */
static uint64_t acked_bytes(const struct bridge *bridge)
{
	const struct leg *leg = bridge->client.leg;
	struct leg_info info;

	if (leg_reports_acks(leg))
		return leg_acked_bytes(leg);
	leg_info(leg, &info);
	return info.bytes_sent;
}

/* Returns whether the client only has to acknowledge Replies; the leg limits the time for that. */
static bool awaits_acks_only(const struct bridge *bridge)
{
	const struct leg *leg = bridge->client.leg;

	return TAILQ_EMPTY(&bridge->calls.list) && leg_reports_acks(leg) &&
	       leg_acked_bytes(leg) < leg_sent_bytes(leg);
}

static void start_half_closed_timer(struct bridge *bridge)
{
	bridge->limits.acked_bytes = acked_bytes(bridge);
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

/* BRIDGE_WAIT_OLD_CONN uses the timer for its own time limit. */
void bridge_limits_half_closed_progress(struct bridge *bridge)
{
	if (bridge_is_closing(bridge))
		return;
	if (is_counted(bridge))
		conn_slot_half_closed(bridge->limits.slot, oldest_start_us(bridge));
	if (bridge->state.now != BRIDGE_WAIT_OLD_CONN)
		start_half_closed_timer(bridge);
}

void bridge_client_half_closed(void *arg)
{
	struct bridge *bridge = ((struct bridge_side *)arg)->bridge;
	bool first = !bridge->limits.half_closed;

	if (bridge_is_closing(bridge))
		return;
	bridge->limits.half_closed = true;
	bridge_affinity_half_closed(bridge);
	if (first)
		bridge_limits_half_closed_progress(bridge);
}

void bridge_limits_half_closed_expired(struct bridge *bridge)
{
	if (bridge_is_closing(bridge))
		return;
	if (acked_bytes(bridge) != bridge->limits.acked_bytes || awaits_acks_only(bridge))
		start_half_closed_timer(bridge);
	else
		bridge_close(bridge, LEG_CLOSE_HALF_CLOSED_TIMEOUT, CLOSE_BY_PROXY, "");
}

/* ---- limits ---- */

bool bridge_limits_connecting(struct bridge *bridge)
{
	char limit[CONFIG_LIMIT_TEXT_BYTES] = "";
	enum leg_close why;

	loop_timer_clear(bridge_loop(bridge), bridge->timer);
	if (!conn_slot_connecting(bridge->limits.slot, loop_now_us(bridge_loop(bridge)), &why)) {
		if (why == LEG_CLOSE_TOO_MANY)
			config_limit_text(bridge->ws->service->config, limit);
		bridge_close(bridge, why, CLOSE_BY_PROXY, limit);
		return false;
	}
	if (bridge->limits.half_closed)
		bridge_limits_half_closed_progress(bridge);
	return true;
}

void bridge_limits_connected(struct bridge *bridge)
{
	conn_slot_connected(bridge->limits.slot);
}

bool bridge_limits_first_call(struct bridge *bridge)
{
	bridge->limits.had_call = true;
	if (conn_slot_first_call(bridge->limits.slot))
		return true;
	bridge_close(bridge, bridge->limits.slot->why, CLOSE_BY_PROXY, "");
	return false;
}

/*
 * A connection attempt during the command either appears in this list or sees the command itself.
 */
void bridge_limits_close_disabled(struct worker_service *ws)
{
	unsigned orders = atomic_load(&ws->service->servers.orders);
	struct bridge *bridge;

	if (ws->orders == orders)
		return;
	ws->orders = orders;
	TAILQ_FOREACH(bridge, &ws->bridges, entry) {
		const struct nfs_server *server = upstream_server(&bridge->upstream);

		if (server && server_is_ordered_down(server) && !bridge_is_closing(bridge))
			bridge_close(bridge, LEG_CLOSE_TAKEN_DOWN, CLOSE_BY_PROXY, "");
	}
}

void bridge_limits_close_evicted(struct worker_service *ws)
{
	struct conn_slot *slot;

	/* A slot without a bridge is checked when the worker accepts the connection. */
	while ((slot = conn_limits_next_evicted(&ws->service->limits, &ws->thread)))
		if (slot->owner)
			bridge_close(slot->owner, slot->why, CLOSE_BY_PROXY, "");
}

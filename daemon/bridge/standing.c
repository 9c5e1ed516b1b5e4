// SPDX-License-Identifier: BSD-3-Clause
/* How a bridge stands with the door of its service, and what it says there of itself. */
#include "daemon/bridge/standing.h"

#include "daemon/bridge/closing.h"

void standing_begin(struct bridge *bridge, struct guest *guest)
{
	bridge->guest = guest;
	guest->owner = bridge;
	standing_wait(bridge);
}

void standing_wait(struct bridge *bridge)
{
	loop_timer_set(bridge_loop(bridge), bridge->timer,
		       (uint64_t)bridge->ws->service->config->stall_timeout_s * 1000000);
}

/* What a record may take that does come is the leg's to bound; a Call that waits for memory is not read. */
void standing_silent(struct bridge *bridge)
{
	struct leg_info info;

	if (bridge_is_decided(bridge))
		return;
	leg_info(bridge->client.leg, &info);
	if (info.bytes_received == bridge->heard_bytes && !budget_holder_waits(&bridge->memory)) {
		bridge_give_up(bridge, LEG_CLOSE_NO_CALL, CLOSE_BY_CLIENT, "");
	} else {
		bridge->heard_bytes = info.bytes_received;
		standing_wait(bridge);
	}
}

bool standing_seek(struct bridge *bridge)
{
	enum leg_close why;

	loop_timer_clear(bridge_loop(bridge), bridge->timer);
	if (door_seek(bridge->guest, &why))
		return true;
	bridge_give_up(bridge, why, CLOSE_BY_PROXY, "");
	return false;
}

void standing_reached(struct bridge *bridge)
{
	door_reached(bridge->guest);
}

bool standing_carry(struct bridge *bridge)
{
	bridge->carried = true;
	if (door_carry(bridge->guest))
		return true;
	bridge_close(bridge, bridge->guest->why);
	return false;
}

/* A connection that is tried while an order is given is seen here, or sees the order. */
void bridges_end_ordered(struct worker_service *ws)
{
	unsigned orders = atomic_load(&ws->service->targets.orders);
	struct bridge *bridge;

	if (ws->orders == orders)
		return;
	ws->orders = orders;
	TAILQ_FOREACH(bridge, &ws->bridges, entry) {
		const struct target *target = upstream_target(&bridge->upstream);

		if (target && target_is_down(target) && !bridge_is_decided(bridge))
			bridge_close(bridge, LEG_CLOSE_TAKEN_DOWN);
	}
}

void bridges_end_expelled(struct worker_service *ws)
{
	struct guest *guest;

	/* One that no bridge has taken yet is found out by who is going to. */
	while ((guest = door_expelled(&ws->service->door, &ws->side)))
		if (guest->owner)
			bridge_close(guest->owner, guest->why);
}

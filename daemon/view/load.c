// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/view/load.h"

#include <string.h>

static const char *const fabric_names[] = {
#define LOAD_FABRIC_NAME(name, text) text,
	LOAD_FABRICS(LOAD_FABRIC_NAME)
#undef LOAD_FABRIC_NAME
};

const char *load_fabric_name(enum load_fabric fabric)
{
	return fabric_names[fabric];
}

static enum load_fabric fabric_of(const struct leg_load *leg)
{
	for (unsigned i = 0; i < LOAD_FABRIC_COUNT; i++)
		if (!strcmp(fabric_names[i], leg->kind))
			return i;
	return LOAD_FABRIC_NONE;
}

static enum load_fabric fabric_of_bridge(const struct bridge_load *bridge)
{
	if (bridge->has_client && bridge->client.is_rdma)
		return fabric_of(&bridge->client);
	return bridge->has_server ? fabric_of(&bridge->server) : LOAD_FABRIC_NONE;
}

void load_add_bridge(struct load *load, const struct bridge *bridge, uint64_t now_us)
{
	struct load_credits *ours = &load->credits[STATS_CLIENT];
	struct load_credits *theirs = &load->credits[STATS_UPSTREAM];
	struct bridge_load one;

	bridge_load_get(bridge, now_us, &one);
	load->connections[fabric_of_bridge(&one)]++;
	if (one.has_client)
		load->in_flight += one.client.calls_in_flight_in;
	if (one.has_client && one.client.is_rdma) {
		ours->granted += one.client.credits_granted;
		ours->used += one.client.calls_in_flight_in;
	}
	if (one.has_server && one.server.is_rdma) {
		theirs->granted += one.server.credits_available + one.server.calls_in_flight_out;
		theirs->used += one.server.calls_in_flight_out;
		theirs->waited += one.server.calls_held;
	}
	if (one.oldest_us > load->oldest_us)
		load->oldest_us = one.oldest_us;
}

void load_merge(struct load *sum, const struct load *part)
{
	for (unsigned i = 0; i < LOAD_FABRIC_COUNT; i++)
		sum->connections[i] += part->connections[i];
	sum->in_flight += part->in_flight;
	sum->fabric_fallbacks += part->fabric_fallbacks;
	if (part->oldest_us > sum->oldest_us)
		sum->oldest_us = part->oldest_us;
	for (unsigned side = 0; side < STATS_SIDES; side++) {
		sum->credits[side].granted += part->credits[side].granted;
		sum->credits[side].used += part->credits[side].used;
		sum->credits[side].waited += part->credits[side].waited;
	}
}

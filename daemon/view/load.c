// SPDX-License-Identifier: BSD-3-Clause
/* What connections are about, added up. */
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

static enum load_fabric fabric_of(const struct leg_info *info)
{
	for (unsigned i = 0; i < LOAD_FABRIC_COUNT; i++)
		if (!strcmp(fabric_names[i], info->kind))
			return i;
	return LOAD_FABRIC_NONE;
}

static enum load_fabric fabric_of_bridge(const struct bridge_info *info)
{
	enum load_fabric client = LOAD_FABRIC_NONE, server = LOAD_FABRIC_NONE;

	if (info->has_client)
		client = fabric_of(&info->client);
	if (info->has_server)
		server = fabric_of(&info->server);
	if (client != LOAD_FABRIC_TCP && client != LOAD_FABRIC_NONE)
		return client;
	return server;
}

static void add_credits(struct load_credits *credits, const struct leg_info *info, bool ours)
{
	if (!info->rpcrdma_version)
		return;
	credits->granted += ours ? info->credits_granted : info->credits_available;
	credits->used += ours ? info->calls_in_flight_in : info->calls_in_flight_out;
	credits->waited += ours ? 0 : info->calls_held;
}

void load_add_bridge(struct load *load, const struct bridge *bridge, uint64_t now_us)
{
	struct bridge_info info;
	uint64_t us;

	bridge_info_get(bridge, &info);
	load->connections[fabric_of_bridge(&info)]++;
	if (info.has_client) {
		load->in_flight += info.client.calls_in_flight_in;
		add_credits(&load->credits[STATS_CLIENT], &info.client, true);
	}
	if (info.has_server)
		add_credits(&load->credits[STATS_UPSTREAM], &info.server, false);
	us = info.has_call && now_us > info.oldest_call_us ? now_us - info.oldest_call_us : 0;
	if (us > load->oldest_us)
		load->oldest_us = us;
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

// SPDX-License-Identifier: BSD-3-Clause
/* What one worker shows of itself. */
#include "daemon/control/snapshot.h"

#include "daemon/base/address.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/bridge_walk.h"

static json_t *json_address(const struct sockaddr_storage *addr)
{
	char text[ADDRESS_TEXT_BYTES];

	return json_string(address_text((const struct sockaddr *)addr, text));
}

/* For how long a state has lasted; null if it was not noted when it began. */
static json_t *json_state_age(uint64_t now_us, uint64_t since_us)
{
	return since_us ? json_real((now_us - since_us) / 1e6) : json_null();
}

/* null without a Call that waits for its Reply. */
static json_t *json_call_age(const struct bridge_info *info, uint64_t now_us)
{
	if (!info->has_call)
		return json_null();
	return json_real(now_us > info->oldest_call_us ? (now_us - info->oldest_call_us) / 1e6 : 0);
}

static json_t *json_leg(bool has, const struct leg_info *info, uint64_t now_us)
{
	if (!has)
		return json_null();
	return json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s?, s:s?, s:I, s:I}",
		"kind", info->kind, "state", info->state, "state_age_s",
		json_state_age(now_us, info->state_since_us), "local", json_address(&info->local),
		"peer", json_address(&info->peer), "calls_in", info->calls_in_flight_in,
		"calls_out", info->calls_in_flight_out, "calls_held", info->calls_held,
		"credits_granted", info->credits_granted, "credits_available",
		info->credits_available, "inline_send_bytes", info->inline_send_bytes,
		"inline_recv_bytes", info->inline_recv_bytes, "rpcrdma_version",
		info->rpcrdma_version, "peer_profile", info->peer_profile, "peer_profile_why",
		info->peer_why, "bytes_received", (json_int_t)info->bytes_received, "bytes_sent",
		(json_int_t)info->bytes_sent);
}

static json_t *json_bridge(const struct snapshot *snapshot, const struct worker_service *ws,
			   const struct bridge *bridge, uint64_t now_us)
{
	struct bridge_info info;

	bridge_info_get(bridge, &info);
	return json_pack(
		"{s:I, s:s, s:i, s:s, s:o, s:f, s:o, s:o, s:o, s:o}", "id", (json_int_t)info.id,
		"service", ws->service->config->name, "worker", snapshot->worker, "state",
		info.state, "state_age_s", json_state_age(now_us, info.state_since_us), "age_s",
		(now_us - info.start_us) / 1e6, "client_address", json_address(&info.client_peer),
		"oldest_call_age_s", json_call_age(&info, now_us), "client",
		json_leg(info.has_client, &info.client, now_us), "upstream",
		json_leg(info.has_server, &info.server, now_us));
}

/* Takes up to @room connections. Returns how many. */
static unsigned take_connections(struct snapshot *snapshot, struct worker_service *ws,
				 unsigned room, uint64_t now_us)
{
	struct bridge *bridge;
	unsigned taken = 0;

	if (!snapshot->within)
		bridge_walk_begin(ws, &ws->shown);
	snapshot->within = true;
	while (taken < room && (bridge = bridge_walk_next(&ws->shown))) {
		json_array_append_new(snapshot->connections,
				      json_bridge(snapshot, ws, bridge, now_us));
		taken++;
	}
	return taken;
}

static void add_stats(struct stats *stats, const struct worker_service *ws)
{
	stats_add(stats, "tcp", tcp_leg_counters_table, &ws->tcp.counters);
	stats_add(stats, "rdma", rdma_leg_counters_table, &ws->rdma);
	stats_add(stats, ws->iwarp->ops->name, ws->iwarp->ops->counters_table, ws->iwarp->counters);
	if (ws->verbs)
		stats_add(stats, ws->verbs->ops->name, ws->verbs->ops->counters_table,
			  ws->verbs->counters);
	stats_add(stats, "closes", stats_closes_table, ws->closes);
}

bool snapshot_slice(struct snapshot *snapshot, struct worker_service *services, size_t nservices,
		    uint64_t now_us)
{
	unsigned room = SNAPSHOT_SLICE;

	while (snapshot->service < nservices && room) {
		struct worker_service *ws = &services[snapshot->service];

		if (snapshot->connections)
			room -= take_connections(snapshot, ws, room, now_us);
		if (!room)
			break;
		if (snapshot->stats)
			add_stats(&snapshot->stats[snapshot->service], ws);
		room--;
		snapshot->within = false;
		snapshot->service++;
	}
	return snapshot->service < nservices;
}

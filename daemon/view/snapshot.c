// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/view/snapshot.h"

#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "base/budget_account.h"
#include "daemon/base/address.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/bridge_iter.h"
#include "daemon/view/stats.h"
#include "tls/tls_stream.h"

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

static void conn_load_add_bridge(struct conn_load *load, const struct bridge *bridge,
				 uint64_t now_us)
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
		theirs->waited += one.server.calls_queued;
	}
	if (one.oldest_us > load->oldest_us)
		load->oldest_us = one.oldest_us;
}

void conn_load_merge(struct conn_load *sum, const struct conn_load *part)
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

/* ---- connections as JSON ---- */

#define TLS_VERSION "1.3" /* the only one that lib/tls speaks */

/* Null while the address is unknown. */
static json_t *json_address(const struct sockaddr_storage *addr)
{
	char text[ADDRESS_TEXT_BYTES];

	if (addr->ss_family == AF_UNSPEC)
		return json_null();
	return json_string(address_text((const struct sockaddr *)addr, text));
}

/* How long a state has lasted; null if its start was not recorded. */
static json_t *json_state_age(uint64_t now_us, uint64_t since_us)
{
	return since_us ? json_real((now_us - since_us) / 1e6) : json_null();
}

/* Null if not @has. */
static json_t *json_age(bool has, uint64_t now_us, uint64_t since_us)
{
	if (!has)
		return json_null();
	return json_real(now_us > since_us ? (now_us - since_us) / 1e6 : 0);
}

/* Members of RDMA legs are null for TCP. */
static void put_rdma(json_t *leg, const char *key, bool has, uint64_t value)
{
	json_object_set_new(leg, key, has ? json_integer((json_int_t)value) : json_null());
}

/* NULL becomes null. */
static void put_text(json_t *leg, const char *key, const char *text)
{
	json_object_set_new(leg, key, text ? json_string(text) : json_null());
}

/* Null without TLS. */
static json_t *json_tls(const struct tls_peer *peer)
{
	if (!peer)
		return json_null();
	return json_pack("{s:s, s:s, s:s?, s:b}", "version", TLS_VERSION, "cipher", peer->cipher,
			 "peer_name", peer->name[0] ? peer->name : NULL, "verified",
			 (int)peer->verified);
}

static json_t *json_leg(bool has, const struct leg_info *info, uint64_t now_us)
{
	bool rdma = has && info->rpcrdma_version != 0;
	json_t *leg;

	if (!has)
		return json_null();
	leg = json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:i, s:i, s:s?, s:s?, s:I, s:I}", "kind", info->kind,
		"state", info->state, "state_age_s", json_state_age(now_us, info->state_since_us),
		"local", json_address(&info->local), "peer", json_address(&info->peer), "calls_in",
		info->calls_in_flight_in, "calls_out", info->calls_in_flight_out, "peer_profile",
		info->peer_profile, "peer_profile_why", info->peer_why, "bytes_received",
		(json_int_t)info->bytes_received, "bytes_sent", (json_int_t)info->bytes_sent);
	put_rdma(leg, "calls_held", rdma, info->calls_queued);
	put_rdma(leg, "credits_granted", rdma, info->credits_granted);
	put_rdma(leg, "credits_available", rdma && info->credits_known, info->credits_available);
	put_rdma(leg, "credits_used", rdma, info->credits_used);
	put_rdma(leg, "inline_send_bytes", rdma, info->inline_send_bytes);
	put_rdma(leg, "inline_recv_bytes", rdma, info->inline_recv_bytes);
	put_rdma(leg, "rpcrdma_version", rdma, info->rpcrdma_version);
	put_rdma(leg, "recv_size_bytes", rdma, info->recv_size_bytes);
	put_rdma(leg, "peer_recv_size_bytes", rdma, info->peer_recv_size_bytes);
	put_rdma(leg, "recv_posted_bytes", rdma, info->recv_posted_bytes);
	put_rdma(leg, "peer_reads_max", rdma && info->configured, info->peer_reads_max);
	put_rdma(leg, "replies_lent", rdma, info->replies_lent);
	put_rdma(leg, "calls_abandoned", rdma, info->calls_abandoned);
	put_text(leg, "dialect", info->dialect);
	put_text(leg, "pending", info->pending);
	json_object_set_new(leg, "tls", json_tls(info->tls));
	return leg;
}

/*
 * Adds operation and stage of the oldest Call, and of the oldest Reply that the client has not
 * acknowledged.
 */
static void put_oldest(json_t *connection, const struct bridge_info *info, uint64_t now_us)
{
	put_text(connection, "oldest_call_operation",
		 info->has_call ? nfs_operation_name(info->oldest_operation) : NULL);
	put_text(connection, "oldest_call_stage",
		 info->has_call ? call_stage_name(info->oldest_stage) : NULL);
	json_object_set_new(connection, "oldest_untaken_age_s",
			    json_age(info->has_unacked, now_us, info->unacked_us));
	put_text(connection, "oldest_untaken_operation",
		 info->has_unacked ? nfs_operation_name(info->unacked_operation) : NULL);
}

static json_t *json_bridge(const struct snapshot *snapshot, const struct worker_service *ws,
			   const struct bridge *bridge, uint64_t now_us)
{
	struct bridge_info info;
	json_t *connection;

	bridge_info_get(bridge, &info);
	connection = json_pack("{s:I, s:s, s:i, s:s, s:o, s:f, s:o, s:I, s:o, s:o, s:o}", "id",
			       (json_int_t)info.id, "service", ws->service->config->name, "worker",
			       snapshot->worker, "state", info.state, "state_age_s",
			       json_state_age(now_us, info.state_since_us), "age_s",
			       (now_us - info.start_us) / 1e6, "client_address",
			       json_address(&info.client_peer), "calls_total",
			       (json_int_t)info.calls_total, "oldest_call_age_s",
			       json_age(info.has_call, now_us, info.oldest_call_us), "client",
			       json_leg(info.has_client, &info.client, now_us), "upstream",
			       json_leg(info.has_server, &info.server, now_us));
	put_oldest(connection, &info, now_us);
	return connection;
}

/* State of the current slice. */
struct slice {
	struct snapshot *snapshot;
	uint64_t now_us;
	unsigned left_in_turn;
	uint64_t until_us; /* by snapshot->clock_us() */
};

/* A slice has at least one item, even if the thread was not scheduled for long. */
static bool is_full(const struct slice *slice)
{
	const struct snapshot *snapshot = slice->snapshot;

	if (!slice->left_in_turn)
		return true;
	return slice->left_in_turn < SNAPSHOT_SLICE && snapshot->clock_us &&
	       snapshot->clock_us() >= slice->until_us;
}

/*
 * Returns where to put a connection whose oldest Call is @us old: at the end, or in place of a
 * younger one; SIZE_MAX: drop it.
 */
static size_t oldest_insert(const struct snapshot *snapshot, uint64_t us)
{
	size_t n = json_array_size(snapshot->connections), youngest = 0;

	if (n < snapshot->max_connections)
		return n;
	for (size_t i = 1; i < n; i++)
		if (snapshot->ages_us[i] < snapshot->ages_us[youngest])
			youngest = i;
	return snapshot->ages_us[youngest] < us ? youngest : SIZE_MAX;
}

static void add_if_old(struct slice *slice, const struct worker_service *ws,
		       const struct bridge *bridge)
{
	struct snapshot *snapshot = slice->snapshot;
	uint64_t us = bridge_oldest_call_us(bridge, slice->now_us);
	size_t place = oldest_insert(snapshot, us);
	json_t *connection;

	if (place == SIZE_MAX)
		return;
	connection = json_bridge(snapshot, ws, bridge, slice->now_us);
	snapshot->ages_us[place] = us;
	if (place == json_array_size(snapshot->connections))
		json_array_append_new(snapshot->connections, connection);
	else
		json_array_set_new(snapshot->connections, place, connection);
}

static void add_bridge(struct slice *slice, struct worker_service *ws, const struct bridge *bridge)
{
	struct snapshot *snapshot = slice->snapshot;

	if (snapshot->connections && snapshot->max_connections)
		add_if_old(slice, ws, bridge);
	else if (snapshot->connections)
		json_array_append_new(snapshot->connections,
				      json_bridge(snapshot, ws, bridge, slice->now_us));
	if (snapshot->loads)
		conn_load_add_bridge(&snapshot->loads[snapshot->service], bridge, slice->now_us);
	slice->left_in_turn--;
}

/* Returns true once all bridges of the service are in the snapshot. */
static bool add_bridges(struct slice *slice, struct worker_service *ws)
{
	struct bridge *bridge;

	if (!slice->snapshot->in_service)
		bridge_iter_start(ws, &ws->snapshot_iter);
	slice->snapshot->in_service = true;
	while (!is_full(slice)) {
		bridge = bridge_iter_next(&ws->snapshot_iter);
		if (!bridge)
			return true;
		add_bridge(slice, ws, bridge);
	}
	return false;
}

static void add_stats(struct stats *stats, const struct worker_service *ws)
{
	const struct fabric *iwarp = ws->net.iwarp, *verbs = ws->net.verbs;

	stats_add(stats, STATS_CLIENT, "tcp", tcp_leg_counters_table, &ws->net.tcp.counters);
	stats_add(stats, STATS_UPSTREAM, "tcp", tcp_leg_counters_table, &ws->net.tcp_upstream);
	stats_add(stats, STATS_CLIENT, "tls", tls_counters_table, &ws->net.tls);
	stats_add(stats, STATS_UPSTREAM, "tls", tls_counters_table, &ws->net.tls_upstream);
	stats_add(stats, STATS_CLIENT, "rdma", rdma_leg_counters_table, &ws->net.rdma);
	stats_add(stats, STATS_UPSTREAM, "rdma", rdma_leg_counters_table, &ws->net.rdma_upstream);
	stats_add(stats, STATS_CLIENT, iwarp->ops->name, iwarp->ops->counters_table,
		  iwarp->counters);
	if (iwarp->connected_counters)
		stats_add(stats, STATS_UPSTREAM, iwarp->ops->name, iwarp->ops->counters_table,
			  iwarp->connected_counters);
	if (verbs)
		stats_add(stats, STATS_CLIENT, verbs->ops->name, verbs->ops->counters_table,
			  verbs->counters);
	stats_add_closes(stats, ws->closes);
}

/* Adds the data that are kept per service. */
static void add_service(struct slice *slice, const struct worker_service *ws)
{
	struct snapshot *snapshot = slice->snapshot;
	size_t i = snapshot->service;

	if (snapshot->stats)
		add_stats(&snapshot->stats[i], ws);
	if (snapshot->loads)
		snapshot->loads[i].fabric_fallbacks += ws->net.fabric_fallbacks;
	if (snapshot->calls) {
		call_stats_merge(&snapshot->calls[i], &ws->calls);
		slice->left_in_turn -= slice->left_in_turn > SNAPSHOT_CALLS
					       ? SNAPSHOT_CALLS
					       : slice->left_in_turn - 1;
	}
	slice->left_in_turn--;
}

bool snapshot_slice(struct snapshot *snapshot, struct worker_service *const *services,
		    size_t nservices, uint64_t now_us)
{
	struct slice slice = {
		.snapshot = snapshot, .now_us = now_us, .left_in_turn = SNAPSHOT_SLICE};

	if (snapshot->clock_us)
		slice.until_us = snapshot->clock_us() + SNAPSHOT_US;
	while (snapshot->service < nservices && !is_full(&slice)) {
		struct worker_service *ws = services[snapshot->service];

		if ((snapshot->connections || snapshot->loads) && !add_bridges(&slice, ws))
			break;
		add_service(&slice, ws);
		snapshot->in_service = false;
		snapshot->service++;
	}
	return snapshot->service < nservices;
}

struct memory_use memory_use_of(const struct budget_account *account)
{
	return (struct memory_use){
		.claimed_bytes = account->used_bytes,
		.waiting = account->waiting,
		.oldest_us = budget_account_oldest_us(account),
	};
}

void memory_use_add(struct memory_use *sum, const struct memory_use *part)
{
	sum->claimed_bytes += part->claimed_bytes;
	sum->waiting += part->waiting;
	if (part->oldest_us > sum->oldest_us)
		sum->oldest_us = part->oldest_us;
}

void memory_use_put(const struct memory_use *use, json_t *object)
{
	json_object_set_new(object, "claimed_bytes", json_integer((json_int_t)use->claimed_bytes));
	json_object_set_new(object, "waiting_claims", json_integer((json_int_t)use->waiting));
	json_object_set_new(object, "oldest_wait_s",
			    use->waiting ? json_real(use->oldest_us / 1e6) : json_null());
}

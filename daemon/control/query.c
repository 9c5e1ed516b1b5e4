// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the control socket shows.
 *
 * A query makes a `struct gather` with the main thread's share of the answer, posts a `struct part`
 * to each worker, and takes the parts back on the main thread; the last one back completes the
 * answer. A gather holds copies only, so that it may come back while, or after, the proxy is
 * stopped.
 */
#include "daemon/control/query.h"

#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/bridge/bridge.h"
#include "daemon/config/config_value.h"
#include "daemon/control/stats.h"

/* Of the budget, by the accounts of one worker, or of all. */
struct memory_use {
	size_t claimed_bytes, waiting;
	uint64_t oldest_us; /* how long the claim that waits longest has waited */
};

struct gather {
	struct loop *loop; /* the main thread's */
	enum control_query query;
	void (*done)(void *done_arg, json_t *result);
	void *done_arg;
	json_t *result;
	size_t waiting; /* parts that are still out */
	size_t nservices;
	const char **names; /* the config's, which outlives the gather */
	struct stats *stats;
	struct memory_use memory;
	struct budget_stats budget; /* when it was asked */
	struct pool_stats pool;
};

struct part {
	struct gather *gather;
	struct worker *worker;
	struct memory_use memory;
	struct pool_stats pool;
	json_t *connections;
	struct stats *stats; /* one a service */
};

/* ---- on the worker's thread ---- */

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

static json_t *json_bridge(const struct part *part, const struct worker_service *ws,
			   const struct bridge *bridge)
{
	uint64_t now_us = loop_now_us(part->worker->loop);
	struct bridge_info info;

	bridge_info_get(bridge, &info);
	return json_pack(
		"{s:I, s:s, s:i, s:s, s:o, s:f, s:o, s:o, s:o}", "id", (json_int_t)info.id,
		"service", ws->service->config->name, "worker", part->worker->index, "state",
		info.state, "state_age_s", json_state_age(now_us, info.state_since_us), "age_s",
		(now_us - info.start_us) / 1e6, "client_address", json_address(&info.client_peer),
		"client", json_leg(info.has_client, &info.client, now_us), "upstream",
		json_leg(info.has_server, &info.server, now_us));
}

static void add_connections(struct part *part, struct worker_service *ws)
{
	struct bridge *bridge = NULL;

	while ((bridge = bridge_next(ws, bridge)))
		json_array_append_new(part->connections, json_bridge(part, ws, bridge));
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

static void part_back(void *arg);

static void take_memory(struct part *part, const struct worker *worker)
{
	for (size_t i = 0; i < worker->nservices; i++) {
		const struct budget_account *account = &worker->accounts[i];

		part->memory.claimed_bytes += account->used_bytes;
		part->memory.waiting += account->waiting;
		if (budget_account_oldest_us(account) > part->memory.oldest_us)
			part->memory.oldest_us = budget_account_oldest_us(account);
	}
}

static void take_part(void *arg)
{
	struct part *part = arg;
	struct worker *worker = part->worker;

	take_memory(part, worker);
	pool_stats_get(worker->pool, &part->pool);
	for (size_t i = 0; i < worker->nservices; i++) {
		if (part->connections)
			add_connections(part, &worker->services[i]);
		if (part->stats)
			add_stats(&part->stats[i], &worker->services[i]);
	}
	/* Without memory for the post the part must still come home, or the client waits for ever. */
	while (event_loop_post(part->gather->loop, part_back, part))
		;
}

/* ---- on the main thread ---- */

static json_t *memory_json(const struct gather *gather)
{
	const struct memory_use *memory = &gather->memory;

	return json_pack("{s:I, s:I, s:I, s:I, s:f, s:I, s:I}", "limit_bytes",
			 (json_int_t)gather->budget.limit_bytes, "claimed_bytes",
			 (json_int_t)memory->claimed_bytes, "peak_bytes",
			 (json_int_t)gather->budget.peak_bytes, "waiting_claims",
			 (json_int_t)memory->waiting, "oldest_wait_s", memory->oldest_us / 1e6,
			 "mapped_bytes", (json_int_t)gather->pool.slab_bytes, "in_use_bytes",
			 (json_int_t)gather->pool.in_use_bytes);
}

static json_t *stats_result(const struct gather *gather)
{
	json_t *services = json_object();

	for (size_t i = 0; i < gather->nservices; i++)
		json_object_set_new(services, gather->names[i], stats_json(&gather->stats[i]));
	return json_pack("{s:o, s:o}", "services", services, "help",
			 gather->nservices ? stats_help_json(&gather->stats[0]) : json_object());
}

static void gather_end(struct gather *gather)
{
	if (gather->query == CONTROL_STATUS)
		json_object_set_new(gather->result, "memory", memory_json(gather));
	if (gather->query == CONTROL_STATS) {
		json_decref(gather->result);
		gather->result = stats_result(gather);
	}
	gather->done(gather->done_arg, gather->result);
	free(gather->stats);
	free(gather->names);
	free(gather);
}

static void part_free(struct part *part)
{
	json_decref(part->connections);
	free(part->stats);
	free(part);
}

static void part_back(void *arg)
{
	struct part *part = arg;
	struct gather *gather = part->gather;

	gather->memory.claimed_bytes += part->memory.claimed_bytes;
	gather->memory.waiting += part->memory.waiting;
	if (part->memory.oldest_us > gather->memory.oldest_us)
		gather->memory.oldest_us = part->memory.oldest_us;
	gather->pool.slab_bytes += part->pool.slab_bytes;
	gather->pool.in_use_bytes += part->pool.in_use_bytes;
	if (part->connections)
		json_array_extend(json_object_get(gather->result, "connections"),
				  part->connections);
	for (size_t i = 0; part->stats && i < gather->nservices; i++)
		stats_merge(&gather->stats[i], &part->stats[i]);
	part_free(part);
	if (--gather->waiting == 0)
		gather_end(gather);
}

static json_t *status_json(const struct proxy *proxy)
{
	return json_pack(
		"{s:s, s:i, s:f, s:s, s:I, s:i, s:i, s:i}", "version", PACKAGE_VERSION, "pid",
		(int)getpid(), "uptime_s", (loop_now_us(proxy->loop) - proxy->start_us) / 1e6,
		"log_level", log_level_name(log_level()), "log_lines_dropped",
		(json_int_t)log_lines_dropped(), "workers", (int)proxy->nworkers, "services",
		(int)proxy->nservices, "connections", proxy_connections(proxy));
}

static json_t *service_json(const struct proxy *proxy, size_t i)
{
	struct service *service = &proxy->services[i];
	const struct service_config *config = service->config;
	char listen[CONFIG_URI_TEXT_BYTES], connect[CONFIG_URI_TEXT_BYTES];
	json_t *refused = json_object();

	for (size_t why = 0; why < LEG_CLOSE_COUNT; why++)
		if (proxy->proxy_services[i].refused[why])
			json_object_set_new(refused, stats_closes_table[why].name,
					    json_integer(proxy->proxy_services[i].refused[why]));
	return json_pack("{s:s, s:s, s:s, s:i, s:I, s:i, s:o}", "name", config->name, "listen",
			 config_uri_text(&config->listen, listen), "connect",
			 config_uri_text(&config->connect, connect), "connections",
			 atomic_load(&service->connections), "connections_total",
			 (json_int_t)atomic_load(&service->connections_total), "max_connections",
			 config->max_connections, "refused", refused);
}

static json_t *services_json(const struct proxy *proxy)
{
	json_t *list = json_array();

	for (size_t i = 0; i < proxy->nservices; i++)
		json_array_append_new(list, service_json(proxy, i));
	return json_pack("{s:o}", "services", list);
}

static struct part *part_new(struct gather *gather, struct worker *worker)
{
	struct part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->gather = gather;
	part->worker = worker;
	if (gather->query == CONTROL_CONNECTIONS)
		part->connections = json_array();
	if (gather->query == CONTROL_STATS)
		part->stats = calloc(gather->nservices, sizeof(*part->stats));
	return part;
}

static struct gather *gather_new(struct proxy *proxy, enum control_query query,
				 void (*done)(void *done_arg, json_t *result), void *done_arg)
{
	struct gather *gather = calloc(1, sizeof(*gather));

	if (!gather)
		return NULL;
	*gather = (struct gather){.loop = proxy->loop,
				  .query = query,
				  .done = done,
				  .done_arg = done_arg,
				  .nservices = proxy->nservices};
	budget_stats_get(&proxy->budget, &gather->budget);
	gather->names = calloc(proxy->nservices, sizeof(*gather->names));
	gather->stats = calloc(proxy->nservices, sizeof(*gather->stats));
	for (size_t i = 0; gather->names && i < proxy->nservices; i++)
		gather->names[i] = proxy->services[i].config->name;
	switch (query) {
	case CONTROL_STATUS:
		gather->result = status_json(proxy);
		break;
	case CONTROL_CONNECTIONS:
		gather->result = json_pack("{s:[]}", "connections");
		break;
	default:
		gather->result = json_object();
	}
	if (gather->names && gather->stats)
		return gather;
	json_decref(gather->result);
	free(gather->names);
	free(gather->stats);
	free(gather);
	return NULL;
}

static void on_query(void *arg, enum control_query query,
		     void (*done)(void *done_arg, json_t *result), void *done_arg)
{
	struct proxy *proxy = arg;
	struct gather *gather;

	if (query == CONTROL_SERVICES) {
		done(done_arg, services_json(proxy));
		return;
	}
	gather = gather_new(proxy, query, done, done_arg);
	if (!gather) {
		done(done_arg, NULL);
		return;
	}
	gather->waiting = 1; /* this function's */
	for (size_t i = 0; i < proxy->nworkers; i++) {
		struct part *part = part_new(gather, proxy->workers[i]);

		if (!part)
			continue;
		if (event_loop_post(proxy->workers[i]->loop, take_part, part))
			part_free(part);
		else
			gather->waiting++;
	}
	if (--gather->waiting == 0)
		gather_end(gather);
}

static void on_stop(void *arg)
{
	struct proxy *proxy = arg;

	log_info(NULL, "stop was asked for on the control socket");
	event_loop_stop(proxy->loop);
}

static const struct control_ops control_ops = {.query = on_query, .stop = on_stop};

int query_control_open(struct proxy *proxy, struct control **out)
{
	char error[256];
	int rc = control_open(proxy->loop, proxy->config->control, &control_ops, proxy, error,
			      sizeof(error), out);

	if (rc)
		log_error(NULL, "%s", error);
	return rc;
}

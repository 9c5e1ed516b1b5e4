// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/bridge.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/base/address.h"
#include "daemon/bridge/bridge_affinity.h"
#include "daemon/bridge/bridge_close.h"
#include "daemon/bridge/bridge_forward.h"
#include "daemon/bridge/bridge_limits.h"
#include "daemon/bridge/bridge_open.h"
#include "daemon/bridge/bridge_tls.h"
#include "daemon/bridge/late_call_scan.h"
#include "daemon/bridge/reply_delivery.h"
#include "daemon/config/config_memory.h"
#include "daemon/upstream/leg_factory.h"

static const struct leg_events client_events = {
	.requested = bridge_client_requested,
	.opened = bridge_client_opened,
	.securing = bridge_client_securing,
	.secured = bridge_client_secured,
	.call = bridge_forward_call,
	.reply = bridge_forward_reply,
	.more = bridge_forward_more,
	.call_ready = bridge_forward_resume,
	.half_closed = bridge_client_half_closed,
	.closing = bridge_client_closing,
	.closed = bridge_client_closed,
	.note = bridge_note,
};

static const struct leg_events server_leg_events = {
	UPSTREAM_LEG_EVENTS,
	.call = bridge_server_call,
	.reply = bridge_server_reply,
	.more = bridge_server_more,
	.call_ready = bridge_server_call_ready,
	.note = bridge_server_note,
};

static const struct upstream_events server_events = {
	.connecting = bridge_server_connecting,
	.opened = bridge_server_opened,
	.has_called = bridge_has_forwarded_call,
	.failed = bridge_server_closing,
	.closing = bridge_server_closing,
	.closed = bridge_server_closed,
	.leg = &server_leg_events,
};

/* ---- creation ---- */

static void fill_leg_config(struct bridge *bridge, struct leg_config *config)
{
	const struct service_config *service = bridge->ws->service->config;
	const struct worker_env *env = bridge->ws->env;

	*config = (struct leg_config){
		.loop = env->loop,
		.pool = env->pool,
		.holder = &bridge->memory,
		.freelists = env->freelists,
		.max_message_bytes = service->message_bytes,
		.stall_timeout_us = (uint64_t)service->stall_timeout_s * 1000000,
		.connect_timeout_us = BRIDGE_CONNECT_TIMEOUT_US,
		.sessions = &bridge->sessions,
	};
	if (service->connect.transport != TRANSPORT_TCP || config_listens_rdma(service))
		config->config_program = service->config_program;
}

/* The legs differ in the Call and Reply sizes that the other leg accepts. */
static void fill_server_config(struct bridge *bridge, struct leg_config *config)
{
	const struct service_config *service = bridge->ws->service->config;

	fill_leg_config(bridge, config);
	config->reply_memory = config_memory_reverse_space(service, !bridge->client_is_tcp);
	config->reverse_max_bytes =
		config_memory_reverse_max_bytes(service, !bridge->client_is_tcp);
	config->partial = true;
}

static void fill_client_config(struct bridge *bridge, struct leg_config *config)
{
	const struct service_config *service = bridge->ws->service->config;

	fill_leg_config(bridge, config);
	if (service->connect.transport != TRANSPORT_TCP)
		config->reply_memory = config_memory_reply_space(service);
	config->partial = true;
	config->events = &client_events;
	config->arg = &bridge->client;
}

static struct bridge *bridge_alloc(struct worker_service *ws, const struct accepted_conn *in,
				   uint64_t id)
{
	struct bridge *bridge = calloc(1, sizeof(*bridge));

	if (!bridge)
		return NULL;
	bridge->ws = ws;
	bridge->id = id;
	bridge->start_us = loop_now_us(ws->env->loop);
	bridge->state = (struct state){BRIDGE_WAIT_FIRST_BYTE, bridge->start_us};
	bridge->peer = in->peer;
	bridge->open.protocol_unknown = in->protocol_unknown;
	bridge->open.trusted = accepted_conn_is_trusted(in, ws->service->config);
	bridge->client_is_tcp = !in->fabric && config_listens_tcp(ws->service->config);
	budget_holder_init(&bridge->memory, ws->account, &bridge->log);
	bridge->client = (struct bridge_side){.bridge = bridge, .other = &bridge->server};
	bridge->server = (struct bridge_side){.bridge = bridge, .other = &bridge->client};
	reply_delivery_init(bridge);
	TAILQ_INIT(&bridge->calls.list);
	loop_task_init(&bridge->open.detect_protocol, bridge_detect_protocol, bridge);
	loop_task_init(&bridge->open.reroute, bridge_reroute_continue, bridge);
	loop_task_init(&bridge->end.reaper, bridge_reap, bridge);
	return bridge;
}

static void on_superseded(void *arg)
{
	bridge_close(arg, LEG_CLOSE_SUPERSEDED, CLOSE_BY_PROXY, "");
}

static void bridge_on_timer(void *arg)
{
	struct bridge *bridge = arg;

	if (bridge->state.now == BRIDGE_WAIT_OLD_CONN)
		bridge_old_conn_poll(bridge);
	else if (bridge->state.now == BRIDGE_TARPIT)
		bridge_close(bridge, bridge->end.why, CLOSE_BY_PROXY, "");
	else if (bridge->state.now >= BRIDGE_RESOLVING)
		bridge_limits_half_closed_expired(bridge);
	else
		bridge_limits_idle_expired(bridge);
}

static void log_accepted(const struct bridge *bridge, const struct accepted_conn *in)
{
	char text[ADDRESS_TEXT_BYTES], proxy[ADDRESS_TEXT_BYTES];
	bool named = in->proxy.ss_family != AF_UNSPEC;
	struct leg_info info;

	if (!log_is_on(LOG_LEVEL_DEBUG))
		return;
	leg_info(bridge->client.leg, &info);
	bridge_debug(bridge, "new connection at %s over %s%s%s, worker %u",
		     address_text((struct sockaddr *)&info.local, text), info.kind,
		     named ? ", through " : "",
		     named ? address_text((struct sockaddr *)&in->proxy, proxy) : "",
		     bridge->ws->env->worker);
}

int bridge_new(struct worker_service *ws, const struct accepted_conn *in, uint64_t id)
{
	struct bridge *bridge = bridge_alloc(ws, in, id);
	struct leg_config config;
	int rc = -ENOMEM;

	if (!bridge) {
		accepted_conn_drop(in);
		conn_slot_free(in->slot);
		return rc;
	}
	fill_server_config(bridge, &config);
	rc = upstream_init(&bridge->upstream, &ws->net, &ws->servers, &config, &bridge->log,
			   &server_events);
	upstream_set_client(&bridge->upstream, &in->peer, &in->local, bridge_keeps_port(bridge));
	if (bridge_affinity_is_privileged(bridge, in))
		upstream_set_privileged(&bridge->upstream);
	bridge->timer = loop_timer_new(ws->env->loop, bridge_on_timer, bridge);
	if (rc || !bridge->timer ||
	    bridge_affinity_register(bridge, in, on_superseded, bridge_recheck_old_conn)) {
		accepted_conn_drop(in);
		rc = -ENOMEM;
		goto out_bridge;
	}
	fill_client_config(bridge, &config);
	rc = ws->env->legs->accept(&ws->net, &config, in, &bridge->client.leg);
	if (rc)
		goto out_bridge;
	log_ctx_init(&bridge->log, ws->service->config->name, id, (struct sockaddr *)&in->peer,
		     bridge_line_limit(bridge, LINE_NOTE));
	TAILQ_INSERT_TAIL(&ws->bridges, bridge, entry);
	late_call_scan_start(ws);
	log_accepted(bridge, in);
	bridge_limits_start(bridge, in->slot);
	return 0;

out_bridge:
	bridge_affinity_retain(bridge);
	loop_timer_free(ws->env->loop, bridge->timer);
	upstream_fini(&bridge->upstream);
	free(bridge);
	conn_slot_free(in->slot);
	return rc;
}

/* ---- snapshots ---- */

void bridge_info_get(const struct bridge *bridge, struct bridge_info *info)
{
	const struct leg *server = upstream_leg(&bridge->upstream);
	const struct exchange *oldest = TAILQ_FIRST(&bridge->calls.list);

	*info = (struct bridge_info){
		.id = bridge->id,
		.state = state_name(&bridge_states, bridge->state.now),
		.state_since_us = bridge->state.since_us,
		.start_us = bridge->start_us,
		.client_peer = bridge->peer,
		.has_client = !bridge->end.client_leg_closed,
		.calls_total = bridge->calls.total,
		.has_server = server != NULL,
		.has_call = oldest != NULL,
		.oldest_call_us = oldest ? oldest->start_us : 0,
	};
	if (oldest) {
		info->oldest_operation = nfs_operation_of(&oldest->call_info);
		info->oldest_stage = oldest->stage;
	}
	info->has_unacked =
		reply_delivery_oldest(bridge, &info->unacked_us, &info->unacked_operation);
	if (info->has_client)
		leg_info(bridge->client.leg, &info->client);
	if (info->has_server)
		leg_info(server, &info->server);
}

uint64_t bridge_oldest_call_us(const struct bridge *bridge, uint64_t now_us)
{
	const struct exchange *oldest = TAILQ_FIRST(&bridge->calls.list);

	if (!oldest)
		return 0;
	return now_us > oldest->start_us ? now_us - oldest->start_us : 1;
}

void bridge_load_get(const struct bridge *bridge, uint64_t now_us, struct bridge_load *load)
{
	const struct leg *server = upstream_leg(&bridge->upstream);

	load->has_client = !bridge->end.client_leg_closed;
	if (load->has_client)
		leg_load_get(bridge->client.leg, &load->client);
	load->has_server = server != NULL;
	if (server)
		leg_load_get(server, &load->server);
	load->oldest_us = bridge_oldest_call_us(bridge, now_us);
}

size_t bridge_memory_bytes(const struct bridge *bridge)
{
	return bridge->memory.used_bytes;
}

struct bridge *bridge_next(struct worker_service *ws, struct bridge *bridge)
{
	return bridge ? TAILQ_NEXT(bridge, entry) : TAILQ_FIRST(&ws->bridges);
}

/* ---- memory shortage ---- */

/* Returns the connection that holds most memory of this service on this worker. */
static struct bridge *largest_bridge(struct worker_service *ws)
{
	struct bridge *bridge = NULL, *largest = NULL;

	while ((bridge = bridge_next(ws, bridge)))
		if (!largest || bridge_memory_bytes(bridge) > bridge_memory_bytes(largest))
			largest = bridge;
	return largest;
}

void bridge_log_shortage(void *arg, const struct budget_claim *claim)
{
	struct worker_service *ws = arg;
	struct log_limit *limit = &ws->service->lines[LINE_SHORTAGE];
	char largest[CONFIG_NAME_MAX_BYTES + 1]; /* name of a service */
	size_t leased_bytes;
	const struct bridge *bridge;
	struct bridge_info info = {0};

	/* Thousands of claims can become late together, and each search walks as many bridges. */
	if (log_is_suppressed(LOG_LEVEL_WARNING, limit))
		return;
	leased_bytes =
		budget_largest_share(ws->account->lease.share->budget, largest, sizeof(largest));
	bridge = largest_bridge(ws);
	if (bridge)
		bridge_info_get(bridge, &info);
	log_limited(
		LOG_LEVEL_WARNING, limit, claim->holder->owner,
		"a Call has waited %.0f s for %zu KiB of memory; most is held by service %s "
		"(%zu MiB); of this service and worker, connection #%llu holds most (%zu KiB for "
		"%u Calls)",
		(loop_now_us(ws->env->loop) - claim->since_us) / 1e6, claim->bytes / 1024, largest,
		leased_bytes >> 20, (unsigned long long)info.id,
		bridge ? bridge_memory_bytes(bridge) / 1024 : 0, info.client.calls_in_flight_in);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * A bridge: one client connection, its own upstream connection, one fate.
 *
 * Opening. A TCP client's upstream is opened at its first byte, so that port scans and health checks cost
 * the server nothing; an RDMA client is accepted only once its upstream is up, so that a refusal reaches it
 * as the refusal of a connection.
 *
 * Closing. The first reason is the bridge's: it is logged and counted once, and the other leg is closed at
 * once. When both are over, a deferred task frees them and the bridge, so that no leg is freed inside its
 * own callback. A TCP client whose server cannot be had, or leaves before it has sent it anything, is held for a
 * moment before its leg is closed: one that gets a connection and loses it at once comes back at once, hundreds
 * of times a second (Linux starts its back-off anew with each connection that it gets).
 */
#include "daemon/bridge/bridge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/bridge/legs.h"
#include "daemon/bridge/upstream.h"
#include "nfs/nfs.h"
#include "rpcrdma/rdma_leg.h"

#define CONNECT_TIMEOUT_US      10000000u
#define RDMA_CONNECT_TIMEOUT_US 4000000u /* kernel clients give up soon after */
#define REFUSAL_HOLD_US         500000u /* the shortest connection of a TCP client without a server */

STATE_TABLE(bridge_states, BRIDGE_STATES);

struct side {
	struct bridge *bridge;
	struct side *other;
	struct leg *leg; /* the server's: NULL until it is open, and when it is over */
};

struct bridge {
	TAILQ_ENTRY(bridge) entry;
	struct worker_service *ws;
	uint64_t id, start_us;
	struct state state;
	enum leg_close why; /* from HELD or CLOSING on */
	struct sockaddr_storage peer;
	struct side client, server;
	bool client_over;
	struct budget_holder memory;
	struct upstream upstream;
	struct nfs_sessions sessions; /* that this connection has shown */
	struct loop_timer *hold;
	struct loop_task reaper;
	struct log_ctx log;
};

static bool client_is_tcp(const struct bridge *bridge)
{
	return bridge->ws->service->config->listen.transport == TRANSPORT_TCP;
}

static struct loop *loop_of(const struct bridge *bridge)
{
	return bridge->ws->ground->loop;
}

static void set_state(struct bridge *bridge, enum bridge_state to)
{
	state_move(&bridge->state, &bridge_states, to, loop_now_us(loop_of(bridge)));
}

/* @line: one of enum service_line, whose last two kinds have reasons added. */
static struct log_limit *line_limit(const struct bridge *bridge, unsigned line)
{
	return &bridge->ws->service->lines[line];
}

/* ---- closing ---- */

static void reap(void *arg)
{
	struct bridge *bridge = arg;
	struct worker_service *ws = bridge->ws;

	leg_free(bridge->client.leg);
	upstream_fini(&bridge->upstream);
	loop_timer_free(loop_of(bridge), bridge->hold);
	budget_holder_fini(&bridge->memory);
	if (ws->walk == bridge)
		ws->walk = TAILQ_NEXT(bridge, entry);
	TAILQ_REMOVE(&ws->bridges, bridge, entry);
	log_ctx_fini(&bridge->log);
	free(bridge);
	ws->ground->bridge_gone(ws->ground->arg, ws);
}

static void settle(struct bridge *bridge)
{
	if (bridge->state.now == BRIDGE_CLOSING && bridge->client_over &&
	    upstream_is_closed(&bridge->upstream))
		loop_defer(loop_of(bridge), &bridge->reaper);
}

static bool was_sent_nothing(const struct leg *leg)
{
	struct leg_info info;

	leg_info(leg, &info);
	return info.bytes_sent == 0;
}

/* How long a client is to be held that is about to lose its connection for this reason. */
static uint64_t hold_us(const struct bridge *bridge, enum leg_close why)
{
	uint64_t age_us = loop_now_us(loop_of(bridge)) - bridge->start_us;

	if (!state_may(&bridge_states, bridge->state.now, BRIDGE_HELD) || !client_is_tcp(bridge) ||
	    why == LEG_CLOSE_SHUTDOWN || age_us >= REFUSAL_HOLD_US ||
	    !was_sent_nothing(bridge->client.leg))
		return 0;
	return REFUSAL_HOLD_US - age_us;
}

/* Nothing is left to wait for but the end of both legs. */
static void close_client(struct bridge *bridge)
{
	set_state(bridge, BRIDGE_CLOSING);
	loop_timer_clear(loop_of(bridge), bridge->hold);
	leg_close(bridge->client.leg, bridge->why);
	settle(bridge);
}

static void end_hold(void *arg)
{
	close_client(arg);
}

static bool is_decided(const struct bridge *bridge)
{
	return bridge->state.now >= BRIDGE_HELD;
}

/* The first reason is the bridge's. */
static void decide(struct bridge *bridge, enum leg_close why, const char *who, const char *detail)
{
	double age_s = (loop_now_us(loop_of(bridge)) - bridge->start_us) / 1e6;

	log_limited(LOG_LEVEL_INFO, line_limit(bridge, LINE_CLOSED + why), &bridge->log,
		    "closed: %s: %s%s%s (while %s, after %.1f s)", who, leg_close_text(why),
		    detail[0] ? ": " : "", detail, state_name(&bridge_states, bridge->state.now),
		    age_s);
	bridge->ws->closes[why]++;
	bridge->why = why;
}

static void give_up(struct bridge *bridge, enum leg_close why, const char *who, const char *detail)
{
	uint64_t hold = hold_us(bridge, why);

	decide(bridge, why, who, detail);
	if (hold) {
		set_state(bridge, BRIDGE_HELD);
		leg_pause(bridge->client.leg, true);
		loop_timer_set(loop_of(bridge), bridge->hold, hold);
		upstream_close(&bridge->upstream, why);
	} else {
		upstream_close(&bridge->upstream, why);
		close_client(bridge);
	}
}

void bridge_close(struct bridge *bridge, enum leg_close why)
{
	if (bridge->state.now == BRIDGE_HELD)
		close_client(bridge);
	else if (!is_decided(bridge))
		give_up(bridge, why, "proxy", "");
	else if (!bridge->client_over)
		leg_close(bridge->client.leg, why);
}

static void on_client_closing(void *arg, enum leg_close why, const char *detail)
{
	struct bridge *bridge = ((struct side *)arg)->bridge;

	if (bridge->state.now == BRIDGE_HELD) {
		loop_timer_clear(loop_of(bridge), bridge->hold);
	} else if (!is_decided(bridge)) {
		decide(bridge, why, "client", detail);
		upstream_close(&bridge->upstream, why);
	} else {
		return;
	}
	set_state(bridge, BRIDGE_CLOSING);
}

static void on_client_closed(void *arg)
{
	struct bridge *bridge = ((struct side *)arg)->bridge;

	bridge->client_over = true;
	settle(bridge);
}

/* The server cannot be reached, or the leg that did reach it closes. */
static void on_server_closing(void *arg, enum leg_close why, const char *detail)
{
	struct bridge *bridge = ((struct side *)arg)->bridge;

	if (!is_decided(bridge))
		give_up(bridge, why, "server", detail);
}

static void on_server_closed(void *arg)
{
	struct side *side = arg;

	side->leg = NULL;
	settle(side->bridge);
}

/* ---- what both legs give up ---- */

/* The leg that an exchange is handed on to; NULL if it goes no further. */
static struct leg *other_leg(const struct side *side)
{
	return is_decided(side->bridge) ? NULL : side->other->leg;
}

static void on_call(void *arg, struct exchange *x)
{
	const struct side *side = arg;
	struct leg *target = other_leg(side);

	if (!target) {
		exchange_put(x);
		return;
	}
	leg_call(target, x);
	if (!leg_can_call(target))
		leg_pause(side->leg, true);
}

static void learn(struct bridge *bridge, const struct exchange *x)
{
	if (x->fault == EXCHANGE_OK && x->reply.data && rpc_msg_is_whole(&x->reply))
		nfs_sessions_learn(&bridge->sessions, &x->facts, x->reply.data, x->reply.len_bytes);
}

static void on_reply(void *arg, struct exchange *x)
{
	const struct side *side = arg;
	struct leg *origin = other_leg(side);

	learn(side->bridge, x);
	if (origin)
		leg_reply(origin, x);
	else
		exchange_put(x);
}

static void on_more(void *arg, struct exchange *x)
{
	const struct side *side = arg;
	struct leg *other = other_leg(side);

	learn(side->bridge, x);
	if (other)
		leg_more(other, x);
}

static void on_call_ready(void *arg)
{
	struct leg *origin = other_leg(arg);

	if (origin)
		leg_pause(origin, false);
}

static void on_note(void *arg, const char *text)
{
	const struct side *side = arg;

	log_note(&side->bridge->log, "%s: %s", side == &side->bridge->client ? "client" : "server",
		 text);
}

/* ---- opening ---- */

static void on_server_connecting(void *arg)
{
	set_state(((struct side *)arg)->bridge, BRIDGE_CONNECTING);
}

static void on_server_opened(void *arg, struct leg *leg)
{
	struct side *side = arg;

	side->leg = leg;
	leg_accept(side->other->leg);
}

static void on_client_requested(void *arg)
{
	struct bridge *bridge = ((struct side *)arg)->bridge;
	uint64_t timeout_us = client_is_tcp(bridge) ? CONNECT_TIMEOUT_US : RDMA_CONNECT_TIMEOUT_US;
	int rc;

	if (is_decided(bridge))
		return;
	set_state(bridge, BRIDGE_RESOLVING);
	rc = upstream_start(&bridge->upstream, timeout_us);
	if (rc)
		give_up(bridge, LEG_CLOSE_RESOURCES, "server", strerror(-rc));
}

static void on_client_opened(void *arg)
{
	struct bridge *bridge = ((struct side *)arg)->bridge;
	struct log_limit *limit = line_limit(bridge, LINE_OPEN);
	char text[ADDRESS_TEXT_BYTES];
	struct leg_info info;

	if (is_decided(bridge))
		return;
	set_state(bridge, BRIDGE_OPEN);
	leg_info(bridge->server.leg, &info);
	address_text((struct sockaddr *)&info.peer, text);
	if (info.peer_profile)
		log_limited(LOG_LEVEL_INFO, limit, &bridge->log,
			    "open to %s over %s, peer profile %s: %s", text, info.kind,
			    info.peer_profile, info.peer_why);
	else
		log_limited(LOG_LEVEL_INFO, limit, &bridge->log, "open to %s over %s", text,
			    info.kind);
}

static const struct leg_events client_events = {
	.requested = on_client_requested,
	.opened = on_client_opened,
	.call = on_call,
	.reply = on_reply,
	.more = on_more,
	.call_ready = on_call_ready,
	.closing = on_client_closing,
	.closed = on_client_closed,
	.note = on_note,
};

static const struct leg_events server_leg_events = {
	.call = on_call,
	.reply = on_reply,
	.more = on_more,
	.call_ready = on_call_ready,
	.closing = on_server_closing,
	.note = on_note,
};

static const struct upstream_events server_events = {
	.connecting = on_server_connecting,
	.opened = on_server_opened,
	.failed = on_server_closing,
	.closed = on_server_closed,
	.leg = &server_leg_events,
};

/* ---- making one ---- */

static void fill_leg_config(struct bridge *bridge, struct leg_config *config)
{
	const struct service_config *service = bridge->ws->service->config;
	const struct worker_ground *ground = bridge->ws->ground;

	*config = (struct leg_config){
		.loop = ground->loop,
		.pool = ground->pool,
		.holder = &bridge->memory,
		.spares = ground->spares,
		.max_message_bytes = service->message_bytes,
		.stall_timeout_us = (uint64_t)service->stall_timeout_s * 1000000,
		.connect_timeout_us = CONNECT_TIMEOUT_US,
		.sessions = &bridge->sessions,
	};
	if (service->connect.transport != TRANSPORT_TCP)
		config->reply_room = rdma_leg_reply_room(service->inline_threshold_bytes);
}

static struct bridge *bridge_alloc(struct worker_service *ws, const struct incoming *in,
				   uint64_t id)
{
	struct bridge *bridge = calloc(1, sizeof(*bridge));

	if (!bridge)
		return NULL;
	bridge->ws = ws;
	bridge->id = id;
	bridge->start_us = loop_now_us(ws->ground->loop);
	bridge->state = (struct state){BRIDGE_WAITING, bridge->start_us};
	bridge->peer = in->peer;
	budget_holder_init(&bridge->memory, ws->account, &bridge->log);
	bridge->client = (struct side){.bridge = bridge, .other = &bridge->server};
	bridge->server = (struct side){.bridge = bridge, .other = &bridge->client};
	loop_task_init(&bridge->reaper, reap, bridge);
	return bridge;
}

int bridge_new(struct worker_service *ws, const struct incoming *in, uint64_t id)
{
	struct bridge *bridge = bridge_alloc(ws, in, id);
	struct leg_config config;
	int rc = -ENOMEM;

	if (!bridge) {
		incoming_drop(in);
		return rc;
	}
	fill_leg_config(bridge, &config);
	rc = upstream_init(&bridge->upstream, ws, &in->peer, &config, &bridge->log, &server_events,
			   &bridge->server);
	bridge->hold = loop_timer_new(ws->ground->loop, end_hold, bridge);
	if (rc || !bridge->hold) {
		incoming_drop(in);
		rc = -ENOMEM;
		goto out_bridge;
	}
	config.events = &client_events;
	config.arg = &bridge->client;
	rc = ws->ground->legs->accept(ws, &config, in, &bridge->client.leg);
	if (rc)
		goto out_bridge;
	log_ctx_init(&bridge->log, ws->service->config->name, id, (struct sockaddr *)&in->peer,
		     line_limit(bridge, LINE_NOTE));
	TAILQ_INSERT_TAIL(&ws->bridges, bridge, entry);
	return 0;

out_bridge:
	loop_timer_free(ws->ground->loop, bridge->hold);
	upstream_fini(&bridge->upstream);
	free(bridge);
	return rc;
}

/* ---- snapshots ---- */

void bridge_info_get(const struct bridge *bridge, struct bridge_info *info)
{
	const struct leg *server = upstream_leg(&bridge->upstream);

	*info = (struct bridge_info){
		.id = bridge->id,
		.state = state_name(&bridge_states, bridge->state.now),
		.state_since_us = bridge->state.since_us,
		.start_us = bridge->start_us,
		.client_peer = bridge->peer,
		.has_client = !bridge->client_over,
		.has_server = server != NULL,
	};
	if (info->has_client)
		leg_info(bridge->client.leg, &info->client);
	if (info->has_server)
		leg_info(server, &info->server);
}

size_t bridge_memory_bytes(const struct bridge *bridge)
{
	return bridge->memory.used_bytes;
}

struct bridge *bridge_next(struct worker_service *ws, struct bridge *bridge)
{
	return bridge ? TAILQ_NEXT(bridge, entry) : TAILQ_FIRST(&ws->bridges);
}

void bridge_walk_begin(struct worker_service *ws)
{
	const struct bridge *last = TAILQ_LAST(&ws->bridges, bridge_list);

	ws->walk = TAILQ_FIRST(&ws->bridges);
	ws->walk_last_id = last ? last->id : 0;
}

/* Ids rise along the list: a walk does not run after those that come meanwhile. */
struct bridge *bridge_walk_next(struct worker_service *ws)
{
	struct bridge *bridge = ws->walk;

	if (bridge && bridge->id > ws->walk_last_id)
		bridge = NULL;
	ws->walk = bridge ? TAILQ_NEXT(bridge, entry) : NULL;
	return bridge;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * A bridge: one client connection, its own upstream connection, one fate.
 *
 * Opening. A TCP client's upstream is opened at its first byte, so that port scans and health
 * checks cost the server nothing; an RDMA client is accepted only once its upstream is up, so that
 * a refusal reaches it as the refusal of a connection. The addresses of the server's name are tried
 * in turn; a TCP leg does that by itself, for an RDMA leg the bridge makes a new leg for each.
 *
 * Closing. The first closed() gives the bridge its reason and closes the other leg; when the last
 * has come, a deferred task frees both legs and the bridge, so that no leg is freed inside its own
 * callback. A TCP client whose server cannot be had is held for a moment before its leg is closed: one
 * that gets a connection and loses it at once comes back at once, hundreds of times a second (Linux starts
 * its back-off anew with each connection that it gets).
 */
#include "daemon/bridge/bridge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/base/resolver.h"
#include "daemon/bridge/binding.h"
#include "daemon/proxy/worker.h"
#include "rpcrdma/rdma_leg.h"
#include "rpctcp/tcp_leg.h"

#define CONNECT_TIMEOUT_US      10000000u
#define RDMA_CONNECT_TIMEOUT_US 4000000u /* kernel clients give up soon after */
#define MIN_ATTEMPT_US          500000u  /* for one address of several */
#define VERBS_AVOID_US          60000000u
#define REFUSAL_HOLD_US                                                                            \
	500000u /* a TCP client's shortest connection to a server that is not there */

struct side {
	struct bridge *bridge;
	struct side *other;
	struct leg_config config;
	struct leg *leg;
	bool closed;
	enum leg_close why; /* from its closing() on */
	char detail[LEG_DETAIL_BYTES];
};

struct bridge {
	TAILQ_ENTRY(bridge) entry;
	struct worker_service *ws;
	uint64_t id, start_us, deadline_us;
	enum bridge_state state;
	enum leg_close why; /* while closing */
	struct sockaddr_storage peer;
	struct side client, server;
	struct binding binding;
	struct resolver_query *query;
	struct loop_timer *timer; /* while resolving, and while a refused client is held */
	struct loop_task reaper, retry;
	size_t naddrs, next_addr;
	bool on_verbs; /* the RDMA server leg that is being connected */
	struct sockaddr_storage addrs[RESOLVER_MAX_ADDRS];
	bool server_up;      /* the server leg has opened: another would be another connection */
	uint16_t local_port; /* of the TCP server leg; until it is up, the one it should have */
	struct log_ctx log;
};

static const char *state_text(enum bridge_state state)
{
	static const char *const texts[] = {
#define STATE_TEXT(name, text) [BRIDGE_##name] = text,
		BRIDGE_STATES(STATE_TEXT)
#undef STATE_TEXT
	};
	return texts[state];
}

static bool client_is_tcp(const struct bridge *bridge)
{
	return bridge->ws->service->config->listen.transport == TRANSPORT_TCP;
}

static bool server_is_tcp(const struct bridge *bridge)
{
	return bridge->ws->service->config->connect.transport == TRANSPORT_TCP;
}

static struct loop *loop_of(const struct bridge *bridge)
{
	return bridge->ws->worker->loop;
}

/* ---- closing ---- */

static void reap(void *arg)
{
	struct bridge *bridge = arg;
	struct worker_service *ws = bridge->ws;

	leg_free(bridge->client.leg);
	leg_free(bridge->server.leg);
	loop_timer_free(loop_of(bridge), bridge->timer);
	TAILQ_REMOVE(&ws->bridges, bridge, entry);
	atomic_fetch_sub(&ws->service->connections, 1);
	atomic_fetch_sub(&ws->worker->connections, 1);
	worker_bridge_gone(ws->worker);
	log_ctx_fini(&bridge->log);
	free(bridge);
}

static bool side_gone(const struct side *side)
{
	return !side->leg || side->closed;
}

static void settle(struct bridge *bridge)
{
	if (bridge->state == BRIDGE_CLOSING && side_gone(&bridge->client) &&
	    side_gone(&bridge->server))
		loop_defer(loop_of(bridge), &bridge->reaper);
}

static void remember_port(struct bridge *bridge)
{
	if (!bridge->local_port)
		return;
	replay_store(bridge->ws->service->replay, (struct sockaddr *)&bridge->peer,
		     bridge->local_port, loop_now_us(loop_of(bridge)));
	bridge->local_port = 0;
}

static bool is_opening(const struct bridge *bridge)
{
	return bridge->state == BRIDGE_RESOLVING || bridge->state == BRIDGE_CONNECTING;
}

/* How long a client is to be held that is about to lose its connection for this reason. */
static uint64_t hold_us(const struct bridge *bridge, enum leg_close why)
{
	uint64_t age_us = loop_now_us(loop_of(bridge)) - bridge->start_us;

	if (!is_opening(bridge) || !client_is_tcp(bridge) || side_gone(&bridge->client) ||
	    why == LEG_CLOSE_SHUTDOWN || age_us >= REFUSAL_HOLD_US)
		return 0;
	return REFUSAL_HOLD_US - age_us;
}

/* The first reason is the bridge's: logged and counted once. */
static void give_up(struct bridge *bridge, enum leg_close why, const char *who, const char *detail)
{
	double age_s = (loop_now_us(loop_of(bridge)) - bridge->start_us) / 1e6;
	uint64_t hold = hold_us(bridge, why);

	if (bridge->state == BRIDGE_CLOSING)
		return;
	log_info(&bridge->log, "closed: %s: %s%s%s (while %s, after %.1f s)", who,
		 leg_close_text(why), detail[0] ? ": " : "", detail, state_text(bridge->state),
		 age_s);
	bridge->ws->closes[why]++;
	bridge->state = BRIDGE_CLOSING;
	resolver_cancel(bridge->query);
	bridge->query = NULL;
	loop_timer_clear(loop_of(bridge), bridge->timer);
	loop_task_cancel(loop_of(bridge), &bridge->retry);
	bridge->why = why;
	if (hold)
		loop_timer_set(loop_of(bridge), bridge->timer, hold);
	else if (!side_gone(&bridge->client))
		leg_close(bridge->client.leg, why);
	if (!side_gone(&bridge->server))
		leg_close(bridge->server.leg, why);
	/* The socket is closed by now, and the client may be back already, on another worker. */
	remember_port(bridge);
	settle(bridge);
}

static void end_hold(struct bridge *bridge)
{
	loop_timer_clear(loop_of(bridge), bridge->timer);
	if (!side_gone(&bridge->client))
		leg_close(bridge->client.leg, bridge->why);
}

void bridge_close(struct bridge *bridge, enum leg_close why)
{
	if (bridge->state == BRIDGE_CLOSING)
		end_hold(bridge);
	else
		give_up(bridge, why, "proxy", "");
}

/* ---- what both legs give up ---- */

static void on_call(void *arg, struct exchange *x)
{
	struct side *side = arg;

	if (side_gone(side->other)) {
		exchange_put(x);
		return;
	}
	leg_call(side->other->leg, x);
	if (!leg_can_call(side->other->leg))
		leg_pause(side->leg, true);
}

static void on_reply(void *arg, struct exchange *x)
{
	struct side *side = arg;

	binding_learn(&side->bridge->binding, x);
	if (side_gone(side->other))
		exchange_put(x);
	else
		leg_reply(side->other->leg, x);
}

static void on_call_ready(void *arg)
{
	struct side *side = arg;

	if (!side_gone(side->other))
		leg_pause(side->other->leg, false);
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	struct side *side = arg;

	side->why = why;
	snprintf(side->detail, sizeof(side->detail), "%s", detail);
}

static void on_note(void *arg, const char *text)
{
	struct side *side = arg;

	log_note(&side->bridge->log, "%s: %s", side == &side->bridge->client ? "client" : "server",
		 text);
}

/* ---- the server leg ---- */

static int connect_server(struct bridge *bridge);

static void on_server_opened(void *arg)
{
	struct bridge *bridge = ((struct side *)arg)->bridge;

	bridge->server_up = true;
	if (server_is_tcp(bridge)) {
		struct leg_info info;

		leg_info(bridge->server.leg, &info);
		bridge->local_port = address_port((struct sockaddr *)&info.local);
	}
	leg_accept(bridge->client.leg);
}

/* How long the server leg may still take to open. */
static uint64_t left_us(const struct bridge *bridge)
{
	uint64_t now_us = loop_now_us(loop_of(bridge));

	return now_us < bridge->deadline_us ? bridge->deadline_us - now_us : 0;
}

/* Whether the server may be reached on verbs or on iwarp: rdma:// */
static bool is_either(const struct bridge *bridge)
{
	return bridge->ws->service->config->connect.transport == TRANSPORT_RDMA;
}

static void avoid_verbs(struct bridge *bridge, const char *detail)
{
	log_info(&bridge->log, "server: not on verbs (%s), so on iwarp for %u s", detail,
		 VERBS_AVOID_US / 1000000);
	bridge->ws->verbs_avoided_until = loop_now_us(loop_of(bridge)) + VERBS_AVOID_US;
}

/*
 * rdma:// takes verbs where a device serves the route. If that fails, iwarp has its try in the same
 * attempt, and for a minute verbs is not tried again. Returns true if iwarp is to be tried.
 */
static bool fall_back(struct bridge *bridge, enum leg_close why, const char *detail)
{
	if (bridge->state != BRIDGE_CONNECTING || bridge->server_up || !bridge->on_verbs ||
	    !is_either(bridge) || why == LEG_CLOSE_LOCAL)
		return false;
	avoid_verbs(bridge, detail[0] ? detail : leg_close_text(why));
	bridge->next_addr--;
	loop_defer(loop_of(bridge), &bridge->retry);
	return true;
}

static bool try_next_address(struct bridge *bridge, enum leg_close why)
{
	return bridge->state == BRIDGE_CONNECTING && !bridge->server_up && !server_is_tcp(bridge) &&
	       bridge->next_addr < bridge->naddrs && left_us(bridge) > 0 && why != LEG_CLOSE_LOCAL;
}

static void reconnect(void *arg)
{
	struct bridge *bridge = arg;
	int rc;

	leg_free(bridge->server.leg);
	bridge->server.leg = NULL;
	bridge->server.closed = false;
	rc = connect_server(bridge);
	if (rc)
		give_up(bridge, LEG_CLOSE_UNREACHABLE, "server", strerror(-rc));
}

static void on_server_closed(void *arg)
{
	struct side *side = arg;
	struct bridge *bridge = side->bridge;
	enum leg_close why = side->why;
	const char *detail = side->detail;

	side->closed = true;
	remember_port(bridge);
	if (fall_back(bridge, why, detail))
		return;
	if (try_next_address(bridge, why)) {
		log_debug(&bridge->log, "server: %s: %s; trying its next address",
			  leg_close_text(why), detail);
		loop_defer(loop_of(bridge), &bridge->retry);
		return;
	}
	give_up(bridge, why, "server", detail);
	settle(bridge);
}

static const struct leg_events server_events = {
	.opened = on_server_opened,
	.call = on_call,
	.reply = on_reply,
	.call_ready = on_call_ready,
	.closing = on_closing,
	.closed = on_server_closed,
	.note = on_note,
};

static void rdma_config(const struct side *side, struct rdma_leg_config *config)
{
	const struct service_config *service = side->bridge->ws->service->config;

	*config = (struct rdma_leg_config){
		.leg = side->config,
		.credits = service->credits,
		.inline_threshold_bytes = service->inline_threshold_bytes,
		.remote_invalidation = true,
		.ddp = service->ddp == DDP_NFS,
		.binding = &side->bridge->binding.rdma,
		.peer = service->peer,
		.peer_memory = &side->bridge->ws->service->peer_memory,
		.counters = &side->bridge->ws->rdma,
	};
}

static void tcp_config(const struct side *side, struct tcp_leg_config *config)
{
	*config = (struct tcp_leg_config){
		.leg = side->config,
		.worker = &side->bridge->ws->tcp,
	};
}

static int connect_tcp(struct bridge *bridge)
{
	const struct service_config *service = bridge->ws->service->config;
	struct tcp_leg_config config;
	struct tcp_leg_addrs addrs = {
		.addrs = bridge->addrs,
		.count = bridge->naddrs,
		.source_port = service->source_port,
	};
	int rc;

	/* An attempt that fails gives the port back, for the client's next one. */
	bridge->local_port =
		replay_take(bridge->ws->service->replay, (struct sockaddr *)&bridge->peer,
			    loop_now_us(loop_of(bridge)));
	addrs.preferred_port = bridge->local_port;
	tcp_config(&bridge->server, &config);
	config.leg.connect_timeout_us = left_us(bridge);
	rc = tcp_leg_connect(&config, &addrs, &bridge->server.leg);
	if (rc)
		remember_port(bridge);
	return rc;
}

static struct fabric *choose_fabric(const struct bridge *bridge)
{
	const struct worker_service *ws = bridge->ws;

	switch (ws->service->config->connect.transport) {
	case TRANSPORT_VERBS:
		return ws->verbs;
	case TRANSPORT_RDMA:
		if (ws->verbs && loop_now_us(loop_of(bridge)) >= ws->verbs_avoided_until)
			return ws->verbs;
		return ws->iwarp;
	default:
		return ws->iwarp;
	}
}

static int connect_rdma(struct bridge *bridge)
{
	struct rdma_leg_config config;
	int rc = -EDESTADDRREQ;

	rdma_config(&bridge->server, &config);
	/* Some failures are known at once: an address of a family that this host has not. */
	while (rc && bridge->next_addr < bridge->naddrs) {
		size_t i = bridge->next_addr++;
		struct fabric *fabric = choose_fabric(bridge);

		if (!fabric)
			return -ENODEV;
		bridge->on_verbs = fabric == bridge->ws->verbs;
		config.leg.connect_timeout_us = left_us(bridge) / (bridge->naddrs - i);
		if (bridge->on_verbs && is_either(bridge))
			config.leg.connect_timeout_us /= 2; /* the other half is iwarp's */
		if (config.leg.connect_timeout_us < MIN_ATTEMPT_US)
			config.leg.connect_timeout_us = MIN_ATTEMPT_US;
		rc = rdma_leg_connect(&config, fabric, (struct sockaddr *)&bridge->addrs[i],
				      &bridge->server.leg);
		if (rc && bridge->on_verbs && is_either(bridge)) {
			avoid_verbs(bridge, strerror(-rc));
			bridge->next_addr--;
		}
	}
	return rc;
}

static int connect_server(struct bridge *bridge)
{
	bridge->state = BRIDGE_CONNECTING;
	return server_is_tcp(bridge) ? connect_tcp(bridge) : connect_rdma(bridge);
}

static void on_resolved(void *arg, const struct sockaddr_storage *addrs, size_t naddrs,
			const char *error)
{
	struct bridge *bridge = arg;
	int rc;

	bridge->query = NULL;
	loop_timer_clear(loop_of(bridge), bridge->timer);
	if (!naddrs) {
		give_up(bridge, LEG_CLOSE_UNREACHABLE, "server", error ? error : "has no address");
		return;
	}
	memcpy(bridge->addrs, addrs, naddrs * sizeof(*addrs));
	bridge->naddrs = naddrs;
	rc = connect_server(bridge);
	if (rc)
		give_up(bridge, LEG_CLOSE_UNREACHABLE, "server", strerror(-rc));
}

static void on_timer(void *arg)
{
	struct bridge *bridge = arg;

	if (bridge->state == BRIDGE_CLOSING)
		end_hold(bridge);
	else
		give_up(bridge, LEG_CLOSE_UNREACHABLE, "server",
			"its name was not resolved in time");
}

/* ---- the client leg ---- */

static void on_client_requested(void *arg)
{
	struct bridge *bridge = ((struct side *)arg)->bridge;
	const struct config_uri *uri = &bridge->ws->service->config->connect;
	uint64_t timeout_us = client_is_tcp(bridge) ? CONNECT_TIMEOUT_US : RDMA_CONNECT_TIMEOUT_US;
	int rc;

	bridge->state = BRIDGE_RESOLVING;
	bridge->deadline_us = loop_now_us(loop_of(bridge)) + timeout_us;
	loop_timer_set(loop_of(bridge), bridge->timer, timeout_us);
	rc = resolver_start(loop_of(bridge), uri->host, uri->port, on_resolved, bridge,
			    &bridge->query);
	if (rc)
		give_up(bridge, LEG_CLOSE_RESOURCES, "server", strerror(-rc));
}

static void on_client_opened(void *arg)
{
	struct bridge *bridge = ((struct side *)arg)->bridge;
	char text[ADDRESS_TEXT_BYTES];
	struct leg_info info;

	bridge->state = BRIDGE_OPEN;
	leg_info(bridge->server.leg, &info);
	address_text((struct sockaddr *)&info.peer, text);
	if (info.peer_profile)
		log_info(&bridge->log, "open to %s over %s, peer profile %s: %s", text, info.kind,
			 info.peer_profile, info.peer_why);
	else
		log_info(&bridge->log, "open to %s over %s", text, info.kind);
}

static void on_client_closed(void *arg)
{
	struct side *side = arg;

	side->closed = true;
	give_up(side->bridge, side->why, "client", side->detail);
	settle(side->bridge);
}

static const struct leg_events client_events = {
	.requested = on_client_requested,
	.opened = on_client_opened,
	.call = on_call,
	.reply = on_reply,
	.call_ready = on_call_ready,
	.closing = on_closing,
	.closed = on_client_closed,
	.note = on_note,
};

/* ---- making one ---- */

static void side_init(struct bridge *bridge, struct side *side, struct side *other,
		      const struct leg_events *events)
{
	const struct service_config *service = bridge->ws->service->config;
	struct worker *worker = bridge->ws->worker;

	side->bridge = bridge;
	side->other = other;
	side->config = (struct leg_config){
		.loop = worker->loop,
		.pool = worker->pool,
		.budget = &worker->budget,
		.max_message_bytes = service->max_message_bytes,
		.stall_timeout_us = (uint64_t)service->stall_timeout_s * 1000000,
		.connect_timeout_us = CONNECT_TIMEOUT_US,
		.binding = &bridge->binding.leg,
		.events = events,
		.arg = side,
	};
}

static int make_client(struct bridge *bridge, const struct incoming *in)
{
	if (in->fabric) {
		struct fabric *fabric = in->fabric->ops == &verbs_fabric_ops ? bridge->ws->verbs
									     : bridge->ws->iwarp;
		struct rdma_leg_config config;

		if (!fabric) {
			incoming_drop(in);
			return -ENODEV;
		}
		rdma_config(&bridge->client, &config);
		return rdma_leg_adopt(&config, fabric, in->fabric, &bridge->client.leg);
	} else {
		struct tcp_leg_config config;

		tcp_config(&bridge->client, &config);
		return tcp_leg_accept(&config, in->fd, &bridge->client.leg);
	}
}

int bridge_new(struct worker_service *ws, const struct incoming *in, uint64_t id)
{
	struct bridge *bridge = calloc(1, sizeof(*bridge));
	int rc = -ENOMEM;

	if (!bridge) {
		incoming_drop(in);
		return rc;
	}
	bridge->ws = ws;
	bridge->id = id;
	bridge->start_us = loop_now_us(ws->worker->loop);
	bridge->peer = in->peer;
	binding_init(&bridge->binding);
	loop_task_init(&bridge->reaper, reap, bridge);
	loop_task_init(&bridge->retry, reconnect, bridge);
	side_init(bridge, &bridge->client, &bridge->server, &client_events);
	side_init(bridge, &bridge->server, &bridge->client, &server_events);
	bridge->timer = loop_timer_new(ws->worker->loop, on_timer, bridge);
	if (!bridge->timer) {
		incoming_drop(in);
		goto out_free;
	}
	rc = make_client(bridge, in);
	if (rc)
		goto out_timer;
	log_ctx_init(&bridge->log, ws->service->config->name, id, (struct sockaddr *)&in->peer);
	TAILQ_INSERT_TAIL(&ws->bridges, bridge, entry);
	return 0;

out_timer:
	loop_timer_free(ws->worker->loop, bridge->timer);
out_free:
	free(bridge);
	return rc;
}

/* ---- snapshots ---- */

void bridge_info_get(const struct bridge *bridge, struct bridge_info *info)
{
	*info = (struct bridge_info){
		.id = bridge->id,
		.state = state_text(bridge->state),
		.client_peer = bridge->peer,
		.age_us = loop_now_us(loop_of(bridge)) - bridge->start_us,
		.has_client = !side_gone(&bridge->client),
		.has_server = !side_gone(&bridge->server),
	};
	if (info->has_client)
		leg_info(bridge->client.leg, &info->client);
	if (info->has_server)
		leg_info(bridge->server.leg, &info->server);
}

struct bridge *bridge_next(struct worker_service *ws, struct bridge *bridge)
{
	return bridge ? TAILQ_NEXT(bridge, entry) : TAILQ_FIRST(&ws->bridges);
}

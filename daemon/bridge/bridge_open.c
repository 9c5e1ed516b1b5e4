// SPDX-License-Identifier: BSD-3-Clause
/*
 * Order of opening:
 *   1. Identify the client, which decides the source port towards the server.
 *   2. Connect to the server from that port.
 *   3. Forward the Calls that the client has sent in the meantime.
 *
 * A TCP client is accepted at its first byte, and the upstream starts at the first Call. So port
 * scans and health checks cost the server nothing, and a retransmission is recognized before the
 * source port is chosen. An RDMA client is accepted only once its upstream is open, so that it sees
 * a failure as a rejected connection. The exception is an RDMA client that only its first Call
 * distinguishes from other clients of its address.
 */
#include "daemon/bridge/bridge_open.h"

#include <netinet/in.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/bridge/bridge_affinity.h"
#include "daemon/bridge/bridge_close.h"
#include "daemon/bridge/bridge_limits.h"
#include "daemon/bridge/bridge_route.h"
#include "daemon/bridge/bridge_tls.h"
#include "daemon/config/config_memory.h"
#include "daemon/upstream/leg_factory.h"

#define RDMA_CONNECT_TIMEOUT_US 4000000u /* kernel clients time out soon after */
/*
 * Waiting for the client's previous connection to close. Its server leg closes immediately over
 * TCP, and within 30 s over RDMA, unless its worker hangs; the limit is longer than that. The
 * bridge also checks by itself every OLD_CONN_POLL_US, because the notification needs memory and
 * can be lost.
 */
#define OLD_CONN_POLL_US  2000000u
#define OLD_CONN_LIMIT_US 40000000u

/* ---- the server ---- */

static void start_upstream(struct bridge *bridge, const struct source_affinity *affinity)
{
	bool waits = bridge->client_is_tcp || bridge->open.accepted;

	bridge_set_state(bridge, BRIDGE_RESOLVING);
	/*
	 * Before bridge_limits_connecting(): this connection owns the source port now, even if a
	 * limit rejects it.
	 */
	upstream_set_source(&bridge->upstream, affinity);
	if (!bridge_limits_connecting(bridge))
		return;
	upstream_start(&bridge->upstream,
		       waits ? BRIDGE_CONNECT_TIMEOUT_US : RDMA_CONNECT_TIMEOUT_US);
}

/* Accepts the client to read its first Call. */
static void accept_client(struct bridge *bridge)
{
	bridge_set_state(bridge, BRIDGE_WAIT_FIRST_CALL);
	bridge->open.accepted = true;
	bridge_limits_idle_start(bridge);
	leg_accept(bridge->client.leg);
}

static void wait_for_old_conn(struct bridge *bridge)
{
	if (bridge->state.now == BRIDGE_WAIT_OLD_CONN)
		return;
	bridge_debug(bridge, "waiting for the previous connection of this client to close, to "
			     "reuse its source port");
	bridge_set_state(bridge, BRIDGE_WAIT_OLD_CONN);
	loop_timer_set(bridge_loop(bridge), bridge->timer, OLD_CONN_POLL_US);
}

static void log_source_port(const struct bridge *bridge, const struct source_affinity *affinity)
{
	if (bridge_keeps_port(bridge))
		bridge_debug(bridge, "the server sees the client's own address and port");
	else if (affinity->port)
		bridge_debug(bridge, "reconnected: reusing source port %u%s", affinity->port,
			     affinity->due ? ", where a Call is unanswered" : "");
	else
		bridge_debug(bridge, "new client: any source port to the server");
}

static void connect_mount_server(struct bridge *bridge)
{
	const struct source_affinity none = {0};

	loop_timer_clear(bridge_loop(bridge), bridge->timer);
	upstream_use_mount_servers(&bridge->upstream, &bridge->ws->mount_servers);
	start_upstream(bridge, &none);
}

static void connect_server(struct bridge *bridge)
{
	const struct exchange *x = TAILQ_FIRST(&bridge->calls.list);
	struct source_affinity affinity = {0};
	struct call_fingerprint first;

	if (x) {
		bridge_route_choose(bridge, x);
		first = call_fingerprint_of(x);
	}
	if (bridge->routing.route == ROUTE_MOUNT) {
		connect_mount_server(bridge);
		return;
	}
	switch (client_affinity_find(bridge->affinity.client, x ? &first : NULL,
				     loop_now_us(bridge_loop(bridge)), &affinity)) {
	case AFFINITY_WAIT:
		wait_for_old_conn(bridge);
		break;
	case AFFINITY_NEEDS_CALL:
		bridge_debug(bridge, "waiting for the first Call to identify the client");
		loop_timer_clear(bridge_loop(bridge), bridge->timer);
		accept_client(bridge);
		break;
	case AFFINITY_NEW:
	case AFFINITY_RETURNING:
		log_source_port(bridge, &affinity);
		loop_timer_clear(bridge_loop(bridge), bridge->timer);
		start_upstream(bridge, &affinity);
		break;
	}
}

void bridge_recheck_old_conn(void *arg)
{
	struct bridge *bridge = arg;

	if (bridge->state.now == BRIDGE_WAIT_OLD_CONN)
		connect_server(bridge);
}

void bridge_old_conn_poll(struct bridge *bridge)
{
	uint64_t waited_us = loop_now_us(bridge_loop(bridge)) - bridge->state.since_us;

	if (waited_us < OLD_CONN_LIMIT_US) {
		loop_timer_set(bridge_loop(bridge), bridge->timer, OLD_CONN_POLL_US);
	} else {
		log_limited(
			LOG_LEVEL_WARNING, bridge_line_limit(bridge, LINE_NOTE), &bridge->log,
			"the client's previous connection has not closed in %u s: the server may "
			"execute retransmitted Calls twice",
			OLD_CONN_LIMIT_US / 1000000);
		client_affinity_stop_waiting(bridge->affinity.client);
	}
	connect_server(bridge);
}

void bridge_server_connecting(struct upstream *upstream)
{
	bridge_set_state(bridge_of(upstream), BRIDGE_CONNECTING);
}

void bridge_reroute(struct bridge *bridge)
{
	bridge_debug(bridge, "first Call is MOUNT: connecting to the MOUNT server instead");
	bridge->open.forwarding = false;
	bridge->open.accepted = true;
	bridge->affinity.first_source = bridge_affinity_source(bridge);
	bridge->server.leg = NULL;
	bridge_set_state(bridge, BRIDGE_REROUTING);
	leg_pause(bridge->client.leg, true);
	upstream_close(&bridge->upstream, LEG_CLOSE_LOCAL);
}

/* The connection counts against the limits already. */
void bridge_reroute_continue(void *arg)
{
	struct bridge *bridge = arg;

	if (bridge_is_closing(bridge))
		return;
	upstream_reset(&bridge->upstream);
	upstream_use_mount_servers(&bridge->upstream, &bridge->ws->mount_servers);
	bridge_set_state(bridge, BRIDGE_RESOLVING);
	upstream_start(&bridge->upstream, BRIDGE_CONNECT_TIMEOUT_US);
}

/* ---- the client ---- */

void bridge_client_requested(void *arg)
{
	struct bridge *bridge = ((struct bridge_side *)arg)->bridge;

	if (bridge_is_closing(bridge))
		return;
	if (bridge->open.protocol_unknown)
		loop_defer(bridge_loop(bridge), &bridge->open.detect_protocol);
	else if (bridge->client_is_tcp)
		accept_client(bridge);
	else
		connect_server(bridge);
}

/*
 * An RDMA server trusts every client as privileged, so the proxy checks the port of TCP clients
 * here.
 */
static bool is_port_allowed(const struct bridge *bridge)
{
	return !bridge->ws->service->config->require_privileged_port ||
	       sockaddr_port((const struct sockaddr *)&bridge->peer) < IPPORT_RESERVED;
}

static void set_rdma_client(struct bridge *bridge)
{
	const struct service_config *service = bridge->ws->service->config;
	const struct reply_memory reply_memory = config_memory_reverse_space(service, true);

	bridge->client_is_tcp = false;
	client_affinity_need_port(bridge->affinity.client);
	upstream_clear_keeps_port(&bridge->upstream);
	if (bridge->open.trusted && !client_affinity_set_privileged(bridge->affinity.client))
		upstream_set_privileged(&bridge->upstream);
	upstream_set_reverse_limits(&bridge->upstream, &reply_memory,
				    config_memory_reverse_max_bytes(service, true));
}

void bridge_detect_protocol(void *arg)
{
	struct bridge *bridge = arg;
	const struct leg_factory_ops *legs = bridge->ws->env->legs;
	struct leg_config config = *bridge->client.leg->config;
	bool is_tcp;
	int rc;

	if (bridge_is_closing(bridge))
		return;
	bridge->open.protocol_unknown = false;
	rc = legs->detect_protocol(&bridge->ws->net, &config, &bridge->client.leg, &is_tcp);
	if (rc) {
		bridge->end.client_leg_closed = true;
		bridge_close(bridge, LEG_CLOSE_RESOURCES, CLOSE_BY_PROXY, strerror(-rc));
	} else if (!is_tcp) {
		set_rdma_client(bridge);
	} else if (is_port_allowed(bridge)) {
		accept_client(bridge);
	} else {
		bridge_close(bridge, LEG_CLOSE_UNPRIVILEGED, CLOSE_BY_PROXY, "");
	}
}

void bridge_client_called(struct bridge *bridge)
{
	if (bridge->state.now == BRIDGE_WAIT_FIRST_CALL &&
	    call_fingerprint_possible(TAILQ_FIRST(&bridge->calls.list)))
		connect_server(bridge);
}

/* ---- both ---- */

/* If the server is another proxy, its log names this connection by the local address and port. */
static void log_open(const struct bridge *bridge, enum log_level level)
{
	enum service_line line = level == LOG_LEVEL_DEBUG ? LINE_DEBUG : LINE_OPEN;
	struct log_limit *limit = bridge_line_limit(bridge, line);
	char text[ADDRESS_TEXT_BYTES], local[ADDRESS_TEXT_BYTES], version[24] = "";
	char tls[BRIDGE_TLS_TEXT_BYTES];
	struct leg_info info, client;
	bool found;

	if (log_is_suppressed(level, limit))
		return;
	leg_info(bridge->server.leg, &info);
	leg_info(bridge->client.leg, &client);
	/* Version one is the default and is not shown. */
	if (info.rpcrdma_version > 1)
		snprintf(version, sizeof(version), ", version %u", info.rpcrdma_version);
	found = info.peer_profile && info.peer_found;
	log_write_limited(level, limit, &bridge->log, "open to %s over %s from %s%s%s%s%s%s%s",
			  address_text((struct sockaddr *)&info.peer, text), info.kind,
			  address_text((struct sockaddr *)&info.local, local), version,
			  bridge_tls_text(&client, &info, tls), found ? ", peer profile " : "",
			  found ? info.peer_profile : "", found ? ": " : "",
			  found ? info.peer_why : "");
}

static void debug_leg(const struct bridge *bridge, const char *who, const struct leg *leg)
{
	char text[LEG_TEXT_BYTES];

	leg_describe(leg, text);
	if (text[0])
		bridge_debug(bridge, "%s: %s", who, text);
}

static void debug_legs(const struct bridge *bridge)
{
	if (!log_is_on(LOG_LEVEL_DEBUG))
		return;
	debug_leg(bridge, "client", bridge->client.leg);
	debug_leg(bridge, "server", bridge->server.leg);
}

/* Forwards the Calls that the client has sent so far, in order. */
static void open_bridge(struct bridge *bridge)
{
	struct leg *server = bridge->server.leg;
	struct exchange *x, *next;

	bridge_set_state(bridge, BRIDGE_OPEN);
	/* After an outage a connection proves nothing: log it once the server replies. */
	bridge->open.open_logged = !upstream_was_down(&bridge->upstream);
	log_open(bridge, bridge->open.open_logged ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG);
	debug_legs(bridge);
	bridge->open.forwarding = true;
	for (x = TAILQ_FIRST(&bridge->calls.list); x; x = next) {
		next = TAILQ_NEXT(x, owner_entry);
		if (bridge_route_matches(bridge, x))
			leg_call(server, x);
		else
			bridge_route_reject(bridge, x);
	}
	leg_pause(bridge->client.leg, !leg_can_call(server));
}

void bridge_server_opened(struct upstream *upstream, struct leg *leg)
{
	struct bridge *bridge = bridge_of(upstream);

	bridge->server.leg = leg;
	/* Draining began while the upstream was replaced. */
	if (bridge->end.draining)
		leg_drain(leg);
	bridge_limits_connected(bridge);
	if (bridge->open.accepted)
		open_bridge(bridge);
	else
		leg_accept(bridge->client.leg);
}

void bridge_server_replied(struct bridge *bridge)
{
	if (!bridge->open.open_logged)
		log_open(bridge, LOG_LEVEL_INFO);
	bridge->open.open_logged = true;
}

bool bridge_has_forwarded_call(struct upstream *upstream)
{
	const struct bridge *bridge = bridge_of(upstream);

	return bridge->open.forwarding && bridge->calls.total > 0;
}

void bridge_client_opened(void *arg)
{
	struct bridge *bridge = ((struct bridge_side *)arg)->bridge;

	if (!bridge_is_closing(bridge) && !bridge->open.accepted)
		open_bridge(bridge);
}

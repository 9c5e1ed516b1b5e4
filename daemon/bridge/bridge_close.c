// SPDX-License-Identifier: BSD-3-Clause
/*
 * bridge_close() closes the other leg immediately. When both legs have closed, a deferred task
 * frees them and the bridge, so that no leg is freed inside its own callback.
 *
 * Tarpit: some client legs close only CONN_LIMITS_TARPIT_US after the connection was accepted:
 * those of clients that a connection limit rejects or evicts, and of TCP clients that were sent
 * nothing before their server failed. A client that loses its connection immediately would
 * reconnect hundreds of times per second, because Linux restarts its back-off with each established
 * connection.
 */
#include "daemon/bridge/bridge_close.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/usdt.h"
#include "daemon/base/humanize.h"
#include "daemon/bridge/bridge_affinity.h"
#include "daemon/bridge/bridge_iter.h"
#include "daemon/bridge/call_trace.h"
#include "daemon/bridge/late_call_scan.h"
#include "daemon/bridge/reply_delivery.h"

/* ---- the log line ---- */

#define TOTALS_BYTES 160u

/*
 * Returns whether an administrator should look at this. The main thread warns of refused clients
 * and reused XIDs once for all (daemon/proxy/problems.h).
 */
static bool is_worth_a_warning(enum leg_close why, enum close_by by)
{
	switch (why) {
	case LEG_CLOSE_RESOURCES:
	case LEG_CLOSE_OWN_UPSTREAM:
	case LEG_CLOSE_NO_SOURCE_ADDRESS:
		return true;
	case LEG_CLOSE_NOT_RPC:
	case LEG_CLOSE_PROTOCOL:
	case LEG_CLOSE_VERSION:
	case LEG_CLOSE_BAD_REPLY:
	case LEG_CLOSE_RECORD_TOO_BIG:
	case LEG_CLOSE_TLS:
		return by == CLOSE_BY_SERVER;
	default:
		return false;
	}
}

/*
 * Returns whether it was a port scan or a health check: a connection closed before any Call. An
 * RDMA client whose server is being connected is none.
 */
static bool was_probe_only(const struct bridge *bridge, enum leg_close why, enum close_by by)
{
	return by == CLOSE_BY_CLIENT && bridge->state.now < BRIDGE_RESOLVING &&
	       !bridge->calls.total &&
	       (why == LEG_CLOSE_PEER || why == LEG_CLOSE_LOST || why == LEG_CLOSE_SILENT ||
		why == LEG_CLOSE_NO_CALL || why == LEG_CLOSE_TIMEOUT);
}

static enum log_level close_log_level(const struct bridge *bridge, enum leg_close why,
				      enum close_by by)
{
	/*
	 * The service logs an unreachable server once. Still log the end of a bridge that was
	 * logged as open.
	 */
	if (bridge->upstream.failure_logged && by != CLOSE_BY_CLIENT)
		return bridge->open.open_logged ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG;
	if (is_worth_a_warning(why, by))
		return LOG_LEVEL_WARNING;
	return was_probe_only(bridge, why, by) ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
}

static unsigned count_unanswered(const struct bridge *bridge)
{
	const struct exchange *x;
	unsigned n = 0;

	TAILQ_FOREACH(x, &bridge->calls.list, owner_entry)
		n++;
	return n;
}

/*
 * "12,345 Calls, 3.1 GiB in, 20 MiB out, 0 unanswered": in is from the client, out to the client.
 */
static const char *totals_text(const struct bridge *bridge, char text[TOTALS_BYTES])
{
	char calls[HUMANIZE_TEXT_BYTES], in[HUMANIZE_TEXT_BYTES], out[HUMANIZE_TEXT_BYTES];
	struct leg_info info = {0};

	if (bridge->client.leg)
		leg_info(bridge->client.leg, &info);
	snprintf(text, TOTALS_BYTES, "%s Call%s, %s in, %s out, %u unanswered",
		 humanize_count(bridge->calls.total, calls), humanize_plural(bridge->calls.total),
		 humanize_bytes(info.bytes_received, in), humanize_bytes(info.bytes_sent, out),
		 count_unanswered(bridge));
	return text;
}

static void log_last_call(const struct bridge *bridge)
{
	const struct last_call *last = &bridge->calls.last;
	struct call_info call_info = {.hdr = {.xid = last->xid,
					      .prog = last->prog,
					      .vers = last->vers,
					      .proc = last->proc},
				      .program = last->program,
				      .procedure = last->procedure};
	struct log_ctx ctx = bridge->log;
	char name[CALL_NAME_BYTES];

	if (!bridge->calls.total || !log_is_on(LOG_LEVEL_DEBUG))
		return;
	call_info_name(&call_info, name);
	ctx.about.xid = &last->xid;
	log_limited(LOG_LEVEL_DEBUG, bridge_line_limit(bridge, LINE_DEBUG), &ctx,
		    "last Call: XID 0x%08x, %s (program %u, version %u, procedure %u), %.3f s ago",
		    last->xid, name, last->prog, last->vers, last->proc,
		    (loop_now_us(bridge_loop(bridge)) - last->start_us) / 1e6);
}

/* Returns the errno with which the leg of that side closed, or 0. */
static int errno_of(const struct bridge *bridge, enum close_by by)
{
	const struct leg *leg =
		by == CLOSE_BY_CLIENT ? bridge->client.leg : upstream_leg(&bridge->upstream);

	return leg ? leg->close_errno : 0;
}

/* An administrator may look at the log of the gateway only, and at warnings only. */
static void log_wrong_transport(const struct bridge *bridge)
{
	static const char *const texts[] = {
		"the client connects over RDMA, but this service listens for TCP: mount with "
		"proto=tcp, or add a service that listens at rdma:// (logged once)",
		"the client connects over TCP, but this service listens for RDMA: mount with "
		"proto=rdma and its port, or add a service that listens at tcp:// (logged once)",
	};

	if (!atomic_exchange(&bridge->ws->service->transport_logged, true))
		log_warning(&bridge->log, "%s", texts[!bridge->client_is_tcp]);
}

/* Logs the close; before unanswered Calls are discarded and before the state changes. */
static void log_close(const struct bridge *bridge, enum leg_close why, enum close_by by,
		      const char *detail)
{
	enum log_level level = close_log_level(bridge, why, by);
	unsigned line = level == LOG_LEVEL_DEBUG ? LINE_DEBUG : service_line_closed(why, by);
	struct log_limit *limit = bridge_line_limit(bridge, line);
	char text[CLOSE_REASON_TEXT_BYTES], sums[TOTALS_BYTES], age[HUMANIZE_TEXT_BYTES];
	uint64_t age_us = loop_now_us(bridge_loop(bridge)) - bridge->start_us;
	const struct log_ctx ctx = log_ctx_because(&bridge->log, leg_close_name(why));
	bool was_open = bridge->state.now == BRIDGE_OPEN;

	if (!log_is_suppressed(level, limit))
		log_write_limited(level, limit, &ctx, "%s, after %s%s%s: %s",
				  close_reason_text(why, by, errno_of(bridge, by), detail, text),
				  humanize_age(age_us, age), was_open ? "" : " while ",
				  was_open ? "" : state_name(&bridge_states, bridge->state.now),
				  totals_text(bridge, sums));
	log_last_call(bridge);
}

/* ---- closing ---- */

void bridge_reap(void *arg)
{
	struct bridge *bridge = arg;
	struct worker_service *ws = bridge->ws;

	leg_free(bridge->client.leg);
	upstream_fini(&bridge->upstream);
	loop_timer_free(bridge_loop(bridge), bridge->timer);
	loop_task_cancel(bridge_loop(bridge), &bridge->open.detect_protocol);
	loop_task_cancel(bridge_loop(bridge), &bridge->open.reroute);
	budget_holder_fini(&bridge->memory);
	bridge_iter_skip(bridge);
	TAILQ_REMOVE(&ws->bridges, bridge, entry);
	late_call_scan_stop(ws);
	reply_delivery_fini(ws);
	free(bridge);
	ws->env->bridge_freed(ws->env->arg, ws);
}

static void release_conn_slot(struct bridge *bridge)
{
	if (bridge->limits.slot)
		conn_slot_free(bridge->limits.slot);
	bridge->limits.slot = NULL;
}

static void free_if_closed(struct bridge *bridge)
{
	bool over;

	if (!bridge_is_closing(bridge) || !upstream_is_closed(&bridge->upstream))
		return;
	over = bridge->state.now == BRIDGE_CLOSING && bridge->end.client_leg_closed;
	/*
	 * Before bridge_affinity_retain(), which notifies the client that waits for the port,
	 * perhaps on another thread.
	 */
	if (over)
		release_conn_slot(bridge);
	bridge_affinity_retain(bridge);
	if (over)
		loop_defer(bridge_loop(bridge), &bridge->end.reaper);
}

static bool was_sent_nothing(const struct leg *leg)
{
	struct leg_info info;

	leg_info(leg, &info);
	return info.bytes_sent == info.tls_answer_bytes;
}

/*
 * An RDMA client whose server is unreachable is rejected immediately: kernel clients then wait by
 * themselves.
 */
static bool may_tarpit(const struct bridge *bridge, enum leg_close why)
{
	if (why == LEG_CLOSE_SHUTDOWN || why == LEG_CLOSE_DISCONNECTED ||
	    why == LEG_CLOSE_SUPERSEDED || why == LEG_CLOSE_HALF_OPEN)
		return false;
	return bridge->client_is_tcp || why == LEG_CLOSE_TOO_MANY || why == LEG_CLOSE_MADE_ROOM;
}

/* Returns how long the client stays in the tarpit for this reason; 0: not at all. */
static uint64_t tarpit_us(const struct bridge *bridge, enum leg_close why)
{
	uint64_t age_us = loop_now_us(bridge_loop(bridge)) - bridge->start_us;

	if (!state_can_follow(&bridge_states, bridge->state.now, BRIDGE_TARPIT) ||
	    !may_tarpit(bridge, why) || age_us >= CONN_LIMITS_TARPIT_US ||
	    bridge->end.client_closing || bridge->end.client_leg_closed ||
	    !was_sent_nothing(bridge->client.leg))
		return 0;
	return CONN_LIMITS_TARPIT_US - age_us;
}

/* The detail of these reasons says what an administrator has to change. */
static bool is_tls(enum leg_close why)
{
	return why == LEG_CLOSE_TLS || why == LEG_CLOSE_TLS_LIMIT;
}

/*
 * Returns whether the client is refused after its first byte or Call: by a limit, or because this
 * host cannot connect to the server.
 */
static bool is_refusal(const struct bridge *bridge, enum leg_close why, enum close_by by)
{
	switch (why) {
	case LEG_CLOSE_TOO_MANY:
	case LEG_CLOSE_UNPRIVILEGED:
		return by == CLOSE_BY_PROXY;
	case LEG_CLOSE_TLS:
	case LEG_CLOSE_TLS_LIMIT:
		return by == CLOSE_BY_CLIENT && bridge->state.now < BRIDGE_RESOLVING;
	case LEG_CLOSE_NO_SOURCE_PORT:
	case LEG_CLOSE_NO_SOURCE_ADDRESS:
	case LEG_CLOSE_OWN_UPSTREAM:
	case LEG_CLOSE_RESOURCES:
		return !bridge->open.forwarding;
	default:
		return false;
	}
}

/* Counts what `status` shows as a problem: refused clients, and one that reuses an XID. */
static void count_client_event(const struct bridge *bridge, enum leg_close why, enum close_by by,
			       const char *detail)
{
	bool refused = is_refusal(bridge, why, by);
	bool reused = by == CLOSE_BY_CLIENT && why == LEG_CLOSE_XID_REUSED;

	if (refused || reused)
		client_events_add(&bridge->ws->service->events,
				  refused ? why : CLIENT_EVENT_XID_REUSED,
				  (const struct sockaddr *)&bridge->peer, is_tls(why) ? detail : "",
				  loop_now_us(bridge_loop(bridge)));
}

/* Records the reason of the bridge. */
static void start_close(struct bridge *bridge, enum leg_close why, enum close_by by,
			const char *detail)
{
	if (bridge_has_taps(bridge))
		call_trace_close(bridge);
	USDT3(connection__closed, bridge->id, leg_close_name(why), bridge->calls.total);
	log_close(bridge, why, by, detail);
	if (by == CLOSE_BY_CLIENT && errno_of(bridge, by) == EPROTOTYPE)
		log_wrong_transport(bridge);
	bridge->ws->closes[by][why]++;
	count_client_event(bridge, why, by, detail);
	bridge->end.why = why;
	loop_timer_clear(bridge_loop(bridge), bridge->timer);
	bridge_affinity_closing(bridge);
	if (why == LEG_CLOSE_SUPERSEDED)
		conn_slot_superseded(bridge->limits.slot);
}

static void tarpit_client(struct bridge *bridge, uint64_t us)
{
	bridge_set_state(bridge, BRIDGE_TARPIT);
	conn_slot_tarpit(bridge->limits.slot);
	leg_pause(bridge->client.leg, true);
	loop_timer_set(bridge_loop(bridge), bridge->timer, us);
}

static void close_client(struct bridge *bridge)
{
	bridge_set_state(bridge, BRIDGE_CLOSING);
	loop_timer_clear(bridge_loop(bridge), bridge->timer);
	/* A client leg that closes by itself needs no call. */
	if (!bridge->end.client_closing && !bridge->end.client_leg_closed)
		leg_close(bridge->client.leg, bridge->end.why);
}

/*
 * Returns whether the leg closes because it was drained. The other leg drains too and takes its own
 * time to send queued data; a leg closed by leg_close() would get only two seconds.
 */
static bool closes_alone(const struct bridge *bridge, enum leg_close why)
{
	return bridge->end.draining && why == LEG_CLOSE_SHUTDOWN;
}

void bridge_close(struct bridge *bridge, enum leg_close why, enum close_by by, const char *detail)
{
	bool first = !bridge_is_closing(bridge);
	bool alone = first && bridge->end.client_closing && closes_alone(bridge, why);
	uint64_t delay_us = first ? tarpit_us(bridge, why) : 0;

	if (first)
		start_close(bridge, why, by, detail);
	if (!alone)
		upstream_close(&bridge->upstream, why);
	if (delay_us)
		tarpit_client(bridge, delay_us);
	else if (bridge->state.now != BRIDGE_CLOSING)
		close_client(bridge);
	else if (!bridge->end.client_leg_closed)
		leg_close(bridge->client.leg, why); /* sooner than by itself */
	free_if_closed(bridge);
}

void bridge_drain(struct bridge *bridge)
{
	if (bridge_is_closing(bridge) || bridge->end.draining)
		return;
	if (bridge->state.now != BRIDGE_OPEN) {
		bridge_close(bridge, LEG_CLOSE_SHUTDOWN, CLOSE_BY_PROXY, "");
		return;
	}
	bridge->end.draining = true;
	leg_drain(bridge->client.leg);
	if (bridge->server.leg)
		leg_drain(bridge->server.leg);
}

void bridge_client_closing(void *arg, enum leg_close why, const char *detail)
{
	struct bridge *bridge = ((struct bridge_side *)arg)->bridge;

	bridge->end.client_closing = true;
	tls_limits_end(&bridge->ws->service->tls_limits, &bridge->ws->tls_handshakes,
		       &bridge->limits.tls_handshake);
	reply_delivery_client_closing(bridge);
	if (bridge->state.now != BRIDGE_CLOSING)
		bridge_close(bridge, why,
			     closes_alone(bridge, why) ? CLOSE_BY_PROXY : CLOSE_BY_CLIENT, detail);
}

void bridge_client_closed(void *arg)
{
	struct bridge *bridge = ((struct bridge_side *)arg)->bridge;

	bridge->end.client_leg_closed = true;
	free_if_closed(bridge);
}

/* Its server was not reached, and before that the client had closed its side. */
static bool client_left_first(const struct bridge *bridge)
{
	return bridge->limits.half_closed && !bridge->open.forwarding;
}

void bridge_server_closing(struct upstream *upstream, enum leg_close why, const char *detail)
{
	struct bridge *bridge = bridge_of(upstream);

	if (bridge_is_closing(bridge) || closes_alone(bridge, why))
		return;
	if (client_left_first(bridge))
		bridge_close(bridge, LEG_CLOSE_PEER, CLOSE_BY_CLIENT,
			     "it disconnected before the proxy had reached the server");
	else
		bridge_close(bridge, why, CLOSE_BY_SERVER, detail);
}

void bridge_server_closed(struct upstream *upstream)
{
	struct bridge *bridge = bridge_of(upstream);

	bridge->server.leg = NULL;
	if (bridge->state.now == BRIDGE_REROUTING)
		loop_defer(bridge_loop(bridge), &bridge->open.reroute);
	else
		free_if_closed(bridge);
}

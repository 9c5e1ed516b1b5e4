// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/rdma_leg.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/private_data.h"
#include "rpcrdma/rdma_conn_setup.h"
#include "rpcrdma/rdma_keepalive.h"
#include "rpcrdma/rdma_leg_priv.h"
#include "rpcrdma/reject_reason.h"
#include "rpcrdma/responder_reply.h"
#include "rpcrdma/reverse_timeout.h"
#include "rpcrdma/v2/characteristics.h"
#include "rpcrdma/v2/optional_msgs.h"
#include "rpcrdma/v2/version_probe.h"
#include "rpcrdma/work_request.h"

static const struct leg_ops rdma_leg_ops;
static const struct fabric_ep_events fabric_events;

/* ---- draining ---- */

static bool is_idle(const struct rdma_leg *leg)
{
	return requester_is_idle(&leg->requester) && responder_is_idle(&leg->responder);
}

/* Closes a drained leg without RPCs; posted Sends are still sent. */
static void close_if_idle(void *arg)
{
	struct rdma_leg *leg = arg;

	if (leg->conn.drain_requested && is_idle(leg))
		rdma_conn_fail(&leg->conn, LEG_CLOSE_SHUTDOWN, "%s", "");
}

/* Sends the Calls that waited until the version was settled. */
static void on_settled(void *arg)
{
	requester_kick(&((struct rdma_leg *)arg)->requester);
}

/*
 * Calls that wait for the connection are in flight too: they are sent when it opens, before it
 * drains.
 */
static void rdma_drain(struct leg *l)
{
	struct rdma_leg *leg = rdma_leg_of(l);

	if (leg->conn.drain_requested || rdma_conn_is_closing(&leg->conn))
		return;
	leg->conn.drain_requested = true;
	if (leg->conn.state.now == RDMA_OPEN)
		rdma_conn_set_state(&leg->conn, RDMA_DRAINING);
	close_if_idle(leg);
}

/*
 * Reports that the connection is closing. Closing can take a while, so waiting Calls stop waiting
 * for memory now.
 */
static void report_closing(void *arg)
{
	struct rdma_leg *leg = arg;

	responder_cancel_waiting(&leg->responder);
	leg->leg.close_errno = leg->conn.close_errno;
	leg->config.leg.events->closing(leg->config.leg.arg, leg->conn.why, leg->conn.detail);
}

/* ---- events of the fabric ---- */

static void on_requested(void *arg, const uint8_t *private_data, size_t len)
{
	struct rdma_leg *leg = arg;

	if (rdma_conn_setup_requested(&leg->conn, private_data, len))
		leg->config.leg.events->requested(leg->config.leg.arg);
}

static void on_resolved(void *arg, struct fabric_ep_params *params)
{
	rdma_conn_setup_resolved(&((struct rdma_leg *)arg)->conn, params);
}

static void on_established(void *arg, const uint8_t *private_data, size_t len)
{
	struct rdma_leg *leg = arg;

	if (!rdma_conn_setup_established(&leg->conn, private_data, len))
		return;
	rdma_keepalive_start(&leg->keepalive);
	version_probe_begin(leg);
}

static void on_rejected(void *arg, const uint8_t *private_data, size_t len)
{
	struct rdma_conn *conn = &((struct rdma_leg *)arg)->conn;
	char words[REJECT_REASON_WORDS_BYTES];

	if (reject_reason_decode(private_data, len, words))
		snprintf(conn->rejection, sizeof(conn->rejection), "it rejects: \"%s\"", words);
}

/* The endpoint needs time to close; the owner learns of the end now. */
static void on_ending(void *arg, enum fabric_close why, const char *detail)
{
	struct rdma_leg *leg = arg;

	version_probe_ended(leg);
	rdma_conn_fabric_ended(&leg->conn, why, leg->conn.ep->close_errno, detail);
}

static void finish_closing(struct rdma_leg *leg, enum fabric_close why, int err, const char *detail)
{
	rdma_keepalive_stop(&leg->keepalive);
	reverse_timeout_stop(&leg->requester);
	version_probe_ended(leg);
	optional_msgs_end(leg->options);
	rdma_conn_fabric_ended(&leg->conn, why, err, detail);
	read_chunks_end(&leg->conn);
	requester_end(&leg->requester);
	responder_end(&leg->responder);
	rdma_conn_released(&leg->conn);
}

static void on_closed(void *arg, enum fabric_close why, const char *detail)
{
	struct rdma_leg *leg = arg;

	if (rdma_conn_setup_port_refused(&leg->conn, why))
		loop_defer(leg->conn.fabric->loop, &leg->retry_task);
	else
		finish_closing(leg, why, leg->conn.ep->close_errno,
			       leg->conn.rejection[0] ? leg->conn.rejection : detail);
}

/*
 * Connects again from another port, unless the leg was closed meanwhile; no endpoint would report
 * that.
 */
static void retry_connect(void *arg)
{
	struct rdma_leg *leg = arg;
	int rc;

	if (rdma_conn_is_closing(&leg->conn)) {
		finish_closing(leg, FABRIC_CLOSE_LOCAL, 0, "");
		return;
	}
	rc = rdma_conn_setup_retry(&leg->conn, &fabric_events, leg);
	if (rc)
		finish_closing(leg, FABRIC_CLOSE_LOST, -rc, strerror(-rc));
}

static void on_note(void *arg, const char *text)
{
	rdma_conn_note(&((struct rdma_leg *)arg)->conn, "%s", text);
}

static void on_key_free(void *arg)
{
	struct rdma_leg *leg = arg;

	requester_key_free(&leg->requester);
	responder_key_free(&leg->responder);
}

/* ---- the interface of the leg ---- */

static void rdma_accept(struct leg *l)
{
	rdma_conn_setup_accept(&rdma_leg_of(l)->conn);
}

static bool rdma_can_call(const struct leg *l)
{
	return requester_can_call(&container_of(l, const struct rdma_leg, leg)->requester);
}

static void rdma_call(struct leg *l, struct exchange *x)
{
	struct rdma_leg *leg = rdma_leg_of(l);

	if (!leg->requester.reverse) {
		requester_call(&leg->requester, x);
		return;
	}
	requester_call(&leg->requester, x);
	reverse_timeout_start(&leg->requester);
}

static void rdma_reply(struct leg *l, struct exchange *x)
{
	/* A Reply for a connection that is closing is discarded. */
	if (x->origin == l && rdma_conn_is_up(&rdma_leg_of(l)->conn))
		responder_reply(x->origin_priv);
	exchange_put(x);
}

static void rdma_more(struct leg *l, struct exchange *x)
{
	struct rdma_leg *leg = rdma_leg_of(l);

	if (rdma_conn_is_closing(&leg->conn))
		return;
	if (x->target == l)
		requester_more(&leg->requester, x);
	else if (x->origin == l)
		responder_more(x->origin_priv);
}

/*
 * Does nothing: credits limit an RDMA peer, and memory is reserved for all Calls that they allow.
 */
static void rdma_pause(struct leg *l, bool paused)
{
}

static void rdma_check_peer_close(struct leg *l)
{
	struct rdma_conn *conn = &rdma_leg_of(l)->conn;

	if (conn->ep)
		fabric_ep_check_disconnect(conn->ep);
}

static void rdma_close(struct leg *l, enum leg_close why)
{
	struct rdma_conn *conn = &rdma_leg_of(l)->conn;

	rdma_conn_fail(conn, why, "%s", "");
	if (why == LEG_CLOSE_SHUTDOWN)
		rdma_conn_limit_closing(conn);
}

static void info_extras(const struct rdma_leg *leg, struct leg_info *info)
{
	const struct rdma_conn *conn = &leg->conn;

	info->dialect = conn->negotiation.dialect->name;
	info->configured = conn->configured;
	info->peer_reads_max = conn->work_requests.reads_max;
	info->replies_lent = conn->grant.exposed;
	info->calls_abandoned = leg->requester.abandoned;
	if (conn->limits.dialect->options && conn->characteristics) {
		info->pending = characteristics_pending(conn->characteristics);
		info->peer_recv_size_bytes = characteristics_peer_size(conn->characteristics);
		info->recv_size_bytes = characteristics_advertised_size(conn->characteristics);
	}
	if (conn->connector) {
		info->peer_profile = conn->peer->name;
		info->peer_why = conn->peer_why;
		info->peer_found = conn->peer != peer_profile(PEER_AUTO);
	}
}

static void rdma_load(const struct leg *l, struct leg_load *load)
{
	const struct rdma_leg *leg = container_of(l, const struct rdma_leg, leg);
	const struct rdma_conn *conn = &leg->conn;
	const struct credit_window *window = &conn->window;

	*load = (struct leg_load){
		.kind = conn->fabric->ops->name,
		.is_rdma = true,
		.calls_in_flight_in = conn->grant.in_flight,
		.calls_in_flight_out = window->in_flight - leg->requester.sent_null_calls.count -
				       leg->requester.abandoned -
				       control_msgs_credits(&conn->control),
		.calls_queued = leg->requester.nqueued,
		.credits_granted = credit_grant_value(&conn->grant),
	};
	if (credit_window_has_credit(window))
		load->credits_available = credit_window_value(window) - window->in_flight;
}

static void rdma_info(const struct leg *l, struct leg_info *info)
{
	const struct rdma_leg *leg = container_of(l, const struct rdma_leg, leg);
	const struct rdma_conn *conn = &leg->conn;
	const struct credit_window *window = &conn->window;
	const struct rpc_limits *limits = &conn->limits;
	struct fabric_ep_info ep;
	struct leg_load load;

	rdma_load(l, &load);
	fabric_ep_info(conn->ep, &ep);
	*info = (struct leg_info){
		.kind = load.kind,
		.state = state_name(&rdma_conn_states, conn->state.now),
		.state_since_us = conn->state.since_us,
		.local = ep.local,
		.peer = ep.peer,
		.calls_in_flight_in = load.calls_in_flight_in,
		.calls_in_flight_out = load.calls_in_flight_out,
		.credits_granted = load.credits_granted,
		.credits_available = load.credits_available,
		.credits_known = leg->requester.answered,
		.credits_used = window->in_flight,
		.calls_queued = load.calls_queued,
		.inline_send_bytes = limits->send_bytes,
		.inline_recv_bytes = limits->recv_bytes,
		.recv_size_bytes = inline_threshold_offer(&conn->recv_limit),
		.peer_recv_size_bytes = conn->send_limit.peer_bytes,
		.recv_posted_bytes = posted_recvs_bytes(&conn->recvs),
		.rpcrdma_version = conn->negotiation.dialect->version,
		.bytes_received = conn->bytes_received,
		.bytes_sent = conn->bytes_sent,
	};
	info_extras(leg, info);
}

static void describe_private_data(const struct rdma_conn *conn, char *text, size_t bytes)
{
	if (conn->peer_sent_private_data)
		snprintf(text, bytes,
			 "its private data: Sends of %u bytes, receives of %u, "
			 "%sremote invalidation",
			 conn->theirs.send_bytes, conn->theirs.recv_bytes,
			 conn->theirs.remote_invalidation ? "" : "no ");
	else
		snprintf(text, bytes, "no usable private data");
}

/* Returns true if Sends can invalidate keys of the end that connected. */
static bool invalidates(const struct rdma_conn *conn)
{
	if (conn->connector && conn->limits.dialect->one_sided_invalidation)
		return conn->accepts_invalidation;
	return rdma_conn_may_invalidate(conn, &conn->limits);
}

static void rdma_describe(const struct leg *l, char text[LEG_TEXT_BYTES])
{
	const struct rdma_leg *leg = container_of(l, const struct rdma_leg, leg);
	const struct rdma_conn *conn = &leg->conn;
	const struct rpc_limits *limits = &conn->limits;
	const char *name = limits->dialect->name;
	char below[FABRIC_TEXT_BYTES], private_text[96];

	fabric_ep_describe(conn->ep, below);
	describe_private_data(conn, private_text, sizeof(private_text));
	snprintf(text, LEG_TEXT_BYTES,
		 "RPC-over-RDMA version %u%s%s%s, inline up to %u bytes to it and %u from it, "
		 "%s %u credits, remote invalidation %s; %s%s%s",
		 limits->dialect->version, name ? " (" : "", name ? name : "", name ? ")" : "",
		 limits->send_bytes, limits->recv_bytes,
		 conn->connector ? "asks for" : "grants up to",
		 conn->connector ? conn->window.asked : conn->grant.max,
		 invalidates(conn) ? "on" : "off", private_text, below[0] ? "; " : "", below);
}

static void leg_destroy(struct rdma_leg *leg)
{
	rdma_keepalive_fini(&leg->keepalive);
	version_probe_fini(leg);
	reverse_timeout_fini(&leg->requester);
	requester_fini(&leg->requester);
	responder_fini(&leg->responder);
	work_request_queues_fini(&leg->conn);
	rdma_conn_fini(&leg->conn);
	free(leg);
}

static void rdma_free(struct leg *l)
{
	struct rdma_leg *leg = rdma_leg_of(l);

	assert(leg->conn.state.now == RDMA_CLOSED);
	leg_destroy(leg);
}

static struct rdma_leg *leg_new(const struct rdma_leg_config *config, struct fabric *fabric,
				enum rdma_conn_state state)
{
	struct rdma_leg *leg = calloc(1, sizeof(*leg));
	int rc;

	if (!leg)
		return NULL;
	leg->config = *config;
	leg->leg.ops = &rdma_leg_ops;
	leg->leg.config = &leg->config.leg;
	rc = rdma_conn_init(&leg->conn, &leg->leg, &leg->config, fabric, state);
	loop_task_init(&leg->conn.closing_task, report_closing, leg);
	loop_task_init(&leg->retry_task, retry_connect, leg);
	loop_task_init(&leg->conn.idle_task, close_if_idle, leg);
	loop_task_init(&leg->conn.settled_task, on_settled, leg);
	rdma_conn_setup_init(&leg->conn);
	requester_init(&leg->requester, &leg->conn);
	responder_init(&leg->responder, &leg->conn);
	if (rdma_keepalive_init(&leg->keepalive, &leg->requester, &leg->responder))
		rc = -ENOMEM;
	if (!rc)
		rc = work_request_queues_init(&leg->conn);
	if (rc) {
		leg_destroy(leg);
		return NULL;
	}
	return leg;
}

int rdma_leg_connect(const struct rdma_leg_config *config, struct fabric *fabric,
		     const struct sockaddr *addr, struct leg **out)
{
	struct rdma_leg *leg = leg_new(config, fabric, RDMA_CONNECTING);
	int rc;

	if (!leg)
		return -ENOMEM;
	rc = rdma_conn_setup_connect(&leg->conn, addr, &fabric_events, leg);
	if (rc) {
		config->counters->connect_failures++;
		leg_destroy(leg);
		return rc;
	}
	*out = &leg->leg;
	return 0;
}

int rdma_leg_adopt(const struct rdma_leg_config *config, struct fabric *fabric,
		   struct fabric_incoming *in, struct leg **out)
{
	struct rdma_leg *leg = leg_new(config, fabric, RDMA_INCOMING);
	int rc;

	if (!leg) {
		fabric_incoming_drop(in);
		return -ENOMEM;
	}
	rc = rdma_conn_setup_adopt(&leg->conn, in, &fabric_events, leg);
	if (rc) {
		leg_destroy(leg);
		return rc;
	}
	*out = &leg->leg;
	return 0;
}

static const struct fabric_ep_events fabric_events = {
	.requested = on_requested,
	.resolved = on_resolved,
	.established = on_established,
	.recv = recv_dispatch,
	.rejected = on_rejected,
	.ending = on_ending,
	.closed = on_closed,
	.note = on_note,
	.key_free = on_key_free,
};

static const struct leg_ops rdma_leg_ops = {
	.accept = rdma_accept,
	.can_call = rdma_can_call,
	.call = rdma_call,
	.reply = rdma_reply,
	.more = rdma_more,
	.pause = rdma_pause,
	.drain = rdma_drain,
	.close = rdma_close,
	.check_peer_close = rdma_check_peer_close,
	.info = rdma_info,
	.load = rdma_load,
	.describe = rdma_describe,
	.free = rdma_free,
};

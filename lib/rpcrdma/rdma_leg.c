// SPDX-License-Identifier: BSD-3-Clause
/* The RDMA leg's connection: set-up, what is agreed in it, receives, and the one way to close. */
#include "rpcrdma/rdma_leg.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "rpcrdma/rdma_leg_priv.h"

COUNTER_TABLE(rdma_leg_counters, RDMA_LEG_COUNTERS);

static const struct leg_ops rdma_leg_ops;
static const struct fabric_ep_events fabric_events;

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static const char *state_name(enum rdma_state state)
{
	static const char *const names[] = {
#define NAME(name, text) [RDMA_##name] = text,
		RDMA_STATES(NAME)
#undef NAME
	};
	return names[state];
}

static void set_state(struct rdma_leg *leg, enum rdma_state to)
{
#define MAY(name) (1u << RDMA_##name)
	static const unsigned next[] = {
		[RDMA_CONNECTING] = MAY(OPEN) | MAY(CLOSING),
		[RDMA_INCOMING] = MAY(REQUESTED) | MAY(CLOSING),
		[RDMA_REQUESTED] = MAY(ACCEPTING) | MAY(CLOSING),
		[RDMA_ACCEPTING] = MAY(OPEN) | MAY(CLOSING),
		[RDMA_OPEN] = MAY(CLOSING),
		[RDMA_CLOSING] = MAY(CLOSED),
		[RDMA_CLOSED] = 0,
	};
#undef MAY
	assert(next[leg->state] & 1u << to);
	leg->state = to;
}

void rdma_leg_note(struct rdma_leg *leg, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	if (!leg->notes_left || !leg->config.leg.events->note)
		return;
	leg->notes_left--;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	leg->config.leg.events->note(leg->config.leg.arg, text);
}

/* From now on nothing is called but closed(). */
static void begin_closing(struct rdma_leg *leg, enum leg_close why)
{
	set_state(leg, RDMA_CLOSING);
	leg->why = why;
	loop_timer_clear(leg->fabric->loop, leg->timer);
}

void rdma_leg_fail(struct rdma_leg *leg, enum leg_close why, const char *fmt, ...)
{
	bool requested = leg->state == RDMA_REQUESTED;
	va_list ap;

	if (leg->state >= RDMA_CLOSING)
		return;
	va_start(ap, fmt);
	vsnprintf(leg->detail, sizeof(leg->detail), fmt, ap);
	va_end(ap);
	begin_closing(leg, why);
	if (requested)
		fabric_ep_reject(leg->ep);
	else
		fabric_ep_close(leg->ep);
}

static enum leg_close why_of(const struct rdma_leg *leg, enum fabric_close why)
{
	static const enum leg_close map[] = {
		[FABRIC_CLOSE_LOCAL] = LEG_CLOSE_LOCAL,
		[FABRIC_CLOSE_PEER] = LEG_CLOSE_PEER,
		[FABRIC_CLOSE_LOST] = LEG_CLOSE_LOST,
		[FABRIC_CLOSE_REFUSED] = LEG_CLOSE_REFUSED,
		[FABRIC_CLOSE_TIMEOUT] = LEG_CLOSE_TIMEOUT,
		[FABRIC_CLOSE_PROTOCOL] = LEG_CLOSE_PROTOCOL,
		[FABRIC_CLOSE_TERMINATED] = LEG_CLOSE_TERMINATED,
		[FABRIC_CLOSE_RESOURCES] = LEG_CLOSE_RESOURCES,
	};

	if (why == FABRIC_CLOSE_LOST && leg->state == RDMA_CONNECTING)
		return LEG_CLOSE_UNREACHABLE;
	return map[why];
}

static void tell_closed(void *arg)
{
	struct rdma_leg *leg = arg;

	leg->config.leg.events->closing(leg->config.leg.arg, leg->why, leg->detail);
	leg->config.leg.events->closed(leg->config.leg.arg);
}

static void on_closed(void *arg, enum fabric_close why, const char *detail)
{
	struct rdma_leg *leg = arg;

	if (leg->state < RDMA_CLOSING) {
		enum leg_close reason = why_of(leg, why);

		snprintf(leg->detail, sizeof(leg->detail), "%s", detail ? detail : "");
		begin_closing(leg, reason);
	}
	requester_end(leg);
	responder_end(leg);
	set_state(leg, RDMA_CLOSED);
	/* The endpoint is freed with the leg, and not inside its own callback. */
	loop_defer(leg->fabric->loop, &leg->closed_task);
}

static void on_note(void *arg, const char *text)
{
	rdma_leg_note(arg, "%s", text);
}

static void on_timer(void *arg)
{
	rdma_leg_fail(arg, LEG_CLOSE_TIMEOUT, "no answer while %s",
		      state_name(((struct rdma_leg *)arg)->state));
}

/* Set-up */

static void arm_timer(struct rdma_leg *leg)
{
	if (leg->config.leg.connect_timeout_us)
		loop_timer_set(leg->fabric->loop, leg->timer, leg->config.leg.connect_timeout_us);
}

/* What both ends post at least and at most: all credits of both directions, and the reserve. */
static void set_receives(struct rdma_leg *leg, struct fabric_ep_params *params)
{
	const struct credit_grant *grant = &leg->responder.grant;
	const struct credit_window *window = &leg->requester.window;

	params->recv_size_bytes = leg->ours.recv_bytes + RDMA_RECV_SLACK_BYTES;
	if (params->recv_size_bytes < RDMA_RECV_MIN_BYTES)
		params->recv_size_bytes = RDMA_RECV_MIN_BYTES;
	leg->recv_size_bytes = params->recv_size_bytes;
	params->recv_count = grant->granted + window->granted + RDMA_RECV_RESERVE;
	params->recv_max = grant->max + window->asked + RDMA_RECV_RESERVE;
}

static void fill_params(struct rdma_leg *leg, struct fabric_ep_params *params)
{
	*params = (struct fabric_ep_params){.ird = RDMA_READ_DEPTH};
	/* As the client we never read; peers refuse one that cannot be read from. */
	params->ord = leg->connector ? 0 : RDMA_READ_DEPTH;
	if (leg->peer->private_data) {
		rpcrdma_private_data_encode(&leg->ours, params->private_data);
		params->private_data_bytes = RPCRDMA_PRIVATE_DATA_BYTES;
	}
	set_receives(leg, params);
	leg->recvs_posted = params->recv_count;
}

/* Without keys that die alone, the death of one would take memory from others (C3.2-2). */
static void on_resolved(void *arg, struct fabric_ep_params *params)
{
	struct rdma_leg *leg = arg;
	struct fabric_ep_info info;

	fabric_ep_info(leg->ep, &info);
	if (info.per_rpc_keys || !leg->ours.remote_invalidation)
		return;
	leg->ours.remote_invalidation = false;
	rpcrdma_private_data_encode(&leg->ours, params->private_data);
}

void rdma_leg_peer_found(struct rdma_leg *leg, enum peer_id id, const char *why)
{
	leg->peer = peer_profile(id);
	leg->peer_why = why;
}

static bool is_remembered(const struct rdma_leg *leg)
{
	struct peer_memory *memory = leg->config.peer_memory;

	return memory && loop_now_us(leg->fabric->loop) < atomic_load(&memory->refuses_until_us);
}

/* What the server's private data, or the lack of them, says of it. */
static void find_peer(struct rdma_leg *leg, bool usable)
{
	const struct rpcrdma_private_data *theirs = &leg->theirs;

	if (!usable && is_remembered(leg))
		rdma_leg_peer_found(leg, PEER_CHIMERA, "refused a long Call not long ago");
	else if (!usable)
		rdma_leg_peer_found(leg, PEER_GANESHA, "sent no usable private data");
	else if (!theirs->remote_invalidation && theirs->send_bytes == theirs->recv_bytes)
		rdma_leg_peer_found(leg, PEER_LINUX, "sent private data as Linux does");
	else
		rdma_leg_peer_found(leg, PEER_AUTO, "its private data show no server with quirks");
}

/* C4.1.1-1, C5.2-2, X-5: what does not conform leaves the defaults. */
static void agree(struct rdma_leg *leg, const uint8_t *data, size_t len)
{
	bool usable = rpcrdma_private_data_decode(data, len, &leg->theirs);

	if (!usable)
		leg->config.counters->private_data_defaults++;
	if (leg->connector && leg->config.peer == PEER_AUTO)
		find_peer(leg, usable);
	leg->send_max_bytes = least(leg->ours.send_bytes, leg->theirs.recv_bytes);
	leg->recv_max_bytes = least(leg->ours.recv_bytes, leg->theirs.send_bytes);
	leg->may_invalidate = leg->ours.remote_invalidation && leg->theirs.remote_invalidation;
}

static void on_requested(void *arg, const uint8_t *private_data, size_t len)
{
	struct rdma_leg *leg = arg;

	if (leg->state != RDMA_INCOMING)
		return;
	set_state(leg, RDMA_REQUESTED);
	loop_timer_clear(leg->fabric->loop, leg->timer);
	agree(leg, private_data, len);
	leg->config.leg.events->requested(leg->config.leg.arg);
}

static void rdma_accept(struct leg *l)
{
	struct rdma_leg *leg = rdma_leg_of(l);
	struct fabric_ep_params params;

	if (leg->state != RDMA_REQUESTED)
		return;
	fill_params(leg, &params);
	set_state(leg, RDMA_ACCEPTING);
	arm_timer(leg);
	if (fabric_ep_accept(leg->ep, &params))
		rdma_leg_fail(leg, LEG_CLOSE_LOST, "the peer went before it was accepted");
}

static void on_established(void *arg, const uint8_t *private_data, size_t len)
{
	struct rdma_leg *leg = arg;
	uint32_t own_max = leg->config.max_segment_bytes;
	struct fabric_ep_info info;
	uint32_t peer_max;

	if (leg->state != RDMA_CONNECTING && leg->state != RDMA_ACCEPTING)
		return;
	if (leg->connector)
		agree(leg, private_data, len);
	loop_timer_clear(leg->fabric->loop, leg->timer);
	fabric_ep_info(leg->ep, &info);
	leg->ord = info.ord;
	leg->max_sge = info.max_sge ? info.max_sge : FABRIC_MAX_SGE;
	leg->max_segment_bytes = own_max ? least(own_max, info.max_key_bytes) : info.max_key_bytes;
	peer_max = leg->peer->segment_max_bytes;
	if (peer_max)
		leg->max_segment_bytes = least(peer_max, leg->max_segment_bytes);
	set_state(leg, RDMA_OPEN);
	leg->config.leg.events->opened(leg->config.leg.arg);
	requester_pump(leg);
}

void rdma_leg_replenish(struct rdma_leg *leg)
{
	const struct credit_grant *grant = &leg->responder.grant;
	unsigned want = RDMA_RECV_RESERVE + leg->requester.window.in_flight + grant->granted;

	/* Each Call that is not answered keeps the receive that it took: a peer that overruns runs out. */
	if (leg->state != RDMA_OPEN || leg->recvs_posted + grant->in_flight >= want)
		return;
	fabric_recv_post(leg->ep, want - grant->in_flight - leg->recvs_posted,
			 leg->recv_size_bytes);
	leg->recvs_posted = want - grant->in_flight;
}

/* The leg's interface */

static bool rdma_can_call(const struct leg *l)
{
	return requester_can_call(container_of(l, const struct rdma_leg, leg));
}

static void rdma_call(struct leg *l, struct exchange *x)
{
	requester_call(rdma_leg_of(l), x);
}

static void rdma_reply(struct leg *l, struct exchange *x)
{
	responder_reply(rdma_leg_of(l), x);
}

/* An RDMA peer is held by its credits: what it may send has its memory already. */
static void rdma_pause(struct leg *l, bool paused)
{
}

static void rdma_close(struct leg *l, enum leg_close why)
{
	rdma_leg_fail(rdma_leg_of(l), why, "%s", "");
}

static void rdma_info(const struct leg *l, struct leg_info *info)
{
	const struct rdma_leg *leg = container_of(l, const struct rdma_leg, leg);
	const struct credit_window *window = &leg->requester.window;
	struct fabric_ep_info ep;

	fabric_ep_info(leg->ep, &ep);
	*info = (struct leg_info){
		.kind = leg->fabric->ops->name,
		.state = state_name(leg->state),
		.local = ep.local,
		.peer = ep.peer,
		.calls_in_flight_in = leg->responder.grant.in_flight,
		.calls_in_flight_out = window->in_flight,
		.credits_granted = credit_grant_value(&leg->responder.grant),
		.calls_held = leg->requester.nheld,
		.inline_send_bytes = leg->send_max_bytes,
		.inline_recv_bytes = leg->recv_max_bytes,
		.rpcrdma_version = RPCRDMA_VERSION_ONE,
		.bytes_received = leg->bytes_received,
		.bytes_sent = leg->bytes_sent,
	};
	if (leg->connector) {
		info->peer_profile = leg->peer->name;
		info->peer_why = leg->peer_why;
	}
	if (window->granted > window->in_flight)
		info->credits_available = window->granted - window->in_flight;
}

static void leg_destroy(struct rdma_leg *leg)
{
	requester_fini(leg);
	responder_fini(leg);
	work_pool_fini(leg);
	loop_task_cancel(leg->fabric->loop, &leg->closed_task);
	loop_timer_free(leg->fabric->loop, leg->timer);
	fabric_ep_free(leg->ep);
	free(leg);
}

static void rdma_free(struct leg *l)
{
	struct rdma_leg *leg = rdma_leg_of(l);

	assert(leg->state == RDMA_CLOSED);
	leg_destroy(leg);
}

static struct rdma_leg *leg_new(const struct rdma_leg_config *config, struct fabric *fabric,
				bool connector)
{
	struct rdma_leg *leg = calloc(1, sizeof(*leg));
	enum peer_id peer = connector ? config->peer : PEER_AUTO;
	uint32_t size = config->inline_threshold_bytes;

	if (!leg)
		return NULL;
	leg->config = *config;
	leg->leg.ops = &rdma_leg_ops;
	leg->leg.config = &leg->config.leg;
	leg->fabric = fabric;
	leg->connector = connector;
	leg->state = connector ? RDMA_CONNECTING : RDMA_INCOMING;
	leg->notes_left = RDMA_NOTES_MAX;
	rdma_leg_peer_found(leg, peer, peer == PEER_AUTO ? "not connected yet" : "as configured");
	if (leg->peer->inline_max_bytes)
		size = least(size, leg->peer->inline_max_bytes);
	if (size < RPCRDMA_INLINE_MIN)
		size = RPCRDMA_INLINE_MIN;
	size = least(size, RPCRDMA_INLINE_MAX) / 1024 * 1024;
	leg->ours = (struct rpcrdma_private_data){
		config->remote_invalidation && leg->peer->private_data, size, size};
	leg->theirs = (struct rpcrdma_private_data){false, RPCRDMA_DEFAULT_INLINE,
						    RPCRDMA_DEFAULT_INLINE};
	loop_task_init(&leg->closed_task, tell_closed, leg);
	requester_init(leg, !connector, connector ? config->credits : REQUESTER_REVERSE_CREDITS);
	responder_init(leg, connector, connector ? RESPONDER_REVERSE_CREDITS : config->credits);
	leg->timer = loop_timer_new(fabric->loop, on_timer, leg);
	if (work_pool_init(leg) || !leg->timer) {
		leg_destroy(leg);
		return NULL;
	}
	return leg;
}

int rdma_leg_connect(const struct rdma_leg_config *config, struct fabric *fabric,
		     const struct sockaddr *addr, struct leg **out)
{
	struct rdma_leg *leg = leg_new(config, fabric, true);
	struct fabric_ep_params params;
	int rc;

	if (!leg)
		return -ENOMEM;
	fill_params(leg, &params);
	rc = fabric_connect(fabric, addr, &params, &fabric_events, leg, &leg->ep);
	if (rc) {
		leg_destroy(leg);
		return rc;
	}
	arm_timer(leg);
	*out = &leg->leg;
	return 0;
}

int rdma_leg_adopt(const struct rdma_leg_config *config, struct fabric *fabric,
		   struct fabric_incoming *in, struct leg **out)
{
	struct rdma_leg *leg = leg_new(config, fabric, false);
	int rc;

	if (!leg) {
		fabric_incoming_drop(in);
		return -ENOMEM;
	}
	rc = fabric_adopt(fabric, in, &fabric_events, leg, &leg->ep);
	if (rc) {
		leg_destroy(leg);
		return rc;
	}
	arm_timer(leg);
	*out = &leg->leg;
	return 0;
}

static const struct fabric_ep_events fabric_events = {
	.requested = on_requested,
	.resolved = on_resolved,
	.established = on_established,
	.recv = rdma_leg_recv,
	.closed = on_closed,
	.note = on_note,
};

static const struct leg_ops rdma_leg_ops = {
	.accept = rdma_accept,
	.can_call = rdma_can_call,
	.call = rdma_call,
	.reply = rdma_reply,
	.pause = rdma_pause,
	.close = rdma_close,
	.info = rdma_info,
	.free = rdma_free,
};

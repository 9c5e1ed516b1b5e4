// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/bridge_forward.h"

#include "base/usdt.h"
#include "daemon/bridge/bridge_affinity.h"
#include "daemon/bridge/bridge_close.h"
#include "daemon/bridge/bridge_limits.h"
#include "daemon/bridge/bridge_open.h"
#include "daemon/bridge/bridge_route.h"
#include "daemon/bridge/call_trace.h"
#include "daemon/bridge/reply_delivery.h"

/* Returns the leg to forward to, or NULL if nothing is forwarded. */
static struct leg *other_leg(const struct bridge_side *side)
{
	return bridge_is_closing(side->bridge) ? NULL : side->other->leg;
}

/*
 * Keeps Calls in order until a server is connected. They are few, since the client leg is paused.
 */
static void wait_for_server(struct bridge *bridge)
{
	leg_pause(bridge->client.leg, true);
	bridge_client_called(bridge);
}

static void trace_call(const struct bridge_side *side, const struct exchange *x)
{
	if (bridge_has_taps(side->bridge) && rpc_msg_is_whole(&x->call))
		call_trace_message(side, x, false);
}

/* Returns whether a Call goes to the connected server; otherwise it has been handled here. */
static bool route_call(struct bridge *bridge, struct exchange *x)
{
	bool first = bridge->routing.route == ROUTE_UNDECIDED;

	if (!first && bridge_route_is_single(bridge))
		return true;
	bridge_route_choose(bridge, x);
	if (first && bridge->routing.route == ROUTE_MOUNT) {
		bridge_reroute(bridge);
		return false;
	}
	if (bridge_route_matches(bridge, x))
		return true;
	bridge_route_reject(bridge, x);
	return false;
}

/* Adds @x to the unanswered Calls, with a reference that bridge_affinity_call_done() puts. */
static void list_call(struct bridge *bridge, struct exchange *x)
{
	exchange_ref(x);
	TAILQ_INSERT_TAIL(&bridge->calls.list, x, owner_entry);
	bridge->calls.total++;
	bridge->calls.last = (struct last_call){
		.xid = x->call_info.hdr.xid,
		.prog = x->call_info.hdr.prog,
		.vers = x->call_info.hdr.vers,
		.proc = x->call_info.hdr.proc,
		.program = x->call_info.program,
		.procedure = x->call_info.procedure,
		.start_us = x->start_us,
	};
}

void bridge_forward_call(void *arg, struct exchange *x)
{
	struct bridge_side *side = arg;
	struct bridge *bridge = side->bridge;
	struct leg *target = other_leg(side);

	if (bridge_is_closing(bridge) ||
	    !(bridge->limits.had_call || bridge_limits_first_call(bridge))) {
		exchange_put(x);
		return;
	}
	/* Draining, and the other leg has closed: the Call came too late. */
	if (bridge->end.draining && !target) {
		exchange_put(x);
		bridge_close(bridge, LEG_CLOSE_SHUTDOWN, CLOSE_BY_PROXY, "");
		return;
	}
	reply_delivery_track(side, x);
	USDT6(call__in, x, bridge->id, x->call_info.hdr.xid, x->call_info.hdr.prog,
	      x->call_info.hdr.proc, x->call.len_bytes);
	trace_call(side, x);
	if (side == &bridge->client) {
		list_call(bridge, x);
		if (bridge->limits.half_closed)
			bridge_limits_half_closed_progress(bridge);
		if (!bridge->open.forwarding) {
			wait_for_server(bridge);
			return;
		}
		if (!route_call(bridge, x))
			return;
	}
	leg_call(target, x);
	if (!leg_can_call(target))
		leg_pause(side->leg, true);
}

static void learn_session(struct bridge *bridge, const struct exchange *x)
{
	/* Test the flag inline: few Calls can create a session. */
	if (x->call_info.may_create_session && x->fault == EXCHANGE_OK && x->reply.data &&
	    rpc_msg_is_whole(&x->reply))
		nfs_sessions_learn(&bridge->sessions, &x->call_info, x->reply.data,
				   x->reply.len_bytes);
}

/* Finishes a Call once its Reply is complete: an incomplete Reply may never become complete. */
static ALWAYS_INLINE void finish_call(const struct bridge_side *side, struct exchange *x)
{
	struct bridge *bridge = side->bridge;

	if (bridge_is_closing(bridge) || (x->fault == EXCHANGE_OK && !rpc_msg_is_whole(&x->reply)))
		return;
	exchange_stage_enter(x, CALL_STAGE_CLIENT, loop_now_us(bridge_loop(bridge)));
	USDT4(call__answered, x, x->call_info.hdr.xid, x->reply.len_bytes, x->fault);
	if (side != &bridge->server)
		return;
	bridge_affinity_call_done(bridge, x);
	if (bridge->limits.half_closed)
		bridge_limits_half_closed_progress(bridge);
}

/* The taps copy the Reply after the leg has chosen its form. */
static void deliver_reply(const struct bridge_side *side, struct leg *origin, struct exchange *x,
			  void (*deliver)(struct leg *leg, struct exchange *x))
{
	struct exchange *kept;

	if (!bridge_has_taps(side->bridge)) {
		deliver(origin, x);
		return;
	}
	kept = exchange_ref(x);
	deliver(origin, x);
	if (rpc_msg_is_whole(&kept->reply))
		call_trace_message(side->other, kept, true);
	exchange_put(kept);
}

void bridge_forward_reply(void *arg, struct exchange *x)
{
	const struct bridge_side *side = arg;
	struct leg *origin = other_leg(side);

	learn_session(side->bridge, x);
	finish_call(side, x);
	if (origin)
		deliver_reply(side, origin, x, leg_reply);
	else
		exchange_put(x);
}

/*
 * An early Reply may already have gone to the client; then only the server needs the rest of the
 * Call.
 */
static void forward_call_more(const struct bridge_side *side, struct leg *target,
			      struct exchange *x)
{
	/* The wait was for the client, even if the Call has already been forwarded in part. */
	if (x->stage != CALL_STAGE_CLIENT)
		exchange_stage_add(x, CALL_STAGE_RECEIVE, loop_now_us(bridge_loop(side->bridge)));
	trace_call(side, x);
	if (target)
		leg_more(target, x);
	else if (side == &side->bridge->client)
		bridge_client_called(side->bridge);
}

static void forward_reply_more(const struct bridge_side *side, struct leg *origin,
			       struct exchange *x)
{
	learn_session(side->bridge, x);
	finish_call(side, x);
	if (origin)
		deliver_reply(side, origin, x, leg_more);
}

/*
 * Returns whether the new bytes belong to the Call rather than to the Reply. The origin can be
 * unset after an early Reply was sent; then the Reply was complete, so only the Call can grow.
 */
static bool is_call_more(const struct bridge_side *side, const struct exchange *x)
{
	return x->origin == side->leg || (!x->origin && x->stage == CALL_STAGE_CLIENT);
}

void bridge_forward_more(void *arg, struct exchange *x)
{
	const struct bridge_side *side = arg;

	if (is_call_more(side, x))
		forward_call_more(side, other_leg(side), x);
	else
		forward_reply_more(side, other_leg(side), x);
}

void bridge_forward_resume(void *arg)
{
	struct leg *origin = other_leg(arg);

	if (origin)
		leg_pause(origin, false);
}

void bridge_note(void *arg, const char *text)
{
	const struct bridge_side *side = arg;

	log_note(&side->bridge->log, "%s: %s", side == &side->bridge->client ? "client" : "server",
		 text);
}

/* ---- events of the server leg ---- */

void bridge_server_call(void *arg, struct exchange *x)
{
	bridge_forward_call(&bridge_of(arg)->server, x);
}

void bridge_server_reply(void *arg, struct exchange *x)
{
	struct bridge *bridge = bridge_of(arg);

	if (upstream_reply_received(&bridge->upstream, x)) {
		bridge_server_replied(bridge);
		bridge_route_first_reply(bridge, x);
	}
	bridge_forward_reply(&bridge->server, x);
}

void bridge_server_more(void *arg, struct exchange *x)
{
	bridge_forward_more(&bridge_of(arg)->server, x);
}

void bridge_server_call_ready(void *arg)
{
	bridge_forward_resume(&bridge_of(arg)->server);
}

void bridge_server_note(void *arg, const char *text)
{
	bridge_note(&bridge_of(arg)->server, text);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/passing.h"

#include "base/probes.h"
#include "daemon/bridge/call_tell.h"
#include "daemon/bridge/closing.h"
#include "daemon/bridge/opening.h"
#include "daemon/bridge/returning.h"
#include "daemon/bridge/routing.h"
#include "daemon/bridge/standing.h"
#include "daemon/bridge/taking.h"

/* Returns the leg to forward to, or NULL if nothing is forwarded. */
static struct leg *other_leg(const struct bridge_side *side)
{
	return bridge_is_decided(side->bridge) ? NULL : side->other->leg;
}

/* Keeps Calls in order until a server is connected. They are few, since the client leg is paused. */
static void wait_for_server(struct bridge *bridge)
{
	leg_pause(bridge->client.leg, true);
	bridge_client_called(bridge);
}

static void call_here(const struct bridge_side *side, const struct exchange *x)
{
	if (bridge_is_tapped(side->bridge) && rpc_msg_is_whole(&x->call))
		call_tell_message(side, x, false);
}

/* Returns whether a Call goes to the connected server; otherwise it has been handled here. */
static bool goes_on(struct bridge *bridge, struct exchange *x)
{
	bool first = bridge->routing.route == ROUTE_OPEN;

	if (!first && routing_is_plain(bridge))
		return true;
	routing_begin(bridge, x);
	if (first && bridge->routing.route == ROUTE_MOUNT) {
		bridge_reroute(bridge);
		return false;
	}
	if (routing_takes(bridge, x))
		return true;
	routing_refuse(bridge, x);
	return false;
}

/* Adds @x to the unanswered Calls, with a reference that bridge_call_ends() puts. */
static void call_begins(struct bridge *bridge, struct exchange *x)
{
	exchange_ref(x);
	TAILQ_INSERT_TAIL(&bridge->calls.list, x, owner_entry);
	bridge->calls.total++;
	bridge->calls.last = (struct last_call){
		.xid = x->facts.hdr.xid,
		.prog = x->facts.hdr.prog,
		.vers = x->facts.hdr.vers,
		.proc = x->facts.hdr.proc,
		.program = x->facts.program,
		.procedure = x->facts.procedure,
		.start_us = x->start_us,
	};
}

void bridge_call(void *arg, struct exchange *x)
{
	struct bridge_side *side = arg;
	struct bridge *bridge = side->bridge;
	struct leg *target = other_leg(side);

	if (bridge_is_decided(bridge) || !(bridge->limits.carried || standing_carry(bridge))) {
		exchange_put(x);
		return;
	}
	/* Draining, and the other leg has closed: the Call came too late. */
	if (bridge->end.drains && !target) {
		exchange_put(x);
		bridge_close(bridge, LEG_CLOSE_SHUTDOWN, CLOSE_BY_PROXY, "");
		return;
	}
	taking_watch(side, x);
	PROBE6(call__in, x, bridge->id, x->facts.hdr.xid, x->facts.hdr.prog, x->facts.hdr.proc,
	       x->call.len_bytes);
	call_here(side, x);
	if (side == &bridge->client) {
		call_begins(bridge, x);
		if (bridge->limits.half_closed)
			standing_half_closed_goes_on(bridge);
		if (!bridge->open.passing) {
			wait_for_server(bridge);
			return;
		}
		if (!goes_on(bridge, x))
			return;
	}
	leg_call(target, x);
	if (!leg_can_call(target))
		leg_pause(side->leg, true);
}

static void learn(struct bridge *bridge, const struct exchange *x)
{
	/* Test the flag inline: few Calls can create a session. */
	if (x->facts.may_create_session && x->fault == EXCHANGE_OK && x->reply.data &&
	    rpc_msg_is_whole(&x->reply))
		nfs_sessions_learn(&bridge->sessions, &x->facts, x->reply.data, x->reply.len_bytes);
}

/* Finishes a Call once its Reply is complete: an incomplete Reply may never become complete. */
static ALWAYS_INLINE void end_call(const struct bridge_side *side, struct exchange *x)
{
	struct bridge *bridge = side->bridge;

	if (bridge_is_decided(bridge) || (x->fault == EXCHANGE_OK && !rpc_msg_is_whole(&x->reply)))
		return;
	exchange_enter(x, CALL_STAGE_CLIENT, loop_now_us(bridge_loop(bridge)));
	PROBE4(call__answered, x, x->facts.hdr.xid, x->reply.len_bytes, x->fault);
	if (side != &bridge->server)
		return;
	bridge_call_ends(bridge, x);
	if (bridge->limits.half_closed)
		standing_half_closed_goes_on(bridge);
}

/* The taps copy the Reply after the leg has chosen its form. */
static void hand_reply(const struct bridge_side *side, struct leg *origin, struct exchange *x,
		       void (*hand)(struct leg *leg, struct exchange *x))
{
	struct exchange *kept;

	if (!bridge_is_tapped(side->bridge)) {
		hand(origin, x);
		return;
	}
	kept = exchange_ref(x);
	hand(origin, x);
	if (rpc_msg_is_whole(&kept->reply))
		call_tell_message(side->other, kept, true);
	exchange_put(kept);
}

void bridge_reply(void *arg, struct exchange *x)
{
	const struct bridge_side *side = arg;
	struct leg *origin = other_leg(side);

	learn(side->bridge, x);
	end_call(side, x);
	if (origin)
		hand_reply(side, origin, x, leg_reply);
	else
		exchange_put(x);
}

/* An early Reply may already have gone to the client; then only the server needs the rest of the Call. */
static void call_grown(const struct bridge_side *side, struct leg *target, struct exchange *x)
{
	/* The wait was for the client, even if the Call has already been forwarded in part. */
	if (x->stage != CALL_STAGE_CLIENT)
		exchange_spend(x, CALL_STAGE_RECEIVE, loop_now_us(bridge_loop(side->bridge)));
	call_here(side, x);
	if (target)
		leg_more(target, x);
	else if (side == &side->bridge->client)
		bridge_client_called(side->bridge);
}

static void reply_grown(const struct bridge_side *side, struct leg *origin, struct exchange *x)
{
	learn(side->bridge, x);
	end_call(side, x);
	if (origin)
		hand_reply(side, origin, x, leg_more);
}

/*
 * Returns whether the new bytes belong to the Call rather than to the Reply. The origin can be unset after an early
 * Reply was sent; then the Reply was complete, so only the Call can grow.
 */
static bool is_call_that_grows(const struct bridge_side *side, const struct exchange *x)
{
	return x->origin == side->leg || (!x->origin && x->stage == CALL_STAGE_CLIENT);
}

void bridge_more(void *arg, struct exchange *x)
{
	const struct bridge_side *side = arg;

	if (is_call_that_grows(side, x))
		call_grown(side, other_leg(side), x);
	else
		reply_grown(side, other_leg(side), x);
}

void bridge_call_ready(void *arg)
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
	bridge_call(&bridge_of(arg)->server, x);
}

void bridge_server_reply(void *arg, struct exchange *x)
{
	struct bridge *bridge = bridge_of(arg);

	if (upstream_heard(&bridge->upstream, x))
		bridge_server_answered(bridge);
	bridge_reply(&bridge->server, x);
}

void bridge_server_more(void *arg, struct exchange *x)
{
	bridge_more(&bridge_of(arg)->server, x);
}

void bridge_server_call_ready(void *arg)
{
	bridge_call_ready(&bridge_of(arg)->server);
}

void bridge_server_note(void *arg, const char *text)
{
	bridge_note(&bridge_of(arg)->server, text);
}

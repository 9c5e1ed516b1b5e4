// SPDX-License-Identifier: BSD-3-Clause
/* What passes through a bridge: Calls, Replies, and what holds them up. */
#include "daemon/bridge/passing.h"

/* The leg that an exchange is handed on to; NULL if it goes no further. */
static struct leg *other_leg(const struct side *side)
{
	return bridge_is_decided(side->bridge) ? NULL : side->other->leg;
}

void bridge_call(void *arg, struct exchange *x)
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

void bridge_reply(void *arg, struct exchange *x)
{
	const struct side *side = arg;
	struct leg *origin = other_leg(side);

	learn(side->bridge, x);
	if (origin)
		leg_reply(origin, x);
	else
		exchange_put(x);
}

void bridge_more(void *arg, struct exchange *x)
{
	const struct side *side = arg;
	struct leg *other = other_leg(side);

	learn(side->bridge, x);
	if (other)
		leg_more(other, x);
}

void bridge_call_ready(void *arg)
{
	struct leg *origin = other_leg(arg);

	if (origin)
		leg_pause(origin, false);
}

void bridge_note(void *arg, const char *text)
{
	const struct side *side = arg;

	log_note(&side->bridge->log, "%s: %s", side == &side->bridge->client ? "client" : "server",
		 text);
}

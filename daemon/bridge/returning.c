// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/returning.h"

#include "daemon/bridge/call_watch.h"
#include "rpc/msg.h"

struct client_pin bridge_pin(const struct bridge *bridge)
{
	return bridge->upstream.from.pin;
}

/* A connection that may be TCP or iWARP counts as TCP here; bridge_settle() corrects it. */
bool bridge_enters_privileged(const struct bridge *bridge, const struct incoming *in)
{
	return incoming_is_privileged(in) || (in->fabric && bridge->open.trusted);
}

static void on_hear_end(void *arg)
{
	struct bridge *bridge = arg;

	if (!bridge_is_decided(bridge) && bridge->client.leg)
		leg_hear_end(bridge->client.leg);
}

int bridge_enter(struct bridge *bridge, const struct incoming *in, void (*superseded)(void *arg),
		 void (*resumed)(void *arg))
{
	const struct worker_ground *ground = bridge->ws->ground;
	const struct client_owner owner = {
		.loop = ground->loop,
		.post = ground->post,
		.superseded = superseded,
		.resumed = resumed,
		.arg = bridge,
		.hear_end = on_hear_end,
	};
	const struct client_ends ends = {
		.local = in->local,
		.peer = in->peer,
		.fabric = in->fabric ? in->fabric->ops : NULL,
		.keeps_port = bridge_keeps_port(bridge),
		.privileged = bridge_enters_privileged(bridge, in),
		.asks = config_asks_mount(bridge->ws->service->config),
	};

	return clients_enter(bridge->ws->service->clients, &ends, &owner, &bridge->affinity.client);
}

/*
 * MOUNT needs no duplicate detection, so a MOUNT connection retains no source port. It gives back the retained port that
 * it may have used before its first Call turned out to be MOUNT.
 */
static struct client_pin pin_to_leave(const struct bridge *bridge)
{
	return bridge->routing.route == ROUTE_MOUNT ? bridge->affinity.first_pin
						    : bridge_pin(bridge);
}

void bridge_leave(struct bridge *bridge)
{
	const struct client_pin pin = pin_to_leave(bridge);

	if (!bridge->affinity.client)
		return;
	clients_leave(bridge->affinity.client, &pin, loop_now_us(bridge_loop(bridge)));
	bridge->affinity.client = NULL;
}

/* A repeated NULL does no harm, and the first NULL of many clients can be identical. */
static bool is_worth_a_mark(const struct exchange *x)
{
	return x->facts.hdr.proc != 0 && call_mark_may(x);
}

void bridge_call_ends(struct bridge *bridge, struct exchange *x)
{
	TAILQ_REMOVE(&bridge->calls.list, x, owner_entry);
	if (bridge->calls.late)
		call_watch_over(bridge, x, true);
	if (is_worth_a_mark(x)) {
		struct call_mark *mark =
			&bridge->calls.answered[bridge->calls.nanswered++ % CLIENTS_ANSWERED_MAX];

		*mark = call_mark_of_answered(x);
	}
	exchange_put(x);
}

/* Stores fingerprints of at most CLIENTS_UNANSWERED_MAX unanswered Calls, oldest first. Returns how many. */
static size_t mark_unanswered(const struct bridge *bridge, struct call_mark *marks)
{
	const struct exchange *x;
	size_t n = 0;

	TAILQ_FOREACH(x, &bridge->calls.list, owner_entry)
		if (n < CLIENTS_UNANSWERED_MAX && is_worth_a_mark(x))
			marks[n++] = call_mark_of(x);
	return n;
}

void bridge_calls_half_closed(struct bridge *bridge)
{
	struct call_mark marks[CLIENTS_UNANSWERED_MAX];

	clients_half_closed(bridge->affinity.client, marks, mark_unanswered(bridge, marks));
}

void bridge_calls_stay(struct bridge *bridge)
{
	struct call_mark marks[CLIENTS_MARKS_MAX];
	size_t n = mark_unanswered(bridge, marks);
	struct exchange *x;

	for (unsigned i = 0; i < bridge->calls.nanswered && i < CLIENTS_ANSWERED_MAX; i++)
		marks[n++] = bridge->calls.answered[i];
	clients_ending(bridge->affinity.client, marks, n);
	while ((x = TAILQ_FIRST(&bridge->calls.list))) {
		TAILQ_REMOVE(&bridge->calls.list, x, owner_entry);
		if (bridge->calls.late)
			call_watch_over(bridge, x, false);
		/* Before a server was connected no leg owns the Call: put the reference of the delivery, too. */
		if (!bridge->open.passing)
			exchange_put(x);
		exchange_put(x);
	}
}

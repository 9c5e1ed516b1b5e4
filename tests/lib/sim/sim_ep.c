// SPDX-License-Identifier: BSD-3-Clause
/* Connections of the sim fabric: connect, adopt, accept, reject, close. */
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "tests/lib/sim/sim_priv.h"

#define SIM_FIRST_PORT 32768u

/*
 * Tells one thing that is still due before closed(); false if there is none. Without a seed Sends
 * and Writes are flushed first, then Reads, and keys are unbound last; with one each order comes
 * that fabric.h allows.
 */
static bool tell_one(struct sim_ep *ep)
{
	unsigned first = ep->net->faults.seed ? sim_random(ep->net) % 3 : 0;

	for (unsigned i = 0; i < 3; i++) {
		switch ((first + i) % 3) {
		case 0:
			if (sim_flush_one(&ep->sends))
				return true;
			break;
		case 1:
			if (sim_flush_one(&ep->reads))
				return true;
			break;
		case 2:
			if (sim_key_bury(ep))
				return true;
			break;
		}
	}
	return false;
}

/* The last event of an endpoint; with a seed, time may pass between the parts of it. */
static void die(struct sim_ep *ep, void *arg)
{
	while (tell_one(ep)) {
		if (ep->net->faults.seed && sim_random(ep->net) % 4 == 0) {
			sim_schedule(ep, ep, SIM_INBOUND, die, NULL);
			return;
		}
	}
	sim_state_set(ep, SIM_CLOSED);
	if (ep->peer)
		ep->peer->peer = NULL;
	ep->peer = NULL;
	ep->telling = true;
	if (ep->rejection_bytes && ep->why == FABRIC_CLOSE_REFUSED && ep->ep.events->rejected)
		ep->ep.events->rejected(ep->ep.arg, ep->rejection, ep->rejection_bytes);
	if (ep->why == FABRIC_CLOSE_LOST)
		ep->ep.close_errno = ECONNRESET;
	ep->ep.events->closed(ep->ep.arg, ep->why, "simulated");
	ep->telling = false;
}

static struct sim_ep *ep_new(struct fabric *fabric, const struct fabric_ep_events *events,
			     void *arg, enum sim_state state)
{
	struct sim_ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return NULL;
	ep->ep = (struct fabric_ep){
		.ops = fabric->ops, .fabric = fabric, .events = events, .arg = arg};
	ep->net = container_of(fabric, struct sim_fabric, fabric)->net;
	ep->state = state; /* its first */
	ep->die = die;
	posted_recvs_init(&ep->recvs);
	TAILQ_INIT(&ep->sends);
	TAILQ_INIT(&ep->reads);
	TAILQ_INIT(&ep->keys);
	TAILQ_INSERT_TAIL(&ep->net->eps, ep, entry);
	return ep;
}

static unsigned count_receives(const struct sim_ep *ep)
{
	unsigned count = 0;

	for (unsigned i = 0; i < ep->recvs.count; i++)
		count += posted_recv_run_at(&ep->recvs, i)->count;
	return count;
}

/*
 * The simulation has memory. It accepts no more runs than a real fabric, and no more Receives than
 * announced.
 */
static void post_receives(struct sim_ep *ep, unsigned count, uint32_t size_bytes)
{
	int err = posted_recvs_add(&ep->recvs, count, size_bytes);

	assert(!err);
	assert(!ep->params.recv_max || count_receives(ep) <= ep->params.recv_max);
}

/* It stands at the same place in both families. */
static in_port_t *port_of(struct sockaddr_storage *addr)
{
	return &((struct sockaddr_in *)addr)->sin_port;
}

static bool port_is_taken(struct sim_ep *ep)
{
	struct sim_ep *other;

	TAILQ_FOREACH(other, &ep->net->eps, entry)
		if (other != ep && other->connects && !sim_ep_gone(other) &&
		    *port_of(&other->local) == *port_of(&ep->local))
			return true;
	return false;
}

/* The one that was asked for, or the next that is free. Returns 0 or -EADDRINUSE. */
static int take_port(struct sim_ep *ep)
{
	in_port_t *port = port_of(&ep->local);

	if (*port && port_is_taken(ep))
		return -EADDRINUSE;
	while (!*port || port_is_taken(ep)) {
		if (ep->net->next_port < SIM_FIRST_PORT)
			ep->net->next_port = SIM_FIRST_PORT;
		*port = htons(ep->net->next_port++);
	}
	return 0;
}

static void refuse_port(struct sim_ep *ep, void *arg)
{
	sim_kill(ep, FABRIC_CLOSE_PORT);
}

static void ask(struct sim_ep *ep, void *arg)
{
	struct sim_listener *listener;
	struct sim_incoming *in;

	if (ep->net->silent)
		return;
	TAILQ_FOREACH(listener, &ep->net->listeners, entry)
		if (!memcmp(&listener->addr, &ep->remote, sizeof(struct sockaddr)) &&
		    !listener->paused)
			break;
	if (!listener) {
		sim_kill(ep, FABRIC_CLOSE_REFUSED);
		return;
	}
	if (ep->ep.events->resolved)
		ep->ep.events->resolved(ep->ep.arg, &ep->params);
	in = calloc(1, sizeof(*in));
	assert(in);
	in->in.ops = listener->listener.ops;
	in->in.peer = ep->local;
	in->in.local = ep->remote;
	in->from = ep;
	ep->incoming = in;
	listener->incoming(listener->arg, &in->in);
}

int sim_connect(struct fabric *fabric, const struct sockaddr *addr,
		const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		void *arg, struct fabric_ep **out)
{
	struct sim_ep *ep = ep_new(fabric, events, arg, SIM_CONNECTING);
	int taken;

	if (!ep)
		return -ENOMEM;
	ep->params = *params;
	post_receives(ep, params->recv_count, params->recv_size_bytes);
	memcpy(&ep->remote, addr, sizeof(*addr));
	ep->local = params->source;
	if (ep->local.ss_family == AF_UNSPEC)
		ep->local.ss_family = addr->sa_family;
	ep->connects = true;
	taken = take_port(ep);
	if (taken && !ep->net->faults.late_ports) {
		posted_recvs_fini(&ep->recvs);
		TAILQ_REMOVE(&ep->net->eps, ep, entry);
		free(ep);
		return taken;
	}
	sim_schedule(ep, ep, SIM_INBOUND, taken ? refuse_port : ask, NULL);
	*out = &ep->ep;
	return 0;
}

/*
 * Gives an endpoint the private data of its peer, behind those of a library if the faults say so.
 */
static void give_private_data(struct sim_ep *ep,
			      void (*event)(void *arg, const uint8_t *data, size_t len_bytes))
{
	const struct fabric_ep_params *theirs = &ep->peer->params;
	size_t before = ep->net->faults.private_data_behind;
	uint8_t data[2 * FABRIC_MAX_PRIVATE_DATA];

	assert(before <= FABRIC_MAX_PRIVATE_DATA);
	memset(data, 'l', before);
	memcpy(data + before, theirs->private_data, theirs->private_data_bytes);
	event(ep->ep.arg, data, before + theirs->private_data_bytes);
}

static void tell_requested(struct sim_ep *ep, void *arg)
{
	if (ep->net->silent)
		return;
	sim_state_set(ep, SIM_REQUESTED);
	give_private_data(ep, ep->ep.events->requested);
}

static void give_rejection(struct sim_ep *ep, const void *private_data, size_t len_bytes)
{
	if (!len_bytes || sim_ep_gone(ep))
		return;
	memcpy(ep->rejection, private_data, len_bytes);
	ep->rejection_bytes = len_bytes;
}

void sim_incoming_drop(struct fabric_incoming *fin, const void *private_data, size_t len_bytes)
{
	struct sim_incoming *in = container_of(fin, struct sim_incoming, in);

	if (in->from) {
		in->from->incoming = NULL;
		give_rejection(in->from, private_data, len_bytes);
		sim_kill(in->from, FABRIC_CLOSE_REFUSED);
	}
	free(in);
}

int sim_adopt(struct fabric *fabric, struct fabric_incoming *fin,
	      const struct fabric_ep_events *events, void *arg, struct fabric_ep **out)
{
	struct sim_incoming *in = container_of(fin, struct sim_incoming, in);
	struct sim_ep *ep = ep_new(fabric, events, arg, SIM_INCOMING);

	if (!ep) {
		sim_incoming_drop(fin, NULL, 0);
		return -ENOMEM;
	}
	ep->local = fin->local;
	ep->remote = fin->peer;
	if (in->from) {
		ep->peer = in->from;
		in->from->peer = ep;
		in->from->incoming = NULL;
		sim_schedule(ep, ep, SIM_INBOUND, tell_requested, NULL);
	} else {
		sim_kill(ep, FABRIC_CLOSE_LOST);
	}
	free(in);
	*out = &ep->ep;
	return 0;
}

static void tell_established(struct sim_ep *ep, void *arg)
{
	bool connecting = ep->state == SIM_CONNECTING;

	if (ep->net->silent)
		return;
	sim_state_set(ep, SIM_OPEN);
	if (connecting)
		give_private_data(ep, ep->ep.events->established);
	else
		ep->ep.events->established(ep->ep.arg, NULL, 0);
}

static void negotiate_depths(struct sim_ep *ep)
{
	unsigned max = ep->net->faults.max_ord;

	ep->ird = min_u32(ep->params.ird, ep->peer->params.ord);
	ep->ord = min_u32(ep->params.ord, ep->peer->params.ird);
	if (max)
		ep->ord = min_u32(ep->ord, max);
}

int sim_accept(struct fabric_ep *fep, const struct fabric_ep_params *params)
{
	struct sim_ep *ep = sim_ep_of(fep);

	if (sim_ep_gone(ep))
		return -ENOTCONN;
	assert(ep->state == SIM_REQUESTED);
	sim_state_set(ep, SIM_ACCEPTED);
	ep->params = *params;
	post_receives(ep, params->recv_count, params->recv_size_bytes);
	negotiate_depths(ep);
	negotiate_depths(ep->peer);
	sim_schedule(ep, ep, SIM_INBOUND, tell_established, NULL);
	sim_schedule(ep->peer, ep->peer, SIM_INBOUND, tell_established, NULL);
	return 0;
}

void sim_reject(struct fabric_ep *fep, const void *private_data, size_t len_bytes)
{
	struct sim_ep *ep = sim_ep_of(fep);

	assert(ep->state == SIM_REQUESTED || sim_ep_gone(ep));
	if (ep->peer && !sim_ep_gone(ep))
		give_rejection(ep->peer, private_data, len_bytes);
	sim_break(ep, FABRIC_CLOSE_LOCAL, FABRIC_CLOSE_REFUSED);
}

static void end(struct sim_ep *ep, void *arg)
{
	sim_break(ep, FABRIC_CLOSE_LOCAL, FABRIC_CLOSE_PEER);
}

void sim_close(struct fabric_ep *fep)
{
	struct sim_ep *ep = sim_ep_of(fep);

	switch (ep->state) {
	case SIM_OPEN:
		/* Behind all that was posted. */
		sim_state_set(ep, SIM_CLOSING);
		sim_schedule(ep, ep->peer ? ep->peer : ep, SIM_INBOUND, end, NULL);
		break;
	case SIM_CLOSING:
	case SIM_DYING:
	case SIM_CLOSED:
		break;
	default:
		sim_break(ep, FABRIC_CLOSE_LOCAL, FABRIC_CLOSE_REFUSED);
	}
}

void sim_abort(struct fabric_ep *fep)
{
	struct sim_ep *ep = sim_ep_of(fep);
	bool up = ep->state == SIM_OPEN || ep->state == SIM_CLOSING;

	sim_break(ep, FABRIC_CLOSE_LOCAL, up ? FABRIC_CLOSE_LOST : FABRIC_CLOSE_REFUSED);
}

void sim_ep_free(struct fabric_ep *fep)
{
	struct sim_ep *ep = sim_ep_of(fep);

	assert(ep->state == SIM_CLOSED && !ep->telling && TAILQ_EMPTY(&ep->keys));
	TAILQ_REMOVE(&ep->net->eps, ep, entry);
	posted_recvs_fini(&ep->recvs);
	free(ep);
}

static enum fabric_keepalive watch_of(const struct sim_faults *faults)
{
	if (faults->watches_itself)
		return FABRIC_KEEPALIVE_BUILTIN;
	return faults->no_probe ? FABRIC_KEEPALIVE_NONE : FABRIC_KEEPALIVE_PROBE;
}

void sim_ep_info(const struct fabric_ep *fep, struct fabric_ep_info *info)
{
	const struct sim_ep *ep = container_of(fep, const struct sim_ep, ep);
	const struct sim_faults *faults = &ep->net->faults;

	*info = (struct fabric_ep_info){
		.fabric = fep->ops->name,
		.local = ep->local,
		.peer = ep->remote,
		.ird = ep->ird,
		.ord = ep->ord,
		.sends_invalidate = !faults->no_send_inv,
		.deferred_reads = !faults->no_late_reads,
		.watch = watch_of(faults),
		.per_rpc_keys = !faults->shared_keys,
		.max_key_bytes = faults->max_key_bytes ? faults->max_key_bytes : UINT32_MAX,
		.max_sge = faults->max_sge,
		.max_transfer_bytes = faults->max_transfer_bytes,
	};
}

void sim_recv_post(struct fabric_ep *ep, unsigned count, uint32_t size_bytes)
{
	post_receives(sim_ep_of(ep), count, size_bytes);
}

unsigned sim_recv_resize(struct fabric_ep *fep, uint32_t size_bytes)
{
	struct sim_ep *ep = sim_ep_of(fep);

	if (ep->state != SIM_OPEN || ep->net->faults.fixed_recvs)
		return FABRIC_RECV_KEPT;
	posted_recvs_resize(&ep->recvs, 0, size_bytes);
	return 0;
}

static void probe_lost(struct sim_ep *ep, void *arg)
{
	sim_kill(ep, FABRIC_CLOSE_SILENT);
}

static void probe_arrive(struct sim_ep *ep, void *arg)
{
	if (ep->net->silent || ep->vanished || !ep->peer || ep->peer->vanished)
		sim_schedule_after(ep, ep, SIM_PROBES, SIM_PROBE_TIMEOUT_US, probe_lost, NULL);
	else
		ep->probing = false;
}

int sim_probe(struct fabric_ep *fep)
{
	struct sim_ep *ep = sim_ep_of(fep);

	if (ep->state != SIM_OPEN)
		return -ENOTCONN;
	if (ep->net->faults.no_probe)
		return -EOPNOTSUPP;
	if (ep->probing)
		return 0;
	ep->probing = true;
	ep->net->stats.probes++;
	sim_schedule(ep, ep, SIM_PROBES, probe_arrive, NULL);
	return 0;
}

void sim_ep_vanish(struct fabric_ep *ep)
{
	sim_ep_of(ep)->vanished = true;
}

void sim_ep_stop_taking(struct fabric_ep *ep)
{
	sim_ep_of(ep)->takes_nothing = true;
}

void sim_ep_stop_taking_sends(struct fabric_ep *ep)
{
	sim_ep_of(ep)->takes_no_sends = true;
}

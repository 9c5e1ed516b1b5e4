// SPDX-License-Identifier: BSD-3-Clause
/* The sim fabric's connections: listen, connect, adopt, accept, reject, close. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/sim/sim_priv.h"

static int sim_listen(void *config, struct loop *loop, const struct sockaddr *addr, int backlog,
		      void (*incoming)(void *arg, struct fabric_incoming *in), void *arg,
		      struct fabric_listener **out)
{
	struct sim_net *net = config;
	struct sim_listener *listener = calloc(1, sizeof(*listener));

	if (!listener)
		return -ENOMEM;
	listener->listener.ops = &sim_fabric_ops;
	listener->net = net;
	listener->incoming = incoming;
	listener->arg = arg;
	memcpy(&listener->addr, addr, sizeof(*addr));
	TAILQ_INSERT_TAIL(&net->listeners, listener, entry);
	*out = &listener->listener;
	return 0;
}

static void sim_listener_pause(struct fabric_listener *listener, bool paused)
{
	container_of(listener, struct sim_listener, listener)->paused = paused;
}

static void sim_listener_addr(const struct fabric_listener *listener, struct sockaddr_storage *addr)
{
	*addr = container_of(listener, const struct sim_listener, listener)->addr;
}

static void sim_listener_free(struct fabric_listener *fl)
{
	struct sim_listener *listener = container_of(fl, struct sim_listener, listener);

	TAILQ_REMOVE(&listener->net->listeners, listener, entry);
	free(listener);
}

static struct sim_ep *ep_new(struct fabric *fabric, const struct fabric_ep_events *events,
			     void *arg, enum sim_state state)
{
	struct sim_ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return NULL;
	ep->ep = (struct fabric_ep){&sim_fabric_ops, fabric, events, arg};
	ep->net = container_of(fabric, struct sim_fabric, fabric)->net;
	ep->state = state;
	TAILQ_INIT(&ep->sends);
	TAILQ_INIT(&ep->reads);
	TAILQ_INIT(&ep->keys);
	TAILQ_INSERT_TAIL(&ep->net->eps, ep, entry);
	return ep;
}

/* The last event of an endpoint. */
void sim_ep_bury(struct sim_ep *ep, void *arg)
{
	sim_flush(ep);
	sim_keys_bury(ep);
	ep->state = SIM_CLOSED;
	if (ep->peer)
		ep->peer->peer = NULL;
	ep->peer = NULL;
	ep->ep.events->closed(ep->ep.arg, ep->why, "simulated");
}

static void kill_ep(struct sim_ep *ep, enum fabric_close why)
{
	if (ep->state == SIM_DYING || ep->state == SIM_CLOSED)
		return;
	ep->state = SIM_DYING;
	ep->why = why;
	if (ep->incoming)
		ep->incoming->from = NULL;
	ep->incoming = NULL;
	sim_cancel(ep);
	sim_schedule(ep, ep, SIM_INBOUND, sim_ep_bury, NULL);
}

/* The connection is over: both ends hear of it, each for its own reason. */
void sim_break(struct sim_ep *ep, enum fabric_close why, enum fabric_close peer_why)
{
	kill_ep(ep, why);
	if (ep->peer)
		kill_ep(ep->peer, peer_why);
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
		kill_ep(ep, FABRIC_CLOSE_REFUSED);
		return;
	}
	if (ep->ep.events->resolved)
		ep->ep.events->resolved(ep->ep.arg, &ep->params);
	in = calloc(1, sizeof(*in));
	assert(in);
	in->in.ops = &sim_fabric_ops;
	in->in.peer = ep->local;
	in->in.local = ep->remote;
	in->from = ep;
	ep->incoming = in;
	listener->incoming(listener->arg, &in->in);
}

static int sim_connect(struct fabric *fabric, const struct sockaddr *addr,
		       const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		       void *arg, struct fabric_ep **out)
{
	struct sim_ep *ep = ep_new(fabric, events, arg, SIM_CONNECTING);

	if (!ep)
		return -ENOMEM;
	ep->params = *params;
	ep->recvs_posted = params->recv_count;
	memcpy(&ep->remote, addr, sizeof(*addr));
	ep->local.ss_family = addr->sa_family;
	sim_schedule(ep, ep, SIM_INBOUND, ask, NULL);
	*out = &ep->ep;
	return 0;
}

static void tell_requested(struct sim_ep *ep, void *arg)
{
	const struct fabric_ep_params *theirs = &ep->peer->params;

	if (ep->net->silent)
		return;
	ep->state = SIM_REQUESTED;
	ep->ep.events->requested(ep->ep.arg, theirs->private_data, theirs->private_data_bytes);
}

static void sim_incoming_drop(struct fabric_incoming *fin)
{
	struct sim_incoming *in = container_of(fin, struct sim_incoming, in);

	if (in->from) {
		in->from->incoming = NULL;
		kill_ep(in->from, FABRIC_CLOSE_REFUSED);
	}
	free(in);
}

static int sim_adopt(struct fabric *fabric, struct fabric_incoming *fin,
		     const struct fabric_ep_events *events, void *arg, struct fabric_ep **out)
{
	struct sim_incoming *in = container_of(fin, struct sim_incoming, in);
	struct sim_ep *ep = ep_new(fabric, events, arg, SIM_INCOMING);

	if (!ep) {
		sim_incoming_drop(fin);
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
		kill_ep(ep, FABRIC_CLOSE_LOST);
	}
	free(in);
	*out = &ep->ep;
	return 0;
}

static void tell_established(struct sim_ep *ep, void *arg)
{
	const struct fabric_ep_params *theirs = &ep->peer->params;
	bool connecting = ep->state == SIM_CONNECTING;

	if (ep->net->silent)
		return;
	ep->state = SIM_OPEN;
	ep->ep.events->established(ep->ep.arg, connecting ? theirs->private_data : NULL,
				   connecting ? theirs->private_data_bytes : 0);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static void negotiate_ord(struct sim_ep *ep)
{
	unsigned max = ep->net->faults.max_ord;

	ep->ord = least(ep->params.ord, ep->peer->params.ird);
	if (max)
		ep->ord = least(ep->ord, max);
}

static int sim_accept(struct fabric_ep *fep, const struct fabric_ep_params *params)
{
	struct sim_ep *ep = sim_ep_of(fep);

	if (ep->state == SIM_DYING || ep->state == SIM_CLOSED)
		return -ENOTCONN;
	assert(ep->state == SIM_REQUESTED);
	ep->state = SIM_ACCEPTED;
	ep->params = *params;
	ep->recvs_posted = params->recv_count;
	negotiate_ord(ep);
	negotiate_ord(ep->peer);
	sim_schedule(ep, ep, SIM_INBOUND, tell_established, NULL);
	sim_schedule(ep->peer, ep->peer, SIM_INBOUND, tell_established, NULL);
	return 0;
}

static void sim_reject(struct fabric_ep *fep)
{
	struct sim_ep *ep = sim_ep_of(fep);

	assert(ep->state == SIM_REQUESTED || ep->state == SIM_DYING || ep->state == SIM_CLOSED);
	sim_break(ep, FABRIC_CLOSE_LOCAL, FABRIC_CLOSE_REFUSED);
}

static void end(struct sim_ep *ep, void *arg)
{
	sim_break(ep, FABRIC_CLOSE_LOCAL, FABRIC_CLOSE_PEER);
}

static void sim_close(struct fabric_ep *fep)
{
	struct sim_ep *ep = sim_ep_of(fep);

	switch (ep->state) {
	case SIM_OPEN:
		/* Behind all that was posted. */
		ep->state = SIM_CLOSING;
		sim_schedule(ep, ep->peer, SIM_INBOUND, end, NULL);
		break;
	case SIM_CLOSING:
	case SIM_DYING:
	case SIM_CLOSED:
		break;
	default:
		sim_break(ep, FABRIC_CLOSE_LOCAL, FABRIC_CLOSE_REFUSED);
	}
}

static void sim_ep_free(struct fabric_ep *fep)
{
	struct sim_ep *ep = sim_ep_of(fep);

	assert(ep->state == SIM_CLOSED && TAILQ_EMPTY(&ep->keys));
	TAILQ_REMOVE(&ep->net->eps, ep, entry);
	free(ep);
}

static void sim_ep_info(const struct fabric_ep *fep, struct fabric_ep_info *info)
{
	const struct sim_ep *ep = container_of(fep, const struct sim_ep, ep);
	const struct sim_faults *faults = &ep->net->faults;

	*info = (struct fabric_ep_info){
		.fabric = sim_fabric_ops.name,
		.local = ep->local,
		.peer = ep->remote,
		.ird = ep->params.ird,
		.ord = ep->ord,
		.per_rpc_keys = !faults->shared_keys,
		.max_key_bytes = faults->max_key_bytes ? faults->max_key_bytes : UINT32_MAX,
		.max_sge = faults->max_sge,
	};
}

static void sim_recv_post(struct fabric_ep *ep, unsigned count, uint32_t size_bytes)
{
	sim_ep_of(ep)->recvs_posted += count;
}

void sim_ep_stop_taking(struct fabric_ep *ep)
{
	sim_ep_of(ep)->takes_nothing = true;
}

static void sim_free(struct fabric *fabric)
{
	free(container_of(fabric, struct sim_fabric, fabric));
}

struct fabric *sim_fabric_new(struct sim_net *net, struct pool *pool)
{
	struct sim_fabric *fabric = calloc(1, sizeof(*fabric));

	if (!fabric)
		return NULL;
	fabric->fabric.ops = &sim_fabric_ops;
	fabric->fabric.loop = net->loop;
	fabric->fabric.pool = pool;
	fabric->net = net;
	return &fabric->fabric;
}

static const struct counter_desc no_counters[] = {{NULL, NULL}};

const struct fabric_ops sim_fabric_ops = {
	.name = "sim",
	.counters_table = no_counters,
	.listen = sim_listen,
	.listener_pause = sim_listener_pause,
	.listener_addr = sim_listener_addr,
	.listener_free = sim_listener_free,
	.incoming_drop = sim_incoming_drop,
	.free = sim_free,
	.connect = sim_connect,
	.adopt = sim_adopt,
	.accept = sim_accept,
	.reject = sim_reject,
	.ep_info = sim_ep_info,
	.recv_post = sim_recv_post,
	.post = sim_post,
	.key_bind = sim_key_bind,
	.key_unbind = sim_key_unbind,
	.close = sim_close,
	.ep_free = sim_ep_free,
};

// SPDX-License-Identifier: BSD-3-Clause
/*
 * On InfiniBand and RoCE the keepalive is a zero-length Write. It completes when the peer has
 * acknowledged it, needs no key (an InfiniBand peer may not check one), and fails after the
 * device's retries if the peer does not respond.
 *
 * Over iWARP a Write completes when it has been sent (siw: to the socket), so only a Read detects a
 * dead peer. A zero-length Read needs no key either, but one of the peer's IRD slots: it is queued
 * with the other Reads. Only the acceptor sends it, and only after the peer has sent something, as
 * MPA requires. Servers, including Linux, accept no Reads, and one would end the connection. TCP
 * can retry for many minutes, hence a time limit here. The limit restarts while anything arrives
 * from the peer, because its answer can come after other data, and while work posted before the
 * keepalive is being sent: a slow peer that receives long Replies sends nothing.
 *
 * Where a Read must not be sent, a zero-length Write is: it gives TCP something to send, and TCP
 * ends the connection when that stays unacknowledged. siw's sockets leave the limit to the host
 * (net.ipv4.tcp_retries2: a quarter of an hour). On an idle connection TCP would otherwise never
 * detect it, because siw sets no keepalive.
 *
 * While the owner's Reads are outstanding they serve as the keepalive, and nothing else is posted.
 * The reason: the kernel's siw (seen on Linux 6.1) answers a zero-length Read that has to wait for
 * its sender with as many bytes as were sent before it, which ends the connection. The same can
 * still happen if a Send of the peer is in progress at that moment.
 */
#include "fabric/verbs/probe.h"

#include <errno.h>

#include "fabric/verbs/queue.h"

#define PROBE_US 15000000u /* limit for the answer to a Read over iWARP */

static void answered(struct fabric_wr *wr, enum fabric_status status)
{
	struct verbs_ep *ep = container_of(wr, struct verbs_ep, probe.wr);

	/* If it failed, the connection has failed too. */
	ep->probe.asking = ep->probe.posted = false;
	loop_timer_clear(ep->ep.fabric->loop, ep->probe.timer);
}

void verbs_probe_unanswered(struct verbs_ep *ep)
{
	if (ep->probe.asking)
		verbs_ep_counters(ep)->probes_unanswered++;
}

static void wait_for_peer(struct verbs_ep *ep)
{
	ep->probe.heard = false;
	loop_timer_set(ep->ep.fabric->loop, ep->probe.timer, PROBE_US);
}

static void time_is_up(void *arg)
{
	struct verbs_ep *ep = arg;

	if (!ep->probe.heard) {
		verbs_probe_unanswered(ep);
		verbs_ep_die(ep, FABRIC_CLOSE_SILENT, "a keepalive got no answer");
	} else if (ep->probe.posted) {
		wait_for_peer(ep);
	} else {
		ep->probe.asking = false;
	}
}

/*
 * Work posted before the keepalive leaves only as the peer makes space, so it shows that the peer
 * is alive. Work after it may only have reached our socket. If no keepalive of ours is posted, the
 * oldest of the owner's Reads takes its place.
 */
void verbs_probe_sent(struct verbs_ep *ep, uint64_t seq)
{
	const struct verbs_probe *probe = &ep->probe;
	const struct fabric_wr *read = probe->posted ? &probe->wr : TAILQ_FIRST(&ep->reads);

	if (probe->asking && (!read || seq < read->priv[0]))
		ep->probe.heard = true;
}

int verbs_probe_init(struct verbs_ep *ep)
{
	ep->probe.timer = loop_timer_new(ep->ep.fabric->loop, time_is_up, ep);
	return ep->probe.timer ? 0 : -ENOMEM;
}

void verbs_probe_fini(struct verbs_ep *ep)
{
	loop_timer_free(ep->ep.fabric->loop, ep->probe.timer);
	ep->probe.timer = NULL;
}

bool verbs_probe_tells(const struct verbs_ep *ep)
{
	return !ep->device || !ep->device->iwarp || (!ep->connector && ep->ord > 0);
}

static void post(struct verbs_ep *ep, enum fabric_wr_op op, unsigned nsge)
{
	struct verbs_probe *probe = &ep->probe;

	probe->wr = (struct fabric_wr){
		.op = op, .nsge = nsge, .sge = {{.addr = &probe->sink}}, .done = answered};
	/* Until it is sent, all other work counts as before it. */
	probe->wr.priv[0] = UINT64_MAX;
	probe->posted = true;
	verbs_queue(ep, &probe->wr);
}

/* Gives TCP data that the peer must acknowledge. */
static void make_tcp_ask(struct verbs_ep *ep)
{
	if (!ep->probe.posted)
		post(ep, FABRIC_WRITE, 0);
}

int verbs_probe(struct fabric_ep *fep)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	if (!verbs_state_up(ep->state))
		return -ENOTCONN;
	if (ep->device->iwarp && !ep->connector && !ep->probe.spoken)
		return -EOPNOTSUPP;
	if (!verbs_probe_tells(ep)) {
		make_tcp_ask(ep);
		return -EOPNOTSUPP;
	}
	if (ep->probe.asking)
		return 0;
	ep->probe.asking = true;
	verbs_ep_counters(ep)->probes++;
	if (!ep->device->iwarp) {
		post(ep, FABRIC_WRITE, 0);
		return 0;
	}
	wait_for_peer(ep);
	if (TAILQ_EMPTY(&ep->reads) && TAILQ_EMPTY(&ep->wait_reads))
		post(ep, FABRIC_READ, 1);
	return 0;
}

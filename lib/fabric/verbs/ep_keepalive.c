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
#include "fabric/verbs/ep_keepalive.h"

#include <errno.h>

#include "fabric/verbs/send_queue.h"

#define KEEPALIVE_US 15000000u /* limit for the answer to a Read over iWARP */

static void keepalive_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct verbs_ep *ep = container_of(wr, struct verbs_ep, keepalive.wr);

	/* If it failed, the connection has failed too. */
	ep->keepalive.pending = ep->keepalive.posted = false;
	loop_timer_clear(ep->ep.fabric->loop, ep->keepalive.timer);
}

void verbs_keepalive_unanswered(struct verbs_ep *ep)
{
	if (ep->keepalive.pending)
		verbs_ep_counters(ep)->probes_unanswered++;
}

static void answer_timer_set(struct verbs_ep *ep)
{
	ep->keepalive.recv_seen = false;
	loop_timer_set(ep->ep.fabric->loop, ep->keepalive.timer, KEEPALIVE_US);
}

static void answer_timeout(void *arg)
{
	struct verbs_ep *ep = arg;

	if (!ep->keepalive.recv_seen) {
		verbs_keepalive_unanswered(ep);
		verbs_ep_fail(ep, FABRIC_CLOSE_SILENT, "a keepalive got no answer");
	} else if (ep->keepalive.posted) {
		answer_timer_set(ep);
	} else {
		ep->keepalive.pending = false;
	}
}

/*
 * Work posted before the keepalive leaves only as the peer makes space, so it shows that the peer
 * is alive. Work after it may only have reached our socket. If no keepalive of ours is posted, the
 * oldest of the owner's Reads takes its place.
 */
void verbs_keepalive_sent(struct verbs_ep *ep, uint64_t seq)
{
	const struct verbs_keepalive *keepalive = &ep->keepalive;
	const struct fabric_wr *read = keepalive->posted ? &keepalive->wr : TAILQ_FIRST(&ep->reads);

	if (keepalive->pending && (!read || seq < read->priv[0]))
		ep->keepalive.recv_seen = true;
}

int verbs_keepalive_init(struct verbs_ep *ep)
{
	ep->keepalive.timer = loop_timer_new(ep->ep.fabric->loop, answer_timeout, ep);
	return ep->keepalive.timer ? 0 : -ENOMEM;
}

void verbs_keepalive_fini(struct verbs_ep *ep)
{
	loop_timer_free(ep->ep.fabric->loop, ep->keepalive.timer);
	ep->keepalive.timer = NULL;
}

bool verbs_keepalive_works(const struct verbs_ep *ep)
{
	return !ep->device || !ep->device->iwarp || (!ep->connector && ep->ord > 0);
}

static void keepalive_post(struct verbs_ep *ep, enum fabric_wr_op op, unsigned nsge)
{
	struct verbs_keepalive *keepalive = &ep->keepalive;

	keepalive->wr = (struct fabric_wr){.op = op,
					   .nsge = nsge,
					   .sge = {{.addr = &keepalive->sink}},
					   .done = keepalive_done};
	/* Until it is sent, all other work counts as before it. */
	keepalive->wr.priv[0] = UINT64_MAX;
	keepalive->posted = true;
	verbs_sq_add(ep, &keepalive->wr);
}

/* Gives TCP data that the peer must acknowledge. */
static void tcp_data_send(struct verbs_ep *ep)
{
	if (!ep->keepalive.posted)
		keepalive_post(ep, FABRIC_WRITE, 0);
}

int verbs_keepalive(struct fabric_ep *fep)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	if (!verbs_state_up(ep->state))
		return -ENOTCONN;
	if (ep->device->iwarp && !ep->connector && !ep->keepalive.recv_ever)
		return -EOPNOTSUPP;
	if (!verbs_keepalive_works(ep)) {
		tcp_data_send(ep);
		return -EOPNOTSUPP;
	}
	if (ep->keepalive.pending)
		return 0;
	ep->keepalive.pending = true;
	verbs_ep_counters(ep)->probes++;
	if (!ep->device->iwarp) {
		keepalive_post(ep, FABRIC_WRITE, 0);
		return 0;
	}
	answer_timer_set(ep);
	if (TAILQ_EMPTY(&ep->reads) && TAILQ_EMPTY(&ep->wait_reads))
		keepalive_post(ep, FABRIC_READ, 1);
	return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * On InfiniBand and RoCE a Write of no bytes asks: it completes when the peer has acknowledged it, needs no key
 * (an InfiniBand peer may not check one) and, if nobody answers, fails in the time that the device takes to retry.
 *
 * Over iWARP a Write completes when it is on its way (in siw, in the socket), so only a Read tells. A Read of no
 * bytes needs no key either, but a place among those that the peer accepts: it is queued with the other Reads. Only
 * who accepted the connection asks, and not before the other end has spoken, as MPA wants it; servers take no Reads,
 * Linux's among them, and one would end the connection.
 * TCP may retry for many minutes, hence a time limit here; it begins anew as long as anything comes from the peer,
 * since its answer may stand behind much else, and as long as what was posted before the question goes out: a slow
 * peer that takes long Replies has nothing to say.
 *
 * Where a Read may not be sent, a Write of no bytes is: TCP has something to send then, and gives up when that is not
 * acknowledged, which siw's sockets leave to the host's settings (net.ipv4.tcp_retries2: a quarter of an hour). On a
 * connection that is idle they would never ask, since siw sets no keepalive.
 *
 * While the user's Reads are out they ask as well as any, and nothing is posted beside them: the kernel's siw (seen on
 * Linux 6.1) answers a Read of no bytes that has to wait for its sender with as many bytes as were sent
 * before it, which ends the connection. What is left is that a peer's Send is under way at that very moment.
 */
#include "fabric/verbs/probe.h"

#include <errno.h>

#include "fabric/verbs/queue.h"

#define PROBE_US 15000000u /* for a Read that asks whether an iWARP peer is there */

static void answered(struct fabric_wr *wr, enum fabric_status status)
{
	struct verbs_ep *ep = container_of(wr, struct verbs_ep, probe.wr);

	/* If it failed, so did the connection. */
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
		verbs_ep_die(ep, FABRIC_CLOSE_SILENT, "a probe got no answer");
	} else if (ep->probe.posted) {
		wait_for_peer(ep);
	} else {
		ep->probe.asking = false;
	}
}

/*
 * What was sent after the question may be in a socket here; only the peer makes room for what stands before it. Where
 * none of ours is posted the user's Reads ask, of which the oldest has to be reached.
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
	/* Until it leaves all others are before it. */
	probe->wr.priv[0] = UINT64_MAX;
	probe->posted = true;
	verbs_queue(ep, &probe->wr);
}

/* Bytes that TCP must see acknowledged. */
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

// SPDX-License-Identifier: BSD-3-Clause
/*
 * A verbs endpoint's completions.
 *
 * Drain, arm, drain again: a completion between the first drain and the arming makes no event, so the
 * second drain must find it. One endpoint takes a bounded number in one go; the rest in the next turn.
 */
#include "fabric/verbs/poll.h"

#include "fabric/verbs/key.h"
#include "fabric/verbs/life.h"
#include "fabric/verbs/probe.h"
#include "fabric/verbs/queue.h"
#include "fabric/verbs/recv.h"

/* rxe hands the kernel's flag for it out unchanged, which in user space is the one for a good checksum. */
static bool invalidated(const struct verbs_ep *ep, const struct ibv_wc *wc)
{
	return (wc->wc_flags & IBV_WC_WITH_INV) ||
	       (ep->device->rxe && (wc->wc_flags & IBV_WC_IP_CSUM_OK));
}

static void recv_done(struct verbs_ep *ep, const struct ibv_wc *wc)
{
	unsigned at = (unsigned)verbs_wr_number(wc->wr_id);
	struct verbs_recv *slot = &ep->recvs[at];
	struct fabric_recv recv = {
		.data = slot->buf->mem,
		.len_bytes = wc->byte_len,
		.size_bytes = slot->size_bytes,
		.invalidated = invalidated(ep, wc),
	};

	if (recv.invalidated) {
		recv.inv_rkey = wc->invalidated_rkey;
		verbs_key_invalidated(ep, recv.inv_rkey);
	}
	/* The slot is idle again only after recv(). */
	if (ep->opened && !ep->closed_here)
		ep->ep.events->recv(ep->ep.arg, &recv);
	verbs_recv_idle(ep, at);
}

static void succeeded(struct verbs_ep *ep, const struct ibv_wc *wc)
{
	enum verbs_wr_kind kind = verbs_wr_kind(wc->wr_id);

	if (kind == VERBS_WR_SEND)
		verbs_probe_sent(ep, verbs_wr_number(wc->wr_id));
	else
		ep->probe.heard = true;
	if (kind == VERBS_WR_RECV)
		ep->probe.spoken = true;
	if (kind == VERBS_WR_RECV)
		recv_done(ep, wc);
	else
		verbs_queue_done(ep, wc->wr_id, FABRIC_OK);
}

/*
 * Unless the peer is to blame, the work request is told of no more than a flush: closed() says why, in the
 * device's words.
 */
static void failed(struct verbs_ep *ep, const struct ibv_wc *wc)
{
	const char *text = ibv_wc_status_str(wc->status);
	enum fabric_status status = FABRIC_FLUSHED;
	enum fabric_close why = FABRIC_CLOSE_LOST;

	switch (wc->status) {
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_REM_ABORT_ERR:
		status = FABRIC_ERR_REMOTE;
		why = FABRIC_CLOSE_TERMINATED;
		break;
	case IBV_WC_RNR_RETRY_EXC_ERR:
		/* No access was refused: closed() says what it was. */
		why = FABRIC_CLOSE_TERMINATED;
		break;
	case IBV_WC_RETRY_EXC_ERR:
		why = FABRIC_CLOSE_SILENT;
		verbs_probe_unanswered(ep);
		break;
	case IBV_WC_LOC_LEN_ERR:
		if (verbs_wr_kind(wc->wr_id) == VERBS_WR_RECV)
			why = FABRIC_CLOSE_PROTOCOL;
		break;
	default:
		break;
	}
	if (verbs_wr_kind(wc->wr_id) != VERBS_WR_RECV)
		verbs_queue_done(ep, wc->wr_id, status);
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		verbs_ep_flushed(ep);
	else if (wc->status == IBV_WC_RNR_RETRY_EXC_ERR)
		verbs_ep_die(ep, why, "the peer had no receive for a Send, tried %u times more",
			     ep->conn_param.rnr_retry_count);
	else
		verbs_ep_die(ep, why, "%s", text);
}

/* Takes up to @max completions; returns how many. Stops when the endpoint's life ends, unless @dying. */
static unsigned drain(struct verbs_ep *ep, unsigned max, bool dying)
{
	struct ibv_wc wcs[VERBS_POLL_BATCH];
	unsigned total = 0;

	while (total < max && (dying || verbs_state_polls(ep->state))) {
		int n = ibv_poll_cq(ep->cq, VERBS_POLL_BATCH, wcs);

		if (n <= 0)
			break;
		verbs_ep_counters(ep)->completions += (unsigned)n;
		for (int i = 0; i < n; i++) {
			if (wcs[i].status == IBV_WC_SUCCESS)
				succeeded(ep, &wcs[i]);
			else
				failed(ep, &wcs[i]);
		}
		total += (unsigned)n;
	}
	return total;
}

void verbs_poll(void *arg)
{
	struct verbs_ep *ep = arg;
	struct loop *loop = ep->ep.fabric->loop;
	uint64_t busy_us = verbs_fabric_of(ep->ep.fabric)->config.busy_poll_us;
	unsigned n;

	if (!verbs_state_polls(ep->state))
		return;
	n = drain(ep, VERBS_POLL_BUDGET, false);
	if (!verbs_state_polls(ep->state))
		return;
	if (busy_us && n)
		ep->busy_until_us = loop_now_us(loop) + busy_us;
	if (n >= VERBS_POLL_BUDGET || (busy_us && loop_now_us(loop) < ep->busy_until_us)) {
		loop_defer(loop, &ep->poll_task);
		return;
	}
	if (ep->cq_armed)
		return;
	if (ibv_req_notify_cq(ep->cq, 0)) {
		verbs_ep_die(ep, FABRIC_CLOSE_RESOURCES, "the completion queue cannot be armed");
		return;
	}
	ep->cq_armed = true;
	if (drain(ep, VERBS_POLL_BUDGET, false))
		loop_defer(loop, &ep->poll_task);
}

void verbs_poll_last(struct verbs_ep *ep)
{
	(void)drain(ep, ep->sq_depth + ep->rq_depth, true);
}

/* Returns false if there is none. */
static bool next_event(struct verbs_device *device)
{
	struct verbs_ep *ep;
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(device->channel, &cq, &context))
		return false;
	ep = context;
	device->fabric->counters.completion_events++;
	/* It is being buried: see verbs_async_forget(). */
	if (!ep) {
		ibv_ack_cq_events(cq, 1);
		return true;
	}
	ep->cq_unacked++;
	ep->cq_armed = false;
	/* An acceptor may see its peer's first Send before the event that says that it is there. */
	if (ep->state == VERBS_ACCEPTED) {
		verbs_ep_heard(ep);
		verbs_ep_established(ep, NULL, 0);
	}
	verbs_poll(ep);
	return true;
}

/*
 * What is more is left for the next turn: the descriptor stays readable. While a completion queue is destroyed no event is read,
 * which might be its own: see verbs_async_hold(). The endpoint whose it was then has this looked at again.
 */
void verbs_channel_ready(void *arg)
{
	struct verbs_device *device = arg;

	if (pthread_mutex_trylock(&device->cq_lock)) {
		verbs_watch_set(&device->channel_watch, false);
		return;
	}
	for (unsigned i = 0; i < VERBS_CQ_EVENTS && next_event(device); i++)
		;
	pthread_mutex_unlock(&device->cq_lock);
}

void verbs_channel_again(struct verbs_device *device)
{
	if (device->opened && !device->removed)
		verbs_watch_set(&device->channel_watch, true);
}

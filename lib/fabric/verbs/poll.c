// SPDX-License-Identifier: BSD-3-Clause
/*
 * Completions.
 *
 * Drain, arm, drain again: a completion between the first drain and the arming makes no event, so the
 * second drain must find it. A bounded number of a queue is taken in one go, in their order, whosever they are; the rest in the next
 * turn.
 *
 * An endpoint may be sent messages before the connection manager says that it is up. Their completions wait in the places of their
 * receives.
 */
#include "fabric/verbs/poll.h"

#include "fabric/verbs/cq.h"
#include "fabric/verbs/key.h"
#include "fabric/verbs/life.h"
#include "fabric/verbs/probe.h"
#include "fabric/verbs/queue.h"
#include "fabric/verbs/recv.h"
#include "fabric/verbs/wr_id.h"

/* rxe hands the kernel's flag for it out unchanged, which in user space is the one for a good checksum. */
static bool invalidated(const struct verbs_ep *ep, const struct ibv_wc *wc)
{
	return (wc->wc_flags & IBV_WC_WITH_INV) ||
	       (ep->device->rxe && (wc->wc_flags & IBV_WC_IP_CSUM_OK));
}

static void recv_done(struct verbs_ep *ep, const struct ibv_wc *wc)
{
	unsigned at = verbs_wr_place(wc->wr_id);
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
		verbs_probe_sent(ep, verbs_wr_seq(ep, wc->wr_id));
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

/* ---- what comes early ---- */

static bool is_early(enum verbs_ep_state state)
{
	return state == VERBS_OPENING || state == VERBS_CONNECTING || state == VERBS_ACCEPTING;
}

static void keep_early(struct verbs_ep *ep, const struct ibv_wc *wc)
{
	unsigned at = verbs_wr_place(wc->wr_id);
	struct verbs_recv *recv = &ep->recvs[at];

	recv->early_status = (uint8_t)wc->status;
	recv->early_bytes = wc->byte_len;
	recv->early_inv = wc->status == IBV_WC_SUCCESS && invalidated(ep, wc);
	recv->early_rkey = wc->invalidated_rkey;
	recv->next_idle = VERBS_NO_RECV;
	if (ep->first_early == VERBS_NO_RECV)
		ep->first_early = at;
	else
		ep->recvs[ep->last_early].next_idle = at;
	ep->last_early = at;
}

static void take(struct verbs_ep *ep, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		succeeded(ep, wc);
	else
		failed(ep, wc);
}

static void take_early(struct verbs_ep *ep)
{
	while (ep->first_early != VERBS_NO_RECV) {
		unsigned at = ep->first_early;
		const struct verbs_recv *recv = &ep->recvs[at];
		const struct ibv_wc wc = {
			.wr_id = verbs_wr_id(ep, at, VERBS_WR_RECV),
			.status = (enum ibv_wc_status)recv->early_status,
			.byte_len = recv->early_bytes,
			.wc_flags = recv->early_inv ? IBV_WC_WITH_INV : 0,
			.invalidated_rkey = recv->early_rkey,
		};

		ep->first_early = recv->next_idle;
		take(ep, &wc);
	}
}

void verbs_poll_early(void *arg)
{
	struct verbs_ep *ep = arg;

	if (verbs_state_polls(ep->state))
		take_early(ep);
}

/* ---- polling ---- */

static void completed(struct verbs_cq *cq, const struct ibv_wc *wc)
{
	struct verbs_ep *ep = verbs_cq_ep(cq, wc->wr_id);

	if (!ep)
		return;
	cq->device->fabric->counters.completions++;
	/* An acceptor may see its peer's first Send before the event that says that it is there. */
	if (ep->state == VERBS_ACCEPTED) {
		verbs_ep_heard(ep);
		verbs_ep_established(ep, NULL, 0);
	}
	if (is_early(ep->state)) {
		keep_early(ep, wc);
		return;
	}
	if (ep->first_early != VERBS_NO_RECV)
		take_early(ep);
	take(ep, wc);
}

/* Takes up to about @max completions; returns how many. It has found the queue empty if that is fewer and @whole. */
static unsigned drain(struct verbs_cq *cq, unsigned max, bool whole)
{
	struct ibv_wc wcs[VERBS_POLL_BATCH];
	unsigned total = 0;
	int n;

	do {
		n = ibv_poll_cq(cq->cq, VERBS_POLL_BATCH, wcs);
		for (int i = 0; i < n; i++)
			completed(cq, &wcs[i]);
		if (n > 0)
			total += (unsigned)n;
	} while (total < max && (n == VERBS_POLL_BATCH || (whole && n > 0)));
	/* What was consumed meanwhile is lost: mlx4, mlx5 and hns fail so when they do not know the queue pair. */
	if (n < 0)
		verbs_cq_fail(cq, FABRIC_CLOSE_LOST, "the completion queue cannot be polled");
	cq->gone += n ? total : total + cq->cqes;
	if (cq->first_leaving != VERBS_NO_SLOT)
		verbs_cq_free_left(cq);
	return total;
}

void verbs_poll(void *arg)
{
	struct verbs_cq *cq = arg;
	struct loop *loop = cq->device->fabric->fabric.loop;
	uint64_t busy_us = cq->device->fabric->config.busy_poll_us;
	unsigned n = drain(cq, VERBS_POLL_BUDGET, cq->first_leaving != VERBS_NO_SLOT);

	if (cq->failed)
		return;
	if (busy_us && n)
		cq->busy_until_us = loop_now_us(loop) + busy_us;
	if (n >= VERBS_POLL_BUDGET || (busy_us && loop_now_us(loop) < cq->busy_until_us)) {
		loop_defer(loop, &cq->poll_task);
		return;
	}
	if (cq->armed)
		return;
	if (ibv_req_notify_cq(cq->cq, 0)) {
		verbs_cq_fail(cq, FABRIC_CLOSE_RESOURCES, "the completion queue cannot be armed");
		return;
	}
	cq->armed = true;
	if (drain(cq, VERBS_POLL_BUDGET, false))
		loop_defer(loop, &cq->poll_task);
}

bool verbs_poll_last(struct verbs_ep *ep)
{
	struct verbs_cq *cq = ep->cq;

	if (!cq || !cq->cq)
		return true;
	if (!ep->cq_gone)
		ep->cq_gone = cq->gone + cq->cqes;
	if (cq->gone < ep->cq_gone)
		/* What cannot be polled is not waited for. */
		return drain(cq, VERBS_POLL_BUDGET, true) < VERBS_POLL_BUDGET;
	return true;
}

/* Returns false if there is none. */
static bool next_event(struct verbs_device *device)
{
	struct verbs_cq *cq;
	struct ibv_cq *icq;
	void *context;

	if (ibv_get_cq_event(device->channel, &icq, &context))
		return false;
	cq = context;
	device->fabric->counters.completion_events++;
	/* Its last endpoint has left: see verbs_async_forget_cq(). */
	if (!cq) {
		ibv_ack_cq_events(icq, 1);
		return true;
	}
	cq->unacked++;
	cq->armed = false;
	verbs_poll(cq);
	return true;
}

/*
 * What is more is left for the next turn: the descriptor stays readable. While a completion queue is destroyed no event is read,
 * which might be its own: see verbs_async_hold(). Who has it destroyed then has this looked at again (cq.c).
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

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The loop owns slots and entries; the device's thread creates and destroys the queue itself.
 *
 * Drain, arm, drain again: a completion between the first drain and the arming raises no event, so
 * the second drain must find it. Each call polls a bounded number of completions, in order, of all
 * endpoints; the rest follow in the next iteration.
 *
 * An endpoint can receive Sends before the connection manager reports it as up. Their completions
 * wait in the places of their receives.
 */
#include "fabric/verbs/cq.h"

#include <errno.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "fabric/verbs/async_event.h"
#include "fabric/verbs/ep_keepalive.h"
#include "fabric/verbs/key.h"
#include "fabric/verbs/recv_queue.h"
#include "fabric/verbs/send_queue.h"
#include "fabric/verbs/wr_id.h"

#define FEW_SLOTS  16u
#define POLL_BATCH 16u
#define CQ_EVENTS  16u /* of a device in one call */

static struct loop *loop_of(const struct verbs_cq *cq)
{
	return cq->device->fabric->fabric.loop;
}

static unsigned need_of(const struct verbs_ep *ep)
{
	return ep->sq_depth + ep->rq_depth;
}

bool verbs_cq_may_share(uint32_t vendor_id)
{
	static const uint32_t vendors[] = {
		VERBS_RXE_VENDOR, VERBS_SIW_VENDOR, 0x02c9, /* mlx5, mlx4 */
		0x8086,                                     /* irdma */
		0x14e4,                                     /* bnxt_re */
	};

	for (unsigned i = 0; i < ARRAY_SIZE(vendors); i++)
		if (vendors[i] == vendor_id)
			return true;
	return false;
}

/* ---- slots ---- */

static int slots_grow(struct verbs_cq *cq)
{
	unsigned n = cq->nslots ? 2 * cq->nslots : FEW_SLOTS;
	struct verbs_slot *slots;

	if (n > 1u << VERBS_SLOT_BITS)
		return -ENOSPC;
	slots = realloc(cq->slots, n * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (unsigned i = cq->nslots; i < n; i++)
		slots[i] = (struct verbs_slot){.next = i + 1 < n ? i + 1 : VERBS_NO_SLOT};
	cq->free_slot = cq->nslots;
	cq->slots = slots;
	cq->nslots = n;
	return 0;
}

static int slot_get(struct verbs_cq *cq, struct verbs_ep *ep)
{
	struct verbs_slot *slot;
	int err = cq->free_slot == VERBS_NO_SLOT ? slots_grow(cq) : 0;

	if (err)
		return err;
	ep->slot = cq->free_slot;
	slot = &cq->slots[ep->slot];
	cq->free_slot = slot->next;
	slot->ep = ep;
	slot->cqes = need_of(ep);
	cq->used += slot->cqes;
	ep->cqes = cq->used;
	ep->wr_base = verbs_wr_base(ep->slot, slot->generation);
	return 0;
}

/* Appends the slot to those of endpoints that left earlier. */
static void slot_release(struct verbs_cq *cq, unsigned at)
{
	struct verbs_slot *slot = &cq->slots[at];

	slot->ep = NULL;
	slot->polled = cq->polled + (cq->cq ? cq->cqes : 0);
	slot->next = VERBS_NO_SLOT;
	if (cq->first_leaving == VERBS_NO_SLOT)
		cq->first_leaving = at;
	else
		cq->slots[cq->last_leaving].next = at;
	cq->last_leaving = at;
}

static void slots_free_released(struct verbs_cq *cq)
{
	while (cq->first_leaving != VERBS_NO_SLOT) {
		unsigned at = cq->first_leaving;
		struct verbs_slot *slot = &cq->slots[at];

		if (slot->polled > cq->polled)
			return;
		cq->first_leaving = slot->next;
		cq->used -= slot->cqes;
		slot->generation = (slot->generation + 1) % (1u << VERBS_GENERATION_BITS);
		slot->next = cq->free_slot;
		cq->free_slot = at;
	}
}

/* ---- completions ---- */

static void cq_fail(struct verbs_cq *cq, enum fabric_close why, const char *text)
{
	cq->failed = true;
	for (unsigned i = 0; i < cq->nslots; i++)
		if (cq->slots[i].ep)
			verbs_ep_fail(cq->slots[i].ep, why, "%s", text);
}

/*
 * rxe passes the kernel's flag for an invalidation unchanged; in user space that is the flag for a
 * good checksum.
 */
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
	/* The place becomes idle only after recv(). */
	if (ep->opened && !ep->closed_here)
		ep->ep.events->recv(ep->ep.arg, &recv);
	verbs_recv_idle(ep, at);
}

static void completion_succeeded(struct verbs_ep *ep, const struct ibv_wc *wc)
{
	enum verbs_wr_kind kind = verbs_wr_kind(wc->wr_id);

	if (kind == VERBS_WR_SEND)
		verbs_keepalive_sent(ep, verbs_wr_seq(ep, wc->wr_id));
	else
		ep->keepalive.recv_seen = true;
	if (kind == VERBS_WR_RECV)
		ep->keepalive.recv_ever = true;
	if (kind == VERBS_WR_RECV)
		recv_done(ep, wc);
	else
		verbs_sq_done(ep, wc->wr_id, FABRIC_OK);
}

/*
 * Unless the peer caused the failure, the work request's status is only FABRIC_FLUSHED: closed()
 * reports the reason with the device's text.
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
		/* The peer refused no access: closed() reports the reason. */
		why = FABRIC_CLOSE_TERMINATED;
		break;
	case IBV_WC_RETRY_EXC_ERR:
		why = FABRIC_CLOSE_SILENT;
		verbs_keepalive_unanswered(ep);
		break;
	case IBV_WC_LOC_LEN_ERR:
		if (verbs_wr_kind(wc->wr_id) == VERBS_WR_RECV)
			why = FABRIC_CLOSE_PROTOCOL;
		break;
	default:
		break;
	}
	if (verbs_wr_kind(wc->wr_id) != VERBS_WR_RECV)
		verbs_sq_done(ep, wc->wr_id, status);
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		verbs_ep_flushed(ep);
	else if (wc->status == IBV_WC_RNR_RETRY_EXC_ERR)
		verbs_ep_fail(ep, why, "the peer had no receive for a Send after %u retries",
			      ep->conn_param.rnr_retry_count);
	else
		verbs_ep_fail(ep, why, "%s", text);
}

/* ---- early completions ---- */

static bool is_early(enum verbs_ep_state state)
{
	return state == VERBS_OPENING || state == VERBS_CONNECTING || state == VERBS_ACCEPTING;
}

static void early_store(struct verbs_ep *ep, const struct ibv_wc *wc)
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

static void completion_handle(struct verbs_ep *ep, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		completion_succeeded(ep, wc);
	else
		failed(ep, wc);
}

static void early_handle(struct verbs_ep *ep)
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
		completion_handle(ep, &wc);
	}
}

void verbs_poll_early(void *arg)
{
	struct verbs_ep *ep = arg;

	if (verbs_state_polls(ep->state))
		early_handle(ep);
}

/* ---- polling ---- */

/* Returns the endpoint of a completion; NULL if its queue pair is, or will be, destroyed. */
static struct verbs_ep *ep_of(const struct verbs_cq *cq, uint64_t wr_id)
{
	unsigned at = (unsigned)(wr_id >> (VERBS_NUMBER_BITS + 2)) & ((1u << VERBS_SLOT_BITS) - 1);
	unsigned generation = (unsigned)(wr_id >> (VERBS_NUMBER_BITS + 2 + VERBS_SLOT_BITS));

	return at < cq->nslots && cq->slots[at].generation == generation ? cq->slots[at].ep : NULL;
}

static void completed(struct verbs_cq *cq, const struct ibv_wc *wc)
{
	struct verbs_ep *ep = ep_of(cq, wc->wr_id);

	if (!ep)
		return;
	cq->device->fabric->counters.completions++;
	/* An acceptor can receive its peer's first Send before the ESTABLISHED event. */
	if (ep->state == VERBS_ACCEPTED) {
		verbs_ep_received(ep);
		verbs_ep_established(ep, NULL, 0);
	}
	if (is_early(ep->state)) {
		early_store(ep, wc);
		return;
	}
	if (ep->first_early != VERBS_NO_RECV)
		early_handle(ep);
	completion_handle(ep, wc);
}

/*
 * Polls about @max completions; returns how many. The queue was empty if that is fewer than @max
 * and @whole is set.
 */
static unsigned drain(struct verbs_cq *cq, unsigned max, bool whole)
{
	struct ibv_wc wcs[POLL_BATCH];
	unsigned total = 0;
	int n;

	do {
		n = ibv_poll_cq(cq->cq, POLL_BATCH, wcs);
		for (int i = 0; i < n; i++)
			completed(cq, &wcs[i]);
		if (n > 0)
			total += (unsigned)n;
	} while (total < max && (n == POLL_BATCH || (whole && n > 0)));
	/*
	 * Completions consumed meanwhile are lost: mlx4, mlx5 and hns fail like this when they do
	 * not know the queue pair.
	 */
	if (n < 0)
		cq_fail(cq, FABRIC_CLOSE_LOST, "the completion queue cannot be polled");
	cq->polled += n ? total : total + cq->cqes;
	if (cq->first_leaving != VERBS_NO_SLOT)
		slots_free_released(cq);
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
		cq_fail(cq, FABRIC_CLOSE_RESOURCES, "the completion queue cannot be armed");
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
	if (!ep->cq_polled)
		ep->cq_polled = cq->polled + cq->cqes;
	if (cq->polled < ep->cq_polled)
		/* Do not wait for a queue that cannot be polled. */
		return drain(cq, VERBS_POLL_BUDGET, true) < VERBS_POLL_BUDGET;
	return true;
}

/* Returns false if there is no event. */
static bool cq_event_next(struct verbs_device *device)
{
	struct verbs_cq *cq;
	struct ibv_cq *icq;
	void *async;

	if (ibv_get_cq_event(device->channel, &icq, &async))
		return false;
	device->fabric->counters.completion_events++;
	/* The last endpoint of the queue has left: see verbs_async_detach(). */
	if (!async) {
		ibv_ack_cq_events(icq, 1);
		return true;
	}
	cq = container_of((struct verbs_async_event *)async, struct verbs_cq, async);
	cq->unacked++;
	cq->armed = false;
	verbs_poll(cq);
	return true;
}

/*
 * Further events are left for the next iteration: the descriptor stays readable. While a completion
 * queue is destroyed no event is read, because it could be of that queue: see verbs_async_block().
 * After the destruction the descriptor is watched again.
 */
void verbs_channel_ready(void *arg)
{
	struct verbs_device *device = arg;

	if (pthread_mutex_trylock(&device->cq_lock)) {
		verbs_fd_watch_set(&device->channel_watch, false);
		return;
	}
	for (unsigned i = 0; i < CQ_EVENTS && cq_event_next(device); i++)
		;
	pthread_mutex_unlock(&device->cq_lock);
}

/* ---- destroying a queue ---- */

static void cq_destroy_run(struct verbs_command *command)
{
	struct verbs_cq *cq = container_of(command, struct verbs_cq, command);

	if (!cq->made)
		return;
	verbs_async_block(cq->device);
	pthread_mutex_lock(&cq->device->cq_lock);
	ibv_destroy_cq(cq->made);
	pthread_mutex_unlock(&cq->device->cq_lock);
	verbs_async_unblock(cq->device);
}

static void cq_destroy_done(struct verbs_command *command)
{
	struct verbs_cq *cq = container_of(command, struct verbs_cq, command);
	struct verbs_device *device = cq->device;

	/* See verbs_channel_ready(). */
	if (device->channel_watch.loop && !device->removed)
		verbs_fd_watch_set(&device->channel_watch, true);
	free(cq->slots);
	free(cq);
}

static void cq_put(struct verbs_cq *cq)
{
	if (--cq->eps)
		return;
	LIST_REMOVE(cq, entry);
	loop_task_cancel(loop_of(cq), &cq->poll_task);
	verbs_async_detach(&cq->async, cq->cq ? &cq->cq->cq_context : NULL);
	/* Later events are acknowledged immediately. */
	if (cq->cq)
		ibv_ack_cq_events(cq->cq, cq->unacked);
	verbs_command_post(&cq->device->commands, &cq->command, cq_destroy_run, cq_destroy_done);
}

/* ---- joining ---- */

static unsigned all_cqes(const struct verbs_device *device)
{
	const struct verbs_cq *cq;
	unsigned total = 0;

	LIST_FOREACH(cq, &device->cqs, entry)
		total += cq->cqes;
	return total;
}

static void cq_failed(struct verbs_async_event *async, unsigned what)
{
	cq_fail(container_of(async, struct verbs_cq, async), FABRIC_CLOSE_LOST,
		"the completion queue failed");
}

static struct verbs_cq *cq_new(struct verbs_device *device, unsigned need)
{
	struct verbs_cq *cq = calloc(1, sizeof(*cq));

	if (!cq)
		return NULL;
	cq->device = device;
	cq->own = !device->shares_cqs;
	cq->cqes = cq->own ? need
			   : min_u32(max_u32(verbs_cq_next(all_cqes(device)), need),
				     (unsigned)device->attr.max_cqe);
	cq->free_slot = cq->first_leaving = cq->last_leaving = VERBS_NO_SLOT;
	loop_task_init(&cq->poll_task, verbs_poll, cq);
	cq->async = (struct verbs_async_event){.fabric = device->fabric, .deliver = cq_failed};
	LIST_INSERT_HEAD(&device->cqs, cq, entry);
	return cq;
}

static struct verbs_cq *cq_find(const struct verbs_device *device, unsigned need)
{
	struct verbs_cq *cq;

	LIST_FOREACH(cq, &device->cqs, entry)
		if (!cq->failed && cq->cqes >= cq->used + need)
			return cq;
	return NULL;
}

int verbs_cq_join(struct verbs_ep *ep)
{
	unsigned need = need_of(ep);
	struct verbs_cq *cq = NULL;
	int err;

	/* If each endpoint has its own queue, none of the existing ones can be used. */
	if (ep->device->shares_cqs)
		cq = cq_find(ep->device, need);
	if (!cq)
		cq = cq_new(ep->device, need);
	if (!cq)
		return -ENOMEM;
	cq->eps++;
	err = slot_get(cq, ep);
	if (err)
		cq_put(cq);
	else
		ep->cq = cq;
	return err;
}

/* Spreads workers over the completion vectors of the device. */
static int vector_of(const struct verbs_device *device)
{
	int vectors = device->context->num_comp_vectors;

	return vectors > 0 ? (int)(device->fabric->config.vector % (unsigned)vectors) : 0;
}

/* Until it is created, only this thread uses `made` and `made_cqes`; `cqes` does not change. */
int verbs_cq_create(struct verbs_ep *ep)
{
	struct verbs_cq *cq = ep->cq;
	struct verbs_device *device = ep->device;
	unsigned need = need_of(ep), cqes = cq->made ? cq->made_cqes : cq->cqes;

	while (!cq->made) {
		errno = 0;
		cq->made = ibv_create_cq(device->context, (int)cqes, &cq->async, device->channel,
					 vector_of(device));
		if (!cq->made && cqes == need)
			return errno ? -errno : -ENOMEM; /* not every library says why */
		cq->made_cqes = cqes;
		cqes = max_u32(cqes / 2, need);
	}
	ep->made_cq = cq->made;
	ep->made_cqes = cq->made_cqes;
	ep->cq_short = ep->cqes > cq->made_cqes;
	return ep->cq_short ? -ENOSPC : 0;
}

void verbs_cq_created(struct verbs_ep *ep)
{
	struct verbs_cq *cq = ep->cq;

	if (cq->cq || !ep->made_cq)
		return;
	cq->cq = ep->made_cq;
	cq->cqes = ep->made_cqes;
	/* Polls completions from before the queue was armed, and arms it. */
	loop_defer(loop_of(cq), &cq->poll_task);
}

void verbs_cq_detach(struct verbs_ep *ep)
{
	if (ep->cq)
		ep->cq->slots[ep->slot].ep = NULL;
}

void verbs_cq_leave(struct verbs_ep *ep)
{
	struct verbs_cq *cq = ep->cq;

	ep->cq = NULL;
	if (!cq)
		return;
	slot_release(cq, ep->slot);
	/* Without further completions nothing else would poll the queue. */
	if (cq->cq)
		loop_defer(loop_of(cq), &cq->poll_task);
	else
		slots_free_released(cq);
	cq_put(cq);
}

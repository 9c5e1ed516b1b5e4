// SPDX-License-Identifier: BSD-3-Clause
/*
 * Work posted in a loop iteration is sent in chains at its end, after the receives posted in it.
 * Three kinds are signalled: the last of each chain, if a done() of the chain is wanted soon; every
 * sixteenth; and each Read. A completion stands for all earlier Sends, Writes and internal work.
 * Reads are counted separately: some devices complete a Send that was posted after a Read before
 * that Read. Work waits here if the send queue is full, or for Reads if the peer's IRD is used up.
 *
 * Unsignalled Sends (fabric_wr.lazy). A completion costs the device a write and the worker a poll,
 * and on a connection with one Call at a time also an event and its system calls. So a Send whose
 * done() can be late is signalled only if it is the last of verbs_ep.signal_every. The
 * completion of later work stands for it. If nothing is posted within half of FABRIC_LAZY_US, a
 * zero-length Write is, which needs no key and no receive (see ep_keepalive.c): a timer of the
 * worker checks the endpoints with such Sends.
 */
#include "fabric/verbs/send_queue.h"

#include <errno.h>
#include <string.h>

#include "fabric/verbs/pd.h"
#include "fabric/verbs/recv_queue.h"
#include "fabric/verbs/wr_id.h"

/* fabric_wr.priv: [0] the sequence number; [1] of a Read, the region of its sink. */

struct chain {
	unsigned n;
	bool awaited; /* a work request whose done() is awaited is not covered by a signalled one */
	struct ibv_send_wr wrs[VERBS_CHAIN_MAX];
	struct ibv_sge sges[VERBS_CHAIN_MAX][FABRIC_MAX_SGE];
};

int verbs_post(struct fabric_ep *fep, struct fabric_wr *wr)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	if (!verbs_state_up(ep->state))
		return -ENOTCONN;
	verbs_sq_add(ep, wr);
	return 0;
}

void verbs_sq_add(struct verbs_ep *ep, struct fabric_wr *wr)
{
	wr->priv[1] = 0;
	if (wr->op == FABRIC_READ)
		TAILQ_INSERT_TAIL(&ep->wait_reads, wr, entry);
	else
		TAILQ_INSERT_TAIL(&ep->wait_sends, wr, entry);
	loop_defer(ep->ep.fabric->loop, &ep->post_task);
}

/*
 * An iWARP device writes Read Responses under a key that the peer sees: one of exact bounds, for
 * this Read only. No region is empty, so that of a zero-length Read has one byte. siw lets the peer
 * read there, too.
 */
static int sink_register(struct verbs_ep *ep, struct fabric_wr *wr, uint32_t *lkey)
{
	const struct fabric_sge *sink = &wr->sge[0];
	uint32_t len_bytes = sink->len_bytes ? sink->len_bytes : 1;
	struct ibv_mr *mr;

	if (sink->len_bytes)
		verbs_expose(ep, sink->buf, sink->addr, sink->len_bytes);
	mr = ibv_reg_mr(ep->domain->pd, sink->addr, len_bytes,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		return -errno;
	wr->priv[1] = (uintptr_t)mr;
	*lkey = mr->lkey;
	verbs_ep_counters(ep)->sinks_registered++;
	return 0;
}

static void sink_release(struct fabric_wr *wr)
{
	if (wr->op == FABRIC_READ && wr->priv[1])
		ibv_dereg_mr((struct ibv_mr *)(uintptr_t)wr->priv[1]);
	wr->priv[1] = 0;
}

static int wr_fill_sges(struct verbs_ep *ep, struct fabric_wr *wr, struct ibv_send_wr *out,
			struct ibv_sge *sges)
{
	uint64_t len_bytes = 0;
	bool may_inline = wr->op != FABRIC_READ && wr->nsge;

	for (unsigned i = 0; i < wr->nsge; i++)
		len_bytes += wr->sge[i].len_bytes;
	if (may_inline && len_bytes <= ep->max_inline_bytes) {
		out->send_flags |= IBV_SEND_INLINE;
		verbs_ep_counters(ep)->wrs_inline++;
	}
	out->sg_list = sges;
	out->num_sge = (int)wr->nsge;
	for (unsigned i = 0; i < wr->nsge; i++) {
		sges[i].addr = (uintptr_t)wr->sge[i].addr;
		sges[i].length = wr->sge[i].len_bytes;
		sges[i].lkey = 0;
		if (out->send_flags & IBV_SEND_INLINE)
			continue;
		if (wr->op == FABRIC_READ && ep->device->iwarp) {
			int err = sink_register(ep, wr, &sges[i].lkey);

			if (err)
				return err;
		} else {
			struct ibv_mr *mr = verbs_slab_mr(ep, wr->sge[i].buf);

			if (!mr)
				return -errno;
			sges[i].lkey = mr->lkey;
		}
	}
	return 0;
}

static int wr_fill_bind(struct verbs_ep *ep, struct fabric_wr *wr, struct ibv_send_wr *out)
{
	struct verbs_key *vk = container_of(wr, struct verbs_key, bind);
	const struct fabric_key *key = vk->key;
	struct ibv_mr *mr = vk->mr ? vk->mr : verbs_slab_mr(ep, key->buf);

	if (!mr)
		return -errno;
	out->opcode = IBV_WR_BIND_MW;
	out->bind_mw.mw = vk->mw;
	out->bind_mw.rkey = vk->window_rkey;
	out->bind_mw.bind_info.mr = mr;
	out->bind_mw.bind_info.addr = key->addr;
	out->bind_mw.bind_info.length = key->len_bytes;
	out->bind_mw.bind_info.mw_access_flags =
		(key->rights & FABRIC_REMOTE_READ ? IBV_ACCESS_REMOTE_READ : 0) |
		(key->rights & FABRIC_REMOTE_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0);
	return 0;
}

static int wr_fill(struct verbs_ep *ep, struct fabric_wr *wr, struct ibv_send_wr *out,
		   struct ibv_sge *sges)
{
	memset(out, 0, sizeof(*out));
	switch (wr->op) {
	case FABRIC_SEND:
		out->opcode = IBV_WR_SEND;
		return wr_fill_sges(ep, wr, out, sges);
	case FABRIC_SEND_INV:
		out->opcode = IBV_WR_SEND_WITH_INV;
		out->invalidate_rkey = wr->inv_rkey;
		/* siw's library (rdma-core 44) reads the key here, where no other Send has one. */
		out->wr.rdma.rkey = wr->inv_rkey;
		return wr_fill_sges(ep, wr, out, sges);
	case FABRIC_WRITE:
	case FABRIC_READ:
		out->opcode = wr->op == FABRIC_READ ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
		out->wr.rdma.remote_addr = wr->raddr;
		out->wr.rdma.rkey = wr->rkey;
		return wr_fill_sges(ep, wr, out, sges);
	default:
		break;
	}
	if (wr->op == VERBS_BIND)
		return wr_fill_bind(ep, wr, out);
	out->opcode = IBV_WR_LOCAL_INV;
	out->invalidate_rkey = container_of(wr, struct verbs_key, inv)->window_rkey;
	return 0;
}

/* Moves the next work request that fits to the posted ones and returns it, or NULL. */
static struct fabric_wr *next(struct verbs_ep *ep)
{
	struct fabric_wr *wr;

	if (ep->sq_used == ep->sq_depth) {
		if (!TAILQ_EMPTY(&ep->wait_sends) || !TAILQ_EMPTY(&ep->wait_reads))
			verbs_ep_counters(ep)->sends_waited++;
		return NULL;
	}
	wr = TAILQ_FIRST(&ep->wait_sends);
	if (wr) {
		TAILQ_REMOVE(&ep->wait_sends, wr, entry);
		TAILQ_INSERT_TAIL(&ep->sends, wr, entry);
	} else if ((wr = TAILQ_FIRST(&ep->wait_reads))) {
		if (ep->reads_out >= ep->ord) {
			verbs_ep_counters(ep)->reads_waited++;
			return NULL;
		}
		ep->reads_out++;
		TAILQ_REMOVE(&ep->wait_reads, wr, entry);
		TAILQ_INSERT_TAIL(&ep->reads, wr, entry);
	} else {
		return NULL;
	}
	ep->sq_used++;
	wr->priv[0] = ep->next_seq++;
	return wr;
}

/* Undoes next(): puts the work request back to the head of its queue. */
static void wr_put_back(struct verbs_ep *ep, struct fabric_wr *wr)
{
	if (wr->op == FABRIC_READ) {
		ep->reads_out--;
		TAILQ_REMOVE(&ep->reads, wr, entry);
		TAILQ_INSERT_HEAD(&ep->wait_reads, wr, entry);
	} else {
		TAILQ_REMOVE(&ep->sends, wr, entry);
		TAILQ_INSERT_HEAD(&ep->wait_sends, wr, entry);
	}
	ep->sq_used--;
	ep->next_seq--;
}

static void chain_signalled(struct verbs_ep *ep, struct chain *chain)
{
	ep->unsignalled = 0;
	ep->was_lazy = false;
	chain->awaited = false;
}

/*
 * Returns true if a work request must be signalled, for itself or because the last signalled one is
 * too far back.
 */
static bool wr_is_signalled(struct verbs_ep *ep, struct chain *chain, const struct fabric_wr *wr)
{
	if (wr->op == FABRIC_READ)
		return true;
	chain->awaited |= !wr->lazy || !verbs_state_up(ep->state);
	if (++ep->unsignalled < ep->signal_every && !ep->device->signals_all)
		return false;
	chain_signalled(ep, chain);
	return true;
}

static void lazy_timer_set(struct verbs_fabric *fabric)
{
	if (!fabric->lazy.timer_set)
		loop_timer_set(fabric->fabric.loop, fabric->lazy.timer, FABRIC_LAZY_US / 2);
	fabric->lazy.timer_set = true;
}

static void lazy_add(struct verbs_ep *ep)
{
	struct verbs_fabric *fabric = verbs_fabric_of(ep->ep.fabric);

	ep->is_lazy = true;
	ep->was_lazy = false;
	TAILQ_INSERT_TAIL(&fabric->lazy.eps, ep, lazy_entry);
	lazy_timer_set(fabric);
}

/* A Read's completion does not cover the Sends before it, so the last of those is signalled. */
static void chain_signal_last(struct verbs_ep *ep, struct chain *chain)
{
	for (unsigned i = chain->n; chain->awaited && i-- > 0;) {
		if (chain->wrs[i].opcode == IBV_WR_RDMA_READ)
			continue;
		chain->wrs[i].send_flags |= IBV_SEND_SIGNALED;
		chain_signalled(ep, chain);
	}
	if (ep->unsignalled && !ep->is_lazy)
		lazy_add(ep);
}

/*
 * A completion means that the device no longer needs the memory of its work request and of all
 * earlier ones on the send queue. siw guarantees that only if each is signalled (Linux 6.1 to 6.12,
 * siw_qp_tx.c): it passes an unsignalled work request longer than a page to TCP as pages, without a
 * copy, and the next completion can come while TCP has yet to send or retransmit them.
 *
 * The chain ends before a work request whose slab is being registered.
 */
static int chain_fill(struct verbs_ep *ep, struct chain *chain)
{
	struct fabric_wr *wr;

	chain->n = 0;
	chain->awaited = false;
	while (chain->n < VERBS_CHAIN_MAX && (wr = next(ep))) {
		struct ibv_send_wr *out = &chain->wrs[chain->n];
		bool is_read = wr->op == FABRIC_READ;
		int err = wr_fill(ep, wr, out, chain->sges[chain->n]);

		if (err == -EINPROGRESS) {
			wr_put_back(ep, wr);
			break;
		}
		if (err)
			return err;
		out->wr_id = verbs_wr_id(ep, wr->priv[0], is_read ? VERBS_WR_READ : VERBS_WR_SEND);
		if (wr_is_signalled(ep, chain, wr))
			out->send_flags |= IBV_SEND_SIGNALED;
		if (chain->n)
			chain->wrs[chain->n - 1].next = out;
		chain->n++;
	}
	chain_signal_last(ep, chain);
	return 0;
}

void verbs_sq_run(struct verbs_ep *ep)
{
	struct chain chain;
	struct ibv_send_wr *bad;
	int err;

	if (!verbs_state_sends(ep->state))
		return;
	if (!verbs_recvs_post_due(ep))
		return;
	for (;;) {
		err = chain_fill(ep, &chain);
		if (err) {
			verbs_ep_fail(ep, FABRIC_CLOSE_RESOURCES,
				      "memory cannot be registered (%s): is LimitMEMLOCK set?",
				      strerror(-err));
			return;
		}
		if (!chain.n)
			return;
		verbs_ep_counters(ep)->wrs_posted += chain.n;
		verbs_ep_counters(ep)->chains_posted++;
		err = verbs_errno(ibv_post_send(ep->qp, chain.wrs, &bad));
		if (err) {
			verbs_ep_fail(ep, FABRIC_CLOSE_LOST, "ibv_post_send: %s", strerror(-err));
			return;
		}
	}
}

/* Removes the work request from its list before done() runs, so that done() can post it again. */
static void wr_finish(struct verbs_ep *ep, struct fabric_wr_list *list, struct fabric_wr *wr,
		      enum fabric_status status)
{
	TAILQ_REMOVE(list, wr, entry);
	sink_release(wr);
	wr->done(wr, status);
}

void verbs_sq_done(struct verbs_ep *ep, uint64_t wr_id, enum fabric_status status)
{
	bool is_read = verbs_wr_kind(wr_id) == VERBS_WR_READ;
	struct fabric_wr_list *list = is_read ? &ep->reads : &ep->sends;
	uint64_t seq = verbs_wr_seq(ep, wr_id);
	struct fabric_wr *wr;

	while ((wr = TAILQ_FIRST(list)) && wr->priv[0] <= seq) {
		bool last = wr->priv[0] == seq;

		ep->sq_used--;
		if (is_read)
			ep->reads_out--;
		wr_finish(ep, list, wr, last ? status : FABRIC_OK);
		if (last)
			break;
	}
	if (!TAILQ_EMPTY(&ep->wait_sends) || !TAILQ_EMPTY(&ep->wait_reads))
		loop_defer(ep->ep.fabric->loop, &ep->post_task);
	verbs_ep_drained(ep);
}

/* Fails all Reads if the peer accepts none; those that done() posts fail next iteration. */
static void reads_fail(struct verbs_ep *ep)
{
	struct fabric_wr_list vain = TAILQ_HEAD_INITIALIZER(vain);
	struct fabric_wr *wr;

	if (ep->ord == 0)
		TAILQ_CONCAT(&vain, &ep->wait_reads, entry);
	while ((wr = TAILQ_FIRST(&vain)))
		wr_finish(ep, &vain, wr, FABRIC_ERR_LOCAL);
}

void verbs_sq_task(void *arg)
{
	struct verbs_ep *ep = arg;

	if (verbs_state_polls(ep->state))
		reads_fail(ep);
	verbs_sq_run(ep);
}

void verbs_sq_flush(struct verbs_ep *ep)
{
	struct fabric_wr_list *lists[] = {&ep->sends, &ep->wait_sends, &ep->reads, &ep->wait_reads};
	struct fabric_wr *wr;

	for (unsigned i = 0; i < ARRAY_SIZE(lists); i++)
		while ((wr = TAILQ_FIRST(lists[i])))
			wr_finish(ep, lists[i], wr, FABRIC_FLUSHED);
	ep->sq_used = ep->reads_out = ep->unsignalled = 0;
}

/* ---- unsignalled Sends ---- */

static void lazy_tick(void *arg)
{
	struct verbs_fabric *fabric = arg;
	struct verbs_lazy *lazy = &fabric->lazy;
	struct verbs_ep *ep, *next;

	lazy->timer_set = false;
	for (ep = TAILQ_FIRST(&lazy->eps); ep; ep = next) {
		next = TAILQ_NEXT(ep, lazy_entry);
		if (ep->unsignalled && ep->was_lazy)
			verbs_lazy_flush(ep);
		if (!ep->unsignalled || ep->was_lazy)
			verbs_lazy_remove(ep);
		ep->was_lazy = true;
	}
	if (!TAILQ_EMPTY(&lazy->eps))
		lazy_timer_set(fabric);
}

int verbs_lazy_init(struct verbs_fabric *fabric)
{
	TAILQ_INIT(&fabric->lazy.eps);
	fabric->lazy.timer = loop_timer_new(fabric->fabric.loop, lazy_tick, fabric);
	return fabric->lazy.timer ? 0 : -ENOMEM;
}

void verbs_lazy_fini(struct verbs_fabric *fabric)
{
	loop_timer_free(fabric->fabric.loop, fabric->lazy.timer);
}

/*
 * More may have been posted after it. If the timer ran meanwhile and no longer checks this
 * endpoint, nothing else would flush that.
 */
static void lazy_flushed(struct fabric_wr *wr, enum fabric_status status)
{
	struct verbs_ep *ep = container_of(wr, struct verbs_ep, flush);

	ep->flushing = false;
	if (ep->state == VERBS_DRAINING || !ep->is_lazy)
		verbs_lazy_flush(ep);
}

void verbs_lazy_flush(struct verbs_ep *ep)
{
	if (ep->flushing || !ep->unsignalled || !verbs_state_sends(ep->state))
		return;
	ep->flushing = true;
	ep->flush = (struct fabric_wr){.op = FABRIC_WRITE, .done = lazy_flushed};
	verbs_sq_add(ep, &ep->flush);
}

void verbs_lazy_remove(struct verbs_ep *ep)
{
	if (ep->is_lazy)
		TAILQ_REMOVE(&verbs_fabric_of(ep->ep.fabric)->lazy.eps, ep, lazy_entry);
	ep->is_lazy = false;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * A verbs endpoint's receives.
 *
 * They are posted in the order in which they are asked for, whatever their sizes; those that the queue has no
 * place for wait. The device takes them in that order, too, and ends a connection whose Send is too long.
 */
#include "fabric/verbs/recv.h"

#include <errno.h>
#include <stdlib.h>

#include "fabric/verbs/domain.h"
#include "fabric/verbs/life.h"

#define NO_RECV UINT32_MAX

int verbs_recvs_init(struct verbs_ep *ep, unsigned depth)
{
	ep->recvs = calloc(depth, sizeof(*ep->recvs));
	if (!ep->recvs)
		return -ENOMEM;
	ep->rq_depth = depth;
	for (unsigned i = 0; i < depth; i++)
		ep->recvs[i].next_idle = i + 1 < depth ? i + 1 : NO_RECV;
	ep->idle_recv = 0;
	return 0;
}

void verbs_recvs_fini(struct verbs_ep *ep)
{
	for (unsigned i = 0; ep->recvs && i < ep->rq_depth; i++)
		buf_put(ep->recvs[i].buf);
	free(ep->recvs);
	ep->recvs = NULL;
}

/* The place that was used last is the next to be used again, so its buffer is mostly right already. */
static int prepare(struct verbs_ep *ep, struct verbs_recv *recv, uint32_t size_bytes)
{
	struct ibv_mr *mr;

	if (recv->buf && recv->size_bytes == size_bytes)
		return 0;
	buf_put(recv->buf);
	recv->buf = buf_get(ep->ep.fabric->pool, size_bytes);
	if (!recv->buf)
		return -ENOMEM;
	mr = verbs_slab_mr(ep->domain, recv->buf);
	if (!mr) {
		buf_put(recv->buf);
		recv->buf = NULL;
		return -ENOMEM;
	}
	recv->size_bytes = size_bytes;
	recv->lkey = mr->lkey;
	return 0;
}

/* Posts up to a chain of receives; returns how many, or a negative errno. */
static int post_chain(struct verbs_ep *ep)
{
	struct ibv_recv_wr wrs[VERBS_CHAIN_MAX], *bad;
	struct ibv_sge sges[VERBS_CHAIN_MAX];
	uint32_t size_bytes;
	unsigned n = 0;

	while (n < VERBS_CHAIN_MAX && ep->idle_recv != NO_RECV &&
	       recv_runs_first(&ep->recvs_due, &size_bytes)) {
		unsigned at = ep->idle_recv;
		struct verbs_recv *recv = &ep->recvs[at];
		int err = prepare(ep, recv, size_bytes);

		if (err)
			return err;
		ep->idle_recv = recv->next_idle;
		recv_runs_take(&ep->recvs_due);
		sges[n] = (struct ibv_sge){(uintptr_t)recv->buf->mem, size_bytes, recv->lkey};
		wrs[n] = (struct ibv_recv_wr){
			.wr_id = verbs_wr_id(at, VERBS_WR_RECV),
			.sg_list = &sges[n],
			.num_sge = 1,
		};
		if (n)
			wrs[n - 1].next = &wrs[n];
		n++;
	}
	if (n && ibv_post_recv(ep->qp, wrs, &bad))
		return -EIO;
	return (int)n;
}

int verbs_recvs_fill(struct verbs_ep *ep)
{
	int n;

	do {
		n = post_chain(ep);
	} while (n > 0);
	return n;
}

/* Before there is a queue pair they are only remembered. */
static void fill_or_die(struct verbs_ep *ep)
{
	if (verbs_state_over(ep->state) || !ep->qp)
		return;
	if (verbs_recvs_fill(ep) < 0)
		verbs_ep_die(ep, FABRIC_CLOSE_RESOURCES, "a receive cannot be posted");
}

int verbs_recvs_first(struct verbs_ep *ep)
{
	struct recv_runs early = ep->recvs_due;
	uint32_t size_bytes;
	int err;

	recv_runs_init(&ep->recvs_due);
	err = recv_runs_add(&ep->recvs_due, ep->params.recv_count, ep->params.recv_size_bytes);
	for (; !err && recv_runs_first(&early, &size_bytes); recv_runs_take(&early))
		err = recv_runs_add(&ep->recvs_due, 1, size_bytes);
	recv_runs_fini(&early);
	return err;
}

void verbs_recv_idle(struct verbs_ep *ep, unsigned at)
{
	ep->recvs[at].next_idle = ep->idle_recv;
	ep->idle_recv = at;
	fill_or_die(ep);
}

void verbs_recv_post(struct fabric_ep *fep, unsigned count, uint32_t size_bytes)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	if (verbs_state_over(ep->state))
		return;
	if (recv_runs_add(&ep->recvs_due, count, size_bytes)) {
		verbs_ep_die(ep, FABRIC_CLOSE_RESOURCES, "no memory for a receive");
		return;
	}
	fill_or_die(ep);
}

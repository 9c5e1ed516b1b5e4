// SPDX-License-Identifier: BSD-3-Clause
/* A verbs endpoint's queues: their sizes, once and for all, and its receives. */
#include <errno.h>
#include <stdlib.h>

#include "fabric/verbs/verbs_priv.h"

#define NO_RECV UINT32_MAX

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static int open_qp(struct verbs_ep *ep)
{
	const struct ibv_device_attr *attr = &ep->device->attr;
	struct ibv_qp_init_attr init = {
		.qp_context = ep,
		.send_cq = ep->cq,
		.recv_cq = ep->cq,
		.qp_type = IBV_QPT_RC,
		.cap =
			{
				.max_send_wr = ep->sq_depth,
				.max_recv_wr = ep->rq_depth,
				.max_send_sge = least(FABRIC_MAX_SGE, (unsigned)attr->max_sge),
				.max_recv_sge = 1,
				.max_inline_data = VERBS_INLINE_BYTES,
			},
	};

	if (rdma_create_qp(ep->id, ep->domain->pd, &init)) {
		/* Some devices refuse what they cannot inline instead of giving less. */
		init.cap.max_inline_data = 0;
		if (rdma_create_qp(ep->id, ep->domain->pd, &init))
			return -errno;
	}
	ep->max_sge = least(init.cap.max_send_sge, FABRIC_MAX_SGE);
	ep->max_inline_bytes = least(init.cap.max_inline_data, VERBS_INLINE_BYTES);
	return 0;
}

/* The completion queue holds a completion of every work request that both queues can hold. */
static int open_queues(struct verbs_ep *ep)
{
	const struct ibv_device_attr *attr = &ep->device->attr;
	unsigned max_wr = (unsigned)attr->max_qp_wr;
	unsigned recvs =
		ep->params.recv_max ? ep->params.recv_max : ep->params.recv_count + VERBS_RQ_SPARE;
	int err;

	ep->sq_depth = least(VERBS_SQ_DEPTH, max_wr);
	ep->rq_depth = least(recvs, max_wr);
	if (ep->rq_depth < ep->params.recv_count ||
	    ep->sq_depth + ep->rq_depth > (unsigned)attr->max_cqe)
		return -ENOSPC;
	ep->recvs = calloc(ep->rq_depth, sizeof(*ep->recvs));
	if (!ep->recvs)
		return -ENOMEM;
	for (unsigned i = 0; i < ep->rq_depth; i++)
		ep->recvs[i].next_idle = i + 1 < ep->rq_depth ? i + 1 : NO_RECV;
	ep->cq = ibv_create_cq(ep->device->context, (int)(ep->sq_depth + ep->rq_depth), ep,
			       ep->device->channel, 0);
	if (!ep->cq)
		return -errno;
	err = open_qp(ep);
	if (err)
		return err;
	/* The first event must come, whatever completes first. */
	ep->cq_armed = !ibv_req_notify_cq(ep->cq, 0);
	return ep->cq_armed ? 0 : -EIO;
}

static int recv_prepare(struct verbs_ep *ep, struct verbs_recv *recv)
{
	struct ibv_mr *mr;

	if (recv->buf)
		return 0;
	recv->buf = buf_get(ep->ep.fabric->pool, ep->params.recv_size_bytes);
	if (!recv->buf)
		return -ENOMEM;
	mr = verbs_slab_mr(ep->domain, recv->buf);
	if (!mr) {
		buf_put(recv->buf);
		recv->buf = NULL;
		return -ENOMEM;
	}
	recv->lkey = mr->lkey;
	return 0;
}

/* Posts up to a chain of receives; returns how many, or a negative errno. */
static int recv_post_chain(struct verbs_ep *ep)
{
	struct ibv_recv_wr wrs[VERBS_CHAIN_MAX], *bad;
	struct ibv_sge sges[VERBS_CHAIN_MAX];
	unsigned n = 0;

	while (n < VERBS_CHAIN_MAX && ep->recvs_owed && ep->idle_recv != NO_RECV) {
		unsigned at = ep->idle_recv;
		struct verbs_recv *recv = &ep->recvs[at];
		int err = recv_prepare(ep, recv);

		if (err)
			return err;
		ep->idle_recv = recv->next_idle;
		sges[n] = (struct ibv_sge){(uintptr_t)recv->buf->mem, ep->params.recv_size_bytes,
					   recv->lkey};
		wrs[n] = (struct ibv_recv_wr){
			.wr_id = verbs_wr_id(at, VERBS_WR_RECV),
			.sg_list = &sges[n],
			.num_sge = 1,
		};
		if (n)
			wrs[n - 1].next = &wrs[n];
		n++;
		ep->rq_used++;
		ep->recvs_owed--;
	}
	if (n && ibv_post_recv(ep->id->qp, wrs, &bad))
		return -EIO;
	return (int)n;
}

static int recv_fill(struct verbs_ep *ep)
{
	int n;

	do {
		n = recv_post_chain(ep);
	} while (n > 0);
	return n;
}

void verbs_recv_fill(struct verbs_ep *ep)
{
	if (ep->state == VERBS_DYING || ep->state == VERBS_CLOSED || !ep->id->qp)
		return;
	if (recv_fill(ep) < 0)
		verbs_ep_die(ep, FABRIC_CLOSE_RESOURCES, "a receive cannot be posted");
}

void verbs_recv_post(struct fabric_ep *fep, unsigned count, uint32_t size_bytes)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	if (ep->state == VERBS_DYING || ep->state == VERBS_CLOSED)
		return;
	ep->recvs_owed += count;
	verbs_recv_fill(ep);
}

int verbs_qp_open(struct verbs_ep *ep)
{
	int err = open_queues(ep);

	if (err)
		return err;
	ep->recvs_owed = ep->params.recv_count;
	err = recv_fill(ep);
	return err < 0 ? err : 0;
}

void verbs_qp_destroy(struct verbs_ep *ep)
{
	if (ep->id->qp)
		rdma_destroy_qp(ep->id);
}

void verbs_qp_close(struct verbs_ep *ep)
{
	verbs_qp_destroy(ep);
	if (ep->cq) {
		ibv_ack_cq_events(ep->cq, ep->cq_unacked);
		ibv_destroy_cq(ep->cq);
		ep->cq = NULL;
	}
	for (unsigned i = 0; ep->recvs && i < ep->rq_depth; i++)
		buf_put(ep->recvs[i].buf);
	free(ep->recvs);
	ep->recvs = NULL;
}

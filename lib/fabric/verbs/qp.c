// SPDX-License-Identifier: BSD-3-Clause
/* A verbs endpoint's queues: their sizes, once and for all. */
#include "fabric/verbs/qp.h"

#include <errno.h>

#include "fabric/verbs/recv.h"

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
	recvs = least(recvs, max_wr);
	if (recvs < ep->params.recv_count || ep->sq_depth + recvs > (unsigned)attr->max_cqe)
		return -ENOSPC;
	err = verbs_recvs_init(ep, recvs);
	if (err)
		return err;
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

/* The longest message of the port: 8 MiB on rxe, where a longer Read or Write fails. */
static void learn_port(struct verbs_ep *ep)
{
	struct ibv_port_attr attr;

	if (!ibv_query_port(ep->device->context, ep->id->port_num, &attr))
		ep->max_transfer_bytes = attr.max_msg_sz;
}

int verbs_qp_open(struct verbs_ep *ep)
{
	int err = open_queues(ep);

	learn_port(ep);
	return err ? err : verbs_recvs_fill(ep);
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
	verbs_recvs_fini(ep);
}

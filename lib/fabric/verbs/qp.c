// SPDX-License-Identifier: BSD-3-Clause
/*
 * A verbs endpoint's queues: their sizes, once and for all, and the queue pair's states.
 *
 * Over iWARP the connection manager leads the queue pair through its states. On InfiniBand and RoCE librdmacm would,
 * too, but it would take from the peer how often a Send of ours is tried again that finds no receive: there its
 * id does not know of the queue pair, and the states are set here.
 */
#include "fabric/verbs/qp.h"

#include <errno.h>

#include "base/least.h"
#include "fabric/verbs/recv.h"

/* To a state whose attributes the connection manager knows, but for what is ours to say; its mask says what counts. */
static int set_state(struct verbs_ep *ep, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	if (rdma_init_qp_attr(ep->id, &attr, &mask))
		return -errno;
	/* The manager knows what a connector may use: the acceptor has said so. */
	if (!ep->connector) {
		attr.max_dest_rd_atomic = (uint8_t)ep->ird;
		attr.max_rd_atomic = (uint8_t)ep->ord;
	}
	attr.rnr_retry = ep->conn_param.rnr_retry_count;
	return -ibv_modify_qp(ep->qp, &attr, mask);
}

static int create_qp(struct verbs_ep *ep, struct ibv_qp_init_attr *init)
{
	if (ep->device->iwarp) {
		if (rdma_create_qp(ep->id, ep->domain->pd, init))
			return -errno;
		ep->qp = ep->id->qp;
		return 0;
	}
	ep->qp = ibv_create_qp(ep->domain->pd, init);
	/* Receives may be posted from the first state on. */
	return ep->qp ? set_state(ep, IBV_QPS_INIT) : -errno;
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
	int err;

	err = create_qp(ep, &init);
	if (err && !ep->qp) {
		/* Some devices refuse what they cannot inline instead of giving less. */
		init.cap.max_inline_data = 0;
		err = create_qp(ep, &init);
	}
	if (err)
		return err;
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
	errno = 0;
	ep->cq = ibv_create_cq(ep->device->context, (int)(ep->sq_depth + ep->rq_depth), ep,
			       ep->device->channel, 0);
	/* Not every library says why. */
	if (!ep->cq)
		return errno ? -errno : -ENOMEM;
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

/* It was made before an address of the peer's was known, so the first state is set again. */
int verbs_qp_ready(struct verbs_ep *ep)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};
	int err = 0;

	for (unsigned i = 0; !err && !ep->device->iwarp && i < ARRAY_SIZE(states); i++)
		err = set_state(ep, states[i]);
	return err;
}

void verbs_qp_destroy(struct verbs_ep *ep)
{
	if (ep->id->qp)
		rdma_destroy_qp(ep->id);
	else if (ep->qp)
		ibv_destroy_qp(ep->qp);
	ep->qp = NULL;
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

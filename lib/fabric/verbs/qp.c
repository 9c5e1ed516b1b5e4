// SPDX-License-Identifier: BSD-3-Clause
/*
 * The sizes of the queues are fixed when they are created.
 *
 * Over iWARP the connection manager moves the queue pair through its states. On InfiniBand and RoCE
 * librdmacm could do so too, but would take from the peer how often our Sends that find no receive
 * are retried. So there its id does not have the queue pair, and this file sets the states.
 *
 * The same holds for enhanced connection establishment (ECE): what the devices of both ends do
 * beyond the standard. The connection manager's messages carry a vendor and a word of options of
 * each end, which librdmacm negotiates only for a queue pair that it creates itself. A device
 * without ECE has vendor 0; a library without it returns EOPNOTSUPP, and both ends follow the
 * standard then.
 */
#include "fabric/verbs/qp.h"

#include <errno.h>

#include "base/minmax.h"
#include "fabric/verbs/async_event.h"
#include "fabric/verbs/cq.h"
#include "fabric/verbs/pd.h"
#include "fabric/verbs/recv_queue.h"

#define RQ_SPARE      32u  /* receives beyond recv_count if recv_max is not known */
#define SIGNAL_EVERY  16u  /* work requests, not counting Reads: see send_queue.c */
#define INLINE_MAX    256u /* limit of inline data: with more, the copy costs more than it saves */
#define MIN_RNR_TIMER 12u  /* 0.64 ms; the connection manager's value 0 means 655 ms */

/*
 * Bits of the mask that the kernel's connection manager also sets on InfiniBand, where they are
 * meaningless; librdmacm clears them too.
 */
#define ROCE_MASK_BITS 0xe00000

/* Sets a state with the connection manager's attributes and mask, and our own values. */
static int set_state(struct verbs_ep *ep, enum ibv_qp_state state)
{
	unsigned tos = verbs_fabric_of(ep->ep.fabric)->config.tos;
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	if (rdma_init_qp_attr(ep->id, &attr, &mask))
		return -errno;
	if (ep->port.link_layer == IBV_LINK_LAYER_INFINIBAND && state == IBV_QPS_RTR)
		mask &= ~ROCE_MASK_BITS;
	/* For a connector the manager's values are those that the acceptor sent. */
	if (!ep->connector) {
		attr.max_dest_rd_atomic = (uint8_t)ep->ird;
		attr.max_rd_atomic = (uint8_t)ep->ord;
	}
	attr.rnr_retry = ep->conn_param.rnr_retry_count;
	attr.min_rnr_timer = MIN_RNR_TIMER;
	if (ep->ack_timeout)
		attr.timeout = (uint8_t)ep->ack_timeout;
	/* The manager sets an acceptor's value from its peer's packets. */
	if (tos && attr.ah_attr.is_global)
		attr.ah_attr.grh.traffic_class = (uint8_t)tos;
	return verbs_errno(ibv_modify_qp(ep->made_qp, &attr, mask));
}

/* ---- enhanced connection establishment ---- */

/* Returns the common options: none if the ends have different vendors. */
static struct ibv_ece common(const struct ibv_ece *own, const struct ibv_ece *peers)
{
	struct ibv_ece ece = {.vendor_id = own->vendor_id};

	if (peers->vendor_id == own->vendor_id)
		ece.options = peers->options;
	return ece;
}

static void accept_offer(struct verbs_ep *ep)
{
	struct ibv_ece offer = {0}, ece;

	if (rdma_get_remote_ece(ep->id, &offer) || !offer.vendor_id)
		return;
	ece = common(&ep->ece, &offer);
	if (!ibv_set_ece(ep->made_qp, &ece) && !ibv_query_ece(ep->made_qp, &ece))
		ep->ece.options = ece.options;
	else
		ep->ece.options = 0;
}

/*
 * A connector offers its device's options. An acceptor sets the peer's offer, and answers with what
 * its device accepts of it.
 */
static void ece_created(struct verbs_ep *ep)
{
	if (ibv_query_ece(ep->made_qp, &ep->ece) || !ep->ece.vendor_id) {
		ep->ece = (struct ibv_ece){0};
		return;
	}
	if (!ep->connector)
		accept_offer(ep);
	(void)rdma_set_local_ece(ep->id, &ep->ece);
}

/*
 * Sets the acceptor's answer, before the queue pair becomes ready. Returns 0, or a negative errno:
 * -EPROTO if the answer is of another vendor.
 */
static int ece_agreed(struct verbs_ep *ep)
{
	struct ibv_ece answer = {0}, ece;
	int err;

	if (!ep->connector || !ep->ece.vendor_id || rdma_get_remote_ece(ep->id, &answer))
		return 0;
	if (answer.vendor_id && answer.vendor_id != ep->ece.vendor_id)
		return -EPROTO;
	ece = common(&ep->ece, &answer);
	err = verbs_errno(ibv_set_ece(ep->made_qp, &ece));
	return err == -EOPNOTSUPP ? 0 : err;
}

/* ---- creating ---- */

static int create_qp(struct verbs_ep *ep, struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	errno = 0;
	if (ep->device->iwarp) {
		if (rdma_create_qp(ep->id, pd, init))
			return errno ? -errno : -ENOMEM;
		ep->made_qp = ep->id->qp;
		return 0;
	}
	ep->made_qp = ibv_create_qp(pd, init);
	if (!ep->made_qp)
		return errno ? -errno : -ENOMEM;
	ece_created(ep);
	/* Receives can be posted from the INIT state on. */
	return set_state(ep, IBV_QPS_INIT);
}

/* Returns true for a temporary shortage, not a refusal of the requested sizes. */
static bool is_shortage(int err)
{
	return err == -ENOMEM || err == -EAGAIN;
}

/*
 * Inline sizes to request. Some devices refuse more than they support instead of reducing it
 * (irdma: 101 bytes at most), so smaller sizes follow, and further connections start with the size
 * that worked. Others give more than requested, which is used: mlx5, whose queue is twice as long
 * for 128 as for 60 bytes, gives 188.
 */
static const unsigned inline_steps[] = {128, 96, 64, [VERBS_NO_INLINE] = 0};

static int open_qp(struct verbs_ep *ep, struct ibv_pd *pd)
{
	const struct ibv_device_attr *attr = &ep->device->attr;
	struct ibv_qp_init_attr init = {
		.qp_context = &ep->async,
		.send_cq = ep->made_cq,
		.recv_cq = ep->made_cq,
		.qp_type = IBV_QPT_RC,
		.cap =
			{
				.max_send_wr = ep->sq_depth,
				.max_recv_wr = ep->rq_depth,
				.max_send_sge = min_u32(FABRIC_MAX_SGE, (unsigned)attr->max_sge),
				.max_recv_sge = 1,
			},
	};
	const struct ibv_qp_cap asked = init.cap;
	unsigned step = ep->device->inline_step;
	bool shortage = false;
	int err;

	for (;;) {
		init.cap = asked;
		init.cap.max_inline_data = inline_steps[step];
		err = create_qp(ep, pd, &init);
		if (!err || ep->made_qp || step + 1 == ARRAY_SIZE(inline_steps))
			break;
		shortage |= is_shortage(err);
		step++;
	}
	if (err)
		return err;
	if (!shortage)
		ep->device->inline_step = step;
	ep->made_cap = init.cap;
	return 0;
}

int verbs_qp_plan(struct verbs_ep *ep)
{
	const struct ibv_device_attr *attr = &ep->device->attr;
	unsigned max_wr = (unsigned)attr->max_qp_wr;
	int err;
	unsigned recvs =
		ep->params.recv_max ? ep->params.recv_max : ep->params.recv_count + RQ_SPARE;

	ep->sq_depth = min_u32(VERBS_SQ_DEPTH, max_wr);
	ep->signal_every = min_u32(SIGNAL_EVERY, max_u32(ep->sq_depth / 2, 1));
	recvs = min_u32(recvs, max_wr);
	if (recvs < ep->params.recv_count || ep->sq_depth + recvs > (unsigned)attr->max_cqe)
		return -ENOSPC;
	err = verbs_recvs_init(ep, recvs);
	return err ? err : verbs_cq_join(ep);
}

int verbs_qp_create(struct verbs_ep *ep)
{
	struct ibv_pd *pd = verbs_pd_alloc(ep->domain);
	int err;

	if (!pd)
		return -errno;
	err = verbs_cq_create(ep);
	return err ? err : open_qp(ep, pd);
}

int verbs_qp_created(struct verbs_ep *ep)
{
	int err;

	verbs_cq_created(ep);
	ep->qp = ep->made_qp;
	if (ep->qp) {
		ep->max_sge = min_u32(ep->made_cap.max_send_sge, FABRIC_MAX_SGE);
		ep->max_inline_bytes = min_u32(ep->made_cap.max_inline_data, INLINE_MAX);
	}
	if (!ep->cq_short)
		return 0;
	verbs_cq_leave(ep);
	ep->made_cq = NULL;
	ep->cq_short = false;
	err = verbs_cq_join(ep);
	return err ? err : -EAGAIN;
}

/*
 * Sets the ACK timeout before the route is resolved, which uses it. The kernel may not support the
 * option; set_state() sets our own end's.
 */
static void set_ack_timeout(struct verbs_ep *ep)
{
	const struct verbs_config *config = &verbs_fabric_of(ep->ep.fabric)->config;
	uint8_t timeout;

	ep->ack_timeout = config->ack_timeout;
	/*
	 * rxe acknowledges when the host's CPUs get to it, and counts the wait for a receive: it
	 * keeps the kernel's default.
	 */
	if (!ep->ack_timeout && ep->port.link_layer == IBV_LINK_LAYER_ETHERNET && !ep->device->rxe)
		ep->ack_timeout = VERBS_ROCE_ACK_TIMEOUT;
	timeout = (uint8_t)ep->ack_timeout;
	if (timeout)
		(void)rdma_set_option(ep->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
				      sizeof(timeout));
}

void verbs_port_learn(struct verbs_ep *ep)
{
	/* Includes the longest message: 8 MiB on rxe, where a longer Read or Write fails. */
	if (ibv_query_port(ep->device->context, ep->id->port_num, &ep->port))
		memset(&ep->port, 0, sizeof(ep->port));
	if (!ep->device->iwarp)
		set_ack_timeout(ep);
}

/* INIT was set before the peer's address was known, so it is set again. */
int verbs_qp_ready(struct verbs_ep *ep)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};
	int err = ep->device->iwarp ? 0 : ece_agreed(ep);

	for (unsigned i = 0; !err && !ep->device->iwarp && i < ARRAY_SIZE(states); i++)
		err = set_state(ep, states[i]);
	return err;
}

void verbs_qp_destroy(struct verbs_ep *ep)
{
	if (!ep->qp)
		return;
	verbs_async_block(ep->device);
	if (ep->id->qp)
		rdma_destroy_qp(ep->id);
	else
		ibv_destroy_qp(ep->qp);
	verbs_async_unblock(ep->device);
	ep->qp = NULL;
}

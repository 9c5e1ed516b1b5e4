// SPDX-License-Identifier: BSD-3-Clause
/*
 * Receives are posted in the order of the requests, whatever their sizes; those for which the queue
 * has no place wait. The device uses them in that order too, and ends a connection whose Send is
 * too long.
 *
 * A posted receive cannot be withdrawn, so a new size applies to receives posted later. An idle
 * place keeps its buffer if it has the size requested last: it never holds more memory than a
 * posted receive would.
 */
#include "fabric/verbs/recv_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/verbs/pd.h"
#include "fabric/verbs/wr_id.h"

int verbs_recvs_init(struct verbs_ep *ep, unsigned depth)
{
	ep->recvs = calloc(depth, sizeof(*ep->recvs));
	if (!ep->recvs)
		return -ENOMEM;
	ep->rq_depth = depth;
	for (unsigned i = 0; i < depth; i++)
		ep->recvs[i].next_idle = i + 1 < depth ? i + 1 : VERBS_NO_RECV;
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

static void recv_buf_put(struct verbs_recv *recv)
{
	buf_put(recv->buf);
	recv->buf = NULL;
}

/* Sets the size of later receives. */
static void recv_size_set(struct verbs_ep *ep, uint32_t size_bytes)
{
	if (ep->recv_size_bytes == size_bytes)
		return;
	ep->recv_size_bytes = size_bytes;
	for (unsigned at = ep->idle_recv; ep->recvs && at != VERBS_NO_RECV;
	     at = ep->recvs[at].next_idle)
		recv_buf_put(&ep->recvs[at]);
}

/* Returns 0, -ENOBUFS without memory, or the reason why its memory is not registered. */
static int recv_prepare(struct verbs_ep *ep, struct verbs_recv *recv, uint32_t size_bytes)
{
	struct ibv_mr *mr;

	if (!recv->buf || recv->size_bytes != size_bytes) {
		recv_buf_put(recv);
		recv->buf = buf_get(ep->ep.fabric->pool, size_bytes);
		recv->size_bytes = size_bytes;
		recv->registered = false;
	}
	if (!recv->buf)
		return -ENOBUFS;
	if (recv->registered)
		return 0;
	mr = verbs_slab_mr(ep, recv->buf);
	if (!mr)
		return -errno;
	recv->lkey = mr->lkey;
	recv->registered = true;
	return 0;
}

/*
 * Posts at most one chain of receives. Returns how many, or a negative errno; -ENOTCONN if the
 * queue pair refuses them, which ends the endpoint.
 */
static int recv_post_chain(struct verbs_ep *ep)
{
	struct ibv_recv_wr wrs[VERBS_CHAIN_MAX], *bad;
	struct ibv_sge sges[VERBS_CHAIN_MAX];
	uint32_t size_bytes;
	unsigned n = 0;
	int err;

	while (n < VERBS_CHAIN_MAX && ep->idle_recv != VERBS_NO_RECV &&
	       posted_recvs_first(&ep->recvs_due, &size_bytes)) {
		unsigned at = ep->idle_recv;
		struct verbs_recv *recv = &ep->recvs[at];

		err = recv_prepare(ep, recv, size_bytes);
		if (err == -EINPROGRESS && n)
			break;
		if (err)
			return err;
		ep->idle_recv = recv->next_idle;
		posted_recvs_consume(&ep->recvs_due);
		sges[n] = (struct ibv_sge){(uintptr_t)recv->buf->mem, size_bytes, recv->lkey};
		wrs[n] = (struct ibv_recv_wr){
			.wr_id = verbs_wr_id(ep, at, VERBS_WR_RECV),
			.sg_list = &sges[n],
			.num_sge = 1,
		};
		if (n)
			wrs[n - 1].next = &wrs[n];
		n++;
	}
	if (!n)
		return 0;
	verbs_ep_counters(ep)->recv_chains_posted++;
	err = verbs_errno(ibv_post_recv(ep->qp, wrs, &bad));
	if (!err)
		return (int)n;
	verbs_ep_fail(ep, FABRIC_CLOSE_LOST, "ibv_post_recv: %s", strerror(-err));
	return -ENOTCONN;
}

int verbs_recvs_fill(struct verbs_ep *ep)
{
	int n;

	do {
		n = recv_post_chain(ep);
	} while (n > 0);
	return n;
}

/* Before the queues are created, receives are only recorded. */
bool verbs_recvs_post_due(struct verbs_ep *ep)
{
	int err;

	if (verbs_state_over(ep->state) || !ep->qp)
		return false;
	err = verbs_recvs_fill(ep);
	if (err == -ENOBUFS)
		verbs_ep_fail(ep, FABRIC_CLOSE_RESOURCES, "no memory for a receive");
	else if (err && err != -ENOTCONN && err != -EINPROGRESS)
		verbs_ep_fail(ep, FABRIC_CLOSE_RESOURCES,
			      "memory cannot be registered (%s): is LimitMEMLOCK set?",
			      strerror(-err));
	return !err;
}

/* Posts all of this iteration at once, before its Sends, which inform the peer of them. */
static void post_due_soon(struct verbs_ep *ep)
{
	if (verbs_state_up(ep->state))
		loop_defer(ep->ep.fabric->loop, &ep->post_task);
	else
		(void)verbs_recvs_post_due(ep);
}

int verbs_recvs_first(struct verbs_ep *ep)
{
	struct posted_recvs early = ep->recvs_due;
	uint32_t size_bytes;
	int err;

	if (!posted_recvs_first(&early, &size_bytes))
		ep->recv_size_bytes = ep->params.recv_size_bytes;
	posted_recvs_init(&ep->recvs_due);
	err = posted_recvs_add(&ep->recvs_due, ep->params.recv_count, ep->params.recv_size_bytes);
	for (; !err && posted_recvs_first(&early, &size_bytes); posted_recvs_consume(&early))
		err = posted_recvs_add(&ep->recvs_due, 1, size_bytes);
	posted_recvs_fini(&early);
	return err;
}

void verbs_recv_idle(struct verbs_ep *ep, unsigned at)
{
	if (ep->recvs[at].size_bytes != ep->recv_size_bytes)
		recv_buf_put(&ep->recvs[at]);
	ep->recvs[at].next_idle = ep->idle_recv;
	ep->idle_recv = at;
	post_due_soon(ep);
}

void verbs_recv_post(struct fabric_ep *fep, unsigned count, uint32_t size_bytes)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	if (verbs_state_over(ep->state))
		return;
	if (count)
		recv_size_set(ep, size_bytes);
	if (posted_recvs_add(&ep->recvs_due, count, size_bytes)) {
		verbs_ep_fail(ep, FABRIC_CLOSE_RESOURCES, "no memory for a receive");
		return;
	}
	post_due_soon(ep);
}

unsigned verbs_recv_resize(struct fabric_ep *fep, uint32_t size_bytes)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	if (!verbs_state_over(ep->state))
		recv_size_set(ep, size_bytes);
	return FABRIC_RECV_KEPT;
}

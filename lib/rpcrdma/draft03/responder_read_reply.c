// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/draft03/responder_read_reply.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "rpcrdma/work_request.h"

/* Frees an exposed Reply whose memory the peer can no longer reach. */
static void read_reply_free(struct responder_read_reply *exposed)
{
	exchange_put(exposed->x);
	mem_expose_fini(&exposed->exposed_mem);
	free(exposed);
}

static void on_invalidated(struct exposed_mem *exposed_mem)
{
	read_reply_free(container_of(exposed_mem, struct responder_read_reply, exposed_mem));
}

static void read_reply_invalidate(struct responder_read_reply *exposed)
{
	if (mem_expose_invalidate(&exposed->exposed_mem))
		read_reply_free(exposed);
}

static void read_reply_finish(struct responder_read_reply *exposed)
{
	struct responder_rpc *rpc = exposed->rpc;
	struct responder *rs = rpc->rs;

	TAILQ_REMOVE(&rs->read_replies->list, exposed, entry);
	credit_grant_invalidated(&rs->conn->grant);
	read_reply_invalidate(exposed);
	responder_rpc_finish(rpc);
}

/* ---- timeout ---- */

/* Applies done_policy (A3.8-3). */
static void read_reply_expire(struct responder_read_reply *exposed)
{
	struct rdma_conn *conn = exposed->rpc->rs->conn;
	unsigned long long limit_ms = conn->config->done_timeout_us / 1000;
	uint32_t xid = exposed->x->call_info.hdr.xid;

	conn->counters->lent_timeouts++;
	switch (conn->config->done_policy) {
	case DONE_POLICY_CLOSE:
		rdma_conn_fail(conn, LEG_CLOSE_REPLY_STALLED,
			       "no RDMA_DONE for Reply %#x within %llu ms", xid, limit_ms);
		break;
	case DONE_POLICY_WITHDRAW:
		rdma_conn_note(conn, "Reply %#x: no RDMA_DONE within %llu ms: memory invalidated",
			       xid, limit_ms);
		read_reply_finish(exposed);
		break;
	}
}

static void set_timer(struct responder_read_replies *read_replies, uint64_t us)
{
	read_replies->timer_set = true;
	loop_timer_set(read_replies->conn->fabric->loop, read_replies->timer, us);
}

/* All have the same timeout, so the first is the next to expire. */
static void on_timer(void *arg)
{
	struct responder_read_replies *read_replies = arg;
	struct rdma_conn *conn = read_replies->conn;
	uint64_t limit_us = conn->config->done_timeout_us;
	uint64_t now_us = rdma_conn_now_us(conn);
	struct responder_read_reply *first;

	read_replies->timer_set = false;
	while (!rdma_conn_is_closing(conn) && (first = TAILQ_FIRST(&read_replies->list))) {
		uint64_t exposed_us = now_us - first->since_us;

		if (exposed_us < limit_us) {
			set_timer(read_replies, limit_us - exposed_us);
			return;
		}
		read_reply_expire(first);
	}
}

/* ---- exposure ---- */

static struct responder_read_replies *get_read_replies(struct responder *rs)
{
	struct responder_read_replies *read_replies = rs->read_replies;

	if (read_replies)
		return read_replies;
	read_replies = calloc(1, sizeof(*read_replies));
	if (!read_replies)
		return NULL;
	read_replies->conn = rs->conn;
	TAILQ_INIT(&read_replies->list);
	read_replies->timer = loop_timer_new(rs->conn->fabric->loop, on_timer, read_replies);
	if (!read_replies->timer) {
		free(read_replies);
		return NULL;
	}
	rs->read_replies = read_replies;
	return read_replies;
}

static struct responder_read_reply *read_reply_new(struct responder_rpc *rpc,
						   const struct send_msg *m, unsigned nkeys)
{
	struct responder_read_reply *exposed = malloc(sizeof(*exposed));

	if (!exposed)
		return NULL;
	mem_expose_init(&exposed->exposed_mem, rpc->rs->conn, on_invalidated);
	if (mem_expose_reserve(&exposed->exposed_mem, nkeys)) {
		free(exposed);
		return NULL;
	}
	exposed->rpc = rpc;
	exposed->x = exchange_ref(rpc->x);
	exposed->len_bytes = m->pieces_bytes;
	return exposed;
}

static int bind_keys(struct responder_read_reply *exposed, const struct send_msg *m)
{
	int rc = 0;

	for (unsigned i = 0; i < m->npieces && !rc; i++) {
		const struct fabric_sge *piece = &m->pieces[i];

		rc = mem_expose_add(&exposed->exposed_mem, piece->buf, piece->addr,
				    piece->len_bytes, piece->len_bytes, FABRIC_REMOTE_READ);
	}
	return rc;
}

static uint64_t count_keys(const struct rdma_conn *conn, const struct send_msg *m)
{
	uint64_t nkeys = 0;

	for (unsigned i = 0; i < m->npieces; i++)
		nkeys += (m->pieces[i].len_bytes - 1) / conn->max_segment_bytes + 1;
	return nkeys;
}

/* Releases the claim for a longer Reply than this one. Work requests can still use the Call. */
static void shrink_claim(struct responder_rpc *rpc, const struct send_msg *m)
{
	struct exchange *x = rpc->x;
	size_t nworks = (size_t)rpc->nsegments + rpc->nwrites;

	if (rpc->nwrites)
		nworks += x->reply.len_bytes / rpc->rs->conn->max_transfer_bytes;
	budget_claim_shrink(&x->claim, x->call.buf->size_bytes + x->reply.buf->size_bytes +
					       work_request_cost_bytes(nworks) +
					       mem_expose_cost_bytes(m->hdr.nreads));
}

int responder_read_reply_expose(struct responder_rpc *rpc, struct send_msg *m)
{
	struct rdma_conn *conn = rpc->rs->conn;
	uint64_t nkeys = count_keys(conn, m);
	struct responder_read_reply *exposed;
	int rc;

	if (nkeys > responder_rpc_expose_max_segments(rpc))
		return -EMSGSIZE;
	if (!credit_grant_may_expose(&conn->grant))
		return -EBUSY;
	/* It waits after the Replies that already wait. */
	if (rpc->rs->waiting_for_key && !rpc->waits_for_key)
		return -EAGAIN;
	if (!get_read_replies(rpc->rs))
		return -ENOMEM;
	exposed = read_reply_new(rpc, m, (unsigned)nkeys);
	if (!exposed)
		return -ENOMEM;
	rc = bind_keys(exposed, m);
	if (rc) {
		if (rc == -EAGAIN && !fabric_key_await(conn->ep, exposed->exposed_mem.nkeys))
			rc = -ENOMEM;
		read_reply_invalidate(exposed);
		return rc;
	}
	for (unsigned i = 0; i < nkeys; i++)
		m->hdr.reads[m->hdr.nreads++] = (struct rpcrdma_read_segment){
			0, mem_expose_segment(&exposed->exposed_mem, i)};
	credit_grant_expose(&conn->grant);
	rpc->exposed = exposed;
	shrink_claim(rpc, m);
	return 0;
}

void responder_read_reply_sent(struct responder_rpc *rpc)
{
	struct responder_read_replies *read_replies = rpc->rs->read_replies;
	struct rdma_conn *conn = read_replies->conn;
	struct responder_read_reply *exposed = rpc->exposed;

	responder_rpc_set_state(rpc, RESPONDER_EXPOSED);
	rpc->rs->waiting_for_key -= rpc->waits_for_key;
	rpc->waits_for_key = false;
	conn->counters->replies_lent++;
	conn->counters->reply_bytes_lent += exposed->len_bytes;
	exposed->since_us = rdma_conn_now_us(conn);
	TAILQ_INSERT_TAIL(&read_replies->list, exposed, entry);
	if (!read_replies->timer_set && conn->config->done_timeout_us)
		set_timer(read_replies, conn->config->done_timeout_us);
}

void responder_read_reply_done(struct responder *rs, const struct rpcrdma_header *hdr)
{
	struct rdma_conn *conn = rs->conn;
	struct exchange *x = xid_table_find(&rs->table, hdr->xid);
	struct responder_rpc *rpc = x ? x->origin_priv : NULL;

	if (!rpc || rpc->state != RESPONDER_EXPOSED) {
		conn->counters->dones_ignored++;
		return;
	}
	conn->counters->dones_received++;
	rdma_conn_count_sent(conn, rpc->exposed->len_bytes);
	credit_grant_request(&conn->grant, hdr->credit); /* A3.8-6 */
	read_reply_finish(rpc->exposed);
}

void responder_read_reply_end(struct responder *rs)
{
	struct responder_read_reply *exposed;

	if (!rs->read_replies)
		return;
	/* After the connection has closed, an unbind is immediate. */
	while ((exposed = TAILQ_FIRST(&rs->read_replies->list)))
		read_reply_finish(exposed);
}

void responder_read_reply_fini(struct responder *rs)
{
	if (!rs->read_replies)
		return;
	assert(TAILQ_EMPTY(&rs->read_replies->list));
	loop_timer_free(rs->conn->fabric->loop, rs->read_replies->timer);
	free(rs->read_replies);
	rs->read_replies = NULL;
}

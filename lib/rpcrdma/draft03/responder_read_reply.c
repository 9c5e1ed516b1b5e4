// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/draft03/responder_read_reply.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "rpcrdma/work.h"

/* Frees an exposed Reply whose memory the peer can no longer reach. */
static void let_go(struct read_reply_responder *lent)
{
	exchange_put(lent->x);
	lend_fini(&lent->lend);
	free(lent);
}

static void on_unlent(struct lend *lend)
{
	let_go(container_of(lend, struct read_reply_responder, lend));
}

static void unlend(struct read_reply_responder *lent)
{
	if (lend_end(&lent->lend))
		let_go(lent);
}

static void take_back(struct read_reply_responder *lent)
{
	struct responder_rpc *rpc = lent->rpc;
	struct responder *rs = rpc->rs;

	TAILQ_REMOVE(&rs->lents->list, lent, entry);
	credit_grant_taken_back(&rs->conn->grant);
	unlend(lent);
	responder_rpc_finish(rpc);
}

/* ---- timeout ---- */

/* Applies done_policy (A3.8-3). */
static void is_late(struct read_reply_responder *lent)
{
	struct rdma_conn *conn = lent->rpc->rs->conn;
	unsigned long long limit_ms = conn->config->done_timeout_us / 1000;
	uint32_t xid = lent->x->facts.hdr.xid;

	conn->counters->lent_timeouts++;
	switch (conn->config->done_policy) {
	case DONE_POLICY_CLOSE:
		rdma_conn_fail(conn, LEG_CLOSE_REPLY_STALLED,
			       "no RDMA_DONE for Reply %#x within %llu ms", xid, limit_ms);
		break;
	case DONE_POLICY_WITHDRAW:
		rdma_conn_note(conn, "Reply %#x: no RDMA_DONE within %llu ms: memory invalidated",
			       xid, limit_ms);
		take_back(lent);
		break;
	}
}

static void arm(struct responder_lents *lents, uint64_t us)
{
	lents->timer_set = true;
	loop_timer_set(lents->conn->fabric->loop, lents->timer, us);
}

/* All have the same timeout, so the first is the next to expire. */
static void on_timer(void *arg)
{
	struct responder_lents *lents = arg;
	struct rdma_conn *conn = lents->conn;
	uint64_t limit_us = conn->config->done_timeout_us;
	uint64_t now_us = rdma_conn_now_us(conn);
	struct read_reply_responder *first;

	lents->timer_set = false;
	while (!rdma_conn_is_over(conn) && (first = TAILQ_FIRST(&lents->list))) {
		uint64_t lent_us = now_us - first->since_us;

		if (lent_us < limit_us) {
			arm(lents, limit_us - lent_us);
			return;
		}
		is_late(first);
	}
}

/* ---- exposure ---- */

static struct responder_lents *lents_of(struct responder *rs)
{
	struct responder_lents *lents = rs->lents;

	if (lents)
		return lents;
	lents = calloc(1, sizeof(*lents));
	if (!lents)
		return NULL;
	lents->conn = rs->conn;
	TAILQ_INIT(&lents->list);
	lents->timer = loop_timer_new(rs->conn->fabric->loop, on_timer, lents);
	if (!lents->timer) {
		free(lents);
		return NULL;
	}
	rs->lents = lents;
	return lents;
}

static struct read_reply_responder *lent_new(struct responder_rpc *rpc, const struct message *m,
					     unsigned nkeys)
{
	struct read_reply_responder *lent = malloc(sizeof(*lent));

	if (!lent)
		return NULL;
	lend_init(&lent->lend, rpc->rs->conn, on_unlent);
	if (lend_reserve(&lent->lend, nkeys)) {
		free(lent);
		return NULL;
	}
	lent->rpc = rpc;
	lent->x = exchange_ref(rpc->x);
	lent->len_bytes = m->pieces_bytes;
	return lent;
}

static int bind_keys(struct read_reply_responder *lent, const struct message *m)
{
	int rc = 0;

	for (unsigned i = 0; i < m->npieces && !rc; i++) {
		const struct fabric_sge *piece = &m->pieces[i];

		rc = lend_memory(&lent->lend, piece->buf, piece->addr, piece->len_bytes,
				 piece->len_bytes, FABRIC_REMOTE_READ);
	}
	return rc;
}

static uint64_t count_keys(const struct rdma_conn *conn, const struct message *m)
{
	uint64_t nkeys = 0;

	for (unsigned i = 0; i < m->npieces; i++)
		nkeys += (m->pieces[i].len_bytes - 1) / conn->max_segment_bytes + 1;
	return nkeys;
}

/* Releases the claim for a longer Reply than this one. Work requests can still use the Call. */
static void give_up_the_rest(struct responder_rpc *rpc, const struct message *m)
{
	struct exchange *x = rpc->x;
	size_t nworks = (size_t)rpc->nsegments + rpc->nwrites;

	if (rpc->nwrites)
		nworks += x->reply.len_bytes / rpc->rs->conn->max_transfer_bytes;
	budget_shrink(&x->claim, x->call.buf->size_bytes + x->reply.buf->size_bytes +
					 work_cost_bytes(nworks) + lend_cost_bytes(m->hdr.nreads));
}

int responder_lend(struct responder_rpc *rpc, struct message *m)
{
	struct rdma_conn *conn = rpc->rs->conn;
	uint64_t nkeys = count_keys(conn, m);
	struct read_reply_responder *lent;
	int rc;

	if (nkeys > responder_rpc_lend_room(rpc))
		return -EMSGSIZE;
	if (!credit_grant_may_lend(&conn->grant))
		return -EBUSY;
	/* It waits after the Replies that already wait. */
	if (rpc->rs->waiting_for_key && !rpc->waits_for_key)
		return -EAGAIN;
	if (!lents_of(rpc->rs))
		return -ENOMEM;
	lent = lent_new(rpc, m, (unsigned)nkeys);
	if (!lent)
		return -ENOMEM;
	rc = bind_keys(lent, m);
	if (rc) {
		if (rc == -EAGAIN && !fabric_key_await(conn->ep, lent->lend.nkeys))
			rc = -ENOMEM;
		unlend(lent);
		return rc;
	}
	for (unsigned i = 0; i < nkeys; i++)
		m->hdr.reads[m->hdr.nreads++] =
			(struct rpcrdma_read_segment){0, lend_segment(&lent->lend, i)};
	credit_grant_lend(&conn->grant);
	rpc->lent = lent;
	give_up_the_rest(rpc, m);
	return 0;
}

void read_reply_responder_sent(struct responder_rpc *rpc)
{
	struct responder_lents *lents = rpc->rs->lents;
	struct rdma_conn *conn = lents->conn;
	struct read_reply_responder *lent = rpc->lent;

	responder_rpc_set_state(rpc, RESPONDER_LENT);
	rpc->rs->waiting_for_key -= rpc->waits_for_key;
	rpc->waits_for_key = false;
	conn->counters->replies_lent++;
	conn->counters->reply_bytes_lent += lent->len_bytes;
	lent->since_us = rdma_conn_now_us(conn);
	TAILQ_INSERT_TAIL(&lents->list, lent, entry);
	if (!lents->timer_set && conn->config->done_timeout_us)
		arm(lents, conn->config->done_timeout_us);
}

void responder_done(struct responder *rs, const struct rpcrdma_header *hdr)
{
	struct rdma_conn *conn = rs->conn;
	struct exchange *x = xid_table_find(&rs->table, hdr->xid);
	struct responder_rpc *rpc = x ? x->origin_priv : NULL;

	if (!rpc || rpc->state != RESPONDER_LENT) {
		conn->counters->dones_ignored++;
		return;
	}
	conn->counters->dones_received++;
	rdma_conn_count_sent(conn, rpc->lent->len_bytes);
	credit_grant_ask(&conn->grant, hdr->credit); /* A3.8-6 */
	take_back(rpc->lent);
}

void responder_lents_end(struct responder *rs)
{
	struct read_reply_responder *lent;

	if (!rs->lents)
		return;
	/* After the connection has closed, an unbind is immediate. */
	while ((lent = TAILQ_FIRST(&rs->lents->list)))
		take_back(lent);
}

void responder_lents_fini(struct responder *rs)
{
	if (!rs->lents)
		return;
	assert(TAILQ_EMPTY(&rs->lents->list));
	loop_timer_free(rs->conn->fabric->loop, rs->lents->timer);
	free(rs->lents);
	rs->lents = NULL;
}

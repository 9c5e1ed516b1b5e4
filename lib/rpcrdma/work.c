// SPDX-License-Identifier: BSD-3-Clause
/* Work requests of a connection: posted from pooled contexts, watched for progress. */
#include "rpcrdma/work.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What our Sends are for the most part: Calls to a server, Replies to a client. */
static enum leg_close why_sends_stall(const struct rdma_conn *conn)
{
	return conn->connector ? LEG_CLOSE_CALL_STALLED : LEG_CLOSE_REPLY_STALLED;
}

/* A peer that takes nothing for stall_timeout_us holds memory for nothing. */
static void on_timer(void *arg)
{
	struct rdma_conn *conn = arg;
	struct work_pool *pool = &conn->works;
	uint64_t limit_us = conn->leg->config->stall_timeout_us;
	uint64_t idle_us = loop_now_us(conn->fabric->loop) - pool->progress_us;

	pool->timer_set = false;
	if (!pool->posted)
		return;
	if (idle_us >= limit_us) {
		rdma_conn_fail(conn, pool->sends ? why_sends_stall(conn) : LEG_CLOSE_RECORD_STALLED,
			       "%u operations without progress for %llu ms", pool->posted,
			       (unsigned long long)(idle_us / 1000));
		return;
	}
	pool->timer_set = true;
	loop_timer_set(conn->fabric->loop, pool->timer, limit_us - idle_us);
}

int work_pool_init(struct rdma_conn *conn)
{
	conn->works.timer = loop_timer_new(conn->fabric->loop, on_timer, conn);
	return conn->works.timer ? 0 : -ENOMEM;
}

void work_pool_fini(struct rdma_conn *conn)
{
	struct work *work;

	assert(conn->works.posted == 0);
	while ((work = conn->works.free)) {
		conn->works.free = work->next_free;
		free(work);
	}
	loop_timer_free(conn->fabric->loop, conn->works.timer);
}

static bool is_send(const struct work *work)
{
	return work->wr.op == FABRIC_SEND || work->wr.op == FABRIC_SEND_INV;
}

static void release(struct work *work)
{
	struct work_pool *pool = &work->conn->works;
	struct exchange *x = work->x;

	buf_put(work->buf);
	work->buf = NULL;
	work->x = NULL;
	work->next_free = pool->free;
	pool->free = work;
	exchange_put(x);
}

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct work *work = container_of(wr, struct work, wr);
	struct rdma_conn *conn = work->conn;

	conn->works.posted--;
	if (is_send(work))
		conn->works.sends--;
	conn->works.progress_us = loop_now_us(conn->fabric->loop);
	if (status == FABRIC_OK && work->done)
		work->done(work->arg);
	else if (status == FABRIC_ERR_REMOTE)
		rdma_conn_fail(conn, LEG_CLOSE_PROTOCOL,
			       "the peer refused an access to its memory");
	else if (status == FABRIC_ERR_LOCAL)
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "a work request failed here");
	release(work);
}

static struct work *work_get(struct rdma_conn *conn, enum fabric_wr_op op, struct exchange *x)
{
	struct work *work = conn->works.free;

	if (work) {
		conn->works.free = work->next_free;
	} else {
		work = calloc(1, sizeof(*work));
		if (!work) {
			rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a work request");
			return NULL;
		}
		work->conn = conn;
		work->wr.done = on_done;
	}
	work->wr.op = op;
	work->x = x ? exchange_ref(x) : NULL;
	work->done = NULL;
	return work;
}

static void post(struct work *work)
{
	struct rdma_conn *conn = work->conn;
	struct work_pool *pool = &conn->works;

	if (fabric_post(conn->ep, &work->wr)) {
		release(work); /* the connection is going; its closed() is on the way */
		return;
	}
	if (pool->posted++ == 0)
		pool->progress_us = loop_now_us(conn->fabric->loop);
	if (is_send(work))
		pool->sends++;
	if (!pool->timer_set && conn->leg->config->stall_timeout_us) {
		pool->timer_set = true;
		loop_timer_set(conn->fabric->loop, pool->timer,
			       conn->leg->config->stall_timeout_us);
	}
}

static void set_memory(struct work *work, const struct fabric_sge *sge, uint32_t rkey,
		       uint64_t raddr)
{
	work->wr.nsge = 1;
	work->wr.sge[0] = *sge;
	work->wr.rkey = rkey;
	work->wr.raddr = raddr;
}

/* The header, then the body: copied while it is short, gathered when it is long. */
static int fill_send(struct work *work, const struct rpcrdma_header *hdr,
		     const struct fabric_sge *body, unsigned nbody, uint32_t body_bytes)
{
	struct rdma_conn *conn = work->conn;
	size_t hdr_bytes = rpcrdma_header_bytes(hdr);
	bool copy = body_bytes <= WORK_COPY_MAX_BYTES || nbody >= conn->max_sge;
	size_t at = hdr_bytes;

	work->buf = buf_get(conn->leg->config->pool, hdr_bytes + (copy ? body_bytes : 0));
	if (!work->buf)
		return -ENOMEM;
	if (rpcrdma_header_encode(hdr, work->buf->mem, hdr_bytes) != hdr_bytes)
		return -EINVAL;
	work->wr.nsge = 1;
	for (unsigned i = 0; i < nbody; i++) {
		if (copy) {
			memcpy(work->buf->mem + at, body[i].addr, body[i].len_bytes);
			at += body[i].len_bytes;
		} else {
			work->wr.sge[work->wr.nsge++] = body[i];
		}
	}
	work->wr.sge[0] = (struct fabric_sge){work->buf, work->buf->mem, (uint32_t)at};
	return 0;
}

void work_send(struct rdma_conn *conn, const struct rpcrdma_header *hdr,
	       const struct fabric_sge *body, unsigned nbody, struct exchange *x,
	       const uint32_t *inv_rkey)
{
	struct work *work = work_get(conn, inv_rkey ? FABRIC_SEND_INV : FABRIC_SEND, x);
	uint32_t body_bytes = 0;

	if (!work)
		return;
	for (unsigned i = 0; i < nbody; i++)
		body_bytes += body[i].len_bytes;
	if (fill_send(work, hdr, body, nbody, body_bytes)) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a Send");
		release(work);
		return;
	}
	if (inv_rkey) {
		work->wr.inv_rkey = *inv_rkey;
		conn->counters->remote_invalidations_sent++;
	}
	if (hdr->proc == RPCRDMA_MSG)
		conn->counters->sends_msg++;
	else if (hdr->proc == RPCRDMA_NOMSG)
		conn->counters->sends_nomsg++;
	conn->bytes_sent += rpcrdma_header_bytes(hdr) + body_bytes;
	post(work);
}

void work_write(struct rdma_conn *conn, const struct fabric_sge *from, uint32_t rkey,
		uint64_t raddr, struct exchange *x)
{
	struct work *work = work_get(conn, FABRIC_WRITE, x);

	if (!work)
		return;
	set_memory(work, from, rkey, raddr);
	conn->bytes_sent += from->len_bytes;
	post(work);
}

void work_read(struct rdma_conn *conn, const struct fabric_sge *to, uint32_t rkey, uint64_t raddr,
	       struct exchange *x, void (*done)(void *arg), void *arg)
{
	struct work *work = work_get(conn, FABRIC_READ, x);

	if (!work)
		return;
	set_memory(work, to, rkey, raddr);
	work->done = done;
	work->arg = arg;
	conn->bytes_received += to->len_bytes;
	post(work);
}

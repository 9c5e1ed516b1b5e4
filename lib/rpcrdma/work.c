// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/work.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/least.h"

/* Returns the close reason for a stalled Send: most Sends are Calls to a server or Replies to a client. */
static enum leg_close why_sends_stall(const struct rdma_conn *conn)
{
	return conn->connector ? LEG_CLOSE_CALL_STALLED : LEG_CLOSE_REPLY_STALLED;
}

static bool is_send(const struct work *work)
{
	return work->wr.op == FABRIC_SEND || work->wr.op == FABRIC_SEND_INV;
}

static enum work_class class_of(const struct work *work)
{
	return work->wr.op == FABRIC_READ ? WORK_READS : WORK_SENDS;
}

/* Returns how long a work request can be the first of its class. */
static uint64_t time_of(const struct work *work, uint64_t stall_timeout_us)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < work->wr.nsge; i++)
		bytes += work->wr.sge[i].len_bytes;
	return stall_timeout_us + bytes * 1000000 / WORK_LEAST_RATE;
}

static void stalled(struct rdma_conn *conn, enum work_class class, uint64_t idle_us)
{
	const char *what = class == WORK_READS ? "an RDMA Read" : "a Send or RDMA Write";

	rdma_conn_fail(conn, class == WORK_READS ? LEG_CLOSE_RECORD_STALLED : why_sends_stall(conn),
		       "%s did not complete in %llu ms", what,
		       (unsigned long long)(idle_us / 1000));
}

/* Checks at least once per stall_timeout_us, so that a request that has become the first is not checked late. */
static void on_timer(void *arg)
{
	struct rdma_conn *conn = arg;
	struct work_queues *works = &conn->works;
	uint64_t limit_us = conn->leg->config->stall_timeout_us, wait_us = limit_us;
	uint64_t now_us = rdma_conn_now_us(conn);
	bool any = false;

	works->timer_set = false;
	for (unsigned i = 0; i < WORK_CLASSES; i++) {
		const struct work *first = TAILQ_FIRST(&works->classes[i].posted);
		uint64_t idle_us = now_us - works->classes[i].head_us, time_us;

		if (!first)
			continue;
		any = true;
		time_us = time_of(first, limit_us);
		if (idle_us >= time_us) {
			stalled(conn, i, idle_us);
			return;
		}
		if (time_us - idle_us < wait_us)
			wait_us = time_us - idle_us;
	}
	if (!any)
		return;
	works->timer_set = true;
	loop_timer_set(conn->fabric->loop, works->timer, wait_us);
}

int work_queues_init(struct rdma_conn *conn)
{
	for (unsigned i = 0; i < WORK_CLASSES; i++)
		TAILQ_INIT(&conn->works.classes[i].posted);
	TAILQ_INIT(&conn->works.waiting);
	conn->works.reads_max = UINT_MAX;
	conn->works.timer = loop_timer_new(conn->fabric->loop, on_timer, conn);
	return conn->works.timer ? 0 : -ENOMEM;
}

void work_queues_fini(struct rdma_conn *conn)
{
	for (unsigned i = 0; i < WORK_CLASSES; i++)
		assert(TAILQ_EMPTY(&conn->works.classes[i].posted));
	assert(TAILQ_EMPTY(&conn->works.waiting));
	loop_timer_free(conn->fabric->loop, conn->works.timer);
}

static void release(struct work *work)
{
	struct exchange *x = work->x;

	buf_put(work->buf);
	spares_put(work->conn->leg->config->spares, work, sizeof(*work));
	exchange_put(x);
}

/* Removes a completed request from its class; the time of the next one starts now. */
static void leave(struct work *work)
{
	struct rdma_conn *conn = work->conn;
	unsigned class = class_of(work);
	struct work_list *posted = &conn->works.classes[class].posted;

	if (work == TAILQ_FIRST(posted))
		conn->works.classes[class].head_us = rdma_conn_now_us(conn);
	TAILQ_REMOVE(posted, work, entry);
	if (is_send(work))
		conn->works.sends--;
	else if (class == WORK_READS)
		conn->works.reads--;
}

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct work *work = container_of(wr, struct work, wr);
	struct rdma_conn *conn = work->conn;

	leave(work);
	conn->heard |= status == FABRIC_OK && wr->op == FABRIC_READ;
	if (status == FABRIC_OK && work->done)
		work->done(work->arg);
	else if (status == FABRIC_ERR_REMOTE)
		rdma_conn_fail(conn, LEG_CLOSE_PROTOCOL,
			       "the peer rejected an access to its memory");
	else if (status == FABRIC_ERR_LOCAL)
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "a work request failed locally");
	release(work);
}

static struct work *work_get(struct rdma_conn *conn, enum fabric_wr_op op, struct exchange *x)
{
	struct work *work = spares_get(conn->leg->config->spares, sizeof(*work));

	if (!work) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a work request");
		return NULL;
	}
	work->conn = conn;
	work->wr.op = op;
	work->wr.nsge = 0;
	work->wr.late = false;
	work->wr.done = on_done;
	work->buf = NULL;
	work->x = x ? exchange_ref(x) : NULL;
	work->done = NULL;
	return work;
}

static void post(struct work *work)
{
	struct rdma_conn *conn = work->conn;
	struct work_queues *works = &conn->works;
	unsigned class = class_of(work);

	if (fabric_post(conn->ep, &work->wr)) {
		release(work); /* the connection is closing; closed() follows */
		return;
	}
	if (TAILQ_EMPTY(&works->classes[class].posted))
		works->classes[class].head_us = rdma_conn_now_us(conn);
	TAILQ_INSERT_TAIL(&works->classes[class].posted, work, entry);
	if (is_send(work))
		works->sends++;
	else if (class == WORK_READS)
		works->reads++;
	if (!works->timer_set && conn->leg->config->stall_timeout_us) {
		works->timer_set = true;
		loop_timer_set(conn->fabric->loop, works->timer,
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

/*
 * Returns the length of the gather list of a long body, header included, and in *@copied_bytes how much of the body is
 * copied after the header.
 */
static unsigned gather_list(const struct fabric_sge *body, unsigned nbody, uint32_t *copied_bytes)
{
	/* consecutive copied pieces share an entry; the header begins one */
	bool copied = true;
	unsigned nsge = 1;

	*copied_bytes = 0;
	for (unsigned i = 0; i < nbody; i++) {
		nsge += body[i].buf || !copied;
		copied = !body[i].buf;
		if (copied)
			*copied_bytes += body[i].len_bytes;
	}
	return nsge;
}

bool work_gathers(const struct rdma_conn *conn, const struct fabric_sge *body, unsigned nbody)
{
	uint32_t copied_bytes;

	return gather_list(body, nbody, &copied_bytes) <= conn->max_sge;
}

static void copy_piece(uint8_t *to, const struct fabric_sge *piece)
{
	if (piece->addr)
		memcpy(to, piece->addr, piece->len_bytes);
	else
		memset(to, 0, piece->len_bytes);
}

/* Copies pieces without a buffer after the header; the others stay in place. */
static void gather(struct work *work, const struct fabric_sge *body, unsigned nbody)
{
	struct fabric_sge *last = work->wr.sge;
	uint8_t *end = last->addr + last->len_bytes;

	for (unsigned i = 0; i < nbody; i++) {
		if (body[i].buf) {
			*++last = body[i];
			continue;
		}
		if (last->buf != work->buf)
			*++last = (struct fabric_sge){work->buf, end, 0};
		copy_piece(end, &body[i]);
		end += body[i].len_bytes;
		last->len_bytes += body[i].len_bytes;
	}
	work->wr.nsge = (unsigned)(last - work->wr.sge) + 1;
}

/* Fills in the header and the body, which is copied if short and gathered if long. */
static int fill_send(struct work *work, const struct rpcrdma_header *hdr, size_t hdr_bytes,
		     const struct fabric_sge *body, unsigned nbody, uint32_t body_bytes)
{
	struct rdma_conn *conn = work->conn;
	uint32_t copied_bytes = body_bytes;
	bool copy =
		work_copies(body_bytes) || gather_list(body, nbody, &copied_bytes) > conn->max_sge;
	size_t at = hdr_bytes;

	work->buf =
		buf_get(conn->leg->config->pool, hdr_bytes + (copy ? body_bytes : copied_bytes));
	if (!work->buf)
		return -ENOMEM;
	if (rpcrdma_header_encode(hdr, work->buf->mem, hdr_bytes) != hdr_bytes)
		return -EINVAL;
	for (unsigned i = 0; copy && i < nbody; i++) {
		copy_piece(work->buf->mem + at, &body[i]);
		at += body[i].len_bytes;
	}
	work->wr.nsge = 1;
	work->wr.sge[0] = (struct fabric_sge){work->buf, work->buf->mem, (uint32_t)at};
	if (!copy)
		gather(work, body, nbody);
	return 0;
}

static void count_send(const struct rdma_conn *conn, const struct rpcrdma_header *hdr)
{
	struct rdma_leg_counters *counters = conn->counters;

	if (hdr->proc == RPCRDMA_MSG)
		counters->sends_msg++;
	else if (hdr->proc == RPCRDMA_NOMSG)
		counters->sends_nomsg++;
	else if (hdr->proc == RPCRDMA_MSGP)
		counters->sends_msgp++;
	if (negotiation_of(&conn->negotiation, hdr->vers)->options)
		counters->sends_version_two++;
	else
		counters->sends_version_one++;
}

void work_send(struct rdma_conn *conn, const struct rpcrdma_header *hdr,
	       const struct fabric_sge *body, unsigned nbody, struct exchange *x,
	       const uint32_t *inv_rkey)
{
	struct work *work = work_get(conn, inv_rkey ? FABRIC_SEND_INV : FABRIC_SEND, x);
	size_t hdr_bytes = rpcrdma_header_bytes(hdr);
	uint32_t body_bytes = 0;

	if (!work)
		return;
	for (unsigned i = 0; i < nbody; i++)
		body_bytes += body[i].len_bytes;
	if (fill_send(work, hdr, hdr_bytes, body, nbody, body_bytes)) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a Send");
		release(work);
		return;
	}
	/* Without @x only the buffer of this request waits for the completion. */
	assert(x || work->wr.nsge == 1);
	work->wr.late = !x;
	if (inv_rkey) {
		work->wr.inv_rkey = *inv_rkey;
		conn->counters->remote_invalidations_sent++;
	}
	count_send(conn, hdr);
	rdma_conn_count_sent(conn, hdr_bytes + body_bytes);
	if (hdr_bytes + body_bytes > conn->longest_send_bytes)
		conn->longest_send_bytes = (uint32_t)hdr_bytes + body_bytes;
	post(work);
}

void work_write(struct rdma_conn *conn, const struct fabric_sge *from, uint32_t rkey,
		uint64_t raddr, struct exchange *x)
{
	struct fabric_sge part = *from;
	uint32_t left = from->len_bytes;

	rdma_conn_count_sent(conn, left);
	while (left) {
		struct work *work = work_get(conn, FABRIC_WRITE, x);

		if (!work)
			return;
		part.len_bytes = least(left, conn->max_transfer_bytes);
		set_memory(work, &part, rkey, raddr);
		part.addr += part.len_bytes;
		raddr += part.len_bytes;
		left -= part.len_bytes;
		post(work);
	}
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
	post(work);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/work_request.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

/*
 * Returns the close reason for a stalled Send: most Sends are Calls to a server or Replies to a
 * client.
 */
static enum leg_close why_sends_stall(const struct rdma_conn *conn)
{
	return conn->connector ? LEG_CLOSE_CALL_STALLED : LEG_CLOSE_REPLY_STALLED;
}

static bool is_send(const struct work_request *work_request)
{
	return work_request->wr.op == FABRIC_SEND || work_request->wr.op == FABRIC_SEND_INV;
}

static enum work_request_class class_of(const struct work_request *work_request)
{
	return work_request->wr.op == FABRIC_READ ? WORK_READS : WORK_SENDS;
}

/* Returns how long a work request can be the first of its class. */
static uint64_t time_of(const struct work_request *work_request, uint64_t stall_timeout_us)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < work_request->wr.nsge; i++)
		bytes += work_request->wr.sge[i].len_bytes;
	return stall_timeout_us + bytes * 1000000 / WORK_REQUEST_MIN_RATE;
}

static void stalled(struct rdma_conn *conn, enum work_request_class class, uint64_t idle_us)
{
	const char *what = class == WORK_READS ? "an RDMA Read" : "a Send or RDMA Write";

	rdma_conn_fail(conn, class == WORK_READS ? LEG_CLOSE_RECORD_STALLED : why_sends_stall(conn),
		       "%s did not complete in %llu ms", what,
		       (unsigned long long)(idle_us / 1000));
}

/*
 * Checks at least once per stall_timeout_us, so that a request that has become the first is not
 * checked late.
 */
static void on_timer(void *arg)
{
	struct rdma_conn *conn = arg;
	struct work_request_queues *work_requests = &conn->work_requests;
	uint64_t limit_us = conn->leg->config->stall_timeout_us, wait_us = limit_us;
	uint64_t now_us = rdma_conn_now_us(conn);
	bool any = false;

	work_requests->timer_set = false;
	for (unsigned i = 0; i < WORK_CLASSES; i++) {
		const struct work_request *first = TAILQ_FIRST(&work_requests->classes[i].posted);
		uint64_t idle_us = now_us - work_requests->classes[i].head_us, time_us;

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
	work_requests->timer_set = true;
	loop_timer_set(conn->fabric->loop, work_requests->timer, wait_us);
}

int work_request_queues_init(struct rdma_conn *conn)
{
	for (unsigned i = 0; i < WORK_CLASSES; i++)
		TAILQ_INIT(&conn->work_requests.classes[i].posted);
	TAILQ_INIT(&conn->work_requests.waiting);
	conn->work_requests.reads_max = UINT_MAX;
	conn->work_requests.timer = loop_timer_new(conn->fabric->loop, on_timer, conn);
	return conn->work_requests.timer ? 0 : -ENOMEM;
}

void work_request_queues_fini(struct rdma_conn *conn)
{
	for (unsigned i = 0; i < WORK_CLASSES; i++)
		assert(TAILQ_EMPTY(&conn->work_requests.classes[i].posted));
	assert(TAILQ_EMPTY(&conn->work_requests.waiting));
	loop_timer_free(conn->fabric->loop, conn->work_requests.timer);
}

static void free_work(struct work_request *work_request)
{
	struct exchange *x = work_request->x;

	buf_put(work_request->buf);
	freelists_put(work_request->conn->leg->config->freelists, work_request,
		      sizeof(*work_request));
	exchange_put(x);
}

/* Removes a completed request from its class; the time of the next one starts now. */
static void unlink_work(struct work_request *work_request)
{
	struct rdma_conn *conn = work_request->conn;
	unsigned class = class_of(work_request);
	struct work_request_list *posted = &conn->work_requests.classes[class].posted;

	if (work_request == TAILQ_FIRST(posted))
		conn->work_requests.classes[class].head_us = rdma_conn_now_us(conn);
	TAILQ_REMOVE(posted, work_request, entry);
	if (is_send(work_request))
		conn->work_requests.sends--;
	else if (class == WORK_READS)
		conn->work_requests.reads--;
}

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct work_request *work_request = container_of(wr, struct work_request, wr);
	struct rdma_conn *conn = work_request->conn;

	unlink_work(work_request);
	conn->message_seen |= status == FABRIC_OK && wr->op == FABRIC_READ;
	if (status == FABRIC_OK && work_request->done)
		work_request->done(work_request->arg);
	else if (status == FABRIC_ERR_REMOTE)
		rdma_conn_fail(conn, LEG_CLOSE_PROTOCOL,
			       "the peer rejected an access to its memory");
	else if (status == FABRIC_ERR_LOCAL)
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "a work request failed locally");
	free_work(work_request);
}

static struct work_request *work_request_get(struct rdma_conn *conn, enum fabric_wr_op op,
					     struct exchange *x)
{
	struct work_request *work_request =
		freelists_get(conn->leg->config->freelists, sizeof(*work_request));

	if (!work_request) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a work request");
		return NULL;
	}
	work_request->conn = conn;
	work_request->wr.op = op;
	work_request->wr.nsge = 0;
	work_request->wr.lazy = false;
	work_request->wr.done = on_done;
	work_request->buf = NULL;
	work_request->x = x ? exchange_ref(x) : NULL;
	work_request->done = NULL;
	return work_request;
}

static void post(struct work_request *work_request)
{
	struct rdma_conn *conn = work_request->conn;
	struct work_request_queues *work_requests = &conn->work_requests;
	unsigned class = class_of(work_request);

	if (fabric_post(conn->ep, &work_request->wr)) {
		free_work(work_request); /* the connection is closing; closed() follows */
		return;
	}
	if (TAILQ_EMPTY(&work_requests->classes[class].posted))
		work_requests->classes[class].head_us = rdma_conn_now_us(conn);
	TAILQ_INSERT_TAIL(&work_requests->classes[class].posted, work_request, entry);
	if (is_send(work_request))
		work_requests->sends++;
	else if (class == WORK_READS)
		work_requests->reads++;
	if (!work_requests->timer_set && conn->leg->config->stall_timeout_us) {
		work_requests->timer_set = true;
		loop_timer_set(conn->fabric->loop, work_requests->timer,
			       conn->leg->config->stall_timeout_us);
	}
}

static void set_memory(struct work_request *work_request, const struct fabric_sge *sge,
		       uint32_t rkey, uint64_t raddr)
{
	work_request->wr.nsge = 1;
	work_request->wr.sge[0] = *sge;
	work_request->wr.rkey = rkey;
	work_request->wr.raddr = raddr;
}

/*
 * Returns the length of the gather list of a long body, header included, and in *@copied_bytes how
 * much of the body is copied after the header.
 */
static unsigned collection_list(const struct fabric_sge *body, unsigned nbody,
				uint32_t *copied_bytes)
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

bool work_request_gathers(const struct rdma_conn *conn, const struct fabric_sge *body,
			  unsigned nbody)
{
	uint32_t copied_bytes;

	return collection_list(body, nbody, &copied_bytes) <= conn->max_sge;
}

static void copy_piece(uint8_t *to, const struct fabric_sge *piece)
{
	if (piece->addr)
		memcpy(to, piece->addr, piece->len_bytes);
	else
		memset(to, 0, piece->len_bytes);
}

/* Copies pieces without a buffer after the header; the others stay in place. */
static void gather(struct work_request *work_request, const struct fabric_sge *body, unsigned nbody)
{
	struct fabric_sge *last = work_request->wr.sge;
	uint8_t *end = last->addr + last->len_bytes;

	for (unsigned i = 0; i < nbody; i++) {
		if (body[i].buf) {
			*++last = body[i];
			continue;
		}
		if (last->buf != work_request->buf)
			*++last = (struct fabric_sge){work_request->buf, end, 0};
		copy_piece(end, &body[i]);
		end += body[i].len_bytes;
		last->len_bytes += body[i].len_bytes;
	}
	work_request->wr.nsge = (unsigned)(last - work_request->wr.sge) + 1;
}

/* Fills in the header and the body, which is copied if short and gathered if long. */
static int fill_send(struct work_request *work_request, const struct rpcrdma_header *hdr,
		     size_t hdr_bytes, const struct fabric_sge *body, unsigned nbody,
		     uint32_t body_bytes)
{
	struct rdma_conn *conn = work_request->conn;
	uint32_t copied_bytes = body_bytes;
	bool copy = work_request_copies(body_bytes) ||
		    collection_list(body, nbody, &copied_bytes) > conn->max_sge;
	size_t at = hdr_bytes;

	work_request->buf =
		buf_get(conn->leg->config->pool, hdr_bytes + (copy ? body_bytes : copied_bytes));
	if (!work_request->buf)
		return -ENOMEM;
	if (rpcrdma_header_encode(hdr, work_request->buf->mem, hdr_bytes) != hdr_bytes)
		return -EINVAL;
	for (unsigned i = 0; copy && i < nbody; i++) {
		copy_piece(work_request->buf->mem + at, &body[i]);
		at += body[i].len_bytes;
	}
	work_request->wr.nsge = 1;
	work_request->wr.sge[0] =
		(struct fabric_sge){work_request->buf, work_request->buf->mem, (uint32_t)at};
	if (!copy)
		gather(work_request, body, nbody);
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
	if (negotiation_dialect(&conn->negotiation, hdr->vers)->options)
		counters->sends_version_two++;
	else
		counters->sends_version_one++;
}

void work_request_post_send(struct rdma_conn *conn, const struct rpcrdma_header *hdr,
			    const struct fabric_sge *body, unsigned nbody, struct exchange *x,
			    const uint32_t *inv_rkey)
{
	struct work_request *work_request =
		work_request_get(conn, inv_rkey ? FABRIC_SEND_INV : FABRIC_SEND, x);
	size_t hdr_bytes = rpcrdma_header_bytes(hdr);
	uint32_t body_bytes = 0;

	if (!work_request)
		return;
	for (unsigned i = 0; i < nbody; i++)
		body_bytes += body[i].len_bytes;
	if (fill_send(work_request, hdr, hdr_bytes, body, nbody, body_bytes)) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a Send");
		free_work(work_request);
		return;
	}
	/* Without @x only the buffer of this request waits for the completion. */
	assert(x || work_request->wr.nsge == 1);
	work_request->wr.lazy = !x;
	if (inv_rkey) {
		work_request->wr.inv_rkey = *inv_rkey;
		conn->counters->remote_invalidations_sent++;
	}
	count_send(conn, hdr);
	rdma_conn_count_sent(conn, hdr_bytes + body_bytes);
	if (hdr_bytes + body_bytes > conn->longest_send_bytes)
		conn->longest_send_bytes = (uint32_t)hdr_bytes + body_bytes;
	post(work_request);
}

void work_request_post_write(struct rdma_conn *conn, const struct fabric_sge *from, uint32_t rkey,
			     uint64_t raddr, struct exchange *x)
{
	struct fabric_sge part = *from;
	uint32_t left = from->len_bytes;

	rdma_conn_count_sent(conn, left);
	while (left) {
		struct work_request *work_request = work_request_get(conn, FABRIC_WRITE, x);

		if (!work_request)
			return;
		part.len_bytes = min_u32(left, conn->max_transfer_bytes);
		set_memory(work_request, &part, rkey, raddr);
		part.addr += part.len_bytes;
		raddr += part.len_bytes;
		left -= part.len_bytes;
		post(work_request);
	}
}

void work_request_post_read(struct rdma_conn *conn, const struct fabric_sge *to, uint32_t rkey,
			    uint64_t raddr, struct exchange *x, void (*done)(void *arg), void *arg)
{
	struct work_request *work_request = work_request_get(conn, FABRIC_READ, x);

	if (!work_request)
		return;
	set_memory(work_request, to, rkey, raddr);
	work_request->done = done;
	work_request->arg = arg;
	post(work_request);
}

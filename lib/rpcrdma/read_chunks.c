// SPDX-License-Identifier: BSD-3-Clause
/*
 * A connection has one queue of messages. The first one posts its next Read whenever the bound
 * allows it.
 */
#include "rpcrdma/read_chunks.h"

static uint32_t read_bytes(const struct read_chunks *reads, const struct read_cursor *at)
{
	return min_u32(reads->plan_reads[at->read_index].len_bytes - at->bytes,
		       reads->read_max_bytes);
}

/* Advances @at past its Read. */
static void step(const struct read_chunks *reads, struct read_cursor *at)
{
	at->bytes += read_bytes(reads, at);
	if (at->bytes == reads->plan_reads[at->read_index].len_bytes) {
		at->read_index++;
		at->bytes = 0;
	}
}

static void on_read(void *arg);

static void post_next(struct read_chunks *reads)
{
	struct rdma_conn *conn = reads->conn;
	const struct plan_read *p = &reads->plan_reads[reads->posted.read_index];
	uint32_t at = reads->posted.bytes;
	struct fabric_sge to = {reads->to->buf, reads->to->data + p->to + at,
				read_bytes(reads, &reads->posted)};

	step(reads, &reads->posted);
	if (reads->posted.read_index == reads->nplan_reads)
		TAILQ_REMOVE(&conn->work_requests.waiting, reads, entry);
	work_request_post_read(conn, &to, p->handle, p->offset + at, reads->x, on_read, reads);
}

/* Posts waiting Reads up to the bound; stops if the connection starts to close. */
static void post_waiting(struct rdma_conn *conn)
{
	struct read_chunks *first;

	while (!rdma_conn_is_closing(conn) && conn->work_requests.reads < read_chunks_bound(conn) &&
	       (first = TAILQ_FIRST(&conn->work_requests.waiting)))
		post_next(first);
}

/* Posts the next Read first, because read_done() can take long. */
static void on_read(void *arg)
{
	struct read_chunks *reads = arg;

	step(reads, &reads->done);
	if (!TAILQ_EMPTY(&reads->conn->work_requests.waiting))
		post_waiting(reads->conn);
	if (rdma_conn_is_up(reads->conn))
		reads->read_done(reads->arg);
}

uint32_t read_chunks_start(struct read_chunks *reads, const struct rpc_msg *to, struct exchange *x,
			   uint32_t read_max_bytes, void (*read_done)(void *arg), void *arg)
{
	struct rdma_conn *conn = reads->conn;
	uint32_t bytes = 0;

	reads->to = to;
	reads->x = x;
	reads->read_done = read_done;
	reads->arg = arg;
	reads->read_max_bytes = min_u32(read_max_bytes, conn->max_transfer_bytes);
	for (unsigned i = 0; i < reads->nplan_reads; i++)
		bytes += reads->plan_reads[i].len_bytes;
	rdma_conn_count_received(conn, bytes);
	if (reads->nplan_reads)
		TAILQ_INSERT_TAIL(&conn->work_requests.waiting, reads, entry);
	post_waiting(conn);
	return bytes;
}

void read_chunks_limit(struct rdma_conn *conn, unsigned max)
{
	conn->work_requests.reads_max = max;
	post_waiting(conn);
}

void read_chunks_end(struct rdma_conn *conn)
{
	TAILQ_INIT(&conn->work_requests.waiting);
}

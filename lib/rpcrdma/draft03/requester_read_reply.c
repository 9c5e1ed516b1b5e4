// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/draft03/requester_read_reply.h"

#include <errno.h>
#include <string.h>

#include "base/minmax.h"
#include "rpc/xdr.h"
#include "rpcrdma/read_chunks.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/work_request.h"

/*
 * The plan of a Reply and a copy of its inline part, since the Receive is returned before the Reads
 * start.
 */
struct read_reply {
	struct read_chunks reads;
	uint32_t total_bytes;
	unsigned ncopies;
	struct plan_copy *copies;
	uint8_t *body;
	struct plan_read plan_reads[];
};

/*
 * Saves plan and inline part in one allocation, tables and bytes after the struct. Returns 0 or
 * -ENOMEM.
 */
static int save_plan(struct requester_rpc *rpc, const struct read_plan *plan, const uint8_t *body,
		     uint32_t len_bytes)
{
	struct rdma_conn *conn = rpc->rq->conn;
	size_t plan_reads = plan->nplan_reads * sizeof(plan->plan_reads[0]);
	size_t copies = plan->ncopies * sizeof(plan->copies[0]);
	size_t size = sizeof(struct read_reply) + plan_reads + copies + len_bytes;
	struct read_reply *kept = freelists_get(conn->leg->config->freelists, size);

	if (!kept)
		return -ENOMEM;
	rpc->read_reply = kept;
	rpc->read_reply_bytes = size;
	kept->total_bytes = plan->total_bytes;
	kept->ncopies = plan->ncopies;
	kept->copies = (struct plan_copy *)(kept->plan_reads + plan->nplan_reads);
	kept->body = (uint8_t *)kept->copies + copies;
	memcpy(kept->plan_reads, plan->plan_reads, plan_reads);
	memcpy(kept->copies, plan->copies, copies);
	if (len_bytes)
		memcpy(kept->body, body, len_bytes);
	read_chunks_init(&kept->reads, conn, kept->plan_reads, plan->nplan_reads);
	return 0;
}

/*
 * An entry of a read list is as long as a struct plan_read. It makes at most two of these, and two
 * of struct plan_copy.
 */
_Static_assert(sizeof(struct plan_read) + sizeof(struct plan_copy) <=
		       RPCRDMA_READ_SEGMENT_BYTES + RPCRDMA_READ_SEGMENT_BYTES / 2,
	       "the kept part of a Send is at most three times as long as the Send");

size_t requester_read_reply_cost_bytes(uint32_t recv_bytes)
{
	/* The two additional copies are the bytes before and after all chunks. */
	return sizeof(struct read_reply) + 3 * (size_t)recv_bytes + 2 * sizeof(struct plan_copy);
}

/* Reverse Calls never get read-chunk Replies, because they have no chunks (D1.3.3-1). */
bool requester_read_reply_may(const struct requester_rpc *rpc)
{
	return rpc->limits.dialect->read_chunk_replies && rpc->rq->conn->connector;
}

/* Returns how much of its payload the server wrote. */
static uint32_t written_bytes(const struct rpcrdma_header *hdr)
{
	return hdr->nwrites ? (uint32_t)hdr->writes[0].len_bytes : 0;
}

/* Returns the longest message that the read list can form. */
static uint32_t limit_bytes(const struct requester_rpc *rpc, const struct rpcrdma_header *hdr)
{
	uint32_t whole = rpc->x->reply_max_bytes;
	uint64_t written = xdr_padded_bytes(written_bytes(hdr));

	if (!written)
		return whole;
	if (written >= whole)
		return 0;
	return min_u32(whole - (uint32_t)written, requester_rpc_inline_around_max(rpc));
}

enum read_plan_verdict requester_read_reply_plan(const struct requester_rpc *rpc,
						 const struct rpcrdma_header *hdr,
						 uint32_t len_bytes, struct read_plan *plan)
{
	enum read_plan_verdict verdict =
		read_plan_make(hdr, len_bytes, limit_bytes(rpc, hdr), plan);

	if (verdict == READ_PLAN_OK && plan->total_bytes < RPCRDMA_MIN_REPLY_BYTES)
		return READ_PLAN_BAD;
	return verdict;
}

static void send_done(struct rdma_conn *conn, const struct dialect *dialect, uint32_t xid)
{
	struct rpcrdma_header hdr;

	/* It requests credits as a Call does (A3.8-6). */
	rpcrdma_header_init(&hdr, xid, dialect->version, conn->window.asked, RPCRDMA_DONE);
	conn->counters->dones_sent++;
	work_request_post_send(conn, &hdr, NULL, 0, NULL, NULL);
}

void requester_read_reply_done(const struct requester_rpc *rpc)
{
	send_done(rpc->rq->conn, rpc->limits.dialect, rpc->x->call_info.hdr.xid);
}

void requester_read_reply_control_done(struct requester *rq, uint32_t xid)
{
	const struct dialect *dialect = rq->conn->limits.dialect;

	if (dialect->read_chunk_replies && !rq->reverse && requester_is_control_xid(rq, xid))
		send_done(rq->conn, dialect, xid);
}

/* Releases the server's memory when everything has been read. */
static void on_read(void *arg)
{
	struct requester_rpc *rpc = arg;
	struct requester *rq = rpc->rq;

	if (!read_chunks_are_done(&rpc->read_reply->reads))
		return;
	requester_read_reply_done(rpc);
	requester_rpc_free_read_reply(rpc);
	requester_rpc_end(rpc, EXCHANGE_OK);
	requester_kick(rq);
}

/* Returns the longest message that the buffer exposed for the Reply can hold. */
static uint64_t exposed_capacity(const struct requester_rpc *rpc)
{
	switch (rpc->form.placement) {
	case PLACEMENT_NONE:
		break;
	case PLACEMENT_REPLY_CHUNK:
		return rpc->form.placement_bytes;
	case PLACEMENT_WRITE_CHUNK:
		return 2 * (uint64_t)requester_rpc_inline_around_max(rpc) +
		       rpc->form.placement_bytes;
	}
	return 0;
}

/* Returns the memory for the message; NULL without memory. */
static struct rpc_msg *get_buffer(struct requester_rpc *rpc)
{
	struct buf_pool *pool = rpc->rq->conn->leg->config->pool;
	uint32_t total = rpc->read_reply->total_bytes;
	struct rpc_msg *reply = &rpc->x->reply;

	if (rpc->reply_placed_bytes)
		return reply;
	if (reply->buf && total <= exposed_capacity(rpc)) {
		rpc->reply_inline = *reply;
		rpc->reply_inline.len_bytes = rpc->reply_inline.have_bytes = total;
		*reply = (struct rpc_msg){0};
		return &rpc->reply_inline;
	}
	/* The claim covers one buffer, so the exposed one goes first. */
	rpc_msg_put(reply);
	return rpc_msg_get(pool, total, &rpc->reply_inline) ? NULL : &rpc->reply_inline;
}

/* Starts the Reads, when the peer can no longer reach the memory of the RPC. */
static void start_reads(struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rq->conn;
	struct read_reply *kept = rpc->read_reply;
	const struct rpc_msg *to;
	uint32_t bytes;

	if (!rdma_conn_is_up(conn))
		return; /* requester_rpcs_end() frees it */
	to = get_buffer(rpc);
	if (!to) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a Reply");
		return;
	}
	read_plan_copy(kept->copies, kept->ncopies, to->data, kept->body);
	bytes = read_chunks_start(&kept->reads, to, rpc->x, UINT32_MAX, on_read, rpc);
	conn->counters->reply_bytes_pulled += bytes;
	if (!bytes)
		on_read(rpc);
}

static void on_invalidated(struct exposed_mem *exposed_mem)
{
	start_reads(container_of(exposed_mem, struct requester_rpc, exposed_mem));
}

void requester_read_reply_begin(struct requester_rpc *rpc, const struct rpcrdma_header *hdr,
				const struct read_plan *plan, const uint8_t *body,
				uint32_t len_bytes)
{
	struct rdma_conn *conn = rpc->rq->conn;

	if (save_plan(rpc, plan, body, len_bytes)) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a Reply");
		return;
	}
	rpc->x->reply_forms[EXCHANGE_TARGET] = MESSAGE_FORM_READ_CHUNK;
	rpc->reply_placed_bytes = written_bytes(hdr);
	rpc->margin_bytes = plan->total_bytes;
	rdma_conn_count_received(conn, rpc->reply_placed_bytes);
	conn->counters->write_chunk_bytes_taken += rpc->reply_placed_bytes;
	requester_rpc_set_state(rpc, REQUESTER_PULLING);
	rpc->exposed_mem.invalidated = on_invalidated;
	if (!rpc->exposed_mem.nkeys || mem_expose_invalidate(&rpc->exposed_mem))
		start_reads(rpc);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/responder_rpc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "rpc/xdr.h"
#include "rpcrdma/mem_expose.h"
#include "rpcrdma/work_request.h"

_Static_assert(sizeof(struct exchange) + sizeof(struct responder_rpc) + sizeof(struct read_chunks) +
			       128 <=
		       EXCHANGE_OVERHEAD_BYTES,
	       "the small objects of an RPC, without the tables of its chunks");

STATE_TABLE(responder_rpc_states, RESPONDER_RPC_STATES);

/* Finds the key that a Send can invalidate: the Call must have exactly one (C5.1-1). */
static void find_one_handle(struct responder_rpc *rpc, const struct rpcrdma_header *hdr)
{
	unsigned total = hdr->nreads + hdr->nsegments;

	for (unsigned i = 0; i < total; i++) {
		uint32_t handle = i < hdr->nreads ? hdr->reads[i].seg.handle
						  : hdr->segments[i - hdr->nreads].handle;

		if (i > 0 && handle != rpc->handle) {
			rpc->one_handle = false;
			return;
		}
		rpc->handle = handle;
		rpc->one_handle = true;
	}
}

/* Copies a table to *@at and advances *@at. Most tables are empty. */
static void *put_table(uint8_t **at, const void *table, size_t size_bytes)
{
	void *to = *at;

	if (size_bytes)
		memcpy(to, table, size_bytes);
	*at += size_bytes;
	return to;
}

static struct read_chunks *put_reads(uint8_t **at, struct rdma_conn *conn,
				     const struct read_plan *plan)
{
	struct read_chunks *reads = (struct read_chunks *)*at;

	*at += sizeof(*reads);
	read_chunks_init(
		reads, conn,
		put_table(at, plan->plan_reads, plan->nplan_reads * sizeof(plan->plan_reads[0])),
		plan->nplan_reads);
	return reads;
}

/* Allocates the struct, its Reads if it has any, and the five tables in one piece. */
static struct responder_rpc *rpc_alloc(struct rdma_conn *conn, const struct rpcrdma_header *hdr,
				       const struct read_plan *plan)
{
	size_t copies = plan->ncopies * sizeof(plan->copies[0]);
	size_t reads = plan->nplan_reads ? sizeof(struct read_chunks) : 0;
	size_t plan_reads = plan->nplan_reads * sizeof(plan->plan_reads[0]);
	size_t chunks = plan->nchunks * sizeof(plan->chunks[0]);
	size_t writes = hdr->nwrites * sizeof(hdr->writes[0]);
	size_t segments = hdr->nsegments * sizeof(hdr->segments[0]);
	size_t head = (sizeof(struct responder_rpc) + 15) & ~(size_t)15;
	size_t size = head + reads + plan_reads + segments + writes + copies + chunks;
	struct responder_rpc *rpc = freelists_get(conn->leg->config->freelists, size);
	uint8_t *at = (uint8_t *)rpc + head;

	if (!rpc)
		return NULL;
	*rpc = (struct responder_rpc){
		.size_bytes = size,
		.total_bytes = plan->total_bytes,
		.ncopies = plan->ncopies,
		.nchunks = plan->nchunks,
		.nwrites = hdr->nwrites,
		.nsegments = hdr->nsegments,
		.has_reply_chunk = hdr->has_reply_chunk,
		.reply_chunk = hdr->reply_chunk,
	};
	/* The widest members first, so that each table is aligned. */
	if (reads)
		rpc->reads = put_reads(&at, conn, plan);
	rpc->segments = put_table(&at, hdr->segments, segments);
	rpc->writes = put_table(&at, hdr->writes, writes);
	rpc->copies = put_table(&at, plan->copies, copies);
	rpc->chunks = put_table(&at, plan->chunks, chunks);
	find_one_handle(rpc, hdr);
	return rpc;
}

static void rpc_free(struct freelists *freelists, struct responder_rpc *rpc)
{
	if (rpc)
		freelists_put(freelists, rpc, rpc->size_bytes);
}

/*
 * Returns the memory for the keys of an exposed Reply. One more segment is needed for the remainder
 * and for each payload that splits the Reply.
 */
static size_t keys_bytes(const struct responder_rpc *rpc)
{
	uint32_t segment = rpc->rs->conn->max_segment_bytes;

	return mem_expose_cost_bytes(min_u32(rpc->x->reply_max_bytes / segment + rpc->nwrites + 1,
					     responder_rpc_expose_max_segments(rpc)));
}

/*
 * Returns the memory in addition to the messages, for an RPC with chunks or with a Reply that can
 * be exposed.
 */
static size_t chunks_bytes(const struct responder_rpc *rpc, bool to_read)
{
	const struct rdma_conn *conn = rpc->rs->conn;
	size_t nworks = (size_t)rpc->nsegments + rpc->nwrites, bytes = 0;

	/*
	 * A Reply in more pieces than a Send can gather is copied, whatever its length
	 * (work_request.h).
	 */
	if (rpc->nwrites + 1 >= conn->max_sge)
		bytes = buf_pool_class_bytes(rpc->limits.send_bytes);
	if (to_read)
		bytes += read_chunks_cost_bytes(
			conn, (size_t)rpc->reads->nplan_reads +
				      rpc->total_bytes / conn->max_transfer_bytes +
				      rpc->total_bytes / RESPONDER_READ_BYTES);
	if (rpc->nsegments)
		nworks += rpc->x->reply_max_bytes / conn->max_transfer_bytes;
	if (rpc->nwrites)
		nworks += rpc->x->reply_max_bytes / WORK_REQUEST_MIN_WRITE_BYTES;
	if (responder_rpc_may_expose(rpc))
		bytes += keys_bytes(rpc);
	return bytes + work_request_cost_bytes(nworks);
}

size_t responder_rpc_cost_bytes(const struct responder_rpc *rpc, size_t call_bytes, bool to_read)
{
	const struct rdma_conn *conn = rpc->rs->conn;
	const struct exchange *x = rpc->x;

	if (to_read || rpc->nsegments || rpc->nwrites || conn->max_sge < 2 ||
	    responder_rpc_may_expose(rpc))
		call_bytes += chunks_bytes(rpc, to_read);
	return exchange_cost_bytes(call_bytes, x->reply_max_bytes, &x->call_info,
				   &conn->leg->config->reply_memory);
}

/*
 * Returns the length of the header with the write list of the Call, and optionally with its reply
 * chunk.
 */
static uint64_t header_bytes(const struct responder_rpc *rpc, bool with_reply_chunk)
{
	uint64_t bytes = RPCRDMA_MIN_HDR_BYTES;

	for (unsigned i = 0; i < rpc->nwrites; i++)
		bytes += RPCRDMA_WRITE_CHUNK_BYTES(rpc->writes[i].count);
	if (with_reply_chunk)
		bytes += RPCRDMA_REPLY_CHUNK_BYTES(rpc->reply_chunk.count);
	return bytes;
}

/*
 * Returns the longest Send for a Reply that can also go by chunk. Since the Call the client can
 * have lowered its Receives, because it does not rely on a longer Send (B3.1-7); a lower size
 * applies as soon as this end has requested it (B3.1-4).
 */
static uint32_t send_bytes(const struct responder_rpc *rpc)
{
	return min_u32(rpc->limits.send_bytes, rpc->rs->conn->limits.send_bytes);
}

/*
 * Returns the longest Send for a Reply that cannot go by chunk: at most what the client last
 * advertised, because its Receives are no larger (B3.1-8).
 */
static uint32_t reply_bytes(const struct responder_rpc *rpc)
{
	return min_u32(rpc->limits.reply_bytes, rpc->rs->conn->limits.reply_bytes);
}

static uint64_t inline_max(const struct responder_rpc *rpc, uint32_t pending_req_bytes)
{
	uint64_t hdr = header_bytes(rpc, responder_rpc_returns_reply_chunk(rpc));
	uint32_t send = min_u32(rpc->has_reply_chunk ? send_bytes(rpc) : reply_bytes(rpc),
				pending_req_bytes);

	return hdr < send ? send - hdr : 0;
}

uint64_t responder_rpc_inline_max(const struct responder_rpc *rpc)
{
	return inline_max(rpc, rpc->rs->conn->limits.pending_req_bytes);
}

uint64_t responder_rpc_settled_inline_max(const struct responder_rpc *rpc)
{
	return inline_max(rpc, UINT32_MAX);
}

uint64_t responder_rpc_chunk_max(const struct responder_rpc *rpc)
{
	if (!rpc->has_reply_chunk || header_bytes(rpc, true) > send_bytes(rpc))
		return 0;
	return rpc->reply_chunk.len_bytes;
}

unsigned responder_rpc_expose_max_segments(const struct responder_rpc *rpc)
{
	uint32_t send = reply_bytes(rpc);
	uint64_t hdr;

	if (!responder_rpc_may_expose(rpc))
		return 0;
	hdr = header_bytes(rpc, false);
	if (hdr >= send)
		return 0;
	return min_u32((uint32_t)((send - hdr) / RPCRDMA_READ_SEGMENT_BYTES), RPCRDMA_MAX_SEGMENTS);
}

/* Returns the length of the Send for a Reply that no chunk can hold; 0 if a chunk can. */
static uint32_t needed_send_bytes(const struct responder_rpc *rpc)
{
	uint64_t bytes = header_bytes(rpc, responder_rpc_returns_reply_chunk(rpc)) +
			 xdr_padded_bytes(rpc->x->reply_max_bytes);

	if (responder_rpc_chunk_max(rpc))
		return 0;
	return bytes < reply_bytes(rpc) ? (uint32_t)bytes : reply_bytes(rpc);
}

uint32_t responder_longest_reply_bytes(struct responder *rs, uint64_t after, uint32_t enough)
{
	const struct exchange *x;
	uint32_t longest_bytes = 0;

	if (enough == UINT32_MAX)
		return 0;
	TAILQ_FOREACH_REVERSE(x, &rs->calls, exchange_list, origin_entry)
	{
		const struct responder_rpc *rpc = x->origin_priv;
		uint32_t bytes;

		if (rpc->number <= after)
			break;
		bytes = needed_send_bytes(rpc);
		rs->nexamined++;
		if (bytes > longest_bytes)
			longest_bytes = bytes;
		if (longest_bytes > enough)
			break;
	}
	return longest_bytes;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns the largest Reply that the peer's chunks and Receives, or an exposed Reply, can hold.
 * Write chunks hold only payloads, so this also records whether the rest has a place.
 */
static uint32_t capacity(struct responder_rpc *rpc)
{
	const struct rdma_conn *conn = rpc->rs->conn;
	uint32_t limit = conn->leg->config->max_message_bytes;
	uint64_t reply_max_bytes =
		larger(responder_rpc_settled_inline_max(rpc), responder_rpc_chunk_max(rpc));

	if (responder_rpc_may_expose(rpc))
		reply_max_bytes =
			larger(reply_max_bytes, (uint64_t)responder_rpc_expose_max_segments(rpc) *
							conn->max_segment_bytes);
	rpc->reply_fits = reply_max_bytes >= RPCRDMA_MIN_REPLY_BYTES;
	for (unsigned i = 0; i < rpc->nwrites; i++)
		reply_max_bytes += xdr_padded_bytes(rpc->writes[i].len_bytes);
	return reply_max_bytes < limit ? (uint32_t)reply_max_bytes : limit;
}

int responder_rpc_new(struct responder *rs, const struct rpcrdma_header *hdr,
		      const struct read_plan *plan, struct responder_rpc **out)
{
	struct freelists *freelists = rs->conn->leg->config->freelists;
	struct responder_rpc *rpc = rpc_alloc(rs->conn, hdr, plan);
	struct exchange *x = exchange_new(freelists);
	int rc = -ENOMEM;

	if (!rpc || !x)
		goto out_free;
	x->stage_us = rdma_conn_now_us(rs->conn);
	x->call_info.hdr.xid = hdr->xid;
	rc = xid_table_add(&rs->table, x);
	if (rc)
		goto out_free;
	rpc->rs = rs;
	rpc->number = ++rs->numbered;
	rpc->x = x;
	rpc->state = RESPONDER_ADMITTING;
	rpc->limits = rs->conn->limits;
	x->origin = rs->conn->leg;
	x->origin_priv = rpc;
	x->reply_max_bytes = capacity(rpc);
	TAILQ_INSERT_TAIL(&rs->calls, x, origin_entry);
	*out = rpc;
	return 0;

out_free:
	exchange_put(x);
	rpc_free(freelists, rpc);
	return rc;
}

void responder_rpc_finish(struct responder_rpc *rpc)
{
	struct responder *rs = rpc->rs;
	struct exchange *x = rpc->x;

	rs->waiting_for_size -= rpc->waits_for_size;
	rs->waiting_for_key -= rpc->waits_for_key;
	xid_table_remove(&rs->table, x);
	TAILQ_REMOVE(&rs->calls, x, origin_entry);
	x->origin = NULL;
	x->origin_priv = NULL;
	/* A granted claim stays until the exchange is freed. */
	if (x->claim.state == BUDGET_CLAIM_WAITING)
		budget_claim_release(&x->claim);
	buf_put(rpc->saved_inline);
	rpc_free(rs->conn->leg->config->freelists, rpc);
	exchange_put(x);
	rdma_conn_rpc_done(rs->conn);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/requester_rpc.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/usdt.h"
#include "nfs/nfs.h"
#include "rpc/xdr.h"
#include "rpcrdma/draft03/msgp.h"
#include "rpcrdma/send_msg.h"

_Static_assert(sizeof(struct exchange) + sizeof(struct requester_rpc) + 128 <=
		       EXCHANGE_OVERHEAD_BYTES,
	       "the small objects of an RPC, including the record of a TCP leg");

STATE_TABLE(requester_rpc_states, REQUESTER_RPC_STATES);

static void deliver_failed(void *arg);
static void on_invalidated(struct exposed_mem *exposed_mem);
static void invalidate(struct requester_rpc *rpc);

void requester_rpcs_init(struct requester *rq, void (*requeue)(struct requester_rpc *rpc))
{
	rq->starved = false;
	rq->requeue = requeue;
	rq->count = rq->abandoned = 0;
	TAILQ_INIT(&rq->active);
	TAILQ_INIT(&rq->failed);
	xid_table_init(&rq->table, EXCHANGE_TARGET);
	loop_task_init(&rq->failed_task, deliver_failed, rq);
}

void requester_rpcs_fini(struct requester *rq)
{
	assert(rq->count == 0);
	loop_task_cancel(rq->conn->fabric->loop, &rq->failed_task);
	xid_table_fini(&rq->table);
}

struct requester_rpc *requester_rpc_new(struct requester *rq, struct exchange *x)
{
	struct requester_rpc *rpc = freelists_get(rq->conn->leg->config->freelists, sizeof(*rpc));

	if (!rpc)
		return NULL;
	/* The plan sets limits and form; keys are set when they are bound. */
	rpc->rq = rq;
	rpc->x = x;
	rpc->state = REQUESTER_QUEUED;
	rpc->fault = EXCHANGE_OK;
	rpc->reply_inline = (struct rpc_msg){0};
	rpc->reply_placed_bytes = rpc->margin_bytes = 0;
	rpc->read_reply = NULL;
	mem_expose_init(&rpc->exposed_mem, rq->conn, on_invalidated);
	x->target = rq->conn->leg;
	x->target_priv = rpc;
	rq->count++;
	return rpc;
}

/* Frees an RPC that is in no list. Returns its exchange, with the reference. */
static struct exchange *free_rpc(struct requester_rpc *rpc)
{
	struct requester *rq = rpc->rq;
	struct exchange *x = rpc->x;

	rq->count--;
	x->target = NULL;
	x->target_priv = NULL;
	if (rpc->read_reply) {
		rpc_msg_put(&rpc->reply_inline);
		requester_rpc_free_read_reply(rpc);
	}
	mem_expose_fini(&rpc->exposed_mem);
	freelists_put(rq->conn->leg->config->freelists, rpc, sizeof(*rpc));
	rdma_conn_rpc_done(rq->conn);
	return x;
}

void requester_rpc_drop(struct requester_rpc *rpc)
{
	assert(rpc->state == REQUESTER_QUEUED || rpc->state == REQUESTER_FAILED);
	exchange_put(free_rpc(rpc));
}

void requester_rpcs_end(struct requester *rq)
{
	struct exchange *x;

	loop_task_cancel(rq->conn->fabric->loop, &rq->failed_task);
	/*
	 * After the connection has closed, an unbind is immediate: each RPC ends here, unanswered.
	 */
	while ((x = TAILQ_FIRST(&rq->active))) {
		struct requester_rpc *rpc = x->target_priv;

		/* It was waiting for the rest of its Call. */
		if (rpc->state == REQUESTER_ENDING || rpc->state == REQUESTER_FAILING ||
		    rpc->state == REQUESTER_STARVED)
			invalidate(rpc);
		else
			requester_rpc_end(rpc, EXCHANGE_FAULT_BAD_REPLY);
	}
	while ((x = TAILQ_FIRST(&rq->failed))) {
		TAILQ_REMOVE(&rq->failed, x, target_entry);
		requester_rpc_drop(x->target_priv);
	}
	assert(rq->count == 0);
}

struct requester_rpc *requester_rpc_find(const struct requester *rq, uint32_t xid)
{
	struct exchange *x = xid_table_find(&rq->table, xid);

	return x ? x->target_priv : NULL;
}

/* ---- delivery ---- */

static void deliver(struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rq->conn;
	const struct leg_config *config = conn->leg->config;
	struct exchange *x = rpc->x;

	x->fault = rpc->fault;
	if (x->fault != EXCHANGE_OK)
		rpc_msg_put(&x->reply);
	free_rpc(rpc);
	if (rdma_conn_is_closing(conn))
		exchange_put(x);
	else
		config->events->reply(config->arg, x);
}

static void deliver_failed(void *arg)
{
	struct requester *rq = arg;
	struct exchange *x;

	while (!rdma_conn_is_closing(rq->conn) && (x = TAILQ_FIRST(&rq->failed))) {
		TAILQ_REMOVE(&rq->failed, x, target_entry);
		deliver(x->target_priv);
	}
}

void requester_rpc_fail(struct requester_rpc *rpc, enum exchange_fault fault)
{
	rpc->fault = fault;
	requester_rpc_set_state(rpc, REQUESTER_FAILED);
	TAILQ_INSERT_TAIL(&rpc->rq->failed, rpc->x, target_entry);
	loop_defer(rpc->rq->conn->fabric->loop, &rpc->rq->failed_task);
}

/* Looks only at XID and type: a transport must not look at more. */
static bool is_reply_to(const struct rpc_msg *msg, uint32_t xid)
{
	enum rpc_msg_type type;
	uint32_t got;

	return rpc_msg_peek(msg->data, msg->len_bytes, &got, &type) == RPC_OK &&
	       type == RPC_REPLY && got == xid;
}

/* ---- a separately placed payload (requester_rpc.h) ---- */

#define PLACEMENT_PAD_BYTES XDR_UNIT_BYTES

/* Allocates memory for such a Reply. Returns 0 or -ENOMEM. */
static int alloc_placement(const struct requester_rpc *rpc, struct rpc_msg *reply)
{
	size_t space_bytes = requester_rpc_inline_around_max(rpc);

	reply->buf = buf_get(rpc->rq->conn->leg->config->pool,
			     RPC_MSG_HEADROOM + space_bytes + rpc->form.placement_bytes +
				     space_bytes + PLACEMENT_PAD_BYTES);
	if (!reply->buf)
		return -ENOMEM;
	reply->data = reply->buf->mem + RPC_MSG_HEADROOM;
	return 0;
}

static uint8_t *placement_memory(const struct requester_rpc *rpc, const struct rpc_msg *reply)
{
	return reply->buf->mem + RPC_MSG_HEADROOM + requester_rpc_inline_around_max(rpc);
}

/*
 * Moves the inline bytes around the payload, after the peer can no longer write there.
 * @before_bytes of them belong before the payload. Adds the pad of the payload, up to
 * @padded_bytes.
 */
static void assemble_around(const struct requester_rpc *rpc, uint32_t before_bytes,
			    uint32_t payload_bytes, uint32_t padded_bytes)
{
	struct rpc_msg *reply = &rpc->x->reply;
	uint8_t *at = placement_memory(rpc, reply);

	memset(at + payload_bytes, 0, padded_bytes - payload_bytes);
	memmove(at + padded_bytes, reply->data + before_bytes, rpc->margin_bytes - before_bytes);
	memmove(at - before_bytes, reply->data, before_bytes);
	reply->data = at - before_bytes;
	reply->len_bytes = reply->have_bytes = rpc->margin_bytes + padded_bytes;
}

/* Joins the payload with the inline bytes around it. Returns false if they do not form a Reply. */
static bool join_placed(struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rq->conn;
	const struct rpc_msg *reply = &rpc->x->reply;
	uint32_t padded = (uint32_t)xdr_padded_bytes(rpc->reply_placed_bytes);
	struct rpc_payload payload;

	/*
	 * The search does not depend on the payload's content, so the bytes after the inline ones
	 * stand for it.
	 */
	if (nfs_reply_ddp_items(&rpc->x->call_info, reply->data, rpc->margin_bytes + padded,
				&payload, 1) != 1 ||
	    payload.offset_bytes > rpc->margin_bytes)
		return false;
	/* The peer wrote the payload with or without its pad (A-Δ5). */
	if (payload.len_bytes != rpc->reply_placed_bytes &&
	    (!conn->peer->lenient ||
	     xdr_padded_bytes(payload.len_bytes) != rpc->reply_placed_bytes))
		return false;
	assemble_around(rpc, payload.offset_bytes, payload.len_bytes, padded);
	return true;
}

/*
 * Returns true if the payload arrived inline although a write chunk was offered (A3.7-1). READLINK
 * paths are tolerated: Linux before 5.11 (NFSv4) and Chimera leave those chunks unused.
 */
static bool has_payload_inline(const struct requester_rpc *rpc)
{
	const struct call_info *call_info = &rpc->x->call_info;
	const struct rpc_msg *reply = &rpc->x->reply;
	struct rpc_payload payload;

	if (rpc->form.placement != PLACEMENT_WRITE_CHUNK || !rpc->limits.dialect->reduces_results ||
	    (!call_info->result_is_data && rpc->rq->conn->peer->lenient))
		return false;
	return nfs_reply_ddp_items(call_info, reply->data, reply->len_bytes, &payload, 1) == 1 &&
	       payload.len_bytes;
}

static enum exchange_fault bad_payload(const struct requester_rpc *rpc, const char *what)
{
	struct rdma_conn *conn = rpc->rq->conn;

	conn->counters->bad_replies++;
	rdma_conn_note(conn, "Reply %#x has %s", rpc->x->call_info.hdr.xid, what);
	return EXCHANGE_FAULT_BAD_REPLY;
}

/* Assembles x->reply from the received parts. */
static enum exchange_fault assemble(struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rq->conn;
	struct exchange *x = rpc->x;

	if (rpc->reply_inline.buf) {
		rpc_msg_put(&x->reply);
		x->reply = rpc->reply_inline;
		if (has_payload_inline(rpc))
			return bad_payload(rpc,
					   "a payload inline although a write chunk was offered");
	} else if (rpc->form.placement == PLACEMENT_WRITE_CHUNK) {
		if (!join_placed(rpc))
			return bad_payload(rpc, "no payload that matches its write chunk");
	} else {
		x->reply.len_bytes = x->reply.have_bytes = rpc->reply_placed_bytes;
	}
	if (is_reply_to(&x->reply, x->call_info.hdr.xid))
		return EXCHANGE_OK;
	conn->counters->xid_mismatches++;
	rdma_conn_note(conn, "Reply %#x: not an RPC Reply with this XID", x->call_info.hdr.xid);
	return EXCHANGE_FAULT_BAD_REPLY;
}

/* Queues a starved RPC again, to be planned again when keys are free. */
static void requeue_starved(struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rq->conn;

	rpc_msg_put(&rpc->x->reply);
	mem_expose_fini(&rpc->exposed_mem);
	mem_expose_init(&rpc->exposed_mem, conn, on_invalidated);
	requester_rpc_set_state(rpc, REQUESTER_QUEUED);
	rpc->rq->requeue(rpc);
}

/* Ends an RPC whose memory the peer can no longer reach. */
static void finish_rpc(struct requester_rpc *rpc)
{
	TAILQ_REMOVE(&rpc->rq->active, rpc->x, target_entry);
	if (rpc->state == REQUESTER_STARVED && !rdma_conn_is_closing(rpc->rq->conn)) {
		requeue_starved(rpc);
		return;
	}
	if (rpc->state == REQUESTER_FAILING || rpc->state == REQUESTER_STARVED) {
		requester_rpc_fail(rpc, EXCHANGE_FAULT_CANT_SEND);
		return;
	}
	if (rpc->fault == EXCHANGE_FAULT_LATE) {
		exchange_put(free_rpc(rpc));
		return;
	}
	if (rpc->fault == EXCHANGE_OK)
		rpc->fault = assemble(rpc);
	deliver(rpc);
}

static void on_invalidated(struct exposed_mem *exposed_mem)
{
	finish_rpc(container_of(exposed_mem, struct requester_rpc, exposed_mem));
}

static void invalidate(struct requester_rpc *rpc)
{
	if (!rpc->exposed_mem.nkeys || mem_expose_invalidate(&rpc->exposed_mem))
		finish_rpc(rpc);
}

void requester_rpc_end(struct requester_rpc *rpc, enum exchange_fault fault)
{
	xid_table_remove(&rpc->rq->table, rpc->x);
	credit_window_release(&rpc->rq->conn->window);
	rpc->fault = fault;
	if (rpc->state == REQUESTER_ABANDONED) {
		rpc->rq->abandoned--;
		rpc->fault = EXCHANGE_FAULT_LATE;
	}
	requester_rpc_set_state(rpc, REQUESTER_ENDING);
	invalidate(rpc);
}

/* ---- sending ---- */

/* Returns how many exposed bytes of the Call have arrived; the inline bytes always have. */
static uint32_t exposed_here_bytes(const struct requester_rpc *rpc)
{
	const struct msg_form *form = &rpc->form.call;
	uint32_t have = rpc->x->call.have_bytes;

	return have > form->chunk_at ? min_u32(have - form->chunk_at, form->chunk_bytes) : 0;
}

static int expose_call(struct requester_rpc *rpc)
{
	const struct rpc_msg *call = &rpc->x->call;
	const struct msg_form *form = &rpc->form.call;

	if (form->form == MESSAGE_FORM_SHORT)
		return 0;
	return mem_expose_add(&rpc->exposed_mem, call->buf, call->data + form->chunk_at,
			      form->chunk_bytes, exposed_here_bytes(rpc), FABRIC_REMOTE_READ);
}

static int expose_placement(struct requester_rpc *rpc)
{
	struct rpc_msg *reply = &rpc->x->reply;
	uint32_t len = rpc->form.placement_bytes;
	uint8_t *mem = NULL;
	int rc = 0;

	switch (rpc->form.placement) {
	case PLACEMENT_NONE:
		return 0;
	case PLACEMENT_REPLY_CHUNK:
		rc = rpc_msg_get(rpc->rq->conn->leg->config->pool, len, reply);
		mem = reply->data;
		break;
	case PLACEMENT_WRITE_CHUNK:
		rc = alloc_placement(rpc, reply);
		if (!rc)
			mem = placement_memory(rpc, reply);
		break;
	}
	return rc ? rc
		  : mem_expose_add(&rpc->exposed_mem, reply->buf, mem, len, len,
				   FABRIC_REMOTE_WRITE);
}

static int expose_all(struct requester_rpc *rpc, unsigned nkeys)
{
	int rc = mem_expose_reserve(&rpc->exposed_mem, nkeys);

	if (!rc)
		rc = expose_call(rpc);
	return rc ? rc : expose_placement(rpc);
}

/* Adds the Call in the chosen form: the chunk and its pad do not go inline (A3.4-3). */
static void put_call(struct send_msg *m, const struct requester_rpc *rpc)
{
	const struct rpc_msg *call = &rpc->x->call;
	const struct msg_form *form = &rpc->form.call;
	uint64_t end = form->chunk_at + xdr_padded_bytes(form->chunk_bytes);

	for (unsigned i = 0; i < form->nsegments; i++)
		m->hdr.reads[m->hdr.nreads++] = (struct rpcrdma_read_segment){
			form->chunk_at, mem_expose_segment(&rpc->exposed_mem, i)};
	send_msg_add_piece(m, call, 0, form->chunk_at);
	if (form->form == MESSAGE_FORM_LONG)
		m->hdr.proc = RPCRDMA_NOMSG;
	else if (end < call->len_bytes)
		send_msg_add_piece(m, call, (uint32_t)end, call->len_bytes);
}

/* Adds the chunk into which the peer can write the payload of the Reply, or the whole Reply. */
static void offer_chunk(struct send_msg *m, const struct requester_rpc *rpc)
{
	struct rpcrdma_chunk chunk = {.count = rpc->form.placement_nsegments};

	for (unsigned i = 0; i < chunk.count; i++) {
		struct rpcrdma_segment seg =
			mem_expose_segment(&rpc->exposed_mem, rpc->form.call.nsegments + i);

		m->hdr.segments[m->hdr.nsegments++] = seg;
		chunk.len_bytes += seg.len_bytes;
	}
	if (rpc->form.placement == PLACEMENT_WRITE_CHUNK) {
		m->hdr.writes[m->hdr.nwrites++] = chunk;
	} else {
		m->hdr.has_reply_chunk = true;
		m->hdr.reply_chunk = chunk;
	}
}

static void post_call(struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rq->conn;
	const struct call_form *form = &rpc->form;
	struct send_msg m;

	send_msg_init(&m, rpc->limits.dialect, rpc->x->call_info.hdr.xid);
	put_call(&m, rpc);
	if (form->placement != PLACEMENT_NONE)
		offer_chunk(&m, rpc);
	if (rpc->limits.dialect->padding) {
		msgp_encode(&m, conn, &rpc->x->call, NULL,
			    rpc->limits.send_bytes - rpcrdma_header_bytes(&m.hdr));
		rpc->form.padded = m.hdr.proc == RPCRDMA_MSGP;
	}
	exchange_stage_enter(rpc->x, CALL_STAGE_SERVER, rdma_conn_now_us(conn));
	rpc->x->call_forms[EXCHANGE_TARGET] = (uint8_t)form->call.form;
	USDT3(call__sent, rpc->x, rpc->x->call_info.hdr.xid, rpc->x->call.len_bytes);
	negotiation_call_sent(&conn->negotiation);
	conn->counters->calls_sent++;
	rdma_conn_count_form(conn, form->call.form);
	conn->counters->call_chunk_bytes_offered += form->call.chunk_bytes;
	rdma_conn_replenish(conn);
	/* Exposed memory must stay allocated until the work request that announces it is done. */
	send_msg_post(&m, conn, conn->window.asked,
		      rpc->exposed_mem.nkeys || !work_request_copies(m.pieces_bytes) ? rpc->x
										     : NULL,
		      NULL);
}

/* Handles an RPC for which not all memory could be exposed; @rc is the error. */
static void fail_unexposed(struct requester_rpc *rpc, int rc)
{
	struct rdma_conn *conn = rpc->rq->conn;

	xid_table_remove(&rpc->rq->table, rpc->x);
	if (rc == -EAGAIN && fabric_key_await(conn->ep, rpc->exposed_mem.nkeys)) {
		conn->counters->key_waits++;
		rpc->rq->starved = true;
		requester_rpc_set_state(rpc, REQUESTER_STARVED);
	} else {
		rdma_conn_note(conn, "Call %#x: no memory or key to expose it",
			       rpc->x->call_info.hdr.xid);
		requester_rpc_set_state(rpc, REQUESTER_FAILING);
	}
	invalidate(rpc);
}

bool requester_rpc_send(struct requester_rpc *rpc)
{
	struct requester *rq = rpc->rq;
	unsigned nkeys = rpc->form.call.nsegments + rpc->form.placement_nsegments;
	int rc = 0;

	if (xid_table_add(&rq->table, rpc->x))
		return false;
	TAILQ_INSERT_TAIL(&rq->active, rpc->x, target_entry);
	if (nkeys)
		rc = expose_all(rpc, nkeys);
	if (rc && rc != -ENOTCONN) {
		fail_unexposed(rpc, rc);
		return true;
	}
	requester_rpc_set_state(rpc, REQUESTER_SENT);
	credit_window_consume(&rq->conn->window);
	/*
	 * -ENOTCONN: the connection is lost, but its end is not reported yet. The RPC ends together
	 * with the connection.
	 */
	if (!rc)
		post_call(rpc);
	return true;
}

void requester_rpc_resend(struct requester_rpc *rpc)
{
	requester_rpc_set_state(rpc, REQUESTER_RESENT);
	/* Sizes and exposed keys of the first plan stay; only the dialect changes. */
	rpc->limits.dialect = rpc->rq->conn->limits.dialect;
	post_call(rpc);
}

/* Returns the longest Send that the Reply can need. */
static uint32_t needed_recv_bytes(const struct requester_rpc *rpc)
{
	uint64_t whole = RPCRDMA_MIN_HDR_BYTES + xdr_padded_bytes(rpc->x->reply_max_bytes);

	if (rpc->state != REQUESTER_SENT && rpc->state != REQUESTER_RESENT &&
	    rpc->state != REQUESTER_ABANDONED)
		return 0;
	if (rpc->form.placement == PLACEMENT_REPLY_CHUNK)
		return 0;
	return whole < rpc->limits.recv_bytes ? (uint32_t)whole : rpc->limits.recv_bytes;
}

uint32_t requester_longest_reply_bytes(const struct requester *rq, uint32_t enough)
{
	const struct exchange *x;
	uint32_t longest_bytes = 0;

	if (enough == UINT32_MAX)
		return 0;
	TAILQ_FOREACH(x, &rq->active, target_entry) {
		uint32_t bytes = needed_recv_bytes(x->target_priv);

		if (bytes > longest_bytes)
			longest_bytes = bytes;
		if (longest_bytes > enough)
			break;
	}
	return longest_bytes;
}

void requester_rpc_more(struct requester_rpc *rpc)
{
	/* Fewer keys are bound if the connection was lost and its end is not reported yet. */
	unsigned nkeys = min_u32(rpc->form.call.nsegments, rpc->exposed_mem.nkeys);

	mem_expose_ready(&rpc->exposed_mem, 0, nkeys, exposed_here_bytes(rpc));
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The path of a Call:
 *
 * responder_call() checks the chunk lists and creates the RPC, claim() reserves its memory, admit()
 * copies its inline bytes, start_reads() posts its Reads, and deliver_call() or deliver_part()
 * delivers it.
 */
#include "rpcrdma/responder.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/minmax.h"
#include "rpcrdma/draft03/responder_read_reply.h"
#include "rpcrdma/responder_reply.h"
#include "rpcrdma/responder_rpc.h"
#include "rpcrdma/work_request.h"

void responder_init(struct responder *rs, struct rdma_conn *conn)
{
	rs->conn = conn;
	rs->reverse = conn->connector;
	rs->answer = responder_more;
	TAILQ_INIT(&rs->calls);
	xid_table_init(&rs->table, EXCHANGE_ORIGIN);
}

void responder_cancel_waiting(struct responder *rs)
{
	struct exchange *x;

	TAILQ_FOREACH(x, &rs->calls, origin_entry) {
		struct responder_rpc *rpc = x->origin_priv;

		if (rpc->state == RESPONDER_ADMITTING)
			budget_claim_release(&x->claim);
	}
}

void responder_end(struct responder *rs)
{
	struct exchange *x;

	responder_read_reply_end(rs);
	while ((x = TAILQ_FIRST(&rs->calls)))
		responder_rpc_finish(x->origin_priv);
}

void responder_fini(struct responder *rs)
{
	responder_read_reply_fini(rs);
	loop_timer_free(rs->conn->fabric->loop, rs->size_timer);
	xid_table_fini(&rs->table);
}

bool responder_is_idle(const struct responder *rs)
{
	return TAILQ_EMPTY(&rs->calls);
}

bool responder_is_flooded(struct responder *rs)
{
	struct rdma_conn *conn = rs->conn;
	unsigned max = RESPONDER_SENDS_EXTRA + 2 * conn->grant.granted + conn->window.asked;

	if (conn->work_requests.sends <= max)
		return false;
	rdma_conn_fail(conn, LEG_CLOSE_REPLY_STALLED,
		       "peer keeps sending but does not receive Replies");
	return true;
}

/*
 * Returns true if a Call can be accepted now. A draining leg ignores Calls; the client retransmits
 * them on its next connection.
 */
static bool accepts_calls(struct responder *rs)
{
	struct rdma_conn *conn = rs->conn;

	if (conn->state.now == RDMA_OPEN)
		return !responder_is_flooded(rs);
	conn->counters->drained_calls++;
	return false;
}

void responder_reject(struct responder *rs, const struct rpcrdma_header *hdr, enum rpcrdma_err err)
{
	if (!accepts_calls(rs))
		return;
	credit_grant_call(&rs->conn->grant, hdr->credit);
	credit_grant_done(&rs->conn->grant);
	responder_send_error(rs->conn, hdr->xid, hdr->vers, err);
}

/*
 * Returns true if the Call is delivered in parts, as its Reads finish. This requires a Call that is
 * fully parsed from its inline bytes, and long enough for at least two parts.
 */
static bool is_delivered_in_parts(const struct responder_rpc *rpc)
{
	const struct rdma_conn *conn = rpc->rs->conn;
	const struct call_info *call_info = &rpc->x->call_info;

	return conn->leg->config->partial && !conn->connector &&
	       rpc->total_bytes >= 2 * RESPONDER_PART_BYTES &&
	       call_info->stage == CALL_INFO_COMPLETE && call_info->parse != CALL_PARSE_HOLE;
}

static void count_call(const struct responder_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rs->conn;

	conn->counters->calls_received++;
	rdma_conn_count_form(conn, rpc->x->call_forms[EXCHANGE_ORIGIN]);
}

/* Delivers a complete Call. */
static void deliver_call(struct responder_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rs->conn;
	const struct leg_config *config = conn->leg->config;
	struct exchange *x = rpc->x;

	if (!responder_parse(rpc))
		return;
	count_call(rpc);
	responder_rpc_set_state(rpc, RESPONDER_EXECUTING);
	x->start_us = rdma_conn_now_us(conn);
	config->events->call(config->arg, exchange_ref(x));
}

/* Delivers the next part of a Call. Its Reply can arrive before its last part. */
static void deliver_part(struct responder_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rs->conn;
	const struct leg_config *config = conn->leg->config;
	struct exchange *x = rpc->x;

	x->call.have_bytes = read_chunks_have_bytes(rpc->reads, rpc->total_bytes);
	if (!responder_rpc_is_read(rpc) &&
	    x->call.have_bytes - rpc->delivered_bytes < RESPONDER_PART_BYTES)
		return;
	rpc->delivered_bytes = x->call.have_bytes;
	x->start_us = rdma_conn_now_us(conn);
	if (rpc->state == RESPONDER_PULLING) {
		count_call(rpc);
		responder_rpc_set_state(rpc, RESPONDER_EXECUTING);
		config->events->call(config->arg, exchange_ref(x));
	} else {
		config->events->more(config->arg, x);
	}
	if (responder_rpc_is_read(rpc) && rpc->is_answered)
		responder_reply(rpc);
}

static void on_read(void *arg)
{
	struct responder_rpc *rpc = arg;

	if (rpc->in_parts)
		deliver_part(rpc);
	else if (responder_rpc_is_read(rpc))
		deliver_call(rpc);
}

static void start_reads(struct responder_rpc *rpc)
{
	uint32_t read_max_bytes;

	responder_rpc_set_state(rpc, RESPONDER_PULLING);
	rpc->in_parts = is_delivered_in_parts(rpc);
	read_max_bytes = rpc->in_parts ? RESPONDER_READ_BYTES : UINT32_MAX;
	rpc->rs->conn->counters->read_chunk_bytes_pulled +=
		read_chunks_start(rpc->reads, &rpc->x->call, rpc->x, read_max_bytes, on_read, rpc);
}

/* Receives a Call, once the budget has granted all memory that its RPC can need. */
static void admit(struct responder_rpc *rpc, const uint8_t *inline_bytes)
{
	struct rdma_conn *conn = rpc->rs->conn;
	struct exchange *x = rpc->x;

	if (rpc_msg_get(conn->leg->config->pool, rpc->total_bytes, &x->call)) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a Call");
		return;
	}
	read_plan_copy(rpc->copies, rpc->ncopies, x->call.data, inline_bytes);
	if (rpc->reads)
		start_reads(rpc);
	else
		deliver_call(rpc);
}

static void on_granted(void *arg)
{
	struct responder_rpc *rpc = arg;
	struct buf *saved_inline = rpc->saved_inline;

	if (!rdma_conn_is_up(rpc->rs->conn))
		return; /* responder_end() frees it */
	exchange_stage_enter(rpc->x, CALL_STAGE_RECEIVE, rdma_conn_now_us(rpc->rs->conn));
	rpc->saved_inline = NULL;
	admit(rpc, saved_inline ? saved_inline->mem : NULL);
	buf_put(saved_inline);
}

/*
 * Claims memory for a reverse Call without waiting: its Reply can be queued after client Calls that
 * wait for the budget, so waiting could deadlock. A short inline Call whose Reply is short too
 * needs no claim, because memory_bound_uncharged_bytes() counts both. The Writes to a reply chunk
 * of up to REVERSE_FREE_SEGMENTS segments need no claim either: they use the memory that this
 * function counts for the chunk lists of such a Call.
 */
#define REVERSE_FREE_SEGMENTS 16u

static bool claim_reverse(struct responder_rpc *rpc, size_t cost)
{
	const struct rdma_conn *conn = rpc->rs->conn;
	const struct leg_config *config = conn->leg->config;
	uint32_t recv_bytes =
		rdma_recv_bytes(conn->config->inline_threshold_bytes, RPCRDMA_DEFAULT_INLINE_TWO,
				conn->config->config_protocol);
	uint32_t free_bytes = rdma_reverse_free_bytes(recv_bytes);
	struct exchange *x = rpc->x;
	/* A reply chunk shows that the Reply can be long, not that it will be. */
	bool is_short = !rpc->reads && !rpc->nwrites && rpc->nsegments <= REVERSE_FREE_SEGMENTS &&
			rpc->total_bytes <= free_bytes;

	if ((!is_short || x->reply_max_bytes > free_bytes) &&
	    budget_claim_now(config->holder, &x->claim, cost,
			     2 * rpc_msg_cost_bytes(config->max_message_bytes)))
		return true;
	if (!is_short)
		return false;
	x->reply_max_bytes = min_u32(x->reply_max_bytes, free_bytes);
	budget_claim_empty(config->holder, &x->claim);
	return true;
}

static void reject_reverse(struct responder_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rs->conn;

	conn->counters->reverse_refused++;
	rdma_conn_note(conn, "reverse Call %#x of %u bytes: no memory left, answered with an error",
		       rpc->x->call_info.hdr.xid, rpc->total_bytes);
	responder_answer_failure(rpc);
}

/* Keeps the inline bytes of a Call that waits for memory, in a buffer no larger than a Receive. */
static void wait_for_memory(struct responder_rpc *rpc, const uint8_t *body, uint32_t len_bytes)
{
	struct rdma_conn *conn = rpc->rs->conn;

	exchange_stage_enter(rpc->x, CALL_STAGE_MEMORY, rdma_conn_now_us(conn));
	conn->counters->memory_waits++;
	if (!len_bytes)
		return;
	rpc->saved_inline = buf_get(conn->leg->config->pool, len_bytes);
	if (!rpc->saved_inline)
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES,
			       "no memory for the inline bytes of a Call");
	else
		memcpy(rpc->saved_inline->mem, body, len_bytes);
}

static void claim(struct responder *rs, struct responder_rpc *rpc, const uint8_t *body,
		  uint32_t len_bytes)
{
	const struct leg_config *config = rs->conn->leg->config;
	size_t cost =
		responder_rpc_cost_bytes(rpc, rpc_msg_cost_bytes(rpc->total_bytes), rpc->reads);

	budget_claim_init(&rpc->x->claim, on_granted, rpc);
	if (rs->reverse && !claim_reverse(rpc, cost))
		reject_reverse(rpc);
	else if (rs->reverse || budget_claim(config->holder, &rpc->x->claim, cost))
		admit(rpc, body);
	else
		wait_for_memory(rpc, body, len_bytes);
}

/* Returns a text for the error in the chunk lists of a Call; NULL if they are valid. */
static const char *chunk_list_error(const struct responder *rs, const struct rpcrdma_header *hdr,
				    uint32_t len_bytes, struct read_plan *plan)
{
	uint32_t limit = rs->conn->leg->config->max_message_bytes;

	if (rs->reverse && rpcrdma_header_has_chunks(hdr) && !rs->conn->limits.reverse_chunks)
		return "chunks in a reverse Call";
	switch (read_plan_make(hdr, len_bytes, limit, plan)) {
	case READ_PLAN_OK:
		break;
	case READ_PLAN_BAD:
		return "read chunks do not form a message";
	case READ_PLAN_TOO_BIG:
		rs->conn->counters->calls_too_big++;
		return "longer than max_message_bytes";
	}
	if (plan->nplan_reads && !read_chunks_bound(rs->conn))
		return "read chunks, but RDMA Reads from this peer are not allowed";
	return NULL;
}

static void reject_unanswerable(struct responder_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rs->conn;

	conn->counters->bad_calls++;
	rdma_conn_note(conn, "Call %#x: its chunk lists do not fit into the header of a Reply",
		       rpc->x->call_info.hdr.xid);
	responder_answer_error(rpc, RPCRDMA_ERR_CHUNK);
}

static enum message_form form_of(const struct rpcrdma_header *hdr)
{
	if (hdr->proc == RPCRDMA_NOMSG)
		return MESSAGE_FORM_LONG;
	return hdr->nreads ? MESSAGE_FORM_CHUNKED : MESSAGE_FORM_SHORT;
}

void responder_call(struct responder *rs, const struct rpcrdma_header *hdr, const uint8_t *body,
		    uint32_t len_bytes)
{
	struct rdma_conn *conn = rs->conn;
	struct responder_rpc *rpc;
	struct read_plan plan;
	const char *wrong;
	int rc;

	if (!accepts_calls(rs))
		return;
	wrong = chunk_list_error(rs, hdr, len_bytes, &plan);
	if (wrong) {
		conn->counters->bad_calls++;
		rdma_conn_note(conn, "Call %#x: %s", hdr->xid, wrong);
		responder_reject(rs, hdr, RPCRDMA_ERR_CHUNK);
		return;
	}
	rc = responder_rpc_new(rs, hdr, &plan, &rpc);
	if (rc) {
		if (rc == -EEXIST)
			rdma_conn_fail(conn, LEG_CLOSE_XID_REUSED, "XID %#x", hdr->xid);
		else
			rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a Call");
		return;
	}
	credit_grant_call(&conn->grant, hdr->credit);
	rpc->x->call_forms[EXCHANGE_ORIGIN] = form_of(hdr);
	if (!rpc->reply_fits) {
		reject_unanswerable(rpc);
		return;
	}
	if (responder_parse_early(rpc, hdr->proc == RPCRDMA_MSG ? body : NULL))
		claim(rs, rpc, body, len_bytes);
}

/*
 * Retries the Replies that wait for a key, in the order of their Calls. If one still lacks keys,
 * the Replies after it keep waiting.
 */
void responder_key_free(struct responder *rs)
{
	struct exchange *x, *next;

	for (x = TAILQ_FIRST(&rs->calls); x && rs->waiting_for_key; x = next) {
		struct responder_rpc *rpc = x->origin_priv;
		unsigned waiting = rs->waiting_for_key;

		next = TAILQ_NEXT(x, origin_entry);
		if (!rdma_conn_is_up(rs->conn))
			return;
		if (!rpc->waits_for_key)
			continue;
		responder_more(rpc);
		if (rs->waiting_for_key == waiting)
			return;
	}
}

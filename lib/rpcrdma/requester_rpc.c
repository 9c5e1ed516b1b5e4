// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/requester_rpc.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/least.h"
#include "base/probes.h"
#include "nfs/nfs.h"
#include "rpc/xdr.h"
#include "rpcrdma/draft03/msgp.h"
#include "rpcrdma/message.h"

_Static_assert(sizeof(struct exchange) + sizeof(struct requester_rpc) + 128 <=
		       EXCHANGE_BESIDE_BYTES,
	       "the small objects of an RPC, including the record of a TCP leg");

STATE_TABLE(requester_rpc_states, REQUESTER_RPC_STATES);

static void give_up_failed(void *arg);
static void on_unlent(struct lend *lend);
static void take_back(struct requester_rpc *rpc);

void requester_rpcs_init(struct requester *rq, void (*held_again)(struct requester_rpc *rpc))
{
	rq->starved = false;
	rq->held_again = held_again;
	rq->count = rq->abandoned = 0;
	TAILQ_INIT(&rq->begun);
	TAILQ_INIT(&rq->failed);
	xid_table_init(&rq->table, EXCHANGE_TARGET);
	loop_task_init(&rq->failed_task, give_up_failed, rq);
}

void requester_rpcs_fini(struct requester *rq)
{
	assert(rq->count == 0);
	loop_task_cancel(rq->conn->fabric->loop, &rq->failed_task);
	xid_table_fini(&rq->table);
}

struct requester_rpc *requester_rpc_new(struct requester *rq, struct exchange *x)
{
	struct requester_rpc *rpc = spares_get(rq->conn->leg->config->spares, sizeof(*rpc));

	if (!rpc)
		return NULL;
	/* The plan sets limits and form; keys are set when they are bound. */
	rpc->rq = rq;
	rpc->x = x;
	rpc->state = REQUESTER_HELD;
	rpc->fault = EXCHANGE_OK;
	rpc->reply_inline = (struct rpc_msg){0};
	rpc->landed_bytes = rpc->around_bytes = 0;
	rpc->read_reply = NULL;
	lend_init(&rpc->lend, rq->conn, on_unlent);
	x->target = rq->conn->leg;
	x->target_priv = rpc;
	rq->count++;
	return rpc;
}

/* Frees an RPC that is in no list. Returns its exchange, with the reference. */
static struct exchange *dissolve(struct requester_rpc *rpc)
{
	struct requester *rq = rpc->rq;
	struct exchange *x = rpc->x;

	rq->count--;
	x->target = NULL;
	x->target_priv = NULL;
	if (rpc->read_reply) {
		rpc_msg_put(&rpc->reply_inline);
		requester_rpc_forget_read_reply(rpc);
	}
	lend_fini(&rpc->lend);
	spares_put(rq->conn->leg->config->spares, rpc, sizeof(*rpc));
	rdma_conn_rpc_over(rq->conn);
	return x;
}

void requester_rpc_drop(struct requester_rpc *rpc)
{
	assert(rpc->state == REQUESTER_HELD || rpc->state == REQUESTER_FAILED);
	exchange_put(dissolve(rpc));
}

void requester_rpcs_end(struct requester *rq)
{
	struct exchange *x;

	loop_task_cancel(rq->conn->fabric->loop, &rq->failed_task);
	/* After the connection has closed, an unbind is immediate: each RPC ends here, unanswered. */
	while ((x = TAILQ_FIRST(&rq->begun))) {
		struct requester_rpc *rpc = x->target_priv;

		/* It was waiting for the rest of its Call. */
		if (rpc->state == REQUESTER_ENDING || rpc->state == REQUESTER_FAILING ||
		    rpc->state == REQUESTER_STARVED)
			take_back(rpc);
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

static void give_up(struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rq->conn;
	const struct leg_config *config = conn->leg->config;
	struct exchange *x = rpc->x;

	x->fault = rpc->fault;
	if (x->fault != EXCHANGE_OK)
		rpc_msg_put(&x->reply);
	dissolve(rpc);
	if (rdma_conn_is_over(conn))
		exchange_put(x);
	else
		config->events->reply(config->arg, x);
}

static void give_up_failed(void *arg)
{
	struct requester *rq = arg;
	struct exchange *x;

	while (!rdma_conn_is_over(rq->conn) && (x = TAILQ_FIRST(&rq->failed))) {
		TAILQ_REMOVE(&rq->failed, x, target_entry);
		give_up(x->target_priv);
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

#define LANDING_SLACK_BYTES XDR_UNIT_BYTES

/* Allocates memory for such a Reply. Returns 0 or -ENOMEM. */
static int get_landing(const struct requester_rpc *rpc, struct rpc_msg *reply)
{
	size_t room = requester_rpc_landing_room(rpc);

	reply->buf = buf_get(rpc->rq->conn->leg->config->pool, RPC_MSG_HEADROOM + room +
								       rpc->form.landing_bytes +
								       room + LANDING_SLACK_BYTES);
	if (!reply->buf)
		return -ENOMEM;
	reply->data = reply->buf->mem + RPC_MSG_HEADROOM;
	return 0;
}

static uint8_t *landing_memory(const struct requester_rpc *rpc, const struct rpc_msg *reply)
{
	return reply->buf->mem + RPC_MSG_HEADROOM + requester_rpc_landing_room(rpc);
}

/*
 * Moves the inline bytes around the payload, after the peer can no longer write there. @before_bytes of them belong
 * before the payload. Adds the pad of the payload, up to @padded_bytes.
 */
static void lay_around(const struct requester_rpc *rpc, uint32_t before_bytes,
		       uint32_t payload_bytes, uint32_t padded_bytes)
{
	struct rpc_msg *reply = &rpc->x->reply;
	uint8_t *at = landing_memory(rpc, reply);

	memset(at + payload_bytes, 0, padded_bytes - payload_bytes);
	memmove(at + padded_bytes, reply->data + before_bytes, rpc->around_bytes - before_bytes);
	memmove(at - before_bytes, reply->data, before_bytes);
	reply->data = at - before_bytes;
	reply->len_bytes = reply->have_bytes = rpc->around_bytes + padded_bytes;
}

/* Joins the payload with the inline bytes around it. Returns false if they do not form a Reply. */
static bool join(struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rq->conn;
	const struct rpc_msg *reply = &rpc->x->reply;
	uint32_t padded = (uint32_t)xdr_padded_bytes(rpc->landed_bytes);
	struct rpc_payload payload;

	/* The search does not depend on the payload's content, so the bytes after the inline ones stand for it. */
	if (nfs_reply_payloads(&rpc->x->facts, reply->data, rpc->around_bytes + padded, &payload,
			       1) != 1 ||
	    payload.offset_bytes > rpc->around_bytes)
		return false;
	/* The peer wrote the payload with or without its pad (A-Δ5). */
	if (payload.len_bytes != rpc->landed_bytes &&
	    (!conn->peer->lenient || xdr_padded_bytes(payload.len_bytes) != rpc->landed_bytes))
		return false;
	lay_around(rpc, payload.offset_bytes, payload.len_bytes, padded);
	return true;
}

/*
 * Returns true if the payload arrived inline although a write chunk was offered (A3.7-1). READLINK paths are tolerated:
 * Linux before 5.11 (NFSv4) and Chimera leave those chunks unused.
 */
static bool has_payload_inline(const struct requester_rpc *rpc)
{
	const struct call_facts *facts = &rpc->x->facts;
	const struct rpc_msg *reply = &rpc->x->reply;
	struct rpc_payload payload;

	if (rpc->form.landing != LANDING_WRITE_CHUNK || !rpc->terms.dialect->reduces_results ||
	    (!facts->result_is_data && rpc->rq->conn->peer->lenient))
		return false;
	return nfs_reply_payloads(facts, reply->data, reply->len_bytes, &payload, 1) == 1 &&
	       payload.len_bytes;
}

static enum exchange_fault bad_payload(const struct requester_rpc *rpc, const char *what)
{
	struct rdma_conn *conn = rpc->rq->conn;

	conn->counters->bad_replies++;
	rdma_conn_note(conn, "Reply %#x has %s", rpc->x->facts.hdr.xid, what);
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
	} else if (rpc->form.landing == LANDING_WRITE_CHUNK) {
		if (!join(rpc))
			return bad_payload(rpc, "no payload that matches its write chunk");
	} else {
		x->reply.len_bytes = x->reply.have_bytes = rpc->landed_bytes;
	}
	if (is_reply_to(&x->reply, x->facts.hdr.xid))
		return EXCHANGE_OK;
	conn->counters->xid_mismatches++;
	rdma_conn_note(conn, "Reply %#x: not an RPC Reply with this XID", x->facts.hdr.xid);
	return EXCHANGE_FAULT_BAD_REPLY;
}

/* Queues a starved RPC again, to be planned again when keys are free. */
static void hold_again(struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rq->conn;

	rpc_msg_put(&rpc->x->reply);
	lend_fini(&rpc->lend);
	lend_init(&rpc->lend, conn, on_unlent);
	requester_rpc_set_state(rpc, REQUESTER_HELD);
	rpc->rq->held_again(rpc);
}

/* Ends an RPC whose memory the peer can no longer reach. */
static void finish(struct requester_rpc *rpc)
{
	TAILQ_REMOVE(&rpc->rq->begun, rpc->x, target_entry);
	if (rpc->state == REQUESTER_STARVED && !rdma_conn_is_over(rpc->rq->conn)) {
		hold_again(rpc);
		return;
	}
	if (rpc->state == REQUESTER_FAILING || rpc->state == REQUESTER_STARVED) {
		requester_rpc_fail(rpc, EXCHANGE_FAULT_CANT_SEND);
		return;
	}
	if (rpc->fault == EXCHANGE_FAULT_LATE) {
		exchange_put(dissolve(rpc));
		return;
	}
	if (rpc->fault == EXCHANGE_OK)
		rpc->fault = assemble(rpc);
	give_up(rpc);
}

static void on_unlent(struct lend *lend)
{
	finish(container_of(lend, struct requester_rpc, lend));
}

static void take_back(struct requester_rpc *rpc)
{
	if (!rpc->lend.nkeys || lend_end(&rpc->lend))
		finish(rpc);
}

void requester_rpc_end(struct requester_rpc *rpc, enum exchange_fault fault)
{
	xid_table_remove(&rpc->rq->table, rpc->x);
	credit_window_give(&rpc->rq->conn->window);
	rpc->fault = fault;
	if (rpc->state == REQUESTER_ABANDONED) {
		rpc->rq->abandoned--;
		rpc->fault = EXCHANGE_FAULT_LATE;
	}
	requester_rpc_set_state(rpc, REQUESTER_ENDING);
	take_back(rpc);
}

/* ---- sending ---- */

/* Returns how many exposed bytes of the Call have arrived; the inline bytes always have. */
static uint32_t lent_here_bytes(const struct requester_rpc *rpc)
{
	const struct msg_form *form = &rpc->form.call;
	uint32_t have = rpc->x->call.have_bytes;

	return have > form->chunk_at ? least(have - form->chunk_at, form->chunk_bytes) : 0;
}

static int lend_call(struct requester_rpc *rpc)
{
	const struct rpc_msg *call = &rpc->x->call;
	const struct msg_form *form = &rpc->form.call;

	if (form->form == MESSAGE_FORM_SHORT)
		return 0;
	return lend_memory(&rpc->lend, call->buf, call->data + form->chunk_at, form->chunk_bytes,
			   lent_here_bytes(rpc), FABRIC_REMOTE_READ);
}

static int lend_landing(struct requester_rpc *rpc)
{
	struct rpc_msg *reply = &rpc->x->reply;
	uint32_t len = rpc->form.landing_bytes;
	uint8_t *mem = NULL;
	int rc = 0;

	switch (rpc->form.landing) {
	case LANDING_NONE:
		return 0;
	case LANDING_REPLY_CHUNK:
		rc = rpc_msg_get(rpc->rq->conn->leg->config->pool, len, reply);
		mem = reply->data;
		break;
	case LANDING_WRITE_CHUNK:
		rc = get_landing(rpc, reply);
		if (!rc)
			mem = landing_memory(rpc, reply);
		break;
	}
	return rc ? rc : lend_memory(&rpc->lend, reply->buf, mem, len, len, FABRIC_REMOTE_WRITE);
}

static int lend_all(struct requester_rpc *rpc, unsigned nkeys)
{
	int rc = lend_reserve(&rpc->lend, nkeys);

	if (!rc)
		rc = lend_call(rpc);
	return rc ? rc : lend_landing(rpc);
}

/* Adds the Call in the chosen form: the chunk and its pad do not go inline (A3.4-3). */
static void put_call(struct message *m, const struct requester_rpc *rpc)
{
	const struct rpc_msg *call = &rpc->x->call;
	const struct msg_form *form = &rpc->form.call;
	uint64_t end = form->chunk_at + xdr_padded_bytes(form->chunk_bytes);

	for (unsigned i = 0; i < form->nsegments; i++)
		m->hdr.reads[m->hdr.nreads++] =
			(struct rpcrdma_read_segment){form->chunk_at, lend_segment(&rpc->lend, i)};
	message_add_piece(m, call, 0, form->chunk_at);
	if (form->form == MESSAGE_FORM_LONG)
		m->hdr.proc = RPCRDMA_NOMSG;
	else if (end < call->len_bytes)
		message_add_piece(m, call, (uint32_t)end, call->len_bytes);
}

/* Adds the chunk into which the peer can write the payload of the Reply, or the whole Reply. */
static void offer_landing(struct message *m, const struct requester_rpc *rpc)
{
	struct rpcrdma_chunk chunk = {.count = rpc->form.landing_nsegments};

	for (unsigned i = 0; i < chunk.count; i++) {
		struct rpcrdma_segment seg = lend_segment(&rpc->lend, rpc->form.call.nsegments + i);

		m->hdr.segments[m->hdr.nsegments++] = seg;
		chunk.len_bytes += seg.len_bytes;
	}
	if (rpc->form.landing == LANDING_WRITE_CHUNK) {
		m->hdr.writes[m->hdr.nwrites++] = chunk;
	} else {
		m->hdr.has_reply_chunk = true;
		m->hdr.reply_chunk = chunk;
	}
}

static void transmit(struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rpc->rq->conn;
	const struct call_form *form = &rpc->form;
	struct message m;

	message_init(&m, rpc->terms.dialect, rpc->x->facts.hdr.xid);
	put_call(&m, rpc);
	if (form->landing != LANDING_NONE)
		offer_landing(&m, rpc);
	if (rpc->terms.dialect->padding) {
		message_pad(&m, conn, &rpc->x->call, NULL,
			    rpc->terms.send_bytes - rpcrdma_header_bytes(&m.hdr));
		rpc->form.padded = m.hdr.proc == RPCRDMA_MSGP;
	}
	exchange_enter(rpc->x, CALL_STAGE_SERVER, rdma_conn_now_us(conn));
	rpc->x->call_forms[EXCHANGE_TARGET] = (uint8_t)form->call.form;
	PROBE3(call__sent, rpc->x, rpc->x->facts.hdr.xid, rpc->x->call.len_bytes);
	negotiation_call_sent(&conn->negotiation);
	conn->counters->calls_sent++;
	rdma_conn_count_form(conn, form->call.form);
	conn->counters->call_chunk_bytes_offered += form->call.chunk_bytes;
	rdma_conn_replenish(conn);
	/* Exposed memory must stay allocated until the work request that announces it is done. */
	message_send(&m, conn, conn->window.asked,
		     rpc->lend.nkeys || !work_copies(m.pieces_bytes) ? rpc->x : NULL, NULL);
}

/* Handles an RPC for which not all memory could be exposed; @rc is the error. */
static void do_not_send(struct requester_rpc *rpc, int rc)
{
	struct rdma_conn *conn = rpc->rq->conn;

	xid_table_remove(&rpc->rq->table, rpc->x);
	if (rc == -EAGAIN && fabric_key_await(conn->ep, rpc->lend.nkeys)) {
		conn->counters->key_waits++;
		rpc->rq->starved = true;
		requester_rpc_set_state(rpc, REQUESTER_STARVED);
	} else {
		rdma_conn_note(conn, "Call %#x: no memory or key to expose it",
			       rpc->x->facts.hdr.xid);
		requester_rpc_set_state(rpc, REQUESTER_FAILING);
	}
	take_back(rpc);
}

bool requester_rpc_send(struct requester_rpc *rpc)
{
	struct requester *rq = rpc->rq;
	unsigned nkeys = rpc->form.call.nsegments + rpc->form.landing_nsegments;
	int rc = 0;

	if (xid_table_add(&rq->table, rpc->x))
		return false;
	TAILQ_INSERT_TAIL(&rq->begun, rpc->x, target_entry);
	if (nkeys)
		rc = lend_all(rpc, nkeys);
	if (rc && rc != -ENOTCONN) {
		do_not_send(rpc, rc);
		return true;
	}
	requester_rpc_set_state(rpc, REQUESTER_SENT);
	credit_window_take(&rq->conn->window);
	/* On a lost connection, before its end is reported, the RPC ends with the connection. */
	if (!rc)
		transmit(rpc);
	return true;
}

void requester_rpc_resend(struct requester_rpc *rpc)
{
	requester_rpc_set_state(rpc, REQUESTER_RESENT);
	/* Sizes and exposed keys of the first plan stay; only the dialect changes. */
	rpc->terms.dialect = rpc->rq->conn->terms.dialect;
	transmit(rpc);
}

/* Returns the longest Send that the Reply can need. */
static uint32_t counts_on(const struct requester_rpc *rpc)
{
	uint64_t whole = RPCRDMA_MIN_HDR_BYTES + xdr_padded_bytes(rpc->x->reply_max_bytes);

	if (rpc->state != REQUESTER_SENT && rpc->state != REQUESTER_RESENT &&
	    rpc->state != REQUESTER_ABANDONED)
		return 0;
	if (rpc->form.landing == LANDING_REPLY_CHUNK)
		return 0;
	return whole < rpc->terms.recv_bytes ? (uint32_t)whole : rpc->terms.recv_bytes;
}

uint32_t requester_counts_on(const struct requester *rq, uint32_t enough)
{
	const struct exchange *x;
	uint32_t most = 0;

	if (enough == UINT32_MAX)
		return 0;
	TAILQ_FOREACH(x, &rq->begun, target_entry) {
		uint32_t bytes = counts_on(x->target_priv);

		if (bytes > most)
			most = bytes;
		if (most > enough)
			break;
	}
	return most;
}

void requester_rpc_more(struct requester_rpc *rpc)
{
	/* On a lost connection, before its end is reported, some keys can be unbound. */
	unsigned nkeys = least(rpc->form.call.nsegments, rpc->lend.nkeys);

	lend_ready(&rpc->lend, 0, nkeys, lent_here_bytes(rpc));
}

// SPDX-License-Identifier: BSD-3-Clause
/* The requester's sending half: credits, the queue that waits for them, and the forms of a Call. */
#include "rpcrdma/requester.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "rpc/xdr.h"
#include "rpcrdma/requester_priv.h"

static void give_up_failed(void *arg);

void requester_init(struct rdma_leg *leg, bool reverse, uint32_t credits)
{
	struct requester *rq = &leg->requester;

	rq->reverse = reverse;
	credit_window_init(&rq->window, credits);
	TAILQ_INIT(&rq->held);
	TAILQ_INIT(&rq->sent);
	TAILQ_INIT(&rq->ending);
	TAILQ_INIT(&rq->failed);
	xid_table_init(&rq->table, EXCHANGE_TARGET);
	loop_task_init(&rq->fail_task, give_up_failed, leg);
}

/* Lets go of an exchange that stays without an answer. */
static void let_go(struct exchange *x)
{
	x->target = NULL;
	x->target_priv = NULL;
	exchange_put(x);
}

static void drain(struct exchange_list *list)
{
	struct exchange *x;

	while ((x = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, x, target_entry);
		let_go(x);
	}
}

void requester_end(struct rdma_leg *leg)
{
	struct requester *rq = &leg->requester;
	struct exchange *x;

	loop_task_cancel(leg->fabric->loop, &rq->fail_task);
	drain(&rq->held);
	drain(&rq->failed);
	rq->nheld = 0;
	/* After the connection an unbind is immediate: each of these ends here, unanswered. */
	while ((x = TAILQ_FIRST(&rq->sent)))
		requester_end_rpc(x->target_priv, EXCHANGE_FAULT_BAD_REPLY);
	assert(TAILQ_EMPTY(&rq->ending));
}

void requester_fini(struct rdma_leg *leg)
{
	loop_task_cancel(leg->fabric->loop, &leg->requester.fail_task);
	xid_table_fini(&leg->requester.table);
}

static void give_up_failed(void *arg)
{
	struct rdma_leg *leg = arg;
	struct requester *rq = &leg->requester;
	struct exchange *x;

	while (leg->state < RDMA_CLOSING && (x = TAILQ_FIRST(&rq->failed))) {
		TAILQ_REMOVE(&rq->failed, x, target_entry);
		x->target = NULL;
		leg->config.leg.events->reply(leg->config.leg.arg, x);
	}
}

void requester_fail(struct rdma_leg *leg, struct exchange *x, enum exchange_fault fault)
{
	x->fault = fault;
	TAILQ_INSERT_TAIL(&leg->requester.failed, x, target_entry);
	loop_defer(leg->fabric->loop, &leg->requester.fail_task);
}

bool requester_can_call(const struct rdma_leg *leg)
{
	/* Reverse Calls are never stopped: Replies to the peer would be stopped with them. */
	return leg->requester.reverse || leg->requester.nheld < REQUESTER_HELD_MAX;
}

static void hold(struct rdma_leg *leg, struct exchange *x)
{
	struct requester *rq = &leg->requester;

	if (rq->reverse && rq->nheld >= REQUESTER_HELD_MAX_REVERSE) {
		leg->config.counters->reverse_refused++;
		requester_fail(leg, x, EXCHANGE_FAULT_CANT_SEND);
		return;
	}
	leg->config.counters->credit_waits++;
	TAILQ_INSERT_TAIL(&rq->held, x, target_entry);
	if (++rq->nheld >= REQUESTER_HELD_MAX && !rq->reverse)
		rq->full = true;
}

void requester_call(struct rdma_leg *leg, struct exchange *x)
{
	struct requester *rq = &leg->requester;

	if (leg->state >= RDMA_CLOSING) {
		exchange_put(x);
		return;
	}
	x->target = &leg->leg;
	if (leg->state == RDMA_OPEN && rq->nheld == 0 && credit_window_open(&rq->window))
		requester_send(leg, x);
	else
		hold(leg, x);
}

void requester_pump(struct rdma_leg *leg)
{
	struct requester *rq = &leg->requester;
	struct exchange *x;

	while (leg->state == RDMA_OPEN && credit_window_open(&rq->window) &&
	       (x = TAILQ_FIRST(&rq->held))) {
		TAILQ_REMOVE(&rq->held, x, target_entry);
		rq->nheld--;
		requester_send(leg, x);
	}
	if (rq->full && rq->nheld < REQUESTER_HELD_MAX && leg->state == RDMA_OPEN) {
		rq->full = false;
		leg->config.leg.events->call_ready(leg->config.leg.arg);
	}
}

/* How a Call is sent. */
struct form {
	bool nomsg;             /* the Call is a read chunk */
	uint32_t reply_bytes;   /* of the reply chunk; 0: none */
	unsigned ncall, nreply; /* segments of both */
};

static unsigned segments_of(const struct rdma_leg *leg, uint32_t len_bytes)
{
	return len_bytes / leg->max_segment_bytes + (len_bytes % leg->max_segment_bytes != 0);
}

static uint64_t header_bytes(unsigned ncall, unsigned nreply)
{
	return RPCRDMA_MIN_HDR_BYTES + (uint64_t)ncall * RPCRDMA_READ_SEGMENT_BYTES +
	       (nreply ? 4 + (uint64_t)nreply * RPCRDMA_SEGMENT_BYTES : 0);
}

/* A5.1-1, A5.2-1. Returns false if the Call cannot be sent at all. */
static bool choose_form(const struct rdma_leg *leg, const struct exchange *x, struct form *form)
{
	uint64_t reply = xdr_padded_bytes(x->reply_max_bytes);

	*form = (struct form){0};
	if (leg->requester.reverse)
		return header_bytes(0, 0) + x->call.len_bytes <= leg->send_max_bytes;
	if (RPCRDMA_MIN_HDR_BYTES + reply > leg->recv_max_bytes) {
		if (reply > UINT32_MAX)
			return false;
		form->reply_bytes = (uint32_t)reply;
		form->nreply = segments_of(leg, form->reply_bytes);
	}
	if (header_bytes(0, form->nreply) + x->call.len_bytes > leg->send_max_bytes) {
		form->nomsg = true;
		form->ncall = segments_of(leg, x->call.len_bytes);
	}
	return form->ncall <= RPCRDMA_MAX_SEGMENTS && form->nreply <= RPCRDMA_MAX_SEGMENTS &&
	       (!form->nomsg || header_bytes(form->ncall, form->nreply) <= leg->send_max_bytes);
}

/* Lends a whole message, in as many segments as it takes. */
static int lend(struct requester_rpc *rpc, const struct rpc_msg *msg, unsigned rights)
{
	uint32_t max_bytes = rpc->leg->max_segment_bytes;

	for (uint32_t at = 0; at < msg->len_bytes;) {
		struct requester_key *rk = &rpc->keys[rpc->nkeys];
		uint32_t left = msg->len_bytes - at;
		int rc;

		rk->rpc = rpc;
		rk->key = (struct fabric_key){
			.len_bytes = left < max_bytes ? left : max_bytes,
			.rights = rights,
			.buf = msg->buf,
			.mem = msg->data + at,
			.unbound = requester_key_unbound,
		};
		rc = fabric_key_bind(rpc->leg->ep, &rk->key);
		if (rc)
			return rc;
		rpc->nkeys++;
		at += rk->key.len_bytes;
	}
	return 0;
}

/* Memory and keys for what the form says. */
static int prepare(struct requester_rpc *rpc, const struct form *form)
{
	struct exchange *x = rpc->x;
	int rc = 0;

	if (form->nomsg)
		rc = lend(rpc, &x->call, FABRIC_REMOTE_READ);
	if (!rc && form->nreply)
		rc = rpc_msg_get(rpc->leg->config.leg.pool, form->reply_bytes, &x->reply);
	if (!rc && form->nreply)
		rc = lend(rpc, &x->reply, FABRIC_REMOTE_WRITE);
	return rc;
}

static struct requester_rpc *rpc_new(struct rdma_leg *leg, struct exchange *x,
				     const struct form *form)
{
	unsigned nkeys = form->ncall + form->nreply;
	struct requester_rpc *rpc = calloc(1, sizeof(*rpc) + nkeys * sizeof(rpc->keys[0]));

	if (!rpc)
		return NULL;
	rpc->leg = leg;
	rpc->x = x;
	rpc->ncall = form->ncall;
	rpc->nreply = form->nreply;
	return rpc;
}

void requester_send(struct rdma_leg *leg, struct exchange *x)
{
	struct requester *rq = &leg->requester;
	struct requester_rpc *rpc;
	struct form form;

	if (!choose_form(leg, x, &form)) {
		if (rq->reverse)
			leg->config.counters->reverse_refused++;
		rdma_leg_note(leg, "Call %#x of %u bytes cannot be sent", x->hdr.xid,
			      x->call.len_bytes);
		requester_fail(leg, x, EXCHANGE_FAULT_CANT_SEND);
		return;
	}
	rpc = rpc_new(leg, x, &form);
	if (!rpc || xid_table_add(&rq->table, x)) {
		free(rpc);
		requester_fail(leg, x, EXCHANGE_FAULT_CANT_SEND);
		return;
	}
	x->target_priv = rpc;
	TAILQ_INSERT_TAIL(&rq->sent, x, target_entry);
	credit_window_take(&rq->window);
	if (prepare(rpc, &form)) {
		rdma_leg_note(leg, "Call %#x: no memory or key to lend", x->hdr.xid);
		rpc->deferred = true; /* a call into the leg may be on the stack */
		requester_end_rpc(rpc, EXCHANGE_FAULT_CANT_SEND);
		return;
	}
	requester_transmit(rpc);
}

static struct rpcrdma_segment segment_of(const struct requester_key *rk)
{
	return (struct rpcrdma_segment){rk->key.rkey, rk->key.len_bytes, rk->key.addr};
}

void requester_transmit(struct requester_rpc *rpc)
{
	struct rdma_leg *leg = rpc->leg;
	struct exchange *x = rpc->x;
	struct fabric_sge body = {x->call.buf, x->call.data, x->call.len_bytes};
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, x->hdr.xid, leg->requester.window.asked,
			    rpc->ncall ? RPCRDMA_NOMSG : RPCRDMA_MSG);
	for (unsigned i = 0; i < rpc->ncall; i++)
		hdr.reads[hdr.nreads++].seg = segment_of(&rpc->keys[i]);
	for (unsigned i = 0; i < rpc->ncall; i++)
		hdr.reads[i].position = 0;
	for (unsigned i = 0; i < rpc->nreply; i++)
		hdr.segments[hdr.nsegments++] = segment_of(&rpc->keys[rpc->ncall + i]);
	if (rpc->nreply) {
		hdr.has_reply_chunk = true;
		hdr.reply_chunk = (struct rpcrdma_chunk){
			.first = 0, .count = rpc->nreply, .len_bytes = x->reply.len_bytes};
	}
	leg->config.counters->calls_sent++;
	if (rpc->ncall)
		leg->config.counters->call_chunk_bytes_offered += x->call.len_bytes;
	rdma_leg_replenish(leg);
	work_send(leg, &hdr, &body, rpc->ncall ? 0 : 1, x, NULL);
}

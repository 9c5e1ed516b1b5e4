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

static unsigned segments_of(const struct rdma_leg *leg, uint32_t len_bytes)
{
	return len_bytes / leg->max_segment_bytes + (len_bytes % leg->max_segment_bytes != 0);
}

static uint64_t header_bytes(const struct requester_form *form)
{
	uint64_t bytes = RPCRDMA_MIN_HDR_BYTES +
			 (uint64_t)form->ncall * RPCRDMA_READ_SEGMENT_BYTES +
			 (uint64_t)form->nlanding * RPCRDMA_SEGMENT_BYTES;

	if (form->landing == LANDING_REPLY_CHUNK)
		bytes += 4; /* the count of segments */
	else if (form->landing == LANDING_WRITE_CHUNK)
		bytes += 8; /* and the list's discriminator */
	return bytes;
}

/* Where the Reply may land: nowhere if it is sure to fit inline. Returns false if it can nowhere. */
static bool choose_landing(const struct rdma_leg *leg, const struct exchange *x,
			   struct requester_form *form, void **note)
{
	uint64_t reply = xdr_padded_bytes(x->reply_max_bytes);
	uint32_t peer_max = leg->peer->landing_max_bytes;

	if (RPCRDMA_MIN_HDR_BYTES + reply <= leg->recv_max_bytes)
		return true;
	form->landing_bytes = requester_ddp_landing(leg, x, note);
	form->landing = form->landing_bytes ? LANDING_WRITE_CHUNK : LANDING_REPLY_CHUNK;
	if (!form->landing_bytes) {
		if (reply > UINT32_MAX)
			return false;
		form->landing_bytes = (uint32_t)reply;
	}
	if (peer_max && form->landing_bytes > peer_max) {
		form->landing_bytes = peer_max;
		leg->config.counters->landings_cut++;
	}
	form->nlanding = segments_of(leg, form->landing_bytes);
	return form->nlanding <= RPCRDMA_MAX_SEGMENTS;
}

/* Whether the payload is to go apart from a Call that fits inline or not, and the server then finds it. */
static bool may_part(const struct rdma_leg *leg, const struct exchange *x,
		     const struct requester_form *form, bool fits)
{
	const struct rdma_payload *payload = &form->payload;
	uint64_t end = payload->offset_bytes + xdr_padded_bytes(payload->len_bytes);

	if (!leg->peer->data_apart)
		return true;
	if (!requester_ddp_writes(leg, x))
		return !fits;
	return payload->len_bytes > x->call.len_bytes - end;
}

/* Makes the form one with the payload as a read chunk, if the rest fits inline; else leaves it. */
static bool reduce(const struct rdma_leg *leg, const struct exchange *x,
		   struct requester_form *form)
{
	uint64_t rest = x->call.len_bytes - xdr_padded_bytes(form->payload.len_bytes);

	form->ncall = segments_of(leg, form->payload.len_bytes);
	form->reduced = form->ncall <= RPCRDMA_MAX_SEGMENTS &&
			header_bytes(form) + rest <= leg->send_max_bytes;
	if (!form->reduced)
		form->ncall = 0;
	return form->reduced;
}

/* A5.1-1, A5.2-1. Returns false if the Call cannot be sent at all. */
static bool choose_form(const struct rdma_leg *leg, const struct exchange *x,
			struct requester_form *form, void **note)
{
	uint32_t len = x->call.len_bytes;
	bool fits;

	*form = (struct requester_form){0};
	if (leg->requester.reverse)
		return header_bytes(form) + len <= leg->send_max_bytes;
	if (!choose_landing(leg, x, form, note))
		return false;
	fits = header_bytes(form) + len <= leg->send_max_bytes;
	if (fits && !leg->peer->data_apart)
		return true;
	if (requester_ddp_call(leg, x, &form->payload) && may_part(leg, x, form, fits) &&
	    reduce(leg, x, form))
		return true;
	if (fits)
		return true;
	if (!leg->peer->position_zero)
		return false;
	form->nomsg = true;
	form->ncall = segments_of(leg, x->call.len_bytes);
	return form->ncall <= RPCRDMA_MAX_SEGMENTS && header_bytes(form) <= leg->send_max_bytes;
}

/* Lends a stretch of memory, in as many segments as it takes. */
static int lend(struct requester_rpc *rpc, struct buf *buf, uint8_t *mem, uint32_t len_bytes,
		unsigned rights)
{
	uint32_t max_bytes = rpc->leg->max_segment_bytes;

	for (uint32_t at = 0; at < len_bytes;) {
		struct requester_key *rk = &rpc->keys[rpc->nkeys];
		uint32_t left = len_bytes - at;
		int rc;

		rk->rpc = rpc;
		rk->key = (struct fabric_key){
			.len_bytes = left < max_bytes ? left : max_bytes,
			.ready_bytes = left < max_bytes ? left : max_bytes,
			.rights = rights,
			.buf = buf,
			.mem = mem + at,
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

static int lend_call(struct requester_rpc *rpc)
{
	const struct rpc_msg *call = &rpc->x->call;
	const struct rdma_payload *payload = &rpc->form.payload;

	if (rpc->form.nomsg)
		return lend(rpc, call->buf, call->data, call->len_bytes, FABRIC_REMOTE_READ);
	if (rpc->form.reduced)
		return lend(rpc, call->buf, call->data + payload->offset_bytes, payload->len_bytes,
			    FABRIC_REMOTE_READ);
	return 0;
}

static int lend_landing(struct requester_rpc *rpc)
{
	struct rpc_msg *reply = &rpc->x->reply;
	uint32_t len = rpc->form.landing_bytes;
	int rc;

	switch (rpc->form.landing) {
	case LANDING_REPLY_CHUNK:
		rc = rpc_msg_get(rpc->leg->config.leg.pool, len, reply);
		return rc ? rc : lend(rpc, reply->buf, reply->data, len, FABRIC_REMOTE_WRITE);
	case LANDING_WRITE_CHUNK:
		rc = requester_ddp_prepare(rpc);
		return rc ? rc
			  : lend(rpc, reply->buf, requester_ddp_memory(rpc), len,
				 FABRIC_REMOTE_WRITE);
	default:
		return 0;
	}
}

static struct requester_rpc *rpc_new(struct rdma_leg *leg, struct exchange *x,
				     const struct requester_form *form)
{
	unsigned nkeys = form->ncall + form->nlanding;
	struct requester_rpc *rpc = calloc(1, sizeof(*rpc) + nkeys * sizeof(rpc->keys[0]));

	if (!rpc)
		return NULL;
	rpc->leg = leg;
	rpc->x = x;
	rpc->form = *form;
	return rpc;
}

/* What cannot be sent: no header holds it, or there is no memory to keep track of it. */
static void refuse(struct rdma_leg *leg, struct exchange *x, void *note)
{
	if (leg->requester.reverse)
		leg->config.counters->reverse_refused++;
	else
		leg->config.counters->calls_not_sendable++;
	if (note)
		leg->config.binding->note_free(leg->config.binding->arg, note);
	rdma_leg_note(leg, "Call %#x of %u bytes cannot be sent to this peer (%s)", x->hdr.xid,
		      x->call.len_bytes, leg->peer->name);
	requester_fail(leg, x, EXCHANGE_FAULT_CANT_SEND);
}

void requester_send(struct rdma_leg *leg, struct exchange *x)
{
	struct requester *rq = &leg->requester;
	struct requester_rpc *rpc = NULL;
	struct requester_form form;
	void *note = NULL;

	if (choose_form(leg, x, &form, &note))
		rpc = rpc_new(leg, x, &form);
	if (!rpc || xid_table_add(&rq->table, x)) {
		free(rpc);
		refuse(leg, x, note);
		return;
	}
	rpc->note = note;
	x->target_priv = rpc;
	TAILQ_INSERT_TAIL(&rq->sent, x, target_entry);
	credit_window_take(&rq->window);
	if (lend_call(rpc) || lend_landing(rpc)) {
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

static void put_lists(const struct requester_rpc *rpc, struct rpcrdma_header *hdr)
{
	const struct requester_form *form = &rpc->form;
	struct rpcrdma_chunk chunk = {0, form->nlanding, form->landing_bytes};

	for (unsigned i = 0; i < form->ncall; i++)
		hdr->reads[hdr->nreads++] = (struct rpcrdma_read_segment){
			form->reduced ? form->payload.offset_bytes : 0, segment_of(&rpc->keys[i])};
	for (unsigned i = 0; i < form->nlanding; i++)
		hdr->segments[hdr->nsegments++] = segment_of(&rpc->keys[form->ncall + i]);
	if (form->landing == LANDING_WRITE_CHUNK) {
		hdr->writes[hdr->nwrites++] = chunk;
	} else if (form->landing == LANDING_REPLY_CHUNK) {
		hdr->has_reply_chunk = true;
		hdr->reply_chunk = chunk;
	}
}

/* What goes inline: all, what is beside the payload (A3.4-3), or nothing. */
static unsigned put_body(const struct requester_rpc *rpc, struct fabric_sge body[2])
{
	const struct rpc_msg *call = &rpc->x->call;
	const struct rdma_payload *payload = &rpc->form.payload;
	uint32_t end = payload->offset_bytes + (uint32_t)xdr_padded_bytes(payload->len_bytes);

	if (rpc->form.nomsg)
		return 0;
	body[0] = (struct fabric_sge){call->buf, call->data, call->len_bytes};
	if (!rpc->form.reduced)
		return 1;
	body[0].len_bytes = payload->offset_bytes;
	body[1] = (struct fabric_sge){call->buf, call->data + end, call->len_bytes - end};
	return call->len_bytes > end ? 2 : 1;
}

void requester_transmit(struct requester_rpc *rpc)
{
	struct rdma_leg *leg = rpc->leg;
	struct rpcrdma_header hdr;
	struct fabric_sge body[2];
	unsigned nbody = put_body(rpc, body);

	rpcrdma_header_init(&hdr, rpc->x->hdr.xid, leg->requester.window.asked,
			    rpc->form.nomsg ? RPCRDMA_NOMSG : RPCRDMA_MSG);
	put_lists(rpc, &hdr);
	leg->config.counters->calls_sent++;
	for (unsigned i = 0; i < hdr.nreads; i++)
		leg->config.counters->call_chunk_bytes_offered += hdr.reads[i].seg.len_bytes;
	rdma_leg_replenish(leg);
	work_send(leg, &hdr, body, nbody, rpc->x, NULL);
}

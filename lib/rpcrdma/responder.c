// SPDX-License-Identifier: BSD-3-Clause
/* The responder's receiving half: Calls are planned, admitted, pulled together and passed on. */
#include "rpcrdma/responder.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/responder_priv.h"

#define AUTH_BADCRED      1u /* RFC 5531 section 9 */
#define AUTH_REJECTEDCRED 2u

/* Sends that may wait for the peer beside one for each credit of either direction. */
#define SENDS_SPARE 64u

void responder_init(struct rdma_leg *leg, bool reverse, uint32_t credits)
{
	struct responder *rs = &leg->responder;

	rs->reverse = reverse;
	credit_grant_init(&rs->grant, RESPONDER_FIRST_GRANT, credits);
	TAILQ_INIT(&rs->calls);
	xid_table_init(&rs->table, EXCHANGE_ORIGIN);
}

void responder_end(struct rdma_leg *leg)
{
	struct exchange *x;

	while ((x = TAILQ_FIRST(&leg->responder.calls)))
		responder_finish(x->origin_priv);
}

void responder_fini(struct rdma_leg *leg)
{
	xid_table_fini(&leg->responder.table);
}

void responder_finish(struct responder_rpc *rpc)
{
	struct rdma_leg *leg = rpc->leg;
	struct responder *rs = &leg->responder;
	struct exchange *x = rpc->x;

	xid_table_remove(&rs->table, x);
	TAILQ_REMOVE(&rs->calls, x, origin_entry);
	x->origin = NULL;
	x->origin_priv = NULL;
	budget_release(&rpc->claim);
	buf_put(rpc->stash);
	if (rpc->note)
		leg->config.binding->note_free(leg->config.binding->arg, rpc->note);
	free(rpc);
	exchange_put(x);
}

/* A peer that sends and takes nothing must not make us queue answers without end. */
static bool flooded(struct rdma_leg *leg)
{
	unsigned max = SENDS_SPARE + 2 * leg->responder.grant.granted + leg->requester.window.asked;

	if (leg->works.sends <= max)
		return false;
	rdma_leg_fail(leg, LEG_CLOSE_REPLY_STALLED, "Calls come and no answer is taken");
	return true;
}

void responder_refuse(struct rdma_leg *leg, const struct rpcrdma_header *hdr, enum rpcrdma_err err)
{
	if (flooded(leg))
		return;
	credit_grant_call(&leg->responder.grant, hdr->credit);
	credit_grant_done(&leg->responder.grant);
	responder_send_error(leg, hdr->xid, err);
}

/* C5.1-1: only when one key is all that the Call lent may it be invalidated without harm. */
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

/* One allocation: the struct, then the four tables. */
static struct responder_rpc *rpc_new(struct rdma_leg *leg, const struct rpcrdma_header *hdr,
				     const struct call_plan *plan)
{
	size_t copies = plan->ncopies * sizeof(plan->copies[0]);
	size_t pulls = plan->npulls * sizeof(plan->pulls[0]);
	size_t writes = hdr->nwrites * sizeof(hdr->writes[0]);
	size_t segments = hdr->nsegments * sizeof(hdr->segments[0]);
	size_t head = (sizeof(struct responder_rpc) + 15) & ~(size_t)15;
	struct responder_rpc *rpc = calloc(1, head + pulls + segments + writes + copies);
	uint8_t *at = (uint8_t *)rpc + head;

	if (!rpc)
		return NULL;
	rpc->x = exchange_new();
	if (!rpc->x) {
		free(rpc);
		return NULL;
	}
	rpc->leg = leg;
	rpc->total_bytes = plan->total_bytes;
	rpc->ncopies = plan->ncopies;
	rpc->npulls = plan->npulls;
	rpc->nwrites = hdr->nwrites;
	rpc->nsegments = hdr->nsegments;
	rpc->has_reply_chunk = hdr->has_reply_chunk;
	rpc->reply_chunk = hdr->reply_chunk;
	/* The widest members first, so that each table is aligned. */
	rpc->pulls = memcpy(at, plan->pulls, pulls);
	rpc->segments = memcpy(at + pulls, hdr->segments, segments);
	rpc->writes = memcpy(at + pulls + segments, hdr->writes, writes);
	rpc->copies = memcpy(at + pulls + segments + writes, plan->copies, copies);
	find_one_handle(rpc, hdr);
	return rpc;
}

/* The header of a complete Call, or the answer that it gets for being bad. */
static bool check_header(struct responder_rpc *rpc)
{
	struct exchange *x = rpc->x;
	struct rdma_leg_counters *counters = rpc->leg->config.counters;
	uint32_t xid = x->hdr.xid, got;
	uint8_t answer[RPC_ERROR_REPLY_BYTES];
	enum rpc_msg_type type;
	enum rpc_verdict verdict = rpc_msg_peek(x->call.data, x->call.len_bytes, &got, &type);

	if (verdict == RPC_OK && type == RPC_CALL && got != xid) {
		counters->xid_mismatches++; /* */
		rdma_leg_note(rpc->leg, "Call %#x holds a Call %#x", xid, got);
		responder_answer_error(rpc, RPCRDMA_ERR_CHUNK);
		return false;
	}
	if (verdict == RPC_OK && type == RPC_CALL)
		verdict = rpc_call_decode(x->call.data, x->call.len_bytes, &x->hdr);
	else if (verdict == RPC_OK)
		verdict = RPC_BAD_TYPE;
	if (verdict == RPC_OK && x->hdr.cred_flavor != RPC_AUTH_TLS)
		return true;
	if (verdict == RPC_OK) {
		/* TLS is not for an RDMA connection, and the server behind must not be asked. */
		counters->tls_denied++;
		responder_answer(rpc, answer,
				 (uint32_t)rpc_encode_auth_error(answer, xid, AUTH_REJECTEDCRED));
		return false;
	}
	counters->bad_calls++;
	rdma_leg_note(rpc->leg, "Call %#x: %s", xid, rpc_verdict_name(verdict));
	if (verdict == RPC_BAD_VERSION)
		responder_answer(rpc, answer, (uint32_t)rpc_encode_rpc_mismatch(answer, xid));
	else if (verdict == RPC_BAD_AUTH)
		responder_answer(rpc, answer,
				 (uint32_t)rpc_encode_auth_error(answer, xid, AUTH_BADCRED));
	else
		responder_answer_error(rpc, RPCRDMA_ERR_CHUNK);
	return false;
}

/* The Call is complete here. */
static void pass_on(struct responder_rpc *rpc)
{
	struct rdma_leg *leg = rpc->leg;
	const struct rdma_binding *binding = leg->config.binding;
	struct exchange *x = rpc->x;

	if (!check_header(rpc))
		return;
	if (rpc->nwrites && binding)
		rpc->note =
			binding->call_note(binding->arg, &x->hdr, x->call.data, x->call.len_bytes);
	leg->config.counters->calls_received++;
	rpc->state = RPC_EXECUTING;
	x->start_us = loop_now_us(leg->fabric->loop);
	leg->config.leg.events->call(leg->config.leg.arg, exchange_ref(x));
}

static void on_pulled(void *arg)
{
	struct responder_rpc *rpc = arg;

	assert(rpc->pulls_left > 0);
	if (--rpc->pulls_left == 0 && rpc->leg->state == RDMA_OPEN)
		pass_on(rpc);
}

static void pull(struct responder_rpc *rpc)
{
	struct rdma_leg *leg = rpc->leg;
	const struct rpc_msg *msg = &rpc->x->call;

	rpc->state = RPC_PULLING;
	rpc->pulls_left = rpc->npulls;
	for (unsigned i = 0; i < rpc->npulls; i++) {
		const struct plan_pull *p = &rpc->pulls[i];
		struct fabric_sge to = {msg->buf, msg->data + p->to, p->len_bytes};

		leg->config.counters->read_chunk_bytes_pulled += p->len_bytes;
		work_read(leg, &to, p->handle, p->offset, rpc->x, on_pulled, rpc);
	}
}

/* The budget holds all that this RPC can take. */
static void admit(struct responder_rpc *rpc, const uint8_t *inline_bytes)
{
	struct rdma_leg *leg = rpc->leg;
	struct exchange *x = rpc->x;

	if (rpc_msg_get(leg->config.leg.pool, rpc->total_bytes, &x->call)) {
		rdma_leg_fail(leg, LEG_CLOSE_RESOURCES, "no memory for a Call");
		return;
	}
	budget_move(&x->claim, &rpc->claim);
	for (unsigned i = 0; i < rpc->ncopies; i++) {
		const struct plan_copy *c = &rpc->copies[i];

		if (c->from == PLAN_ZEROS)
			memset(x->call.data + c->to, 0, c->len_bytes);
		else
			memcpy(x->call.data + c->to, inline_bytes + c->from, c->len_bytes);
	}
	if (rpc->npulls)
		pull(rpc);
	else
		pass_on(rpc);
}

static void on_granted(void *arg)
{
	struct responder_rpc *rpc = arg;
	struct buf *stash = rpc->stash;

	if (rpc->leg->state != RDMA_OPEN)
		return; /* freed with the rest when the connection has ended */
	rpc->stash = NULL;
	admit(rpc, stash ? stash->mem : NULL);
	buf_put(stash);
}

/* Until there is memory for the message, its inline part waits in a buffer no larger than a
 * receive. */
static void claim(struct responder_rpc *rpc, const uint8_t *body, uint32_t len_bytes)
{
	struct rdma_leg *leg = rpc->leg;
	size_t cost =
		rpc_msg_cost_bytes(rpc->total_bytes) + rpc_msg_cost_bytes(rpc->x->reply_max_bytes);

	budget_claim_init(&rpc->claim, on_granted, rpc);
	if (leg->responder.reverse) {
		/* Few and inline. The Reply may stand behind clients' Calls that wait for the
		 * budget, so nothing is taken from it, and nothing waited for. */
		budget_force(leg->config.leg.budget, &rpc->claim, 0);
		admit(rpc, body);
		return;
	}
	if (budget_claim(leg->config.leg.budget, &rpc->claim, cost)) {
		admit(rpc, body);
		return;
	}
	leg->config.counters->memory_waits++;
	if (!len_bytes)
		return;
	rpc->stash = buf_get(leg->config.leg.pool, len_bytes);
	if (!rpc->stash)
		rdma_leg_fail(leg, LEG_CLOSE_RESOURCES, "no memory for a Call that waits");
	else
		memcpy(rpc->stash->mem, body, len_bytes);
}

/* What makes a Call's lists wrong, or NULL. */
static const char *lists_wrong(const struct rdma_leg *leg, const struct rpcrdma_header *hdr,
			       uint32_t len_bytes, struct call_plan *plan)
{
	if (leg->responder.reverse && (hdr->nreads || hdr->nwrites || hdr->has_reply_chunk))
		return "chunks in a reverse Call";
	switch (call_plan_make(hdr, len_bytes, leg->config.leg.max_message_bytes, plan)) {
	case CALL_PLAN_OK:
		break;
	case CALL_PLAN_BAD:
		return "read chunks that make no message";
	case CALL_PLAN_TOO_BIG:
		leg->config.counters->calls_too_big++;
		return "over max_message_bytes";
	}
	if (plan->npulls && !leg->ord)
		return "read chunks from a peer that cannot be read from";
	return NULL;
}

void responder_call(struct rdma_leg *leg, const struct rpcrdma_header *hdr, const uint8_t *body,
		    uint32_t len_bytes)
{
	struct responder *rs = &leg->responder;
	struct responder_rpc *rpc;
	struct call_plan plan;
	const char *wrong;

	if (flooded(leg))
		return;
	wrong = lists_wrong(leg, hdr, len_bytes, &plan);
	if (wrong) {
		leg->config.counters->bad_calls++;
		rdma_leg_note(leg, "Call %#x: %s", hdr->xid, wrong);
		responder_refuse(leg, hdr, RPCRDMA_ERR_CHUNK);
		return;
	}
	if (xid_table_find(&rs->table, hdr->xid)) {
		rdma_leg_fail(leg, LEG_CLOSE_XID_REUSED, "XID %#x", hdr->xid);
		return;
	}
	rpc = rpc_new(leg, hdr, &plan);
	if (!rpc) {
		rdma_leg_fail(leg, LEG_CLOSE_RESOURCES, "no memory for a Call");
		return;
	}
	rpc->x->hdr.xid = hdr->xid;
	if (xid_table_add(&rs->table, rpc->x)) {
		exchange_put(rpc->x);
		free(rpc);
		rdma_leg_fail(leg, LEG_CLOSE_RESOURCES, "no memory for a Call");
		return;
	}
	rpc->x->origin = &leg->leg;
	rpc->x->origin_priv = rpc;
	TAILQ_INSERT_TAIL(&rs->calls, rpc->x, origin_entry);
	credit_grant_call(&rs->grant, hdr->credit);
	rpc->x->reply_max_bytes = responder_capacity(rpc);
	claim(rpc, body, len_bytes);
}

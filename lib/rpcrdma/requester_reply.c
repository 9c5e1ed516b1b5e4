// SPDX-License-Identifier: BSD-3-Clause
/*
 * The requester's receiving half: Replies are matched, held against what was offered, and given up
 * once nothing of them can be changed by the peer any more.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/requester_priv.h"

/* Decodes nothing twice: the XID and the type are all that a transport may look at. */
static bool is_reply_to(const struct rpc_msg *msg, uint32_t xid)
{
	enum rpc_msg_type type;
	uint32_t got;

	return rpc_msg_peek(msg->data, msg->len_bytes, &got, &type) == RPC_OK &&
	       type == RPC_REPLY && got == xid;
}

/* Makes x->reply of what came, wherever it came to. */
static enum exchange_fault assemble(struct requester_rpc *rpc)
{
	struct rdma_leg *leg = rpc->leg;
	struct exchange *x = rpc->x;

	if (rpc->reply_inline.buf) {
		rpc_msg_put(&x->reply);
		x->reply = rpc->reply_inline;
	} else if (rpc->form.landing == LANDING_WRITE_CHUNK) {
		if (!requester_ddp_join(rpc)) {
			leg->config.counters->bad_replies++;
			rdma_leg_note(leg, "Reply %#x has no such payload", x->hdr.xid);
			return EXCHANGE_FAULT_BAD_REPLY;
		}
	} else {
		x->reply.len_bytes = x->reply.have_bytes = rpc->landed_bytes;
	}
	if (is_reply_to(&x->reply, x->hdr.xid))
		return EXCHANGE_OK;
	leg->config.counters->xid_mismatches++;
	rdma_leg_note(leg, "Reply %#x holds no Reply to that Call", x->hdr.xid);
	return EXCHANGE_FAULT_BAD_REPLY;
}

/* The peer reaches none of its memory now. */
static void finish(struct requester_rpc *rpc)
{
	struct rdma_leg *leg = rpc->leg;
	struct exchange *x = rpc->x;
	bool deferred = rpc->deferred;

	TAILQ_REMOVE(&leg->requester.ending, x, target_entry);
	x->fault = rpc->fault == EXCHANGE_OK ? assemble(rpc) : rpc->fault;
	if (x->fault != EXCHANGE_OK)
		rpc_msg_put(&x->reply);
	x->target = NULL;
	x->target_priv = NULL;
	if (rpc->note)
		leg->config.binding->note_free(leg->config.binding->arg, rpc->note);
	free(rpc);
	if (leg->state != RDMA_OPEN)
		exchange_put(x);
	else if (deferred)
		requester_fail(leg, x, x->fault);
	else
		leg->config.leg.events->reply(leg->config.leg.arg, x);
}

void requester_key_unbound(struct fabric_key *key)
{
	struct requester_rpc *rpc = container_of(key, struct requester_key, key)->rpc;

	assert(rpc->unbinding > 0);
	if (--rpc->unbinding == 0)
		finish(rpc);
}

void requester_end_rpc(struct requester_rpc *rpc, enum exchange_fault fault)
{
	struct requester *rq = &rpc->leg->requester;
	struct exchange *x = rpc->x;

	xid_table_remove(&rq->table, x);
	TAILQ_REMOVE(&rq->sent, x, target_entry);
	TAILQ_INSERT_TAIL(&rq->ending, x, target_entry);
	credit_window_give(&rq->window);
	rpc->fault = fault;
	rpc->unbinding = 1; /* ours, so that no unbound() finishes it under our feet */
	for (unsigned i = 0; i < rpc->nkeys; i++)
		if (!fabric_key_unbind(&rpc->keys[i].key))
			rpc->unbinding++;
	if (--rpc->unbinding == 0)
		finish(rpc);
}

static struct requester_rpc *find(struct rdma_leg *leg, uint32_t xid)
{
	struct exchange *x = xid_table_find(&leg->requester.table, xid);

	return x ? x->target_priv : NULL;
}

bool requester_owns_key(struct rdma_leg *leg, uint32_t xid, uint32_t rkey)
{
	struct requester_rpc *rpc = find(leg, xid);

	for (unsigned i = 0; rpc && i < rpc->nkeys; i++)
		if (rpc->keys[i].key.rkey == rkey)
			return true;
	return false;
}

/*
 * Whether a returned chunk is the one that was offered, with lengths that it can have (A3.7-4): never grown,
 * and without a gap, since the segments are one stretch of memory.
 */
static bool chunk_returned(const struct requester_rpc *rpc, const struct rpcrdma_header *hdr,
			   const struct rpcrdma_chunk *chunk)
{
	bool ended = false;

	if (chunk->count != rpc->form.nlanding)
		return false;
	for (unsigned i = 0; i < chunk->count; i++) {
		const struct rpcrdma_segment *seg = &hdr->segments[chunk->first + i];
		const struct fabric_key *key = &rpc->keys[rpc->form.ncall + i].key;

		if (seg->handle != key->rkey || seg->offset != key->addr ||
		    seg->len_bytes > key->len_bytes || (ended && seg->len_bytes))
			return false;
		ended = seg->len_bytes < key->len_bytes;
	}
	return true;
}

static const char *write_list_wrong(const struct requester_rpc *rpc,
				    const struct rpcrdma_header *hdr)
{
	if (!hdr->nwrites)
		return rpc->form.landing == LANDING_WRITE_CHUNK && !rpc->leg->peer->lenient
			       ? "the write list that was offered is missing"
			       : NULL;
	if (rpc->form.landing != LANDING_WRITE_CHUNK || hdr->nwrites > 1 ||
	    !chunk_returned(rpc, hdr, &hdr->writes[0]))
		return "a write list that was not offered";
	return NULL;
}

static const char *reply_chunk_wrong(const struct requester_rpc *rpc,
				     const struct rpcrdma_header *hdr)
{
	uint64_t len = hdr->has_reply_chunk ? hdr->reply_chunk.len_bytes : 0;

	if (hdr->has_reply_chunk && hdr->reply_chunk.count &&
	    (rpc->form.landing != LANDING_REPLY_CHUNK ||
	     !chunk_returned(rpc, hdr, &hdr->reply_chunk)))
		return "a reply chunk that was not offered";
	if (hdr->proc == RPCRDMA_MSG && len)
		return "a Reply both inline and in the reply chunk";
	if (hdr->proc == RPCRDMA_NOMSG && len < RPCRDMA_MIN_REPLY_BYTES)
		return "an RDMA_NOMSG without a Reply in the reply chunk";
	return NULL;
}

/* What is wrong with the lists of a Reply, or NULL. */
static const char *lists_wrong(const struct requester_rpc *rpc, const struct rpcrdma_header *hdr)
{
	const char *wrong = hdr->nreads ? "a read list in a Reply" : write_list_wrong(rpc, hdr);

	return wrong ? wrong : reply_chunk_wrong(rpc, hdr);
}

/* Keeps what came inline, and notes what came by RDMA. */
static const char *take(struct requester_rpc *rpc, const struct rpcrdma_header *hdr,
			const uint8_t *body, uint32_t len_bytes)
{
	struct rdma_leg *leg = rpc->leg;

	if (hdr->proc == RPCRDMA_NOMSG) {
		rpc->landed_bytes = (uint32_t)hdr->reply_chunk.len_bytes;
		leg->config.counters->reply_chunk_bytes_taken += rpc->landed_bytes;
	} else if (hdr->nwrites && hdr->writes[0].len_bytes) {
		rpc->landed_bytes = (uint32_t)hdr->writes[0].len_bytes;
		leg->config.counters->write_chunk_bytes_taken += rpc->landed_bytes;
		if (!requester_ddp_take(rpc, body, len_bytes))
			return "a Reply longer than the inline threshold";
	} else if (rpc_msg_get(leg->config.leg.pool, len_bytes, &rpc->reply_inline)) {
		rdma_leg_fail(leg, LEG_CLOSE_RESOURCES, "no memory for a Reply");
	} else {
		memcpy(rpc->reply_inline.data, body, len_bytes);
	}
	leg->bytes_received += rpc->landed_bytes;
	return NULL;
}

static void bad_reply(struct requester_rpc *rpc, const char *what)
{
	struct rdma_leg *leg = rpc->leg;

	leg->config.counters->bad_replies++;
	rdma_leg_note(leg, "Reply %#x: %s", rpc->x->hdr.xid, what);
	requester_end_rpc(rpc, EXCHANGE_FAULT_BAD_REPLY);
	requester_pump(leg);
}

static void obey_grant(struct rdma_leg *leg, uint32_t credit)
{
	leg->requester.answered = true;
	if (!credit_window_grant(&leg->requester.window, credit))
		leg->config.counters->credit_zero_received++;
}

void requester_reply(struct rdma_leg *leg, const struct rpcrdma_header *hdr, const uint8_t *body,
		     uint32_t len_bytes)
{
	struct requester_rpc *rpc = find(leg, hdr->xid);
	const char *wrong;

	if (!rpc) {
		leg->config.counters->unmatched_replies++;
		rdma_leg_note(leg, "Reply %#x matches no Call", hdr->xid);
		return;
	}
	wrong = lists_wrong(rpc, hdr);
	if (!wrong && !hdr->credit && !leg->peer->lenient)
		wrong = "a grant of zero";
	if (!wrong)
		wrong = take(rpc, hdr, body, len_bytes);
	if (wrong) {
		bad_reply(rpc, wrong);
		return;
	}
	if (leg->state != RDMA_OPEN)
		return;
	leg->config.counters->replies_received++;
	leg->requester.long_taken |= rpc->form.nomsg;
	obey_grant(leg, hdr->credit);
	requester_end_rpc(rpc, EXCHANGE_OK);
	requester_pump(leg);
}

/* A Call of ours that the peer did not execute: its version is not spoken there. */
static void version_refused(struct requester_rpc *rpc, const struct rpcrdma_header *hdr)
{
	struct rdma_leg *leg = rpc->leg;

	if (leg->requester.answered) {
		requester_end_rpc(rpc, EXCHANGE_FAULT_ERR_VERS);
		requester_pump(leg);
	} else if (hdr->vers_low > RPCRDMA_VERSION_ONE || hdr->vers_high < RPCRDMA_VERSION_ONE) {
		rdma_leg_fail(leg, LEG_CLOSE_VERSION, "the peer speaks versions %u to %u",
			      hdr->vers_low, hdr->vers_high);
	} else if (rpc->resent) {
		requester_end_rpc(rpc, EXCHANGE_FAULT_ERR_VERS);
		requester_pump(leg);
	} else {
		rpc->resent = true;
		requester_transmit(rpc);
	}
}

/* Whether what was offered holds every Reply that the Call can get, so that none was too long for it. */
static bool reply_had_room(const struct requester_rpc *rpc)
{
	const struct rdma_leg *leg = rpc->leg;
	uint32_t limit = leg->config.leg.max_message_bytes;
	uint64_t ceiling = requester_reply_ceiling(leg, rpc->x, limit);

	if (rpc->form.landing == LANDING_NONE)
		return RPCRDMA_MIN_HDR_BYTES + ceiling <= leg->recv_max_bytes;
	/* At the limit there is no telling. */
	return rpc->form.landing == LANDING_REPLY_CHUNK && ceiling < limit &&
	       ceiling <= rpc->form.landing_bytes;
}

/*
 * A well-formed Call was refused. If it was an RDMA_NOMSG, none of which this server has taken so far, and
 * nothing but its form can be meant, the next ones are not sent.
 */
static void learn(struct requester_rpc *rpc)
{
	struct rdma_leg *leg = rpc->leg;
	struct peer_memory *memory = leg->config.peer_memory;

	if (leg->config.peer != PEER_AUTO || leg->peer != peer_profile(PEER_GANESHA) ||
	    !rpc->form.nomsg || leg->requester.long_taken || !reply_had_room(rpc))
		return;
	rdma_leg_peer_found(leg, PEER_CHIMERA, "refused a long Call");
	rdma_leg_note(leg, "peer is taken for %s from now on: it %s", leg->peer->name,
		      leg->peer_why);
	if (memory)
		atomic_store(&memory->refuses_until_us,
			     loop_now_us(leg->fabric->loop) + PEER_MEMORY_US);
}

void requester_error(struct rdma_leg *leg, const struct rpcrdma_header *hdr)
{
	struct requester_rpc *rpc = find(leg, hdr->xid);

	switch (hdr->error) {
	case RPCRDMA_ERR_VERS:
		leg->config.counters->err_vers_received++;
		break;
	case RPCRDMA_ERR_CHUNK:
		leg->config.counters->err_chunk_received++;
		break;
	default:
		leg->config.counters->err_unknown_received++;
		break;
	}
	if (!rpc) {
		leg->config.counters->unmatched_replies++;
		return;
	}
	rdma_leg_note(leg, "Call %#x was answered RDMA_ERROR %u", hdr->xid, hdr->error);
	/* The credit of an error is not a grant: some peers echo what was asked. */
	if (hdr->error == RPCRDMA_ERR_VERS) {
		version_refused(rpc, hdr);
		return;
	}
	if (hdr->error == RPCRDMA_ERR_CHUNK)
		learn(rpc);
	requester_end_rpc(rpc, EXCHANGE_FAULT_ERR_CHUNK);
	requester_pump(leg);
}

void requester_bad_reply(struct rdma_leg *leg, uint32_t xid, const char *what)
{
	struct requester_rpc *rpc = find(leg, xid);

	if (rpc) {
		bad_reply(rpc, what);
		return;
	}
	leg->config.counters->bad_replies++;
	rdma_leg_note(leg, "Reply %#x: %s", xid, what);
	/* It may have been the Reply to any of them, and that one would wait for ever. */
	if (leg->requester.window.in_flight)
		rdma_leg_fail(leg, LEG_CLOSE_BAD_REPLY, "%s", what);
}

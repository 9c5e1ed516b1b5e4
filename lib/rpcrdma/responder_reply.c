// SPDX-License-Identifier: BSD-3-Clause
/*
 * The responder's answering half: payloads go into the write chunks, the rest inline or into the
 * reply chunk, and all Writes before the Send that tells of them (A2-3).
 *
 * What does not fit is found before anything is written; then the answer is ERR_CHUNK (A5.2-3,
 * A-Δ3).
 */
#include <assert.h>
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/responder_priv.h"

/* A Reply on its way out. */
struct reply {
	struct responder_rpc *rpc;
	struct rpcrdma_header hdr; /* with the lists of the Call, all lengths zero until written */
	unsigned npieces;
	struct fabric_sge pieces[RPCRDMA_MAX_CHUNKS + 1]; /* what is not in a write chunk */
	uint32_t pieces_bytes;
	unsigned npayloads;
	struct rdma_payload payloads[RPCRDMA_MAX_CHUNKS]; /* the n-th for the n-th write chunk */
};

static void reply_init(struct reply *reply, struct responder_rpc *rpc)
{
	struct rpcrdma_header *hdr = &reply->hdr;

	reply->rpc = rpc;
	reply->npieces = reply->npayloads = 0;
	reply->pieces_bytes = 0;
	rpcrdma_header_init(hdr, rpc->x->hdr.xid, 0, RPCRDMA_MSG);
	hdr->nwrites = rpc->nwrites;
	hdr->nsegments = rpc->nsegments;
	memcpy(hdr->writes, rpc->writes, rpc->nwrites * sizeof(hdr->writes[0]));
	memcpy(hdr->segments, rpc->segments, rpc->nsegments * sizeof(hdr->segments[0]));
	for (unsigned i = 0; i < hdr->nsegments; i++)
		hdr->segments[i].len_bytes = 0;
}

/* How long the header is with the Call's write list, and with its reply chunk. */
static size_t header_bytes(const struct responder_rpc *rpc, bool with_reply_chunk)
{
	size_t bytes = RPCRDMA_MIN_HDR_BYTES;

	for (unsigned i = 0; i < rpc->nwrites; i++)
		bytes += 8 + (size_t)rpc->writes[i].count * RPCRDMA_SEGMENT_BYTES;
	if (with_reply_chunk)
		bytes += 4 + (size_t)rpc->reply_chunk.count * RPCRDMA_SEGMENT_BYTES;
	return bytes;
}

/* What fits behind an RDMA_MSG header, or in the reply chunk; 0 if that cannot be used. */
static uint64_t inline_room(const struct responder_rpc *rpc)
{
	size_t hdr = header_bytes(rpc, false);

	return hdr < rpc->leg->send_max_bytes ? rpc->leg->send_max_bytes - hdr : 0;
}

static uint64_t chunk_room(const struct responder_rpc *rpc)
{
	if (!rpc->has_reply_chunk || header_bytes(rpc, true) > rpc->leg->send_max_bytes)
		return 0;
	return rpc->reply_chunk.len_bytes;
}

uint32_t responder_capacity(const struct responder_rpc *rpc)
{
	uint32_t limit = rpc->leg->config.leg.max_message_bytes;
	uint64_t room = inline_room(rpc);

	if (chunk_room(rpc) > room)
		room = chunk_room(rpc);
	for (unsigned i = 0; i < rpc->nwrites; i++)
		room += xdr_padded_bytes(rpc->writes[i].len_bytes);
	return room < limit ? (uint32_t)room : limit;
}

static void add_piece(struct reply *reply, uint32_t from, uint32_t to)
{
	const struct rpc_msg *msg = &reply->rpc->x->reply;

	if (from >= to)
		return;
	reply->pieces[reply->npieces++] =
		(struct fabric_sge){msg->buf, msg->data + from, to - from};
	reply->pieces_bytes += to - from;
}

/* Asks the binding where the payloads are; without an answer nothing is reduced. */
static void find_payloads(struct reply *reply)
{
	struct responder_rpc *rpc = reply->rpc;
	const struct rdma_binding *binding = rpc->leg->config.binding;
	const struct rpc_msg *msg = &rpc->x->reply;
	int n;

	if (!rpc->note)
		return;
	n = binding->reply_payloads(binding->arg, rpc->note, msg->data, msg->len_bytes,
				    reply->payloads, rpc->nwrites);
	if (n < 0) {
		rpc->leg->config.counters->payloads_not_found++;
		n = 0;
	}
	reply->npayloads = (unsigned)n;
}

/*
 * Cuts the Reply into what goes into write chunks and what does not. An empty chunk leaves its
 * payload inline; a moved payload's pad is neither written nor sent (A-Δ5). Returns false if a
 * payload is longer than its chunk, or is none.
 */
static bool cut(struct reply *reply)
{
	const struct rpc_msg *msg = &reply->rpc->x->reply;
	uint32_t at = 0;

	for (unsigned i = 0; i < reply->npayloads; i++) {
		struct rdma_payload *payload = &reply->payloads[i];
		uint64_t room = reply->rpc->writes[i].len_bytes;
		uint64_t end = payload->offset_bytes + xdr_padded_bytes(payload->len_bytes);

		if (!room || !payload->len_bytes) {
			payload->len_bytes = 0;
			continue;
		}
		/* A binding that is wrong must not make us write what is not the Reply. */
		if (payload->len_bytes > room || payload->offset_bytes < at ||
		    payload->offset_bytes > msg->len_bytes ||
		    payload->len_bytes > msg->len_bytes - payload->offset_bytes)
			return false;
		add_piece(reply, at, payload->offset_bytes);
		at = end < msg->len_bytes ? (uint32_t)end : msg->len_bytes;
	}
	add_piece(reply, at, msg->len_bytes);
	return true;
}

/* Writes @pieces into a chunk, segment by segment, and notes in the header how much each one got.
 */
static void write_chunk(struct reply *reply, const struct rpcrdma_chunk *chunk,
			const struct fabric_sge *pieces, unsigned npieces)
{
	struct responder_rpc *rpc = reply->rpc;
	unsigned seg = chunk->first;

	for (unsigned i = 0; i < npieces; i++) {
		struct fabric_sge left = pieces[i];

		while (left.len_bytes) {
			const struct rpcrdma_segment *to = &rpc->segments[seg];
			uint32_t used = reply->hdr.segments[seg].len_bytes;
			struct fabric_sge now = left;

			if (used == to->len_bytes) {
				seg++;
				continue;
			}
			if (now.len_bytes > to->len_bytes - used)
				now.len_bytes = to->len_bytes - used;
			work_write(rpc->leg, &now, to->handle, to->offset + used, rpc->x);
			reply->hdr.segments[seg].len_bytes += now.len_bytes;
			left.addr += now.len_bytes;
			left.len_bytes -= now.len_bytes;
		}
	}
}

/* The last step of each answer: receives first, then the Send that re-grants their credit (A3.3-8).
 */
static void send_reply(struct responder_rpc *rpc, struct rpcrdma_header *hdr,
		       const struct fabric_sge *body, unsigned nbody, bool pin)
{
	struct rdma_leg *leg = rpc->leg;
	bool invalidate = leg->may_invalidate && rpc->one_handle && hdr->proc != RPCRDMA_ERROR;

	credit_grant_done(&leg->responder.grant);
	rdma_leg_replenish(leg);
	hdr->credit = credit_grant_value(&leg->responder.grant);
	work_send(leg, hdr, body, nbody, pin ? rpc->x : NULL, invalidate ? &rpc->handle : NULL);
	responder_finish(rpc);
}

void responder_send_error(struct rdma_leg *leg, uint32_t xid, enum rpcrdma_err err)
{
	struct rpcrdma_header hdr;

	rdma_leg_replenish(leg);
	rpcrdma_header_init(&hdr, xid, credit_grant_value(&leg->responder.grant), RPCRDMA_ERROR);
	hdr.error = err;
	if (err == RPCRDMA_ERR_VERS) {
		leg->config.counters->err_vers_sent++;
		hdr.vers_low = hdr.vers_high = RPCRDMA_VERSION_ONE;
	} else {
		leg->config.counters->err_chunk_sent++;
	}
	work_send(leg, &hdr, NULL, 0, NULL, NULL);
}

void responder_answer_error(struct responder_rpc *rpc, enum rpcrdma_err err)
{
	struct rdma_leg *leg = rpc->leg;
	uint32_t xid = rpc->x->hdr.xid;

	credit_grant_done(&leg->responder.grant);
	responder_send_error(leg, xid, err);
	responder_finish(rpc);
}

void responder_answer(struct responder_rpc *rpc, const uint8_t *msg, uint32_t len_bytes)
{
	struct fabric_sge body = {NULL, (uint8_t *)msg, len_bytes};
	struct reply reply;

	if (len_bytes > inline_room(rpc)) {
		responder_answer_error(rpc, RPCRDMA_ERR_CHUNK);
		return;
	}
	reply_init(&reply, rpc);
	rpc->leg->config.counters->replies_sent++;
	send_reply(rpc, &reply.hdr, &body, 1, false);
}

static void answer_fault(struct responder_rpc *rpc, enum exchange_fault fault)
{
	uint8_t answer[RPC_ERROR_REPLY_BYTES];

	if (fault == EXCHANGE_FAULT_ERR_CHUNK || fault == EXCHANGE_FAULT_TOO_BIG)
		responder_answer_error(rpc, RPCRDMA_ERR_CHUNK);
	else
		responder_answer(
			rpc, answer,
			(uint32_t)rpc_encode_accepted(answer, rpc->x->hdr.xid, RPC_SYSTEM_ERR));
}

static void answer_reply(struct responder_rpc *rpc)
{
	struct rdma_leg_counters *counters = rpc->leg->config.counters;
	struct reply reply;
	bool fits, is_inline;

	reply_init(&reply, rpc);
	find_payloads(&reply);
	fits = cut(&reply);
	is_inline = reply.pieces_bytes <= inline_room(rpc);
	if (!fits || (!is_inline && reply.pieces_bytes > chunk_room(rpc))) {
		counters->replies_too_big++;
		rdma_leg_note(rpc->leg, "Reply %#x of %u bytes does not fit what its Call offered",
			      rpc->x->hdr.xid, rpc->x->reply.len_bytes);
		responder_answer_error(rpc, RPCRDMA_ERR_CHUNK);
		return;
	}
	for (unsigned i = 0; i < reply.npayloads; i++) {
		const struct rpc_msg *msg = &rpc->x->reply;
		const struct rdma_payload *payload = &reply.payloads[i];
		struct fabric_sge piece = {msg->buf, msg->data + payload->offset_bytes,
					   payload->len_bytes};

		write_chunk(&reply, &rpc->writes[i], &piece, 1);
		counters->write_chunk_bytes_pushed += payload->len_bytes;
	}
	if (!is_inline) {
		reply.hdr.proc = RPCRDMA_NOMSG;
		reply.hdr.has_reply_chunk = true;
		reply.hdr.reply_chunk = rpc->reply_chunk;
		write_chunk(&reply, &rpc->reply_chunk, reply.pieces, reply.npieces);
		counters->reply_chunk_bytes_pushed += reply.pieces_bytes;
	}
	counters->replies_sent++;
	send_reply(rpc, &reply.hdr, reply.pieces, is_inline ? reply.npieces : 0, true);
}

void responder_reply(struct rdma_leg *leg, struct exchange *x)
{
	struct responder_rpc *rpc = x->origin_priv;

	/* Closed meanwhile, or about to be: nobody waits for it. */
	if (x->origin == &leg->leg && leg->state == RDMA_OPEN) {
		assert(rpc->state == RPC_EXECUTING);
		if (x->fault != EXCHANGE_OK)
			answer_fault(rpc, x->fault);
		else
			answer_reply(rpc);
	}
	exchange_put(x);
}

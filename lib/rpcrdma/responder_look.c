// SPDX-License-Identifier: BSD-3-Clause
/* The responder's look at a Call. */
#include "rpcrdma/responder_look.h"

#include "nfs/nfs.h"
#include "rpc/call_verdict.h"
#include "rpcrdma/responder_conf.h"
#include "rpcrdma/responder_reply.h"

/* What a Call gets that does not pass. A cut header costs no other Call anything here, so the connection stays. */
static const struct call_rule rules[CALL_VERDICT_COUNT] = {
	/* TLS is not for an RDMA connection, and the server behind must not be asked. */
	[CALL_AUTH_TLS] = CALL_RULE(REPLY, rdma_leg_counters, auth_tls_refused, NULL),
	[CALL_BAD_AUTH] = CALL_RULE(REPLY, rdma_leg_counters, bad_auth_refused, "refused"),
	[CALL_RPC_MISMATCH] = CALL_RULE(REPLY, rdma_leg_counters, rpc_mismatches, "refused"),
	[CALL_CUT] = CALL_RULE(ERROR, rdma_leg_counters, bad_calls, "not a Call"),
	[CALL_IS_REPLY] = CALL_RULE(ERROR, rdma_leg_counters, bad_calls, "not a Call"),
	[CALL_NOT_RPC] = CALL_RULE(ERROR, rdma_leg_counters, bad_calls, "not a Call"),
	/* */
	[CALL_XID_DIFFERS] = CALL_RULE(ERROR, rdma_leg_counters, xid_mismatches, "not this Call"),
	[CALL_GARBAGE_ARGS] = CALL_RULE(REPLY, rdma_leg_counters, chunk_mismatches, NULL),
	/* A6.2-10: where it is not served. */
	[CALL_CONFIGURES] = CALL_RULE(REPLY, rdma_leg_counters, prog_unavail, NULL),
};

/* What RPC itself answers is a Call of this version; what it is not, is none of any. */
static bool is_understood(enum call_verdict verdict)
{
	return verdict == CALL_PASSES || rules[verdict].answer == CALL_ANSWER_REPLY;
}

static enum call_verdict judge(struct responder_rpc *rpc, const uint8_t *msg, uint32_t have_bytes)
{
	struct exchange *x = rpc->x;
	uint32_t config_program = rpc->rpcs->conn->leg->config->config_program;
	struct rpc_call_hdr hdr;
	enum call_verdict verdict = call_judge(msg, have_bytes, rpc->total_bytes, &x->facts.hdr.xid,
					       config_program, &hdr);

	if (verdict == CALL_PASSES || verdict == CALL_CONFIGURES)
		x->facts.hdr = hdr;
	if (rpc->rpcs->conn->negotiation.stage != NEGOTIATION_SETTLED && is_understood(verdict))
		rdma_conn_call_understood(rpc->rpcs->conn, rpc->terms.dialect);
	return verdict;
}

/* Read chunks on their way past the payloads of a Call, both in order. */
struct chunk_check {
	const struct responder_rpc *rpc;
	unsigned next; /* of rpc->chunks */
	bool differs;
};

/*
 * Linux before 4.7 has all that follows the payload of a COMPOUND in the payload's chunk, and nothing inline behind
 * it: every WRITE of NFSv4 comes so. It is the same message.
 */
static bool has_the_rest(const struct responder_rpc *rpc, const struct plan_chunk *chunk,
			 uint32_t data_bytes)
{
	const struct call_facts *facts = &rpc->x->facts;

	return facts->compound && facts->walk.ops_left > 1 &&
	       chunk->len_bytes > xdr_padded_bytes(data_bytes) &&
	       chunk->position + xdr_padded_bytes(chunk->len_bytes) == rpc->total_bytes;
}

/* A3.4-4: a chunk in a payload's place is as long as the payload, with its pad or without. */
static void check_payload(void *arg, const struct nfs_opaque *opaque)
{
	struct chunk_check *check = arg;
	const struct responder_rpc *rpc = check->rpc;
	const struct plan_chunk *chunk;

	if (!opaque->is_payload || check->differs)
		return;
	while (check->next < rpc->nchunks &&
	       rpc->chunks[check->next].position < opaque->offset_bytes)
		check->next++;
	chunk = &rpc->chunks[check->next];
	if (check->next == rpc->nchunks || chunk->position != opaque->offset_bytes ||
	    chunk->len_bytes == opaque->len_bytes ||
	    chunk->len_bytes == xdr_padded_bytes(opaque->len_bytes) ||
	    has_the_rest(rpc, chunk, opaque->len_bytes))
		return;
	check->differs = true;
	rdma_conn_note(rpc->rpcs->conn, "Call %#x: %u bytes of data come in a chunk of %u",
		       rpc->x->facts.hdr.xid, opaque->len_bytes, chunk->len_bytes);
}

/* Finds the facts of a Call that has chunks. Returns whether they fit their data. */
static bool check_chunks(struct responder_rpc *rpc, const struct rpc_pieces *pieces)
{
	const struct leg_config *config = rpc->rpcs->conn->leg->config;
	struct call_facts *facts = &rpc->x->facts;
	struct chunk_check check = {.rpc = rpc};
	const struct nfs_sink sink = {check_payload, &check};

	nfs_facts_go_on(facts, config->sessions, pieces, &sink);
	return !check.differs;
}

/* What the Reply can have is no more than what its Call allows. Returns whether its chunks fit their data. */
static bool find_facts(struct responder_rpc *rpc, const struct rpc_pieces *pieces)
{
	const struct leg_config *config = rpc->rpcs->conn->leg->config;
	struct exchange *x = rpc->x;
	bool fits = true;

	nfs_facts_begin(&x->facts, config->max_message_bytes);
	if (rpc->nchunks)
		fits = check_chunks(rpc, pieces);
	else
		nfs_facts_go_on(&x->facts, config->sessions, pieces, NULL);
	if (x->facts.ceiling_bytes < x->reply_max_bytes)
		x->reply_max_bytes = x->facts.ceiling_bytes;
	return fits;
}

/* The plan's copies and pulls, both in order, as pieces of the message. Returns how many. */
static unsigned lay_out(const struct responder_rpc *rpc, const uint8_t *inline_bytes,
			struct rpc_piece *list)
{
	static const uint8_t zeros[XDR_UNIT_BYTES];
	unsigned copy = 0, pull = 0, count = 0;

	while (copy < rpc->ncopies || pull < rpc->npulls) {
		const struct plan_copy *c = &rpc->copies[copy];

		if (pull < rpc->npulls && (copy == rpc->ncopies || rpc->pulls[pull].to < c->to)) {
			list[count++] = (struct rpc_piece){NULL, rpc->pulls[pull++].len_bytes};
			continue;
		}
		list[count++] = (struct rpc_piece){
			c->from == PLAN_ZEROS ? zeros : inline_bytes + c->from, c->len_bytes};
		copy++;
	}
	return count;
}

/* Returns whether it may pass, as far as it is here. */
static bool look_inline(struct responder_rpc *rpc, const uint8_t *inline_bytes)
{
	struct rpc_piece list[PLAN_MAX_COPIES + PLAN_MAX_PULLS];
	struct rpc_pieces pieces = {.list = list, .len_bytes = rpc->total_bytes};

	if (!rpc->npulls && rpc->ncopies == 1) {
		list[0] = (struct rpc_piece){inline_bytes, rpc->total_bytes};
		pieces.count = 1;
	} else {
		pieces.count = lay_out(rpc, inline_bytes, list);
	}
	/* What does not pass is answered when its Reads are done (A3.6-3). */
	return !pieces.count || !list[0].data ||
	       judge(rpc, list[0].data, list[0].len_bytes) != CALL_PASSES ||
	       find_facts(rpc, &pieces);
}

static void refuse(struct responder_rpc *rpc, enum call_verdict verdict)
{
	const struct call_rule *rule = &rules[verdict];
	struct rdma_conn *conn = rpc->rpcs->conn;
	uint8_t answer[RPC_ERROR_REPLY_BYTES];
	const struct rpc_call_hdr *hdr = &rpc->x->facts.hdr;

	call_rule_count(rule, conn->counters);
	if (rule->note)
		rdma_conn_note(conn, "Call %#x is %s: %s", hdr->xid, rule->note,
			       call_verdict_text(verdict));
	if (call_verdict_is_denied(verdict, hdr))
		conn->counters->auth_failed_sent++;
	if (rule->answer == CALL_ANSWER_REPLY)
		responder_answer(rpc, answer, (uint32_t)call_verdict_encode(answer, verdict, hdr));
	else
		responder_answer_error(rpc, RPCRDMA_ERR_CHUNK);
}

bool responder_look_early(struct responder_rpc *rpc, const uint8_t *inline_bytes)
{
	struct exchange *x = rpc->x;

	if (inline_bytes && !look_inline(rpc, inline_bytes)) {
		refuse(rpc, CALL_GARBAGE_ARGS);
		return false;
	}
	/* Memory is claimed before more is known, and what a peer offers proves nothing. */
	if (x->facts.stage == FACTS_NONE && x->reply_max_bytes > FACTS_UNBOUNDED_BYTES)
		x->reply_max_bytes = FACTS_UNBOUNDED_BYTES;
	return true;
}

bool responder_look(struct responder_rpc *rpc)
{
	struct exchange *x = rpc->x;
	const struct rpc_piece piece = {x->call.data, x->call.len_bytes};
	const struct rpc_pieces pieces = {&piece, 1, x->call.len_bytes};
	enum call_verdict verdict;

	/* What was read out of a hole is here now. */
	if (x->facts.stage == FACTS_WHOLE && x->facts.trail != FACTS_LOST_IN_HOLE)
		return true;
	verdict = judge(rpc, x->call.data, x->call.len_bytes);
	if (verdict == CALL_PASSES && !find_facts(rpc, &pieces))
		verdict = CALL_GARBAGE_ARGS;
	if (verdict == CALL_CONFIGURES && responder_conf_serves(rpc)) {
		responder_conf_answer(rpc);
		return false;
	}
	if (verdict != CALL_PASSES) {
		refuse(rpc, verdict);
		return false;
	}
	budget_shrink(&x->claim, responder_rpc_cost_bytes(rpc, x->call.buf->size_bytes, 0));
	return true;
}

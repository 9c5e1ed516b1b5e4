// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checks the header of a Call and finds its facts in one walk over its arguments.
 *
 * An RDMA_MSG shows everything immediately: its read chunks are holes of known length, which the
 * walk skips. An RDMA_NOMSG shows nothing until its chunk has been read.
 */
#include "rpcrdma/responder_rpc.h"

#include "nfs/nfs.h"
#include "rpc/call_check.h"
#include "rpcrdma/draft03/ccp.h"
#include "rpcrdma/responder_reply.h"

/*
 * Answers to unacceptable Calls. A truncated header affects no other Call, so the connection stays
 * open.
 */
static const struct call_rule rules[CALL_VERDICT_COUNT] = {
	/* RDMA connections do not use TLS, and an AUTH_TLS probe must not reach the server. */
	[CALL_AUTH_TLS] = CALL_RULE(REPLY, rdma_leg_counters, auth_tls_refused, NULL),
	[CALL_BAD_AUTH] = CALL_RULE(REPLY, rdma_leg_counters, bad_auth_refused, "refused"),
	[CALL_RPC_MISMATCH] = CALL_RULE(REPLY, rdma_leg_counters, rpc_mismatches, "refused"),
	[CALL_TRUNCATED] = CALL_RULE(ERROR, rdma_leg_counters, bad_calls, "not a Call"),
	[CALL_IS_REPLY] = CALL_RULE(ERROR, rdma_leg_counters, bad_calls, "not a Call"),
	[CALL_NOT_RPC] = CALL_RULE(ERROR, rdma_leg_counters, bad_calls, "not a Call"),
	/* */
	[CALL_XID_DIFFERS] = CALL_RULE(ERROR, rdma_leg_counters, xid_mismatches, "not this Call"),
	[CALL_GARBAGE_ARGS] = CALL_RULE(REPLY, rdma_leg_counters, chunk_mismatches, NULL),
	[CALL_MISPLACED] = CALL_RULE(ERROR, rdma_leg_counters, chunks_misplaced, NULL),
	/* A6.2-10: if the program is not served */
	[CALL_CONFIG_PROGRAM] = CALL_RULE(REPLY, rdma_leg_counters, prog_unavail, NULL),
};

/*
 * Returns true for a valid RPC Call. If RPC defines an answer, the message is a Call of this
 * transport version; any other message proves no version.
 */
static bool is_understood(enum call_verdict verdict)
{
	return verdict == CALL_OK || rules[verdict].answer == CALL_ANSWER_REPLY;
}

static enum call_verdict check_header(struct responder_rpc *rpc, const uint8_t *msg,
				      uint32_t have_bytes)
{
	struct exchange *x = rpc->x;
	uint32_t config_program = rpc->rs->conn->leg->config->config_program;
	struct rpc_call_hdr hdr;
	enum call_verdict verdict = call_check(msg, have_bytes, rpc->total_bytes,
					       &x->call_info.hdr.xid, config_program, &hdr);

	if (verdict == CALL_OK || verdict == CALL_CONFIG_PROGRAM)
		x->call_info.hdr = hdr;
	if (rpc->rs->conn->negotiation.stage != NEGOTIATION_SETTLED && is_understood(verdict))
		rdma_conn_call_understood(rpc->rs->conn, rpc->limits.dialect);
	return verdict;
}

/* State of the walk over the opaques of a Call, in parallel with its read chunks. */
struct chunk_check {
	const struct responder_rpc *rpc;
	unsigned next;  /* index in rpc->chunks of the first chunk not matched to a payload yet */
	bool differs;   /* a chunk has another length than its payload */
	bool misplaced; /* a chunk is not at the position of a payload */
	bool has_rest;  /* has_compound_rest() of the last matched chunk */
};

/*
 * Returns true if the chunk holds the payload and everything after it in a COMPOUND. Linux before
 * 4.7 sends every NFSv4 WRITE this way, with nothing inline after the payload. The message is the
 * same.
 */
static bool has_compound_rest(const struct responder_rpc *rpc, const struct plan_chunk *chunk,
			      uint32_t data_bytes)
{
	const struct call_info *call_info = &rpc->x->call_info;

	return call_info->compound && call_info->walk.ops_left > 1 &&
	       chunk->len_bytes > xdr_padded_bytes(data_bytes) &&
	       chunk->position + xdr_padded_bytes(chunk->len_bytes) == rpc->total_bytes;
}

/*
 * Checks A3.4-4: a chunk in place of a payload has the length of the payload, with or without its
 * pad.
 */
static void check_length(struct chunk_check *check, const struct plan_chunk *chunk,
			 uint32_t data_bytes)
{
	const struct responder_rpc *rpc = check->rpc;

	if (chunk->len_bytes == data_bytes || chunk->len_bytes == xdr_padded_bytes(data_bytes))
		return;
	check->has_rest = has_compound_rest(rpc, chunk, data_bytes);
	if (check->has_rest)
		return;
	check->differs = true;
	rdma_conn_note(rpc->rs->conn, "Call %#x: payload of %u bytes in a chunk of %u",
		       rpc->x->call_info.hdr.xid, data_bytes, chunk->len_bytes);
}

static void check_opaque(void *arg, const struct nfs_opaque *opaque)
{
	struct chunk_check *check = arg;
	const struct responder_rpc *rpc = check->rpc;

	if (check->differs)
		return;
	for (;
	     check->next < rpc->nchunks && rpc->chunks[check->next].position < opaque->offset_bytes;
	     check->next++)
		check->misplaced = true;
	if (opaque->is_payload && check->next < rpc->nchunks &&
	    rpc->chunks[check->next].position == opaque->offset_bytes)
		check_length(check, &rpc->chunks[check->next++], opaque->len_bytes);
}

/*
 * Returns true if a read chunk is not at the position of a DDP-eligible item (RFC 8166 section
 * 6.1). If the arguments could not be parsed to the end, only the chunks before that point count.
 * If parsing stopped inside a chunk, that chunk is no item, except for the rest of a COMPOUND
 * (has_compound_rest()).
 */
static bool is_misplaced(const struct chunk_check *check)
{
	const struct call_info *call_info = &check->rpc->x->call_info;
	enum nfs_binding binding;

	/* The usual case: each chunk has the position and length of a payload. */
	if (!check->misplaced && check->next == check->rpc->nchunks)
		return false;
	binding = nfs_args_binding(call_info);
	if (binding != NFS_BINDING_ITEMS)
		return binding == NFS_BINDING_NO_ITEMS;
	return check->misplaced || call_info->parse == CALL_PARSE_OK ||
	       (call_info->parse == CALL_PARSE_HOLE && !check->has_rest);
}

/* Finds the facts of a Call with chunks. Returns the verdict on its chunks. */
static enum call_verdict check_chunks(struct responder_rpc *rpc, const struct xdr_sg *pieces)
{
	struct rdma_conn *conn = rpc->rs->conn;
	struct call_info *call_info = &rpc->x->call_info;
	struct chunk_check check = {.rpc = rpc};
	const struct nfs_sink sink = {check_opaque, &check};
	char name[CALL_NAME_BYTES];

	nfs_call_walk_continue(call_info, conn->leg->config->sessions, pieces, &sink);
	if (check.differs)
		return CALL_GARBAGE_ARGS;
	if (!conn->config->strict_chunks || !is_misplaced(&check))
		return CALL_OK;
	call_info_name(call_info, name);
	rdma_conn_note(conn, "Call %#x (%s): a read chunk is not at a DDP-eligible argument",
		       call_info->hdr.xid, name);
	return CALL_MISPLACED;
}

/*
 * Finds the facts of a Call and lowers reply_max_bytes accordingly. Returns the verdict on its
 * chunks.
 */
static enum call_verdict find_facts(struct responder_rpc *rpc, const struct xdr_sg *pieces)
{
	const struct leg_config *config = rpc->rs->conn->leg->config;
	struct exchange *x = rpc->x;
	enum call_verdict verdict = CALL_OK;

	nfs_call_walk_begin(&x->call_info, config->max_message_bytes);
	if (rpc->nchunks)
		verdict = check_chunks(rpc, pieces);
	else
		nfs_call_walk_continue(&x->call_info, config->sessions, pieces, NULL);
	if (x->call_info.reply_bound_bytes < x->reply_max_bytes)
		x->reply_max_bytes = x->call_info.reply_bound_bytes;
	return verdict;
}

/*
 * Lists the copies and pulls of the plan, both in order, as pieces of the message. Returns their
 * number.
 */
static unsigned lay_out(const struct responder_rpc *rpc, const uint8_t *inline_bytes,
			struct xdr_sg_entry *list)
{
	static const uint8_t zeros[XDR_UNIT_BYTES];
	unsigned nplan_reads = rpc->reads ? rpc->reads->nplan_reads : 0;
	unsigned copy = 0, read_index = 0, count = 0;

	while (copy < rpc->ncopies || read_index < nplan_reads) {
		const struct plan_read *p =
			nplan_reads ? &rpc->reads->plan_reads[read_index] : NULL;
		const struct plan_copy *c = &rpc->copies[copy];

		if (read_index < nplan_reads && (copy == rpc->ncopies || p->to < c->to)) {
			list[count++] = (struct xdr_sg_entry){NULL, p->len_bytes};
			read_index++;
			continue;
		}
		list[count++] = (struct xdr_sg_entry){
			c->from == PLAN_ZEROS ? zeros : inline_bytes + c->from, c->len_bytes};
		copy++;
	}
	return count;
}

/* Returns CALL_OK if the inline bytes are acceptable, or the verdict on the chunks. */
static enum call_verdict parse_inline(struct responder_rpc *rpc, const uint8_t *inline_bytes)
{
	struct xdr_sg_entry list[PLAN_MAX_COPIES + PLAN_MAX_READS];
	struct xdr_sg pieces = {.list = list, .len_bytes = rpc->total_bytes};

	if (!rpc->reads && rpc->ncopies == 1) {
		list[0] = (struct xdr_sg_entry){inline_bytes, rpc->total_bytes};
		pieces.count = 1;
	} else {
		pieces.count = lay_out(rpc, inline_bytes, list);
	}
	/* Other errors are answered when the Reads are done (A3.6-3). */
	if (!pieces.count || !list[0].data ||
	    check_header(rpc, list[0].data, list[0].len_bytes) != CALL_OK)
		return CALL_OK;
	return find_facts(rpc, &pieces);
}

static void reject_call(struct responder_rpc *rpc, enum call_verdict verdict)
{
	const struct call_rule *rule = &rules[verdict];
	struct rdma_conn *conn = rpc->rs->conn;
	uint8_t answer[RPC_ERROR_REPLY_BYTES];
	const struct rpc_call_hdr *hdr = &rpc->x->call_info.hdr;

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

bool responder_parse_early(struct responder_rpc *rpc, const uint8_t *inline_bytes)
{
	struct exchange *x = rpc->x;
	enum call_verdict verdict = inline_bytes ? parse_inline(rpc, inline_bytes) : CALL_OK;

	if (verdict != CALL_OK) {
		reject_call(rpc, verdict);
		return false;
	}
	/* The claim needs a bound now, and the size of the offered chunks proves nothing. */
	if (x->call_info.stage == CALL_INFO_NONE && x->reply_max_bytes > REPLY_UNBOUNDED_BYTES)
		x->reply_max_bytes = REPLY_UNBOUNDED_BYTES;
	return true;
}

bool responder_parse(struct responder_rpc *rpc)
{
	struct exchange *x = rpc->x;
	const struct xdr_sg_entry piece = {x->call.data, x->call.len_bytes};
	const struct xdr_sg pieces = {&piece, 1, x->call.len_bytes};
	enum call_verdict verdict;

	/* The bytes that were in a hole are here now. */
	if (x->call_info.stage == CALL_INFO_COMPLETE && x->call_info.parse != CALL_PARSE_HOLE)
		return true;
	verdict = check_header(rpc, x->call.data, x->call.len_bytes);
	if (verdict == CALL_OK)
		verdict = find_facts(rpc, &pieces);
	if (verdict == CALL_CONFIG_PROGRAM && ccp_server_serves(rpc)) {
		ccp_server_answer(rpc);
		return false;
	}
	if (verdict != CALL_OK) {
		reject_call(rpc, verdict);
		return false;
	}
	budget_claim_shrink(&x->claim,
			    responder_rpc_cost_bytes(rpc, x->call.buf->size_bytes, false));
	return true;
}

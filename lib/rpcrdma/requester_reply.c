// SPDX-License-Identifier: BSD-3-Clause
/* Checks Replies against the exposed chunks. Delivers a Reply only when the peer can no longer change it. */

#include "rpcrdma/requester.h"

#include <string.h>

#include "rpcrdma/draft03/ccp.h"
#include "rpcrdma/draft03/requester_read_reply.h"
#include "rpcrdma/draft03/requester_zero.h"
#include "rpcrdma/read_chunks.h"
#include "rpcrdma/requester_late.h"
#include "rpcrdma/v2/version_probe.h"

bool requester_owns_key(const struct requester *rq, uint32_t xid, uint32_t rkey)
{
	const struct requester_rpc *rpc = requester_rpc_find(rq, xid);

	return rpc && lend_owns(&rpc->lend, rkey);
}

/*
 * Returns NULL if a returned chunk is the exposed one with possible lengths (A3.7-4): not longer, and without a gap,
 * because the segments are contiguous memory. The peer must really have written the bytes that it claims,
 * because the rest of that memory still contains an earlier Reply, perhaps of another client. Otherwise returns what is
 * wrong, @not_offered for a different chunk.
 */
static const char *chunk_wrong(const struct requester_rpc *rpc, const struct rpcrdma_header *hdr,
			       const struct rpcrdma_chunk *chunk, const char *not_offered)
{
	bool ended = false;

	if (chunk->count != rpc->form.landing_nsegments)
		return not_offered;
	for (unsigned i = 0; i < chunk->count; i++) {
		const struct rpcrdma_segment *seg = &hdr->segments[chunk->first + i];
		unsigned key = rpc->form.call.nsegments + i;
		struct rpcrdma_segment lent = lend_segment(&rpc->lend, key);

		if (seg->handle != lent.handle || seg->offset != lent.offset ||
		    seg->len_bytes > lent.len_bytes || (ended && seg->len_bytes))
			return not_offered;
		if (seg->len_bytes > lend_written_bytes(&rpc->lend, key))
			return "claims bytes of a chunk that the peer has not written";
		ended = seg->len_bytes < lent.len_bytes;
	}
	return NULL;
}

static const char *write_list_wrong(const struct requester_rpc *rpc,
				    const struct rpcrdma_header *hdr)
{
	static const char not_offered[] = "a write list that was not offered";

	if (!hdr->nwrites)
		return rpc->form.landing == LANDING_WRITE_CHUNK && !rpc->rq->conn->peer->lenient
			       ? "the write list that was offered is missing"
			       : NULL;
	if (rpc->form.landing != LANDING_WRITE_CHUNK || hdr->nwrites > 1)
		return not_offered;
	return chunk_wrong(rpc, hdr, &hdr->writes[0], not_offered);
}

static const char *reply_chunk_wrong(const struct requester_rpc *rpc,
				     const struct rpcrdma_header *hdr)
{
	static const char not_offered[] = "a reply chunk that was not offered";
	uint64_t len = hdr->has_reply_chunk ? hdr->reply_chunk.len_bytes : 0;
	const char *wrong = NULL;

	if (hdr->has_reply_chunk && hdr->reply_chunk.count)
		wrong = rpc->form.landing == LANDING_REPLY_CHUNK
				? chunk_wrong(rpc, hdr, &hdr->reply_chunk, not_offered)
				: not_offered;
	if (wrong)
		return wrong;
	if (hdr->nreads)
		return len ? "a Reply both in read chunks and in the reply chunk" : NULL;
	if (hdr->proc == RPCRDMA_MSG && len)
		return "a Reply both inline and in the reply chunk";
	if (hdr->proc == RPCRDMA_NOMSG && len < RPCRDMA_MIN_REPLY_BYTES)
		return "an RDMA_NOMSG without a Reply in the reply chunk";
	return NULL;
}

static const char *read_list_wrong(const struct requester_rpc *rpc)
{
	if (!read_reply_requester_may(rpc))
		return "a read list in a Reply";
	if (!read_chunks_bound(rpc->rq->conn))
		return "read chunks, but RDMA Reads from this peer are not allowed";
	return NULL;
}

/* Returns what is wrong with the chunk lists of a Reply, or NULL. */
static const char *lists_wrong(const struct requester_rpc *rpc, const struct rpcrdma_header *hdr)
{
	const char *wrong = hdr->nreads ? read_list_wrong(rpc) : NULL;

	if (!wrong)
		wrong = write_list_wrong(rpc, hdr);
	return wrong ? wrong : reply_chunk_wrong(rpc, hdr);
}

/* Stores the inline bytes and records what the peer wrote. Returns what is wrong, or NULL. */
static const char *take(struct requester_rpc *rpc, const struct rpcrdma_header *hdr,
			const uint8_t *body, uint32_t len_bytes)
{
	struct rdma_conn *conn = rpc->rq->conn;

	uint8_t *form = &rpc->x->reply_forms[EXCHANGE_TARGET];

	*form = MESSAGE_FORM_SHORT;
	if (hdr->proc == RPCRDMA_NOMSG) {
		*form = MESSAGE_FORM_LONG;
		rpc->landed_bytes = (uint32_t)hdr->reply_chunk.len_bytes;
		conn->counters->reply_chunk_bytes_taken += rpc->landed_bytes;
	} else if (hdr->nwrites && hdr->writes[0].len_bytes) {
		*form = MESSAGE_FORM_CHUNKED;
		rpc->landed_bytes = (uint32_t)hdr->writes[0].len_bytes;
		rpc->around_bytes = len_bytes;
		conn->counters->write_chunk_bytes_taken += rpc->landed_bytes;
		if (len_bytes > requester_rpc_landing_room(rpc))
			return "a Reply longer than the inline threshold";
		memcpy(rpc->x->reply.data, body, len_bytes);
	} else if (rpc_msg_get(conn->leg->config->pool, len_bytes, &rpc->reply_inline)) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a Reply");
	} else {
		memcpy(rpc->reply_inline.data, body, len_bytes);
	}
	rdma_conn_count_received(conn, rpc->landed_bytes);
	return NULL;
}

static void bad_reply(struct requester *rq, struct requester_rpc *rpc, const char *what)
{
	rq->conn->counters->bad_replies++;
	rdma_conn_note(rq->conn, "Reply %#x: %s", rpc->x->facts.hdr.xid, what);
	requester_rpc_end(rpc, EXCHANGE_FAULT_BAD_REPLY);
	requester_pump(rq);
}

/* Returns true if a grant of zero is valid. It never is for reverse Calls, in any dialect (D2.1.2-1). */
static bool zero_is_grant(const struct requester *rq, const struct dialect *dialect)
{
	return dialect->zero_grants && !rq->reverse;
}

static inline void obey_grant(struct requester *rq, const struct dialect *dialect, uint32_t credit)
{
	rq->answered = true;
	negotiation_reply_came(&rq->conn->negotiation);
	if (!credit && zero_is_grant(rq, dialect)) {
		credit_window_stop(&rq->conn->window);
		rq->conn->counters->credit_zero_obeyed++;
		requester_zero_watch(rq);
	} else if (!credit_window_grant(&rq->conn->window, credit)) {
		rq->conn->counters->credit_zero_received++;
	}
}

/* Returns true if the whole Reply is inline and longer than its Call allows: the claim has no memory for it. */
static bool is_too_big(const struct requester_rpc *rpc, const struct rpcrdma_header *hdr,
		       uint32_t len_bytes)
{
	return hdr->proc == RPCRDMA_MSG && !(hdr->nwrites && hdr->writes[0].len_bytes) &&
	       len_bytes > rpc->x->reply_max_bytes;
}

static void too_big(struct requester *rq, struct requester_rpc *rpc, uint32_t len_bytes)
{
	rq->conn->counters->replies_over_limit++;
	rdma_conn_note(rq->conn, "Reply %#x of %u bytes is longer than its Call allows",
		       rpc->x->facts.hdr.xid, len_bytes);
	requester_rpc_end(rpc, EXCHANGE_FAULT_TOO_BIG);
	requester_pump(rq);
}

/* Handles a Reply to no Call of a client. If it answers a Call of the proxy itself, its grant counts. */
static void matches_no_call(struct requester *rq, const struct rpcrdma_header *hdr,
			    const uint8_t *body, uint32_t len_bytes)
{
	if (hdr->nreads)
		read_reply_requester_own_done(rq, hdr->xid);
	if (requester_null_answered(rq, hdr->xid) ||
	    ccp_client_answered(rq, hdr, body, len_bytes)) {
		if (hdr->credit || zero_is_grant(rq, rq->conn->terms.dialect))
			obey_grant(rq, rq->conn->terms.dialect, hdr->credit);
		requester_pump(rq);
		return;
	}
	rq->conn->counters->unmatched_replies++;
	rdma_conn_note(rq->conn, "Reply %#x matches no Call", hdr->xid);
}

/* Records that the server accepts long Calls. Writes to the shared cache rarely, but before its entry expires. */
static void took_long(struct requester *rq)
{
	struct peer_memory *memory = rq->conn->config->peer_memory;
	uint64_t now_us;

	if (rq->long_taken && !memory)
		return;
	now_us = rdma_conn_now_us(rq->conn);
	if (rq->long_taken && now_us - rq->long_told_us < PEER_MEMORY_US / 8)
		return;
	rq->long_taken = true;
	rq->long_told_us = now_us;
	if (memory)
		peer_memory_took(memory, now_us);
}

static inline void answered(struct requester *rq, const struct requester_rpc *rpc, uint32_t credit)
{
	rq->conn->counters->replies_received++;
	/* The peer has read the chunks of a Call that it has answered. */
	rdma_conn_count_sent(rq->conn, rpc->form.call.chunk_bytes);
	if (rpc->form.call.form == MESSAGE_FORM_LONG)
		took_long(rq);
	obey_grant(rq, rpc->terms.dialect, credit);
}

static uint32_t lent_bytes(const struct rpcrdma_header *hdr, uint32_t len_bytes)
{
	uint64_t sum = len_bytes;

	for (unsigned i = 0; i < hdr->nreads; i++)
		sum += hdr->reads[i].seg.len_bytes;
	return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

/*
 * Handles a bad Reply. Its exposed memory is not read, but RDMA_DONE must still release it: otherwise the server would
 * time out and close a connection whose other RPCs are fine.
 */
static void wrong_reply(struct requester *rq, struct requester_rpc *rpc,
			const struct rpcrdma_header *hdr, const char *what)
{
	if (hdr->nreads && read_reply_requester_may(rpc))
		read_reply_requester_done(rpc);
	bad_reply(rq, rpc, what);
}

static void reply_lent(struct requester *rq, struct requester_rpc *rpc,
		       const struct rpcrdma_header *hdr, const uint8_t *body, uint32_t len_bytes)
{
	struct msg_plan plan;

	switch (read_reply_requester_plan(rpc, hdr, len_bytes, &plan)) {
	case MSG_PLAN_OK:
		answered(rq, rpc, hdr->credit);
		read_reply_requester_begin(rpc, hdr, &plan, body, len_bytes);
		requester_pump(rq);
		break;
	case MSG_PLAN_BAD:
		wrong_reply(rq, rpc, hdr, "read chunks do not form a Reply");
		break;
	case MSG_PLAN_TOO_BIG:
		read_reply_requester_done(rpc);
		obey_grant(rq, rpc->terms.dialect, hdr->credit);
		too_big(rq, rpc, lent_bytes(hdr, len_bytes));
		break;
	}
}

void requester_reply(struct requester *rq, const struct rpcrdma_header *hdr, const uint8_t *body,
		     uint32_t len_bytes)
{
	struct requester_rpc *rpc = requester_rpc_waiting(rq, hdr->xid);
	const char *wrong;

	if (!rpc) {
		matches_no_call(rq, hdr, body, len_bytes);
		return;
	}
	if (rpc->state == REQUESTER_ABANDONED) {
		obey_grant(rq, rpc->terms.dialect, hdr->credit);
		requester_late_answered(rq, rpc);
		return;
	}
	wrong = lists_wrong(rpc, hdr);
	if (!wrong && !hdr->credit && !rq->conn->peer->lenient &&
	    !zero_is_grant(rq, rpc->terms.dialect))
		wrong = "a grant of zero";
	if (!wrong && hdr->nreads) {
		reply_lent(rq, rpc, hdr, body, len_bytes);
		return;
	}
	if (!wrong && is_too_big(rpc, hdr, len_bytes)) {
		obey_grant(rq, rpc->terms.dialect, hdr->credit);
		too_big(rq, rpc, len_bytes);
		return;
	}
	if (!wrong)
		wrong = take(rpc, hdr, body, len_bytes);
	if (wrong) {
		wrong_reply(rq, rpc, hdr, wrong);
		return;
	}
	if (rdma_conn_is_over(rq->conn))
		return;
	answered(rq, rpc, hdr->credit);
	requester_rpc_end(rpc, EXCHANGE_OK);
	requester_pump(rq);
}

void requester_bad_reply(struct requester *rq, uint32_t xid, const char *what)
{
	struct requester_rpc *rpc = requester_rpc_waiting(rq, xid);

	if (rpc && rpc->state == REQUESTER_ABANDONED) {
		rq->conn->counters->bad_replies++;
		requester_late_answered(rq, rpc);
		return;
	}
	if (rpc) {
		bad_reply(rq, rpc, what);
		return;
	}
	rq->conn->counters->bad_replies++;
	rdma_conn_note(rq->conn, "Reply %#x: %s", xid, what);
	if (requester_null_answered(rq, xid) || ccp_client_failed(rq, xid, what)) {
		requester_pump(rq);
		return;
	}
	/* This could have been the Reply to any Call, which would now wait forever. */
	if (rq->conn->window.in_flight > control_msgs_credits(&rq->conn->own))
		rdma_conn_fail(rq->conn, LEG_CLOSE_BAD_REPLY, "%s", what);
}

/* Handles ERR_VERS for a Call, which the peer has not executed. */
static void version_refused(struct requester *rq, struct requester_rpc *rpc,
			    const struct rpcrdma_header *hdr)
{
	if (rq->conn->negotiation.stage != NEGOTIATION_ASSUMED || rpc->state != REQUESTER_SENT) {
		requester_rpc_end(rpc, EXCHANGE_FAULT_ERR_VERS);
		requester_pump(rq);
	} else if (version_probe_settle_another(rq->conn, hdr)) {
		requester_rpc_resend(rpc);
	}
}

/*
 * Returns true if the error was for a Call originated by the proxy. CONF_RDMA, which goes first, is not sent again:
 * other versions do not have it.
 */
static bool is_of_own_call(struct requester *rq, const struct rpcrdma_header *hdr)
{
	if (requester_null_answered(rq, hdr->xid))
		return true;
	if (!ccp_client_failed(rq, hdr->xid, "it answered RDMA_ERROR"))
		return false;
	if (hdr->error == RPCRDMA_ERR_VERS && rq->conn->negotiation.stage == NEGOTIATION_ASSUMED)
		(void)version_probe_settle_another(rq->conn, hdr);
	return true;
}

/* Returns true if the chunk or the inline bytes can hold every possible Reply, so that no Reply was too long. */
static bool reply_had_room(const struct requester_rpc *rpc)
{
	uint64_t ceiling = rpc->x->facts.ceiling_bytes;

	if (!rpc->x->facts.is_proved)
		return false;
	if (rpc->form.landing == LANDING_NONE)
		return RPCRDMA_MIN_HDR_BYTES + ceiling <= rpc->terms.recv_bytes;
	return rpc->form.landing == LANDING_REPLY_CHUNK && ceiling <= rpc->form.landing_bytes;
}

/*
 * Learns from ERR_CHUNK for a valid Call. It stops sending RDMA_NOMSG Calls for this client if such a Call was
 * rejected, this server has accepted none from any client, and no other cause is possible.
 */
static void learn(const struct requester *rq, const struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rq->conn;
	struct peer_memory *memory = conn->config->peer_memory;
	uint64_t now_us;

	if (conn->config->peer != PEER_AUTO || conn->peer != peer_profile(PEER_GANESHA) ||
	    rpc->form.call.form != MESSAGE_FORM_LONG || !rpc_msg_is_whole(&rpc->x->call) ||
	    rq->long_taken || !reply_had_room(rpc))
		return;
	now_us = rdma_conn_now_us(conn);
	if (memory && peer_memory_takes(memory, now_us))
		return;
	rdma_conn_peer_found(conn, PEER_CHIMERA, "refused a long Call");
	rdma_conn_note(conn, "peer profile is now %s: it %s", conn->peer->name, conn->peer_why);
	if (memory)
		peer_memory_refused(memory, conn->config->peer_client, now_us);
}

static void count_error(const struct rdma_conn *conn, const struct rpcrdma_header *hdr)
{
	bool options = negotiation_of(&conn->negotiation, hdr->vers)->options;
	struct rdma_leg_counters *counters = conn->counters;

	if (hdr->error == RPCRDMA_ERR_VERS)
		counters->err_vers_received++;
	else if (hdr->error == RPCRDMA_ERR_CHUNK)
		counters->err_chunk_received++;
	else if (hdr->error == RPCRDMA_ERR_INVAL_OPTION && options)
		counters->err_inval_option_received++;
	else
		counters->err_unknown_received++;
}

/* A peer that supports only RFC 8166 refuses every RDMA_MSGP, so only one Call is lost. */
static void learn_of_padding(struct rdma_conn *conn)
{
	conn->refuses_padding = true;
	rdma_conn_note(conn, "peer refuses RDMA_MSGP, no more are sent to it: "
			     "does it speak draft03?");
}

void requester_error_of_own(struct requester *rq, const struct rpcrdma_header *hdr)
{
	count_error(rq->conn, hdr);
	requester_pump(rq);
}

void requester_error(struct requester *rq, const struct rpcrdma_header *hdr)
{
	struct requester_rpc *rpc = requester_rpc_waiting(rq, hdr->xid);
	bool of_option = hdr->error == RPCRDMA_ERR_INVAL_OPTION &&
			 negotiation_of(&rq->conn->negotiation, hdr->vers)->options;

	count_error(rq->conn, hdr);
	if (!rpc || of_option) {
		if (is_of_own_call(rq, hdr))
			requester_pump(rq);
		else
			rq->conn->counters->unmatched_replies++;
		return;
	}
	credit_window_lower(&rq->conn->window, hdr->credit);
	if (rpc->state == REQUESTER_ABANDONED) {
		requester_late_answered(rq, rpc);
		return;
	}
	rdma_conn_note(rq->conn, "Call %#x was answered RDMA_ERROR %u", hdr->xid, hdr->error);
	if (hdr->error == RPCRDMA_ERR_VERS) {
		version_refused(rq, rpc, hdr);
		return;
	}
	if (hdr->error == RPCRDMA_ERR_CHUNK && rpc->form.padded)
		learn_of_padding(rq->conn);
	else if (hdr->error == RPCRDMA_ERR_CHUNK)
		learn(rq, rpc);
	requester_rpc_end(rpc, EXCHANGE_FAULT_ERR_CHUNK);
	requester_pump(rq);
}

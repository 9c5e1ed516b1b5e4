// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checks Replies against the exposed chunks. Delivers a Reply only when the peer can no longer
 * change it.
 */

#include "rpcrdma/requester.h"

#include <string.h>

#include "rpcrdma/draft03/ccp.h"
#include "rpcrdma/draft03/requester_read_reply.h"
#include "rpcrdma/draft03/zero_grant_timeout.h"
#include "rpcrdma/read_chunks.h"
#include "rpcrdma/reverse_timeout.h"
#include "rpcrdma/v2/version_probe.h"

bool requester_exposes_key(const struct requester *rq, uint32_t xid, uint32_t rkey)
{
	const struct requester_rpc *rpc = requester_rpc_find(rq, xid);

	return rpc && mem_expose_has_key(&rpc->exposed_mem, rkey);
}

/*
 * Compares a returned chunk with the exposed one (A3.7-4). No segment is longer, and written
 * segments have no gap, because they are contiguous memory. The peer must have written the bytes
 * that it claims: the rest of the memory can contain an earlier Reply, perhaps of another
 * client. Returns NULL, or the error as text: @not_offered for another chunk.
 */
static const char *chunk_error(const struct requester_rpc *rpc, const struct rpcrdma_header *hdr,
			       const struct rpcrdma_chunk *chunk, const char *not_offered)
{
	bool ended = false;

	if (chunk->count != rpc->form.placement_nsegments)
		return not_offered;
	for (unsigned i = 0; i < chunk->count; i++) {
		const struct rpcrdma_segment *seg = &hdr->segments[chunk->first + i];
		unsigned key = rpc->form.call.nsegments + i;
		struct rpcrdma_segment exposed = mem_expose_segment(&rpc->exposed_mem, key);

		if (seg->handle != exposed.handle || seg->offset != exposed.offset ||
		    seg->len_bytes > exposed.len_bytes || (ended && seg->len_bytes))
			return not_offered;
		if (seg->len_bytes > mem_expose_written_bytes(&rpc->exposed_mem, key))
			return "claims bytes of a chunk that the peer has not written";
		ended = seg->len_bytes < exposed.len_bytes;
	}
	return NULL;
}

static const char *write_list_error(const struct requester_rpc *rpc,
				    const struct rpcrdma_header *hdr)
{
	static const char not_offered[] = "a write list that was not offered";

	if (!hdr->nwrites)
		return rpc->form.placement == PLACEMENT_WRITE_CHUNK && !rpc->rq->conn->peer->lenient
			       ? "the write list that was offered is missing"
			       : NULL;
	if (rpc->form.placement != PLACEMENT_WRITE_CHUNK || hdr->nwrites > 1)
		return not_offered;
	return chunk_error(rpc, hdr, &hdr->writes[0], not_offered);
}

static const char *reply_chunk_error(const struct requester_rpc *rpc,
				     const struct rpcrdma_header *hdr)
{
	static const char not_offered[] = "a reply chunk that was not offered";
	uint64_t len = hdr->has_reply_chunk ? hdr->reply_chunk.len_bytes : 0;
	const char *wrong = NULL;

	if (hdr->has_reply_chunk && hdr->reply_chunk.count)
		wrong = rpc->form.placement == PLACEMENT_REPLY_CHUNK
				? chunk_error(rpc, hdr, &hdr->reply_chunk, not_offered)
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

static const char *read_list_error(const struct requester_rpc *rpc)
{
	if (!requester_read_reply_may(rpc))
		return "a read list in a Reply";
	if (!read_chunks_bound(rpc->rq->conn))
		return "read chunks, but RDMA Reads from this peer are not allowed";
	return NULL;
}

/* Returns what is wrong with the chunk lists of a Reply, or NULL. */
static const char *chunk_list_error(const struct requester_rpc *rpc,
				    const struct rpcrdma_header *hdr)
{
	const char *wrong = hdr->nreads ? read_list_error(rpc) : NULL;

	if (!wrong)
		wrong = write_list_error(rpc, hdr);
	return wrong ? wrong : reply_chunk_error(rpc, hdr);
}

/* Stores the inline bytes and records what the peer wrote. Returns what is wrong, or NULL. */
static const char *store_reply(struct requester_rpc *rpc, const struct rpcrdma_header *hdr,
			       const uint8_t *body, uint32_t len_bytes)
{
	struct rdma_conn *conn = rpc->rq->conn;

	uint8_t *form = &rpc->x->reply_forms[EXCHANGE_TARGET];

	*form = MESSAGE_FORM_SHORT;
	if (hdr->proc == RPCRDMA_NOMSG) {
		*form = MESSAGE_FORM_LONG;
		rpc->reply_placed_bytes = (uint32_t)hdr->reply_chunk.len_bytes;
		conn->counters->reply_chunk_bytes_taken += rpc->reply_placed_bytes;
	} else if (hdr->nwrites && hdr->writes[0].len_bytes) {
		*form = MESSAGE_FORM_CHUNKED;
		rpc->reply_placed_bytes = (uint32_t)hdr->writes[0].len_bytes;
		rpc->margin_bytes = len_bytes;
		conn->counters->write_chunk_bytes_taken += rpc->reply_placed_bytes;
		if (len_bytes > requester_rpc_inline_around_max(rpc))
			return "a Reply longer than the inline threshold";
		memcpy(rpc->x->reply.data, body, len_bytes);
	} else if (rpc_msg_get(conn->leg->config->pool, len_bytes, &rpc->reply_inline)) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a Reply");
	} else {
		memcpy(rpc->reply_inline.data, body, len_bytes);
	}
	rdma_conn_count_received(conn, rpc->reply_placed_bytes);
	return NULL;
}

static void bad_reply(struct requester *rq, struct requester_rpc *rpc, const char *what)
{
	rq->conn->counters->bad_replies++;
	rdma_conn_note(rq->conn, "Reply %#x: %s", rpc->x->call_info.hdr.xid, what);
	requester_rpc_end(rpc, EXCHANGE_FAULT_BAD_REPLY);
	requester_kick(rq);
}

/*
 * Returns true if a grant of zero is valid. It never is for reverse Calls, in any dialect
 * (D2.1.2-1).
 */
static bool zero_is_grant(const struct requester *rq, const struct dialect *dialect)
{
	return dialect->zero_grants && !rq->reverse;
}

static inline void obey_grant(struct requester *rq, const struct dialect *dialect, uint32_t credit)
{
	rq->answered = true;
	negotiation_reply_received(&rq->conn->negotiation);
	if (!credit && zero_is_grant(rq, dialect)) {
		credit_window_block(&rq->conn->window);
		rq->conn->counters->credit_zero_obeyed++;
		zero_grant_timeout_start(rq);
	} else if (!credit_window_grant(&rq->conn->window, credit)) {
		rq->conn->counters->credit_zero_received++;
	}
}

/*
 * Returns true if the whole Reply is inline and longer than its Call allows: the claim has no
 * memory for it.
 */
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
		       rpc->x->call_info.hdr.xid, len_bytes);
	requester_rpc_end(rpc, EXCHANGE_FAULT_TOO_BIG);
	requester_kick(rq);
}

/*
 * Handles a Reply that matches no forwarded Call. If it answers a Call originated by the proxy, its
 * grant is applied.
 */
static void matches_no_call(struct requester *rq, const struct rpcrdma_header *hdr,
			    const uint8_t *body, uint32_t len_bytes)
{
	if (hdr->nreads)
		requester_read_reply_control_done(rq, hdr->xid);
	if (requester_null_answered(rq, hdr->xid) ||
	    ccp_client_answered(rq, hdr, body, len_bytes)) {
		if (hdr->credit || zero_is_grant(rq, rq->conn->limits.dialect))
			obey_grant(rq, rq->conn->limits.dialect, hdr->credit);
		requester_kick(rq);
		return;
	}
	rq->conn->counters->unmatched_replies++;
	rdma_conn_note(rq->conn, "Reply %#x matches no Call", hdr->xid);
}

/*
 * Records that the server accepts long Calls. Writes to the shared cache rarely, but before its
 * entry expires.
 */
static void note_long_accepted(struct requester *rq)
{
	struct peer_cache *memory = rq->conn->config->peer_cache;
	uint64_t now_us;

	if (rq->long_accepted && !memory)
		return;
	now_us = rdma_conn_now_us(rq->conn);
	if (rq->long_accepted && now_us - rq->long_reported_us < PEER_CACHE_US / 8)
		return;
	rq->long_accepted = true;
	rq->long_reported_us = now_us;
	if (memory)
		peer_cache_long_accepted(memory, now_us);
}

static inline void answered(struct requester *rq, const struct requester_rpc *rpc, uint32_t credit)
{
	rq->conn->counters->replies_received++;
	/* The peer has read the chunks of a Call that it has answered. */
	rdma_conn_count_sent(rq->conn, rpc->form.call.chunk_bytes);
	if (rpc->form.call.form == MESSAGE_FORM_LONG)
		note_long_accepted(rq);
	obey_grant(rq, rpc->limits.dialect, credit);
}

static uint32_t exposed_bytes(const struct rpcrdma_header *hdr, uint32_t len_bytes)
{
	uint64_t sum = len_bytes;

	for (unsigned i = 0; i < hdr->nreads; i++)
		sum += hdr->reads[i].seg.len_bytes;
	return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

/*
 * Handles a bad Reply. Its exposed memory is not read, but RDMA_DONE must still release it:
 * otherwise the server would time out and close a connection whose other RPCs are fine.
 */
static void handle_bad_reply(struct requester *rq, struct requester_rpc *rpc,
			     const struct rpcrdma_header *hdr, const char *what)
{
	if (hdr->nreads && requester_read_reply_may(rpc))
		requester_read_reply_done(rpc);
	bad_reply(rq, rpc, what);
}

static void reply_exposed(struct requester *rq, struct requester_rpc *rpc,
			  const struct rpcrdma_header *hdr, const uint8_t *body, uint32_t len_bytes)
{
	struct read_plan plan;

	switch (requester_read_reply_plan(rpc, hdr, len_bytes, &plan)) {
	case READ_PLAN_OK:
		answered(rq, rpc, hdr->credit);
		requester_read_reply_begin(rpc, hdr, &plan, body, len_bytes);
		requester_kick(rq);
		break;
	case READ_PLAN_BAD:
		handle_bad_reply(rq, rpc, hdr, "read chunks do not form a Reply");
		break;
	case READ_PLAN_TOO_BIG:
		requester_read_reply_done(rpc);
		obey_grant(rq, rpc->limits.dialect, hdr->credit);
		too_big(rq, rpc, exposed_bytes(hdr, len_bytes));
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
		obey_grant(rq, rpc->limits.dialect, hdr->credit);
		reverse_timeout_late_reply(rq, rpc);
		return;
	}
	wrong = chunk_list_error(rpc, hdr);
	if (!wrong && !hdr->credit && !rq->conn->peer->lenient &&
	    !zero_is_grant(rq, rpc->limits.dialect))
		wrong = "a grant of zero";
	if (!wrong && hdr->nreads) {
		reply_exposed(rq, rpc, hdr, body, len_bytes);
		return;
	}
	if (!wrong && is_too_big(rpc, hdr, len_bytes)) {
		obey_grant(rq, rpc->limits.dialect, hdr->credit);
		too_big(rq, rpc, len_bytes);
		return;
	}
	if (!wrong)
		wrong = store_reply(rpc, hdr, body, len_bytes);
	if (wrong) {
		handle_bad_reply(rq, rpc, hdr, wrong);
		return;
	}
	if (rdma_conn_is_closing(rq->conn))
		return;
	answered(rq, rpc, hdr->credit);
	requester_rpc_end(rpc, EXCHANGE_OK);
	requester_kick(rq);
}

void requester_bad_reply(struct requester *rq, uint32_t xid, const char *what)
{
	struct requester_rpc *rpc = requester_rpc_waiting(rq, xid);

	if (rpc && rpc->state == REQUESTER_ABANDONED) {
		rq->conn->counters->bad_replies++;
		reverse_timeout_late_reply(rq, rpc);
		return;
	}
	if (rpc) {
		bad_reply(rq, rpc, what);
		return;
	}
	rq->conn->counters->bad_replies++;
	rdma_conn_note(rq->conn, "Reply %#x: %s", xid, what);
	if (requester_null_answered(rq, xid) || ccp_client_failed(rq, xid, what)) {
		requester_kick(rq);
		return;
	}
	/* This could have been the Reply to any Call, which would now wait forever. */
	if (rq->conn->window.in_flight > control_msgs_credits(&rq->conn->control))
		rdma_conn_fail(rq->conn, LEG_CLOSE_BAD_REPLY, "%s", what);
}

/* Handles ERR_VERS for a Call, which the peer has not executed. */
static void handle_err_vers(struct requester *rq, struct requester_rpc *rpc,
			    const struct rpcrdma_header *hdr)
{
	if (rq->conn->negotiation.stage != NEGOTIATION_ASSUMED || rpc->state != REQUESTER_SENT) {
		requester_rpc_end(rpc, EXCHANGE_FAULT_ERR_VERS);
		requester_kick(rq);
	} else if (version_probe_use_common(rq->conn, hdr)) {
		requester_rpc_resend(rpc);
	}
}

/*
 * Returns true if the error was for a Call originated by the proxy. CONF_RDMA, which goes first, is
 * not sent again: other versions do not have it.
 */
static bool is_for_control_call(struct requester *rq, const struct rpcrdma_header *hdr)
{
	if (requester_null_answered(rq, hdr->xid))
		return true;
	if (!ccp_client_failed(rq, hdr->xid, "it answered RDMA_ERROR"))
		return false;
	if (hdr->error == RPCRDMA_ERR_VERS && rq->conn->negotiation.stage == NEGOTIATION_ASSUMED)
		(void)version_probe_use_common(rq->conn, hdr);
	return true;
}

/*
 * Returns true if the chunk or the inline bytes can hold every possible Reply, so that no Reply was
 * too long.
 */
static bool reply_would_fit(const struct requester_rpc *rpc)
{
	uint64_t ceiling = rpc->x->call_info.reply_bound_bytes;

	if (!rpc->x->call_info.is_proved)
		return false;
	if (rpc->form.placement == PLACEMENT_NONE)
		return RPCRDMA_MIN_HDR_BYTES + ceiling <= rpc->limits.recv_bytes;
	return rpc->form.placement == PLACEMENT_REPLY_CHUNK && ceiling <= rpc->form.placement_bytes;
}

/*
 * Detects a server that rejects every RDMA_NOMSG Call, from its ERR_CHUNK for such a Call. Then
 * sends no more of them on this connection and, by the peer cache, for this client.
 *
 * Every other cause must be excluded: the Call was complete, and its longest Reply would have fit.
 * The server must not be known to accept RDMA_NOMSG Calls of any client.
 */
static void detect_quirk(const struct requester *rq, const struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rq->conn;
	struct peer_cache *memory = conn->config->peer_cache;
	uint64_t now_us;

	if (conn->config->peer != PEER_AUTO || conn->peer != peer_profile(PEER_GANESHA) ||
	    rpc->form.call.form != MESSAGE_FORM_LONG || !rpc_msg_is_whole(&rpc->x->call) ||
	    rq->long_accepted || !reply_would_fit(rpc))
		return;
	now_us = rdma_conn_now_us(conn);
	if (memory && peer_cache_accepts_long(memory, now_us))
		return;
	rdma_conn_peer_found(conn, PEER_CHIMERA, "refused a long Call");
	rdma_conn_note(conn, "peer profile is now %s: it %s", conn->peer->name, conn->peer_why);
	if (memory)
		peer_cache_long_rejected(memory, conn->config->peer_client, now_us);
}

static void count_error(const struct rdma_conn *conn, const struct rpcrdma_header *hdr)
{
	bool options = negotiation_dialect(&conn->negotiation, hdr->vers)->options;
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
static void disable_padding(struct rdma_conn *conn)
{
	conn->rejects_padding = true;
	rdma_conn_note(conn, "peer refuses RDMA_MSGP, no more are sent to it: "
			     "does it speak draft03?");
}

void requester_error_of_control(struct requester *rq, const struct rpcrdma_header *hdr)
{
	count_error(rq->conn, hdr);
	requester_kick(rq);
}

void requester_error(struct requester *rq, const struct rpcrdma_header *hdr)
{
	struct requester_rpc *rpc = requester_rpc_waiting(rq, hdr->xid);
	bool of_option = hdr->error == RPCRDMA_ERR_INVAL_OPTION &&
			 negotiation_dialect(&rq->conn->negotiation, hdr->vers)->options;

	count_error(rq->conn, hdr);
	if (!rpc || of_option) {
		if (is_for_control_call(rq, hdr))
			requester_kick(rq);
		else
			rq->conn->counters->unmatched_replies++;
		return;
	}
	credit_window_lower(&rq->conn->window, hdr->credit);
	if (rpc->state == REQUESTER_ABANDONED) {
		reverse_timeout_late_reply(rq, rpc);
		return;
	}
	rdma_conn_note(rq->conn, "Call %#x was answered RDMA_ERROR %u", hdr->xid, hdr->error);
	if (hdr->error == RPCRDMA_ERR_VERS) {
		handle_err_vers(rq, rpc, hdr);
		return;
	}
	if (hdr->error == RPCRDMA_ERR_CHUNK && rpc->form.padded)
		disable_padding(rq->conn);
	else if (hdr->error == RPCRDMA_ERR_CHUNK)
		detect_quirk(rq, rpc);
	requester_rpc_end(rpc, EXCHANGE_FAULT_ERR_CHUNK);
	requester_kick(rq);
}

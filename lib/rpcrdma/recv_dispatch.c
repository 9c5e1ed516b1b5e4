// SPDX-License-Identifier: BSD-3-Clause
/*
 * Decodes each received Send once and passes it to the requester or the responder, or discards it.
 *
 * Both directions share one connection, so even undecodable messages must be classified. Only a
 * Call is answered, never a Reply, an RDMA_ERROR or an RDMA_DONE (A4.2-3), so that two ends cannot
 * answer each other's errors forever.
 */
#include "rpcrdma/rdma_leg_priv.h"

#include <stdio.h>

#include "rpc/rpc_header.h"
#include "rpc/xdr.h"
#include "rpcrdma/draft03/ccp.h"
#include "rpcrdma/draft03/msgp.h"
#include "rpcrdma/draft03/responder_read_reply.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/v2/version_probe.h"

enum direction { DIRECTION_UNKNOWN, DIRECTION_CALL, DIRECTION_REPLY };

/* Reads the direction from the RPC message: the word after its XID. */
static enum direction direction_of_message(const uint8_t *msg, uint32_t len_bytes)
{
	if (len_bytes < 8)
		return DIRECTION_UNKNOWN;
	switch (be32_get(msg + 4)) {
	case RPC_CALL:
		return DIRECTION_CALL;
	case RPC_REPLY:
		return DIRECTION_REPLY;
	}
	return DIRECTION_UNKNOWN;
}

static bool has_no_chunks(const struct fabric_recv *recv)
{
	return recv->len_bytes >= RPCRDMA_MIN_HDR_BYTES && !be32_get(recv->data + 16) &&
	       !be32_get(recv->data + 20) && !be32_get(recv->data + 24);
}

/*
 * Derives the direction from the first word of the read list, whether the lists decode or not
 * (X-13).
 */
static enum direction direction_of_read_list(const struct fabric_recv *recv)
{
	uint32_t word = 2;

	if (recv->len_bytes >= RPCRDMA_FIXED_BYTES + 4)
		word = be32_get(recv->data + RPCRDMA_FIXED_BYTES);
	return word == 1 ? DIRECTION_CALL : word == 0 ? DIRECTION_REPLY : DIRECTION_UNKNOWN;
}

/*
 * Returns the direction of an unusable Send, if it shows one. Messages that must not be answered
 * count as Replies. The RPC message follows the chunk lists if they decode, and without chunks it
 * has a fixed offset (D1.3.4-1).
 */
static enum direction direction_of(const struct rdma_leg *leg, const struct rpcrdma_header *hdr,
				   const struct fabric_recv *recv)
{
	const struct dialect *spoken = negotiation_dialect(&leg->conn.negotiation, hdr->vers);
	uint32_t at = hdr->body_offset;

	switch (hdr->proc) {
	case RPCRDMA_ERROR:
		return DIRECTION_REPLY;
	case RPCRDMA_DONE:
		return spoken->done ? DIRECTION_REPLY : DIRECTION_CALL;
	case RPCRDMA_MSG:
		if (!at && has_no_chunks(recv))
			at = RPCRDMA_MIN_HDR_BYTES;
		break;
	case RPCRDMA_MSGP:
		break;
	case RPCRDMA_NOMSG:
		return spoken->read_list_marks_call ? direction_of_read_list(recv)
						    : DIRECTION_UNKNOWN;
	default:
		return DIRECTION_UNKNOWN;
	}
	return at ? direction_of_message(recv->data + at, recv->len_bytes - at) : DIRECTION_UNKNOWN;
}

/*
 * Returns true if an unusable Send counts as a Call. If the direction is unknown and a Call of this
 * end waits for that XID, the Send counts as its Reply: nothing else would end that Call.
 * Otherwise, in version one only the end that connected sends chunks in Calls; in version two
 * either end can.
 */
static bool looks_like_call(const struct rdma_leg *leg, const struct rpcrdma_header *hdr,
			    const struct fabric_recv *recv)
{
	enum direction direction = direction_of(leg, hdr, recv);

	if (direction != DIRECTION_UNKNOWN)
		return direction == DIRECTION_CALL;
	if (requester_awaits(&leg->requester, hdr->xid))
		return false;
	return !leg->conn.connector ||
	       negotiation_dialect(&leg->conn.negotiation, hdr->vers)->read_list_marks_call;
}

static void unusable(struct rdma_leg *leg, const struct rpcrdma_header *hdr, bool is_call,
		     enum rpcrdma_err err, const char *what)
{
	if (!is_call) {
		requester_bad_reply(&leg->requester, hdr->xid, what);
		return;
	}
	leg->conn.counters->bad_calls++;
	rdma_conn_note(&leg->conn, "Call %#x: %s", hdr->xid, what);
	responder_reject(&leg->responder, hdr, err);
}

static void undecodable(struct rdma_leg *leg, const struct rpcrdma_header *hdr,
			const struct fabric_recv *recv, enum rpcrdma_err err, const char *what)
{
	unusable(leg, hdr, looks_like_call(leg, hdr, recv), err, what);
}

static void bad_version(struct rdma_leg *leg, const struct rpcrdma_header *hdr,
			const struct fabric_recv *recv)
{
	char what[48];

	snprintf(what, sizeof(what), "version %u is not supported", hdr->vers);
	undecodable(leg, hdr, recv, RPCRDMA_ERR_VERS, what);
}

/* Rejects a message that is neither Call nor Reply (X-9, E4.2-5). */
static void reject_message(struct rdma_leg *leg, const struct rpcrdma_header *hdr, const char *what)
{
	leg->conn.counters->bad_calls++;
	rdma_conn_note(&leg->conn, "message %#x: %s", hdr->xid, what);
	responder_reject(&leg->responder, hdr, RPCRDMA_ERR_CHUNK);
}

/*
 * Handles a type that version two reserves. Version one uses RDMA_MSGP for Calls and Replies, so an
 * RDMA_MSGP with the XID of a Call of this end is a bad Reply.
 */
static void reserved(struct rdma_leg *leg, const struct rpcrdma_header *hdr)
{
	const char *what = "a type that version two reserves";

	if (hdr->proc == RPCRDMA_MSGP && requester_awaits(&leg->requester, hdr->xid))
		requester_bad_reply(&leg->requester, hdr->xid, what);
	else
		reject_message(leg, hdr, what);
}

static void too_short(struct rdma_leg *leg, const struct fabric_recv *recv)
{
	leg->conn.counters->short_discarded++;
	rdma_conn_note(&leg->conn, "Send of %u bytes is too short, discarded", recv->len_bytes);
}

/*
 * Returns true if a message with chunks is a Call. In version one the end that connected
 * receives a read list in a read-chunk Reply, if the dialect has them. Otherwise a read list means
 * a reverse Call, which is rejected (RFC 8167 section 5.3), unless it answers a Call of this end,
 * as a bad Reply.
 */
static bool has_chunks_of_call(const struct rdma_leg *leg, const struct rpcrdma_header *hdr)
{
	const struct dialect *spoken = negotiation_dialect(&leg->conn.negotiation, hdr->vers);

	if (spoken->read_list_marks_call)
		return hdr->nreads;
	if (!leg->conn.connector)
		return true;
	return hdr->nreads && !spoken->read_chunk_replies &&
	       !requester_awaits(&leg->requester, hdr->xid);
}

static bool begins_in_chunk(const struct rpcrdma_header *hdr)
{
	for (unsigned i = 0; i < hdr->nreads; i++)
		if (hdr->reads[i].position == 0)
			return true;
	return false;
}

/*
 * Handles a body too short for an RPC message: discards it, or rejects it if a chunk has the
 * message (A-Δ8).
 */
static void short_body(struct rdma_leg *leg, const struct rpcrdma_header *hdr,
		       const struct fabric_recv *recv)
{
	if (has_chunks_of_call(leg, hdr) && begins_in_chunk(hdr))
		unusable(leg, hdr, true, RPCRDMA_ERR_CHUNK,
			 "an RDMA_MSG whose message is in a position-zero chunk");
	else
		too_short(leg, recv);
}

static void call(struct rdma_leg *leg, const struct rpcrdma_header *hdr, const uint8_t *body,
		 uint32_t len)
{
	struct rdma_conn *conn = &leg->conn;
	bool settled = conn->negotiation.stage == NEGOTIATION_SETTLED;

	/*
	 * Use the limits of the Call's version. A valid Call settles that version, possibly later
	 * or never.
	 */
	if (!settled)
		rdma_conn_update_limits_for(conn,
					    negotiation_dialect(&conn->negotiation, hdr->vers));
	responder_call(&leg->responder, hdr, body, len);
	if (!settled)
		rdma_conn_update_limits(conn);
}

static inline void on_msg(struct rdma_leg *leg, const struct rpcrdma_header *hdr,
			  const struct fabric_recv *recv, const uint8_t *body, uint32_t len)
{
	enum rpc_msg_type type;
	uint32_t xid;

	switch (rpc_msg_peek(body, len, &xid, &type)) {
	case RPC_OK:
		break;
	case RPC_TRUNCATED:
		short_body(leg, hdr, recv);
		return;
	default:
		undecodable(leg, hdr, recv, RPCRDMA_ERR_CHUNK, "not an RPC message");
		return;
	}
	if (type == RPC_CALL && len < RPCRDMA_MIN_CALL_BYTES)
		short_body(leg, hdr, recv);
	else if (type == RPC_CALL)
		call(leg, hdr, body, len);
	else if (len < RPCRDMA_MIN_REPLY_BYTES)
		too_short(leg, recv);
	else
		requester_reply(&leg->requester, hdr, body, len);
}

static void on_msgp(struct rdma_leg *leg, struct rpcrdma_header *hdr,
		    const struct fabric_recv *recv)
{
	const struct requester_rpc *rpc = requester_rpc_find(&leg->requester, hdr->xid);
	struct msgp_body body;

	if (!negotiation_dialect(&leg->conn.negotiation, hdr->vers)->padding) {
		undecodable(leg, hdr, recv, RPCRDMA_ERR_CHUNK, "RDMA_MSGP is not supported");
		return;
	}
	if (msgp_decode(&leg->conn, hdr, recv, rpc ? &rpc->x->call_info : NULL, &body))
		on_msg(leg, hdr, recv, body.data, body.len_bytes);
	else if (body.wrong)
		unusable(leg, hdr, body.is_call, RPCRDMA_ERR_CHUNK, body.wrong);
	buf_put(body.buf);
}

/* Control messages first, then Calls; INVAL_OPTION never answers a Call. */
static void on_error(struct rdma_leg *leg, const struct rpcrdma_header *hdr)
{
	if (hdr->error == RPCRDMA_ERR_VERS && version_probe_rejected(leg, hdr))
		return;
	if (leg->options && !ccp_client_has(&leg->requester, hdr->xid) &&
	    optional_msgs_rejected(leg->options, hdr->xid))
		requester_error_of_control(&leg->requester, hdr);
	else
		requester_error(&leg->requester, hdr);
}

static void dispatch(struct rdma_leg *leg, struct rpcrdma_header *hdr,
		     const struct fabric_recv *recv)
{
	switch (hdr->proc) {
	case RPCRDMA_MSG:
		on_msg(leg, hdr, recv, recv->data + hdr->body_offset,
		       recv->len_bytes - hdr->body_offset);
		break;
	case RPCRDMA_MSGP:
		on_msgp(leg, hdr, recv);
		break;
	case RPCRDMA_NOMSG:
		if (has_chunks_of_call(leg, hdr))
			call(leg, hdr, NULL, 0);
		else
			requester_reply(&leg->requester, hdr, NULL, 0);
		break;
	case RPCRDMA_ERROR:
		on_error(leg, hdr);
		break;
	case RPCRDMA_DONE:
		responder_read_reply_done(&leg->responder, hdr);
		break;
	case RPCRDMA_OPTIONAL:
		version_probe_option(leg, hdr);
		break;
	}
}

/* Returns true if the Send was allowed to invalidate this key. */
static bool may_have_invalidated(const struct rdma_leg *leg, enum rpcrdma_verdict verdict,
				 const struct rpcrdma_header *hdr, uint32_t rkey)
{
	const struct rdma_conn *conn = &leg->conn;
	bool one_sided = conn->peer->lenient || conn->limits.dialect->one_sided_invalidation;
	bool offered = one_sided ? conn->accepts_invalidation : conn->may_invalidate;

	return offered && verdict != RPCRDMA_SHORT &&
	       requester_exposes_key(&leg->requester, hdr->xid, rkey);
}

static void handle_verdict(struct rdma_leg *leg, enum rpcrdma_verdict verdict,
			   struct rpcrdma_header *hdr, const struct fabric_recv *recv)
{
	switch (verdict) {
	case RPCRDMA_OK:
		dispatch(leg, hdr, recv);
		break;
	case RPCRDMA_SHORT:
		too_short(leg, recv);
		break;
	case RPCRDMA_BAD_VERS:
		bad_version(leg, hdr, recv);
		break;
	case RPCRDMA_BAD_PROC:
		undecodable(leg, hdr, recv, RPCRDMA_ERR_CHUNK, "unknown message type");
		break;
	case RPCRDMA_BAD_LISTS:
		undecodable(leg, hdr, recv, RPCRDMA_ERR_CHUNK, "chunk lists do not decode");
		break;
	case RPCRDMA_RESERVED:
		reserved(leg, hdr);
		break;
	case RPCRDMA_BAD_OPTION:
		reject_message(leg, hdr, "an RDMA_OPTIONAL longer than its Send");
		break;
	}
}

/* ERR_VERS is valid in any version (A4.2-1). */
static bool is_err_vers(enum rpcrdma_verdict verdict, const struct rpcrdma_header *hdr)
{
	return verdict == RPCRDMA_OK && hdr->proc == RPCRDMA_ERROR &&
	       hdr->error == RPCRDMA_ERR_VERS;
}

/*
 * Handles a Send and opens a leg that was waiting for it. An RDMA_OPTIONAL is handled before the
 * leg opens, so that it applies to waiting Calls; all other messages need an open leg.
 */
static void process(struct rdma_leg *leg, enum rpcrdma_verdict verdict, struct rpcrdma_header *hdr,
		    const struct fabric_recv *recv)
{
	bool opens = leg->conn.state.now == RDMA_PROBING &&
		     leg->conn.negotiation.stage == NEGOTIATION_SETTLED;

	if (opens && hdr->proc != RPCRDMA_OPTIONAL)
		version_probe_open(leg);
	handle_verdict(leg, verdict, hdr, recv);
	if (opens)
		version_probe_open(leg);
}

/* Checks the version first; a message can settle it. */
static void receive(struct rdma_leg *leg, enum rpcrdma_verdict verdict, struct rpcrdma_header *hdr,
		    const struct fabric_recv *recv)
{
	struct negotiation *neg = &leg->conn.negotiation;

	if (verdict == RPCRDMA_SHORT || is_err_vers(verdict, hdr)) {
		handle_verdict(leg, verdict, hdr, recv);
		return;
	}
	if (negotiation_is_settled_as(neg, hdr->vers)) {
		process(leg, verdict, hdr, recv);
		return;
	}
	switch (negotiation_check(neg, hdr->xid, hdr->vers, hdr->proc == RPCRDMA_OPTIONAL)) {
	case NEGOTIATION_ACCEPT:
		version_probe_message_received(leg, hdr);
		process(leg, verdict, hdr, recv);
		break;
	case NEGOTIATION_LATE:
		leg->conn.counters->options_late++;
		break;
	case NEGOTIATION_REJECT:
		handle_verdict(leg, RPCRDMA_BAD_VERS, hdr, recv);
		break;
	}
}

void recv_dispatch(void *arg, const struct fabric_recv *recv)
{
	struct rdma_leg *leg = arg;
	struct rdma_conn *conn = &leg->conn;
	struct rpcrdma_header hdr;
	enum rpcrdma_verdict verdict;

	rdma_conn_received(conn, recv);
	if (!rdma_conn_is_established(conn))
		return;
	verdict = rpcrdma_header_decode(recv->data, recv->len_bytes, &hdr);
	if (recv->invalidated) {
		conn->counters->remote_invalidations_received++;
		if (!may_have_invalidated(leg, verdict, &hdr, recv->inv_rkey)) {
			rdma_conn_fail(conn, LEG_CLOSE_PROTOCOL,
				       "invalidated a key that was not offered for it");
			return;
		}
	}
	receive(leg, verdict, &hdr, recv);
	/*
	 * Only now: an error can answer a control message rather than a Call that waited for its
	 * XID.
	 */
	if (conn->control.count && control_msgs_message_received(&conn->control))
		requester_kick(&leg->requester);
	rdma_conn_replenish(conn);
	if (leg->options)
		optional_msgs_run(leg->options);
}

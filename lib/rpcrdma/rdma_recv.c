// SPDX-License-Identifier: BSD-3-Clause
/*
 * What arrives: each Send is decoded once and handed to the requester, to the responder, or to nobody.
 *
 * Both directions share one connection, so what does not decode must be told apart too: only a Call
 * is answered, never a Reply, an RDMA_ERROR or an RDMA_DONE (A4.2-3), so that no two ends answer
 * each other's errors for ever.
 */
#include "rpcrdma/rdma_recv.h"

#include "rpc/msg.h"
#include "rpc/xdr.h"
#include "rpcrdma/rdma_leg_impl.h"
#include "rpcrdma/requester_reply.h"

/*
 * Whether a Send that did not decode was a Call. Without chunks the RPC message's type is a word at
 * a fixed place (D1.3.4-1); with chunks, only the end that connected calls.
 */
static bool looks_like_call(const struct rdma_leg *leg, const struct rpcrdma_header *hdr,
			    const struct fabric_recv *recv)
{
	const uint8_t *data = recv->data;

	if (hdr->proc == RPCRDMA_ERROR || hdr->proc == RPCRDMA_DONE)
		return false;
	if (hdr->proc == RPCRDMA_MSG && recv->len_bytes >= RPCRDMA_MIN_HDR_BYTES + 8 &&
	    !xdr_load_u32(data + 16) && !xdr_load_u32(data + 20) && !xdr_load_u32(data + 24)) {
		uint32_t type = xdr_load_u32(data + RPCRDMA_MIN_HDR_BYTES + 4);

		if (type == RPC_CALL || type == RPC_REPLY)
			return type == RPC_CALL;
	}
	return !leg->conn.connector;
}

static void undecodable(struct rdma_leg *leg, const struct rpcrdma_header *hdr,
			const struct fabric_recv *recv, enum rpcrdma_err err, const char *what)
{
	if (!looks_like_call(leg, hdr, recv)) {
		requester_bad_reply(&leg->requester, hdr->xid, what);
		return;
	}
	leg->conn.counters->bad_calls++;
	rdma_conn_note(&leg->conn, "Call %#x: %s", hdr->xid, what);
	responder_refuse(&leg->responder, hdr, err);
}

static void too_short(struct rdma_leg *leg, const struct fabric_recv *recv)
{
	leg->conn.counters->short_discarded++;
	rdma_conn_note(&leg->conn, "Send of %u bytes is too short, discarded", recv->len_bytes);
}

static bool begins_in_chunk(const struct rpcrdma_header *hdr)
{
	for (unsigned i = 0; i < hdr->nreads; i++)
		if (hdr->reads[i].position == 0)
			return true;
	return false;
}

/* A body that holds no RPC message, nor a Reply's beginning: too short, unless a client put it in a chunk (A-Δ8). */
static void short_body(struct rdma_leg *leg, const struct rpcrdma_header *hdr,
		       const struct fabric_recv *recv)
{
	if (!leg->conn.connector && begins_in_chunk(hdr))
		undecodable(leg, hdr, recv, RPCRDMA_ERR_CHUNK, "an RDMA_MSG that is in a chunk");
	else
		too_short(leg, recv);
}

static void on_msg(struct rdma_leg *leg, const struct rpcrdma_header *hdr,
		   const struct fabric_recv *recv)
{
	const uint8_t *body = recv->data + hdr->body_offset;
	uint32_t len = recv->len_bytes - hdr->body_offset;
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
		responder_call(&leg->responder, hdr, body, len);
	else if (len < RPCRDMA_MIN_REPLY_BYTES)
		too_short(leg, recv);
	else
		requester_reply(&leg->requester, hdr, body, len);
}

static void dispatch(struct rdma_leg *leg, const struct rpcrdma_header *hdr,
		     const struct fabric_recv *recv)
{
	switch (hdr->proc) {
	case RPCRDMA_MSG:
		on_msg(leg, hdr, recv);
		break;
	case RPCRDMA_NOMSG:
		/* Only forward messages have chunks. */
		if (leg->conn.connector)
			requester_reply(&leg->requester, hdr, NULL, 0);
		else
			responder_call(&leg->responder, hdr, NULL, 0);
		break;
	case RPCRDMA_ERROR:
		requester_error(&leg->requester, hdr);
		break;
	case RPCRDMA_DONE:
		/* Nothing is ever exposed that a Done could release (A-Δ2). */
		leg->conn.counters->dones_ignored++;
		break;
	case RPCRDMA_MSGP:
		undecodable(leg, hdr, recv, RPCRDMA_ERR_CHUNK, "RDMA_MSGP is not supported");
		break;
	case RPCRDMA_OPTIONAL:
		break;
	}
}

/* Whether the key that a Send has invalidated was one that it might. */
static bool may_have_invalidated(const struct rdma_leg *leg, enum rpcrdma_verdict verdict,
				 const struct rpcrdma_header *hdr, uint32_t rkey)
{
	const struct rdma_conn *conn = &leg->conn;
	bool offered = conn->peer->lenient ? conn->remote_invalidation : conn->may_invalidate;

	return offered && verdict != RPCRDMA_SHORT &&
	       requester_owns_key(&leg->requester, hdr->xid, rkey);
}

/* A version that there is a codec for may not be spoken here. ERR_VERS is understood in any. */
static enum rpcrdma_verdict held_against(const struct rdma_conn *conn,
					 const struct rpcrdma_header *hdr,
					 enum rpcrdma_verdict verdict)
{
	if (verdict == RPCRDMA_SHORT || hdr->vers == conn->dialect->version ||
	    (verdict == RPCRDMA_OK && hdr->proc == RPCRDMA_ERROR && hdr->error == RPCRDMA_ERR_VERS))
		return verdict;
	return RPCRDMA_BAD_VERS;
}

static void judge(struct rdma_leg *leg, enum rpcrdma_verdict verdict,
		  const struct rpcrdma_header *hdr, const struct fabric_recv *recv)
{
	switch (verdict) {
	case RPCRDMA_OK:
		dispatch(leg, hdr, recv);
		break;
	case RPCRDMA_SHORT:
		too_short(leg, recv);
		break;
	case RPCRDMA_BAD_VERS:
		undecodable(leg, hdr, recv, RPCRDMA_ERR_VERS, "version is not supported");
		break;
	case RPCRDMA_BAD_PROC:
		undecodable(leg, hdr, recv, RPCRDMA_ERR_CHUNK, "unknown message type");
		break;
	case RPCRDMA_BAD_LISTS:
		undecodable(leg, hdr, recv, RPCRDMA_ERR_CHUNK, "chunk lists do not decode");
		break;
	case RPCRDMA_RESERVED:
	case RPCRDMA_BAD_OPTION:
		break;
	}
}

void rdma_leg_recv(void *arg, const struct fabric_recv *recv)
{
	struct rdma_leg *leg = arg;
	struct rdma_conn *conn = &leg->conn;
	struct rpcrdma_header hdr;
	enum rpcrdma_verdict verdict;

	rdma_conn_received(conn, recv);
	if (!rdma_conn_is_up(conn))
		return;
	verdict =
		held_against(conn, &hdr, rpcrdma_header_decode(recv->data, recv->len_bytes, &hdr));
	if (recv->invalidated) {
		conn->counters->remote_invalidations_received++;
		if (!may_have_invalidated(leg, verdict, &hdr, recv->inv_rkey)) {
			rdma_conn_fail(conn, LEG_CLOSE_PROTOCOL,
				       "invalidated a key that was not offered for it");
			return;
		}
	}
	judge(leg, verdict, &hdr, recv);
	rdma_conn_replenish(conn);
}

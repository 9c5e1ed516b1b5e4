// SPDX-License-Identifier: BSD-3-Clause
/*
 * What arrives: each Send is decoded once and handed to the requester, to the responder, or to
 * nobody.
 *
 * Both directions share one connection, so what does not decode must be told apart too: only a Call
 * is answered, never a Reply, an RDMA_ERROR or an RDMA_DONE (A4.2-3), so that no two ends answer
 * each other's errors for ever.
 */
#include "rpc/msg.h"
#include "rpc/xdr.h"
#include "rpcrdma/rdma_leg_priv.h"

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
	return !leg->connector;
}

static void undecodable(struct rdma_leg *leg, const struct rpcrdma_header *hdr,
			const struct fabric_recv *recv, enum rpcrdma_err err, const char *what)
{
	if (!looks_like_call(leg, hdr, recv)) {
		requester_bad_reply(leg, hdr->xid, what);
		return;
	}
	leg->config.counters->bad_calls++;
	rdma_leg_note(leg, "Call %#x: %s", hdr->xid, what);
	responder_refuse(leg, hdr, err);
}

static void too_short(struct rdma_leg *leg, const struct fabric_recv *recv)
{
	leg->config.counters->short_discarded++;
	rdma_leg_note(leg, "Send of %u bytes is too short, discarded", recv->len_bytes);
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
		too_short(leg, recv);
		return;
	default:
		undecodable(leg, hdr, recv, RPCRDMA_ERR_CHUNK, "not an RPC message");
		return;
	}
	if (len < (type == RPC_CALL ? RPCRDMA_MIN_CALL_BYTES : RPCRDMA_MIN_REPLY_BYTES))
		too_short(leg, recv);
	else if (type == RPC_CALL)
		responder_call(leg, hdr, body, len);
	else
		requester_reply(leg, hdr, body, len);
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
		if (leg->connector)
			requester_reply(leg, hdr, NULL, 0);
		else
			responder_call(leg, hdr, NULL, 0);
		break;
	case RPCRDMA_ERROR:
		requester_error(leg, hdr);
		break;
	case RPCRDMA_DONE:
		/* Nothing is ever exposed that a Done could release (A-Δ2). */
		leg->config.counters->dones_ignored++;
		break;
	case RPCRDMA_MSGP:
		undecodable(leg, hdr, recv, RPCRDMA_ERR_CHUNK, "RDMA_MSGP is not supported");
		break;
	}
}

void rdma_leg_recv(void *arg, const struct fabric_recv *recv)
{
	struct rdma_leg *leg = arg;
	struct rpcrdma_header hdr;
	enum rpcrdma_verdict verdict;

	leg->recvs_posted--;
	if (leg->state != RDMA_OPEN)
		return;
	leg->bytes_received += recv->len_bytes;
	verdict = rpcrdma_header_decode(recv->data, recv->len_bytes, &hdr);
	if (recv->invalidated) {
		leg->config.counters->remote_invalidations_received++;
		if (!(leg->peer->lenient ? leg->ours.remote_invalidation : leg->may_invalidate) ||
		    verdict == RPCRDMA_SHORT || !requester_owns_key(leg, hdr.xid, recv->inv_rkey)) {
			rdma_leg_fail(leg, LEG_CLOSE_PROTOCOL,
				      "invalidated a key that was not offered for it");
			return;
		}
	}
	switch (verdict) {
	case RPCRDMA_OK:
		dispatch(leg, &hdr, recv);
		break;
	case RPCRDMA_SHORT:
		too_short(leg, recv);
		break;
	case RPCRDMA_BAD_VERS:
		undecodable(leg, &hdr, recv, RPCRDMA_ERR_VERS, "version is not supported");
		break;
	case RPCRDMA_BAD_PROC:
		undecodable(leg, &hdr, recv, RPCRDMA_ERR_CHUNK, "unknown message type");
		break;
	case RPCRDMA_BAD_LISTS:
		undecodable(leg, &hdr, recv, RPCRDMA_ERR_CHUNK, "chunk lists do not decode");
		break;
	}
	rdma_leg_replenish(leg);
}

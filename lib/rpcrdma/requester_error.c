// SPDX-License-Identifier: BSD-3-Clause
/* Errors that answer the requester's Calls, and what they tell of the peer. */
#include "rpcrdma/draft03/ccp_client.h"
#include "rpcrdma/requester_late.h"
#include "rpcrdma/requester_null.h"
#include "rpcrdma/requester_reply.h"

/* The version that was assumed is not spoken there. Returns whether there is another; else the connection fails. */
static bool settle_another(struct rdma_conn *conn, const struct rpcrdma_header *hdr)
{
	struct version_cache *memory = conn->config->version_cache;

	/* Whatever was taken for a server of version one is none. */
	if (memory && hdr->vers_low > conn->terms.dialect->version)
		version_cache_forget(memory, (const struct sockaddr *)&conn->server);
	if (!negotiation_refused(&conn->negotiation, hdr->vers_low, hdr->vers_high)) {
		rdma_conn_fail(conn, LEG_CLOSE_VERSION, "the peer speaks versions %u to %u",
			       hdr->vers_low, hdr->vers_high);
		return false;
	}
	rdma_conn_agree(conn);
	return true;
}

/* A Call of ours that the peer did not execute. */
static void version_refused(struct requester *rq, struct requester_rpc *rpc,
			    const struct rpcrdma_header *hdr)
{
	if (rq->conn->negotiation.stage != NEGOTIATION_ASSUMED || rpc->state != REQUESTER_SENT) {
		requester_rpc_end(rpc, EXCHANGE_FAULT_ERR_VERS);
		requester_pump(rq);
	} else if (settle_another(rq->conn, hdr)) {
		requester_rpc_resend(rpc);
	}
}

/* To a Call of our own. Configuration, which goes first, is not sent again in another version: that has none. */
static bool is_of_own_call(struct requester *rq, const struct rpcrdma_header *hdr)
{
	if (requester_null_answered(rq, hdr->xid))
		return true;
	if (!ccp_client_failed(rq, hdr->xid, "it answers RDMA_ERROR"))
		return false;
	if (hdr->error == RPCRDMA_ERR_VERS && rq->conn->negotiation.stage == NEGOTIATION_ASSUMED)
		(void)settle_another(rq->conn, hdr);
	return true;
}

/* Whether what was offered holds every Reply that the Call can get, so that none was too long for it. */
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
 * A well-formed Call was refused. If it was an RDMA_NOMSG, none of which this server has taken so far, whoever sent it,
 * and nothing but its form can be meant, the next ones of this client are not sent.
 */
static void learn(const struct requester *rq, const struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rq->conn;
	struct peer_memory *memory = conn->config->peer_memory;
	uint64_t now_us;

	if (conn->config->peer != PEER_AUTO || conn->peer != peer_profile(PEER_GANESHA) ||
	    rpc->form.call.form != FORM_NOMSG || !rpc_msg_is_whole(&rpc->x->call) ||
	    rq->long_taken || !reply_had_room(rpc))
		return;
	now_us = loop_now_us(conn->fabric->loop);
	if (memory && peer_memory_takes(memory, now_us))
		return;
	rdma_conn_peer_found(conn, PEER_CHIMERA, "refused a long Call");
	rdma_conn_note(conn, "peer is taken for %s from now on: it %s", conn->peer->name,
		       conn->peer_why);
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

/* Whoever has RFC 8166 alone refuses every aligned message: one Call is enough to lose to that. */
static void learn_of_padding(struct rdma_conn *conn)
{
	conn->refuses_padding = true;
	rdma_conn_note(conn, "peer refuses aligned messages, so no more are sent to it: "
			     "does it speak draft03?");
}

void requester_error_of_own(struct requester *rq, const struct rpcrdma_header *hdr)
{
	count_error(rq->conn, hdr);
	requester_pump(rq);
}

void requester_error(struct requester *rq, const struct rpcrdma_header *hdr)
{
	struct requester_rpc *rpc = requester_rpc_waiting(&rq->rpcs, hdr->xid);
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

// SPDX-License-Identifier: BSD-3-Clause
/* The configuration program, answered. */
#include "rpcrdma/draft03/ccp_server.h"

#include "base/least.h"
#include "rpcrdma/draft03/ccp.h"
#include "rpcrdma/read_chunks.h"
#include "rpcrdma/responder_reply.h"

bool ccp_server_serves(const struct responder_rpc *rpc)
{
	const struct rdma_conn *conn = rpc->rpcs->conn;

	return !conn->connector && conn->config->config_protocol &&
	       rpc->terms.dialect->configuration;
}

/* Where there are no aligned messages, or none that long, none are recommended. */
static uint32_t align_of(const struct responder_rpc *rpc, uint32_t maxcall)
{
	uint32_t align = rpc->rpcs->conn->config->padding_align_bytes;

	return rpc->terms.dialect->padding && align <= maxcall ? align : 0;
}

/* Receives have room for the longest header besides, so that a message may be as long as a Send (A6.2-9). */
static struct ccp_results results_of(const struct responder_rpc *rpc)
{
	const struct rdma_conn *conn = rpc->rpcs->conn;
	uint32_t maxcall = inline_limit_offer(&conn->recv_limit);

	return (struct ccp_results){
		.maxcall_sendsize = maxcall,
		.align = align_of(rpc, maxcall),
		.maxrdmaread = rdma_conn_reads_taken(conn),
	};
}

static void take(struct rdma_conn *conn, const struct ccp_args *args)
{
	bool first = !conn->conf_came;

	conn->counters->conf_served++;
	conn->conf_came = true;
	if (!first || conn->grant.in_flight != 1)
		return;
	read_chunks_limit(conn, args->maxrdmaread);
	rdma_conn_peer_takes(conn, args->maxreply_sendsize);
}

void ccp_server_answer(struct responder_rpc *rpc)
{
	const struct exchange *x = rpc->x;
	struct ccp_results results = results_of(rpc);
	uint8_t answer[CCP_REPLY_BYTES];
	struct ccp_args args;
	enum ccp_verdict verdict = ccp_judge(x->call.data, x->call.len_bytes, &x->facts.hdr, &args);

	if (verdict == CCP_CONF)
		take(rpc->rpcs->conn, &args);
	if (verdict == CCP_FLAVOR)
		rpc->rpcs->conn->counters->auth_failed_sent++;
	responder_answer(rpc, answer,
			 (uint32_t)ccp_encode_reply(answer, x->facts.hdr.xid, verdict, &results));
}

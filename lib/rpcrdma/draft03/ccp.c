// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/draft03/ccp.h"

#include "rpc/xdr.h"
#include "rpcrdma/read_chunks.h"
#include "rpcrdma/responder_reply.h"
#include "rpcrdma/send_msg.h"

#define PROC_NULL 0u
#define PROC_CONF 1u

/* Reads the three words after a header; returns false if the length differs. */
static bool get_words(const uint8_t *msg, size_t len, size_t at, uint32_t words[3])
{
	struct xdr_reader reader;

	xdr_reader_init(&reader, msg + at, len - at);
	for (unsigned i = 0; i < 3; i++)
		if (!xdr_get_u32(&reader, &words[i]))
			return false;
	return xdr_remaining_bytes(&reader) == 0;
}

static size_t put_words(uint8_t *to, size_t capacity, const uint32_t *words, size_t count)
{
	struct xdr_writer writer;

	xdr_writer_init(&writer, to, capacity);
	for (size_t i = 0; i < count; i++)
		xdr_put_u32(&writer, words[i]);
	return xdr_written_bytes(&writer);
}

size_t ccp_encode_call(uint8_t to[CCP_CALL_BYTES], uint32_t xid, uint32_t prog,
		       const struct ccp_args *args)
{
	const uint32_t words[] = {
		xid,
		RPC_CALL,
		RPC_VERSION,
		prog,
		CCP_VERSION,
		PROC_CONF,
		RPC_AUTH_NONE,
		0,
		RPC_AUTH_NONE,
		0,
		args->maxcall_sendsize,
		args->maxreply_sendsize,
		args->maxrdmaread,
	};

	return put_words(to, CCP_CALL_BYTES, words, ARRAY_SIZE(words));
}

enum ccp_verdict ccp_check_call(const uint8_t *call, size_t len, const struct rpc_call_hdr *hdr,
				struct ccp_args *args)
{
	uint32_t words[3];

	if (rpc_call_wants_verifier(hdr))
		return CCP_FLAVOR;
	if (hdr->vers != CCP_VERSION)
		return CCP_MISMATCH;
	if (hdr->proc == PROC_NULL)
		return CCP_NULL;
	if (hdr->proc != PROC_CONF)
		return CCP_NO_PROC;
	if (!get_words(call, len, hdr->args_offset, words))
		return CCP_GARBAGE;
	*args = (struct ccp_args){words[0], words[1], words[2]};
	return CCP_CONF;
}

static size_t encode_results(uint8_t to[CCP_REPLY_BYTES], uint32_t xid,
			     const struct ccp_results *results)
{
	const uint32_t words[] = {
		xid,
		RPC_REPLY,
		RPC_MSG_ACCEPTED,
		RPC_AUTH_NONE,
		0,
		RPC_SUCCESS,
		results->maxcall_sendsize,
		results->align,
		results->maxrdmaread,
	};

	return put_words(to, CCP_REPLY_BYTES, words, ARRAY_SIZE(words));
}

size_t ccp_encode_reply(uint8_t to[CCP_REPLY_BYTES], uint32_t xid, enum ccp_verdict verdict,
			const struct ccp_results *results)
{
	switch (verdict) {
	case CCP_CONF:
		return encode_results(to, xid, results);
	case CCP_MISMATCH:
		return rpc_encode_prog_mismatch(to, xid, CCP_VERSION, CCP_VERSION);
	case CCP_NO_PROC:
		return rpc_encode_accepted(to, xid, RPC_PROC_UNAVAIL);
	case CCP_GARBAGE:
		return rpc_encode_accepted(to, xid, RPC_GARBAGE_ARGS);
	case CCP_FLAVOR:
		return rpc_encode_auth_error(to, xid, RPC_AUTH_FAILED);
	case CCP_NULL:
		break;
	}
	return rpc_encode_accepted(to, xid, RPC_SUCCESS);
}

bool ccp_decode_reply(const uint8_t *reply, size_t len, uint32_t xid, struct ccp_results *results)
{
	struct rpc_reply_hdr hdr;
	uint32_t words[3];

	if (rpc_reply_decode(reply, len, &hdr) != RPC_OK || hdr.xid != xid ||
	    hdr.stat != RPC_MSG_ACCEPTED || hdr.accept_stat != RPC_SUCCESS ||
	    !get_words(reply, len, hdr.results_offset, words))
		return false;
	*results = (struct ccp_results){words[0], words[1], words[2]};
	return true;
}

/* ---- the client ---- */

STATE_TABLE(ccp_client_states, CCP_CLIENT_STATES);

static void set_state(struct ccp_client *ccp, enum ccp_client_state to)
{
	ccp->state = state_next(&ccp_client_states, ccp->state, to);
}

static void finish_ccp(struct requester *rq)
{
	set_state(&rq->ccp, CCP_CLIENT_DONE);
	loop_timer_free(rq->conn->fabric->loop, rq->ccp.timer);
	rq->ccp.timer = NULL;
}

/* The limits stay those of the private data, or the defaults. */
static void refused(struct requester *rq, const char *what)
{
	rq->conn->counters->conf_refused++;
	if (what)
		rdma_conn_note(rq->conn, "server did not answer CONF_RDMA: %s", what);
}

static void on_timer(void *arg)
{
	struct requester *rq = arg;
	struct ccp_client *ccp = &rq->ccp;

	if (rdma_conn_is_closing(rq->conn))
		return;
	if (ccp->state == CCP_CLIENT_EXPIRED) {
		finish_ccp(rq);
	} else {
		set_state(ccp, CCP_CLIENT_EXPIRED);
		loop_timer_set(rq->conn->fabric->loop, ccp->timer, CCP_CLIENT_LATE_US);
		(void)control_msgs_answered(&rq->conn->control, ccp->xid);
		refused(rq, "no answer in 5 s");
	}
	/* Send Calls that waited for the answer, or for its XID. */
	requester_kick(rq);
}

/* Nothing is in flight yet in either direction. */
static uint32_t new_xid(const struct requester *rq)
{
	/* Probably far from the XIDs of the client, which are unknown. */
	uint32_t xid = (uint32_t)(rdma_conn_now_us(rq->conn) * 2654435761u);

	while (requester_is_control_xid(rq, xid) || xid == rq->conn->negotiation.probe_xid)
		xid++;
	return xid;
}

/*
 * Receives have space for the longest header in addition, so a message can be as long as a Send
 * (A6.2-9).
 */
static struct ccp_args args_of(const struct rdma_conn *conn)
{
	return (struct ccp_args){
		.maxcall_sendsize = inline_threshold_offer(&conn->send_limit),
		.maxreply_sendsize = inline_threshold_offer(&conn->recv_limit),
		.maxrdmaread = rdma_conn_peer_reads_max(conn),
	};
}

static void send_conf(struct requester *rq)
{
	struct rdma_conn *conn = rq->conn;
	struct ccp_args args = args_of(conn);
	uint32_t prog = conn->leg->config->config_program, xid = rq->ccp.xid;
	uint8_t call[CCP_CALL_BYTES];
	struct send_msg m;

	control_msgs_sent(&conn->control, xid, true);
	/* From now on an answer to the version two probe is late. */
	negotiation_call_sent(&conn->negotiation);
	send_msg_init(&m, conn->limits.dialect, xid);
	send_msg_add_bytes(&m, call, (uint32_t)ccp_encode_call(call, xid, prog, &args));
	conn->counters->conf_asked++;
	rdma_conn_replenish(conn);
	send_msg_post(&m, conn, conn->window.asked, NULL, NULL);
}

static bool must_send_conf(const struct rdma_conn *conn)
{
	return conn->connector && conn->config->config_protocol &&
	       conn->leg->config->config_program && conn->limits.dialect->configuration;
}

void ccp_client_begin(struct requester *rq)
{
	struct rdma_conn *conn = rq->conn;

	if (!must_send_conf(conn))
		return;
	rq->ccp.timer = loop_timer_new(conn->fabric->loop, on_timer, rq);
	if (!rq->ccp.timer) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a timer");
		return;
	}
	rq->ccp.xid = new_xid(rq);
	set_state(&rq->ccp, CCP_CLIENT_SENT);
	send_conf(rq);
	loop_timer_set(conn->fabric->loop, rq->ccp.timer, CCP_CLIENT_WAIT_US);
}

/*
 * Ends CONF_RDMA if @xid is its XID, and returns true; sets *@in_time to false if the answer is
 * late.
 */
static bool match_answer(struct requester *rq, uint32_t xid, bool *in_time)
{
	struct ccp_client *ccp = &rq->ccp;

	if (!ccp_client_has(rq, xid))
		return false;
	*in_time = ccp->state == CCP_CLIENT_SENT;
	if (*in_time)
		(void)control_msgs_answered(&rq->conn->control, xid);
	else
		rq->conn->counters->unmatched_replies++;
	finish_ccp(rq);
	return true;
}

static void use_results(struct requester *rq, const struct ccp_results *results)
{
	struct rdma_conn *conn = rq->conn;

	conn->counters->conf_answered++;
	conn->peer_align_bytes = results->align;
	read_chunks_limit(conn, results->maxrdmaread);
	rdma_conn_set_peer_recv_bytes(conn, results->maxcall_sendsize);
}

/* Returns true if the server does not know the program, which needs no log line. */
static bool is_unknown(const uint8_t *body, uint32_t len_bytes)
{
	struct rpc_reply_hdr reply;

	return rpc_reply_decode(body, len_bytes, &reply) == RPC_OK &&
	       reply.stat == RPC_MSG_ACCEPTED && reply.accept_stat == RPC_PROG_UNAVAIL;
}

bool ccp_client_answered(struct requester *rq, const struct rpcrdma_header *hdr,
			 const uint8_t *body, uint32_t len_bytes)
{
	struct ccp_results results;
	bool in_time, good;

	if (!match_answer(rq, hdr->xid, &in_time))
		return false;
	/* The RPC message has its own copy of the XID. */
	good = hdr->proc == RPCRDMA_MSG && !rpcrdma_header_has_chunks(hdr) &&
	       ccp_decode_reply(body, len_bytes, hdr->xid, &results);
	if (in_time && good)
		use_results(rq, &results);
	else if (in_time)
		refused(rq, is_unknown(body, len_bytes) ? NULL : "invalid answer");
	return true;
}

bool ccp_client_failed(struct requester *rq, uint32_t xid, const char *what)
{
	bool in_time;

	if (!match_answer(rq, xid, &in_time))
		return false;
	if (in_time)
		refused(rq, what);
	return true;
}

/* ---- the server ---- */

bool ccp_server_serves(const struct responder_rpc *rpc)
{
	const struct rdma_conn *conn = rpc->rs->conn;

	return !conn->connector && conn->config->config_protocol &&
	       rpc->limits.dialect->configuration;
}

/*
 * Recommends no alignment if the dialect has no RDMA_MSGP, or if the alignment exceeds the longest
 * Call.
 */
static uint32_t align_of(const struct responder_rpc *rpc, uint32_t maxcall)
{
	uint32_t align = rpc->rs->conn->config->padding_align_bytes;

	return rpc->limits.dialect->padding && align <= maxcall ? align : 0;
}

/*
 * Receives have space for the longest header in addition, so a message can be as long as a Send
 * (A6.2-9).
 */
static struct ccp_results results_of(const struct responder_rpc *rpc)
{
	const struct rdma_conn *conn = rpc->rs->conn;
	uint32_t maxcall = inline_threshold_offer(&conn->recv_limit);

	return (struct ccp_results){
		.maxcall_sendsize = maxcall,
		.align = align_of(rpc, maxcall),
		.maxrdmaread = rdma_conn_peer_reads_max(conn),
	};
}

static void use_args(struct rdma_conn *conn, const struct ccp_args *args)
{
	bool first = !conn->conf_received;

	conn->counters->conf_served++;
	conn->conf_received = true;
	if (!first || conn->grant.in_flight != 1)
		return;
	read_chunks_limit(conn, args->maxrdmaread);
	rdma_conn_set_peer_recv_bytes(conn, args->maxreply_sendsize);
}

void ccp_server_answer(struct responder_rpc *rpc)
{
	const struct exchange *x = rpc->x;
	struct ccp_results results = results_of(rpc);
	uint8_t answer[CCP_REPLY_BYTES];
	struct ccp_args args;
	enum ccp_verdict verdict =
		ccp_check_call(x->call.data, x->call.len_bytes, &x->call_info.hdr, &args);

	if (verdict == CCP_CONF)
		use_args(rpc->rs->conn, &args);
	if (verdict == CCP_FLAVOR)
		rpc->rs->conn->counters->auth_failed_sent++;
	responder_answer(
		rpc, answer,
		(uint32_t)ccp_encode_reply(answer, x->call_info.hdr.xid, verdict, &results));
}

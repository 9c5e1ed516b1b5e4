// SPDX-License-Identifier: BSD-3-Clause
/* The configuration program, asked. */
#include "rpcrdma/draft03/ccp_client.h"

#include "rpcrdma/draft03/ccp.h"
#include "rpcrdma/message.h"
#include "rpcrdma/read_chunks.h"

STATE_TABLE(ccp_client_states, CCP_CLIENT_STATES);

static void set_state(struct ccp_client *conf, enum ccp_client_state to)
{
	conf->state = state_next(&ccp_client_states, conf->state, to);
}

static void over(struct requester *rq)
{
	set_state(&rq->conf, CONF_OVER);
	loop_timer_free(rq->conn->fabric->loop, rq->conf.timer);
	rq->conf.timer = NULL;
}

/* Calls go by private data, or by what holds without. */
static void refused(struct requester *rq, const char *what)
{
	rq->conn->counters->conf_refused++;
	if (what)
		rdma_conn_note(rq->conn, "server does not configure the connection: %s", what);
}

static void on_timer(void *arg)
{
	struct requester *rq = arg;
	struct ccp_client *conf = &rq->conf;

	if (rdma_conn_is_over(rq->conn))
		return;
	if (conf->state == CONF_LATE) {
		over(rq);
	} else {
		set_state(conf, CONF_LATE);
		loop_timer_set(rq->conn->fabric->loop, conf->timer, CCP_CLIENT_LATE_US);
		(void)control_msgs_answered(&rq->conn->own, conf->xid);
		refused(rq, "no answer in 5 s");
	}
	/* Calls may have waited for the answer, or one for its XID. */
	requester_pump(rq);
}

/* Nothing is in flight yet in either direction. */
static uint32_t new_xid(const struct requester *rq)
{
	/* Far from where a client counts, as well as can be without knowing it. */
	uint32_t xid = (uint32_t)(rdma_conn_now_us(rq->conn) * 2654435761u);

	while (requester_is_ours(rq, xid) || xid == rq->conn->negotiation.probe_xid)
		xid++;
	return xid;
}

/* A6.2-9: receives have room for the longest header besides, so that a message may be as long as a Send. */
static struct ccp_args args_of(const struct rdma_conn *conn)
{
	return (struct ccp_args){
		.maxcall_sendsize = inline_limit_offer(&conn->send_limit),
		.maxreply_sendsize = inline_limit_offer(&conn->recv_limit),
		.maxrdmaread = rdma_conn_reads_taken(conn),
	};
}

static void ask(struct requester *rq)
{
	struct rdma_conn *conn = rq->conn;
	struct ccp_args args = args_of(conn);
	uint32_t prog = conn->leg->config->config_program, xid = rq->conf.xid;
	uint8_t call[CCP_CALL_BYTES];
	struct message m;

	control_msgs_sent(&conn->own, xid, true);
	/* From now on an answer to the attempt at version two is late. */
	negotiation_call_sent(&conn->negotiation);
	message_init(&m, conn->terms.dialect, xid);
	message_add_bytes(&m, call, (uint32_t)ccp_encode_call(call, xid, prog, &args));
	conn->counters->conf_asked++;
	rdma_conn_replenish(conn);
	message_send(&m, conn, conn->window.asked, NULL, NULL);
}

static bool is_to_ask(const struct rdma_conn *conn)
{
	return conn->connector && conn->config->config_protocol &&
	       conn->leg->config->config_program && conn->terms.dialect->configuration;
}

void ccp_client_begin(struct requester *rq)
{
	struct rdma_conn *conn = rq->conn;

	if (!is_to_ask(conn))
		return;
	rq->conf.timer = loop_timer_new(conn->fabric->loop, on_timer, rq);
	if (!rq->conf.timer) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a timer");
		return;
	}
	rq->conf.xid = new_xid(rq);
	set_state(&rq->conf, CONF_ASKED);
	ask(rq);
	loop_timer_set(conn->fabric->loop, rq->conf.timer, CCP_CLIENT_WAIT_US);
}

/* Whether @xid is answered, and how: in time, or so late that nobody asks any more. */
static bool end(struct requester *rq, uint32_t xid, bool *in_time)
{
	struct ccp_client *conf = &rq->conf;

	if (!ccp_client_has(rq, xid))
		return false;
	*in_time = conf->state == CONF_ASKED;
	if (*in_time)
		(void)control_msgs_answered(&rq->conn->own, xid);
	else
		rq->conn->counters->unmatched_replies++;
	over(rq);
	return true;
}

static void take(struct requester *rq, const struct ccp_results *results)
{
	struct rdma_conn *conn = rq->conn;

	conn->counters->conf_answered++;
	conn->peer_align_bytes = results->align;
	read_chunks_limit(conn, results->maxrdmaread);
	rdma_conn_peer_takes(conn, results->maxcall_sendsize);
}

static bool has_chunks(const struct rpcrdma_header *hdr)
{
	return hdr->nreads || hdr->nwrites || hdr->has_reply_chunk;
}

/* What is no fault of the server's: it does not know the program. */
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

	if (!end(rq, hdr->xid, &in_time))
		return false;
	/* The RPC message has an XID of its own. */
	good = hdr->proc == RPCRDMA_MSG && !has_chunks(hdr) &&
	       ccp_decode_reply(body, len_bytes, hdr->xid, &results);
	if (in_time && good)
		take(rq, &results);
	else if (in_time)
		refused(rq, is_unknown(body, len_bytes) ? NULL : "its answer says nothing of use");
	return true;
}

bool ccp_client_failed(struct requester *rq, uint32_t xid, const char *what)
{
	bool in_time;

	if (!end(rq, xid, &in_time))
		return false;
	if (in_time)
		refused(rq, what);
	return true;
}

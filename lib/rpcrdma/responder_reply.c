// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/responder_reply.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/minmax.h"
#include "nfs/nfs.h"
#include "rpc/xdr.h"
#include "rpcrdma/draft03/msgp.h"
#include "rpcrdma/draft03/responder_read_reply.h"
#include "rpcrdma/private_data.h"
#include "rpcrdma/send_msg.h"
#include "rpcrdma/v2/size_wait.h"
#include "rpcrdma/work_request.h"

/* A Reply being sent. */
struct reply {
	struct responder_rpc *rpc;
	/*
	 * The chunk lists of the Call, with zero lengths until written, and the pieces outside
	 * write chunks.
	 */
	struct send_msg m;
	bool uses_reply_chunk; /* otherwise it is returned empty or omitted (A5.2-4) */
	unsigned npayloads;
	/* the n-th payload is for the n-th write chunk */
	struct rpc_payload payloads[RPCRDMA_MAX_CHUNKS];
};

static void reply_init(struct reply *reply, struct responder_rpc *rpc)
{
	struct rpcrdma_header *hdr = &reply->m.hdr;

	reply->rpc = rpc;
	reply->uses_reply_chunk = false;
	reply->npayloads = 0;
	send_msg_init(&reply->m, rpc->limits.dialect, rpc->x->call_info.hdr.xid);
	hdr->nwrites = rpc->nwrites;
	hdr->nsegments = rpc->nsegments;
	memcpy(hdr->writes, rpc->writes, rpc->nwrites * sizeof(hdr->writes[0]));
	memcpy(hdr->segments, rpc->segments, rpc->nsegments * sizeof(hdr->segments[0]));
	for (unsigned i = 0; i < hdr->nsegments; i++)
		hdr->segments[i].len_bytes = 0;
	hdr->has_reply_chunk = responder_rpc_returns_reply_chunk(rpc);
	hdr->reply_chunk = rpc->reply_chunk;
}

/* Finds the payloads. If the Reply cannot be parsed, nothing is reduced. */
static void find_payloads(struct reply *reply)
{
	struct responder_rpc *rpc = reply->rpc;
	const struct exchange *x = rpc->x;
	int n;

	if (!rpc->nwrites || x->call_info.results == CALL_RESULTS_NONE)
		return;
	n = nfs_reply_ddp_items(&x->call_info, x->reply.data, x->reply.len_bytes, reply->payloads,
				rpc->nwrites);
	if (n < 0)
		rpc->rs->conn->counters->payloads_not_found++;
	else
		reply->npayloads = (unsigned)n;
}

/*
 * Finds the payloads of an incomplete Reply. Returns false if it has none or their positions are
 * not known yet.
 */
static bool find_payloads_early(struct reply *reply)
{
	struct responder_rpc *rpc = reply->rpc;
	const struct exchange *x = rpc->x;
	int n;

	if (x->call_info.results == CALL_RESULTS_NONE)
		return false;
	n = nfs_reply_ddp_items_partial(&x->call_info, x->reply.data, x->reply.have_bytes,
					x->reply.len_bytes, reply->payloads, rpc->nwrites);
	reply->npayloads = n > 0 ? (unsigned)n : 0;
	return n > 0;
}

/*
 * Splits the Reply into payloads for the write chunks and pieces for the rest. An empty chunk
 * leaves its payload inline. The pad of a moved payload is neither written nor sent (A-Δ5). Returns
 * false if a payload is longer than its chunk or lies outside the Reply.
 */
static bool split_payloads(struct reply *reply)
{
	const struct rpc_msg *msg = &reply->rpc->x->reply;
	uint32_t at = 0;

	for (unsigned i = 0; i < reply->npayloads; i++) {
		struct rpc_payload *payload = &reply->payloads[i];
		uint64_t chunk_bytes = reply->rpc->writes[i].len_bytes;
		uint64_t end = payload->offset_bytes + xdr_padded_bytes(payload->len_bytes);

		if (!chunk_bytes || !payload->len_bytes) {
			payload->len_bytes = 0;
			continue;
		}
		/* Never write bytes that are outside the Reply. */
		if (payload->len_bytes > chunk_bytes || payload->offset_bytes < at ||
		    payload->offset_bytes > msg->len_bytes ||
		    payload->len_bytes > msg->len_bytes - payload->offset_bytes)
			return false;
		send_msg_add_piece(&reply->m, msg, at, payload->offset_bytes);
		at = end < msg->len_bytes ? (uint32_t)end : msg->len_bytes;
	}
	send_msg_add_piece(&reply->m, msg, at, msg->len_bytes);
	return true;
}

/*
 * Writes @pieces into a chunk, segment by segment, and sets the lengths of the segments in the
 * header. Earlier calls have written the first @done_bytes.
 */
static void write_chunk(struct reply *reply, const struct rpcrdma_chunk *chunk,
			const struct fabric_sge *pieces, unsigned npieces, uint32_t done_bytes)
{
	struct responder_rpc *rpc = reply->rpc;
	unsigned seg = chunk->first;

	for (unsigned i = 0; i < npieces; i++) {
		struct fabric_sge left = pieces[i];

		while (left.len_bytes) {
			const struct rpcrdma_segment *to = &rpc->segments[seg];
			uint32_t used = reply->m.hdr.segments[seg].len_bytes;
			struct fabric_sge now = left;

			if (used == to->len_bytes) {
				seg++;
				continue;
			}
			if (now.len_bytes > to->len_bytes - used)
				now.len_bytes = to->len_bytes - used;
			if (done_bytes) {
				now.len_bytes = min_u32(now.len_bytes, done_bytes);
				done_bytes -= now.len_bytes;
			} else {
				work_request_post_write(rpc->rs->conn, &now, to->handle,
							to->offset + used, rpc->x);
			}
			reply->m.hdr.segments[seg].len_bytes += now.len_bytes;
			left.addr += now.len_bytes;
			left.len_bytes -= now.len_bytes;
		}
	}
}

/* Posts Receives, then sends the Reply, which grants their credits again (A3.3-8). */
static void send_reply(struct responder_rpc *rpc, struct send_msg *m, bool pin)
{
	struct rdma_conn *conn = rpc->rs->conn;
	bool invalidate = rpc->one_handle && rdma_conn_may_invalidate(conn, &rpc->limits);

	conn->counters->replies_sent++;
	credit_grant_done(&conn->grant);
	rdma_conn_replenish(conn);
	send_msg_post(m, conn, credit_grant_value(&conn->grant), pin ? rpc->x : NULL,
		      invalidate ? &rpc->handle : NULL);
	if (rpc->exposed)
		responder_read_reply_sent(rpc);
	else
		responder_rpc_finish(rpc);
}

void responder_send_error(struct rdma_conn *conn, uint32_t xid, uint32_t vers, enum rpcrdma_err err)
{
	struct rpcrdma_header hdr;

	rdma_conn_replenish(conn);
	rpcrdma_header_init(&hdr, xid, vers, credit_grant_value(&conn->grant), RPCRDMA_ERROR);
	hdr.error = err;
	switch (err) {
	case RPCRDMA_ERR_VERS:
		conn->counters->err_vers_sent++;
		negotiation_range(&conn->negotiation, &hdr.vers_low, &hdr.vers_high);
		break;
	case RPCRDMA_ERR_CHUNK:
		conn->counters->err_chunk_sent++;
		break;
	case RPCRDMA_ERR_INVAL_OPTION:
		conn->counters->err_inval_option_sent++;
		break;
	}
	work_request_post_send(conn, &hdr, NULL, 0, NULL, NULL);
}

void responder_answer_error(struct responder_rpc *rpc, enum rpcrdma_err err)
{
	struct rdma_conn *conn = rpc->rs->conn;

	credit_grant_done(&conn->grant);
	responder_send_error(conn, rpc->x->call_info.hdr.xid, rpc->limits.dialect->version, err);
	responder_rpc_finish(rpc);
}

void responder_answer(struct responder_rpc *rpc, const uint8_t *msg, uint32_t len_bytes)
{
	struct reply reply;

	if (len_bytes > responder_rpc_inline_max(rpc)) {
		responder_answer_error(rpc, RPCRDMA_ERR_CHUNK);
		return;
	}
	rpc->x->reply_forms[EXCHANGE_ORIGIN] = MESSAGE_FORM_SHORT;
	reply_init(&reply, rpc);
	send_msg_add_bytes(&reply.m, msg, len_bytes);
	send_reply(rpc, &reply.m, false);
}

/*
 * Encodes the answer to a failed Call. If the Call has not been read, its authentication flavor is
 * unknown. Clients of every flavor accept a denied Reply.
 */
static size_t encode_failure(uint8_t to[RPC_ERROR_REPLY_BYTES], const struct rpc_call_hdr *hdr,
			     struct rdma_leg_counters *counters)
{
	bool is_known = hdr->args_offset > 0;

	if (is_known && !rpc_call_wants_verifier(hdr))
		return rpc_encode_accepted(to, hdr->xid, RPC_SYSTEM_ERR);
	counters->auth_failed_sent++;
	return rpc_encode_auth_error(to, hdr->xid, RPC_AUTH_FAILED);
}

void responder_answer_failure(struct responder_rpc *rpc)
{
	uint8_t answer[RPC_ERROR_REPLY_BYTES];
	size_t len_bytes = encode_failure(answer, &rpc->x->call_info.hdr, rpc->rs->conn->counters);

	responder_answer(rpc, answer, (uint32_t)len_bytes);
}

static void answer_fault(struct responder_rpc *rpc, enum exchange_fault fault)
{
	if (fault == EXCHANGE_FAULT_ERR_CHUNK || fault == EXCHANGE_FAULT_TOO_BIG)
		responder_answer_error(rpc, RPCRDMA_ERR_CHUNK);
	else
		responder_answer_failure(rpc);
}

/* Answers a Call whose Reply could not be placed; @rc is the errno of place_reply(). */
static void answer_unplaced(struct responder_rpc *rpc, int rc)
{
	struct rdma_conn *conn = rpc->rs->conn;
	uint32_t xid = rpc->x->call_info.hdr.xid;

	if (rc == -EMSGSIZE) {
		conn->counters->replies_too_big++;
		rdma_conn_note(conn,
			       "Reply %#x of %u bytes does not fit into the chunks of its Call",
			       xid, rpc->x->reply.len_bytes);
	} else if (rc == -EBUSY) {
		conn->counters->replies_too_big++;
		rdma_conn_note(conn, "Reply %#x: %u read-chunk Replies already await RDMA_DONE",
			       xid, conn->grant.exposed);
	} else if (rc != -ENOTCONN) {
		rdma_conn_note(conn, "Reply %#x: no memory or key to expose it", xid);
	}
	responder_answer_error(rpc, RPCRDMA_ERR_CHUNK);
}

/* Returns how many bytes of a payload have arrived. */
static uint32_t here_bytes(const struct rpc_msg *msg, const struct rpc_payload *payload)
{
	if (msg->have_bytes <= payload->offset_bytes)
		return 0;
	return min_u32(msg->have_bytes - payload->offset_bytes, payload->len_bytes);
}

/* Writes the payload bytes that have arrived since the last call. Payloads arrive in order. */
static void write_payloads(struct reply *reply)
{
	struct responder_rpc *rpc = reply->rpc;
	const struct rpc_msg *msg = &rpc->x->reply;
	uint32_t before = rpc->written_bytes;

	for (unsigned i = 0; i < reply->npayloads; i++) {
		const struct rpc_payload *payload = &reply->payloads[i];
		uint32_t here = here_bytes(msg, payload), done = min_u32(before, here);
		struct fabric_sge piece = {msg->buf, msg->data + payload->offset_bytes, here};

		write_chunk(reply, &rpc->writes[i], &piece, 1, done);
		before -= done;
		rpc->written_bytes += here - done;
		rpc->rs->conn->counters->write_chunk_bytes_pushed += here - done;
	}
}

/*
 * Chooses where the bytes outside write chunks go, before anything is written: inline, into the
 * reply chunk, or exposed for the client to read (A5.2-3, A-Δ3). Returns 0, -EMSGSIZE if nothing
 * fits, or the error of responder_read_reply_expose().
 */
static int place_reply(struct reply *reply)
{
	struct responder_rpc *rpc = reply->rpc;
	struct send_msg *m = &reply->m;

	if (m->pieces_bytes <= responder_rpc_inline_max(rpc))
		return 0;
	m->hdr.proc = RPCRDMA_NOMSG;
	if (m->pieces_bytes > responder_rpc_chunk_max(rpc))
		return responder_read_reply_expose(rpc, m);
	m->hdr.has_reply_chunk = true;
	reply->uses_reply_chunk = true;
	return 0;
}

static enum message_form form_of(const struct reply *reply)
{
	if (reply->rpc->exposed)
		return MESSAGE_FORM_READ_CHUNK;
	if (reply->uses_reply_chunk)
		return MESSAGE_FORM_LONG;
	return reply->rpc->written_bytes ? MESSAGE_FORM_CHUNKED : MESSAGE_FORM_SHORT;
}

static void wait_for_key(struct responder_rpc *rpc)
{
	rpc->rs->conn->counters->key_waits++;
	rpc->rs->waiting_for_key += !rpc->waits_for_key;
	rpc->waits_for_key = true;
}

static void answer_reply(struct responder_rpc *rpc)
{
	struct reply reply;
	int rc = -EMSGSIZE;

	reply_init(&reply, rpc);
	find_payloads(&reply);
	if (split_payloads(&reply)) {
		if (size_wait_is_open(rpc->rs) && size_wait_helps(rpc, reply.m.pieces_bytes) &&
		    size_wait_begin(rpc))
			return;
		rc = place_reply(&reply);
	}
	if (rc == -EAGAIN) {
		wait_for_key(rpc);
		return;
	}
	if (rc) {
		answer_unplaced(rpc, rc);
		return;
	}
	write_payloads(&reply);
	if (reply.uses_reply_chunk) {
		write_chunk(&reply, &rpc->reply_chunk, reply.m.pieces, reply.m.npieces, 0);
		rpc->rs->conn->counters->reply_chunk_bytes_pushed += reply.m.pieces_bytes;
	}
	if (rpc->limits.dialect->padding)
		msgp_encode(&reply.m, rpc->rs->conn, &rpc->x->reply, &rpc->x->call_info,
			    responder_rpc_inline_max(rpc));
	rpc->x->reply_forms[EXCHANGE_ORIGIN] = form_of(&reply);
	send_reply(rpc, &reply.m, true);
}

/*
 * Writes payloads as they arrive, if all other bytes are certain to fit inline. The longest Send
 * can change until the Reply is sent, but not below RPCRDMA_INLINE_MIN.
 */
static void write_early(struct responder_rpc *rpc)
{
	const struct rpc_msg *msg = &rpc->x->reply;
	struct reply reply;

	if (!rpc->nwrites || msg->have_bytes - rpc->seen_bytes < WORK_REQUEST_MIN_WRITE_BYTES)
		return;
	rpc->seen_bytes = msg->have_bytes;
	reply_init(&reply, rpc);
	if (find_payloads_early(&reply) && split_payloads(&reply) &&
	    rpcrdma_header_bytes(&reply.m.hdr) + reply.m.pieces_bytes <= RPCRDMA_INLINE_MIN)
		write_payloads(&reply);
}

static void continue_reply(struct responder_rpc *rpc)
{
	if (rpc_msg_is_whole(&rpc->x->reply))
		answer_reply(rpc);
	else
		write_early(rpc);
}

void responder_reply(struct responder_rpc *rpc)
{
	/* The server can answer before the Call is complete here. */
	rpc->is_answered = true;
	if (!responder_rpc_is_read(rpc))
		return;
	responder_rpc_set_state(rpc, RESPONDER_ANSWERING);
	if (rpc->x->fault != EXCHANGE_OK)
		answer_fault(rpc, rpc->x->fault);
	else
		continue_reply(rpc);
}

void responder_more(struct responder_rpc *rpc)
{
	if (rpc->state == RESPONDER_ANSWERING)
		continue_reply(rpc);
}

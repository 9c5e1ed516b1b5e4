// SPDX-License-Identifier: BSD-3-Clause
/* The body is copied without its pads, if it has some. */
#include "rpcrdma/draft03/msgp_decode.h"

#include "base/least.h"
#include "rpc/msg.h"
#include "rpcrdma/draft03/msgp.h"

/* Nothing that is aligned to more can come (A3.5-6). */
static uint32_t alignment_max(const struct rdma_conn *conn)
{
	return most(conn->terms.recv_bytes, inline_limit_offer(&conn->recv_limit));
}

/* Takes the pads out of a body of which all is known; returns false without memory for it. */
static bool take_out(struct rdma_conn *conn, const struct padded *padded, uint32_t plain_bytes,
		     struct msgp_body *body)
{
	if (plain_bytes == body->len_bytes)
		return true;
	body->buf = buf_get(conn->leg->config->pool, plain_bytes);
	if (!body->buf || msgp_remove(padded, body->buf->mem) != plain_bytes) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a message with pads");
		return false;
	}
	body->data = body->buf->mem;
	body->len_bytes = plain_bytes;
	return true;
}

bool msgp_decode(struct rdma_conn *conn, struct rpcrdma_header *hdr, const struct fabric_recv *recv,
		 const struct call_facts *facts, struct msgp_body *body)
{
	struct padded padded = {.hdr = hdr, .facts = facts};
	enum rpc_msg_type type;
	int64_t plain_bytes;
	uint32_t xid;

	*body = (struct msgp_body){.data = recv->data + hdr->body_offset,
				   .len_bytes = recv->len_bytes - hdr->body_offset};
	padded.body = body->data;
	padded.len_bytes = body->len_bytes;
	conn->counters->msgp_received++;
	if (rpc_msg_peek(body->data, body->len_bytes, &xid, &type) != RPC_OK)
		return true;
	body->is_call = padded.is_call = type == RPC_CALL;
	plain_bytes = msgp_remove(&padded, NULL);
	if (hdr->align > alignment_max(conn))
		body->wrong = "an RDMA_MSGP aligned to more than a receive";
	else if (plain_bytes < 0)
		body->wrong = "an RDMA_MSGP whose pads cannot be found";
	if (body->wrong)
		return false;
	hdr->proc = RPCRDMA_MSG;
	return take_out(conn, &padded, (uint32_t)plain_bytes, body);
}

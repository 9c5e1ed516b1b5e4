// SPDX-License-Identifier: BSD-3-Clause
/* The requester's own Calls: sent, waited for, and told from those of the client. */
#include "rpcrdma/requester_null.h"

#include "rpc/msg.h"
#include "rpcrdma/message.h"

void requester_null_reserve(struct requester *rq)
{
	rq->conn->window.reserved = 1;
}

const struct call_facts *requester_null_like(const struct requester *rq)
{
	const struct exchange *x;

	TAILQ_FOREACH(x, &rq->rpcs.begun, target_entry) {
		const struct requester_rpc *rpc = x->target_priv;

		if (rpc->state == REQUESTER_SENT || rpc->state == REQUESTER_RESENT)
			return &x->facts;
	}
	return NULL;
}

bool requester_null_send(struct requester *rq, uint32_t xid, const struct call_facts *like)
{
	struct null_calls *nulls = &rq->nulls;
	struct rdma_conn *conn = rq->conn;
	uint8_t call[RPC_NULL_CALL_BYTES];
	struct message m;

	if (nulls->count == NULL_CALLS_MAX || !credit_window_left(&conn->window))
		return false;
	nulls->xids[nulls->count++] = xid;
	credit_window_take(&conn->window);
	/* What was kept back is in use. */
	conn->window.reserved = 0;
	message_init(&m, conn->terms.dialect, xid);
	message_add_bytes(
		&m, call,
		(uint32_t)rpc_encode_null_call(call, xid, like->hdr.prog, like->hdr.vers));
	conn->counters->null_calls_sent++;
	rdma_conn_replenish(conn);
	message_send(&m, conn, conn->window.asked, NULL, NULL);
	return true;
}

bool requester_null_answered(struct requester *rq, uint32_t xid)
{
	struct null_calls *nulls = &rq->nulls;
	unsigned at = 0;

	while (at < nulls->count && nulls->xids[at] != xid)
		at++;
	if (at == nulls->count)
		return false;
	nulls->xids[at] = nulls->xids[--nulls->count];
	credit_window_give(&rq->conn->window);
	if (!nulls->count)
		rq->conn->window.reserved = 1;
	rq->conn->counters->null_calls_answered++;
	return true;
}

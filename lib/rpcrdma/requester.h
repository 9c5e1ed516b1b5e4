/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requester: sends Calls to the peer and delivers its Replies.
 *
 * Calls are sent in order, as credits allow. The form of a Call is chosen when its turn comes
 * (chunk_select.h). If the Reply is not certain to fit inline, the requester exposes the memory
 * where x->reply will be. It parses a Reply only if the payload was placed separately, to find the
 * position of the payload.
 *
 * A reverse requester (on the end that accepted) sends inline only, without chunks (RFC 8167,
 * D2.5-1), unless both ends advertised chunk support in version two. The memory exposed for
 * such a Reply is charged to the origin, as for any Call.
 *
 * An incomplete Call waits, and so do the Calls after it. Exception: if only exposed bytes are
 * missing, and the endpoint can answer Reads while bytes arrive (deferred_reads), the Call is sent
 * immediately.
 *
 * NULL Calls originated by the proxy check that a server is alive, where no layer below RPC can
 * check it (rdma_keepalive.h). Such a Call uses a credit. It copies program and version from a Call
 * in flight, because the server supports those. Any answer, including an error, proves that the
 * server is alive, and is not forwarded. The XID of a NULL Call differs from those of all Calls in
 * flight in either direction. A Call with that XID waits until the NULL Call is answered.
 */
#ifndef RPCRDMA_REQUESTER_H
#define RPCRDMA_REQUESTER_H

#include <stdbool.h>

#include "leg/exchange.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/requester_rpc.h"

#define REQUESTER_QUEUE_MAX         256u /* queued Calls at which can_call() becomes false */
#define REQUESTER_QUEUE_MAX_REVERSE 64u  /* queued reverse Calls; further ones fail */

/** requester_init - Initializes a requester without Calls. */
void requester_init(struct requester *rq, struct rdma_conn *conn);
/**
 * requester_end - Releases everything, after the connection has closed and all work requests are
 * done.
 */
void requester_end(struct requester *rq);
/** requester_fini - Frees the requester, after requester_end() or if it was never used. */
void requester_fini(struct requester *rq);
/** requester_is_idle - Returns true if all remaining RPCs are abandoned ones. */
bool requester_is_idle(const struct requester *rq);

/** requester_can_call - Returns true while the requester accepts Calls. */
bool requester_can_call(const struct requester *rq);
/** requester_call - Handles leg_call(): sends the Call, queues it or fails it. */
void requester_call(struct requester *rq, struct exchange *x);
/** requester_more - Handles leg_more() of an unfinished Call. */
void requester_more(struct requester *rq, struct exchange *x);
/** requester_timeout - Fails the queued @rpc, because it waited too long. */
void requester_timeout(struct requester *rq, struct requester_rpc *rpc);
/**
 * requester_run_queue - Sends queued Calls, in order, as credits and the Calls themselves allow.
 */
void requester_run_queue(struct requester *rq);
/** requester_key_free - Handles fabric_ep_events.key_free(): sends Calls that waited for a key. */
void requester_key_free(struct requester *rq);
/**
 * requester_null_reserve_credit - Reserves a credit for NULL Calls, if the server grants more than
 * one.
 */
void requester_null_reserve_credit(struct requester *rq);
/**
 * requester_null_template - Returns a Call in flight whose program and version a NULL Call can use,
 * or NULL.
 */
const struct call_info *requester_null_template(const struct requester *rq);
/**
 * requester_null_send - Sends a NULL Call.
 * @xid:  not that of a Call in flight
 * @like: provides program and version
 *
 * Returns false if no credit is left or NULL_CALLS_MAX are unanswered.
 */
bool requester_null_send(struct requester *rq, uint32_t xid,
			 const struct call_info *like) MUST_CHECK;
/** requester_null_answered - Ends the NULL Call with @xid; returns false if no NULL Call has it. */
bool requester_null_answered(struct requester *rq, uint32_t xid) MUST_CHECK;
/** requester_null_is - Returns true if @xid is that of an unanswered NULL Call. */
static inline bool requester_null_is(const struct requester *rq, uint32_t xid)
{
	for (unsigned i = 0; i < rq->sent_null_calls.count; i++)
		if (rq->sent_null_calls.xids[i] == xid)
			return true;
	return false;
}
/** ccp_client_has - Returns true if @xid is that of a CONF_RDMA that can still be answered. */
static inline bool ccp_client_has(const struct requester *rq, uint32_t xid)
{
	return rq->ccp.xid == xid &&
	       (rq->ccp.state == CCP_CLIENT_SENT || rq->ccp.state == CCP_CLIENT_EXPIRED);
}
/**
 * requester_is_control_xid - Returns true if @xid is that of an unfinished message originated by
 * the proxy.
 */
static inline bool requester_is_control_xid(const struct requester *rq, uint32_t xid)
{
	if (rq->conn->control.count && control_msgs_has(&rq->conn->control, xid))
		return true;
	return requester_null_is(rq, xid) ||
	       (rq->ccp.state == CCP_CLIENT_EXPIRED && rq->ccp.xid == xid);
}

/**
 * requester_awaits - Returns true if the Call with @xid is in flight from this end and unanswered.
 * This includes abandoned Calls and Calls originated by the proxy.
 */
static inline bool requester_awaits(const struct requester *rq, uint32_t xid)
{
	if (requester_rpc_waiting(rq, xid))
		return true;
	return requester_null_is(rq, xid) || ccp_client_has(rq, xid);
}

/**
 * requester_kick - Runs requester_run_queue() if Calls are queued. Call it whenever a credit can be
 * free.
 */
static inline void requester_kick(struct requester *rq)
{
	if (rq->nqueued)
		requester_run_queue(rq);
}

/* ---- answers to its Calls: Replies, errors and undecodable messages (requester_reply.c) ---- */

/**
 * requester_exposes_key - Returns true if the Call in flight with @xid has exposed @rkey to the
 * peer.
 */
bool requester_exposes_key(const struct requester *rq, uint32_t xid, uint32_t rkey);
/**
 * requester_reply - Handles a Reply: an RDMA_MSG or RDMA_NOMSG, decoded, and the bytes after its
 * header.
 */
void requester_reply(struct requester *rq, const struct rpcrdma_header *hdr, const uint8_t *body,
		     uint32_t len_bytes);
/** requester_error - Handles a decoded RDMA_ERROR. */
void requester_error(struct requester *rq, const struct rpcrdma_header *hdr);
/**
 * requester_error_of_control - Counts an RDMA_ERROR for a control message of this end, and releases
 * the credit of that message.
 */
void requester_error_of_control(struct requester *rq, const struct rpcrdma_header *hdr);
/** requester_bad_reply - Handles a Reply that does not decode; only its XID is known. */
void requester_bad_reply(struct requester *rq, uint32_t xid, const char *what);

#endif

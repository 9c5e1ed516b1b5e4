/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requester: sends Calls to the peer.
 *
 * Calls leave in the order in which they were given, as the credits allow. The form of each is chosen when its turn
 * comes (call_form.h). When a Reply is not known to fit inline, memory is lent that lies where x->reply will be;
 * only where its payload lands by itself is it looked into, for the payload's place.
 *
 * A reverse requester (the end that accepted) sends inline only, without chunks (RFC 8167, D2.5-1), unless both ends
 * have said in version two that reverse Calls may have them. What it lends then for a Reply the Call's origin
 * has accounted for, as for any Call.
 *
 * A Call that is not all here yet waits, and those behind it; but one of which only what is lent is not here leaves
 * at once where the endpoint answers Reads as the bytes come (late_reads).
 *
 * NULL Calls of its own ask a server whether it is there where nothing below RPC can ask (rdma_watch.h). Such a Call holds a
 * credit while it is out. Its program and version are those of a Call in flight, which this server knows; any answer proves
 * that somebody is there, an error too, and ends here. Its XID is not that of a Call in flight in either direction, and a Call
 * to be sent that has it waits until ours is over.
 */
#ifndef RPCRDMA_REQUESTER_H
#define RPCRDMA_REQUESTER_H

#include <stdbool.h>

#include "leg/exchange.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/requester_rpc.h"

#define REQUESTER_HELD_MAX         256u /* Calls that are held before can_call() says no */
#define REQUESTER_HELD_MAX_REVERSE 64u  /* reverse Calls; further ones fail */

/** requester_init - no Calls yet. */
void requester_init(struct requester *rq, struct rdma_conn *conn);
/** requester_end - the connection is over and all work is done: let go of everything. */
void requester_end(struct requester *rq);
/** requester_fini - free what is left of it after requester_end(), or when it never began. */
void requester_fini(struct requester *rq);
/** requester_is_idle - whether it has no RPC but those that are abandoned. */
bool requester_is_idle(const struct requester *rq);

/** requester_can_call - whether further Calls are welcome. */
bool requester_can_call(const struct requester *rq);
/** requester_call - leg_call(): send, hold or fail it. */
void requester_call(struct requester *rq, struct exchange *x);
/** requester_more - leg_more() of a Call that is here still. */
void requester_more(struct requester *rq, struct exchange *x);
/** requester_held_late - @rpc, which is held, has waited too long: it fails. */
void requester_held_late(struct requester *rq, struct requester_rpc *rpc);
/** requester_send_held - send what is held, in order, as far as the credits and the Calls themselves go. */
void requester_send_held(struct requester *rq);
/** requester_key_free - fabric_ep_events.key_free(): Calls that wait for a key may go on. */
void requester_key_free(struct requester *rq);
/** requester_null_reserve - from now on a credit is kept back for them, where the server grants several. */
void requester_null_reserve(struct requester *rq);
/** requester_null_like - a Call in flight to take program and version from, or NULL if there is none. */
const struct call_facts *requester_null_like(const struct requester *rq);
/**
 * requester_null_send - send one
 * @xid:  of no Call in flight
 * @like: has its program and version
 *
 * Returns whether it is out: false if no credit is left, or if NULL_CALLS_MAX are out.
 */
bool requester_null_send(struct requester *rq, uint32_t xid,
			 const struct call_facts *like) MUST_CHECK;
/** requester_null_answered - the peer has answered @xid in some way. Returns whether that was one of these, now over. */
bool requester_null_answered(struct requester *rq, uint32_t xid) MUST_CHECK;
/** requester_null_is - return whether @xid is that of a NULL Call that is out. */
static inline bool requester_null_is(const struct requester *rq, uint32_t xid)
{
	for (unsigned i = 0; i < rq->nulls.count; i++)
		if (rq->nulls.xids[i] == xid)
			return true;
	return false;
}
/** ccp_client_has - whether @xid is that of a CONF_RDMA that may be answered yet. */
static inline bool ccp_client_has(const struct requester *rq, uint32_t xid)
{
	return rq->conf.xid == xid && (rq->conf.state == CONF_ASKED || rq->conf.state == CONF_LATE);
}
/** requester_is_ours - whether @xid is that of a message of our own that is not over. */
static inline bool requester_is_ours(const struct requester *rq, uint32_t xid)
{
	if (rq->conn->own.count && control_msgs_has(&rq->conn->own, xid))
		return true;
	return requester_null_is(rq, xid) || (rq->conf.state == CONF_LATE && rq->conf.xid == xid);
}

/**
 * requester_waits_for - whether a Call of this end with @xid is in flight and has no answer yet
 *
 * Either the owner's, also one that was given up without an answer, or a Call of our own.
 */
static inline bool requester_waits_for(const struct requester *rq, uint32_t xid)
{
	if (requester_rpc_waiting(rq, xid))
		return true;
	return requester_null_is(rq, xid) || ccp_client_has(rq, xid);
}

/** requester_pump - requester_send_held(), if anything is held: due whenever there may be a credit. */
static inline void requester_pump(struct requester *rq)
{
	if (rq->nheld)
		requester_send_held(rq);
}

/* ---- what answers its Calls: Replies, errors, and what should have been either (requester_reply.c) ---- */

/** requester_owns_key - whether the Call in flight with @xid has lent @rkey to the peer. */
bool requester_owns_key(const struct requester *rq, uint32_t xid, uint32_t rkey);
/** requester_reply - a decoded RDMA_MSG or RDMA_NOMSG that is a Reply, with what follows its header. */
void requester_reply(struct requester *rq, const struct rpcrdma_header *hdr, const uint8_t *body,
		     uint32_t len_bytes);
/** requester_error - a decoded RDMA_ERROR. */
void requester_error(struct requester *rq, const struct rpcrdma_header *hdr);
/** requester_error_of_own - an RDMA_ERROR for a message of our own that is no Call: it is counted, and a credit is back. */
void requester_error_of_own(struct requester *rq, const struct rpcrdma_header *hdr);
/** requester_bad_reply - a Reply that does not decode; its XID is all that is known. */
void requester_bad_reply(struct requester *rq, uint32_t xid, const char *what);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder: takes the peer's Calls and answers them.
 *
 *	Send ──plan──▶ admitting ──memory──▶ pulling ──Reads done──▶ executing ──leg_reply()──▶
 *answered
 *
 * Nothing of a Call is pulled before the budget holds the whole Call and the largest Reply that its
 *chunks can take; Calls behind it wait in order, in their receive's bytes, of which there are no
 *more than credits. All Reads of a Call are done before it is passed on, so before it is answered
 *(A3.6-3).
 *
 * A second Call with the XID of one that is not answered yet closes the connection: there is no
 * retransmission on a live RDMA connection, and two Replies with one XID cannot be told apart.
 *
 * A reverse responder (the end that connected) takes Calls without chunks only (RFC 8167, D2.5-1).
 */
#ifndef RPCRDMA_RESPONDER_H
#define RPCRDMA_RESPONDER_H

#include "leg/exchange.h"
#include "rpcrdma/credits.h"
#include "rpcrdma/header.h"

struct rdma_leg;
struct responder_rpc;

#define RESPONDER_FIRST_GRANT     16u /* grows with use up to the configured credits */
#define RESPONDER_REVERSE_CREDITS 16u /* granted to a server's reverse Calls at most */

struct responder {
	bool reverse;
	struct credit_grant grant;
	struct exchange_list calls; /* by origin_entry, in all states */
	struct xid_table table;     /* the same */
};

/** responder_init - no Calls yet; grants @credits at most. */
void responder_init(struct rdma_leg *leg, bool reverse, uint32_t credits);
/** responder_end - the connection is over and all work is done: let go of everything. */
void responder_end(struct rdma_leg *leg);
/** responder_fini - free what is left of it after responder_end(), or when it never began. */
void responder_fini(struct rdma_leg *leg);

/** responder_call - a decoded RDMA_MSG or RDMA_NOMSG that is a Call, with what follows its header.
 */
void responder_call(struct rdma_leg *leg, const struct rpcrdma_header *hdr, const uint8_t *body,
		    uint32_t len_bytes);
/** responder_refuse - answer a Call that does not decode with @err; @hdr has its fixed words. */
void responder_refuse(struct rdma_leg *leg, const struct rpcrdma_header *hdr, enum rpcrdma_err err);
/** responder_reply - leg_reply(). */
void responder_reply(struct rdma_leg *leg, struct exchange *x);

#endif

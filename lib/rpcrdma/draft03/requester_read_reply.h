/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replies that are lent: the server gives keys to what does not come in their Send, the end that connected reads it and
 * says RDMA_DONE (draft-ietf-nfsv4-rpcrdma-03 sections 3.6, 3.8 and 5.1), in dialects with lent_replies.
 *
 * All of the Reply may be the position-zero chunk of an RDMA_NOMSG, or parts of it may be chunks at other positions; of a
 * Reply whose payload was written to where it was to land, the rest may come so. Positions count what then comes around
 * the payload, since where in it the payload belongs is known only when it is here.
 *
 * First the keys of the RPC are taken back, so that the peer reaches nothing that is read into. Then the Reply is read to
 * where it was to land, if there is room, and else into a buffer of its own, in the place of that. So it never takes more
 * than the claim of its exchange has for a Reply: one buffer for the longest that it may be. What came inline waits for
 * that in struct read_reply, which rdma_beside_bytes() counts.
 *
 * The RPC keeps its credit until its RDMA_DONE is posted, so that there always is one for that (A3.8-4).
 */
#ifndef RPCRDMA_DRAFT03_REQUESTER_READ_REPLY_H
#define RPCRDMA_DRAFT03_REQUESTER_READ_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "rpcrdma/header.h"
#include "rpcrdma/msg_plan.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/requester_rpc.h"

/** read_reply_requester_may - whether the Reply to @rpc may be lent. */
bool read_reply_requester_may(const struct requester_rpc *rpc);
/**
 * read_reply_requester_plan - how a Reply with a read list comes to be one message
 * @len_bytes: behind its header
 * @plan:      set on MSG_PLAN_OK
 *
 * Its other lists are right. MSG_PLAN_TOO_BIG: it is longer than its Call allows, or than what there is room for around
 * a payload.
 */
enum msg_plan_verdict read_reply_requester_plan(const struct requester_rpc *rpc,
						const struct rpcrdma_header *hdr,
						uint32_t len_bytes,
						struct msg_plan *plan) MUST_CHECK;
/**
 * read_reply_requester_begin - fetch a Reply that is planned; the RPC ends with it, which may be at once
 *
 * requester_rpc_end() and requester_pump() follow; so nothing of the RPC may be used after this.
 */
void read_reply_requester_begin(struct requester_rpc *rpc, const struct rpcrdma_header *hdr,
				const struct msg_plan *plan, const uint8_t *body,
				uint32_t len_bytes);
/** read_reply_requester_cost_bytes - return what is kept of one at most, whose message came in a Send of @recv_bytes. */
size_t read_reply_requester_cost_bytes(uint32_t recv_bytes);
/** read_reply_requester_done - tell the server that what it lent with its Reply to @rpc is its own again. */
void read_reply_requester_done(const struct requester_rpc *rpc);
/**
 * read_reply_requester_own_done - the same of a Reply to @xid, if that is a Call of our own, which is not over yet
 *
 * What such a Reply lends is never read.
 */
void read_reply_requester_own_done(struct requester *rq, uint32_t xid);

#endif

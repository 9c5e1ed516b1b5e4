/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read-chunk Replies: the server exposes the parts of a Reply that are not in its Send. The end
 * that connected reads them and sends RDMA_DONE (draft-ietf-nfsv4-rpcrdma-03 sections 3.6, 3.8 and
 * 5.1). Only in dialects with read_chunk_replies.
 *
 * The whole Reply can be the position-zero chunk of an RDMA_NOMSG, or parts of it can be chunks at
 * other positions. If the payload was written to its write chunk, the rest can still come this way.
 * Positions then count only the rest, because the place of the payload is known only when the rest
 * has arrived.
 *
 * First the requester invalidates the keys of the RPC, so that the peer cannot write into memory
 * that receives the Reads. Then it reads the Reply into the memory that was exposed for it, or, if
 * that is too small, into a new buffer that replaces it. So a Reply never needs more than its
 * claim: one buffer of the longest possible length. The inline part waits in struct read_reply,
 * which memory_bound_uncharged_bytes() counts.
 *
 * The RPC keeps its credit until its RDMA_DONE is posted, so that RDMA_DONE always has one
 * (A3.8-4).
 */
#ifndef RPCRDMA_DRAFT03_REQUESTER_READ_REPLY_H
#define RPCRDMA_DRAFT03_REQUESTER_READ_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "rpcrdma/header.h"
#include "rpcrdma/read_plan.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/requester_rpc.h"

/** requester_read_reply_may - Returns true if the Reply to @rpc can have read chunks. */
bool requester_read_reply_may(const struct requester_rpc *rpc);
/**
 * requester_read_reply_plan - Plans the assembly of a Reply with a read list.
 * @len_bytes: bytes after its header
 * @plan:      set on READ_PLAN_OK
 *
 * Its other lists are valid. READ_PLAN_TOO_BIG: it is longer than its Call allows, or than the
 * space around a payload.
 */
enum read_plan_verdict requester_read_reply_plan(const struct requester_rpc *rpc,
						 const struct rpcrdma_header *hdr,
						 uint32_t len_bytes,
						 struct read_plan *plan) MUST_CHECK;
/**
 * requester_read_reply_begin - Reads a planned Reply and then ends the RPC, possibly immediately.
 * requester_rpc_end() and requester_kick() follow, so do not use the RPC after this call.
 */
void requester_read_reply_begin(struct requester_rpc *rpc, const struct rpcrdma_header *hdr,
				const struct read_plan *plan, const uint8_t *body,
				uint32_t len_bytes);
/**
 * requester_read_reply_cost_bytes - Returns the most memory kept for one Reply with a Send of
 * @recv_bytes.
 */
size_t requester_read_reply_cost_bytes(uint32_t recv_bytes);
/**
 * requester_read_reply_done - Sends RDMA_DONE: the server can reuse the memory exposed for the
 * Reply to @rpc.
 */
void requester_read_reply_done(const struct requester_rpc *rpc);
/**
 * requester_read_reply_control_done - Sends RDMA_DONE for a Reply to @xid, if that is an unfinished
 * Call originated by the proxy. The exposed part of such a Reply is never read.
 */
void requester_read_reply_control_done(struct requester *rq, uint32_t xid);

#endif

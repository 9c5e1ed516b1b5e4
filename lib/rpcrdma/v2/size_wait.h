/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds Replies until a pending request for the peer's receive size is settled.
 *
 * A Call can cross our REQ for smaller Receives, and count on larger ones. If its Reply has no
 * chunk, the Reply waits until the REQ is settled, because Sends must not be longer than the
 * requested size (B3.1-4, characteristics_revert_request()).
 */
#ifndef RPCRDMA_V2_SIZE_WAIT_H
#define RPCRDMA_V2_SIZE_WAIT_H

#include "rpcrdma/responder_rpc.h"

/*
 * Longest wait. A conforming peer answers a REQ immediately; a slow peer or a lossy network can
 * take seconds. After that the client gets an error and the Reply is lost.
 */
#define SIZE_WAIT_US 5000000u

/**
 * size_wait_helps - Returns true if a Reply can be sent only after the pending request is settled.
 * @inline_bytes: its inline part
 *
 * Call it only if size_wait_is_open().
 */
bool size_wait_helps(const struct responder_rpc *rpc, uint32_t inline_bytes);
/** size_wait_is_open - Returns true while a request for the peer's receive size is not settled. */
static inline bool size_wait_is_open(const struct responder *rs)
{
	return rs->conn->limits.pending_req_bytes != UINT32_MAX;
}
/**
 * size_wait_begin - Makes the Reply wait; rs->answer() follows. Returns false without memory for a
 * timer.
 */
bool size_wait_begin(struct responder_rpc *rpc) MUST_CHECK;
/**
 * size_wait_settled - Answers the Calls whose Replies waited, if the request is settled. Call it
 * when the peer has advertised a receive size or answered a REQ. Until the REQ is settled Replies
 * keep waiting, at most SIZE_WAIT_US. Then a Call gets ERR_CHUNK if its Reply does not fit.
 */
void size_wait_settled(struct responder *rs);

#endif

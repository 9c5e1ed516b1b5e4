/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replies that wait until a receive size of the peer is settled.
 *
 * A Call may cross a REQ of ours for smaller receives, and count on larger ones. Its Reply, if it has no other way, waits
 * until that is settled, since no Send may be longer than what we asked for (B3.1-4, characteristics_take_back()).
 */
#ifndef RPCRDMA_V2_SIZE_WAIT_H
#define RPCRDMA_V2_SIZE_WAIT_H

#include "rpcrdma/responder_rpc.h"

/* A conforming peer answers a REQ at once; a slow one, or a lossy network, may take seconds, and an error loses the Reply. */
#define SIZE_WAIT_US 5000000u

/**
 * size_wait_helps - return whether a Reply can go once what the peer was asked for is settled, and in no other way
 * @inline_bytes: what of it would go inline
 *
 * Only if size_wait_is_open().
 */
bool size_wait_helps(const struct responder_rpc *rpc, uint32_t inline_bytes);
/** size_wait_is_open - return whether the peer was asked for a size that is not settled. */
static inline bool size_wait_is_open(const struct responder *rs)
{
	return rs->conn->terms.asked_bytes != UINT32_MAX;
}
/** size_wait_begin - let the Reply wait; rs->answer() follows. Returns false without memory for a timer. */
bool size_wait_begin(struct responder_rpc *rpc) MUST_CHECK;
/**
 * size_wait_settled - answer the Calls whose Replies waited for a size of the peer's to be settled
 *
 * Due when the peer has said something of its receive size, or of a REQ for another one. While that REQ is not settled they
 * go on waiting, for SIZE_WAIT_US at most, and are not looked at; then Calls get ERR_CHUNK whose Replies do not fit.
 */
void size_wait_settled(struct responder *rs);

#endif

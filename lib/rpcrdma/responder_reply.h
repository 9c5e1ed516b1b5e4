/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends the Replies to the peer's Calls. Payloads go into the write chunks, the rest goes inline or
 * into the reply chunk. All Writes are posted before the Send that reports them (A2-3).
 *
 * The responder checks the size before it writes anything. A Reply that does not fit is answered
 * ERR_CHUNK (A5.2-3, A-Δ3). Payloads of a Reply that is still arriving are written as they arrive,
 * if their positions are known and the rest is certain to fit inline. Every other Reply, and every
 * Send, waits for the complete Reply.
 */
#ifndef RPCRDMA_RESPONDER_REPLY_H
#define RPCRDMA_RESPONDER_REPLY_H

#include <stdint.h>

#include "leg/exchange.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/responder_rpc.h"

/**
 * responder_reply - Handles leg_reply() for an unanswered Call of this connection. The caller keeps
 * its reference.
 */
void responder_reply(struct responder_rpc *rpc);
/**
 * responder_more - Handles leg_more() of the Reply, or retries a Reply that waited for a size or a
 * key.
 */
void responder_more(struct responder_rpc *rpc);
/** responder_answer - Answers with a short RPC message made by the proxy, and ends the RPC. */
void responder_answer(struct responder_rpc *rpc, const uint8_t *msg, uint32_t len_bytes);
/**
 * responder_answer_failure - Answers SYSTEM_ERR (rpc_encode_failure()) and ends the RPC. If the RPC
 * header has not been read, the answer is MSG_DENIED: AUTH_ERROR, AUTH_FAILED.
 */
void responder_answer_failure(struct responder_rpc *rpc);
/** responder_answer_error - Answers with an RDMA_ERROR and ends the RPC. */
void responder_answer_error(struct responder_rpc *rpc, enum rpcrdma_err err);
/** responder_send_error - Sends an RDMA_ERROR in the version of the Call (RFC 8166 section 4.5). */
void responder_send_error(struct rdma_conn *conn, uint32_t xid, uint32_t vers,
			  enum rpcrdma_err err);

#endif

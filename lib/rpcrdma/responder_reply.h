/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answering the peer's Calls: payloads go into the write chunks, the rest inline or into the reply chunk, and all
 * Writes before the Send that tells of them (A2-3).
 *
 * What does not fit is found before anything is written; then the answer is ERR_CHUNK (A5.2-3, A-Δ3). Of a Reply that
 * still comes the payloads are written as they do, if their places show and all else is certain to fit inline; any
 * other waits until all of it is here, as the Send does of each.
 */
#ifndef RPCRDMA_RESPONDER_REPLY_H
#define RPCRDMA_RESPONDER_REPLY_H

#include <stdint.h>

#include "leg/exchange.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/responder_rpc.h"

/** responder_reply - leg_reply() for a Call of this connection that is not answered; the reference stays. */
void responder_reply(struct responder_rpc *rpc);
/** responder_more - leg_more() of its Reply; or what it waits for may be there. */
void responder_more(struct responder_rpc *rpc);
/** responder_answer - answer with a short RPC message made here, and finish. */
void responder_answer(struct responder_rpc *rpc, const uint8_t *msg, uint32_t len_bytes);
/**
 * responder_answer_failure - answer with rpc_encode_failure(), SYSTEM_ERR, and finish
 *
 * A Call of which the header is not here is denied: AUTH_ERROR, AUTH_FAILED.
 */
void responder_answer_failure(struct responder_rpc *rpc);
/** responder_answer_error - answer with an RDMA_ERROR, and finish. */
void responder_answer_error(struct responder_rpc *rpc, enum rpcrdma_err err);
/** responder_send_error - send an RDMA_ERROR in the version of its Call (RFC 8166 section 4.5). */
void responder_send_error(struct rdma_conn *conn, uint32_t xid, uint32_t vers,
			  enum rpcrdma_err err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder: receives the peer's Calls, delivers them to the owner, and sends their Replies.
 *
 * A Call is read only after the budget has granted memory for the whole Call and for the largest
 * Reply that its chunks can hold. Until then the Call waits, in order, in a buffer no larger than
 * its Receive; no more Calls wait than credits were granted. A Call is delivered after its last
 * Read, or in parts if its arguments are already parsed. Its Reply always waits for the last Read
 * (A3.6-3).
 *
 * The responder closes the connection when a Call reuses the XID of an unanswered Call. A live RDMA
 * connection has no retransmissions, and two Replies with one XID could not be distinguished. While
 * the leg drains, the responder ignores Calls.
 *
 * A reverse responder (on the end that connected) accepts only Calls without chunks (RFC 8167,
 * D2.5-1), unless it advertised chunk support in version two. A reverse Call never waits for
 * memory, because client Calls that wait for memory can hold up its Reply. A short reverse Call
 * with a short Reply needs no memory from the budget; its Reply can be long if memory is free. A
 * longer Call gets memory immediately, and only if enough stays for the largest client Call;
 * otherwise it gets an error Reply (responder_answer_failure()).
 */
#ifndef RPCRDMA_RESPONDER_H
#define RPCRDMA_RESPONDER_H

#include <stdbool.h>
#include <stdint.h>

#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/responder_rpc.h"

/* Sends that can be outstanding in addition to those that the credits of both directions allow. */
#define RESPONDER_SENDS_EXTRA 64u

/** responder_init - Initializes a responder without Calls. */
void responder_init(struct responder *rs, struct rdma_conn *conn);
/**
 * responder_cancel_waiting - Cancels the memory requests of waiting Calls, because the connection
 * is closing.
 */
void responder_cancel_waiting(struct responder *rs);
/**
 * responder_end - Releases everything, after the connection has closed and all work requests are
 * done.
 */
void responder_end(struct responder *rs);
/** responder_fini - Frees the responder, after responder_end() or if it was never used. */
void responder_fini(struct responder *rs);
/** responder_is_idle - Returns true if the responder has no RPC. */
bool responder_is_idle(const struct responder *rs);

/**
 * responder_call - Handles a Call: an RDMA_MSG or RDMA_NOMSG, decoded, and the bytes after its
 * header.
 */
void responder_call(struct responder *rs, const struct rpcrdma_header *hdr, const uint8_t *body,
		    uint32_t len_bytes);
/**
 * responder_key_free - Handles fabric_ep_events.key_free(): exposes Replies that waited for a key.
 */
void responder_key_free(struct responder *rs);
/**
 * responder_is_flooded - Closes the connection, and returns true, if the peer keeps sending without
 * receiving answers.
 */
bool responder_is_flooded(struct responder *rs);
/**
 * responder_reject - Answers a Call that does not decode with @err; @hdr has its four fixed words.
 */
void responder_reject(struct responder *rs, const struct rpcrdma_header *hdr, enum rpcrdma_err err);

#endif

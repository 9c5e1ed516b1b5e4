/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder: takes the peer's Calls.
 *
 * Nothing of a Call is pulled before the budget holds the whole Call and the largest Reply that its chunks can take.
 * Calls behind it wait in order, in the bytes of their receives, of which there are no more than credits. All Reads
 * of a Call are done before it is passed on, so before it is answered (A3.6-3).
 *
 * A second Call with the XID of one that is not answered yet closes the connection: there is no retransmission on a
 * live RDMA connection, and two Replies with one XID cannot be told apart. While the leg drains no Call is taken.
 *
 * A reverse responder (the end that connected) takes Calls without chunks only (RFC 8167, D2.5-1), unless it has said
 * in version two that it takes others. Short ones take nothing from the budget, and may have a longer Reply where
 * there is memory for it; longer ones have memory at once or are denied (responder_answer_failure()): the Replies may stand behind clients'
 * Calls that wait for memory, so they never wait for it themselves, and leave enough of it for the largest of those Calls.
 */
#ifndef RPCRDMA_RESPONDER_H
#define RPCRDMA_RESPONDER_H

#include <stdbool.h>
#include <stdint.h>

#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/responder_rpc.h"

/* Sends that may wait for the peer beside one for each credit of either direction. */
#define RESPONDER_SENDS_SPARE 64u

/** responder_init - no Calls yet. */
void responder_init(struct responder *rs, struct rdma_conn *conn);
/** responder_withdraw - the connection is going to end: Calls that wait for memory wait no longer. */
void responder_withdraw(struct responder *rs);
/** responder_end - the connection is over and all work is done: let go of everything. */
void responder_end(struct responder *rs);
/** responder_fini - free what is left of it after responder_end(), or when it never began. */
void responder_fini(struct responder *rs);
/** responder_is_idle - whether it has no RPC. */
bool responder_is_idle(const struct responder *rs);

/** responder_call - a decoded RDMA_MSG or RDMA_NOMSG that is a Call, with what follows its header. */
void responder_call(struct responder *rs, const struct rpcrdma_header *hdr, const uint8_t *body,
		    uint32_t len_bytes);
/** responder_key_free - fabric_ep_events.key_free(): Replies that could not be lent may be. */
void responder_key_free(struct responder *rs);
/** responder_is_flooded - whether a peer that takes no answers has sent so much that the connection ends for it. */
bool responder_is_flooded(struct responder *rs);
/** responder_refuse - answer a Call that does not decode with @err; @hdr has its fixed words. */
void responder_refuse(struct responder *rs, const struct rpcrdma_header *hdr, enum rpcrdma_err err);

#endif

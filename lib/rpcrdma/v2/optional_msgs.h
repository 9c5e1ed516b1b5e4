/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RDMA_OPTIONAL messages of a version two connection. Passes received operations to the state
 * machine of the characteristics (characteristics.h) and does its steps: sends messages as credits
 * allow (control_msgs.h), resizes Receives and updates the limits.
 *
 * Memory for larger Receives is claimed from the budget without waiting. The end that connected
 * chooses sizes from the lengths of its messages (rdma_conn.sizes). After an idle minute each end
 * asks the other to return to its initial size.
 */
#ifndef RPCRDMA_V2_OPTIONAL_MSGS_H
#define RPCRDMA_V2_OPTIONAL_MSGS_H

#include "base/budget_account.h"
#include "base/compiler.h"
#include "rpcrdma/header.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/responder.h"
#include "rpcrdma/v2/characteristics.h"
#include "rpcrdma/v2/recv_sizing.h"

struct optional_msgs {
	struct requester *rq;
	struct responder *rs;
	struct characteristics ch;
	struct conn_sizes sizes;
	struct budget_claim claim; /* for Receives larger than the initial size */
	struct {
		uint64_t number; /* Calls up to this number were examined … */
		uint32_t over, send_bytes, reply_bytes; /* … for this size, under these limits */
	} last_examined;
	bool old_req;             /* a REQ was unanswered when the timer last expired, … */
	uint32_t old_req_xid;     /* … with this XID */
	struct loop_timer *timer; /* detects idle minutes */
	/* No new request until then: no memory here, or rejected by the peer. */
	uint64_t no_memory_until_us, rejected_until_us;
};

/**
 * optional_msgs_new - Creates the object, for a sent or received RDMA_OPTIONAL. Returns NULL
 * without memory.
 */
struct optional_msgs *optional_msgs_new(struct requester *rq, struct responder *rs);
/**
 * optional_msgs_end - Releases the claim, after the endpoint has closed and its Receives are gone.
 * Accepts NULL.
 */
void optional_msgs_end(struct optional_msgs *options);
/** optional_msgs_free - Frees the object; accepts NULL. */
void optional_msgs_free(struct optional_msgs *options);

/**
 * optional_msgs_send_first_init - Sends the INIT with which a connector begins; returns its XID.
 */
uint32_t optional_msgs_send_first_init(struct optional_msgs *options);
/** optional_msgs_receive - Handles a received, decoded RDMA_OPTIONAL. */
void optional_msgs_receive(struct optional_msgs *options, const struct rpcrdma_header *hdr);
/**
 * optional_msgs_rejected - Handles an RDMA_ERROR for @xid. Returns true if that was a message of
 * this end.
 */
bool optional_msgs_rejected(struct optional_msgs *options, uint32_t xid) MUST_CHECK;
/** optional_msgs_run - Does all steps that are due; call it after each received Send. */
void optional_msgs_run(struct optional_msgs *options);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RDMA_OPTIONAL messages of a connection of version two: what came is told to the machine of the characteristics
 * (characteristics.h), and what that wants is done: messages are sent as credits allow (control_msgs.h), receives
 * become larger or smaller, and the limits with them.
 *
 * Larger receives are claimed from the budget, now or not at all. What the traffic of the end that connected wants is
 * in rdma_conn.sizes; in an idle minute each end asks the other for the size that it began with.
 */
#ifndef RPCRDMA_V2_OPTIONAL_MSGS_H
#define RPCRDMA_V2_OPTIONAL_MSGS_H

#include "base/account.h"
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
	struct budget_claim claim; /* for receives that are larger than at first */
	struct {
		uint64_t number;                        /* Calls up to this one were judged … */
		uint32_t over, send_bytes, reply_bytes; /* … for this wish, under these terms */
	} judged;
	bool old_req;             /* a REQ was open when the timer last looked, … */
	uint32_t old_req_xid;     /* … this one */
	struct loop_timer *timer; /* looks for idle minutes */
	/* So long nothing is wanted again: there was no memory here; the peer has rejected it. */
	uint64_t refused_until_us, rejected_until_us;
};

/** optional_msgs_new - of a connection that sends or has been sent an RDMA_OPTIONAL. NULL without memory. */
struct optional_msgs *optional_msgs_new(struct requester *rq, struct responder *rs);
/** optional_msgs_end - the endpoint is closed, and its receives gone: let go of the memory. Accepts NULL. */
void optional_msgs_end(struct optional_msgs *options);
/** optional_msgs_free - free it; accepts NULL. */
void optional_msgs_free(struct optional_msgs *options);

/** optional_msgs_hello - send the INIT with which a connector begins; returns its XID. */
uint32_t optional_msgs_hello(struct optional_msgs *options);
/** optional_msgs_take - an RDMA_OPTIONAL has come that decodes as such. */
void optional_msgs_take(struct optional_msgs *options, const struct rpcrdma_header *hdr);
/** optional_msgs_refused - an RDMA_ERROR has come for @xid. Returns whether that was a message of ours. */
bool optional_msgs_refused(struct optional_msgs *options, uint32_t xid) MUST_CHECK;
/** optional_msgs_go_on - do what is to be done: due after each Send that came. */
void optional_msgs_go_on(struct optional_msgs *options);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RDMA_OPTIONAL messages of a connection of version two: what came is told to the machine of the characteristics
 * (characteristics.h), and what that wants is done: messages are sent as credits allow (own_messages.h), receives
 * become larger or smaller, and the limits with them.
 *
 * Larger receives are claimed from the budget, now or not at all. What the traffic of the end that connected wants is
 * in rdma_conn.sizes; in an idle minute each end asks the other for the size that it began with.
 */
#ifndef RPCRDMA_RDMA_OPTIONS_H
#define RPCRDMA_RDMA_OPTIONS_H

#include "base/account.h"
#include "base/compiler.h"
#include "rpcrdma/characteristics.h"
#include "rpcrdma/header.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/responder.h"

struct rdma_options {
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

/** rdma_options_new - of a connection that sends or has been sent an RDMA_OPTIONAL. NULL without memory. */
struct rdma_options *rdma_options_new(struct requester *rq, struct responder *rs);
/** rdma_options_end - the connection is over: let go of the memory. Accepts NULL. */
void rdma_options_end(struct rdma_options *options);
/** rdma_options_free - free it; accepts NULL. */
void rdma_options_free(struct rdma_options *options);

/** rdma_options_hello - send the INIT with which a connector begins; returns its XID. */
uint32_t rdma_options_hello(struct rdma_options *options);
/** rdma_options_take - an RDMA_OPTIONAL has come that decodes as such. */
void rdma_options_take(struct rdma_options *options, const struct rpcrdma_header *hdr);
/** rdma_options_refused - an RDMA_ERROR has come for @xid. Returns whether that was a message of ours. */
bool rdma_options_refused(struct rdma_options *options, uint32_t xid) MUST_CHECK;
/** rdma_options_go_on - do what is to be done: due after each Send that came. */
void rdma_options_go_on(struct rdma_options *options);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A Call in the responder's hands: what its two halves, taking Calls and answering them, share. */
#ifndef RPCRDMA_RESPONDER_PRIV_H
#define RPCRDMA_RESPONDER_PRIV_H

#include "rpcrdma/call_plan.h"
#include "rpcrdma/rdma_leg_priv.h"

enum responder_rpc_state {
	RPC_ADMITTING, /* waits for memory */
	RPC_PULLING,   /* waits for RDMA Reads */
	RPC_EXECUTING, /* passed on; waits for leg_reply() */
};

struct responder_rpc {
	struct rdma_leg *leg;
	struct exchange *x; /* the origin's own reference */
	enum responder_rpc_state state;
	struct budget_claim claim; /* until it moves to x */
	struct buf *stash; /* the inline bytes, while the memory for the message is not there */
	void *note;        /* of the binding */
	unsigned pulls_left;
	/* The one key of the peer that its header names, if it names exactly one (C5.1-1). */
	bool one_handle;
	uint32_t handle;
	/* From the plan. */
	uint32_t total_bytes;
	unsigned ncopies, npulls;
	const struct plan_copy *copies;
	const struct plan_pull *pulls;
	/* From the header: what the Reply may use. */
	unsigned nwrites, nsegments;
	bool has_reply_chunk;
	struct rpcrdma_chunk reply_chunk;
	const struct rpcrdma_chunk *writes;
	const struct rpcrdma_segment *segments;
};

/** responder_finish - a Call's Reply is posted, or none will be: free it and the origin's
 * reference. */
void responder_finish(struct responder_rpc *rpc);
/** responder_capacity - the largest Reply that the peer's chunks and receive can take. */
uint32_t responder_capacity(const struct responder_rpc *rpc);
/** responder_answer - answer with a short RPC message made here, and finish. */
void responder_answer(struct responder_rpc *rpc, const uint8_t *msg, uint32_t len_bytes);
/** responder_answer_error - answer with an RDMA_ERROR, and finish. */
void responder_answer_error(struct responder_rpc *rpc, enum rpcrdma_err err);
/** responder_send_error - send an RDMA_ERROR. */
void responder_send_error(struct rdma_leg *leg, uint32_t xid, enum rpcrdma_err err);

#endif

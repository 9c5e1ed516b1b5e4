/* SPDX-License-Identifier: BSD-3-Clause */
/* A Call that the requester has sent: what its two halves, sending and ending Calls, share. */
#ifndef RPCRDMA_REQUESTER_PRIV_H
#define RPCRDMA_REQUESTER_PRIV_H

#include "rpcrdma/rdma_leg_priv.h"

/* Memory lent to the peer: one segment of a chunk. */
struct requester_key {
	struct fabric_key key;
	struct requester_rpc *rpc;
};

struct requester_rpc {
	struct rdma_leg *leg;
	struct exchange *x; /* the target's reference, which goes back with the Reply */
	bool resent;        /* after ERR_VERS: once */
	bool deferred;      /* give it up from a task */
	enum exchange_fault fault;
	struct rpc_msg reply_inline; /* a Reply that did not come in the reply chunk */
	uint32_t reply_bytes;        /* of one that did */
	unsigned unbinding;          /* keys whose unbound() is due */
	/* The position-zero read chunk's segments, then the reply chunk's; both lie in their
	 * message in order. */
	unsigned ncall, nreply, nkeys; /* nkeys: how many of them are bound */
	struct requester_key keys[];
};

/** requester_send - send a Call that a credit was found for; it ends with a fault if it cannot be.
 */
void requester_send(struct rdma_leg *leg, struct exchange *x);
/** requester_transmit - send the header, and the Call if it goes inline, with the keys bound
 * already. */
void requester_transmit(struct requester_rpc *rpc);
/** requester_fail - give @x up with @fault, from a task, since a call into the leg may be on the
 * stack. */
void requester_fail(struct rdma_leg *leg, struct exchange *x, enum exchange_fault fault);
/**
 * requester_end_rpc - a Call in flight has come to its end, with a Reply or with @fault
 *
 * Takes its keys back; the exchange is given up once the peer cannot reach its memory any more,
 * which may be at once. So nothing of it may be used after this.
 */
void requester_end_rpc(struct requester_rpc *rpc, enum exchange_fault fault);
/** requester_key_unbound - the fabric's unbound(). */
void requester_key_unbound(struct fabric_key *key);

#endif

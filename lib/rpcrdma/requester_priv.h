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

/* How a Call is sent. */
struct requester_form {
	bool nomsg;   /* the whole Call is a position-zero read chunk */
	bool reduced; /* its one payload is a read chunk at its position */
	struct rdma_payload payload;
	unsigned ncall; /* segments of that chunk */
	/* Where the Reply may come by RDMA: as a whole, or its one payload. */
	enum requester_landing { LANDING_NONE, LANDING_REPLY_CHUNK, LANDING_WRITE_CHUNK } landing;
	uint32_t landing_bytes;
	unsigned nlanding;
};

struct requester_rpc {
	struct rdma_leg *leg;
	struct exchange *x; /* the target's reference, which goes back with the Reply */
	struct requester_form form;
	bool resent;   /* after ERR_VERS: once */
	bool deferred; /* give it up from a task */
	enum exchange_fault fault;
	void *note;                  /* of the binding; with LANDING_WRITE_CHUNK */
	struct rpc_msg reply_inline; /* a Reply of which nothing came by RDMA */
	uint32_t landed_bytes;       /* what came by RDMA */
	uint32_t around_bytes;       /* of a Reply whose payload came by RDMA: all the rest */
	unsigned unbinding;          /* keys whose unbound() is due */
	/* The read chunk's segments, then those of the landing; each chunk is one stretch of memory. */
	unsigned nkeys; /* how many of them are bound */
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

/*
 * With ddp (requester_ddp.c): for servers that take no position-zero chunks, or want payloads page by page.
 * Only ever one payload a Call and one a Reply: no server in the field takes more.
 */

/** requester_reply_ceiling - the largest Reply that @x's Call can get, but for @limit_bytes. */
uint32_t requester_reply_ceiling(const struct rdma_leg *leg, const struct exchange *x,
				 uint32_t limit_bytes);
/** requester_ddp_call - whether @x's Call is best sent reduced; then @payload is what to lend. */
bool requester_ddp_call(const struct rdma_leg *leg, const struct exchange *x,
			struct rdma_payload *payload);
/** requester_ddp_writes - whether what requester_ddp_call() found is written to a file. */
bool requester_ddp_writes(const struct rdma_leg *leg, const struct exchange *x);
/** requester_ddp_landing - how long a write chunk @x's Reply can use, 0: none, and its @note. */
uint32_t requester_ddp_landing(const struct rdma_leg *leg, const struct exchange *x, void **note);
/** requester_ddp_prepare - memory for a Reply whose payload lands in a write chunk; 0 or -ENOMEM. */
int requester_ddp_prepare(struct requester_rpc *rpc) MUST_CHECK;
/** requester_ddp_memory - where the payload lands. */
uint8_t *requester_ddp_memory(const struct requester_rpc *rpc);
/** requester_ddp_take - keep what came inline, around the payload; false if it has no room. */
bool requester_ddp_take(struct requester_rpc *rpc, const uint8_t *body, uint32_t len_bytes);
/** requester_ddp_join - make one message of it, after the key has died; false if it makes none. */
bool requester_ddp_join(struct requester_rpc *rpc);

#endif

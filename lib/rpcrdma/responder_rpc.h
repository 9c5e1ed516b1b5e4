/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One RPC of the responder: a Call of the peer, from its Send until its Reply is posted, or if that is lent until
 * the peer has read it (responder_read_reply.h).
 *
 *	admitting ──memory──▶ pulling ──Reads done──▶ executing ──leg_reply()──▶ answering ──▶ over
 *	    └────── nothing to pull ──────────────────────▲                          └──▶ lent ──▲
 *
 * A long Call whose head says all of it is executing when its first Reads are done. Its Reply waits for the last, since
 * they write to the Call, and end here.
 *
 * A Call that is wrong is answered and over at once, in whatever state that is found.
 */
#ifndef RPCRDMA_RESPONDER_RPC_H
#define RPCRDMA_RESPONDER_RPC_H

#include "base/account.h"
#include "base/state.h"
#include "leg/exchange.h"
#include "rpcrdma/header.h"
#include "rpcrdma/msg_plan.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/read_chunks.h"

#define RESPONDER_RPC_STATES(X)                                                                    \
	X(RESPONDER_ADMITTING, "admitting", "memory for the Call and its largest Reply",           \
	  TO(RESPONDER_PULLING) | TO(RESPONDER_EXECUTING))                                         \
	X(RESPONDER_PULLING, "pulling", "its RDMA Reads", TO(RESPONDER_EXECUTING))                 \
	X(RESPONDER_EXECUTING, "executing", "leg_reply(), and the last of its RDMA Reads",         \
	  TO(RESPONDER_ANSWERING))                                                                 \
	X(RESPONDER_ANSWERING, "answering", "the rest of its Reply, a size or a key",              \
	  TO(RESPONDER_LENT))                                                                      \
	X(RESPONDER_LENT, "lent", "RDMA_DONE, or the end of its time", 0)
STATE_ENUM(responder_rpc_state, RESPONDER_RPC_STATES);
extern const struct state_table responder_rpc_states;

struct read_reply_responder;
struct responder_rpc;
struct responder_lents;

/* A Call that comes in parts is pulled by Reads of so many bytes at most, and given up by parts of so many at least. */
#define RESPONDER_READ_BYTES (256u * 1024u)
#define RESPONDER_PART_BYTES (128u * 1024u)

/* A responder (responder.h), and its RPCs. */
struct responder {
	struct rdma_conn *conn;
	bool reverse; /* this end connected */
	struct exchange_list
		calls;     /* of origin_entry, in all states, in the order in which they came */
	uint64_t numbered; /* Calls that have come */
	uint64_t judged;   /* how often responder_need() has judged one: tests count that */
	struct xid_table table;        /* the same */
	struct responder_lents *lents; /* NULL until the first Reply is lent */
	/* Replies that wait for a size (v2/size_wait.h), and the timer for the oldest; NULL until there is one. */
	unsigned waiting_for_size;
	struct loop_timer *size_timer;
	void (*answer)(struct responder_rpc *
			       rpc); /* for a Reply that has waited long enough: responder_more() */
	unsigned waiting_for_key;    /* Replies to be lent, which the device has no key for */
};

struct responder_rpc {
	size_t size_bytes; /* with the tables behind it */
	uint64_t number;   /* of its Call, from 1 */
	struct responder *rs;
	struct exchange *x; /* the origin's own reference */
	enum responder_rpc_state state;
	struct rpc_terms terms; /* as the Call came: the only ones that its Reply goes by */
	struct buf *stash; /* the inline bytes, while the memory for the message is not there */
	struct read_reply_responder *lent; /* its Reply, if that is lent */
	struct read_chunks *reads;         /* of its Call; NULL: none */
	bool in_parts; /* the owner has its Call as the Reads are done (leg_config.partial) … */
	uint32_t told_bytes; /* … and has heard of so much of it */
	bool is_answered;    /* its Reply was here before the last Read was done */
	/* While its Reply still comes: how much of its payloads is written, and how much was here when it was looked at. */
	uint32_t written_bytes, seen_bytes;
	/* Its Reply waits until a size is settled that the peer was asked for, since then; or it has waited in vain. */
	bool waits_for_size, waited_for_size;
	uint64_t waits_since_us;
	bool waits_for_key; /* its Reply waits until the device has keys to lend it */
	/* The one key of the peer that its header names, if it names exactly one (C5.1-1). */
	bool one_handle;
	uint32_t handle;
	/* From the plan. */
	uint32_t total_bytes;
	unsigned ncopies, nchunks;
	const struct plan_copy *copies;
	const struct plan_chunk *chunks;
	/* From the header: what the Reply may use. */
	unsigned nwrites, nsegments;
	bool has_reply_chunk;
	bool has_room; /* for the shortest Reply, beside the chunks that it returns; else it is not executed */
	struct rpcrdma_chunk reply_chunk;
	const struct rpcrdma_chunk *writes;
	const struct rpcrdma_segment *segments;
};

/**
 * responder_need - find the longest Send that a Reply can take for which no chunk was offered (B3.1-7)
 * @after:  judges only Calls that came after the one with this number; 0: all that are in flight
 * @enough: the first that is longer will do; UINT32_MAX: 0 will
 *
 * Returns its length in bytes, 0 if no Reply needs one.
 */
uint32_t responder_need(struct responder *rs, uint64_t after, uint32_t enough);
/** responder_rpc_new - an RPC, admitting, for a planned Call. Returns 0, -ENOMEM, or as xid_table_add(). */
int responder_rpc_new(struct responder *rs, const struct rpcrdma_header *hdr,
		      const struct msg_plan *plan, struct responder_rpc **out) MUST_CHECK;
/** responder_rpc_set_state - the one way to another state. */
static inline void responder_rpc_set_state(struct responder_rpc *rpc, enum responder_rpc_state to)
{
	rpc->state = state_next(&responder_rpc_states, rpc->state, to);
}

/** responder_rpc_is_here - return whether all of its Call is: the last Read is done. */
static inline bool responder_rpc_is_here(const struct responder_rpc *rpc)
{
	return !rpc->reads || read_chunks_are_done(rpc->reads);
}
/** responder_rpc_finish - its Reply is posted, or none will be: free it and the origin's reference. */
void responder_rpc_finish(struct responder_rpc *rpc);

/**
 * responder_rpc_cost_bytes - what it can come to need: count this in its claim
 * @call_bytes: what the memory for its Call takes
 * @to_read:    its Reads are not done
 *
 * In addition to the two messages its Reads take work requests (read_chunks_cost_bytes()), each segment of the Reply takes
 * one, and each part of the Reply one more where it ends inside of a segment, or is longer than the endpoint takes at once,
 * or where it comes in parts. If it may be lent it takes the keys for that.
 */
size_t responder_rpc_cost_bytes(const struct responder_rpc *rpc, size_t call_bytes, bool to_read);
/**
 * responder_rpc_returns_reply_chunk - whether its RDMA_MSG returns the reply chunk of its Call with zero lengths (A5.2-4)
 *
 * By its dialect. The header of the Reply is longer for it.
 */
static inline bool responder_rpc_returns_reply_chunk(const struct responder_rpc *rpc)
{
	return rpc->has_reply_chunk && rpc->terms.dialect->returns_reply_chunk;
}
/** responder_rpc_inline_room - the longest that may follow an RDMA_MSG header; 0: nothing. */
uint64_t responder_rpc_inline_room(const struct responder_rpc *rpc);
/** responder_rpc_settled_room - returns the same, once what the peer was asked for is rejected or taken back (B3.1-4). */
uint64_t responder_rpc_settled_room(const struct responder_rpc *rpc);
/** responder_rpc_chunk_room - the longest that the reply chunk takes; 0 if it cannot be used. */
uint64_t responder_rpc_chunk_room(const struct responder_rpc *rpc);
/**
 * responder_rpc_may_lend - whether its Reply may be lent (A5.1-3, A5.2-3)
 *
 * By its dialect, and to the end that connected alone, if that ever reads. Whether there is room for one more is
 * seen when it comes to that.
 */
static inline bool responder_rpc_may_lend(const struct responder_rpc *rpc)
{
	const struct rdma_conn *conn = rpc->rs->conn;

	return rpc->terms.dialect->lent_replies && !conn->connector && conn->ird &&
	       !rpc->terms.reads_nothing;
}
/** responder_rpc_lend_room - in how many segments its Reply may be lent at most; 0: it may not. */
unsigned responder_rpc_lend_room(const struct responder_rpc *rpc);

/* ---- a look at its Call (responder_look.c) ---- */

/**
 * responder_look_early - know a Call by what is here of it, before it has memory
 * @inline_bytes: of its RDMA_MSG; NULL: it is an RDMA_NOMSG
 *
 * Returns whether it may go on; if not, it has been answered, none of its chunks pulled, and is over. It
 * leaves its facts at FACTS_NONE if it does not pass, or does not show its header here, and reply_max_bytes at no
 * more than FACTS_UNBOUNDED_BYTES; else its facts at FACTS_WHOLE, and reply_max_bytes at what the Reply can have.
 */
bool responder_look_early(struct responder_rpc *rpc, const uint8_t *inline_bytes) MUST_CHECK;

/**
 * responder_look - know a Call that is complete
 *
 * Does nothing more if its facts are known. Returns whether it may be passed on; if not, it has been answered, and
 * is over.
 */
bool responder_look(struct responder_rpc *rpc) MUST_CHECK;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One RPC of the responder, from the arrival of its Call until its Reply is posted. If the client
 * reads the Reply (responder_read_reply.h), the RPC lasts until the client has finished.
 *
 *	admitting ─memory─▶ pulling ─Reads done─▶ executing ─leg_reply()─▶ answering ──▶ done
 *	    └──── nothing to read ───────────────────▲                         └▶ exposed ─▲
 *
 * A long Call whose arguments are already parsed enters executing after its first Reads. Its Reply
 * waits for the last Read, because the Reads write to the Call's buffer and complete here.
 *
 * An invalid Call is answered and its RPC ends immediately, in any state.
 */
#ifndef RPCRDMA_RESPONDER_RPC_H
#define RPCRDMA_RESPONDER_RPC_H

#include "base/budget_account.h"
#include "base/state_machine.h"
#include "leg/exchange.h"
#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/read_chunks.h"
#include "rpcrdma/read_plan.h"

#define RESPONDER_RPC_STATES(X)                                                                    \
	X(RESPONDER_ADMITTING, "admitting", "memory for the Call and its largest Reply",           \
	  TO(RESPONDER_PULLING) | TO(RESPONDER_EXECUTING))                                         \
	X(RESPONDER_PULLING, "pulling", "the RDMA Reads of the Call", TO(RESPONDER_EXECUTING))     \
	X(RESPONDER_EXECUTING, "executing", "leg_reply(), and the last RDMA Read of the Call",     \
	  TO(RESPONDER_ANSWERING))                                                                 \
	X(RESPONDER_ANSWERING, "answering",                                                        \
	  "the rest of the Reply, a receive size, or a free key", TO(RESPONDER_EXPOSED))           \
	X(RESPONDER_EXPOSED, "exposed", "RDMA_DONE, or done_timeout_us", 0)
STATE_ENUM(responder_rpc_state, RESPONDER_RPC_STATES);
extern const struct state_table responder_rpc_states;

struct responder_read_reply;
struct responder_rpc;
struct responder_read_replies;

/* A Call that is delivered in parts: longest Read, and shortest part to deliver. */
#define RESPONDER_READ_BYTES (256u * 1024u)
#define RESPONDER_PART_BYTES (128u * 1024u)

/* A responder (responder.h) and its RPCs. */
struct responder {
	struct rdma_conn *conn;
	bool reverse;               /* this end connected */
	struct exchange_list calls; /* by origin_entry, in order of arrival */
	uint64_t numbered;          /* Calls received */
	uint64_t nexamined;     /* RPCs that responder_longest_reply_bytes() examined, for tests */
	struct xid_table table; /* the RPCs in `calls`, by XID */
	struct responder_read_replies *read_replies; /* NULL until the first Reply is exposed */
	/*
	 * Replies that wait for a receive size (v2/size_wait.h), and the timer for the oldest; NULL
	 * until needed.
	 */
	unsigned waiting_for_size;
	struct loop_timer *size_timer;
	/* responder_more(), for a Reply that no longer has to wait */
	void (*answer)(struct responder_rpc *rpc);
	unsigned waiting_for_key; /* Replies that wait for a free key of the device */
};

struct responder_rpc {
	size_t size_bytes; /* including the tables that follow the struct */
	uint64_t number;   /* sequence number of the Call, from 1 */
	struct responder *rs;
	struct exchange *x; /* the origin's reference */
	enum responder_rpc_state state;
	struct rpc_limits limits; /* limits when the Call arrived; its Reply keeps them */
	struct buf *saved_inline; /* inline bytes of a Call that waits for memory */
	struct responder_read_reply *exposed; /* its Reply, if the client reads it */
	struct read_chunks *reads;            /* RDMA Reads of its Call; NULL: none */
	bool in_parts;            /* the Call is delivered in parts (leg_config.partial) … */
	uint32_t delivered_bytes; /* … and this much of it has been delivered */
	bool is_answered; /* the owner has replied, possibly before the last Read was done */
	/*
	 * While its Reply arrives: payload bytes written, and Reply bytes present at the last
	 * check.
	 */
	uint32_t written_bytes, seen_bytes;
	/*
	 * The Reply waits for the answer to a REQ for another receive size; or that wait has timed
	 * out.
	 */
	bool waits_for_size, waited_for_size;
	uint64_t waits_since_us;
	bool waits_for_key; /* the Reply waits for free keys of the device */
	/* The peer's key, if the header of the Call has exactly one (C5.1-1). */
	bool one_handle;
	uint32_t handle;
	/* From the read plan. */
	uint32_t total_bytes;
	unsigned ncopies, nchunks;
	const struct plan_copy *copies;
	const struct plan_chunk *chunks;
	/* From the header: the chunks that the Reply can use. */
	unsigned nwrites, nsegments;
	bool has_reply_chunk;
	/* the chunk lists leave space for the shortest Reply; otherwise the Call is not executed */
	bool reply_fits;
	struct rpcrdma_chunk reply_chunk;
	const struct rpcrdma_chunk *writes;
	const struct rpcrdma_segment *segments;
};

/**
 * responder_longest_reply_bytes - Returns the longest Send that a Reply without a chunk can need
 * (B3.1-7).
 * @after:  considers only Calls after the one with this number; 0: all Calls in flight
 * @enough: stop at the first that is longer; UINT32_MAX: return 0 without a search
 *
 * Returns the length in bytes, 0 if no Reply needs one.
 */
uint32_t responder_longest_reply_bytes(struct responder *rs, uint64_t after, uint32_t enough);
/**
 * responder_rpc_new - Creates an RPC in state admitting for a Call with read plan @plan. Returns 0,
 * -ENOMEM, or an error of xid_table_add().
 */
int responder_rpc_new(struct responder *rs, const struct rpcrdma_header *hdr,
		      const struct read_plan *plan, struct responder_rpc **out) MUST_CHECK;
/** responder_rpc_set_state - Changes the state; the only function that does. */
static inline void responder_rpc_set_state(struct responder_rpc *rpc, enum responder_rpc_state to)
{
	rpc->state = state_next(&responder_rpc_states, rpc->state, to);
}

/** responder_rpc_is_read - Returns true once the last Read of the Call is done. */
static inline bool responder_rpc_is_read(const struct responder_rpc *rpc)
{
	return !rpc->reads || read_chunks_are_done(rpc->reads);
}
/**
 * responder_rpc_finish - Ends an RPC whose Reply is posted or will never be posted: frees it and
 * puts the origin's reference.
 */
void responder_rpc_finish(struct responder_rpc *rpc);

/**
 * responder_rpc_cost_bytes - Returns the most memory that the RPC can need, for its claim.
 * @call_bytes: size of the Call's buffer
 * @to_read:    its Reads are not done
 *
 * In addition to both messages this counts work requests: for the Reads (read_chunks_cost_bytes())
 * and for each segment of the Reply. A part of the Reply needs one more work request if it ends
 * inside a segment, exceeds the longest transfer, or arrives separately. The keys of a Reply that
 * can be exposed are counted too.
 */
size_t responder_rpc_cost_bytes(const struct responder_rpc *rpc, size_t call_bytes, bool to_read);
/**
 * responder_rpc_returns_reply_chunk - Returns true if the RDMA_MSG returns an unused reply chunk
 * with zero lengths (A5.2-4). The dialect decides. The chunk makes the header of the Reply longer.
 */
static inline bool responder_rpc_returns_reply_chunk(const struct responder_rpc *rpc)
{
	return rpc->has_reply_chunk && rpc->limits.dialect->returns_reply_chunk;
}
/**
 * responder_rpc_inline_max - Returns the most bytes that can follow an RDMA_MSG header; can be 0.
 */
uint64_t responder_rpc_inline_max(const struct responder_rpc *rpc);
/**
 * responder_rpc_settled_inline_max - Returns what responder_rpc_inline_max() will be if the pending
 * REQ is rejected or reverted (B3.1-4).
 */
uint64_t responder_rpc_settled_inline_max(const struct responder_rpc *rpc);
/**
 * responder_rpc_chunk_max - Returns the capacity of the reply chunk in bytes; 0 if it cannot be
 * used.
 */
uint64_t responder_rpc_chunk_max(const struct responder_rpc *rpc);
/**
 * responder_rpc_may_expose - Returns true if the Reply can be exposed for the client to read
 * (A5.1-3, A5.2-3). This depends on the dialect. Only the end that connected reads Replies, and
 * only if it reads at all. The limit of exposed Replies is checked separately
 * (credit_grant_may_expose()).
 */
static inline bool responder_rpc_may_expose(const struct responder_rpc *rpc)
{
	const struct rdma_conn *conn = rpc->rs->conn;

	return rpc->limits.dialect->read_chunk_replies && !conn->connector && conn->ird &&
	       !rpc->limits.reads_nothing;
}
/**
 * responder_rpc_expose_max_segments - Returns the most segments in which the Reply can be exposed;
 * 0: it cannot.
 */
unsigned responder_rpc_expose_max_segments(const struct responder_rpc *rpc);

/* ---- parsing of its Call (responder_parse.c) ---- */

/**
 * responder_parse_early - Parses the inline bytes of a Call, before memory is reserved.
 * @inline_bytes: of its RDMA_MSG; NULL: it is an RDMA_NOMSG
 *
 * On success the facts are CALL_INFO_COMPLETE and reply_max_bytes is the longest possible Reply. If
 * the header is not inline or not acceptable, the facts stay CALL_INFO_NONE and reply_max_bytes is
 * at most REPLY_UNBOUNDED_BYTES.
 *
 * Returns false if the chunks were wrong: the Call has been answered, no chunk was read, and the
 * RPC has ended.
 */
bool responder_parse_early(struct responder_rpc *rpc, const uint8_t *inline_bytes) MUST_CHECK;

/**
 * responder_parse - Parses a complete Call. Does nothing if the facts are already known. Returns
 * false if the Call must not be delivered: it has been answered, and the RPC has ended.
 */
bool responder_parse(struct responder_rpc *rpc) MUST_CHECK;

#endif

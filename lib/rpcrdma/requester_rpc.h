/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One RPC of the requester, from leg_call() until its exchange is delivered.
 *
 *	queued ──▶ sent ─────────────────────▶ ending ──▶ delivered with its Reply, or a fault
 *	  │         ├─▶ resent ──────────────────▲
 *	  │         ├───────┴──▶ pulling ────────┤   the Reply is being read
 *	  │         └──────────▶ abandoned ──────┘   its fault was delivered before
 *	  ├────────▶ failing ──▶ failed ──▶ delivered with a fault
 *	  ├────────────────────────▲
 *	  └──◀────▶ starved                          the device has no key left
 *
 * RPCs in the states sent, resent, pulling and abandoned are in flight: they hold a credit, and
 * their XID is in the table. All keys are invalidated before any byte of the Reply is read. If the
 * peer is reading an incomplete Call, invalidation waits for the rest of the Call
 * (mem_expose_invalidate()). An RPC that fails before it is sent is delivered from a task, because
 * a call into the leg can be on the stack.
 *
 * A Reply must be contiguous in memory, but the number of bytes before its payload is known only on
 * arrival. So a separately placed payload goes into the middle of a buffer, with space on both
 * sides for all possible inline bytes:
 *
 *	| headroom | space | payload | space |
 *
 * On arrival the inline bytes are split at the position of the payload (lib/nfs finds it) and moved
 * before and after the payload, which never moves.
 */
#ifndef RPCRDMA_REQUESTER_RPC_H
#define RPCRDMA_REQUESTER_RPC_H

#include "base/state_machine.h"
#include "leg/exchange.h"
#include "rpcrdma/chunk_select.h"
#include "rpcrdma/mem_expose.h"
#include "rpcrdma/rdma_conn.h"

#define REQUESTER_RPC_STATES(X)                                                                    \
	X(REQUESTER_QUEUED, "queued", "a credit, the Calls before it, or the rest of its Call",    \
	  TO(REQUESTER_SENT) | TO(REQUESTER_STARVED) | TO(REQUESTER_FAILING) |                     \
		  TO(REQUESTER_FAILED))                                                            \
	X(REQUESTER_SENT, "sent", "its Reply",                                                     \
	  TO(REQUESTER_RESENT) | TO(REQUESTER_PULLING) | TO(REQUESTER_ABANDONED) |                 \
		  TO(REQUESTER_ENDING))                                                            \
	X(REQUESTER_RESENT, "resent", "its Reply, in another version after ERR_VERS",              \
	  TO(REQUESTER_PULLING) | TO(REQUESTER_ABANDONED) | TO(REQUESTER_ENDING))                  \
	X(REQUESTER_ABANDONED, "abandoned", "a late Reply, which is discarded",                    \
	  TO(REQUESTER_ENDING))                                                                    \
	X(REQUESTER_PULLING, "pulling", "its keys to be invalidated, then the Reads of its Reply", \
	  TO(REQUESTER_ENDING))                                                                    \
	X(REQUESTER_ENDING, "ending", "its keys to be invalidated", 0)                             \
	X(REQUESTER_STARVED, "starved", "its keys to be invalidated: the device had too few",      \
	  TO(REQUESTER_QUEUED) | TO(REQUESTER_FAILED))                                             \
	X(REQUESTER_FAILING, "failing", "its keys to be invalidated", TO(REQUESTER_FAILED))        \
	X(REQUESTER_FAILED, "failed", "the task that delivers it", 0)
STATE_ENUM(requester_rpc_state, REQUESTER_RPC_STATES);
extern const struct state_table requester_rpc_states;

struct requester_rpc;
struct read_reply;

#define NULL_CALLS_MAX 2u

/* Unanswered NULL Calls. */
struct null_calls {
	unsigned count;
	uint32_t xids[NULL_CALLS_MAX];
};

/* The CONF_RDMA sent before the first Call: ccp.h. */
#define CCP_CLIENT_STATES(X)                                                                       \
	X(CCP_CLIENT_IDLE, "idle", "the leg to open", TO(CCP_CLIENT_SENT))                         \
	X(CCP_CLIENT_SENT, "sent", "an answer, or a timeout",                                      \
	  TO(CCP_CLIENT_EXPIRED) | TO(CCP_CLIENT_DONE))                                            \
	X(CCP_CLIENT_EXPIRED, "expired", "a late answer, which is discarded, or a timeout",        \
	  TO(CCP_CLIENT_DONE))                                                                     \
	X(CCP_CLIENT_DONE, "done", "nothing", 0)
STATE_ENUM(ccp_client_state, CCP_CLIENT_STATES);
extern const struct state_table ccp_client_states;

struct ccp_client {
	enum ccp_client_state state;
	uint32_t xid;
	struct loop_timer *timer; /* while an answer can arrive; otherwise NULL */
};

/* Timeout for a grant of zero: draft03/zero_grant_timeout.h. */
struct zero_grant_timeout {
	struct loop_timer *timer; /* NULL until needed */
	uint64_t since_us;        /* last Reply that granted zero, or first queued Call */
	bool set;
};

/* Timeout for reverse Calls: reverse_timeout.h. */
struct reverse_timeout {
	struct loop_timer *timer; /* NULL until needed */
	bool set;
	bool noted; /* one log line per connection */
};

/* A requester (requester.h) and its RPCs. */
struct requester {
	struct rdma_conn *conn;
	bool reverse;       /* this end accepted the connection */
	unsigned count;     /* all RPCs */
	unsigned abandoned; /* RPCs in state abandoned */
	/* by target_entry: sent, resent, abandoned, pulling, ending, starved, failing */
	struct exchange_list active;
	struct exchange_list failed; /* by target_entry */
	struct xid_table table;      /* RPCs in flight */
	struct loop_task failed_task;
	bool starved; /* the device has no key left: nothing is sent until key_free() */
	void (*requeue)(struct requester_rpc *rpc);
	unsigned nqueued;           /* queued Calls: waiting for a credit or for more bytes */
	struct exchange_list queue; /* by target_entry, in the order of arrival */
	struct null_calls sent_null_calls;
	struct ccp_client ccp;
	struct zero_grant_timeout zero_grant;
	struct reverse_timeout reverse_timeout;
	bool answered; /* by a Reply, which carries a grant; an RDMA_ERROR does not count (E5-1) */
	bool long_accepted; /* the server has answered an RDMA_NOMSG Call, so it supports them */
	uint64_t long_reported_us; /* when the shared cache was last written */
	bool full;                 /* call_ready() must be called once the queue is shorter */
	bool refused;              /* a Call could not be sent, and this has been logged */
	struct loop_task ready_task, run_queue_task;
};

struct requester_rpc {
	struct requester *rq;
	struct exchange *x; /* the target's reference, passed on with the Reply */
	enum requester_rpc_state state;
	enum exchange_fault fault;
	uint64_t since_us;        /* arrival time of a reverse Call */
	struct rpc_limits limits; /* limits with which it was planned; they stay */
	struct call_form form;
	struct rpc_msg reply_inline; /* a Reply that arrived inline, or that was read */
	uint32_t reply_placed_bytes; /* bytes of the Reply that the peer wrote */
	uint32_t margin_bytes;       /* bytes other than a payload that the peer wrote */
	/*
	 * In state pulling: the saved inline part of its Reply (draft03/requester_read_reply.c).
	 * Otherwise NULL.
	 */
	struct read_reply *read_reply;
	size_t read_reply_bytes;
	/*
	 * Segments of the Call's read chunk, then those for the Reply. Last member: it is not
	 * initialized completely.
	 */
	struct exposed_mem exposed_mem;
};

/**
 * requester_rpcs_init - Initializes the list of RPCs; the connection of @rq is set.
 * @requeue: called when a starved RPC has had its keys invalidated, to queue it again
 */
void requester_rpcs_init(struct requester *rq, void (*requeue)(struct requester_rpc *rpc));
/** requester_rpcs_end - Releases all RPCs, after the connection has closed. */
void requester_rpcs_end(struct requester *rq);
/**
 * requester_rpcs_fini - Frees the rest, after requester_rpcs_end() or if there never was an RPC.
 */
void requester_rpcs_fini(struct requester *rq);

/**
 * requester_rpc_new - Creates an RPC, in state queued, for @x, and takes over the reference. The
 * caller owns target_entry until the RPC is sent or failed. Returns NULL without memory.
 */
struct requester_rpc *requester_rpc_new(struct requester *rq, struct exchange *x) MUST_CHECK;
/** requester_rpc_set_state - Changes the state; the only function that does. */
static inline void requester_rpc_set_state(struct requester_rpc *rpc, enum requester_rpc_state to)
{
	rpc->state = state_next(&requester_rpc_states, rpc->state, to);
}
/**
 * requester_rpc_free_read_reply - Frees the saved inline part of its Reply, if any; no Read of the
 * Reply may be outstanding.
 */
static inline void requester_rpc_free_read_reply(struct requester_rpc *rpc)
{
	if (rpc->read_reply)
		freelists_put(rpc->rq->conn->leg->config->freelists, rpc->read_reply,
			      rpc->read_reply_bytes);
	rpc->read_reply = NULL;
}
/**
 * rdma_inline_around_max - Returns the most inline bytes around a separately placed payload.
 * @recv_bytes: the longest Send, header included
 * @nsegments:  of the write chunk, which the header of the Reply returns
 */
static inline uint32_t rdma_inline_around_max(uint32_t recv_bytes, unsigned nsegments)
{
	uint32_t hdr = RPCRDMA_MIN_HDR_BYTES + RPCRDMA_WRITE_CHUNK_BYTES(nsegments);

	return recv_bytes > hdr ? recv_bytes - hdr : 0;
}
/**
 * requester_rpc_inline_around_max - Returns rdma_inline_around_max() for the Reply of @rpc, if its
 * payload is placed separately.
 */
static inline uint32_t requester_rpc_inline_around_max(const struct requester_rpc *rpc)
{
	return rdma_inline_around_max(rpc->limits.margin_bytes, rpc->form.placement_nsegments);
}
/** requester_rpc_drop - Releases a queued or failed RPC, after the connection has closed. */
void requester_rpc_drop(struct requester_rpc *rpc);
/**
 * requester_longest_reply_bytes - Returns the longest Send that a Reply in flight needs because it
 * has no reply chunk (B3.1-7).
 * @enough: stop at the first that is longer; UINT32_MAX: return 0 without a search
 */
uint32_t requester_longest_reply_bytes(const struct requester *rq, uint32_t enough);
/** requester_rpc_find - Returns the RPC in flight with @xid, or NULL. */
struct requester_rpc *requester_rpc_find(const struct requester *rq, uint32_t xid);
/**
 * requester_rpc_waiting - Like requester_rpc_find(), but returns NULL once a Reply has arrived.
 * Abandoned RPCs count as unanswered.
 */
static inline struct requester_rpc *requester_rpc_waiting(const struct requester *rq, uint32_t xid)
{
	struct requester_rpc *rpc = requester_rpc_find(rq, xid);

	return rpc && rpc->state != REQUESTER_PULLING ? rpc : NULL;
}
/**
 * requester_rpc_send - Exposes memory as its form requires, and sends the Call, which then holds a
 * credit.
 *
 * Without memory for the keys the RPC fails. If the device has no key left, the RPC becomes
 * starved: key_free() and requeue() follow, and requeue() can be called before this function
 * returns. Returns false if the XID is already in flight or cannot be entered in the table; the RPC
 * is then still queued.
 */
bool requester_rpc_send(struct requester_rpc *rpc) MUST_CHECK;
/** requester_rpc_resend - Sends the Call again, because the peer did not execute it. */
void requester_rpc_resend(struct requester_rpc *rpc);
/** requester_rpc_more - Makes newly arrived bytes of a Call in flight available to the peer. */
void requester_rpc_more(struct requester_rpc *rpc);
/** requester_rpc_fail - Fails an RPC that cannot be sent: delivers it with @fault, from a task. */
void requester_rpc_fail(struct requester_rpc *rpc, enum exchange_fault fault);
/**
 * requester_rpc_end - Ends an RPC in flight, with a Reply or with @fault. Invalidates its keys and
 * releases its credit. The exchange is delivered once the peer can no longer reach its memory,
 * possibly before this function returns, so do not use the RPC afterwards. An abandoned RPC is
 * freed instead.
 */
void requester_rpc_end(struct requester_rpc *rpc, enum exchange_fault fault);

#endif

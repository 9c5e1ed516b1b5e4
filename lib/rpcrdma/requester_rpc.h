/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One RPC of the requester, from leg_call() until its exchange is given up.
 *
 *	held ──▶ sent ─────────────────────▶ ending ──▶ given up with its Reply, or a fault
 *	  │       ├─▶ resent ──────────────────▲
 *	  │       ├───────┴──▶ pulling ────────┤   a Reply that is lent (requester_read_reply.h)
 *	  │       └──────────▶ abandoned ──────┘   its exchange was given up before (requester_late.h)
 *	  ├──────▶ failing ──▶ failed ──▶ given up with a fault
 *	  ├──────────────────────▲
 *	  └──◀──▶ starved                            the device has no key left, and takes back what was lent before that
 *
 * In flight are those that are sent, resent, pulling or abandoned: they hold a credit, and their XID is in the table. Every
 * key is taken back before a byte of the Reply is read; while the peer reads a Call that still comes, that waits for the
 * rest of it (lend_end()). What fails before it is sent is given up from a task, since a call into
 * the leg may be on the stack.
 *
 * A Reply is to be one stretch of memory, but how many bytes come before its payload is known only when it is here. So a
 * payload that lands by itself does so in the middle of a buffer, with room on both sides for all that can come inline:
 *
 *	| headroom | room | payload | room |
 *
 * What came inline is parted where the payload belongs (lib/nfs finds that), and laid before and behind the payload,
 * which never moves.
 */
#ifndef RPCRDMA_REQUESTER_RPC_H
#define RPCRDMA_REQUESTER_RPC_H

#include "base/state.h"
#include "leg/exchange.h"
#include "rpcrdma/call_form.h"
#include "rpcrdma/lend.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/requester_rpc.h"

#define REQUESTER_RPC_STATES(X)                                                                    \
	X(REQUESTER_HELD, "held", "a credit, those before it, or the rest of its Call",            \
	  TO(REQUESTER_SENT) | TO(REQUESTER_STARVED) | TO(REQUESTER_FAILING) |                     \
		  TO(REQUESTER_FAILED))                                                            \
	X(REQUESTER_SENT, "sent", "its Reply",                                                     \
	  TO(REQUESTER_RESENT) | TO(REQUESTER_PULLING) | TO(REQUESTER_ABANDONED) |                 \
		  TO(REQUESTER_ENDING))                                                            \
	X(REQUESTER_RESENT, "resent", "its Reply, after one ERR_VERS",                             \
	  TO(REQUESTER_PULLING) | TO(REQUESTER_ABANDONED) | TO(REQUESTER_ENDING))                  \
	X(REQUESTER_ABANDONED, "abandoned", "a late Reply, for which nobody waits",                \
	  TO(REQUESTER_ENDING))                                                                    \
	X(REQUESTER_PULLING, "pulling", "its keys to be unbound, then the Reads of its Reply",     \
	  TO(REQUESTER_ENDING))                                                                    \
	X(REQUESTER_ENDING, "ending", "its keys to be unbound", 0)                                 \
	X(REQUESTER_STARVED, "starved",                                                            \
	  "its keys to be unbound: the device had none for the rest",                              \
	  TO(REQUESTER_HELD) | TO(REQUESTER_FAILED))                                               \
	X(REQUESTER_FAILING, "failing", "its keys to be unbound", TO(REQUESTER_FAILED))            \
	X(REQUESTER_FAILED, "failed", "the task that gives it up", 0)
STATE_ENUM(requester_rpc_state, REQUESTER_RPC_STATES);
extern const struct state_table requester_rpc_states;

struct requester_rpc;
struct read_reply;

#define NULL_CALLS_MAX 2u

/* NULL Calls that are out. */
struct null_calls {
	unsigned count;
	uint32_t xids[NULL_CALLS_MAX];
};

/* What the server is asked before the first Call: ccp.h. */
#define CCP_CLIENT_STATES(X)                                                                       \
	X(CONF_NONE, "none", "the leg to open that is to ask", TO(CONF_ASKED))                     \
	X(CONF_ASKED, "asked", "an answer, for a while", TO(CONF_LATE) | TO(CONF_OVER))            \
	X(CONF_LATE, "late", "an answer, which is thrown away, for a while", TO(CONF_OVER))        \
	X(CONF_OVER, "over", "nothing any more", 0)
STATE_ENUM(ccp_client_state, CCP_CLIENT_STATES);
extern const struct state_table ccp_client_states;

struct ccp_client {
	enum ccp_client_state state;
	uint32_t xid;
	struct loop_timer *timer; /* while an answer may come; else NULL */
};

/* The time limit of a grant of zero: draft03/requester_zero.h. */
struct requester_zero {
	struct loop_timer *timer; /* NULL: never needed so far */
	uint64_t since_us; /* the last Reply that granted zero, or the first Call that is held */
	bool set;
};

/* The time limit of reverse Calls: requester_late.h. */
struct requester_late {
	struct loop_timer *timer; /* NULL: never needed so far */
	bool set;
	bool noted; /* one note a connection */
};

/* A requester (requester.h), and its RPCs. */
struct requester {
	struct rdma_conn *conn;
	bool reverse;       /* this end accepted */
	unsigned count;     /* of its RPCs */
	unsigned abandoned; /* of these */
	struct exchange_list
		begun; /* of target_entry: sent, resent, abandoned, pulling, ending, starved, failing */
	struct exchange_list failed; /* of target_entry */
	struct xid_table table;      /* those in flight */
	struct loop_task failed_task;
	bool starved; /* the device had no key left: none is sent until key_free() */
	void (*held_again)(struct requester_rpc *rpc);
	unsigned nheld;            /* Calls that wait for a credit, or the rest of one */
	struct exchange_list held; /* of target_entry, in the order in which they came */
	struct null_calls nulls;
	struct ccp_client conf;
	struct requester_zero zero;
	struct requester_late late;
	bool answered;         /* by anything but an RDMA_ERROR: a grant has been told (E5-1) */
	bool long_taken;       /* the server has answered an RDMA_NOMSG Call: it takes them */
	uint64_t long_told_us; /* when that was told to the memory of all connections last */
	bool full;             /* call_ready() is due once the queue is shorter */
	bool refused;          /* a Call could not be sent, and a note was made of it */
	struct loop_task ready_task, again_task;
};

struct requester_rpc {
	struct requester *rq;
	struct exchange *x; /* the target's reference, which goes back with the Reply */
	enum requester_rpc_state state;
	enum exchange_fault fault;
	uint64_t since_us;      /* of a reverse Call: when it came */
	struct rpc_terms terms; /* that it was planned with: the only ones that it goes by */
	struct call_form form;
	struct rpc_msg reply_inline; /* a Reply of which nothing came by RDMA, or that was pulled */
	uint32_t landed_bytes;       /* what came by RDMA */
	uint32_t around_bytes;       /* of a Reply whose payload came by RDMA: all the rest */
	/* While it is pulling, of the leg's spares: what is kept of its Reply (draft03/requester_read_reply.c). Else NULL. */
	struct read_reply *read_reply;
	size_t read_reply_bytes;
	/* The segments of the Call's read chunk, then those of the landing. Last: it is not initialised whole. */
	struct lend lend;
};

/**
 * requester_rpcs_init - no RPC yet; its connection is set
 * @held_again: called for an RPC that requester_rpc_send() found too few keys for, once those that it had are taken back
 */
void requester_rpcs_init(struct requester *rq, void (*held_again)(struct requester_rpc *rpc));
/** requester_rpcs_end - the connection has ended: let go of all. */
void requester_rpcs_end(struct requester *rq);
/** requester_rpcs_fini - free what is left after that, or when there never was one. */
void requester_rpcs_fini(struct requester *rq);

/**
 * requester_rpc_new - an RPC, held, for @x, of which it takes the reference
 *
 * Until it is sent or failed it is in no list here: target_entry is the caller's. NULL without memory.
 */
struct requester_rpc *requester_rpc_new(struct requester *rq, struct exchange *x) MUST_CHECK;
/** requester_rpc_set_state - the one way to another state. */
static inline void requester_rpc_set_state(struct requester_rpc *rpc, enum requester_rpc_state to)
{
	rpc->state = state_next(&requester_rpc_states, rpc->state, to);
}
/** requester_rpc_forget_read_reply - free what is kept of its Reply, if anything is; no Read of it may be out. */
static inline void requester_rpc_forget_read_reply(struct requester_rpc *rpc)
{
	if (rpc->read_reply)
		spares_put(rpc->rq->conn->leg->config->spares, rpc->read_reply,
			   rpc->read_reply_bytes);
	rpc->read_reply = NULL;
}
/**
 * rdma_landing_room - return the longest that comes inline around a payload that lands by itself
 * @recv_bytes: the longest Send, header included
 * @nsegments:  of the write chunk, which comes back in that header
 */
static inline uint32_t rdma_landing_room(uint32_t recv_bytes, unsigned nsegments)
{
	uint32_t hdr = RPCRDMA_MIN_HDR_BYTES + RPCRDMA_WRITE_CHUNK_BYTES(nsegments);

	return recv_bytes > hdr ? recv_bytes - hdr : 0;
}
/** requester_rpc_landing_room - return the same of its Reply, if its form says that the payload lands by itself. */
static inline uint32_t requester_rpc_landing_room(const struct requester_rpc *rpc)
{
	return rdma_landing_room(rpc->terms.around_bytes, rpc->form.landing_nsegments);
}
/** requester_rpc_drop - the connection has ended: let go of one that is held. */
void requester_rpc_drop(struct requester_rpc *rpc);
/**
 * requester_counts_on - the longest Send with a Reply that those in flight have no other way for (B3.1-7)
 * @enough: the first that is longer will do; UINT32_MAX: 0 will
 */
uint32_t requester_counts_on(const struct requester *rq, uint32_t enough);
/** requester_rpc_find - the one in flight with @xid, or NULL. */
struct requester_rpc *requester_rpc_find(const struct requester *rq, uint32_t xid);
/** requester_rpc_waiting - the same, if it has no answer yet; one that was given up has none. */
static inline struct requester_rpc *requester_rpc_waiting(const struct requester *rq, uint32_t xid)
{
	struct requester_rpc *rpc = requester_rpc_find(rq, xid);

	return rpc && rpc->state != REQUESTER_PULLING ? rpc : NULL;
}
/**
 * requester_rpc_send - lend what its form says, and send it; it holds a credit from now on
 *
 * Without memory to lend it fails. Where the device has no key left it becomes starved: key_free() is due, and held_again(),
 * which may come from inside this call. Returns false if its XID is in flight already, or there is no memory to
 * enter it: then it is held still.
 */
bool requester_rpc_send(struct requester_rpc *rpc) MUST_CHECK;
/** requester_rpc_resend - send it once more: the peer did not execute it. */
void requester_rpc_resend(struct requester_rpc *rpc);
/** requester_rpc_more - one in flight has more of its Call. */
void requester_rpc_more(struct requester_rpc *rpc);
/** requester_rpc_fail - one that is held cannot be sent, or failed to be: give it up with @fault, from a task. */
void requester_rpc_fail(struct requester_rpc *rpc, enum exchange_fault fault);
/**
 * requester_rpc_end - one in flight has come to its end, with a Reply or with @fault
 *
 * Takes its keys back and its credit; the exchange is given up once the peer cannot reach its memory any more,
 * which may be at once. So nothing of it may be used after this. Of an abandoned one all is freed then.
 */
void requester_rpc_end(struct requester_rpc *rpc, enum exchange_fault fault);

#endif

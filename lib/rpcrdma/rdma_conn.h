/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection of an RDMA leg: what requester and responder both stand on.
 *
 * It holds the endpoint, the state, what both ends agreed, the credits of both directions and the receives posted
 * for them, and the work requests in flight. It knows neither requester nor responder; what it has to tell goes to
 * the leg's events, always from a task, so that everything here may be called at any moment.
 */
#ifndef RPCRDMA_RDMA_CONN_H
#define RPCRDMA_RDMA_CONN_H

#include "base/compiler.h"
#include "base/state.h"
#include "fabric/fabric.h"
#include "fabric/recv_runs.h"
#include "leg/leg.h"
#include "rpcrdma/call_form.h"
#include "rpcrdma/credits.h"
#include "rpcrdma/peer_profile.h"
#include "rpcrdma/private_data.h"
#include "rpcrdma/rdma_config.h"
#include "rpcrdma/rpc_terms.h"
#include "rpcrdma/v2/control_msgs.h"
#include "rpcrdma/v2/negotiation.h"

/* Receives beyond all credits, for what no document gives a credit: RDMA_ERROR, RDMA_DONE. */
#define RDMA_RECV_RESERVE 8u
/* RDMA Reads that the peer may have outstanding here, and we there. */
#define RDMA_READ_DEPTH 16u
/* Lines that one peer can make us log. */
#define RDMA_NOTES_MAX 16u

#define RDMA_CONN_STATES(X)                                                                        \
	X(RDMA_CONNECTING, "connecting", "the fabric to connect",                                  \
	  TO(RDMA_PROBING) | TO(RDMA_OPEN) | TO(RDMA_CLOSING))                                     \
	X(RDMA_INCOMING, "incoming", "the peer's request", TO(RDMA_REQUESTED) | TO(RDMA_CLOSING))  \
	X(RDMA_REQUESTED, "requested", "leg_accept()", TO(RDMA_ACCEPTING) | TO(RDMA_CLOSING))      \
	X(RDMA_ACCEPTING, "accepting", "the fabric to connect", TO(RDMA_OPEN) | TO(RDMA_CLOSING))  \
	X(RDMA_PROBING, "probing", "the version that the peer speaks",                             \
	  TO(RDMA_OPEN) | TO(RDMA_CLOSING))                                                        \
	X(RDMA_OPEN, "open", "either end to drain or close", TO(RDMA_DRAINING) | TO(RDMA_CLOSING)) \
	X(RDMA_DRAINING, "draining", "the last Call in flight", TO(RDMA_CLOSING))                  \
	X(RDMA_CLOSING, "closing", "the fabric to disconnect", TO(RDMA_CLOSED))                    \
	X(RDMA_CLOSED, "closed", "leg_free()", 0)
STATE_ENUM(rdma_conn_state, RDMA_CONN_STATES);
extern const struct state_table rdma_conn_states;

struct characteristics;
struct conn_sizes;
struct work;
TAILQ_HEAD(work_list, work);
struct read_chunks;
TAILQ_HEAD(read_chunks_list, read_chunks);

/*
 * The work requests of a connection (work.h), in two classes that are completed in order each: Reads, and Sends with
 * Writes. Between the two there is no order: siw completes a Send before a Read that was posted ahead of it.
 */
enum work_class { WORK_READS, WORK_SENDS, WORK_CLASSES };

struct work_queues {
	struct {
		struct work_list posted; /* not done yet */
		uint64_t head_us;        /* since when the first of them is the first */
	} classes[WORK_CLASSES];
	unsigned sends; /* posted Sends, without Writes */
	struct read_chunks_list
		waiting; /* messages of which not all Reads are posted (read_chunks.h) */
	unsigned reads;  /* posted */
	unsigned
		reads_max; /* that the peer takes at once, as it has said (A6.2-5); UINT_MAX: nothing */
	struct loop_timer *timer;
	bool timer_set;
};

struct rdma_conn {
	struct leg *leg; /* whose events are called, and who exchanges are told is their leg */
	const struct rdma_leg_config *config;
	struct rdma_leg_counters *counters;
	struct fabric *fabric;
	struct fabric_ep *ep;
	bool connector; /* this end connected: the client */
	struct state state;
	enum leg_close why;
	char detail[LEG_DETAIL_BYTES];
	int close_errno;                  /* with that; 0: none */
	char rejection[LEG_DETAIL_BYTES]; /* what a server says that rejects us; or "" */
	struct loop_timer *timer;         /* of the set-up, and of the end if that has a limit */
	bool close_limited;               /* it has, and the timer is set */
	struct loop_task closing_task;    /* the leg's: run when the end is decided */
	struct loop_task closed_task;
	struct sockaddr_storage server; /* a connector's: where it connects to */
	uint16_t source_port;           /* … and from, if it can; 0: no matter where */
	unsigned notes_left;

	const struct peer_profile *peer; /* the row that it goes by */
	const char *peer_why;

	/* The private data that it sent, which told as much as this; false: none that could be used. */
	bool peer_told;
	struct rpcrdma_private_data theirs;

	/* Agreed at set-up. */
	bool remote_invalidation; /* we offer it */
	bool sends_invalidate;    /* the endpoint can */
	bool may_invalidate;      /* version one: both ends offer it (C5.1-1) */
	bool takes_invalidation;  /* version two: it may be done to this end (B3.2-1) */
	bool late_reads;          /* what is lent for Reads may still be filled */
	unsigned ird, ord, max_sge;
	uint32_t max_segment_bytes;  /* longest memory to lend under one key */
	uint32_t max_transfer_bytes; /* longest Read or Write of the peer's memory */
	/* These may change while the connection is up; RPCs go by the terms as they were planned. */
	struct negotiation negotiation;
	struct inline_limit send_limit, recv_limit; /* of version one */
	struct rpc_terms terms;
	/* What the peer has said by the configuration program beside sizes and Reads (ccp.h). */
	uint32_t peer_align_bytes; /* it recommends for aligned data; 0: nothing (A6.2-6) */
	bool conf_came;            /* a CONF_RDMA */
	bool configured;           /* the peer's sizes are what it said by that program */
	bool refuses_padding; /* it has answered an RDMA_MSGP with ERR_CHUNK: no more are sent */
	/* Version two: of both ends, NULL: nothing was told; and what is wanted, NULL: nothing ever. */
	struct characteristics *characteristics;
	struct conn_sizes *sizes;
	struct control_msgs own;

	/* For Calls that are sent, and Calls that come. */
	struct credit_window window;
	struct credit_grant grant;
	struct recv_runs recvs; /* that are posted */
	unsigned recvs_posted;
	uint32_t recv_size_bytes; /* of those to be posted */

	/* The leg's: run when a Call of the peer has settled the version. */
	struct loop_task settled_task;

	bool drain_asked;           /* leg_drain() was called, whatever the state */
	struct loop_task idle_task; /* the leg's: run when an RPC has ended after that */

	bool heard;                  /* from the peer, since the watch (rdma_watch.h) last looked */
	uint32_t longest_send_bytes; /* since the sizes were last looked at (optional_msgs.h) */

	struct work_queues works;
	uint64_t bytes_received, bytes_sent;
};

/** rdma_conn_now_us - return the time of this iteration of its loop. */
static inline uint64_t rdma_conn_now_us(const struct rdma_conn *conn)
{
	return loop_now_us(conn->fabric->loop);
}

/** rdma_conn_is_up - whether it carries RPCs. */
static inline bool rdma_conn_is_up(const struct rdma_conn *conn)
{
	return conn->state.now == RDMA_OPEN || conn->state.now == RDMA_DRAINING;
}

/** rdma_conn_is_over - whether its end is decided. */
static inline bool rdma_conn_is_over(const struct rdma_conn *conn)
{
	return conn->state.now >= RDMA_CLOSING;
}

/** rdma_conn_is_established - whether messages are sent and taken, though it may not carry RPCs yet. */
static inline bool rdma_conn_is_established(const struct rdma_conn *conn)
{
	return conn->state.now >= RDMA_PROBING && conn->state.now <= RDMA_DRAINING;
}

/** rdma_conn_agree - the version, or what one of the ends can, has changed: from now on RPCs are planned with that. */
void rdma_conn_agree(struct rdma_conn *conn);
/** rdma_conn_agree_for - plan the next RPC in @dialect, which is not settled, until rdma_conn_agree() is called. */
void rdma_conn_agree_for(struct rdma_conn *conn, const struct dialect *dialect);
/**
 * rdma_conn_call_understood - a Call of the peer was understood, in @dialect: that settles the version
 *
 * Does nothing if it is settled. What was read as a Call and is none settles nothing.
 */
void rdma_conn_call_understood(struct rdma_conn *conn, const struct dialect *dialect);
/**
 * rdma_conn_reads_taken - returns how many RDMA Reads of our memory the peer may have outstanding (A6.2-2)
 *
 * This is the lesser of RDMA_READ_DEPTH and of what both ends agreed on when they connected. 0: the peer reads nothing.
 */
uint32_t rdma_conn_reads_taken(const struct rdma_conn *conn);
/**
 * rdma_conn_peer_takes - the peer has said by the configuration program how long a Send to it may be
 *
 * Less than every end takes counts as that, more than this end can as that (A6.2-7). Before private data.
 */
void rdma_conn_peer_takes(struct rdma_conn *conn, uint32_t bytes);
/** rdma_conn_may_invalidate - whether a Send may take the peer a key away that it lent for an RPC with these terms. */
bool rdma_conn_may_invalidate(const struct rdma_conn *conn, const struct rpc_terms *terms);

/** rdma_conn_rpc_over - an RPC of either direction has come to its end. */
static inline void rdma_conn_rpc_over(struct rdma_conn *conn)
{
	if (conn->drain_asked)
		loop_defer(conn->fabric->loop, &conn->idle_task);
}

/** rdma_conn_init - a connection to be, in @state; closing_task and idle_task are the caller's to set up. 0 or -ENOMEM. */
int rdma_conn_init(struct rdma_conn *conn, struct leg *leg, const struct rdma_leg_config *config,
		   struct fabric *fabric, enum rdma_conn_state state) MUST_CHECK;
/** rdma_conn_fini - free what it holds; accepts one whose init failed. */
void rdma_conn_fini(struct rdma_conn *conn);

/** rdma_conn_set_state - the one way to another state. */
void rdma_conn_set_state(struct rdma_conn *conn, enum rdma_conn_state to);
/** rdma_conn_fail - end it for @why, with a sentence for the log; nothing if its end is decided. */
void rdma_conn_fail(struct rdma_conn *conn, enum leg_close why, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/** rdma_conn_limit_closing - abort the connection if it is still closing after LEG_STOP_US; once; else do nothing. */
void rdma_conn_limit_closing(struct rdma_conn *conn);
/**
 * rdma_conn_ended - the fabric has closed: nothing is posted any more; everybody lets go now
 * @err: the errno that ended the connection, or 0
 */
void rdma_conn_ended(struct rdma_conn *conn, enum fabric_close why, int err, const char *detail);
/** rdma_conn_released - everybody has let go: closed() is due. */
void rdma_conn_released(struct rdma_conn *conn);
/** rdma_conn_note - something worth a log line; the first RDMA_NOTES_MAX are given up. */
void rdma_conn_note(struct rdma_conn *conn, const char *fmt, ...) PRINTF_LIKE(2, 3);
/** rdma_conn_peer_found - the server, which the configuration does not name, has shown what it is. */
void rdma_conn_peer_found(struct rdma_conn *conn, enum peer_id id, const char *why);

/** rdma_conn_count_received - bytes have come, or have been fetched. */
static inline void rdma_conn_count_received(struct rdma_conn *conn, uint32_t bytes)
{
	conn->bytes_received += bytes;
	conn->counters->bytes_received += bytes;
}

/** rdma_conn_count_sent - bytes go, or are fetched by the peer. */
static inline void rdma_conn_count_sent(struct rdma_conn *conn, uint32_t bytes)
{
	conn->bytes_sent += bytes;
	conn->counters->bytes_sent += bytes;
}

/** rdma_conn_count_form - a Call travels in that form. */
static inline void rdma_conn_count_form(struct rdma_conn *conn, enum message_form form)
{
	struct rdma_leg_counters *counters = conn->counters;

	if (form == MESSAGE_FORM_SHORT)
		counters->calls_short++;
	else if (form == MESSAGE_FORM_CHUNKED)
		counters->calls_chunked++;
	else
		counters->calls_long++;
}

/** rdma_conn_received - a Send has come, and has taken a receive. */
static inline void rdma_conn_received(struct rdma_conn *conn, const struct fabric_recv *recv)
{
	conn->recvs_posted--;
	recv_runs_take(&conn->recvs);
	conn->heard = true;
	rdma_conn_count_received(conn, recv->len_bytes);
}

/**
 * rdma_conn_replenish - post the receives that what is granted and in flight asks for
 *
 * Due before each Call (its Reply needs one) and before each Reply (its credit needs one, A3.3-8, and if it is lent
 * its RDMA_DONE another, since both may come at once: A3.8-4).
 */
void rdma_conn_replenish(struct rdma_conn *conn);
/** rdma_conn_first_receives - those that the endpoint posts by itself when it is made. Returns 0 or -ENOMEM. */
int rdma_conn_first_receives(struct rdma_conn *conn, unsigned count,
			     uint32_t size_bytes) MUST_CHECK;
/** rdma_conn_resize_receives - from now on receives of @size_bytes are posted; those that are become such where they can. */
void rdma_conn_resize_receives(struct rdma_conn *conn, uint32_t size_bytes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection of an RDMA leg, shared by requester and responder.
 *
 * It has the endpoint, the state, the limits that both ends agreed on, the credits of both
 * directions, the Receives posted for them, and the outstanding work requests. It does not use the
 * requester or the responder. It reports to the leg's events, always from a task, so every function
 * here can be called at any time.
 */
#ifndef RPCRDMA_RDMA_CONN_H
#define RPCRDMA_RDMA_CONN_H

#include "base/compiler.h"
#include "base/state_machine.h"
#include "fabric/fabric.h"
#include "fabric/posted_recvs.h"
#include "leg/leg.h"
#include "rpcrdma/chunk_select.h"
#include "rpcrdma/credits.h"
#include "rpcrdma/peer_profile.h"
#include "rpcrdma/private_data.h"
#include "rpcrdma/rdma_config.h"
#include "rpcrdma/rpc_limits.h"
#include "rpcrdma/v2/control_msgs.h"
#include "rpcrdma/v2/negotiation.h"

/*
 * Receives in addition to all credits, for messages that need no credit: RDMA_ERROR, RDMA_DONE
 * (X-2).
 */
#define RDMA_RECV_RESERVE 8u
/* Most RDMA Reads outstanding, in each direction. */
#define RDMA_READ_DEPTH 16u
/* Most log lines that one peer can cause. */
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
struct work_request;
TAILQ_HEAD(work_request_list, work_request);
struct read_chunks;
TAILQ_HEAD(read_chunks_list, read_chunks);

/*
 * The work requests of a connection (work_request.h), in two classes: Reads, and Sends with Writes.
 * Each class completes in order. The two classes are not ordered with respect to each other: siw
 * completes a Send before a Read posted earlier.
 */
enum work_request_class { WORK_READS, WORK_SENDS, WORK_CLASSES };

struct work_request_queues {
	struct {
		struct work_request_list posted; /* not completed */
		uint64_t head_us;                /* when its first entry became the first */
	} classes[WORK_CLASSES];
	unsigned sends; /* outstanding Sends, without Writes */
	/* messages with Reads not posted yet (read_chunks.h) */
	struct read_chunks_list waiting;
	unsigned reads; /* outstanding Reads */
	/* most Reads that the peer advertised (A6.2-5); UINT_MAX: unlimited */
	unsigned reads_max;
	struct loop_timer *timer;
	bool timer_set;
};

struct rdma_conn {
	struct leg *leg; /* receives the events, and is the leg of the exchanges */
	const struct rdma_leg_config *config;
	struct rdma_leg_counters *counters;
	struct fabric *fabric;
	struct fabric_ep *ep;
	bool connector; /* this end connected: it is the client */
	struct state state;
	enum leg_close why;
	char detail[LEG_DETAIL_BYTES];
	int close_errno; /* errno for `why`; 0: none */
	/* text of a server that rejected the connection; or "" */
	char rejection[LEG_DETAIL_BYTES];
	struct loop_timer *timer; /* for connection set-up, and for closing if that has a limit */
	bool close_limited;       /* closing has a limit, and the timer is set */
	struct loop_task closing_task; /* set by the leg: runs when closing starts */
	struct loop_task closed_task;
	struct sockaddr_storage server; /* of a connector: the address that it connects to */
	uint16_t source_port;           /* … and its preferred source port; 0: any */
	unsigned notes_left;

	const struct peer_profile *peer; /* quirks of the peer */
	const char *peer_why;

	/* The peer's private data; peer_sent_private_data: they were usable. */
	bool peer_sent_private_data;
	struct rpcrdma_private_data theirs;

	/* Agreed at connection set-up. */
	bool remote_invalidation;  /* offered by this end */
	bool sends_invalidate;     /* supported by the endpoint */
	bool may_invalidate;       /* version one: offered by both ends (C5.1-1) */
	bool accepts_invalidation; /* version two: this end accepts it (B3.2-1) */
	bool deferred_reads;       /* exposed memory can be filled while the peer reads it */
	unsigned ird, ord, max_sge;
	uint32_t max_segment_bytes;  /* longest memory under one key */
	uint32_t max_transfer_bytes; /* longest Read or Write by this end */
	/*
	 * Can change while the connection is open; RPCs keep the limits with which they were
	 * planned.
	 */
	struct negotiation negotiation;
	struct inline_threshold send_limit, recv_limit; /* for version one */
	struct rpc_limits limits;
	/* Advertised by the peer in CONF_RDMA in addition to sizes and Reads (ccp.h). */
	uint32_t peer_align_bytes; /* recommended alignment; 0: none (A6.2-6) */
	bool conf_received;        /* a CONF_RDMA arrived */
	bool configured;           /* the peer's sizes come from CONF_RDMA */
	bool rejects_padding;      /* it answered an RDMA_MSGP with ERR_CHUNK: no more are sent */
	/* Version two: characteristics of both ends, and wanted sizes; each can be NULL. */
	struct characteristics *characteristics;
	struct conn_sizes *sizes;
	struct control_msgs control;

	/* Credits for Calls sent and Calls received. */
	struct credit_window window;
	struct credit_grant grant;
	struct posted_recvs recvs; /* posted Receives */
	unsigned recvs_posted;
	uint32_t recv_size_bytes; /* size of Receives to be posted */

	/* Set by the leg: runs when a Call of the peer has settled the version. */
	struct loop_task settled_task;

	bool drain_requested;       /* leg_drain() was called, in any state */
	struct loop_task idle_task; /* set by the leg: runs when an RPC has ended after that */

	bool message_seen; /* a message arrived since the last check of rdma_keepalive.h */
	uint32_t longest_send_bytes; /* longest Send since the last check of optional_msgs.h */

	struct work_request_queues work_requests;
	uint64_t bytes_received, bytes_sent;
};

/** rdma_conn_now_us - Returns the time of this loop iteration. */
static inline uint64_t rdma_conn_now_us(const struct rdma_conn *conn)
{
	return loop_now_us(conn->fabric->loop);
}

/** rdma_conn_is_up - Returns true while the connection carries RPCs. */
static inline bool rdma_conn_is_up(const struct rdma_conn *conn)
{
	return conn->state.now == RDMA_OPEN || conn->state.now == RDMA_DRAINING;
}

/** rdma_conn_is_closing - Returns true once the connection is closing or closed. */
static inline bool rdma_conn_is_closing(const struct rdma_conn *conn)
{
	return conn->state.now >= RDMA_CLOSING;
}

/**
 * rdma_conn_is_established - Returns true while messages can be sent and received, though possibly
 * no RPCs yet.
 */
static inline bool rdma_conn_is_established(const struct rdma_conn *conn)
{
	return conn->state.now >= RDMA_PROBING && conn->state.now <= RDMA_DRAINING;
}

/**
 * rdma_conn_update_limits - Recomputes the limits for new RPCs, after the version or a limit of one
 * end has changed.
 */
void rdma_conn_update_limits(struct rdma_conn *conn);
/**
 * rdma_conn_update_limits_for - Computes the limits for @dialect, though the version is not
 * settled. They apply until rdma_conn_update_limits() is called.
 */
void rdma_conn_update_limits_for(struct rdma_conn *conn, const struct dialect *dialect);
/**
 * rdma_conn_call_understood - Settles the version, because a valid Call arrived in @dialect.
 * Does nothing if the version is settled. An invalid Call settles nothing.
 */
void rdma_conn_call_understood(struct rdma_conn *conn, const struct dialect *dialect);
/**
 * rdma_conn_peer_reads_max - Returns how many RDMA Reads of our memory the peer can have
 * outstanding (A6.2-2). This is the smaller of RDMA_READ_DEPTH and the limit agreed at connection
 * set-up. 0: the peer reads nothing.
 */
uint32_t rdma_conn_peer_reads_max(const struct rdma_conn *conn);
/**
 * rdma_conn_set_peer_recv_bytes - Sets the longest Send to the peer, as advertised in CONF_RDMA. A
 * value below the minimum of every end counts as that minimum, a value above our maximum as that
 * maximum (A6.2-7). The result has precedence over private data.
 */
void rdma_conn_set_peer_recv_bytes(struct rdma_conn *conn, uint32_t bytes);
/**
 * rdma_conn_may_invalidate - Returns true if a Send can invalidate a key of the peer, for an RPC
 * with these limits.
 */
bool rdma_conn_may_invalidate(const struct rdma_conn *conn, const struct rpc_limits *limits);

/** rdma_conn_rpc_done - Reports the end of an RPC of either direction. */
static inline void rdma_conn_rpc_done(struct rdma_conn *conn)
{
	if (conn->drain_requested)
		loop_defer(conn->fabric->loop, &conn->idle_task);
}

/**
 * rdma_conn_init - Initializes a connection in @state; the caller sets its tasks. Returns 0 or
 * -ENOMEM.
 */
int rdma_conn_init(struct rdma_conn *conn, struct leg *leg, const struct rdma_leg_config *config,
		   struct fabric *fabric, enum rdma_conn_state state) MUST_CHECK;
/** rdma_conn_fini - Frees the members; accepts a connection whose init failed. */
void rdma_conn_fini(struct rdma_conn *conn);

/** rdma_conn_set_state - Changes the state; the only function that does. */
void rdma_conn_set_state(struct rdma_conn *conn, enum rdma_conn_state to);
/**
 * rdma_conn_fail - Closes the connection for @why, with a text for the log; does nothing if it is
 * already closing.
 */
void rdma_conn_fail(struct rdma_conn *conn, enum leg_close why, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/**
 * rdma_conn_limit_closing - Aborts the connection if it is still closing after LEG_STOP_US; does so
 * only once.
 */
void rdma_conn_limit_closing(struct rdma_conn *conn);
/**
 * rdma_conn_fabric_ended - Starts closing because the fabric has ended the connection: nothing can
 * be posted any more.
 * @err: the errno that ended the connection, or 0
 */
void rdma_conn_fabric_ended(struct rdma_conn *conn, enum fabric_close why, int err,
			    const char *detail);
/** rdma_conn_released - Reports closed(), because all users have released the connection. */
void rdma_conn_released(struct rdma_conn *conn);
/**
 * rdma_conn_note - Passes a text about the peer to the log; only the first RDMA_NOTES_MAX are
 * logged.
 */
void rdma_conn_note(struct rdma_conn *conn, const char *fmt, ...) PRINTF_LIKE(2, 3);
/** rdma_conn_peer_found - Sets the quirks of the peer, configured or detected. */
void rdma_conn_peer_found(struct rdma_conn *conn, enum peer_id id, const char *why);

/** rdma_conn_count_received - Counts bytes that arrived or were read. */
static inline void rdma_conn_count_received(struct rdma_conn *conn, uint32_t bytes)
{
	conn->bytes_received += bytes;
	conn->counters->bytes_received += bytes;
}

/** rdma_conn_count_sent - Counts bytes that were sent, or that the peer reads. */
static inline void rdma_conn_count_sent(struct rdma_conn *conn, uint32_t bytes)
{
	conn->bytes_sent += bytes;
	conn->counters->bytes_sent += bytes;
}

/** rdma_conn_count_form - Counts a Call by its form. */
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

/** rdma_conn_received - Accounts for a Send that arrived and used a Receive. */
static inline void rdma_conn_received(struct rdma_conn *conn, const struct fabric_recv *recv)
{
	conn->recvs_posted--;
	posted_recvs_consume(&conn->recvs);
	conn->message_seen = true;
	rdma_conn_count_received(conn, recv->len_bytes);
}

/**
 * rdma_conn_replenish - Posts Receives for all grants and Calls in flight. Call it before each
 * Call, whose Reply needs a Receive, and before each Reply, whose credit needs one (A3.3-8). An
 * exposed Reply needs another one for its RDMA_DONE, because that can arrive together with a Call
 * (A3.8-4).
 */
void rdma_conn_replenish(struct rdma_conn *conn);
/**
 * rdma_conn_first_receives - Records the Receives that the endpoint posts itself. Returns 0 or
 * -ENOMEM.
 */
int rdma_conn_first_receives(struct rdma_conn *conn, unsigned count,
			     uint32_t size_bytes) MUST_CHECK;
/**
 * rdma_conn_resize_receives - Sets the size of new Receives, and resizes posted ones if the
 * endpoint can.
 */
void rdma_conn_resize_receives(struct rdma_conn *conn, uint32_t size_bytes);

#endif

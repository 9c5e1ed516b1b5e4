/* SPDX-License-Identifier: BSD-3-Clause */
/* The RDMA leg's insides: what the connection, the requester and the responder know of each other.
 */
#ifndef RPCRDMA_RDMA_LEG_PRIV_H
#define RPCRDMA_RDMA_LEG_PRIV_H

#include "rpcrdma/private_data.h"
#include "rpcrdma/rdma_leg.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/responder.h"
#include "rpcrdma/work.h"

/* Receives beyond all credits, for what no document gives a credit: RDMA_ERROR, RDMA_DONE. */
#define RDMA_RECV_RESERVE 8u
/* Receives are larger than advertised, for reverse Calls of TCP clients' callback sizes. */
#define RDMA_RECV_SLACK_BYTES 4096u
#define RDMA_RECV_MIN_BYTES   8192u
/* RDMA Reads that the peer may have outstanding here, and we there. */
#define RDMA_READ_DEPTH 16u
/* Lines that one peer can make us log. */
#define RDMA_NOTES_MAX 16u

#define RDMA_STATES(X)                                                                             \
	X(CONNECTING, "connecting") /* awaits the fabric's established() */                        \
	X(INCOMING, "incoming")     /* adopted; awaits the fabric's requested() */                 \
	X(REQUESTED, "requested")   /* awaits leg_accept() or leg_close() */                       \
	X(ACCEPTING, "accepting")   /* awaits the fabric's established() */                        \
	X(OPEN, "open")             /* carries RPCs until either end closes */                     \
	X(CLOSING, "closing")       /* closed here; awaits the fabric's closed() */                \
	X(CLOSED, "closed")         /* closed() was given up or is about to be; awaits leg_free() */

enum rdma_state {
#define RDMA_STATE_ENUM(name, text) RDMA_##name,
	RDMA_STATES(RDMA_STATE_ENUM)
#undef RDMA_STATE_ENUM
};

struct rdma_leg {
	struct leg leg;
	struct rdma_leg_config config;
	struct fabric *fabric;
	struct fabric_ep *ep;
	bool connector; /* this end connected: the client */
	enum rdma_state state;
	enum leg_close why;
	char detail[160];
	struct loop_timer *timer; /* of the set-up */
	struct loop_task closed_task;
	unsigned notes_left;

	const struct peer_profile *peer; /* the row that it goes by */
	const char *peer_why;

	/* Agreed at set-up. */
	struct rpcrdma_private_data ours, theirs;
	uint32_t send_max_bytes, recv_max_bytes; /* inline thresholds in force, header included */
	bool may_invalidate;                     /* both ends set the flag (C5.1-1) */
	unsigned ord, max_sge;
	uint32_t max_segment_bytes; /* longest memory to lend under one key */

	unsigned recvs_posted;
	uint32_t recv_size_bytes;
	struct work_pool works;
	struct requester requester;
	struct responder responder;
	uint64_t bytes_received, bytes_sent;
};

static inline struct rdma_leg *rdma_leg_of(struct leg *leg)
{
	return container_of(leg, struct rdma_leg, leg);
}

/** rdma_leg_fail - close the leg for @why, with a sentence for the log; nothing if it is closing.
 */
void rdma_leg_fail(struct rdma_leg *leg, enum leg_close why, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/** rdma_leg_note - something worth a log line; the first RDMA_NOTES_MAX of a leg are given up. */
void rdma_leg_note(struct rdma_leg *leg, const char *fmt, ...) PRINTF_LIKE(2, 3);
/** rdma_leg_peer_found - the server, which the configuration does not name, has shown what it is. */
void rdma_leg_peer_found(struct rdma_leg *leg, enum peer_id id, const char *why);
/**
 * rdma_leg_replenish - post the receives that what is granted and in flight asks for
 *
 * Due before each Call (its Reply needs one) and before each Reply (its credit needs one, A3.3-8).
 */
void rdma_leg_replenish(struct rdma_leg *leg);

/** rdma_leg_recv - the fabric's recv(): decode a Send and hand it to whom it concerns. */
void rdma_leg_recv(void *arg, const struct fabric_recv *recv);

#endif

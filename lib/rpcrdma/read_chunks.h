/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RDMA Reads that fetch the read chunks of a message: of a Call (responder.c), or of a Reply that the server lends
 * (draft03/requester_read_reply.h). The plan of the message (msg_plan.h) says what goes where.
 *
 * The Reads of a connection are posted in the order in which their messages were started, and those of one message in
 * the order of its plan; they are done in that order, too. No more are outstanding at once than read_chunks_bound(). A
 * Read beyond that takes no memory: it is posted, with a work request of its own, when an earlier one is done. So what a
 * message takes has a bound, however many segments it has: read_chunks_cost_bytes().
 */
#ifndef RPCRDMA_READ_CHUNKS_H
#define RPCRDMA_READ_CHUNKS_H

#include "base/least.h"
#include "leg/exchange.h"
#include "rpcrdma/msg_plan.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/work.h"

/* How far a list of stretches has come: all before the `pull`-th, and so many bytes of that. */
struct read_cursor {
	unsigned pull;
	uint32_t bytes;
};

/* The Reads of one message. Its owner keeps it, and what it points to, until all are done or the connection has ended. */
struct read_chunks {
	TAILQ_ENTRY(read_chunks) entry; /* in conn->works.waiting, until the last Read is posted */
	struct rdma_conn *conn;
	struct exchange *x;
	const struct rpc_msg *to;
	const struct plan_pull *pulls;
	unsigned npulls;
	uint32_t read_max_bytes; /* the longest Read */
	struct read_cursor posted, done;
	void (*read_done)(void *arg);
	void *arg;
};

/**
 * read_chunks_bound - return how many RDMA Reads the connection may have outstanding; 0: it may not read
 *
 * This is what both ends agreed on when they connected, at most RDMA_READ_DEPTH, or what the peer has said since, if
 * that is less (A6.2-5).
 */
static inline unsigned read_chunks_bound(const struct rdma_conn *conn)
{
	return least(conn->ord, conn->works.reads_max);
}
/** read_chunks_limit - obey the peer, which takes @max Reads at once from now on; 0: none. */
void read_chunks_limit(struct rdma_conn *conn, unsigned max);
/** read_chunks_cost_bytes - return what the work requests of @nreads Reads of one message take: count this in a claim. */
static inline size_t read_chunks_cost_bytes(const struct rdma_conn *conn, size_t nreads)
{
	return work_cost_bytes(nreads < conn->ord ? nreads : conn->ord);
}

/** read_chunks_init - prepare the Reads of a message, whose plan has @pulls; post none. */
static inline void read_chunks_init(struct read_chunks *reads, struct rdma_conn *conn,
				    const struct plan_pull *pulls, unsigned npulls)
{
	*reads = (struct read_chunks){.conn = conn, .pulls = pulls, .npulls = npulls};
}
/**
 * read_chunks_start - post the Reads, as far as the bound goes, and the others later
 * @to:             the message; has room for all of it
 * @x:              pinned by each Read
 * @read_max_bytes: the longest Read; the endpoint may take shorter ones only
 * @read_done:      called with @arg after each Read, unless the connection is not up any more
 *
 * Only where read_chunks_bound() is not 0. Returns how many bytes they fetch; if it is 0 all are done now, and read_done()
 * is not called.
 */
uint32_t read_chunks_start(struct read_chunks *reads, const struct rpc_msg *to, struct exchange *x,
			   uint32_t read_max_bytes, void (*read_done)(void *arg), void *arg);
/** read_chunks_are_done - return whether the last Read is done. */
static inline bool read_chunks_are_done(const struct read_chunks *reads)
{
	return reads->done.pull == reads->npulls;
}
/** read_chunks_have_bytes - return up to where a message of @total_bytes is here. */
static inline uint32_t read_chunks_have_bytes(const struct read_chunks *reads, uint32_t total_bytes)
{
	if (read_chunks_are_done(reads))
		return total_bytes;
	return reads->pulls[reads->done.pull].to + reads->done.bytes;
}

/** read_chunks_end - the endpoint has closed: post nothing any more. */
void read_chunks_end(struct rdma_conn *conn);

#endif

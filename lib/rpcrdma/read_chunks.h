/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RDMA Reads that fetch the read chunks of a message: a Call (responder.c), or a Reply that the
 * server exposed (draft03/requester_read_reply.h). The read plan (read_plan.h) has the position of
 * each chunk.
 *
 * A connection posts Reads in the order in which their messages were started, and within a message
 * in the order of its plan; they complete in the same order. At most read_chunks_bound() are
 * outstanding. Further Reads use no memory until they are posted, when an earlier Read completes.
 * So the memory of a message is bounded, whatever its number of segments: read_chunks_cost_bytes().
 */
#ifndef RPCRDMA_READ_CHUNKS_H
#define RPCRDMA_READ_CHUNKS_H

#include "base/minmax.h"
#include "leg/exchange.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/read_plan.h"
#include "rpcrdma/work_request.h"

/*
 * Position in a plan. One or several RDMA Reads fetch each of its parts (struct plan_read). All
 * parts before `read_index` are finished, and `bytes` bytes of the part at `read_index`.
 */
struct read_cursor {
	unsigned read_index;
	uint32_t bytes;
};

/*
 * The Reads of one message. The owner keeps it, and what it points to, until all Reads are done or
 * the connection has closed.
 */
struct read_chunks {
	TAILQ_ENTRY(read_chunks) entry; /* in work_requests.waiting until all are posted */
	struct rdma_conn *conn;
	struct exchange *x;
	const struct rpc_msg *to;
	const struct plan_read *plan_reads;
	unsigned nplan_reads;
	uint32_t read_max_bytes; /* longest Read */
	struct read_cursor posted, done;
	void (*read_done)(void *arg);
	void *arg;
};

/**
 * read_chunks_bound - Returns how many RDMA Reads the connection can have outstanding; 0: no Reads
 * are possible. This is the limit agreed at connection set-up, at most RDMA_READ_DEPTH, or less if
 * the peer has advertised less since (A6.2-5).
 */
static inline unsigned read_chunks_bound(const struct rdma_conn *conn)
{
	return min_u32(conn->ord, conn->work_requests.reads_max);
}
/** read_chunks_limit - Limits the outstanding Reads to @max, as the peer advertised; 0: none. */
void read_chunks_limit(struct rdma_conn *conn, unsigned max);
/**
 * read_chunks_cost_bytes - Returns the memory for the work requests of @nreads Reads of one
 * message, for a claim.
 */
static inline size_t read_chunks_cost_bytes(const struct rdma_conn *conn, size_t nreads)
{
	return work_request_cost_bytes(nreads < conn->ord ? nreads : conn->ord);
}

/** read_chunks_init - Initializes the Reads of a message with the parts of its plan; posts none. */
static inline void read_chunks_init(struct read_chunks *reads, struct rdma_conn *conn,
				    const struct plan_read *plan_reads, unsigned nplan_reads)
{
	*reads = (struct read_chunks){
		.conn = conn, .plan_reads = plan_reads, .nplan_reads = nplan_reads};
}
/**
 * read_chunks_start - Posts the Reads up to the bound, and the others later.
 * @to:             the message; must have space for all of it
 * @x:              kept until each Read is done
 * @read_max_bytes: longest Read; the endpoint can have a smaller limit
 * @read_done:      called with @arg after each Read, unless the connection is closing
 *
 * read_chunks_bound() must not be 0. Returns the number of bytes to read; 0: nothing to read, all
 * is done now, and read_done() is not called.
 */
uint32_t read_chunks_start(struct read_chunks *reads, const struct rpc_msg *to, struct exchange *x,
			   uint32_t read_max_bytes, void (*read_done)(void *arg), void *arg);
/** read_chunks_are_done - Returns true once the last Read is done. */
static inline bool read_chunks_are_done(const struct read_chunks *reads)
{
	return reads->done.read_index == reads->nplan_reads;
}
/**
 * read_chunks_have_bytes - Returns how many bytes of a message of @total_bytes have arrived,
 * without a gap.
 */
static inline uint32_t read_chunks_have_bytes(const struct read_chunks *reads, uint32_t total_bytes)
{
	if (read_chunks_are_done(reads))
		return total_bytes;
	return reads->plan_reads[reads->done.read_index].to + reads->done.bytes;
}

/** read_chunks_end - Discards waiting Reads, because the endpoint has closed. */
void read_chunks_end(struct rdma_conn *conn);

#endif

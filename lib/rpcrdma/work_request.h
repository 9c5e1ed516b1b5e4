/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work requests of an RDMA connection. Each has a context that keeps its memory until completion:
 * the exchange whose memory is sent, written or read, and the buffer with the transport header.
 * Contexts come from the leg's free list.
 *
 * The endpoint completes all work requests before it reports its close, so none is left afterwards.
 * Stall timeout: the first request of each class must complete within the leg's stall_timeout_us,
 * from when it became the first, plus the time for its bytes at WORK_REQUEST_MIN_RATE. Otherwise
 * the connection closes, whatever the other class does.
 */
#ifndef RPCRDMA_WORK_REQUEST_H
#define RPCRDMA_WORK_REQUEST_H

#include "fabric/fabric.h"
#include "leg/exchange.h"
#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"

/* Bytes per second: a slower peer would hold memory for too long. */
#define WORK_REQUEST_MIN_RATE 65536u

struct work_request {
	struct fabric_wr wr;
	TAILQ_ENTRY(work_request) entry; /* in the list of its class */
	struct rdma_conn *conn;
	struct buf *buf;         /* of a Send: the header and copied bytes after it */
	struct exchange *x;      /* one reference, or NULL */
	void (*done)(void *arg); /* called after success only */
	void *arg;
};

/* Shortest part of an incomplete message that is written; each part needs a work request. */
#define WORK_REQUEST_MIN_WRITE_BYTES (128u * 1024u)

/*
 * A body up to this length is copied after its header. A longer one is gathered, except for pieces
 * without a buffer.
 */
#define WORK_REQUEST_COPY_MAX_BYTES 4096u

/** work_request_queues_init - Initializes the queues, empty. Returns 0 or -ENOMEM. */
int work_request_queues_init(struct rdma_conn *conn) MUST_CHECK;
/** work_request_queues_fini - Frees the timer; no work request must be outstanding. */
void work_request_queues_fini(struct rdma_conn *conn);

/** work_request_cost_bytes - Returns the memory of @n work requests, for a claim. */
static inline size_t work_request_cost_bytes(size_t n)
{
	return n * sizeof(struct work_request);
}

/**
 * work_request_post_send - Sends a transport header and the pieces of a body after it.
 * @hdr:          encoded here
 * @body, @nbody: the pieces; one without a buffer is copied now and must be short; one without an
 *                address stands for zeros
 * @x:            kept until the Send is done; NULL: the completion can be reported late
 *                (fabric_wr.lazy)
 * @inv_rkey:     the peer's key to invalidate, or NULL
 *
 * A failure closes the connection, which the leg reports, so nothing is returned.
 */
void work_request_post_send(struct rdma_conn *conn, const struct rpcrdma_header *hdr,
			    const struct fabric_sge *body, unsigned nbody, struct exchange *x,
			    const uint32_t *inv_rkey);
/**
 * work_request_copies - Returns true if work_request_post_send() copies a whole body of this
 * length, so that nothing must be kept.
 */
static inline bool work_request_copies(uint32_t body_bytes)
{
	return body_bytes <= WORK_REQUEST_COPY_MAX_BYTES;
}
/**
 * work_request_gathers - Returns true if work_request_post_send() gathers this long body, and
 * copies only its pieces without a buffer.
 */
bool work_request_gathers(const struct rdma_conn *conn, const struct fabric_sge *body,
			  unsigned nbody) MUST_CHECK;
/**
 * work_request_post_write - Posts an RDMA Write of @from to the peer's @rkey and @raddr, and keeps
 * @x until it is done. Splits data that exceed the longest transfer. A failure closes the
 * connection.
 */
void work_request_post_write(struct rdma_conn *conn, const struct fabric_sge *from, uint32_t rkey,
			     uint64_t raddr, struct exchange *x);
/**
 * work_request_post_read - Posts an RDMA Read into @to, at most as long as the longest transfer;
 * calls @done with @arg after success. For read_chunks.c.
 */
void work_request_post_read(struct rdma_conn *conn, const struct fabric_sge *to, uint32_t rkey,
			    uint64_t raddr, struct exchange *x, void (*done)(void *arg), void *arg);

#endif

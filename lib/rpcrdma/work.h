/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work requests of an RDMA connection, each in a context that pins what it names until it is done: the exchange whose
 * memory is sent, written or read, and the buffer with the transport header. Contexts come from the leg's spares.
 *
 * The endpoint completes them all before it reports that it closed, so after that none is left. The first of each
 * class has the leg's stall_timeout_us from when it became the first, and the time that its bytes take at
 * WORK_LEAST_RATE; when that is over the connection fails, whatever the other class does.
 */
#ifndef RPCRDMA_WORK_H
#define RPCRDMA_WORK_H

#include "fabric/fabric.h"
#include "leg/exchange.h"
#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"

/* Bytes a second: a peer that takes less, or gives less to our Reads, holds memory for nothing. */
#define WORK_LEAST_RATE 65536u

struct work {
	struct fabric_wr wr;
	TAILQ_ENTRY(work) entry; /* in its class */
	struct rdma_conn *conn;
	struct buf *buf;         /* of a Send: its header, and what was copied behind it */
	struct exchange *x;      /* one reference, or NULL */
	void (*done)(void *arg); /* after success only */
	void *arg;
};

/* Of a message that still comes so much, or more, is written at once: each part takes a work request. */
#define WORK_PART_BYTES (128u * 1024u)

/* A body up to this is copied behind its header; a longer one is gathered, but for pieces without a buffer. */
#define WORK_COPY_MAX_BYTES 4096u

/** work_queues_init - nothing posted yet. Returns 0 or -ENOMEM. */
int work_queues_init(struct rdma_conn *conn) MUST_CHECK;
/** work_queues_fini - free what it holds; nothing may be posted. */
void work_queues_fini(struct rdma_conn *conn);

/** work_cost_bytes - what the contexts of @n work requests take: count this in a claim. */
static inline size_t work_cost_bytes(size_t n)
{
	return n * sizeof(struct work);
}

/**
 * work_send - send a transport header and the pieces of a body behind it
 * @hdr:          encoded here
 * @body, @nbody: where the body is; a piece without a buffer is copied now, and must be short; one without an address is
 *                so many zeros
 * @x:            pinned until the Send is done; or NULL: then that may be found out late (fabric_wr.late)
 * @inv_rkey:     the peer's key to invalidate, or NULL
 *
 * A failure is the connection's end, which the leg hears of, so there is nothing to return.
 */
void work_send(struct rdma_conn *conn, const struct rpcrdma_header *hdr,
	       const struct fabric_sge *body, unsigned nbody, struct exchange *x,
	       const uint32_t *inv_rkey);
/** work_copies - whether work_send() copies a body of so many bytes whole, so that nothing need be pinned for it. */
static inline bool work_copies(uint32_t body_bytes)
{
	return body_bytes <= WORK_COPY_MAX_BYTES;
}
/** work_gathers - whether work_send() copies of such a body, if it is long, no more than the pieces without a buffer. */
bool work_gathers(const struct rdma_conn *conn, const struct fabric_sge *body,
		  unsigned nbody) MUST_CHECK;
/**
 * work_write - RDMA Write of @from to the peer's @rkey and @raddr, @x pinned; failures as above
 *
 * What is longer than the endpoint takes at once is parted.
 */
void work_write(struct rdma_conn *conn, const struct fabric_sge *from, uint32_t rkey,
		uint64_t raddr, struct exchange *x);
/** work_read - RDMA Read into @to, no longer than the endpoint takes at once; @done with @arg after success. For read_chunks.c. */
void work_read(struct rdma_conn *conn, const struct fabric_sge *to, uint32_t rkey, uint64_t raddr,
	       struct exchange *x, void (*done)(void *arg), void *arg);

#endif

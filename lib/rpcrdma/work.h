/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work requests of an RDMA connection, each in a pooled context that pins what it names until it is done: the
 * exchange whose memory is sent, written or read, and the buffer with the transport header.
 *
 * The endpoint completes them all before it reports that it closed, so after that none is left. When none makes
 * progress for the leg's stall_timeout_us the connection fails.
 */
#ifndef RPCRDMA_WORK_H
#define RPCRDMA_WORK_H

#include "fabric/fabric.h"
#include "leg/exchange.h"
#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"

struct work {
	struct fabric_wr wr;
	struct rdma_conn *conn;
	struct buf *buf;         /* of a Send: its header, and what was copied behind it */
	struct exchange *x;      /* one reference, or NULL */
	void (*done)(void *arg); /* after success only */
	void *arg;
	struct work *next_free;
};

/* A body up to this is copied behind its header; a longer one is gathered. */
#define WORK_COPY_MAX_BYTES 4096u

/** work_pool_init - the connection's pool, empty. Returns 0 or -ENOMEM. */
int work_pool_init(struct rdma_conn *conn) MUST_CHECK;
/** work_pool_fini - free it; nothing may be posted. */
void work_pool_fini(struct rdma_conn *conn);

/**
 * work_send - send a transport header and the pieces of a body behind it
 * @hdr:          encoded here
 * @body, @nbody: where the body is; a piece without a buffer is copied now, and must be short
 * @x:            pinned until the Send is done, or NULL
 * @inv_rkey:     the peer's key to invalidate, or NULL
 *
 * A failure is the connection's end, which the leg hears of, so there is nothing to return.
 */
void work_send(struct rdma_conn *conn, const struct rpcrdma_header *hdr,
	       const struct fabric_sge *body, unsigned nbody, struct exchange *x,
	       const uint32_t *inv_rkey);
/** work_write - RDMA Write of @from to the peer's @rkey and @raddr, @x pinned; failures as above. */
void work_write(struct rdma_conn *conn, const struct fabric_sge *from, uint32_t rkey,
		uint64_t raddr, struct exchange *x);
/** work_read - RDMA Read into @to, at least one byte; @done with @arg after success. */
void work_read(struct rdma_conn *conn, const struct fabric_sge *to, uint32_t rkey, uint64_t raddr,
	       struct exchange *x, void (*done)(void *arg), void *arg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the peer of an RDMA leg is still there, where the fabric does not find out by itself.
 *
 * Nothing is done for a message but to set a flag (rdma_conn.heard), at which a timer looks twice in keepalive_us, or
 * more often if that is long. After a silence of that long, or one look more, the fabric is asked to probe. Where it
 * has nothing that tells, the end that connected sends the server a NULL Call of its own, while others are in flight
 * (requester.h), waits, sends another, waits once more, and gives the server up. For these a credit is kept back.
 * A server that grants one credit only cannot be asked while it holds a Call: then, and while nothing is in flight, it
 * is left to the host's TCP.
 *
 * RDMA Writes of the peer are not seen when they land: it counts as silent until the Send that comes behind them.
 */
#ifndef RPCRDMA_RDMA_WATCH_H
#define RPCRDMA_RDMA_WATCH_H

#include "base/compiler.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/responder.h"

/* The longest that a NULL Call is waited for; a shorter keepalive_us shortens it. */
#define RDMA_WATCH_ANSWER_US 30000000u

struct rdma_watch {
	struct requester *rq;
	const struct responder *rs;
	struct loop_timer *timer;
	unsigned quiet; /* looks in a row that found nothing */
	unsigned asked; /* times that the server was asked in vain, by a NULL Call */
};

/** rdma_watch_init - not watching yet; @rq and @rs are the roles on the connection. Returns 0 or -ENOMEM. */
int rdma_watch_init(struct rdma_watch *watch, struct requester *rq,
		    const struct responder *rs) MUST_CHECK;
/** rdma_watch_fini - accepts one whose init failed. */
void rdma_watch_fini(struct rdma_watch *watch);
/** rdma_watch_start - the connection is up: watch, if the fabric does not. */
void rdma_watch_start(struct rdma_watch *watch);
/** rdma_watch_end - the connection is over. */
void rdma_watch_end(struct rdma_watch *watch);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keepalive: detects a dead peer of an RDMA leg, if the fabric does not do so itself.
 *
 * Each message sets a flag (rdma_conn.message_seen), which a timer checks at least twice per
 * keepalive_us. After a silence of keepalive_us, or one check more, the leg asks the fabric to
 * probe the peer. If the fabric cannot probe, the end that connected sends a NULL Call to the
 * server (requester.h), but only while other Calls are in flight. If no answer arrives, it sends a
 * second NULL Call, and then closes the connection.
 *
 * One credit is reserved for NULL Calls. A server that grants a single credit cannot be checked
 * while it executes a Call. Then, and while no Call is in flight, only the host's TCP detects its
 * death.
 *
 * The proxy does not notice RDMA Writes of the peer when they arrive: the peer counts as silent
 * until the Send that follows them.
 */
#ifndef RPCRDMA_RDMA_KEEPALIVE_H
#define RPCRDMA_RDMA_KEEPALIVE_H

#include "base/compiler.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/responder.h"

/* Longest wait for the answer to a NULL Call; a shorter keepalive_us shortens it. */
#define RDMA_KEEPALIVE_ANSWER_US 30000000u

struct rdma_keepalive {
	struct requester *rq;
	const struct responder *rs;
	struct loop_timer *timer;
	unsigned quiet; /* consecutive checks that found no message */
	unsigned asked; /* unanswered checks of the server by NULL Call */
};

/**
 * rdma_keepalive_init - Initializes the keepalive, stopped, with both roles of the connection.
 * Returns 0 or -ENOMEM.
 */
int rdma_keepalive_init(struct rdma_keepalive *watch, struct requester *rq,
			const struct responder *rs) MUST_CHECK;
/** rdma_keepalive_fini - Frees the timer; accepts an object whose init failed. */
void rdma_keepalive_fini(struct rdma_keepalive *watch);
/** rdma_keepalive_start - Starts the keepalive on an open connection, if the fabric has none. */
void rdma_keepalive_start(struct rdma_keepalive *watch);
/** rdma_keepalive_stop - Stops the keepalive, because the connection is closing. */
void rdma_keepalive_stop(struct rdma_keepalive *watch);

#endif

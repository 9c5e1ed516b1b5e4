/* SPDX-License-Identifier: BSD-3-Clause */
/* The private definition of struct rdma_leg, for lib/rpcrdma only. */
#ifndef RPCRDMA_RDMA_LEG_PRIV_H
#define RPCRDMA_RDMA_LEG_PRIV_H

#include "base/compiler.h"
#include "leg/leg.h"
#include "rpcrdma/rdma_config.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/rdma_keepalive.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/responder.h"
#include "rpcrdma/v2/optional_msgs.h"

struct rdma_leg {
	struct leg leg;
	struct rdma_leg_config config;
	struct rdma_conn conn;
	struct loop_task retry_task; /* connects again, because its source port was not available */
	struct requester requester;
	struct responder responder;
	struct rdma_keepalive keepalive;
	struct loop_timer *probe_timer; /* for the version two probe; or NULL */
	struct optional_msgs *options;  /* from the first RDMA_OPTIONAL on; or NULL */
};

/**
 * recv_dispatch - Handles the fabric's recv(): passes a decoded Send to requester or responder
 * (recv_dispatch.c).
 */
void recv_dispatch(void *arg, const struct fabric_recv *recv);

static inline struct rdma_leg *rdma_leg_of(struct leg *leg)
{
	return container_of(leg, struct rdma_leg, leg);
}

#endif

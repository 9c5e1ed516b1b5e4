/* SPDX-License-Identifier: BSD-3-Clause */
/* The private definition of struct rdma_leg, for lib/rpcrdma only. */
#ifndef RPCRDMA_RDMA_LEG_IMPL_H
#define RPCRDMA_RDMA_LEG_IMPL_H

#include "base/compiler.h"
#include "leg/leg.h"
#include "rpcrdma/rdma_config.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/rdma_watch.h"
#include "rpcrdma/requester.h"
#include "rpcrdma/responder.h"
#include "rpcrdma/v2/optional_msgs.h"

struct rdma_leg {
	struct leg leg;
	struct rdma_leg_config config;
	struct rdma_conn conn;
	struct loop_task again_task; /* connects again, because its source port was not available */
	struct requester requester;
	struct responder responder;
	struct rdma_watch watch;
	struct loop_timer *probe_timer; /* for the version two probe; or NULL */
	struct optional_msgs *options;  /* from the first RDMA_OPTIONAL on; or NULL */
};

/** rdma_leg_recv - Handles the fabric's recv(): passes a decoded Send to requester or responder (rdma_recv.c). */
void rdma_leg_recv(void *arg, const struct fabric_recv *recv);

static inline struct rdma_leg *rdma_leg_of(struct leg *leg)
{
	return container_of(leg, struct rdma_leg, leg);
}

#endif

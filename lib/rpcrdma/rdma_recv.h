/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives on an RDMA leg: each Send is decoded once and handed to whom it concerns. */
#ifndef RPCRDMA_RDMA_RECV_H
#define RPCRDMA_RDMA_RECV_H

#include "fabric/fabric.h"

/** rdma_leg_recv - the fabric's recv(); @arg is the struct rdma_leg. */
void rdma_leg_recv(void *arg, const struct fabric_recv *recv);

#endif

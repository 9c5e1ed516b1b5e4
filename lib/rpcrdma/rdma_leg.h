/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RDMA leg: RPC-over-RDMA on one fabric endpoint, requester and responder at once.
 *
 * The end that connected is the client: its requester carries the forward Calls, with chunks; its
 * responder takes reverse Calls, inline only (RFC 8167), but in version two where both ends say that they take more
 * . The end that accepted is the mirror image.
 * Calls and Replies are told apart by rdma_proc and the RPC message's type; each direction has its
 * own credits and XIDs.
 */
#ifndef RPCRDMA_RDMA_LEG_H
#define RPCRDMA_RDMA_LEG_H

#include <sys/socket.h>

#include "base/compiler.h"
#include "fabric/fabric.h"
#include "rpcrdma/rdma_config.h"

/**
 * rdma_leg_connect - make a leg that connects
 * @fabric: the worker's fabric
 * @addr:   the server
 * @config: copied, but for what it points to
 *
 * opened() or closed() follows. Returns 0, -ENOMEM or the fabric's errno.
 */
int rdma_leg_connect(const struct rdma_leg_config *config, struct fabric *fabric,
		     const struct sockaddr *addr, struct leg **out) MUST_CHECK;

/**
 * rdma_leg_adopt - make a leg from an accepted connection
 * @in: taken, also on failure
 *
 * requested() follows, and leg_accept() or leg_close() is due after it.
 */
int rdma_leg_adopt(const struct rdma_leg_config *config, struct fabric *fabric,
		   struct fabric_incoming *in, struct leg **out) MUST_CHECK;

#endif

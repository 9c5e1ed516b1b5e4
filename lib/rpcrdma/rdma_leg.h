/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RDMA leg: RPC-over-RDMA on one fabric endpoint, as requester and responder.
 *
 * The end that connected is the client: its requester sends forward Calls, with chunks. Its
 * responder receives reverse Calls, inline only (RFC 8167) unless both ends advertised more in
 * version two. On the end that accepted the roles are exchanged. rdma_proc and the type of
 * the RPC message distinguish Calls from Replies. Each direction has its own credits and XIDs.
 */
#ifndef RPCRDMA_RDMA_LEG_H
#define RPCRDMA_RDMA_LEG_H

#include <sys/socket.h>

#include "base/compiler.h"
#include "fabric/fabric.h"
#include "rpcrdma/rdma_config.h"

/**
 * rdma_leg_connect - Creates a leg and starts to connect it.
 * @fabric: the worker's fabric
 * @addr:   the server
 * @config: copied, except for the objects that it points to
 *
 * opened() or closed() follows. Returns 0, -ENOMEM or the fabric's errno.
 */
int rdma_leg_connect(const struct rdma_leg_config *config, struct fabric *fabric,
		     const struct sockaddr *addr, struct leg **out) MUST_CHECK;

/**
 * rdma_leg_adopt - Creates a leg from an accepted connection.
 * @in: taken over, also on failure
 *
 * requested() follows; answer it by leg_accept() or leg_close(). Returns 0, -ENOMEM or the fabric's
 * errno.
 */
int rdma_leg_adopt(const struct rdma_leg_config *config, struct fabric *fabric,
		   struct fabric_incoming *in, struct leg **out) MUST_CHECK;

#endif

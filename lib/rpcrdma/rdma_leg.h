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

/* What of a leg's configuration says how much memory it may take. */
struct rdma_leg_sizes {
	bool accepted; /* its peer is a client */
	uint32_t credits;
	uint32_t inline_threshold_bytes;
	uint32_t
		recv_max_bytes; /* the largest that its receives may become; 0: they stay as they are */
	bool config_protocol;
	bool reverse_chunks;
	bool lent_replies; /* its dialect has them */
};

/** rdma_leg_reply_room - what a leg may take for the Reply to a Call that it is given, beside the buffer for it. */
struct reply_room rdma_leg_reply_room(const struct rdma_leg_sizes *sizes);

/** rdma_leg_receives_bytes - what the receives come to that a leg may post, for its Calls and the peer's, and in reserve. */
size_t rdma_leg_receives_bytes(const struct rdma_leg_sizes *sizes);

/**
 * rdma_leg_beside_bytes - what a leg can come to hold that no claim covers
 *
 * Receives, the headers and short bodies of Sends, for each Call of the peer its small objects and what is kept of its
 * chunks, short reverse Calls with their Replies, what is left of reverse Calls without an answer (requester_late.h), and
 * what Replies that are lent take beside their RPCs. While receives are larger than at first that is in a claim.
 */
size_t rdma_leg_beside_bytes(const struct rdma_leg_sizes *sizes);

#endif
